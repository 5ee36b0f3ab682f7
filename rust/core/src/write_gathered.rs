//! Writing chunks that are stored several to a value, in shards of Neuroglancer: each shard is replaced once.
//!
//! Shards are written side by side, the chunks of one of them one after the other, under its lock from before it is read
//! until it is replaced. As always, chunks that are covered are not decoded, and what is only fill value is left out.

use std::collections::BTreeMap;

use crate::array::{Array, Options};
use crate::document::Comparing;
use crate::error::Result;
use crate::memory::Origin;
use crate::panics;
use crate::pool;
use crate::region::Region;
use crate::scratch;
use crate::source::Slice;
use crate::split::Split;
use crate::store::uint64_sharded::{ShardedStore, Whole};
use crate::store::{Locker, Reader};
use crate::write::{encode_cell, Encoded, Part, Update};
use crate::write_conditionally::persistently;

/// Writes the elements of each region (of the whole array) from the origin beside it. If regions share elements, the last
/// one counts.
pub fn write_gathered(
    array: &Array,
    store: &ShardedStore,
    parts: &[Part<'_, '_>],
    options: &Options<'_>,
) -> Result<()> {
    let split = |(region, _): &(&Region, &Origin<'_>)| array.split(region);
    let splits: Vec<Split> = parts.iter().map(split).collect::<Result<_>>()?;
    let mut shards: BTreeMap<u64, Vec<Job>> = BTreeMap::new();
    let (mut indices, mut region, mut key) = (Vec::new(), Region::default(), String::new());
    for (part, split) in splits.iter().enumerate() {
        for cell in 0..split.count {
            split.cell(cell, &mut indices, &mut region);
            array.keys.write(&indices, &mut key);
            let jobs = shards.entry(store.shard_number(&key)?.0).or_default();
            scratch::push(jobs, Job { part, cell })?;
        }
    }
    let shards: Vec<(u64, Vec<Job>)> = shards.into_iter().collect();
    let count = splits.iter().map(|split| split.count).sum();
    let comparing = Comparing::new(array, &[]);
    let locker = array.locker(&comparing, options.interrupted)?;
    let threads = options.requesters_for(count, array.chain.length).min(shards.len());
    pool::run(threads, shards.len(), options.interrupted, |number, _| {
        let (shard, jobs) = &shards[number];
        let writer = Shard { array, store, splits: &splits, parts, options };
        panics::catch(|| writer.write(*shard, jobs, &*locker, &comparing)).unwrap_or_else(Err)
    })
}

/// A chunk that is written: the cell of this number, of the part of this number.
#[derive(Clone, Copy)]
struct Job {
    part: usize,
    cell: usize,
}

struct Shard<'a> {
    array: &'a Array,
    store: &'a ShardedStore,
    splits: &'a [Split],
    parts: &'a [(&'a Region, &'a Origin<'a>)],
    options: &'a Options<'a>,
}

impl Shard<'_> {
    fn write(&self, number: u64, jobs: &[Job], locker: &dyn Locker, comparing: &Comparing<'_>) -> Result<()> {
        let (mut place, mut region, mut key) = (Vec::new(), Region::default(), String::new());
        let Some(&first) = jobs.first() else { return Ok(()) };
        self.splits[first.part].cell(first.cell, &mut place, &mut region);
        self.array.keys.write(&place, &mut key);
        let _guard = self.array.lock(locker, &key, comparing)?;
        let Some(conditional) = self.store.conditional_shards() else {
            let shard = self.store.whole(number)?;
            let changes = self.changes(&shard, jobs)?;
            return self.store.store_whole(shard, &changes);
        };
        persistently(conditional, &self.store.shard_key(number), self.options.interrupted, |found, version| {
            let found = scratch::listed(found.unwrap_or_default().iter().copied())?;
            let shard = self.store.taken_apart(number, found)?;
            let changes = self.changes(&shard, jobs)?;
            self.store.store_whole_if(conditional, shard, &changes, version)
        })
    }

    /// The chunks of a shard that are to be replaced, by number; `None` for those that are not to be stored.
    fn changes(&self, shard: &Whole, jobs: &[Job]) -> Result<BTreeMap<u64, Option<Vec<u8>>>> {
        let (mut indices, mut region, mut key) = (Vec::new(), Region::default(), String::new());
        let mut changes: BTreeMap<u64, Option<Vec<u8>>> = BTreeMap::new();
        for job in jobs {
            self.splits[job.part].cell(job.cell, &mut indices, &mut region);
            self.array.keys.write(&indices, &mut key);
            let chunk = self.store.shard_number(&key)?.1;
            let found = match changes.get(&chunk) {
                Some(changed) => changed.as_deref(),
                None => shard.chunk(self.store, chunk),
            };
            let found = found.map(Slice);
            let existing = found.as_ref().map(|slice| slice as &dyn Reader);
            let encoded = self.encoded(&indices, (&region, self.parts[job.part].1), existing);
            changes.insert(chunk, encoded.map_err(|error| error.at_chunk(&key, self.array.keys.indices(&indices)))?);
        }
        Ok(changes)
    }

    /// A chunk as it is to be stored; `None` if it is not to be.
    fn encoded(
        &self,
        indices: &[i64],
        (region, origin): (&Region, &Origin<'_>),
        existing: Option<&dyn Reader>,
    ) -> Result<Option<Vec<u8>>> {
        let chain = self.array.chain_at(indices)?;
        let existing = if region.covers(&chain.shape) { None } else { existing };
        let mut out = Vec::new();
        let update = Update { parts: &[(region, origin)], existing, steps: None, options: self.options };
        Ok(match encode_cell(&chain, &update, &mut out)? {
            Encoded::Fill => None,
            Encoded::Appended => Some(out),
            Encoded::Verbatim(bytes) => Some(scratch::listed(bytes.iter().copied())?),
        })
    }
}

//! Writing chunks that are stored several to a value, in shards of Neuroglancer: each shard is replaced once.
//!
//! Shards are written side by side, the chunks of one of them one after the other, under its lock from before it is read
//! until it is replaced. As always, chunks that are covered are not decoded, and what is only fill value is left out.

use std::collections::BTreeMap;

use crate::array::{Array, Options};
use crate::error::Result;
use crate::memory::Origin;
use crate::panics;
use crate::pool;
use crate::region::Region;
use crate::source::Slice;
use crate::split::Split;
use crate::store::uint64_sharded::ShardedStore;
use crate::store::{Locker, Reader};
use crate::write::{encode_cell, Encoded, Update};

/// Writes the elements of `region` (of the whole array) from `origin`.
pub fn write_gathered(
    array: &Array,
    store: &ShardedStore,
    region: &Region,
    origin: &Origin<'_>,
    options: &Options<'_>,
) -> Result<()> {
    let split = Split::new(region, &array.chain.shape);
    let mut shards: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let (mut place, mut part, mut key) = (Vec::new(), Region::default(), String::new());
    for job in 0..split.count {
        split.cell(job, &mut place, &mut part);
        array.keys.write(&place, &mut key);
        shards.entry(store.shard_number(&key)?.0).or_default().push(job);
    }
    let shards: Vec<(u64, Vec<usize>)> = shards.into_iter().collect();
    let locker = array.store.locker(&array.lock_key, options.interrupted)?;
    let threads = options.threads_for(split.count, array.chain.length).min(shards.len());
    pool::run(threads, shards.len(), options.interrupted, |number, _| {
        let (shard, jobs) = &shards[number];
        let done =
            panics::catch(|| Shard { array, store, split: &split, origin, options }.write(*shard, jobs, &*locker));
        done.unwrap_or_else(Err)
    })
}

struct Shard<'a> {
    array: &'a Array,
    store: &'a ShardedStore,
    split: &'a Split,
    origin: &'a Origin<'a>,
    options: &'a Options<'a>,
}

impl Shard<'_> {
    fn write(&self, number: u64, jobs: &[usize], locker: &dyn Locker) -> Result<()> {
        let (mut place, mut region, mut key) = (Vec::new(), Region::default(), String::new());
        let Some(&first) = jobs.first() else { return Ok(()) };
        self.split.cell(first, &mut place, &mut region);
        self.array.keys.write(&place, &mut key);
        let _guard = locker.lock(&key)?;
        let shard = self.store.whole(number)?;
        let mut changes = BTreeMap::new();
        for &job in jobs {
            self.split.cell(job, &mut place, &mut region);
            self.array.keys.write(&place, &mut key);
            let chunk = self.store.shard_number(&key)?.1;
            let found = shard.chunk(self.store, chunk).map(Slice);
            let encoded = self.encoded(&place, &region, found.as_ref().map(|slice| slice as &dyn Reader));
            changes.insert(chunk, encoded.map_err(|error| error.at_chunk(&key, self.array.keys.place(&place)))?);
        }
        self.store.store_whole(shard, &changes)
    }

    /// A chunk as it is to be stored; `None` if it is not to be.
    fn encoded(&self, place: &[i64], region: &Region, existing: Option<&dyn Reader>) -> Result<Option<Vec<u8>>> {
        let chain = self.array.chain_at(place)?;
        let existing = if region.covers(&chain.shape) { None } else { existing };
        let mut out = Vec::new();
        let update = Update { region, origin: self.origin, existing, options: self.options };
        Ok(match encode_cell(chain, &update, &mut out)? {
            Encoded::Fill => None,
            Encoded::Appended => Some(out),
            Encoded::Verbatim(bytes) => Some(bytes.to_vec()),
        })
    }
}

//! A whole shard: taken apart, and laid down anew with some of its chunks replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::index::{self, damaged, Entry};
use super::ShardedStore;
use crate::error::{Error, Kind, Result};
use crate::scratch;
use crate::store::Conditional;

/// What is known of the chunks of one shard, by minishard and number.
type Chunks = BTreeMap<(u64, u64), Range<usize>>;

/// What a shard is to have of a chunk.
enum Chunk<'a> {
    /// These bytes of the shard before.
    Kept(&'a Range<usize>),
    New(&'a [u8]),
}

/// A shard as it is stored; without bytes if it is not.
pub struct Shard {
    number: u64,
    bytes: Vec<u8>,
    chunks: Chunks,
}

impl Shard {
    /// A chunk, if it is stored.
    pub fn chunk(&self, store: &ShardedStore, chunk: u64) -> Option<&[u8]> {
        let (_, minishard) = store.sharding.place(chunk);
        self.chunks.get(&(minishard, chunk)).map(|range| &self.bytes[range.clone()])
    }
}

impl ShardedStore {
    /// The shard of a chunk.
    pub fn shard_number(&self, key: &str) -> Result<(u64, u64)> {
        let chunk = self.number(key)?;
        Ok((self.sharding.place(chunk).0, chunk))
    }

    /// All of a shard, for whoever is to lay it down anew.
    pub fn whole(&self, number: u64) -> Result<Shard> {
        let key = self.shard_key(number);
        self.taken_apart(number, self.store.get(&key)?.unwrap_or_default())
    }

    /// The same of these bytes; without any if it is not stored.
    pub fn taken_apart(&self, number: u64, bytes: Vec<u8>) -> Result<Shard> {
        let chunks = self.chunks_of(&bytes).map_err(|error| error.at_key(&self.shard_key(number)))?;
        Ok(Shard { number, bytes, chunks })
    }

    /// What replaces shards only if nobody else has, where the store underneath can do that.
    pub fn conditional_shards(&self) -> Option<&dyn Conditional> {
        self.store.conditional()
    }

    fn chunks_of(&self, bytes: &[u8]) -> Result<Chunks> {
        let base = self.sharding.base();
        let mut chunks = Chunks::new();
        if bytes.is_empty() {
            return Ok(chunks);
        }
        let first = usize::try_from(base).ok().and_then(|base| bytes.get(..base));
        let Some(first) = first else {
            return Err(damaged(format!("expected a shard of at least {base} bytes, found {}", bytes.len())));
        };
        let inside = |start: u64, end: u64| {
            let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
            bytes.get(range.clone()).map(|_| range)
        };
        for (minishard, entry) in first.chunks_exact(index::ENTRY).enumerate() {
            let mut pair = [0; index::ENTRY];
            pair.copy_from_slice(entry);
            let Some((start, end)) = index::minishard(&pair, base)? else { continue };
            let Some(stored) = inside(start, end) else {
                return Err(damaged(format!("the index of minishard {minishard} ends at byte {end}")));
            };
            for Entry { chunk, start, end } in
                index::decode(&bytes[stored], self.sharding.gzip_index, base, self.count)?
            {
                let range = inside(start, end).ok_or_else(|| damaged(format!("chunk {chunk} ends at byte {end}")))?;
                if chunks.insert((minishard as u64, chunk), range).is_some() {
                    return Err(damaged(format!("chunk {chunk} is there twice")));
                }
            }
        }
        let mut distinct = scratch::listed(chunks.values().map(|range| (range.start, range.end)))?;
        distinct.sort_unstable();
        distinct.dedup();
        let length = distinct.into_iter().fold(0, |sum: usize, (start, end)| sum.saturating_add(end - start));
        if length > bytes.len() {
            return Err(damaged(format!("chunks overlap: {length} bytes of a shard of {}", bytes.len())));
        }
        Ok(chunks)
    }

    /// Stores a shard with some chunks replaced, or removed, where there is `None`.
    pub fn store_whole(&self, shard: Shard, changes: &BTreeMap<u64, Option<Vec<u8>>>) -> Result<()> {
        let key = self.shard_key(shard.number);
        match self.laid_down(&shard, changes, &key)? {
            Some((first, body)) => self.store.set(&key, &[&first, &body]),
            None => self.store.delete(&key).map(drop),
        }
    }

    /// The same only if the shard is of this version; `false` if it is not.
    pub fn store_whole_if(
        &self,
        store: &dyn Conditional,
        shard: Shard,
        changes: &BTreeMap<u64, Option<Vec<u8>>>,
        version: Option<&str>,
    ) -> Result<bool> {
        let key = self.shard_key(shard.number);
        match (self.laid_down(&shard, changes, &key)?, version) {
            (Some((first, body)), version) => store.set_if_version(&key, &[&first, &body], version),
            (None, None) => Ok(true),
            // Nothing deletes a value only if it is of a version. So a shard is stored that says of each minishard that it
            // has no chunks.
            (None, version) => store.set_if_version(&key, &[&self.first(&key)?], version),
        }
    }

    /// The first part of a shard, as it is without chunks.
    fn first(&self, key: &str) -> Result<Vec<u8>> {
        let base = self.sharding.base();
        if base > crate::chain::MAX_INDEX_BYTES as u64 {
            return Err(Error::new(Kind::Limit, format!("the index of a shard would have {base} bytes")).at_key(key));
        }
        let mut first = Vec::new();
        scratch::reserve(&mut first, base as usize)?;
        first.resize(base as usize, 0);
        Ok(first)
    }

    /// The two parts of a shard with some chunks replaced, or removed; `None` if it has no chunks then.
    ///
    /// Chunks that are the same bytes of the shard stay so: laid down one by one, those of a small shard could fill a disk.
    fn laid_down(
        &self,
        shard: &Shard,
        changes: &BTreeMap<u64, Option<Vec<u8>>>,
        key: &str,
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        // Not collected, which would make a list of all first.
        let mut chunks: BTreeMap<(u64, u64), Chunk<'_>> = BTreeMap::new();
        chunks.extend(shard.chunks.iter().map(|(&place, range)| (place, Chunk::Kept(range))));
        for (&chunk, value) in changes {
            let place = (self.sharding.place(chunk).1, chunk);
            match value {
                Some(value) => chunks.insert(place, Chunk::New(value)),
                None => chunks.remove(&place),
            };
        }
        if chunks.is_empty() {
            return Ok(None);
        }
        let base = self.sharding.base();
        let mut first = self.first(key)?;
        let mut kept = BTreeSet::new();
        let length = chunks.values().map(|chunk| match chunk {
            Chunk::Kept(range) => {
                if kept.insert((range.start, range.end)) {
                    range.len()
                } else {
                    0
                }
            }
            Chunk::New(bytes) => bytes.len(),
        });
        let mut body = Vec::new();
        scratch::reserve(&mut body, length.sum())?;
        // Where the bytes of the shard that are kept come to lie.
        let mut laid: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut chunks = chunks.into_iter().peekable();
        while let Some(((minishard, chunk), value)) = chunks.next() {
            let next = base + body.len() as u64;
            let (start, bytes) = match value {
                Chunk::Kept(range) => {
                    let start = *laid.entry((range.start, range.end)).or_insert(next);
                    (start, &shard.bytes[range.clone()])
                }
                Chunk::New(bytes) => (next, bytes),
            };
            if start == next {
                // Indices of minishards take some of the room, too.
                scratch::reserve(&mut body, bytes.len())?;
                body.extend_from_slice(bytes);
            }
            scratch::push(&mut entries, Entry { chunk, start, end: start + bytes.len() as u64 })?;
            if chunks.peek().is_some_and(|((next, _), _)| *next == minishard) {
                continue;
            }
            let start = body.len() as u64;
            index::encode(&entries, self.sharding.gzip_index, base, &mut body)?;
            entries.clear();
            let at = minishard as usize * index::ENTRY;
            first[at..at + 8].copy_from_slice(&start.to_le_bytes());
            first[at + 8..at + 16].copy_from_slice(&(body.len() as u64).to_le_bytes());
        }
        Ok(Some((first, body)))
    }
}

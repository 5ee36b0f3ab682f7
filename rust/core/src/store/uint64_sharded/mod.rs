//! Chunks in shards of Neuroglancer, `neuroglancer_uint64_sharded_v1`, over a store that has the shards.
//!
//! https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/sharded.md. A chunk is known by a number,
//! which its key has in sixteen hexadecimal digits. The number shifted, and hashed, tells the shard and the minishard.
//! Indices of minishards that were read last are kept, for as long as the shard is the same.

mod index;
mod murmur;
#[cfg(test)]
mod tests;
mod whole;

pub use whole::Shard as Whole;

use std::sync::{Arc, Mutex, PoisonError};

use super::version::{Status, Version};
use super::{ranges, Guard, Locker, Reader, Store};
use crate::error::{Error, Kind, Result};
use crate::fork;
use crate::interrupt::Interrupt;
use crate::source::Slice;
use index::Entry;

/// Digits of the number in a key.
const DIGITS: usize = 16;
/// Indices of minishards that are kept.
const KEPT: usize = 32;

/// Which chunks are in which shards.
#[derive(Clone, Copy, Debug)]
pub struct Sharding {
    pub preshift_bits: u32,
    pub minishard_bits: u32,
    pub shard_bits: u32,
    /// Whether numbers are hashed by MurmurHash3_x86_128; else by nothing.
    pub murmur: bool,
    /// Whether indices of minishards are compressed.
    pub gzip_index: bool,
}

impl Sharding {
    /// The shard and the minishard of a chunk.
    pub fn place(&self, chunk: u64) -> (u64, u64) {
        let shifted = chunk.checked_shr(self.preshift_bits).unwrap_or(0);
        let hash = if self.murmur { murmur::hash(shifted) } else { shifted };
        let shard = hash.checked_shr(self.minishard_bits).unwrap_or(0) & mask(self.shard_bits);
        (shard, hash & mask(self.minishard_bits))
    }

    /// Bytes of the first part of a shard.
    fn base(&self) -> u64 {
        (index::ENTRY as u64) << self.minishard_bits
    }
}

fn mask(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |power| power - 1)
}

type Kept = ((u64, u64), Version, Minishard);

/// The chunks of a minishard, and what the store calls the version that they are of, if it can be asked for this one.
#[derive(Clone)]
struct Minishard {
    entries: Arc<Vec<Entry>>,
    pinned: Option<Arc<str>>,
}

/// The chunks of an array, each under its number.
pub struct ShardedStore {
    store: Arc<dyn Store>,
    /// What the keys of chunks, and those of shards, begin with.
    prefix: String,
    sharding: Sharding,
    /// Chunks that the array has at most.
    count: u64,
    /// Bytes that a chunk has at most.
    limit: u64,
    /// The last ones read, the newest last.
    kept: Mutex<Vec<Kept>>,
}

impl ShardedStore {
    pub fn new(store: Arc<dyn Store>, prefix: String, sharding: Sharding, count: u64, limit: u64) -> Result<Self> {
        let Sharding { preshift_bits, minishard_bits, shard_bits, .. } = sharding;
        if preshift_bits > 64 || minishard_bits > 32 || shard_bits > 64 - minishard_bits {
            return Err(Error::new(Kind::Request, format!("expected bits of shards, found {sharding:?}")));
        }
        Ok(ShardedStore { store, prefix, sharding, count, limit, kept: Mutex::default() })
    }

    /// The number in a key.
    fn number(&self, key: &str) -> Result<u64> {
        let digits = key.strip_prefix(self.prefix.as_str()).filter(|digits| digits.len() == DIGITS);
        digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(|| {
            Error::new(Kind::Path, format!("expected {DIGITS} hexadecimal digits behind {:?}", self.prefix)).at_key(key)
        })
    }

    /// The key of a shard.
    pub fn shard_key(&self, shard: u64) -> String {
        let digits = self.sharding.shard_bits.div_ceil(4) as usize;
        format!("{}{shard:0digits$x}.shard", self.prefix)
    }

    /// The key of the shard of a chunk.
    fn shard_of(&self, key: &str) -> Result<String> {
        Ok(self.shard_key(self.sharding.place(self.number(key)?).0))
    }

    /// Where a chunk lies in its shard, and in which version of it; `None` if it is not there.
    fn locate(&self, shard: &str, reader: &dyn Reader, chunk: u64) -> Result<Option<(Entry, Option<Arc<str>>)>> {
        let place = self.sharding.place(chunk);
        let version = match reader.version() {
            // Before the index is read: an older version costs a look more, a newer one would name what it does not describe.
            None if self.store.tells_versions() => match self.store.status(shard)? {
                Status::Is(version) => Some(version),
                Status::Missing | Status::Unknown => None,
            },
            known => known,
        };
        let known = version.and_then(|version| self.known(place, &version));
        let Minishard { entries, pinned } = match known {
            Some(minishard) => minishard,
            None => {
                let Some(entries) = self.entries(reader, place.1)? else { return Ok(None) };
                let minishard = Minishard { entries: Arc::new(entries), pinned: reader.pinned() };
                if let Some(version) = version.filter(Version::is_settled) {
                    self.keep(place, version, &minishard);
                }
                minishard
            }
        };
        Ok(entries.binary_search_by_key(&chunk, |entry| entry.chunk).ok().map(|at| (entries[at], pinned)))
    }

    /// The chunks of a minishard; `None` if the shard is not there after all.
    fn entries(&self, reader: &dyn Reader, minishard: u64) -> Result<Option<Vec<Entry>>> {
        let base = self.sharding.base();
        let mut entry = [0; index::ENTRY];
        if !reader.read_at(minishard * index::ENTRY as u64, &mut entry)? {
            return Ok(None);
        }
        let Some((start, end)) = index::minishard(&entry, base)? else { return Ok(Some(Vec::new())) };
        let length = end - start;
        within(reader, end, "the index of a minishard")?;
        if length > crate::chain::MAX_INDEX_BYTES as u64 {
            return Err(index::damaged(format!("the index of a minishard has {length} bytes")));
        }
        let mut stored = ranges::with_room(length)?;
        stored.resize(length as usize, 0);
        if !reader.read_at(start, &mut stored)? {
            return Ok(None);
        }
        index::decode(&stored, self.sharding.gzip_index, base, self.count).map(Some)
    }

    fn known(&self, place: (u64, u64), version: &Version) -> Option<Minishard> {
        let _inside = fork::enter();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(other, stored, _)| *other == place && stored.still(version))?;
        let entry = kept.remove(at);
        let minishard = entry.2.clone();
        kept.push(entry);
        Some(minishard)
    }

    fn keep(&self, place: (u64, u64), version: Version, minishard: &Minishard) {
        let _inside = fork::enter();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, ..)| *other != place);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((place, version, minishard.clone()));
    }

    fn read(&self, shard: &str, chunk: u64) -> Result<Option<Piece>> {
        let Some(reader) = self.store.open(shard)? else { return Ok(None) };
        let Some((Entry { start, end, .. }, pinned)) = self.locate(shard, reader.as_ref(), chunk)? else {
            return Ok(None);
        };
        // What was known already says nothing of what this reader would find.
        let reader = match pinned.filter(|_| reader.pinned().is_none()) {
            Some(version) => match self.store.open_pinned(shard, version)? {
                Some(reader) => reader,
                None => return Ok(None),
            },
            None => reader,
        };
        within(reader.as_ref(), end, &format!("chunk {chunk}"))?;
        if end - start > self.limit {
            return Err(index::damaged(format!(
                "chunk {chunk} has {} bytes, more than the {} that it can need",
                end - start,
                self.limit
            )));
        }
        let mut bytes = ranges::with_room(end - start)?;
        bytes.resize((end - start) as usize, 0);
        let version = reader.version();
        Ok(reader.read_at(start, &mut bytes)?.then_some(Piece { bytes, version }))
    }
}

/// Refuses what ends behind the end of a shard.
fn within(reader: &dyn Reader, end: u64, what: &str) -> Result<()> {
    match reader.len() {
        Some(length) if end > length => {
            Err(index::damaged(format!("{what} ends at byte {end} of a shard of {length} bytes")))
        }
        _ => Ok(()),
    }
}

/// A chunk that was read.
struct Piece {
    bytes: Vec<u8>,
    /// Of the shard.
    version: Option<Version>,
}

impl Reader for Piece {
    fn len(&self) -> Option<u64> {
        Some(self.bytes.len() as u64)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }

    fn version(&self) -> Option<Version> {
        self.version
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        Slice(&self.bytes).read_at(offset, buffer)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        Slice(&self.bytes).read_suffix(buffer)
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        Slice(&self.bytes).read_all(buffer, limit)
    }
}

impl Store for ShardedStore {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        let chunk = self.number(key)?;
        let shard = self.shard_key(self.sharding.place(chunk).0);
        let piece = self.read(&shard, chunk).map_err(|error| error.at_key(&shard))?;
        Ok(piece.map(|piece| Box::new(piece) as Box<dyn Reader>))
    }

    fn set(&self, key: &str, _parts: &[&[u8]]) -> Result<()> {
        Err(Error::new(Kind::Unsupported, "chunks in shards of Neuroglancer are written with their shard").at_key(key))
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.set(key, &[]).map(|()| false)
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        Ok(Box::new(ShardLocker { store: self, locker: self.store.locker(lock_key, interrupt)? }))
    }

    fn waits(&self) -> bool {
        self.store.waits()
    }

    fn remote(&self) -> bool {
        self.store.remote()
    }

    fn requests(&self) -> usize {
        self.store.requests()
    }

    fn full_name(&self, key: &str) -> Option<String> {
        self.store.full_name(&self.shard_of(key).ok()?)
    }

    fn way(&self) -> u64 {
        self.store.way()
    }

    fn status(&self, key: &str) -> Result<Status> {
        self.store.status(&self.shard_of(key)?)
    }

    fn tells_versions(&self) -> bool {
        self.store.tells_versions()
    }
}

/// Locks the shards of chunks.
struct ShardLocker<'a> {
    store: &'a ShardedStore,
    locker: Box<dyn Locker + 'a>,
}

impl Locker for ShardLocker<'_> {
    fn lock<'a>(&'a self, key: &str) -> Result<Box<dyn Guard + 'a>> {
        self.locker.lock(&self.store.shard_of(key)?)
    }

    fn tells_document(&self) -> bool {
        self.locker.tells_document()
    }
}

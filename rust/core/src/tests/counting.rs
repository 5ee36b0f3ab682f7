//! An array with a pool over a store that counts what it is asked, with a codec that counts what it decodes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use super::keys;
use crate::array::{Array, Options};
use crate::cache::pool::CachePool;
use crate::cache::Recheck;
use crate::chain::{Chain, Elements, Serializer, Shard};
use crate::codec::checksum::Checksum;
use crate::codec::element::Swap;
use crate::codec::BytesToBytes;
use crate::error::Result;
use crate::interrupt::{never, Interrupt};
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Axis, Region};
use crate::store::memory::MemoryStore;
use crate::store::version::{Status, Version};
use crate::store::{Locker, Reader, Store};
use crate::write::write;

pub const OPTIONS: Options<'static> = Options { threads: 2, requests: 0, write_empty: false, interrupted: &never };

/// What a store was asked, and what was decoded.
#[derive(Default)]
pub struct Counts {
    opened: AtomicUsize,
    asked: AtomicUsize,
    decoded: AtomicUsize,
}

impl Counts {
    /// How often values were opened, asked for their version, and decoded since the last call.
    pub fn take(&self) -> (usize, usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::SeqCst);
        (take(&self.opened), take(&self.asked), take(&self.decoded))
    }
}

/// How a store tells versions.
#[derive(Clone, Copy, PartialEq)]
pub enum Tells {
    Settled,
    /// As a file that has only just been written.
    Unsettled,
    Nothing,
}

/// A store whose readers are lazy and say nothing of their version, if `lazy`.
struct Counting {
    store: Arc<MemoryStore>,
    counts: Arc<Counts>,
    tells: Tells,
    lazy: bool,
}

struct Through<'a> {
    reader: Box<dyn Reader + 'a>,
    tells: Tells,
    lazy: bool,
}

fn version(version: Version, tells: Tells) -> Option<Version> {
    match tells {
        Tells::Settled => Some(version),
        Tells::Unsettled => Some(Version::new([1, 2, 3, 4, 5, 6], false)),
        Tells::Nothing => None,
    }
}

impl Reader for Through<'_> {
    fn len(&self) -> Option<u64> {
        self.reader.len().filter(|_| !self.lazy)
    }

    fn version(&self) -> Option<Version> {
        self.reader.version().filter(|_| !self.lazy).and_then(|found| version(found, self.tells))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        self.reader.read_at(offset, buffer)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        self.reader.read_suffix(buffer)
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        self.reader.read_all(buffer, limit)
    }
}

impl Store for Counting {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        self.counts.opened.fetch_add(1, Ordering::SeqCst);
        let reader = self.store.open(key)?;
        let (tells, lazy) = (self.tells, self.lazy);
        Ok(reader.map(|reader| Box::new(Through { reader, tells, lazy }) as Box<dyn Reader>))
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.store.set(key, parts)
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.store.delete(key)
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.store.locker(lock_key, interrupt)
    }

    fn full_name(&self, key: &str) -> Option<String> {
        self.store.full_name(key)
    }

    fn status(&self, key: &str) -> Result<Status> {
        self.counts.asked.fetch_add(1, Ordering::SeqCst);
        Ok(match self.store.status(key)? {
            Status::Is(found) => version(found, self.tells).map_or(Status::Unknown, Status::Is),
            other => other,
        })
    }

    fn tells_versions(&self) -> bool {
        self.tells != Tells::Nothing
    }
}

/// A checksum that takes its time.
struct Slow(Arc<Counts>, Duration);

impl BytesToBytes for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        Checksum::CRC32C.max_encoded_len(decoded)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        Checksum::CRC32C.fixed_encoded_len(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.decoded.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.1);
        Checksum::CRC32C.decode_exact(src, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        Checksum::CRC32C.decode_bounded(src, limit, dst)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        Checksum::CRC32C.encode(src, dst)
    }
}

/// An array of 4 x 4 bytes in chunks of 2 x 2, or shards of 4 x 4 of them.
pub struct Setting {
    pub memory: Arc<MemoryStore>,
    pub counts: Arc<Counts>,
    pub pool: Arc<CachePool>,
    pub array: Array,
    /// Another handle of it, without a pool.
    pub plain: Array,
}

#[derive(Clone, Copy)]
pub struct Kinds {
    pub sharded: bool,
    pub tells: Tells,
    pub lazy: bool,
    pub recheck: Recheck,
    pub slow: u64,
}

pub const COMMON: Kinds =
    Kinds { sharded: false, tells: Tells::Settled, lazy: false, recheck: Recheck::Never, slow: 0 };

impl Setting {
    pub fn new(kinds: Kinds) -> Self {
        Self::with(kinds, Arc::new(CachePool::new(1 << 20)))
    }

    pub fn with(kinds: Kinds, pool: Arc<CachePool>) -> Self {
        let memory = Arc::new(MemoryStore::new());
        memory.set("a/zarr.json", &[b"{}"]).unwrap();
        let counts = Arc::new(Counts::default());
        let slow = || -> Vec<Box<dyn BytesToBytes>> {
            vec![Box::new(Slow(Arc::clone(&counts), Duration::from_millis(kinds.slow)))]
        };
        let elements = || Elements { itemsize: 1, swap: Swap::None, boolean: false };
        let mut chain = Chain::new(vec![2, 2], elements(), vec![0], None, Serializer::Elements, slow()).unwrap();
        if kinds.sharded {
            let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
            let crc: Vec<Box<dyn BytesToBytes>> = vec![Box::new(Checksum::CRC32C)];
            let index = Chain::new(vec![2, 2, 2], pairs, vec![0xff; 8], None, Serializer::Elements, crc).unwrap();
            let shard = Serializer::Shard(Box::new(Shard::new(&[4, 4], chain, index, false).unwrap()));
            chain = Chain::new(vec![4, 4], elements(), vec![0], None, shard, vec![]).unwrap();
        }
        let chain = Arc::new(chain);
        let keys = keys(usize::MAX);
        let array = |store: Arc<dyn Store>| {
            Array::new(store, keys.clone(), "a/zarr.json".into(), vec![4, 4], Arc::clone(&chain)).unwrap()
        };
        let store = Arc::clone(&memory);
        let counting = Counting { store, counts: Arc::clone(&counts), tells: kinds.tells, lazy: kinds.lazy };
        let plain = array(Arc::clone(&memory) as Arc<dyn Store>);
        let array = array(Arc::new(counting)).cached(&pool, kinds.recheck, 0);
        write(&plain, &whole(), &Origin::of(&(1..=16).collect::<Vec<u8>>()), &OPTIONS).unwrap();
        counts.take();
        Setting { memory, counts, pool, array, plain }
    }

    pub fn all(&self) -> Vec<u8> {
        let mut elements = vec![0; 16];
        read(&self.array, &whole(), &Target::of(&mut elements), &OPTIONS).unwrap();
        elements
    }

    pub fn one(&self, indices: [i64; 2]) -> u8 {
        let mut element = [0];
        read(&self.array, &single(indices), &Target::of(&mut element), &OPTIONS).unwrap();
        element[0]
    }

    /// As another process does, whose changes nobody here is told of.
    pub fn change_outside(&self, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut value = self.memory.get(key).unwrap().unwrap();
        change(&mut value);
        self.memory.set_silently(key, &value);
    }
}

pub fn whole() -> Region {
    Region::whole(&[4, 4], &c_strides(&[4, 4], 1))
}

pub fn single([row, column]: [i64; 2]) -> Region {
    let at = |start| Axis::Strided { start, step: 1, count: 1, stride: 0 };
    Region { base: 0, axes: vec![at(row), at(column)], groups: Vec::new() }
}

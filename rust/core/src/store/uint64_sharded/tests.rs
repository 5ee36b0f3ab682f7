use std::sync::atomic::{AtomicUsize, Ordering};

use super::index::{decode, encode, minishard, Entry};
use super::*;
use crate::codec::tests::Random;
use crate::store::memory::MemoryStore;

const SHARDING: Sharding =
    Sharding { preshift_bits: 1, minishard_bits: 1, shard_bits: 5, murmur: false, gzip_index: false };

fn store(memory: &Arc<MemoryStore>, sharding: Sharding) -> ShardedStore {
    ShardedStore::new(memory.clone(), "a/".into(), sharding, 100, 1000).unwrap()
}

/// Shard 0 with the chunks 0 and 1 in its first minishard, and none in its second.
fn shard() -> Vec<u8> {
    let numbers = [6u64, 54, 0, 0];
    let rows = [0u64, 1, 0, 0, 2, 4];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend_from_slice(b"zeones");
    bytes.extend(rows.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

#[test]
fn hashes_are_those_of_the_reference() {
    // Of the eight bytes of a number, with no seed, by pymmh3.
    assert_eq!(murmur::hash(0), 0x4772_b084_e028_ae41);
    assert_eq!(murmur::hash(1), 0xe8bd_67d6_16d4_ce9a);
    assert_eq!(murmur::hash(42), 0xc20b_94f9_5119_f47a);
}

#[test]
fn numbers_tell_shards_and_minishards() {
    assert_eq!(SHARDING.place(0b1011011), (0b10110, 1));
    let all = Sharding { preshift_bits: 64, ..SHARDING };
    assert_eq!(all.place(u64::MAX), (0, 0));
    let wide = Sharding { preshift_bits: 0, minishard_bits: 0, shard_bits: 64, ..SHARDING };
    assert_eq!(wide.place(u64::MAX), (u64::MAX, 0));
}

#[test]
fn chunks_are_found() {
    let memory = Arc::new(MemoryStore::new());
    memory.set("a/00.shard", &[&shard()]).unwrap();
    let store = store(&memory, SHARDING);
    for _ in 0..2 {
        assert_eq!(store.get("a/0000000000000000").unwrap().unwrap(), b"ze");
        assert_eq!(store.get("a/0000000000000001").unwrap().unwrap(), b"ones");
    }
    assert_eq!(store.get("a/0000000000000002").unwrap(), None);
    assert_eq!(store.get("a/0000000000000004").unwrap(), None);
    assert!(store.open("a/1").is_err());
    assert!(store.open("b/0000000000000004").is_err());
    // Another version of the shard has another index.
    memory.set("a/00.shard", &[&shard()[..32], b"onesze", &shard()[38..70], &[4], &[0; 7], &[2], &[0; 7]]).unwrap();
    assert_eq!(store.get("a/0000000000000000").unwrap().unwrap(), b"ones");
    assert_eq!(store.get("a/0000000000000001").unwrap().unwrap(), b"ze");
}

#[test]
fn indices_come_back() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let mut entries = Vec::new();
        let (mut chunk, mut place) = (0, 32);
        for _ in 0..random.below(9) {
            chunk += 1 + random.below(1 << 40) as u64;
            let start = place + random.below(3) as u64;
            place = start + random.below(100) as u64;
            entries.push(Entry { chunk, start, end: place });
        }
        for gzip in [false, true] {
            let mut encoded = Vec::new();
            encode(&entries, gzip, 32, &mut encoded).unwrap();
            assert_eq!(decode(&encoded, gzip, 32, 9).unwrap(), entries);
            if entries.len() > 1 {
                assert!(decode(&encoded, gzip, 32, 1).is_err());
            }
        }
    }
}

#[test]
fn whatever_is_stored_is_an_error_or_a_part_of_the_shard() {
    let memory = Arc::new(MemoryStore::new());
    let mut random = Random::new(4);
    let (mut refused, mut found) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = shard();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        bytes.truncate(bytes.len() - random.below(2) * random.below(60));
        memory.set("a/00.shard", &[&bytes]).unwrap();
        match store(&memory, SHARDING).get("a/0000000000000001") {
            Ok(None) => {}
            Ok(Some(value)) => {
                assert!(bytes.windows(value.len().max(1)).any(|part| part.starts_with(&value)));
                found += 1;
            }
            Err(error) => {
                assert!(matches!(error.kind, Kind::ShardIndex | Kind::Codec | Kind::Limit), "{error:?}");
                assert_eq!(error.key.as_deref(), Some("a/00.shard"));
                refused += 1;
            }
        }
    }
    assert!(refused > 1000 && found > 1000, "{refused} {found}");
}

/// What a store far away is asked, which tells versions only when it is asked for them.
struct Far {
    memory: Arc<MemoryStore>,
    reads: AtomicUsize,
    version: AtomicUsize,
}

struct FarReader<'a> {
    reader: Box<dyn Reader + 'a>,
    reads: &'a AtomicUsize,
}

impl Reader for FarReader<'_> {
    fn len(&self) -> Option<u64> {
        None
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        assert!(i64::try_from(offset).is_ok(), "read from the end");
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.reader.read_at(offset, buffer)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        self.reader.read_suffix(buffer)
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        self.reader.read_all(buffer, limit)
    }
}

impl Store for Far {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        let reader = self.memory.open(key)?;
        Ok(reader.map(|reader| Box::new(FarReader { reader, reads: &self.reads }) as Box<dyn Reader>))
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.memory.set(key, parts)
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.memory.delete(key)
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.memory.locker(lock_key, interrupt)
    }

    fn status(&self, _key: &str) -> Result<Status> {
        Ok(Status::Is(Version::new([self.version.load(Ordering::SeqCst) as u64; 6], true)))
    }

    fn tells_versions(&self) -> bool {
        true
    }
}

#[test]
fn indices_are_read_once_for_each_version_that_a_store_tells() {
    let memory = Arc::new(MemoryStore::new());
    memory.set("a/00.shard", &[&shard()]).unwrap();
    let far = Arc::new(Far { memory: memory.clone(), reads: AtomicUsize::new(0), version: AtomicUsize::new(0) });
    let store = ShardedStore::new(far.clone(), "a/".into(), SHARDING, 100, 1000).unwrap();
    let reads = || far.reads.swap(0, Ordering::SeqCst);
    assert_eq!(store.get("a/0000000000000000").unwrap().unwrap(), b"ze");
    assert_eq!(reads(), 3);
    assert_eq!(store.get("a/0000000000000001").unwrap().unwrap(), b"ones");
    assert_eq!(reads(), 1);
    memory.set("a/00.shard", &[&shard()[..32], b"onesze", &shard()[38..70], &[4], &[0; 7], &[2], &[0; 7]]).unwrap();
    far.version.store(1, Ordering::SeqCst);
    assert_eq!(store.get("a/0000000000000001").unwrap().unwrap(), b"ze");
    assert_eq!(reads(), 3);
}

#[test]
fn chunks_do_not_lie_where_no_request_can_ask() {
    let step = |start: u64| start.wrapping_sub(32);
    let index = |start: u64, length: u64| {
        let rows = [0, step(start), length];
        rows.iter().flat_map(|number: &u64| number.to_le_bytes()).collect::<Vec<u8>>()
    };
    assert_eq!(decode(&index(40, 4), false, 32, 9).unwrap().len(), 1);
    assert_eq!(decode(&index((1 << 63) - 5, 4), false, 32, 9).unwrap().len(), 1);
    for start in [(1 << 63) - 4, 1 << 63, u64::MAX - 11] {
        assert!(decode(&index(start, 4), false, 32, 9).is_err(), "{start}");
    }
}

#[test]
fn what_is_refused() {
    let entry = |start: u64, end: u64| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&start.to_le_bytes());
        bytes[8..].copy_from_slice(&end.to_le_bytes());
        bytes
    };
    assert_eq!(minishard(&entry(7, 7), 32).unwrap(), None);
    assert_eq!(minishard(&entry(7, 8), 32).unwrap(), Some((39, 40)));
    assert!(minishard(&entry(8, 7), 32).is_err());
    assert!(minishard(&entry(u64::MAX, u64::MAX), 32).is_err());
    assert!(minishard(&entry(7, u64::MAX), 32).is_err());
    let sharding = Sharding { minishard_bits: 33, ..SHARDING };
    assert!(ShardedStore::new(Arc::new(MemoryStore::new()), String::new(), sharding, 1, 1).is_err());
}

#[test]
fn shards_are_laid_down_anew() {
    let mut random = Random::new(5);
    for seed in 0..100 {
        let sharding = Sharding {
            preshift_bits: random.below(3) as u32,
            minishard_bits: random.below(3) as u32,
            shard_bits: random.below(2) as u32,
            murmur: seed % 2 == 0,
            gzip_index: seed % 3 == 0,
        };
        let memory = Arc::new(MemoryStore::new());
        let store = store(&memory, sharding);
        let mut expected = std::collections::BTreeMap::new();
        for _ in 0..4 {
            let mut shards = std::collections::BTreeMap::new();
            for _ in 0..random.below(9) {
                let chunk = random.below(20) as u64;
                let value = (random.below(4) > 0).then(|| vec![random.next() as u8; random.below(5)]);
                expected.insert(chunk, value.clone());
                let changes: &mut std::collections::BTreeMap<_, _> = shards.entry(sharding.place(chunk).0).or_default();
                changes.insert(chunk, value);
            }
            for (shard, changes) in shards {
                let whole = store.whole(shard).unwrap();
                store.store_whole(whole, &changes).unwrap();
            }
            for (chunk, value) in &expected {
                assert_eq!(store.get(&format!("a/{chunk:016x}")).unwrap(), *value, "seed {seed}");
            }
        }
        if expected.values().all(Option::is_none) {
            assert!(crate::store::ListableStore::list(memory.as_ref(), "").unwrap().is_empty());
        }
    }
}

#[test]
fn damaged_shards_are_not_laid_down_anew() {
    let memory = Arc::new(MemoryStore::new());
    for (length, said) in [(20, "at least 32 bytes"), (50, "the index of minishard 0 ends at byte 86")] {
        memory.set("a/00.shard", &[&shard()[..length]]).unwrap();
        let error = store(&memory, SHARDING).whole(0).map(drop).expect_err("damaged");
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// A shard whose chunks, of so many, are these bytes of it.
fn sharing(ranges: &[(u64, u64)], length: usize) -> Vec<u8> {
    let base = SHARDING.base();
    let entries: Vec<_> = (0u64..)
        .filter(|&chunk| SHARDING.place(chunk) == (0, 0))
        .zip(ranges)
        .map(|(chunk, &(start, end))| Entry { chunk, start: base + start, end: base + end })
        .collect();
    let mut body = vec![7; length];
    encode(&entries, SHARDING.gzip_index, base, &mut body).unwrap();
    let mut shard = vec![0; base as usize];
    shard[..8].copy_from_slice(&(length as u64).to_le_bytes());
    shard[8..16].copy_from_slice(&(body.len() as u64).to_le_bytes());
    shard.extend(body);
    shard
}

#[test]
fn chunks_that_are_the_same_bytes_stay_so() {
    let memory = Arc::new(MemoryStore::new());
    let before = sharing(&[(0, 1000), (0, 1000), (0, 1000)], 1000);
    memory.set("a/00.shard", &[&before]).unwrap();
    let store = store(&memory, SHARDING);
    let chunks: Vec<u64> = (0..).filter(|&chunk| SHARDING.place(chunk) == (0, 0)).take(4).collect();
    let changes = [(chunks[1], None), (chunks[3], Some(vec![9; 5]))].into_iter().collect();
    store.store_whole(store.whole(0).unwrap(), &changes).unwrap();
    assert!(memory.get("a/00.shard").unwrap().unwrap().len() < before.len() + 100);
    let expected = [Some(vec![7; 1000]), None, Some(vec![7; 1000]), Some(vec![9; 5])];
    for (chunk, expected) in chunks.iter().zip(expected) {
        assert_eq!(store.get(&format!("a/{chunk:016x}")).unwrap(), expected);
    }
}

#[test]
fn chunks_that_overlap_are_not_laid_down_anew() {
    let memory = Arc::new(MemoryStore::new());
    memory.set("a/00.shard", &[&sharing(&[(0, 1000), (1, 1000), (2, 1000)], 1000)]).unwrap();
    let store = store(&memory, SHARDING);
    let error = store.whole(0).err().expect("damaged");
    assert!(error.to_string().contains("chunks overlap: 2997 bytes of a shard of"), "{error}");
}

//! A store of which others replace values while they are read, or between reading and writing, and that names versions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::counting::{single, OPTIONS};
use super::keys;
use crate::array::{Array, Keys, Options, Places};
use crate::cache::pool::CachePool;
use crate::cache::Recheck;
use crate::chain::{Chain, Elements, Serializer, Shard};
use crate::check::{check, Depth};
use crate::codec::checksum::Checksum;
use crate::codec::element::Swap;
use crate::codec::BytesToBytes;
use crate::error::{Error, Kind, Result};
use crate::interrupt::{never, Interrupt};
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Axis, Region};
use crate::store::memory::MemoryStore;
use crate::store::uint64_sharded::{ShardedStore, Sharding};
use crate::store::version::{Status, Version};
use crate::store::{Conditional, Locker, Reader, Store};
use crate::write::write;
use crate::write_conditionally::persistently;

/// What others do to a value right after somebody has read of it, given what is stored.
type Others = Box<dyn FnMut(Option<&[u8]>) -> Option<Vec<u8>> + Send>;

#[derive(Default)]
struct Versioned {
    values: Mutex<BTreeMap<String, (Vec<u8>, u64)>>,
    others: Mutex<Option<Others>>,
    calls: Mutex<Vec<&'static str>>,
    locks: MemoryStore,
    tells: bool,
}

impl Versioned {
    fn put(&self, key: &str, value: Vec<u8>) {
        let mut values = self.values.lock().unwrap();
        let version = values.get(key).map_or(1, |(_, version)| version + 1);
        values.insert(key.to_owned(), (value, version));
    }

    /// The value; then others get their turn.
    fn found(&self, call: &'static str, key: &str) -> Option<(Vec<u8>, String)> {
        self.calls.lock().unwrap().push(call);
        let found = self.values.lock().unwrap().get(key).cloned();
        let mut others = self.others.lock().unwrap();
        let changed = others.as_mut().and_then(|others| others(found.as_ref().map(|(value, _)| value.as_slice())));
        if let Some(changed) = changed {
            self.put(key, changed);
        }
        found.map(|(value, version)| (value, version.to_string()))
    }

    fn take_calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

struct Lazy<'a> {
    store: &'a Versioned,
    key: &'a str,
    pinned: Mutex<Option<Arc<str>>>,
}

impl Reader for Lazy<'_> {
    fn len(&self) -> Option<u64> {
        None
    }

    fn pinned(&self) -> Option<Arc<str>> {
        self.pinned.lock().unwrap().clone()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        self.read_ranges(&mut [(offset as i64, buffer)])
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        self.read_ranges(&mut [(-(buffer.len() as i64), buffer)])
    }

    fn read_all(&self, buffer: &mut Vec<u8>, _: u64) -> Result<bool> {
        let answer = self.store.found("whole", self.key);
        buffer.clear();
        buffer.extend(answer.iter().flat_map(|(value, _)| value));
        Ok(answer.is_some())
    }

    fn read_ranges(&self, ranges: &mut [(i64, &mut [u8])]) -> Result<bool> {
        let Some((value, version)) = self.store.found("ranges", self.key) else { return Ok(false) };
        let mut pinned = self.pinned.lock().unwrap();
        if pinned.get_or_insert_with(|| version.as_str().into()).as_ref() != version {
            return Err(Error::new(Kind::Conflict, "replaced"));
        }
        for (offset, buffer) in ranges {
            let start = if *offset < 0 { value.len() as i64 + *offset } else { *offset } as usize;
            buffer.copy_from_slice(&value[start..start + buffer.len()]);
        }
        Ok(true)
    }
}

impl Store for Versioned {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        Ok(Some(Box::new(Lazy { store: self, key, pinned: Mutex::new(None) })))
    }

    fn open_pinned<'a>(&'a self, key: &'a str, version: Arc<str>) -> Result<Option<Box<dyn Reader + 'a>>> {
        Ok(Some(Box::new(Lazy { store: self, key, pinned: Mutex::new(Some(version)) })))
    }

    fn conditional(&self) -> Option<&dyn Conditional> {
        Some(self)
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.calls.lock().unwrap().push("set");
        self.put(key, parts.concat());
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<bool> {
        Ok(self.values.lock().unwrap().remove(key).is_some())
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.found("size", key).map(|(value, _)| value.len() as u64))
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.locks.locker(lock_key, interrupt)
    }

    fn full_name(&self, key: &str) -> Option<String> {
        Some(format!("versioned:{:p}/{key}", self))
    }

    fn status(&self, key: &str) -> Result<Status> {
        let found = self.found("status", key);
        Ok(found.map_or(Status::Missing, |(_, version)| Status::Is(Version::named(version.as_bytes()))))
    }

    fn tells_versions(&self) -> bool {
        self.tells
    }
}

impl Conditional for Versioned {
    fn get_with_version(&self, key: &str) -> Result<Option<(Vec<u8>, String)>> {
        Ok(self.found("get", key))
    }

    fn set_if_version(&self, key: &str, parts: &[&[u8]], version: Option<&str>) -> Result<bool> {
        self.calls.lock().unwrap().push("set if");
        let now = self.values.lock().unwrap().get(key).map(|(_, version)| version.to_string());
        if now.as_deref() != version {
            return Ok(false);
        }
        self.put(key, parts.concat());
        Ok(true)
    }
}

fn store(tells: bool) -> Arc<Versioned> {
    let store = Versioned { tells, ..Versioned::default() };
    store.locks.set("a/zarr.json", &[b"{}"]).unwrap();
    Arc::new(store)
}

/// 4 x 4 bytes in one chunk, or in one shard of 2 x 2 inner chunks, as they are.
fn array(store: &Arc<Versioned>, sharded: bool) -> Array {
    let elements = || Elements { itemsize: 1, swap: Swap::None, boolean: false };
    let plain = |shape| Chain::new(shape, elements(), vec![0], None, Serializer::Elements, vec![]).unwrap();
    let chain = if sharded {
        let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
        let crc: Vec<Box<dyn BytesToBytes>> = vec![Box::new(Checksum::CRC32C)];
        let index = Chain::new(vec![2, 2, 2], pairs, vec![0xff; 8], None, Serializer::Elements, crc).unwrap();
        let shard = Serializer::Shard(Box::new(Shard::new(&[4, 4], plain(vec![2, 2]), index, false).unwrap()));
        Chain::new(vec![4, 4], elements(), vec![0], None, shard, vec![]).unwrap()
    } else {
        plain(vec![4, 4])
    };
    let far = Arc::clone(store) as Arc<dyn Store>;
    Array::new(far, keys(usize::MAX), "a/zarr.json".into(), vec![4, 4], Arc::new(chain)).unwrap()
}

/// The same bytes in one shard of Neuroglancer.
fn gathered(store: &Arc<Versioned>) -> Array {
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    let chain = Chain::new(vec![2, 2], elements, vec![0], None, Serializer::Elements, vec![]).unwrap();
    let empty = String::new;
    let places = Places::Morton(vec![1, 1]);
    let keys = Keys { prefix: "a/".into(), head: empty(), separator: empty(), scalar: empty(), axes: 2, places };
    let sharding = Sharding { preshift_bits: 2, minishard_bits: 0, shard_bits: 0, murmur: false, gzip_index: false };
    let far = Arc::clone(store) as Arc<dyn Store>;
    let shards = ShardedStore::new(Arc::clone(&far), "a/".into(), sharding, 4, 4).unwrap();
    let array = Array::new(far, keys, "a/zarr.json".into(), vec![4, 4], Arc::new(chain)).unwrap();
    array.in_shards(Arc::new(shards))
}

fn whole() -> Region {
    Region::whole(&[4, 4], &c_strides(&[4, 4], 1))
}

fn all(array: &Array) -> Result<Vec<u8>> {
    let mut elements = vec![0xee; 16];
    read(array, &whole(), &Target::of(&mut elements), &OPTIONS).map(|()| elements)
}

fn one(array: &Array, indices: [i64; 2], value: u8) {
    write(array, &single(indices), &Origin::of(&[value]), &OPTIONS).unwrap();
}

/// What is stored of an array that has this value everywhere.
fn image(make: &dyn Fn(&Arc<Versioned>) -> Array, value: u8) -> Vec<u8> {
    let store = store(true);
    write(&make(&store), &whole(), &Origin::of(&[value; 16]), &OPTIONS).unwrap();
    let values = store.values.lock().unwrap();
    values.values().next().unwrap().0.clone()
}

/// Makes an array in a store.
type Maker = Box<dyn Fn(&Arc<Versioned>) -> Array>;

fn makers() -> Vec<Maker> {
    vec![Box::new(|store| array(store, false)), Box::new(|store| array(store, true)), Box::new(gathered)]
}

#[test]
fn parts_that_others_write_meanwhile_are_kept() {
    for make in makers() {
        for times in [0, 1, 15] {
            let store = store(true);
            let array = make(&store);
            // Others write everything but what is written here; the last of them counts.
            let mut left: Vec<Vec<u8>> = (1..=times).map(|value| image(&make, value)).collect();
            left.reverse();
            *store.others.lock().unwrap() = Some(Box::new(move |_| left.pop()));
            one(&array, [3, 1], 99);
            let calls = store.take_calls();
            assert_eq!(calls, ["get", "set if"].repeat(usize::from(times) + 1));
            let mut expected = vec![times; 16];
            expected[13] = 99;
            assert_eq!(all(&array).unwrap(), expected);
        }
    }
}

#[test]
fn what_holds_nothing_but_the_fill_value_is_stored_where_something_was() {
    for make in makers() {
        let store = store(true);
        let array = make(&store);
        one(&array, [3, 1], 0);
        assert_eq!(store.take_calls(), ["get"]);
        assert!(store.values.lock().unwrap().is_empty());
        one(&array, [3, 1], 5);
        store.take_calls();
        one(&array, [3, 1], 0);
        assert_eq!(store.take_calls(), ["get", "set if"]);
        let stored = store.values.lock().unwrap().len();
        assert_eq!((stored, all(&array).unwrap()), (1, vec![0; 16]));
        let checked = check(&array, &[0, 0], Depth::Everything, &OPTIONS).unwrap();
        assert!(checked.findings.errors.is_empty());
    }
}

#[test]
fn who_never_gets_through_is_asked_whether_to_go_on() {
    let store = store(true);
    let array = array(&store, false);
    let mut value = 0u8;
    *store.others.lock().unwrap() = Some(Box::new(move |_| {
        value = value.wrapping_add(1);
        Some(vec![value; 16])
    }));
    let asked = Mutex::new(0);
    let stop = || {
        *asked.lock().unwrap() += 1;
        match *asked.lock().unwrap() {
            12.. => Err(Error::new(Kind::Request, "stop")),
            _ => Ok(()),
        }
    };
    let options = Options { interrupted: &stop, ..OPTIONS };
    let error = write(&array, &single([0, 0]), &Origin::of(&[1]), &options).unwrap_err();
    assert_eq!((error.kind, error.reason.as_str()), (Kind::Request, "stop"));
}

/// Indices of all versions are the same here, so nothing but their names tells them apart.
#[test]
fn all_that_is_read_is_of_one_version() {
    for make in makers() {
        for (times, pooled) in [(0, false), (1, false), (3, false), (20, false), (0, true), (1, true), (20, true)] {
            let store = store(true);
            let mut array = make(&store);
            write(&array, &whole(), &Origin::of(&[100; 16]), &OPTIONS).unwrap();
            if pooled {
                array = array.cached(&Arc::new(CachePool::new(1 << 20)), Recheck::Always, 0);
            }
            let mut left: Vec<Vec<u8>> = (1..=times).map(|value| image(&make, value)).collect();
            *store.others.lock().unwrap() = Some(Box::new(move |_| left.pop()));
            // One chunk, or one shard with its index: neighbours in a row are in two inner chunks.
            let row = Region { base: 0, axes: vec![one_of(1), four()], groups: Vec::new() };
            let chunks = usize::from(array.shards.is_none());
            let mut elements = vec![0xee; 4];
            read(&array, &row, &Target::of(&mut elements), &OPTIONS).unwrap();
            assert!(chunks == 0 || elements.iter().all(|value| *value == elements[0]), "{elements:?}");
            assert!(elements.iter().all(|value| *value != 0xee && *value != 0), "{elements:?}");
        }
    }
}

fn one_of(start: i64) -> Axis {
    Axis::Strided { start, step: 1, count: 1, stride: 0 }
}

fn four() -> Axis {
    Axis::Strided { start: 0, step: 1, count: 4, stride: 1 }
}

/// A shard of Neuroglancer that is laid out otherwise meanwhile: an index of before would name bytes of something else.
#[test]
fn an_index_of_minishards_is_used_for_its_version_only() {
    let store = store(true);
    let array = gathered(&store);
    write(&array, &whole(), &Origin::of(&[7; 16]), &OPTIONS).unwrap();
    assert_eq!(all(&array).unwrap(), [7; 16]);
    // Without its first chunk, so that the others lie elsewhere.
    let other = self::store(true);
    let sparse = gathered(&other);
    let values: Vec<u8> = (0..16).map(|at| if at % 4 < 2 && at < 8 { 0 } else { 40 + at }).collect();
    write(&sparse, &whole(), &Origin::of(&values), &OPTIONS).unwrap();
    let image = other.values.lock().unwrap().values().next().unwrap().0.clone();
    // After the version was asked for, and before any bytes are: the index is known.
    let mut left = vec![image];
    *store.others.lock().unwrap() = Some(Box::new(move |_| left.pop()));
    store.take_calls();
    let found = all(&array).unwrap();
    assert_eq!(store.take_calls()[0], "status");
    // Each of its chunks is read by itself, but of a version of its own.
    assert!(found.iter().zip(&values).all(|(found, value)| found == value || *found == 7), "{found:?}");
    assert_eq!(all(&array).unwrap(), values);
}

#[test]
fn who_is_replaced_for_ever_is_told_so() {
    let store = store(true);
    let array = array(&store, true);
    write(&array, &whole(), &Origin::of(&[7; 16]), &OPTIONS).unwrap();
    let images: Vec<Vec<u8>> = [1, 2].map(|value| image(&|store| self::array(store, true), value)).to_vec();
    let mut turn = 0;
    *store.others.lock().unwrap() = Some(Box::new(move |_| {
        turn += 1;
        Some(images[turn % 2].clone())
    }));
    let error = all(&array).unwrap_err();
    assert_eq!((error.kind, error.key.as_deref()), (Kind::Conflict, Some("a/c/0/0")));
    // For a check that is an error of this chunk; only its whole can be checked, and that in one request.
    let checked = check(&array, &[0, 0], Depth::Everything, &OPTIONS).unwrap();
    assert!(checked.findings.errors.is_empty());
}

/// Neither an intermediary that makes every condition fail nor a crowd of writers is asked for ever.
#[test]
fn a_write_that_is_always_refused_is_given_up() {
    let store = store(true);
    store.put("k", b"theirs".to_vec());
    let refused = persistently(&*store, "k", &never, |_, _| Ok(false)).unwrap_err();
    assert_eq!((refused.kind, refused.key.as_deref()), (Kind::Store, Some("k")));
    assert!(refused.reason.contains("nobody changed it"), "{}", refused.reason);
    let beaten = persistently(&*store, "k", &never, |_, _| {
        store.put("k", b"others".to_vec());
        Ok(false)
    });
    let beaten = beaten.unwrap_err().reason;
    assert!(beaten.contains("others changed it"), "{beaten}");
}

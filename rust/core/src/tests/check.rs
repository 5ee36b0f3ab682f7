//! Checking and salvaging: all that is wrong is found and nothing else, and what is intact is saved bit for bit.

use std::sync::{Arc, Mutex};

use super::keys;
use crate::array::{Array, Options};
use crate::chain::{Chain, Elements, Serializer, Shard};
use crate::check::{check, Checked, Depth};
use crate::codec::checksum::Checksum;
use crate::codec::element::Swap;
use crate::codec::foreign::{Foreign, ForeignCodec, Length, Take};
use crate::codec::BytesToBytes;
use crate::error::{Direction, Kind};
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Region};
use crate::salvage::{salvage, Allowed, Outcome, Salvaged};
use crate::store::memory::MemoryStore;
use crate::store::{ListableStore, Store};
use crate::write::write;

const OPTIONS: Options<'static> = Options { threads: 2, requests: 0, write_empty: true, interrupted: &|| Ok(()) };
/// Encoded length of an inner chunk of 2 x 2 bytes with its checksum.
const INNER: usize = 8;

fn elements(shape: &[usize], checksum: bool) -> Chain {
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    let codecs: Vec<Box<dyn BytesToBytes>> = if checksum { vec![Box::new(Checksum::CRC32C)] } else { Vec::new() };
    Chain::new(shape.to_vec(), elements, vec![0], None, Serializer::Elements, codecs).unwrap()
}

fn sharded(shape: &[usize], inner: Chain) -> Chain {
    let grid: Vec<usize> = shape.iter().zip(&inner.shape).map(|(a, b)| a / b).collect();
    let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
    let codecs: Vec<Box<dyn BytesToBytes>> = vec![Box::new(Checksum::CRC32C)];
    let index = Chain::new([grid, vec![2]].concat(), pairs, vec![0xff; 8], None, Serializer::Elements, codecs).unwrap();
    let shard = Shard::new(shape, inner, index, false).unwrap();
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    Chain::new(shape.to_vec(), elements, vec![0], None, Serializer::Shard(Box::new(shard)), Vec::new()).unwrap()
}

/// An array of 8 x 4 bytes, 1 to 32, in chunks of 4 x 4.
fn filled(chain: Chain) -> (Arc<MemoryStore>, Array) {
    let store = Arc::new(MemoryStore::new());
    let keys = keys(usize::MAX);
    store.set("a/zarr.json", &[b"{}"]).unwrap();
    let held = Arc::clone(&store) as Arc<dyn Store>;
    let array = Array::new(held, keys, "a/zarr.json".into(), vec![8, 4], Arc::new(chain)).unwrap();
    write(&array, &whole(), &Origin::of(&values()), &OPTIONS).unwrap();
    (store, array)
}

fn values() -> Vec<u8> {
    (1..=32).collect()
}

fn whole() -> Region {
    Region::whole(&[8, 4], &c_strides(&[8, 4], 1))
}

fn everything(array: &Array) -> Checked {
    check(array, &[0, 0, 1, 0], Depth::Everything, &OPTIONS).unwrap()
}

fn change(store: &MemoryStore, key: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut value = store.get(key).unwrap().unwrap();
    change(&mut value);
    store.set(key, &[&value]).unwrap();
    value
}

fn saved(array: &Array, allowed: Allowed) -> (Salvaged, Vec<Vec<u8>>) {
    let kept = Mutex::new(Vec::new());
    let keep = |bytes: &[u8]| {
        kept.lock().unwrap().push(bytes.to_vec());
        Ok(())
    };
    let salvaged = salvage(array, &[0, 0], allowed, &keep, &OPTIONS).unwrap();
    (salvaged, kept.into_inner().unwrap())
}

const KEEPING: Allowed = Allowed { remove: false, dry_run: false };

/// A codec written elsewhere that encodes everything to nothing.
struct Nothing;

impl ForeignCodec for Nothing {
    fn encode(&self, _: &[u8], take: &mut Take<'_>) -> crate::error::Result<()> {
        take(&[])
    }

    fn decode(&self, _: &[u8], max_size: usize, take: &mut Take<'_>) -> crate::error::Result<()> {
        take(&vec![0; max_size])
    }

    fn encoded_len(&self, _: usize) -> Length {
        Length::AtMost(9)
    }
}

#[test]
fn inner_chunks_of_no_bytes_are_refused_when_they_are_written() {
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    let codecs: Vec<Box<dyn BytesToBytes>> = vec![Box::new(Foreign::new("acme.nothing", Box::new(Nothing), None))];
    let inner = Chain::new(vec![2, 2], elements, vec![0], None, Serializer::Elements, codecs).unwrap();
    let store = Arc::new(MemoryStore::new());
    store.set("a/zarr.json", &[b"{}"]).unwrap();
    let held = Arc::clone(&store) as Arc<dyn Store>;
    let chain = Arc::new(sharded(&[4, 4], inner));
    let array = Array::new(held, keys(usize::MAX), "a/zarr.json".into(), vec![8, 4], chain).unwrap();
    for threads in [1, 2] {
        let options = Options { threads, ..OPTIONS };
        let error = write(&array, &whole(), &Origin::of(&values()), &options).unwrap_err();
        assert_eq!((error.codec, error.direction), (Some("acme.nothing"), Some(Direction::Encode)));
        assert!(error.inner.is_some());
    }
    assert_eq!(store.list("a").unwrap(), ["a/zarr.json"]);
}

#[test]
fn what_is_right_has_no_errors() {
    let chains = [
        elements(&[4, 4], false),
        elements(&[4, 4], true),
        sharded(&[4, 4], elements(&[2, 2], true)),
        sharded(&[4, 4], sharded(&[4, 2], elements(&[2, 2], false))),
    ];
    for (chain, chunks) in chains.into_iter().zip([2, 2, 8, 8]) {
        let (store, array) = filled(chain);
        for depth in [Depth::Sizes, Depth::Everything] {
            let checked = check(&array, &[0, 0, 1, 0, 7, 7], depth, &OPTIONS).unwrap();
            assert_eq!(checked.findings.errors.len(), 0);
            assert_eq!((checked.objects, checked.missing, checked.findings.chunks), (2, 1, chunks));
            assert_eq!(checked.bytes, store.size("a/c/0/0").unwrap().unwrap() * 2);
        }
    }
}

#[test]
fn all_damaged_chunks_are_named_not_the_first_alone() {
    let (store, array) = filled(elements(&[4, 4], true));
    change(&store, "a/c/0/0", |value| value[3] ^= 1);
    change(&store, "a/c/1/0", |value| value.truncate(5));
    let mut errors = everything(&array).findings.errors;
    errors.sort_by_key(|error| error.key.clone());
    assert_eq!(errors[0].kind, Kind::Checksum);
    assert_eq!((errors[0].key.as_deref(), errors[0].chunk.as_deref()), (Some("a/c/0/0"), Some(&[0, 0][..])));
    assert_eq!(errors[1].reason, "expected 20 bytes, found 5");
    assert_eq!((errors.len(), errors[1].codec), (2, Some("crc32c")));
    let by_size = check(&array, &[0, 0, 1, 0], Depth::Sizes, &OPTIONS).unwrap().findings.errors;
    assert_eq!((by_size.len(), by_size[0].key.as_deref()), (1, Some("a/c/1/0")));
}

#[test]
fn every_damaged_inner_chunk_is_named() {
    let (store, array) = filled(sharded(&[4, 4], elements(&[2, 2], true)));
    change(&store, "a/c/0/0", |value| {
        value[0] ^= 1;
        value[3 * INNER] ^= 1;
    });
    let errors = everything(&array).findings.errors;
    let places: Vec<_> = errors.iter().map(|error| error.inner.as_deref().unwrap().to_vec()).collect();
    assert_eq!(places, [[0, 0], [1, 1]]);
    assert!(errors.iter().all(|error| error.kind == Kind::Checksum && error.key.as_deref() == Some("a/c/0/0")));
}

/// Another index for the shard `a/c/0/0`.
fn reindex(store: &MemoryStore, entries: &[[u64; 2]; 4]) {
    change(store, "a/c/0/0", |value| {
        value.truncate(4 * INNER);
        let pairs: Vec<u8> = entries.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        Checksum::CRC32C.encode(&pairs, value).unwrap();
    });
}

#[test]
fn entries_that_lie_are_found_and_shared_bytes_are_no_damage() {
    let (store, array) = filled(sharded(&[4, 4], elements(&[2, 2], true)));
    let length = INNER as u64;
    let max = u64::MAX;
    reindex(&store, &[[0, length], [1000, length], [max, length], [8, 3]]);
    for depth in [Depth::Sizes, Depth::Everything] {
        let errors = check(&array, &[0, 0], depth, &OPTIONS).unwrap().findings.errors;
        let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
        assert!(reasons[0].contains("reaches beyond the shard's 100 bytes"), "{reasons:?}");
        assert!(reasons[1].contains("is half missing"), "{reasons:?}");
        assert!(reasons[2].contains("must have the length 8"), "{reasons:?}");
        assert!(errors.iter().all(|error| error.kind == Kind::ShardIndex) && errors.len() == 3);
    }
    reindex(&store, &[[0, length], [0, length], [0, length], [max, max]]);
    let findings = check(&array, &[0, 0], Depth::Everything, &OPTIONS).unwrap().findings;
    assert_eq!((findings.errors.len(), findings.chunks), (0, 3));
    assert_eq!((findings.shared[0].0.as_ref(), findings.shared[0].1), (&[0, 0][..], 2));
    reindex(&store, &[[0, length], [4, length], [16, length], [24, length]]);
    let findings = check(&array, &[0, 0], Depth::Sizes, &OPTIONS).unwrap().findings;
    assert!(findings.errors[0].reason.ends_with("overlaps that of entry 0"), "{:?}", findings.errors);
    assert_eq!(findings.errors[0].inner.as_deref(), Some(&[0, 1][..]));
}

#[test]
fn intact_inner_chunks_are_saved_and_the_damaged_shard_is_kept_first() {
    let (store, array) = filled(sharded(&[4, 4], elements(&[2, 2], true)));
    let damaged = change(&store, "a/c/0/0", |value| value[INNER] ^= 1);
    let dry = saved(&array, Allowed { remove: true, dry_run: true });
    assert_eq!((dry.0.outcome, dry.1.len()), (Outcome::Rebuilt, 0));
    assert_eq!(store.get("a/c/0/0").unwrap().unwrap(), damaged);
    let (salvaged, kept) = saved(&array, KEEPING);
    assert_eq!((salvaged.outcome, salvaged.kept, salvaged.lost), (Outcome::Rebuilt, 3, vec![vec![0, 1]]));
    assert_eq!(kept, [damaged]);
    assert_eq!(everything(&array).findings.errors.len(), 0);
    let mut expected = values();
    for element in [2, 3, 6, 7] {
        expected[element] = 0;
    }
    let mut elements = vec![9; 32];
    read(&array, &whole(), &Target::of(&mut elements), &OPTIONS).unwrap();
    assert_eq!(elements, expected);
    assert_eq!(saved(&array, KEEPING).0.outcome, Outcome::Intact);
}

#[test]
fn of_an_index_with_a_wrong_checksum_only_what_is_certain_is_followed() {
    let index = 4 * INNER;
    let (store, array) = filled(sharded(&[4, 4], elements(&[2, 2], true)));
    change(&store, "a/c/0/0", |value| value[index + 16] ^= 4);
    assert_eq!(everything(&array).findings.errors.len(), 1);
    let (salvaged, _) = saved(&array, KEEPING);
    assert_eq!((salvaged.outcome, salvaged.kept, salvaged.lost.len()), (Outcome::Rebuilt, 4, 0));
    // Two entries change places: they tile the shard and name bytes that can be decoded.
    let damaged = change(&store, "a/c/0/0", |value| value[index..index + 32].rotate_left(16));
    assert_eq!(saved(&array, KEEPING).0.outcome, Outcome::Hopeless);
    assert_eq!(store.get("a/c/0/0").unwrap().unwrap(), damaged);
    let (salvaged, kept) = saved(&array, Allowed { remove: true, dry_run: false });
    assert_eq!((salvaged.outcome, kept), (Outcome::Removed, vec![damaged]));
    assert_eq!(saved(&array, KEEPING).0.outcome, Outcome::Gone);
}

#[test]
fn of_a_shard_in_a_shard_a_part_is_saved() {
    let (store, array) = filled(sharded(&[4, 4], sharded(&[4, 2], elements(&[2, 2], true))));
    change(&store, "a/c/0/0", |value| value[1] ^= 1);
    let (salvaged, _) = saved(&array, KEEPING);
    assert_eq!((salvaged.outcome, salvaged.kept, salvaged.lost), (Outcome::Rebuilt, 3, vec![vec![0, 0, 0, 0]]));
    assert_eq!(everything(&array).findings.errors.len(), 0);
}

#[test]
fn what_could_not_be_kept_is_not_replaced() {
    let (store, array) = filled(sharded(&[4, 4], elements(&[2, 2], true)));
    let damaged = change(&store, "a/c/0/0", |value| value[0] ^= 1);
    let refuse = |_: &[u8]| Err(crate::error::Error::new(Kind::Store, "no room"));
    let error = salvage(&array, &[0, 0], KEEPING, &refuse, &OPTIONS).err().unwrap();
    assert_eq!((error.reason.as_str(), error.key.as_deref()), ("no room", Some("a/c/0/0")));
    assert_eq!(store.get("a/c/0/0").unwrap().unwrap(), damaged);
}

//! Arrays whose last chunks end where the array ends: what is stored, and what is read of it.

use std::sync::Arc;

use super::random::Random;
use crate::array::{morton, Array, Interval, Keys, Options, Places};
use crate::cache::pool::CachePool;
use crate::cache::Recheck;
use crate::chain::{Chain, Elements, Serializer};
use crate::chains::Chains;
use crate::check::{check, Depth};
use crate::codec::element::Swap;
use crate::interrupt::never;
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Axis, Region};
use crate::salvage::{salvage, Allowed, Outcome};
use crate::store::memory::MemoryStore;
use crate::store::{ListableStore, Store};
use crate::write::write;

const OPTIONS: Options<'static> = Options { threads: 2, requests: 0, write_empty: false, interrupted: &never };

fn chain(shape: Vec<usize>) -> Arc<Chain> {
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    // The first axis is the fastest.
    Arc::new(Chain::new(shape, elements, vec![0], Some(vec![1, 0]), Serializer::Elements, vec![]).unwrap())
}

/// An array that begins at -3 and 10.
fn array(store: &Arc<MemoryStore>, shape: [usize; 2], chunk: [usize; 2]) -> Array {
    let interval =
        |axis: usize, start: i64| Interval { start, step: chunk[axis] as i64, end: start + shape[axis] as i64 };
    let keys = Keys {
        prefix: "a/".into(),
        head: String::new(),
        separator: "_".into(),
        scalar: String::new(),
        axes: 2,
        places: Places::Intervals(vec![interval(0, -3), interval(1, 10)]),
    };
    let chains = Chains::new(Box::new(|shape| Ok(chain(shape.to_vec()))));
    let array = Array::new(store.clone(), keys, "a/info".into(), shape.to_vec(), chain(chunk.to_vec()));
    array.unwrap().with_chains(Arc::new(chains), None).unwrap()
}

fn all_of(array: &Array) -> Vec<u8> {
    let mut elements = vec![0xee; array.shape.iter().product()];
    let region = Region::whole(&array.shape, &c_strides(&array.shape, 1));
    read(array, &region, &Target::of(&mut elements), &OPTIONS).unwrap();
    elements
}

/// An array of which the last chunks of both axes are shorter, and its elements.
fn five_by_three() -> (Arc<MemoryStore>, Array, Vec<u8>) {
    let store = Arc::new(MemoryStore::new());
    store.set("a/info", &[b"{}"]).unwrap();
    let array = array(&store, [5, 3], [4, 2]);
    let value: Vec<u8> = (1..16).collect();
    let region = Region::whole(&[5, 3], &c_strides(&[5, 3], 1));
    write(&array, &region, &Origin::of(&value), &OPTIONS).unwrap();
    (store, array, value)
}

#[test]
fn the_last_chunks_are_as_long_as_the_array() {
    let (store, array, value) = five_by_three();
    assert_eq!(store.list("a").unwrap(), ["a/-3-1_10-12", "a/-3-1_12-13", "a/1-2_10-12", "a/1-2_12-13", "a/info"]);
    assert_eq!(store.get("a/-3-1_12-13").unwrap().unwrap(), [3, 6, 9, 12]);
    assert_eq!(store.get("a/1-2_10-12").unwrap().unwrap(), [13, 14]);
    assert_eq!(all_of(&array), value);
    let checked = check(&array, &[0, 0, 0, 1, 1, 0, 1, 1], Depth::Everything, &OPTIONS).unwrap();
    assert_eq!((checked.objects, checked.findings.errors.len()), (4, 0));
    store.set("a/1-2_12-13", &[b"too long"]).unwrap();
    let checked = check(&array, &[0, 0, 0, 1, 1, 0, 1, 1], Depth::Sizes, &OPTIONS).unwrap();
    assert_eq!(checked.findings.errors.len(), 1);
}

#[test]
fn last_chunks_that_are_intact_are_not_salvaged() {
    let (_, array, value) = five_by_three();
    let allowed = Allowed { remove: true, dry_run: false };
    let never_kept = |_: &[u8]| panic!("nothing is damaged");
    for place in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let salvaged = salvage(&array, &place, allowed, &never_kept, &OPTIONS).unwrap();
        assert_eq!(salvaged.outcome, Outcome::Intact, "{place:?}");
    }
    assert_eq!(all_of(&array), value);
}

#[test]
fn parts_are_read_and_written_as_of_whole_chunks() {
    for seed in 0..if cfg!(miri) { 5 } else { 300 } {
        let mut random = Random::new(seed);
        let shape = [random.range(1, 9), random.range(1, 9)];
        let chunk = [random.range(1, 10), random.range(1, 10)];
        let store = Arc::new(MemoryStore::new());
        store.set("a/info", &[b"{}"]).unwrap();
        let plain = array(&store, shape, chunk);
        let pool = Arc::new(CachePool::new(1 << 16));
        let cached = array(&store, shape, chunk).cached(&pool, Recheck::Never, 0);
        let mut expected = vec![0; shape[0] * shape[1]];
        for _ in 0..4 {
            let counts = [random.range(1, shape[0]), random.range(1, shape[1])];
            let starts = [random.range(0, shape[0] - counts[0]), random.range(0, shape[1] - counts[1])];
            let value = random.bytes(counts[0] * counts[1]);
            let mut region = Region::whole(&counts, &c_strides(&counts, 1));
            for axis in 0..2 {
                let stride = if axis == 0 { counts[1] as isize } else { 1 };
                region.axes[axis] = Axis::Strided { start: starts[axis] as i64, step: 1, count: counts[axis], stride };
            }
            for (row, bytes) in value.chunks(counts[1]).enumerate() {
                expected[(starts[0] + row) * shape[1] + starts[1]..][..counts[1]].copy_from_slice(bytes);
            }
            write(&plain, &region, &Origin::of(&value), &OPTIONS).unwrap();
            for array in [&plain, &cached, &cached] {
                assert_eq!(all_of(array), expected, "seed {seed}");
            }
        }
    }
}

#[test]
fn bits_of_indices_in_turn_are_one_number() {
    assert_eq!(morton(&[0b11, 0b01, 0b10], &[2, 2, 2]), 0b101_011);
    // An axis that has no more bits is passed over.
    assert_eq!(morton(&[0b111, 0b1, 0b0], &[3, 1, 0]), 0b1111);
    assert_eq!(morton(&[i64::MAX, 0, 0], &[63, 1, 0]), (i64::MAX as u64) << 1 & !2 | 1);
    let keys = Keys {
        prefix: "a/".into(),
        head: String::new(),
        separator: String::new(),
        scalar: String::new(),
        axes: 3,
        places: Places::Morton(vec![2, 2, 2]),
    };
    let mut key = String::new();
    keys.write(&[0b11, 0b01, 0b10, 0], &mut key);
    assert_eq!(key, "a/000000000000002b");
}

//! Chunks and shards, those of Neuroglancer among them, written through several regions at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use super::counting::OPTIONS;
use super::keys;
use super::random::Random;
use crate::array::{Array, Keys, Places};
use crate::chain::{Chain, Elements, Serializer, Shard};
use crate::codec::element::Swap;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Axis, Region};
use crate::store::memory::MemoryStore;
use crate::store::uint64_sharded::{ShardedStore, Sharding};
use crate::store::{Locker, Reader, Store};
use crate::write::write_parts;

const SHAPE: [usize; 2] = [16, 16];

/// A store that counts how often a value is replaced.
#[derive(Default)]
struct Replaced {
    store: MemoryStore,
    count: AtomicUsize,
}

impl Store for Replaced {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        self.store.open(key)
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.store.set(key, parts)
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.store.delete(key)
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.store.locker(lock_key, interrupt)
    }
}

fn chain(shape: [usize; 2], serializer: Serializer) -> Chain {
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    Chain::new(shape.to_vec(), elements, vec![0], None, serializer, Vec::new()).unwrap()
}

/// 16 x 16 bytes in chunks of 8 x 8, or in shards of this shape.
fn plain(store: &Arc<Replaced>, serializer: Serializer) -> Array {
    let chain = Arc::new(chain([8, 8], serializer));
    Array::new(store.clone(), keys(2), "a/info".into(), SHAPE.to_vec(), chain).unwrap()
}

/// The shards of a codec, whose inner chunks are of 4 x 4.
fn codec() -> Serializer {
    let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
    let index = Chain::new(vec![2, 2, 2], pairs, vec![0xff; 8], None, Serializer::Elements, Vec::new()).unwrap();
    Serializer::Shard(Box::new(Shard::new(&[8, 8], chain([4, 4], Serializer::Elements), index, false).unwrap()))
}

/// 16 x 16 bytes in chunks of 4 x 4, four of them to a shard of Neuroglancer.
fn neuroglancer(store: &Arc<Replaced>) -> Array {
    let chain = chain([4, 4], Serializer::Elements);
    let keys = Keys {
        prefix: "a/".into(),
        head: String::new(),
        separator: String::new(),
        scalar: String::new(),
        axes: 2,
        places: Places::Morton(vec![2, 2]),
    };
    let sharding = Sharding { preshift_bits: 2, minishard_bits: 0, shard_bits: 2, murmur: false, gzip_index: false };
    let shards = ShardedStore::new(store.clone(), "a/".into(), sharding, 16, 16).unwrap();
    let array = Array::new(store.clone(), keys, "a/info".into(), SHAPE.to_vec(), Arc::new(chain)).unwrap();
    array.in_shards(Arc::new(shards))
}

/// A box of rows and columns, whose elements lie one behind the other.
fn region(rows: (usize, usize), columns: (usize, usize)) -> Region {
    let axis = |(start, count): (usize, usize), stride| Axis::Strided { start: start as i64, step: 1, count, stride };
    Region { base: 0, axes: vec![axis(rows, columns.1 as isize), axis(columns, 1)], groups: Vec::new() }
}

fn all_of(array: &Array) -> Vec<u8> {
    let mut elements = vec![0xee; 256];
    read(array, &Region::whole(&SHAPE, &c_strides(&SHAPE, 1)), &Target::of(&mut elements), &OPTIONS).unwrap();
    elements
}

/// Each value has 8 x 8 elements.
#[test]
fn several_regions_are_written_in_turn_and_each_value_once() {
    check(neuroglancer);
    check(|store| plain(store, Serializer::Elements));
    check(|store| plain(store, codec()));
}

fn check(array: impl Fn(&Arc<Replaced>) -> Array) {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let store = Arc::new(Replaced::default());
        store.store.set("a/info", &[b"{}"]).unwrap();
        let array = array(&store);
        let mut expected = vec![0; 256];
        for _ in 0..3 {
            let mut shards = [false; 4];
            let parts: Vec<(Region, Vec<u8>)> = (0..random.range(0, 6))
                .map(|_| {
                    let line = |random: &mut Random| {
                        let start = random.range(0, 15);
                        (start, random.range(1, 16 - start))
                    };
                    let (rows, columns) = (line(&mut random), line(&mut random));
                    let mut value = random.bytes(rows.1 * columns.1);
                    value.iter_mut().for_each(|byte| *byte |= 1);
                    for (number, &byte) in value.iter().enumerate() {
                        let (row, column) = (rows.0 + number / columns.1, columns.0 + number % columns.1);
                        expected[16 * row + column] = byte;
                        // Four chunks make a square.
                        shards[row / 8 * 2 + column / 8] = true;
                    }
                    (region(rows, columns), value)
                })
                .collect();
            let origins: Vec<Origin<'_>> = parts.iter().map(|(_, value)| Origin::of(value)).collect();
            let pairs: Vec<_> = parts.iter().map(|(region, _)| region).zip(&origins).collect();
            write_parts(&array, &pairs, &OPTIONS).unwrap();
            assert_eq!(all_of(&array), expected);
            assert_eq!(store.count.swap(0, Ordering::SeqCst), shards.iter().filter(|&&shard| shard).count());
        }
    }
}

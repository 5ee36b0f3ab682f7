//! Reading and writing whole arrays through chunks, shards and nested shards, against one flat array.

use std::sync::Arc;

use super::keys;
use super::random::{elements, Random};
use crate::array::{Array, Options};
use crate::cache::pool::CachePool;
use crate::cache::Recheck;
use crate::chain::{Chain, Elements, Serializer, Shard};
use crate::codec::checksum::Checksum;
use crate::codec::element::Swap;
use crate::codec::BytesToBytes;
use crate::error::Kind;
use crate::interrupt::never;
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Region};
use crate::store::memory::MemoryStore;
use crate::store::Store;
use crate::subchunk_order::SubchunkOrder::{Colexicographic, Lexicographic, Morton};
use crate::write::{write, write_parts};

pub const ITEMSIZE: usize = 2;
pub const FILL: [u8; 2] = [9, 4];

const OPTIONS: Options<'static> = Options { threads: 3, requests: 0, write_empty: false, interrupted: &never };

fn plain(shape: &[usize], random: &mut Random) -> Chain {
    let order = random.chance(2).then(|| random.permutation(shape.len()));
    let swap = if random.chance(2) { Swap::Two } else { Swap::None };
    chain(shape, order, swap, Serializer::Elements, codecs(random))
}

fn codecs(random: &mut Random) -> Vec<Box<dyn BytesToBytes>> {
    (0..random.range(0, 2)).map(|_| Box::new(Checksum::CRC32C) as Box<dyn BytesToBytes>).collect()
}

fn chain(
    shape: &[usize],
    order: Option<Vec<usize>>,
    swap: Swap,
    serializer: Serializer,
    codecs: Vec<Box<dyn BytesToBytes>>,
) -> Chain {
    let elements = Elements { itemsize: ITEMSIZE, swap, boolean: false };
    Chain::new(shape.to_vec(), elements, FILL.to_vec(), order, serializer, codecs).unwrap()
}

/// A chain of random depth: plain elements, a shard, a shard of shards.
pub fn random_chain(shape: &[usize], depth: usize, random: &mut Random) -> Chain {
    if depth == 0 {
        return plain(shape, random);
    }
    let order = random.chance(3).then(|| random.permutation(shape.len()));
    let stored: Vec<usize> = match &order {
        Some(order) => order.iter().map(|&axis| shape[axis]).collect(),
        None => shape.to_vec(),
    };
    let inner_shape: Vec<usize> = stored
        .iter()
        .map(|&size| {
            let divisors: Vec<usize> = (1..=size).filter(|divisor| size % divisor == 0).collect();
            divisors[random.range(0, divisors.len() - 1)]
        })
        .collect();
    let inner = random_chain(&inner_shape, depth - 1, random);
    let mut index_shape: Vec<usize> = stored.iter().zip(&inner_shape).map(|(a, b)| a / b).collect();
    index_shape.push(2);
    let order_of_index = random.chance(3).then(|| random.permutation(index_shape.len()));
    let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
    let index =
        Chain::new(index_shape, pairs, vec![0xff; 8], order_of_index, Serializer::Elements, codecs(random)).unwrap();
    let mut shard = Shard::new(&stored, inner, index, random.chance(2)).unwrap();
    shard.write_order = [Lexicographic, Colexicographic, Morton][random.range(0, 2)];
    chain(shape, order, Swap::None, Serializer::Shard(Box::new(shard)), codecs(random))
}

fn array(store: &Arc<MemoryStore>, shape: &[usize], chain: Chain) -> Array {
    let keys = keys(usize::MAX);
    store.set("a/zarr.json", &[b"{}"]).unwrap();
    Array::new(Arc::clone(store) as Arc<dyn Store>, keys, "a/zarr.json".into(), shape.to_vec(), Arc::new(chain))
        .unwrap()
}

/// Any sequence of writes, read back in any way, is what a flat array would hold; all-fill chunks are not stored.
#[test]
fn reads_and_writes_agree_with_a_flat_array() {
    for seed in 0..if cfg!(miri) { 20 } else { 1500 } {
        let mut random = Random::new(seed);
        let rank = random.range(0, 3);
        let shape: Vec<usize> = (0..rank).map(|_| random.range(0, 14)).collect();
        let chunk: Vec<usize> = (0..rank).map(|_| random.range(1, 8)).collect();
        let depth = random.range(0, 2);
        let store = Arc::new(MemoryStore::new());
        let array = array(&store, &shape, random_chain(&chunk, depth, &mut random));
        // What a pool keeps makes no difference, whatever fits into it and whenever it is checked.
        let pool = Arc::new(CachePool::new([0, 700, 3000, 1 << 20][random.range(0, 3)]));
        let recheck =
            [Recheck::Always, Recheck::Never, Recheck::Since(pool.now()), Recheck::Age(1)][random.range(0, 3)];
        let again = Arc::clone(&store) as Arc<dyn Store>;
        let cached = Array::new(again, array.keys.clone(), array.lock_key.clone(), shape.clone(), array.chain.clone());
        let cached = cached.unwrap().cached(&pool, recheck, 0);
        let strides = c_strides(&shape, ITEMSIZE);
        let count: usize = shape.iter().product();
        let mut model: Vec<u8> = FILL.iter().copied().cycle().take(count * ITEMSIZE).collect();
        let at =
            |position: &[i64]| position.iter().zip(&strides).map(|(&p, &s)| p as isize * s).sum::<isize>() as usize;
        for _ in 0..random.range(1, 4) {
            // Some are written with others at once, of which the last one counts.
            let parts: Vec<(Region, Vec<u8>)> = (0..[1, 1, 2, 3][random.range(0, 3)])
                .map(|_| {
                    let (region, length) = random.region(&shape, ITEMSIZE);
                    let memory = if random.chance(4) {
                        FILL.iter().copied().cycle().take(length).collect()
                    } else {
                        random.bytes(length)
                    };
                    (region, memory)
                })
                .collect();
            let origins: Vec<Origin<'_>> = parts.iter().map(|(_, memory)| Origin::of(memory)).collect();
            let pairs: Vec<_> = parts.iter().map(|(region, _)| region).zip(&origins).collect();
            write_parts(&array, &pairs, &OPTIONS).unwrap();
            for (region, memory) in &parts {
                for (position, offset) in elements(region) {
                    let (from, to) = (offset as usize, at(&position));
                    model[to..to + ITEMSIZE].copy_from_slice(&memory[from..from + ITEMSIZE]);
                }
            }
            let (region, length) = random.region(&shape, ITEMSIZE);
            let mut memory = random.bytes(length);
            let mut expected = memory.clone();
            for (position, offset) in elements(&region) {
                let (from, to) = (at(&position), offset as usize);
                expected[to..to + ITEMSIZE].copy_from_slice(&model[from..from + ITEMSIZE]);
            }
            for array in [&array, &cached, &cached] {
                let mut memory = memory.clone();
                read(array, &region, &Target::of(&mut memory), &OPTIONS).unwrap();
                assert_eq!(memory, expected, "seed {seed}");
            }
            memory.clear();
            assert!(pool.info().used <= pool.limit());
        }
        // Back to fill values everywhere: nothing stays behind in the store.
        let memory: Vec<u8> = FILL.iter().copied().cycle().take(count * ITEMSIZE).collect();
        write(&array, &Region::whole(&shape, &strides), &Origin::of(&memory), &OPTIONS).unwrap();
        assert_eq!(crate::store::ListableStore::list(store.as_ref(), "").unwrap(), ["a/zarr.json"], "seed {seed}");
    }
}

/// Row 13-15, 29-34: damaged bytes are errors that name the chunk, and a write into a damaged chunk keeps its bytes.
#[test]
fn damage_is_named_and_kept() {
    let mut random = Random::new(5);
    let inner = chain(&[2, 2], None, Swap::None, Serializer::Elements, vec![Box::new(Checksum::CRC32C)]);
    let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
    let crc: Vec<Box<dyn BytesToBytes>> = vec![Box::new(Checksum::CRC32C)];
    let index = Chain::new(vec![2, 2, 2], pairs, vec![0xff; 8], None, Serializer::Elements, crc).unwrap();
    let shard = Shard::new(&[4, 4], inner, index, false).unwrap();
    let store = Arc::new(MemoryStore::new());
    let shape = [4, 8];
    let array = array(&store, &shape, chain(&[4, 4], None, Swap::None, Serializer::Shard(Box::new(shard)), vec![]));
    let strides = c_strides(&shape, ITEMSIZE);
    let whole = Region::whole(&shape, &strides);
    let memory = random.bytes(64);
    write(&array, &whole, &Origin::of(&memory), &OPTIONS).unwrap();
    let good = store.get("a/c/0/1").unwrap().unwrap();
    for position in 0..good.len() {
        let mut bad = good.clone();
        bad[position] ^= 0x40;
        store.set("a/c/0/1", &[&bad]).unwrap();
        let mut out = vec![0; 64];
        let error = read(&array, &whole, &Target::of(&mut out), &OPTIONS).unwrap_err();
        assert_eq!(error.key.as_deref(), Some("a/c/0/1"));
        assert_eq!(error.chunk.as_deref(), Some(&[0i64, 1][..]));
        assert_eq!(error.kind, Kind::Checksum, "byte {position}");
        let mut part = Region::whole(&[1, 1], &strides);
        part.axes[1] = crate::region::Axis::Strided { start: 7, step: 1, count: 1, stride: 2 };
        if write(&array, &part, &Origin::of(&[1, 2]), &OPTIONS).is_err() {
            assert_eq!(store.get("a/c/0/1").unwrap().unwrap(), bad);
        }
    }
    for length in 0..good.len() {
        store.set("a/c/0/1", &[&good[..length]]).unwrap();
        let mut out = vec![0; 64];
        assert!(read(&array, &whole, &Target::of(&mut out), &OPTIONS).is_err(), "cut to {length} bytes");
    }
}

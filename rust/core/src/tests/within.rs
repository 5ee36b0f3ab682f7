//! The bytes within elements as an axis of their own: another view of the same stored chunks.

use std::sync::Arc;

use super::keys;
use super::random::Random;
use crate::array::{Array, Options};
use crate::cache::pool::CachePool;
use crate::cache::Recheck;
use crate::chain::{Chain, Elements, Serializer, Shard};
use crate::codec::checksum::Checksum;
use crate::codec::element::Swap;
use crate::codec::BytesToBytes;
use crate::interrupt::never;
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Axis, Region};
use crate::store::memory::MemoryStore;
use crate::store::Store;
use crate::write::write;

const FILL: [u8; 3] = [9, 4, 7];
const OPTIONS: Options<'static> = Options { threads: 2, requests: 0, write_empty: false, interrupted: &never };

/// A chain for elements of three bytes, or for these bytes as a last axis.
fn chain(bytes: bool, shape: &[usize], inner: Option<&[usize]>, turned: bool) -> Chain {
    let with_last = |sizes: &[usize]| {
        let mut sizes = sizes.to_vec();
        if bytes {
            sizes.push(FILL.len());
        }
        sizes
    };
    let order = turned.then(|| if bytes { vec![1, 0, 2] } else { vec![1, 0] });
    let itemsize = if bytes { 1 } else { FILL.len() };
    let elements = Elements { itemsize, swap: Swap::None, boolean: false };
    let crc = || vec![Box::new(Checksum::CRC32C) as Box<dyn BytesToBytes>];
    let (serializer, codecs) = match inner {
        None => (Serializer::Elements, crc()),
        Some(inner) => {
            let stored = if turned { [shape[1], shape[0]] } else { [shape[0], shape[1]] };
            let mut index: Vec<usize> = stored.iter().zip(inner).map(|(outer, inner)| outer / inner).collect();
            index.extend(if bytes { [1, 2].as_slice() } else { [2].as_slice() });
            let pairs = Elements { itemsize: 8, swap: Swap::None, boolean: false };
            let index = Chain::new(index, pairs, vec![0xff; 8], None, Serializer::Elements, crc()).unwrap();
            let shard = Shard::new(&with_last(&stored), chain(bytes, inner, None, turned), index, false).unwrap();
            (Serializer::Shard(Box::new(shard)), vec![])
        }
    };
    Chain::new(with_last(shape), elements, FILL.to_vec(), order, serializer, codecs).unwrap()
}

fn array(store: &Arc<MemoryStore>, shape: &[usize], chain: Chain) -> Array {
    let keys = keys(2);
    Array::new(Arc::clone(store) as Arc<dyn Store>, keys, "a/zarr.json".into(), shape.to_vec(), Arc::new(chain))
        .unwrap()
}

fn all_of(array: &Array, length: usize) -> Vec<u8> {
    let mut elements = vec![0; length];
    let region = Region::whole(&array.shape, &c_strides(&array.shape, array.chain.elements.itemsize));
    read(array, &region, &Target::of(&mut elements), &OPTIONS).unwrap();
    elements
}

#[test]
fn bytes_within_elements_are_the_elements_bytes() {
    for seed in 0..if cfg!(miri) { 10 } else { 400 } {
        let mut random = Random::new(seed);
        let shape = [random.range(1, 9), random.range(1, 9)];
        let chunk = [2 * random.range(1, 3), 2 * random.range(1, 3)];
        let (sharded, turned) = (random.chance(2), random.chance(2));
        let inner = sharded.then_some([2, 2]);
        let store = Arc::new(MemoryStore::new());
        store.set("a/zarr.json", &[b"{}"]).unwrap();
        let make = |bytes: bool, shape: &[usize]| {
            array(&store, shape, chain(bytes, &chunk, inner.as_ref().map(|inner| inner.as_slice()), turned))
        };
        let elements = make(false, &shape);
        let bytes = make(true, &[shape[0], shape[1], FILL.len()]);
        let pool = Arc::new(CachePool::new(1 << 16));
        let cached = make(true, &[shape[0], shape[1], FILL.len()]).cached(&pool, Recheck::Never, 0);
        let length = shape[0] * shape[1] * FILL.len();
        assert_eq!(all_of(&cached, length), FILL.repeat(shape[0] * shape[1]), "seed {seed}");
        for _ in 0..3 {
            // One run of bytes of some elements: a field of theirs.
            let start = random.range(0, 2);
            let count = random.range(1, FILL.len() - start);
            let rows = random.range(1, shape[0]);
            let fill = random.chance(3);
            let field: Vec<u8> = if fill {
                FILL[start..start + count].repeat(rows * shape[1])
            } else {
                random.bytes(rows * shape[1] * count)
            };
            let strides = c_strides(&[rows, shape[1], count], 1);
            let mut region = Region::whole(&[rows, shape[1], count], &strides);
            region.axes[2] = Axis::Strided { start: start as i64, step: 1, count, stride: 1 };
            let mut expected = all_of(&elements, length);
            for (element, value) in field.chunks(count).enumerate() {
                expected[element * FILL.len() + start..][..count].copy_from_slice(value);
            }
            write(&bytes, &region, &Origin::of(&field), &OPTIONS).unwrap();
            for array in [&elements, &bytes, &cached] {
                assert_eq!(all_of(array, length), expected, "seed {seed}");
            }
        }
        // An element is only nothing but fill when all of it is.
        let whole = Region::whole(&bytes.shape, &c_strides(&bytes.shape, 1));
        write(&bytes, &whole, &Origin::of(&FILL.repeat(shape[0] * shape[1])), &OPTIONS).unwrap();
        assert_eq!(crate::store::ListableStore::list(store.as_ref(), "").unwrap(), ["a/zarr.json"], "seed {seed}");
    }
}

//! Shards that go to their file while they are being encoded, against those that are in memory first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use super::engine::{random_chain, FILL, ITEMSIZE};
use super::keys;
use super::random::Random;
use crate::array::{Array, Options};
use crate::error::{Error, Kind};
use crate::interrupt::never;
use crate::memory::Origin;
use crate::region::{c_strides, Region};
use crate::store::local::LocalStore;
use crate::store::memory::MemoryStore;
use crate::store::tests::Scratch;
use crate::store::{ListableStore, Store};
use crate::write::write;

const OPTIONS: Options<'static> = Options { threads: 3, requests: 0, write_empty: false, interrupted: &never };

/// Arrays of one random chain, in a directory and in memory: chunks of 32 x 36 x 60 elements, most of them shards.
fn arrays(seed: u64, scratch: &Scratch) -> (Random, [Array; 2], Arc<LocalStore>, Arc<MemoryStore>) {
    let shape = [32, 72, 60];
    let (local, memory) = (Arc::new(scratch.store()), Arc::new(MemoryStore::new()));
    let make = |store: Arc<dyn Store>| {
        let mut random = Random::new(seed);
        let depth = random.range(1, 2);
        let chain = Arc::new(random_chain(&[32, 36, 60], depth, &mut random));
        store.set("a/zarr.json", &[b"{}"]).unwrap();
        Array::new(store, keys(usize::MAX), "a/zarr.json".into(), shape.to_vec(), chain).unwrap()
    };
    let arrays = [make(Arc::clone(&local) as Arc<dyn Store>), make(Arc::clone(&memory) as Arc<dyn Store>)];
    (Random::new(seed + 1_000_000), arrays, local, memory)
}

fn values(store: &dyn ListableStore) -> Vec<(String, Vec<u8>)> {
    let keys = store.list("").unwrap();
    keys.into_iter().map(|key| (key.clone(), store.get(&key).unwrap().unwrap())).collect()
}

/// The bytes are the same, also where inner chunks or all of them are left out, and on one thread as on several.
#[test]
fn the_same_bytes_are_stored() {
    for seed in 0..if cfg!(miri) { 1 } else { 100 } {
        let scratch = Scratch::new();
        let (mut random, arrays, local, memory) = arrays(seed, &scratch);
        let shape = arrays[0].shape.clone();
        let whole = Region::whole(&shape, &c_strides(&shape, ITEMSIZE));
        let count: usize = shape.iter().product();
        for _ in 0..2 {
            let mut elements = random.bytes(count * ITEMSIZE);
            // Fill values in some of it, or in all.
            let from = random.range(0, 2) * elements.len() / 2;
            for element in elements[from..].chunks_exact_mut(ITEMSIZE) {
                element.copy_from_slice(&FILL);
            }
            let threads = [1, 3];
            let first = random.range(0, 1);
            for (array, threads) in arrays.iter().zip([threads[first], threads[1 - first]]) {
                write(array, &whole, &Origin::of(&elements), &Options { threads, ..OPTIONS }).unwrap();
            }
            assert!(values(local.as_ref()) == values(memory.as_ref()), "seed {seed}");
            assert_eq!(local.list("a/c").unwrap().is_empty(), from == 0, "seed {seed}");
            assert!(from > 0 || !scratch.0.join("a/c").exists(), "seed {seed}: a directory is left");
        }
    }
}

/// A write that fails or is interrupted at any moment leaves the value that was there, and nothing else.
#[test]
fn a_write_that_ends_early_changes_nothing() {
    for seed in 0..if cfg!(miri) { 1 } else { 60 } {
        let scratch = Scratch::new();
        let (mut random, [array, _], local, _) = arrays(seed, &scratch);
        let mut part = Region::whole(&[32, 36, 60], &c_strides(&[32, 36, 60], ITEMSIZE));
        part.base = 0;
        let length = 32 * 36 * 60 * ITEMSIZE;
        write(&array, &part, &Origin::of(&random.bytes(length)), &OPTIONS).unwrap();
        let before = values(local.as_ref());
        let asked = AtomicUsize::new(0);
        let last = random.range(0, 12);
        let interrupted = || match asked.fetch_add(1, Ordering::Relaxed) {
            count if count < last => Ok(()),
            _ => Err(Error::new(Kind::Request, "stop")),
        };
        let options = Options { threads: random.range(1, 3), interrupted: &interrupted, ..OPTIONS };
        let outcome = write(&array, &part, &Origin::of(&random.bytes(length)), &options);
        if let Err(error) = outcome {
            assert_eq!(error.kind, Kind::Request, "seed {seed}");
            assert!(values(local.as_ref()) == before, "seed {seed}");
        }
        assert!(local.others("", 9).unwrap().is_empty(), "seed {seed}: something is left over");
    }
}

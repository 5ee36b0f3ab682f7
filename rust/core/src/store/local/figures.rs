//! What the store costs next to plain system calls by path, in turn: run with
//! `cargo test --release -p blizzarr-core store_figures -- --ignored --nocapture`.

use super::*;
use crate::store::tests::Scratch;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const FILES: usize = 8192;
const ROUNDS: usize = 9;

/// Seconds for `count` calls on two threads, each with every other number.
fn on_two_threads(count: usize, act: impl Fn(usize) + Sync) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for first in 0..2 {
            let act = &act;
            scope.spawn(move || (first..count).step_by(2).for_each(act));
        }
    });
    start.elapsed().as_secs_f64()
}

/// Runs both sides in turn and prints their medians and ratio; `prepare` runs before each, untimed.
fn compare(label: &str, prepare: impl Fn(), plain: impl Fn() -> f64, ours: impl Fn() -> f64) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        prepare();
        left.push(plain());
        prepare();
        right.push(ours());
    }
    left.sort_by(f64::total_cmp);
    right.sort_by(f64::total_cmp);
    let (plain, ours) = (left[ROUNDS / 2], right[ROUNDS / 2]);
    println!(
        "{label}: plain {:.1} ms, ours {:.1} ms, ratio {:.2} (best {:.1}, {:.1})",
        plain * 1e3,
        ours * 1e3,
        ours / plain,
        left[0] * 1e3,
        right[0] * 1e3
    );
}

#[test]
#[ignore = "prints figures"]
fn store_figures() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let round = AtomicUsize::new(0);
    let key = |number: usize| format!("{}/c/{}/{number}", round.load(Ordering::Relaxed), number / 128);
    let path = |number: usize| scratch.0.join(key(number));
    let (small, large) = ([7; 4096], vec![7; 512 << 10]);
    let plain_write = |number: usize, value: &[u8]| {
        File::create(path(number)).and_then(|mut file| file.write_all(value)).expect("write");
    };

    // Fresh ones each time: ext4 is slow to use again what was deleted less than a minute ago.
    let empty_directories = || {
        round.fetch_add(1, Ordering::Relaxed);
        (0..FILES / 128).for_each(|number| fs::create_dir_all(path(number * 128).with_file_name("")).expect("mkdir"));
    };
    compare(
        "8192 new files of 4 KiB",
        empty_directories,
        || on_two_threads(FILES, |number| plain_write(number, &small)),
        || on_two_threads(FILES, |number| store.set(&key(number), &[&small]).expect("set")),
    );
    compare(
        "8192 new files of 4 KiB, plain with temporary name and rename",
        empty_directories,
        || {
            on_two_threads(FILES, |number| {
                let temporary = path(number).with_extension("tmp");
                File::create(&temporary).and_then(|mut file| file.write_all(&small)).expect("write");
                fs::rename(&temporary, path(number)).expect("rename");
            })
        },
        || on_two_threads(FILES, |number| store.set(&key(number), &[&small]).expect("set")),
    );
    compare(
        "8192 values of 4 KiB replaced",
        || {},
        || on_two_threads(FILES, |number| plain_write(number, &small)),
        || on_two_threads(FILES, |number| store.set(&key(number), &[&small]).expect("set")),
    );
    compare(
        "8192 files of 4 KiB read",
        || {},
        || {
            on_two_threads(FILES, |number| {
                let mut buffer = [0; 4096];
                File::open(path(number)).and_then(|mut file| file.read_exact(&mut buffer)).expect("read");
            })
        },
        || {
            on_two_threads(FILES, |number| {
                let mut buffer = [0; 4096];
                let key = key(number);
                store.open(&key).expect("open").expect("there").read_at(0, &mut buffer).expect("read");
            })
        },
    );
    compare(
        "8192 files that are missing",
        || {},
        || on_two_threads(FILES, |number| assert!(File::open(path(number + FILES)).is_err())),
        || on_two_threads(FILES, |number| assert!(store.open(&key(number + FILES)).expect("open").is_none())),
    );
    compare(
        "64 values of 512 KiB replaced",
        || {},
        || on_two_threads(64, |number| plain_write(number, &large)),
        || on_two_threads(64, |number| store.set(&key(number), &[&large]).expect("set")),
    );
    compare(
        "64 values of 512 KiB read, with memory",
        || {},
        || on_two_threads(64, |number| drop(fs::read(path(number)).expect("read"))),
        || on_two_threads(64, |number| drop(store.get(&key(number)).expect("get"))),
    );
    store.set("zarr.json", &[b"{}"]).expect("set");
    compare(
        "8192 locks on chunks (plain: open and close of the document)",
        || {},
        || on_two_threads(FILES, |_| drop(File::open(scratch.0.join("zarr.json")).expect("open"))),
        || on_two_threads(FILES, |number| drop(super::tests::lock(&store, "zarr.json", &key(number)).expect("lock"))),
    );
    compare(
        "500 prefixes listed (plain: read_dir)",
        || {
            let _ = fs::remove_dir_all(&scratch.0);
            (0..500).for_each(|number| store.set(&format!("g/array{number}/zarr.json"), &[b"{}"]).expect("set"));
        },
        || {
            let start = Instant::now();
            assert_eq!(fs::read_dir(scratch.0.join("g")).expect("list").count(), 500);
            start.elapsed().as_secs_f64()
        },
        || {
            let start = Instant::now();
            assert_eq!(store.list_dir("g").expect("list").prefixes.len(), 500);
            start.elapsed().as_secs_f64()
        },
    );
}

//! A root that is kept within: fault rows 69 and 70.
#![cfg(target_os = "linux")]

use super::tests::{lock, names};
use super::*;
use crate::interrupt::never;
use crate::store::tests::Scratch;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

/// A root with links that lead to `outside`, which has a directory, a document and a value.
fn planted() -> (Scratch, Scratch) {
    let (scratch, outside) = (Scratch::new(), Scratch::new());
    let far = outside.store();
    far.set("far/zarr.json", &[b"{}"]).expect("set");
    far.set("far/c/0", &[b"secret"]).expect("set");
    far.set("far/.blizzarr-0-0", &[b"x"]).expect_err("reserved");
    fs::write(outside.0.join("far/.blizzarr-0-0"), "left").expect("a file");
    scratch.store().set("a/k", &[b"x"]).expect("set");
    symlink(outside.0.join("far"), scratch.0.join("a/out")).expect("link");
    symlink(outside.0.join("far/c/0"), scratch.0.join("a/value")).expect("link");
    symlink(format!("../../{}/far", outside.0.file_name().expect("name").display()), scratch.0.join("a/up"))
        .expect("link");
    (scratch, outside)
}

#[test]
fn fault_69_nothing_is_done_behind_a_link_that_leads_out() {
    let (scratch, outside) = planted();
    let store = scratch.within_root();
    assert_eq!(scratch.store().get("a/up/c/0").expect("followed").as_deref(), Some(&b"secret"[..]));
    for (key, link) in [("a/out/c/0", "a/out"), ("a/up/c/0", "a/up"), ("a/up/new/1", "a/up")] {
        let errors = [
            store.get(key).map(drop),
            store.size(key).map(drop),
            store.has(key).map(drop),
            store.set(key, &[b"y"]),
            store.delete(key).map(drop),
            store.delete_prefix(key),
            store.replace(key, None, Some(b"y"), &never).map(drop),
            store.replace(key, Some(b"secret"), Some(b"y"), &never).map(drop),
            store.list(key).map(drop),
            store.list_dir(key).map(drop),
            store.others(key, 1).map(drop),
            store.leftovers(key).map(drop),
            store.sweep(key).map(drop),
            store.locker(key, &never).map(drop),
            store.lock_document(key, &never).map(drop),
            store.open_directory(key).map(drop),
        ];
        for (number, outcome) in errors.into_iter().enumerate() {
            let error = outcome.expect_err("out");
            assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some(key)), "{number}: {error}");
            let text = error.to_string();
            let root = format!("{:?}", fs::canonicalize(&scratch.0).expect("root"));
            assert!(text.contains(&format!("the link \"{link}\"")) && text.contains(&root), "{number}: {text}");
        }
        assert!(store.lock_for_deletion(&[key], &never).expect("none").is_empty());
    }
    assert_eq!(store.get("a/value").map(drop).expect_err("out").errno, Some(libc::EXDEV));
    // Their names are listed, as keys that are errors to whoever opens them.
    assert_eq!(store.list("").expect("list"), ["a/k", "a/out", "a/up", "a/value"]);
    let keys = ["a/k", "a/out", "a/up", "a/value"].map(String::from).to_vec();
    assert_eq!(store.list_dir("a").expect("list"), Listing { keys, prefixes: vec![] });
    assert_eq!(store.others("", 10).expect("others"), [""; 0]);
    assert_eq!(store.leftovers("").expect("none"), [""; 0]);
    assert_eq!(store.sweep("").expect("none"), [""; 0]);
    store.flush().expect("flush");

    // Links themselves are ours to replace and remove.
    store.set("a/value", &[b"y"]).expect("set");
    assert!(store.delete("a/value").expect("there"));
    store.delete_prefix("a/out").expect("the link");
    assert_eq!(names(&scratch.0.join("a")), ["k", "up"]);
    store.delete_prefix("").expect("everything");
    assert_eq!(names(&scratch.0), [""; 0]);
    assert_eq!(outside.store().list("").expect("list"), ["far/c/0", "far/zarr.json"]);
    assert_eq!(outside.store().get("far/c/0").expect("get").as_deref(), Some(&b"secret"[..]));
    assert_eq!(outside.store().leftovers("").expect("still there"), ["far/.blizzarr-0-0"]);
}

#[test]
fn links_that_stay_work() {
    let scratch = Scratch::new();
    let options = LocalOptions { durability: Some(Level::Full), links: Links::WithinRoot, ..LocalOptions::default() };
    let store = LocalStore::with(&scratch.0, options).expect("a root");
    store.set("data/deep/zarr.json", &[b"{}"]).expect("set");
    symlink("../data/deep/../deep", scratch.0.join("data/link")).expect("link");
    symlink("deep/zarr.json", scratch.0.join("data/document")).expect("link");
    symlink("nowhere", scratch.0.join("dangling")).expect("link");
    store.set("data/link/c/0", &[b"1"]).expect("set");
    durability::commit(durability::failures()).expect("on the device");
    assert_eq!(store.get("data/deep/c/0").expect("get").as_deref(), Some(&b"1"[..]));
    assert_eq!(store.get("data/document").expect("get").as_deref(), Some(&b"{}"[..]));
    assert_eq!(store.list("data/link").expect("list"), ["data/link/c/0", "data/link/zarr.json"]);
    drop(lock(&store, "data/document", "data/link/c/0").expect("locked"));
    assert!(store.delete("data/link/c/0").expect("there"));
    assert_eq!(names(&scratch.0.join("data/deep")), ["zarr.json"], "no empty directory");
    let error = store.set("dangling/k", &[b"1"]).expect_err("a link to nowhere");
    assert_eq!((error.kind, error.errno), (Kind::Store, Some(libc::ENOTDIR)));
}

#[test]
fn the_root_may_be_a_link_that_is_resolved_once_and_never_after() {
    let (scratch, outside) = (Scratch::new(), Scratch::new());
    fs::create_dir_all(&scratch.0).expect("directory");
    outside.store().set("k", &[b"secret"]).expect("set");
    fs::create_dir(scratch.0.join("real")).expect("directory");
    symlink("real", scratch.0.join("root")).expect("link");
    let options = LocalOptions { links: Links::WithinRoot, ..LocalOptions::default() };
    let store = LocalStore::with(scratch.0.join("root"), options).expect("a root");
    store.set("a/k", &[b"x"]).expect("set");
    assert_eq!(names(&scratch.0.join("real")), ["a"]);
    fs::remove_file(scratch.0.join("root")).expect("remove");
    symlink(&outside.0, scratch.0.join("root")).expect("link");
    assert_eq!(store.get("a/k").expect("get").as_deref(), Some(&b"x"[..]));
    assert_eq!(store.get("k").expect("get"), None);
    // Not even the root itself is swapped for a link.
    fs::rename(scratch.0.join("real"), scratch.0.join("moved")).expect("rename");
    symlink(&outside.0, scratch.0.join("real")).expect("link");
    store.get("k").map(drop).expect_err("a link");
    store.set("k", &[b"y"]).expect_err("a link");
    fs::remove_file(scratch.0.join("real")).expect("remove");
    store.set("k", &[b"y"]).expect("made again");
    assert_eq!(names(&scratch.0.join("real")), ["k"]);
    assert_eq!(outside.store().get("k").expect("get").as_deref(), Some(&b"secret"[..]));
}

#[test]
fn fault_70_a_link_that_is_swapped_in_leads_nowhere() {
    let (scratch, outside) = planted();
    let store = scratch.within_root();
    let stop = AtomicBool::new(false);
    // A directory and a link that leads out take each other's place, again and again.
    fs::create_dir(scratch.0.join("swap")).expect("directory");
    symlink(outside.0.join("far"), scratch.0.join("other")).expect("link");
    let c_path = |name: &str| std::ffi::CString::new(scratch.0.join(name).to_str().expect("UTF-8")).expect("no NUL");
    let (swap, other) = (c_path("swap"), c_path("other"));
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // SAFETY: both strings end with NUL and outlive the call.
                unsafe {
                    libc::renameat2(
                        libc::AT_FDCWD,
                        swap.as_ptr(),
                        libc::AT_FDCWD,
                        other.as_ptr(),
                        libc::RENAME_EXCHANGE,
                    )
                };
            }
        });
        for round in 0..3000 {
            refused += usize::from(store.set(&format!("swap/n{}/k", round % 3), &[b"x"]).is_err());
            if let Ok(Some(value)) = store.get("swap/c/0") {
                assert_ne!(value, b"secret");
            }
            for key in store.list("swap").unwrap_or_default() {
                assert!(key.starts_with("swap/n"), "{key}");
            }
            let _ = store.delete("swap/c/0");
            let _ = store.lock_document("swap/zarr.json", &never).map(|_| panic!("locked what is outside"));
            let _ = store.sweep("swap");
            let _ = store.delete_prefix(&format!("swap/n{}", round % 3));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(refused > 0, "the link was never met");
    assert_eq!(names(&outside.0), ["far"]);
    assert_eq!(names(&outside.0.join("far")), [".blizzarr-0-0", "c", "zarr.json"]);
    assert_eq!(outside.store().get("far/c/0").expect("get").as_deref(), Some(&b"secret"[..]));
}

/// What was missing a moment ago may be where a disk is not mounted by now: only one call may take it for missing still.
#[test]
fn a_link_to_nothing_is_seen_at_once_by_the_next_call() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("a/zarr.json", &[b"{}"]).expect("set");
    for threads in [1, 2] {
        let read = || {
            crate::pool::run(threads, 2, &never, |index, _| {
                store.get(&format!("a/c/1/{index}")).map(|value| assert_eq!(value, None))
            })
        };
        read().expect("missing");
        symlink("nowhere", scratch.0.join("a/c")).expect("link");
        read().expect_err("behind a link to nothing");
        fs::remove_file(scratch.0.join("a/c")).expect("no link");
    }
}

//! What both stores of our own promise, in one list.

use super::local::LocalStore;
#[cfg(target_os = "linux")]
use super::local::{Links, LocalOptions};
use super::memory::MemoryStore;
use super::*;
use crate::error::Kind;
use crate::interrupt::never;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A directory that goes with the test.
pub(crate) struct Scratch(pub std::path::PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        Scratch(std::env::temp_dir().join(format!("blizzarr-test-{}-{count}", std::process::id())))
    }

    pub fn store(&self) -> LocalStore {
        LocalStore::new(&self.0).expect("a root")
    }

    /// One that nothing leads out of, where the system has such.
    #[cfg(target_os = "linux")]
    pub fn within_root(&self) -> LocalStore {
        let options = LocalOptions { links: Links::WithinRoot, ..LocalOptions::default() };
        LocalStore::with(&self.0, options).expect("a root")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn for_each_store(check: impl Fn(&dyn ListableStore)) {
    check(&MemoryStore::new());
    let scratch = Scratch::new();
    check(&scratch.store());
    #[cfg(target_os = "linux")]
    check(&Scratch::new().within_root());
}

#[test]
fn a_value_is_what_was_set_last() {
    for_each_store(|store| {
        assert_eq!(store.get("a/c/0").expect("missing"), None);
        assert_eq!(store.size("a/c/0").expect("missing"), None);
        assert_eq!(store.get_ranges("a/c/0", &[(0, None)]).expect("missing"), None);
        assert!(!store.delete("a/c/0").expect("missing"));
        for value in [&b"first"[..], b"the second is longer", b"3", b""] {
            store.set("a/c/0", &[value]).expect("set");
            assert_eq!(store.get("a/c/0").expect("there").as_deref(), Some(value));
            assert_eq!(store.size("a/c/0").expect("there"), Some(value.len() as u64));
        }
        store.set("a/c/0", &[b"", b"in ", b"", b"parts", b""]).expect("set");
        assert_eq!(store.get("a/c/0").expect("there").as_deref(), Some(&b"in parts"[..]));
        store.set("none", &[]).expect("set");
        assert_eq!(store.get("none").expect("there").as_deref(), Some(&b""[..]));
        assert!(store.delete("a/c/0").expect("there"));
        assert_eq!(store.get("a/c/0").expect("gone"), None);
    });
}

#[test]
fn d_88_d_91_ranges_come_clipped_and_in_the_order_asked_for() {
    for_each_store(|store| {
        store.set("k", &[b"0123456789"]).expect("set");
        let wanted =
            [(-3, None), (0, Some(2)), (8, Some(5)), (0, Some(2)), (20, None), (-20, Some(1)), (i64::MIN, None)];
        let parts = store.get_ranges("k", &wanted).expect("there").expect("there");
        assert_eq!(parts, [&b"789"[..], b"01", b"89", b"01", b"", b"0", b"0123456789"]);
    });
}

#[test]
fn a_reader_keeps_its_version_and_reads_every_way() {
    for_each_store(|store| {
        store.set("k", &[b"0123456789"]).expect("set");
        let reader = store.open("k").expect("open").expect("there");
        store.set("k", &[b"another"]).expect("replace");
        store.delete("k").expect("delete");
        assert_eq!(reader.len(), Some(10));
        let mut four = [0; 4];
        assert!(reader.read_at(2, &mut four).expect("within"));
        assert_eq!(&four, b"2345");
        assert!(reader.read_suffix(&mut four).expect("within"));
        assert_eq!(&four, b"6789");
        let mut all = b"rubbish".to_vec();
        assert!(reader.read_all(&mut all, 10).expect("at the limit"));
        assert_eq!(all, b"0123456789");
        let (mut one, mut none, mut five) = ([0; 1], [0; 0], [0; 5]);
        let mut pieces = [&mut one[..], &mut none, &mut five].map(std::io::IoSliceMut::new);
        assert!(reader.read_scattered(3, &mut pieces).expect("within"));
        assert_eq!((&one, &five), (b"3", b"45678"));
        let (mut first, mut second) = ([0; 2], [0; 1]);
        assert!(reader.read_ranges(&mut [(8, &mut first), (0, &mut second)]).expect("within"));
        assert_eq!((&first, &second), (b"89", b"0"));
    });
}

#[test]
fn reading_past_the_end_is_an_error_that_names_the_key_and_both_sizes() {
    for_each_store(|store| {
        store.set("a/k", &[b"0123456789"]).expect("set");
        let reader = store.open("a/k").expect("open").expect("there");
        let mut four = [0; 4];
        for offset in [7, 10, 11, u64::MAX, i64::MAX as u64] {
            let error = reader.read_at(offset, &mut four).expect_err("past the end");
            assert_eq!((error.kind, error.key.as_deref()), (Kind::Codec, Some("a/k")), "{offset}: {error}");
            assert_eq!(error.reason, format!("expected 4 bytes at offset {offset}, found a value of 10 bytes"));
        }
        let mut eleven = [0; 11];
        assert_eq!(reader.read_suffix(&mut eleven).expect_err("too short").kind, Kind::Codec);
        let (mut first, mut second) = ([0; 8], [0; 3]);
        let mut pieces = [&mut first[..], &mut second].map(std::io::IoSliceMut::new);
        assert_eq!(reader.read_scattered(0, &mut pieces).expect_err("too short").kind, Kind::Codec);
        let error = reader.read_all(&mut Vec::new(), 9).expect_err("over the limit");
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Codec, Some("a/k")));
    });
}

#[test]
fn fault_67_no_operation_takes_what_is_not_a_key() {
    for_each_store(|store| {
        store.set("zarr.json", &[b"{}"]).expect("document");
        for key in ["", "../x", "/x", "x/", "a//b", "a\0b", ".blizzarr-x"] {
            let kinds = [
                store.open(key).map(drop),
                store.get(key).map(drop),
                store.size(key).map(drop),
                store.set(key, &[b"x"]),
                store.delete(key).map(drop),
                store.locker("zarr.json", &never).and_then(|locker| locker.lock(key).map(drop)),
                store.locker(key, &never).map(drop),
                store.lock_document(key, &never).map(drop),
                store.replace(key, None, Some(b"x"), &never).map(drop),
            ];
            for (number, outcome) in kinds.into_iter().enumerate() {
                assert_eq!(outcome.expect_err(key).kind, Kind::Path, "{key:?}, operation {number}");
            }
        }
        for prefix in ["..", "/", "a//", "../"] {
            assert_eq!(store.list(prefix).expect_err(prefix).kind, Kind::Path);
            assert_eq!(store.list_dir(prefix).expect_err(prefix).kind, Kind::Path);
            assert_eq!(store.delete_prefix(prefix).expect_err(prefix).kind, Kind::Path);
        }
    });
}

#[test]
fn d_97_d_98_d_99_listing_and_d_96_deleting_by_prefix() {
    for_each_store(|store| {
        assert_eq!(store.list("").expect("empty"), [""; 0]);
        for key in ["a/b", "a/c", "a/d/e", "a/f/g", "a.b/x", "a0", "e/f/g"] {
            store.set(key, &[b"x"]).expect("set");
        }
        assert_eq!(store.list("").expect("all"), ["a.b/x", "a/b", "a/c", "a/d/e", "a/f/g", "a0", "e/f/g"]);
        assert_eq!(store.list("a/").expect("a"), ["a/b", "a/c", "a/d/e", "a/f/g"]);
        assert_eq!(store.list("a/d").expect("a/d"), ["a/d/e"]);
        let listing = store.list_dir("a/").expect("a");
        assert_eq!(
            (listing.keys, listing.prefixes),
            (vec!["a/b".into(), "a/c".into()], vec!["a/d/".into(), "a/f/".into()])
        );
        let top = store.list_dir("").expect("top");
        assert_eq!((top.keys, top.prefixes), (vec!["a0".into()], vec!["a.b/".into(), "a/".into(), "e/".into()]));
        for prefix in ["b/", "a/b", "a0/"] {
            assert_eq!(store.list_dir(prefix).expect("nothing there"), Listing::default());
            assert_eq!(store.list(prefix).expect("nothing there"), [""; 0]);
            store.delete_prefix(prefix).expect("nothing there");
        }
        store.delete_prefix("a/d/").expect("a/d");
        store.delete_prefix("e").expect("e");
        assert_eq!(store.list("").expect("rest"), ["a.b/x", "a/b", "a/c", "a/f/g", "a0"]);
        store.delete_prefix("").expect("all");
        assert_eq!(store.list("").expect("empty"), [""; 0]);
        assert_eq!(store.list_dir("").expect("empty"), Listing::default());
    });
}

#[test]
fn deleting_the_last_key_leaves_no_empty_prefix() {
    for_each_store(|store| {
        store.set("g/a/c/0/0", &[b"x"]).expect("set");
        store.set("g/zarr.json", &[b"{}"]).expect("set");
        store.delete("g/a/c/0/0").expect("delete");
        assert_eq!(store.list_dir("g").expect("g").prefixes, [""; 0]);
        store.delete("g/zarr.json").expect("delete");
        assert_eq!(store.list_dir("").expect("top"), Listing::default());
    });
}

#[test]
fn fault_102_104_documents_are_replaced_only_when_they_are_as_expected() {
    for_each_store(|store| {
        assert!(!store.replace("zarr.json", Some(b"old"), Some(b"new"), &never).expect("missing"));
        assert_eq!(store.get("zarr.json").expect("still missing"), None);
        assert!(store.replace("zarr.json", None, Some(b"1"), &never).expect("create"));
        assert!(!store.replace("zarr.json", None, Some(b"2"), &never).expect("exists"));
        assert!(!store.replace("zarr.json", Some(b"0"), Some(b"2"), &never).expect("differs"));
        assert!(store.replace("zarr.json", Some(b"1"), Some(b"2"), &never).expect("equal"));
        assert_eq!(store.get("zarr.json").expect("there").as_deref(), Some(&b"2"[..]));
        assert_eq!(store.list("").expect("nothing else"), ["zarr.json"]);
    });
}

#[test]
fn documents_are_deleted_only_when_they_are_as_expected() {
    for_each_store(|store| {
        assert!(store.replace("zarr.json", None, None, &never).expect("nothing there, nothing to do"));
        store.set("zarr.json", &[b"1"]).expect("set");
        assert!(!store.replace("zarr.json", None, None, &never).expect("there is one"));
        assert!(!store.replace("zarr.json", Some(b"0"), None, &never).expect("differs"));
        assert_eq!(store.get("zarr.json").expect("still there").as_deref(), Some(&b"1"[..]));
        assert!(store.replace("zarr.json", Some(b"1"), None, &never).expect("equal"));
        assert_eq!(store.list("").expect("gone"), [""; 0]);
        assert!(!store.replace("zarr.json", Some(b"1"), None, &never).expect("gone already"));
    });
}

#[test]
fn fault_104_a_document_is_deleted_after_the_last_writer_and_later_ones_are_told() {
    for_each_store(|store| {
        store.set("zarr.json", &[b"{}"]).expect("document");
        let locker = store.locker("zarr.json", &never).expect("a locker");
        let guard = locker.lock("c/0").expect("free");
        std::thread::scope(|scope| {
            let deletion = scope.spawn(|| {
                let _guards = store.lock_for_deletion(&["zarr.json", "none.json"], &never).expect("locked");
                store.delete("zarr.json").expect("deleted")
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!deletion.is_finished());
            store.set("c/0", &[b"the last one"]).expect("set");
            drop(guard);
            assert!(deletion.join().expect("no panic"));
        });
        let error = locker.lock("c/0").map(drop).expect_err("the array is gone");
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some("zarr.json")));
        assert!(error.reason.contains("lock the metadata document"), "{error}");
    });
}

#[test]
fn fault_95_merging_writers_under_a_lock_lose_nothing() {
    for_each_store(|store| {
        const WRITERS: usize = 4;
        const ROUNDS: u32 = 100;
        store.set("a/zarr.json", &[b"{}"]).expect("document");
        store.set("a/c/0", &[&[0; 4 * WRITERS]]).expect("chunk");
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                scope.spawn(move || {
                    for round in 1..=ROUNDS {
                        let locker = store.locker("a/zarr.json", &never).expect("locker");
                        let _guard = locker.lock("a/c/0").expect("lock");
                        let mut chunk = store.get("a/c/0").expect("get").expect("there");
                        chunk[4 * writer..4 * writer + 4].copy_from_slice(&round.to_le_bytes());
                        store.set("a/c/0", &[&chunk]).expect("set");
                    }
                });
            }
            // Documents may be replaced meanwhile: whoever waits by the old file goes over to the new one.
            scope.spawn(|| {
                for round in 0..50 {
                    let _guard = store.lock_document("a/zarr.json", &never).expect("lock");
                    store.set("a/zarr.json", &[format!("{round}").as_bytes()]).expect("set");
                }
            });
        });
        assert_eq!(store.get("a/c/0").expect("get"), Some([ROUNDS.to_le_bytes(); WRITERS].concat()));
    });
}

#[test]
fn fault_100_readers_see_the_old_or_the_new_value_never_a_mixture() {
    for_each_store(|store| {
        let value = |round: u8| vec![round; 20_000 + usize::from(round)];
        store.set("k", &[&value(0)]).expect("set");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..200 {
                    let value = value(round);
                    store.set("k", &[&value[..100], &value[100..]]).expect("set");
                }
                done.store(true, Ordering::Relaxed);
            });
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let stored = store.get("k").expect("get").expect("never missing");
                    assert_eq!(stored, value(stored[0]));
                }
            });
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    assert_eq!(store.list("").expect("list"), ["k"], "temporary names are not listed");
                }
            });
        });
    });
}

#[test]
fn changes_of_memory_in_one_step() {
    let store = MemoryStore::new();
    let none = (&store, &[][..]);
    store.set("a", &[b"1"]).unwrap();
    let version = |key: &str| match store.status(key).unwrap() {
        Status::Is(version) => Some(version.name()),
        _ => None,
    };
    let seen = version("a");
    let expected = [("a".to_owned(), seen.clone()), ("b".to_owned(), None)];
    let changes = [("a".to_owned(), None), ("b".to_owned(), Some(&b"2"[..])), ("c".to_owned(), None)];
    store.set("a", &[b"1"]).unwrap();
    assert_eq!(store.exchange(&expected, &changes, none).unwrap(), Some("a".to_owned()));
    assert_eq!(store.list("").unwrap(), ["a"]);
    let expected = [("a".to_owned(), version("a")), ("b".to_owned(), None)];
    assert_eq!(store.exchange(&expected, &changes, none).unwrap(), None);
    assert_eq!((store.list("").unwrap(), store.get("b").unwrap()), (vec!["b".to_owned()], Some(b"2".to_vec())));
    assert!(store.exchange(&[], &[("../a".to_owned(), None)], none).is_err());
}

#[test]
fn values_of_another_memory_are_taken_in_one_step() {
    let (store, other) = (MemoryStore::new(), MemoryStore::new());
    store.set("a", &[b"1"]).unwrap();
    store.set("b", &[b"2"]).unwrap();
    other.set("b", &[b"3"]).unwrap();
    other.set("c", &[b"4"]).unwrap();
    let taken = ["a", "b"].map(str::to_owned);
    let missing = [("a".to_owned(), None)];
    assert_eq!(store.exchange(&missing, &[], (&other, &taken)).unwrap(), Some("a".to_owned()));
    assert_eq!(store.get("b").unwrap(), Some(b"2".to_vec()));
    let changes = [("d".to_owned(), Some(&b"5"[..]))];
    assert_eq!(store.exchange(&[], &changes, (&other, &taken)).unwrap(), None);
    assert_eq!(store.list("").unwrap(), ["b", "d"]);
    assert_eq!(store.get("b").unwrap(), Some(b"3".to_vec()));
    assert_eq!(other.list("").unwrap(), ["b", "c"]);
    assert!(store.exchange(&[], &[], (&other, &["../a".to_owned()])).is_err());
}

//! What only files do: links, directories in the way, limits, processes.
#![cfg(unix)]

use super::lock::{DocumentLock, DocumentLocker};
use super::publish::{Content, Existing};
use super::*;
use crate::error::Kind;
use crate::interrupt::never;
use crate::store::exclusion::{self, Scope};
use crate::store::tests::Scratch;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Names in a directory, temporary ones too.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// Runs `act` in a forked child and answers the child's process id; the child ends with 0 if `act` says so.
fn in_child(act: impl FnOnce() -> bool) -> libc::pid_t {
    // SAFETY: the child of this threaded process uses the allocator, which glibc makes safe after fork, the store, whose
    // locks a child makes anew, and no other locks; it leaves by `_exit`. The alarm ends it if it hangs.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(30);
            libc::_exit(if act() { 0 } else { 1 });
        }
        assert!(child > 0, "fork failed");
        child
    }
}

fn wait_for(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: waits for a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    status
}

#[test]
fn fault_74_what_is_not_a_file_is_an_error_and_never_missing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("directory/inner", &[b"x"]).expect("set");
    let fifo = std::ffi::CString::new(scratch.0.join("fifo").to_str().expect("UTF-8")).expect("no NUL");
    // SAFETY: a string that ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    let _socket = UnixListener::bind(scratch.0.join("socket")).expect("socket");
    symlink("/dev/zero", scratch.0.join("device")).expect("link");
    symlink("loop", scratch.0.join("loop")).expect("link");
    for key in ["directory", "fifo", "socket", "device", "loop", "directory/inner/below", "fifo/below"] {
        let error = store.get(key).expect_err(key);
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some(key)), "{error}");
    }
    assert_eq!(store.get("directory").expect_err("directory").errno, Some(libc::EISDIR));
    assert_eq!(store.get("directory/inner/below").expect_err("file in the way").errno, Some(libc::ENOTDIR));
    assert!(store.has("directory/inner").expect("a file"));
    assert!(
        !store.has("directory").expect("a directory") && !store.has("directory/inner/below").expect("below a file")
    );
    assert!(!store.has("directory/missing").expect("nothing"));
    for key in ["directory", "directory/inner/below"] {
        let error = store.set(key, &[b"x"]).expect_err(key);
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some(key)), "{error}");
    }
    assert!(
        !store.named_only.load(std::sync::atomic::Ordering::Relaxed),
        "a wrong key does not change how others are set"
    );
    assert_eq!(store.delete("directory").expect_err("a directory").kind, Kind::Store);
    assert_eq!(store.list("").expect("list"), ["device", "directory/inner", "fifo", "loop", "socket"]);
    assert_eq!(names(&scratch.0), ["device", "directory", "fifo", "loop", "socket"], "nothing is left over");
    assert_eq!(store.get("directory/inner").expect("still there").as_deref(), Some(&b"x"[..]));
}

#[test]
fn fault_74_what_a_directory_lacks_that_is_a_link_to_nothing_is_not_missing() {
    let scratch = Scratch::new();
    let beneath = LocalOptions { links: Links::WithinRoot, ..LocalOptions::default() };
    for (number, store) in [scratch.store(), LocalStore::with(&scratch.0, beneath).expect("a store")].iter().enumerate()
    {
        let (a, b) = (format!("a{number}"), format!("b{number}"));
        store.set(&format!("{a}/c/0"), &[b"x"]).expect("set");
        symlink("nowhere", scratch.0.join(&a).join("d")).expect("link");
        for key in [format!("{a}/d/0"), format!("{a}/d/0/0"), format!("{a}/d")] {
            for error in [
                store.get(&key).expect_err("get"),
                store.size(&key).expect_err("size"),
                store.status(&key).map(drop).expect_err("status"),
                store.list(&key).expect_err("list"),
                store.list_dir(&key).map(drop).expect_err("list_dir"),
            ] {
                assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some(&*key)), "{error}");
                assert!(error.reason.contains("a link to nothing"), "{error}");
            }
        }
        for key in [format!("{a}/c/1"), format!("{a}/e/0"), format!("{b}/c/0")] {
            assert_eq!((store.get(&key).expect("get"), store.size(&key).expect("size")), (None, None));
            assert_eq!(store.list(&key).expect("list"), [""; 0]);
        }
    }
}

#[test]
fn fault_73_a_link_is_replaced_and_its_target_untouched() {
    let (scratch, outside) = (Scratch::new(), Scratch::new());
    fs::create_dir_all(&outside.0).expect("directory");
    fs::create_dir_all(&scratch.0).expect("directory");
    fs::write(outside.0.join("victim"), "old").expect("victim");
    let store = scratch.store();
    symlink(outside.0.join("victim"), scratch.0.join("soft")).expect("link");
    fs::hard_link(outside.0.join("victim"), scratch.0.join("hard")).expect("link");
    for key in ["soft", "hard"] {
        assert_eq!(store.get(key).expect("read through").as_deref(), Some(&b"old"[..]));
        store.set(key, &[b"new"]).expect("set");
        assert_eq!(store.get(key).expect("replaced").as_deref(), Some(&b"new"[..]));
    }
    assert_eq!(fs::read(outside.0.join("victim")).expect("victim"), b"old");
    symlink(outside.0.join("nowhere"), scratch.0.join("dangling")).expect("link");
    store.get("dangling").expect_err("not missing");
    store.set("dangling", &[b"new"]).expect("set");
    assert_eq!(names(&outside.0), ["victim"]);
}

#[test]
fn fault_71_72_listing_ends_at_loops_and_deleting_stops_at_links() {
    let (scratch, outside) = (Scratch::new(), Scratch::new());
    let (store, other) = (scratch.store(), outside.store());
    store.set("g/a/k", &[b"x"]).expect("set");
    other.set("far/k", &[b"x"]).expect("set");
    symlink("..", scratch.0.join("g/up")).expect("link");
    symlink(".", scratch.0.join("g/self")).expect("link");
    symlink(&outside.0, scratch.0.join("g/out")).expect("link");
    symlink(&scratch.0, outside.0.join("back")).expect("link");
    symlink("nowhere", scratch.0.join("g/dangling")).expect("link");
    assert_eq!(store.list("").expect("list"), ["g/a/k", "g/dangling", "g/out/far/k"]);
    assert_eq!(store.list_dir("g").expect("g").prefixes, ["g/a/", "g/out/"]);
    assert_eq!(store.list_dir("g/out").expect("out").prefixes, ["g/out/far/"]);
    store.delete_prefix("g/out").expect("the link");
    assert_eq!(names(&scratch.0.join("g")), ["a", "dangling", "self", "up"]);
    symlink(&outside.0, scratch.0.join("g/out")).expect("link");
    store.delete_prefix("g").expect("the tree");
    assert_eq!(names(&scratch.0), [""; 0]);
    assert_eq!(other.get("far/k").expect("untouched").as_deref(), Some(&b"x"[..]));
}

#[test]
fn names_that_are_not_keys_are_not_listed() {
    use std::os::unix::ffi::OsStrExt;

    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("k", &[b"x"]).expect("set");
    fs::write(scratch.0.join(".blizzarr-0-0"), "left by a killed process").expect("file");
    fs::write(scratch.0.join(std::ffi::OsStr::from_bytes(b"\xff")), "not UTF-8").expect("file");
    assert_eq!(store.list("").expect("list"), ["k"]);
    assert_eq!(store.list_dir("").expect("list").keys, ["k"]);
}

#[test]
fn fault_85_a_file_size_limit_keeps_the_old_value_and_leaves_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("old", &[b"value"]).expect("set");
    // The limit holds for a whole process, so for a child.
    let status = wait_for(in_child(|| {
        let limit = libc::rlimit { rlim_cur: 1000, rlim_max: 1000 };
        // SAFETY: plain calls on this child; without the signal a write reports the limit.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
        }
        let large = [0; 800];
        let fails = |outcome: crate::error::Result<()>| outcome.is_err_and(|error| error.errno == Some(libc::EFBIG));
        let path = |key: &str| scratch.0.join(key);
        let named = |key: &str| {
            super::publish::publish_named(&path(key), &mut Content::Parts(&[&large, &large]), Existing::Replace, false)
        };
        fails(store.set("old", &[&large, &large]))
            && fails(store.set("new/directory/key", &[&large, &large]))
            && named("old").is_err_and(|cause| cause.raw_os_error() == Some(libc::EFBIG))
            && store.set("small", &[b"fits"]).is_ok()
    }));
    assert_eq!(status, 0);
    assert_eq!(store.get("old").expect("get").as_deref(), Some(&b"value"[..]));
    assert_eq!(names(&scratch.0), ["old", "small"]);
}

#[test]
#[cfg(target_os = "linux")]
fn small_values_are_looked_for_only_while_values_replace_others() {
    use super::publish::ASSUMED;

    let scratch = Scratch::new();
    let store = scratch.store();
    let assumed = || store.replacing.load(std::sync::atomic::Ordering::Relaxed);
    let set = |key: &str, value: &str, expected| {
        store.set(key, &[value.as_bytes()]).expect("set");
        assert_eq!(assumed(), expected, "{key} {value}");
        assert_eq!(store.get(key).expect("get").as_deref(), Some(value.as_bytes()));
    };
    for (key, value, expected) in [("a", "1", 0), ("a", "2", 1), ("b", "3", 0), ("a", "4", 1), ("a", "5", ASSUMED)] {
        set(key, value, expected);
    }
    // Whether they replace others or not.
    for left in (1..ASSUMED).rev() {
        set(if left % 2 == 0 { "a" } else { "c" }, &left.to_string(), left);
    }
    set("d", "6", 0);
    store.set_over("a", &[b"5"]).expect("set");
    assert_eq!(store.get("a").expect("get").as_deref(), Some(&b"5"[..]));
    assert!(!store.replace("a", None, Some(b"6"), &never).expect("there is a value"));
    assert_eq!(names(&scratch.0), ["a", "b", "c", "d"]);
}

#[test]
fn the_way_of_file_systems_without_unnamed_files_does_the_same() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.named_only.store(true, std::sync::atomic::Ordering::Relaxed);
    store.set("a/b/c", &[b"first"]).expect("set");
    store.set("a/b/c", &[b"sec", b"ond"]).expect("replace");
    assert_eq!(store.get("a/b/c").expect("get").as_deref(), Some(&b"second"[..]));
    assert!(!store.replace("a/b/c", None, Some(b"third"), &never).expect("exists"));
    assert!(store.replace("a/b/d", None, Some(b"third"), &never).expect("new"));
    assert_eq!(names(&scratch.0.join("a/b")), ["c", "d"]);
    store.set("a/b", &[b"x"]).expect_err("a directory");
    assert_eq!(names(&scratch.0.join("a")), ["b"]);
}

#[test]
fn values_synchronised_before_they_appear_are_the_same_values() {
    let scratch = Scratch::new();
    let store = LocalStore::with(&scratch.0, LocalOptions { durability: Some(Level::Full), ..LocalOptions::default() })
        .expect("a root");
    store.set("a/k", &[b"1"]).expect("set");
    store.set("a/k", &[b"2"]).expect("replace");
    assert_eq!(store.get("a/k").expect("get").as_deref(), Some(&b"2"[..]));
}

#[test]
fn many_pieces_are_scattered_beyond_what_one_system_call_takes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let value: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
    store.set("k", &[&value]).expect("set");
    let reader = store.open("k").expect("open").expect("there");
    let mut buffer = vec![0; value.len() - 3];
    let mut pieces: Vec<_> = buffer.chunks_mut(7).map(std::io::IoSliceMut::new).collect();
    assert!(pieces.len() > 2 * 1024);
    assert!(reader.read_scattered(3, &mut pieces).expect("within"));
    drop(pieces);
    assert_eq!(buffer, value[3..]);
    let parts: Vec<&[u8]> = value.chunks(7).collect();
    store.set("parts", &parts).expect("set");
    assert_eq!(store.get("parts").expect("get"), Some(value));
}

#[test]
fn fault_90_directories_that_come_and_go_are_made_again() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..3000 {
                    let key = format!("a/c/{thread}");
                    store.set(&key, &[b"x"]).expect("set");
                    assert!(store.delete(&key).expect("delete"));
                }
            });
        }
    });
    assert_eq!(names(&scratch.0), [""; 0]);
    store.set("a/k", &[b"1"]).expect("set");
    fs::rename(scratch.0.join("a"), scratch.0.join("b")).expect("rename");
    store.set("a/k", &[b"2"]).expect("set");
    assert_eq!(fs::read(scratch.0.join("b/k")).expect("the moved one"), b"1");
    fs::remove_dir_all(&scratch.0).expect("remove the root");
    assert_eq!(store.get("a/k").expect("gone"), None);
    store.set("a/k", &[b"3"]).expect("set");
    assert_eq!(store.get("a/k").expect("get").as_deref(), Some(&b"3"[..]));
}

#[cfg(unix)]
#[test]
fn fault_77_what_is_no_key_is_told() {
    use std::os::unix::ffi::OsStrExt;

    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("a/c/0", &[b"1"]).expect("set");
    fs::write(scratch.0.join("a/.blizzarr-1"), b"being written").expect("a file");
    std::os::unix::fs::symlink("nowhere", scratch.0.join("a/link")).expect("a link");
    std::os::unix::fs::symlink(&scratch.0, scratch.0.join("a/up")).expect("a link");
    fs::write(scratch.0.join("a/c").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), b"mine").expect("a file");
    let mut others = store.others("a", 10).expect("others");
    others.sort();
    assert_eq!(others, ["a/c/caf\u{fffd}"]);
    assert_eq!(store.list("a").expect("list"), ["a/c/0", "a/link"]);
    assert_eq!(store.others("a/", 1).expect("others").len(), 1);
    assert_eq!(store.others("b", 10).expect("nothing there"), [""; 0]);
}

#[test]
fn locking_needs_a_document_that_can_be_written() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for outcome in
        [lock(&store, "a/zarr.json", "a/c/0").map(drop), store.lock_document("a/zarr.json", &never).map(drop)]
    {
        let error = outcome.expect_err("no document");
        assert_eq!(
            (error.kind, error.key.as_deref(), error.errno),
            (Kind::Store, Some("a/zarr.json"), Some(libc::ENOENT))
        );
        assert!(error.reason.contains("lock the metadata document"), "{error}");
    }
    store.set("a/zarr.json/x", &[b"x"]).expect("a directory instead of a document");
    assert_eq!(lock(&store, "a/zarr.json", "a/c/0").map(drop).expect_err("directory").kind, Kind::Store);
}

#[test]
fn fault_96_merging_processes_lose_nothing_whatever_root_they_opened() {
    const WRITERS: u32 = 4;
    const ROUNDS: u32 = 100;
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("g/a/zarr.json", &[b"{}"]).expect("document");
    store.set("g/a/c/0", &[&[0; 4 * WRITERS as usize]]).expect("chunk");
    let merge = |writer: u32| -> crate::error::Result<()> {
        // Some see the array from the root, some from its group, some from itself.
        let prefix = ["g/a/", "a/", ""][writer as usize % 3];
        let store = LocalStore::new(scratch.0.join(["", "g", "g/a"][writer as usize % 3]))?;
        let (document, chunk) = (format!("{prefix}zarr.json"), format!("{prefix}c/0"));
        let at = 4 * writer as usize;
        for round in 1..=ROUNDS {
            let _guard = lock(&store, &document, &chunk)?;
            let mut value = store.get(&chunk)?.unwrap_or_default();
            value[at..at + 4].copy_from_slice(&round.to_le_bytes());
            store.set(&chunk, &[&value])?;
        }
        Ok(())
    };
    let mut children: Vec<_> = (0..WRITERS).map(|writer| in_child(|| merge(writer).is_ok())).collect();
    // The document is replaced meanwhile, again and again.
    children.push(in_child(|| {
        (0..50).all(|round: u32| {
            let guard = store.lock_document("g/a/zarr.json", &never);
            guard.is_ok() && store.set("g/a/zarr.json", &[round.to_string().as_bytes()]).is_ok()
        })
    }));
    assert!(children.into_iter().all(|child| wait_for(child) == 0));
    assert_eq!(store.get("g/a/c/0").expect("get"), Some(ROUNDS.to_le_bytes().repeat(WRITERS as usize)));
    assert_eq!(names(&scratch.0.join("g/a")), ["c", "zarr.json"], "no lock files");
}

#[test]
fn waiting_for_a_lock_of_another_process_can_be_interrupted() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("zarr.json", &[b"{}"]).expect("document");
    let holder = in_child(|| {
        let guard = lock(&store, "zarr.json", "c/0");
        let told = store.set("held", &[b"x"]);
        // SAFETY: waits to be killed.
        unsafe { libc::pause() };
        guard.is_ok() && told.is_ok()
    });
    while store.get("held").expect("get").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let begun = std::time::Instant::now();
    let stop = || match begun.elapsed().as_millis() {
        0..50 => Ok(()),
        _ => Err(Error::new(Kind::Request, "stop")),
    };
    let locker = store.locker("zarr.json", &stop).expect("a locker");
    assert_eq!(locker.lock("c/0").map(drop).expect_err("interrupted").reason, "stop");
    let whole = store.lock_document("zarr.json", &stop).map(drop);
    assert_eq!(whole.expect_err("interrupted").reason, "stop");
    drop(locker.lock("c/1").expect("nobody holds this one"));
    // SAFETY: kills the child made above.
    unsafe { libc::kill(holder, libc::SIGKILL) };
    wait_for(holder);
    drop(lock(&store, "zarr.json", "c/0").expect("what was interrupted holds nothing"));
}

#[test]
fn fault_107_who_vouches_for_other_processes_locks_no_file() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("zarr.json", &[b"{}"]).expect("document");
    let _theirs = lock(&store, "zarr.json", "c/0").expect("free");
    let vouched = in_child(|| {
        let store = LocalStore::with(&scratch.0, LocalOptions { locking: Locking::Threads, ..LocalOptions::default() })
            .expect("a root");
        let Ok(_guard) = lock(&store, "zarr.json", "c/0") else { return false };
        // Threads still exclude each other, and a document that is gone is still an error.
        let stop = || Err(Error::new(Kind::Request, "stop"));
        let again = store.locker("zarr.json", &stop).and_then(|locker| locker.lock("c/0").map(drop));
        again.is_err_and(|error| error.reason.contains("who is writing here already"))
            && lock(&store, "gone.json", "c/0").is_err()
    });
    assert_eq!(wait_for(vouched), 0);
}

#[test]
fn fault_106_a_lock_dies_with_its_process_even_if_that_had_forked() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("zarr.json", &[b"{}"]).expect("document");
    let holder = in_child(|| {
        let Ok(_guard) = lock(&store, "zarr.json", "c/0") else { return false };
        let grandchild = in_child(|| {
            std::thread::sleep(std::time::Duration::from_secs(5));
            true
        });
        let told = store.set("grandchild", &[grandchild.to_string().as_bytes()]);
        // SAFETY: waits to be killed.
        unsafe { libc::pause() };
        told.is_ok()
    });
    let grandchild: libc::pid_t = loop {
        if let Some(text) = store.get("grandchild").expect("get") {
            break String::from_utf8(text).expect("digits").parse().expect("a process id");
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    // SAFETY: kills the child made above.
    unsafe { libc::kill(holder, libc::SIGKILL) };
    wait_for(holder);
    let start = std::time::Instant::now();
    drop(lock(&store, "zarr.json", "c/0").expect("free again"));
    assert!(start.elapsed().as_secs() < 3, "the grandchild must not keep the lock");
    // SAFETY: kills the grandchild, which only sleeps.
    unsafe { libc::kill(grandchild, libc::SIGKILL) };
}

#[test]
fn a_forked_child_does_not_release_or_inherit_its_parents_lock() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.set("zarr.json", &[b"{}"]).expect("document");
    let guard = lock(&store, "zarr.json", "c/0").expect("lock");
    let mut guard = Some(guard);
    let status = wait_for(in_child(|| {
        drop(guard.take()); // void here
        lock(&store, "zarr.json", "c/1").is_ok()
    }));
    assert_eq!(status, 0);
    let contender = in_child(|| {
        let taken = lock(&store, "zarr.json", "c/0").is_ok();
        store.set("taken", &[b"x"]).is_ok() && taken
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(store.get("taken").expect("get"), None, "the parent still holds it");
    drop(guard);
    assert_eq!(wait_for(contender), 0);
}

#[test]
fn fault_78_a_killed_writer_leaves_the_old_or_the_new_value_and_no_files() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let value = |round: u8| vec![round; 100_000];
    store.set("k", &[&value(0)]).expect("set");
    for round in 0..20_u64 {
        let writer = in_child(|| (1..=u8::MAX).cycle().all(|round| store.set("k", &[&value(round)]).is_ok()));
        std::thread::sleep(std::time::Duration::from_micros(1000 + 137 * round));
        // SAFETY: kills the child made above.
        unsafe { libc::kill(writer, libc::SIGKILL) };
        wait_for(writer);
        let stored = store.get("k").expect("get").expect("there");
        assert_eq!(stored, value(stored[0]));
        assert_eq!(store.list("").expect("list"), ["k"]);
    }
}

/// One chunk's lock, by a locker of its own.
pub fn lock(store: &LocalStore, lock_key: &str, key: &str) -> Result<DocumentLock> {
    key::check(key)?;
    store.at(lock_key, |path| {
        DocumentLocker::open(lock_key, path, store.locking, &never)?
            .acquire(Scope::Part(exclusion::part(lock_key, key)))
    })
}

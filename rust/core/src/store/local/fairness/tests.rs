//! With files and locks of the system; [`super::model`] has the schedules.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::super::super::exclusion::Scope;
use super::super::place::Place;
use super::super::process_lock::OpenDocument;

use super::{acquire, range, ByteLocks, Sign, ABSENT, SIGNS, WHOLE};
use crate::error::{Error, Kind, Result};
use crate::interrupt::never;
use crate::store::tests::Scratch;

/// Files that are opened for themselves exclude each other as those of different processes do.
fn open<const COUNT: usize>(scratch: &Scratch) -> [OpenDocument; COUNT] {
    std::fs::create_dir_all(&scratch.0).expect("a directory");
    let path = scratch.0.join("zarr.json");
    std::fs::write(&path, "{}").expect("written");
    std::array::from_fn(|_| OpenDocument::open(Place::of(&path)).expect("open").0)
}

fn lock(document: &OpenDocument, scope: Scope, gives_way: bool) {
    acquire(document, scope, gives_way, &never).expect("goes on").expect("there are locks");
}

/// Gives up when it is asked for the hundredth time.
fn with_little_patience(document: &OpenDocument, scope: Scope, gives_way: bool) -> Result<()> {
    let asked = AtomicUsize::new(0);
    let patience = || match asked.fetch_add(1, Ordering::Relaxed) {
        0..100 => Ok(()),
        _ => Err(Error::new(Kind::Request, "it waits")),
    };
    acquire(document, scope, gives_way, &patience).map(|locked| locked.expect("there are locks"))
}

#[test]
fn later_writers_give_way_to_the_whole_but_those_who_write_already_do_not() {
    let scratch = Scratch::new();
    let [writer, same, other, changer] = open(&scratch);
    lock(&writer, Scope::Part(1), true);
    std::thread::scope(|others| {
        others.spawn(|| lock(&changer, Scope::Whole, true));
        while other.held_by_others(SIGNS).is_none() {
            std::thread::yield_now();
        }
        let later = with_little_patience(&other, Scope::Part(2), true);
        assert_eq!(later.expect_err("after the one who waits").reason, "it waits");
        with_little_patience(&same, Scope::Part(2), false).expect("it writes another chunk already");
        same.unlock(range(Scope::Part(2)));
        writer.unlock(range(Scope::Part(1)));
    });
    assert_eq!(other.held_by_others(SIGNS), None, "the sign is gone as soon as its owner has the lock");
    assert_eq!(other.held_by_others(WHOLE), Some(WHOLE));
    changer.unlock(WHOLE);
    lock(&other, Scope::Part(2), true);
}

#[test]
fn nobody_gives_way_for_long_to_somebody_who_is_stopped() {
    let scratch = Scratch::new();
    let [stopped, changer, writer] = open(&scratch);
    for scope in [Scope::Whole, Scope::Part(1)] {
        let _sign = Sign::put_up(&stopped, scope).expect("a sign");
        for (document, scope) in [(&writer, Scope::Part(1)), (&changer, Scope::Whole)] {
            let begun = Instant::now();
            lock(document, scope, true);
            assert!(begun.elapsed() >= ABSENT);
            document.unlock(range(scope));
        }
    }
    let _sign = Sign::put_up(&stopped, Scope::Part(1)).expect("a sign");
    with_little_patience(&writer, Scope::Part(2), true).expect("nobody waits for this one");
}

#[test]
fn releases_that_lock_all_bytes_for_the_whole_are_excluded_and_exclude() {
    let scratch = Scratch::new();
    let [older, newer] = open(&scratch);
    older.try_exclusive((0, 0)).expect("free");
    for scope in [Scope::Part(1), Scope::Whole] {
        assert_eq!(with_little_patience(&newer, scope, true).expect_err("excluded").reason, "it waits");
    }
    older.unlock((0, 0));
    for scope in [Scope::Part(u64::MAX), Scope::Part(0), Scope::Whole] {
        lock(&newer, scope, true);
        assert!(older.try_exclusive((0, 0)).is_err());
        newer.unlock(range(scope));
    }
    older.try_exclusive((0, 0)).expect("nothing is left");
}

#[test]
fn a_writer_who_has_waited_for_a_chunk_goes_before_the_one_who_comes_back_at_once() {
    let scratch = Scratch::new();
    let [greedy, patient] = open(&scratch);
    let done = AtomicUsize::new(0);
    let mut writes = 0;
    std::thread::scope(|others| {
        lock(&greedy, Scope::Part(1), true);
        others.spawn(|| {
            lock(&patient, Scope::Part(1), true);
            done.store(1, Ordering::Relaxed);
            patient.unlock(range(Scope::Part(1)));
        });
        while done.load(Ordering::Relaxed) == 0 {
            // So long that the other one sleeps for longer than the chunk is free.
            std::thread::sleep(Duration::from_millis(20));
            greedy.unlock(range(Scope::Part(1)));
            lock(&greedy, Scope::Part(1), true);
            writes += 1;
        }
    });
    // One more for each pause of its thread, on a busy machine.
    assert!(writes <= 5, "{writes} writes went first");
}

#[test]
fn a_lock_goes_with_the_process_that_has_it() {
    const LOCKED: &str = "BLIZZARR_TEST_LOCKED";
    if let Some(path) = std::env::var_os(LOCKED) {
        let document = OpenDocument::open(Place::of(path.as_ref())).expect("open").0;
        lock(&document, Scope::Part(1), false);
        println!("\nlocked");
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let scratch = Scratch::new();
    let [document] = open(&scratch);
    let name = concat!(module_path!(), "::a_lock_goes_with_the_process_that_has_it");
    let mut other = Command::new(std::env::current_exe().expect("this program"))
        .args([name.split_once("::").expect("a crate").1, "--exact", "--nocapture"])
        .env(LOCKED, scratch.0.join("zarr.json"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let said = BufReader::new(other.stdout.take().expect("its output"));
    assert!(said.lines().any(|line| line.expect("text") == "locked"));
    with_little_patience(&document, Scope::Part(1), false).expect_err("another process has it");
    with_little_patience(&document, Scope::Part(2), false).expect("nobody has it");
    document.unlock(range(Scope::Part(2)));
    with_little_patience(&document, Scope::Whole, false).expect_err("another process has a part of it");
    other.kill().expect("killed");
    other.wait().expect("ended");
    lock(&document, Scope::Whole, false);
}

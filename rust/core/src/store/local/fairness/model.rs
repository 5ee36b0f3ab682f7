//! Schedules of processes that lock one document, tried out by Shuttle: `make model`.
//!
//! A process is a thread here that has the document open for itself, and the locks of the system are a table. Those who
//! hammer come back at once until the others are done, so whoever is starved makes the schedule endless, which Shuttle
//! reports; and how many writes others finish while a process waits is counted.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shuttle::rand::{thread_rng, Rng};
use shuttle::thread;

use super::super::super::exclusion::Scope;
use super::{acquire, range, ByteLocks, Range, PARTS, WHOLE};
use crate::interrupt::never;

/// One lock: whose, which bytes, and whether it is exclusive.
type Lock = (usize, Range, bool);

/// A document, kept without anything that Shuttle schedules: each question to the system is one step.
#[derive(Default)]
struct Document {
    locks: Mutex<Vec<Lock>>,
    /// How often a chunk was written, and how often the whole was changed.
    writes: AtomicUsize,
    changes: AtomicUsize,
    /// How many processes are done.
    done: AtomicUsize,
}

/// The document as one process has it open.
struct Opened {
    document: Arc<Document>,
    owner: usize,
    /// Writes and changes at the moment when its last sign was put up.
    signed: Mutex<Option<(usize, usize)>>,
}

fn overlap(one: Range, other: Range) -> bool {
    let last = |(first, count): Range| if count == 0 { i64::MAX } else { first + (count - 1) };
    one.0 <= last(other) && other.0 <= last(one)
}

impl Opened {
    fn locks(&self) -> MutexGuard<'_, Vec<Lock>> {
        thread::yield_now();
        self.document.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self, range: Range, exclusive: bool) -> io::Result<()> {
        let mut locks = self.locks();
        let conflicts = |&(owner, held, held_exclusively): &Lock| {
            owner != self.owner && overlap(held, range) && (exclusive || held_exclusively)
        };
        if locks.iter().any(conflicts) {
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        locks.push((self.owner, range, exclusive));
        Ok(())
    }

    fn acquire(&self, scope: Scope, gives_way: bool) {
        *self.signed.lock().expect("sound") = None;
        acquire(self, scope, gives_way, &never).expect("goes on").expect("there are locks");
        self.check(range(scope));
    }

    fn check(&self, range: Range) {
        let locks = self.document.locks.lock().expect("sound");
        let others = locks.iter().filter(|lock| lock.0 != self.owner && lock.1 .0 <= PARTS && overlap(lock.1, range));
        assert_eq!(others.count(), 0, "somebody else holds what {} has locked", self.owner);
    }

    /// Writes a chunk, and another one meanwhile if `inner`.
    fn write(&self, part: u64, inner: Option<u64>) {
        self.acquire(Scope::Part(part), true);
        if let Some(inner) = inner {
            self.acquire(Scope::Part(inner), false);
            self.check(range(Scope::Part(part)));
            self.unlock(range(Scope::Part(inner)));
        }
        self.document.writes.fetch_add(1, Relaxed);
        self.unlock(range(Scope::Part(part)));
    }

    /// Changes the whole; each of the writers may get in between once, and once more after each change by another.
    fn change(&self, writers: usize) {
        self.acquire(Scope::Whole, true);
        if let Some((writes, changes)) = *self.signed.lock().expect("sound") {
            let written = self.document.writes.load(Relaxed) - writes;
            let changed = self.document.changes.load(Relaxed) - changes;
            assert!(written <= writers * (1 + changed), "{written} writes and {changed} changes went first");
        }
        self.document.changes.fetch_add(1, Relaxed);
        self.unlock(WHOLE);
    }
}

impl ByteLocks for Opened {
    fn try_exclusive(&self, range: Range) -> io::Result<()> {
        self.lock(range, true)
    }

    fn try_shared(&self, range: Range) -> io::Result<()> {
        self.lock(range, false)?;
        let document = &self.document;
        *self.signed.lock().expect("sound") = Some((document.writes.load(Relaxed), document.changes.load(Relaxed)));
        Ok(())
    }

    fn unlock(&self, range: Range) {
        self.locks().retain(|&(owner, held, _)| (owner, held) != (self.owner, range));
    }

    /// Any of them, as the system may say.
    fn held_by_others(&self, range: Range) -> Option<Range> {
        let locks = self.locks();
        let others = locks.iter().filter(|&&(owner, held, _)| owner != self.owner && overlap(held, range));
        let held: Vec<Range> = others.map(|lock| lock.1).collect();
        (!held.is_empty()).then(|| held[thread_rng().gen_range(0..held.len())])
    }

    fn holds_parts(&self) -> bool {
        false // each process has one thread
    }
}

/// Runs each of `others` so often, while the `hammering` ones go on until those are done.
fn history(hammering: usize, others: usize, times: usize, hammer: fn(usize, &Opened), other: fn(usize, &Opened)) {
    let document = Arc::new(Document::default());
    let processes: Vec<_> = (0..hammering + others)
        .map(|owner| {
            let opened = Opened { document: document.clone(), owner, signed: Mutex::default() };
            thread::spawn(move || {
                if owner < hammering {
                    while opened.document.done.load(Relaxed) < others {
                        hammer(owner, &opened);
                    }
                } else {
                    for _ in 0..times {
                        other(owner, &opened);
                    }
                    opened.document.done.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    for process in processes {
        process.join().expect("it ends");
    }
    assert_eq!(*document.locks.lock().expect("sound"), [], "a lock or a sign is left");
}

/// As many schedules as `BLIZZARR_SCHEDULES` says.
fn schedules() -> usize {
    std::env::var("BLIZZARR_SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

fn check(history: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(history, schedules());
    shuttle::check_pct(history, schedules(), 3);
}

#[test]
fn whoever_changes_the_whole_goes_before_all_but_one_more_chunk_of_each_writer() {
    check(|| history(3, 1, 3, |owner, it| it.write(owner as u64, None), |_, it| it.change(3)));
    check(|| history(3, 2, 2, |_, it| it.write(0, None), |_, it| it.change(3)));
}

#[test]
fn a_chunk_that_is_written_during_the_write_of_another_does_not_wait_for_the_whole() {
    check(|| history(2, 2, 2, |owner, it| it.write(owner as u64, Some(owner as u64 + 2)), |_, it| it.change(2)));
}

#[test]
fn writers_of_chunks_get_in_between_those_who_change_the_whole() {
    // By chance, so not where threads that wait take turns in lockstep, as they do in the other kind of schedules.
    let history = || history(3, 2, 2, |_, it| it.change(2), |owner, it| it.write(owner as u64, None));
    shuttle::check_random(history, schedules());
}

#[test]
fn whoever_comes_back_to_a_chunk_at_once_lets_the_other_go_first() {
    let write_after_one = |_, it: &Opened| {
        it.write(0, None);
        if let Some((writes, _)) = *it.signed.lock().expect("sound") {
            assert!(it.document.writes.load(Relaxed) - writes <= 3, "its own, and one of each other before and after");
        }
    };
    check(move || history(1, 1, 3, |_, it| it.write(0, None), write_after_one));
}

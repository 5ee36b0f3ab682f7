//! Who may write what, among the threads of one process: the parts of a document's array, or all of it.
//!
//! A *document* stands for an array, a *part* for one of its chunks. Holders of different parts do not meet; a holder
//! of the whole meets everybody. Who waits for the whole goes before all who come later, so threads that write parts
//! without a pause do not starve it, nor do those that come for the whole again and again starve a part. Processes know
//! nothing of this: for them the same is brought about by the store that they share, if it can (`local/fairness.rs`).

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

// The model checker tries out schedules of what it has made itself.
#[cfg(all(test, shuttle))]
use shuttle::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        Condvar, Mutex, MutexGuard,
    },
    thread::{self, ThreadId},
};
#[cfg(not(all(test, shuttle)))]
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        Condvar, Mutex, MutexGuard,
    },
    thread::{self, ThreadId},
};

use crate::error::{Error, Kind, Result};
use crate::fork::{self, PerProcess};
use crate::interrupt::{ending, Interrupt, LAST_PATIENCE};

/// How long anybody waits before asking whether to go on: for the model checker, whose waits never end by themselves, each
/// time that somebody is woken.
const TICK: Duration = if cfg!(all(test, shuttle)) { Duration::ZERO } else { crate::interrupt::TICK };

#[cfg(all(test, shuttle))]
mod model;

/// Device and inode, or whatever tells documents apart.
pub type Document = (u64, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One chunk, by the hash of its key.
    Part(u64),
    Whole,
}

#[derive(Default)]
struct Holders {
    parts: HashMap<u64, ThreadId>,
    whole: Option<ThreadId>,
    /// When each of those who wait for the whole came, in order.
    waiting_for_whole: Vec<usize>,
}

impl Holders {
    fn is_idle(&self) -> bool {
        self.parts.is_empty() && self.whole.is_none() && self.waiting_for_whole.is_empty()
    }

    /// Whether this thread would wait for itself.
    fn are_waited_for_by(&self, thread: ThreadId, scope: Scope) -> bool {
        let holds_part = match scope {
            Scope::Part(part) => self.parts.get(&part) == Some(&thread),
            Scope::Whole => self.include_part_of(thread),
        };
        holds_part || self.whole == Some(thread)
    }

    fn include_part_of(&self, thread: ThreadId) -> bool {
        self.parts.values().any(|&holder| holder == thread)
    }

    fn no_longer_waits(&mut self, came: usize) {
        self.waiting_for_whole.retain(|&other| other != came);
    }
}

#[derive(Default)]
struct Shard {
    documents: Mutex<HashMap<Document, Holders>>,
    changed: Condvar,
    /// How many have come. Only touched under the mutex, as the next one.
    came: AtomicUsize,
    /// How many wait for a change; waking nobody would cost a system call. Only touched under the mutex.
    waiting: AtomicUsize,
}

impl Shard {
    fn lock(&self) -> Documents<'_> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last step of whoever has changed the holders of a document: others may go on.
    fn tidy(&self, mut documents: Documents<'_>, document: Document) {
        if documents.get(&document).is_some_and(Holders::is_idle) {
            documents.remove(&document);
        }
        let waiting = self.waiting.load(Ordering::Relaxed);
        drop(documents);
        if waiting > 0 {
            self.changed.notify_all();
        }
    }
}

type Documents<'a> = MutexGuard<'a, HashMap<Document, Holders>>;

const SHARDS: usize = 16;

const ITSELF: &str =
    "expected that nobody writes here who is writing here already, found a signal handler, codec or store that was called \
     during a write and writes to the same chunk or array; let it do so when the write has ended";

const STOPPED: &str =
    "expected to write in the end, found another thread that holds the lock and may have stopped for ever; \
     end threads that write, and wait for them, before the interpreter ends";

/// All holders of one process (or of one store whose data only this process sees).
#[derive(Default)]
pub struct Exclusion {
    shards: [Shard; SHARDS],
}

impl Exclusion {
    /// Waits until nobody else holds the same part, or any part for [`Scope::Whole`]; an error if that would be for ever,
    /// since this thread itself does.
    pub fn acquire(&self, document: Document, scope: Scope, interrupt: Interrupt<'_>) -> Result<Held<'_>> {
        let shard = &self.shards[(document.0 ^ document.1) as usize % SHARDS];
        let mut documents = shard.lock();
        let mut begun_and_asked: Option<(Instant, Instant)> = None;
        let thread = thread::current().id();
        if documents.get(&document).is_some_and(|holders| holders.are_waited_for_by(thread, scope)) {
            return Err(Error::new(Kind::Store, ITSELF));
        }
        let came = shard.came.fetch_add(1, Ordering::Relaxed);
        let nested = documents.get(&document).is_some_and(|holders| holders.include_part_of(thread));
        if scope == Scope::Whole {
            documents.entry(document).or_default().waiting_for_whole.push(came);
        }
        loop {
            let holders = documents.entry(document).or_default();
            match scope {
                Scope::Part(part) => {
                    // Those before it would wait for the part that this thread has already.
                    let is_next = nested || holders.waiting_for_whole.first().is_none_or(|&first| came < first);
                    if is_next && holders.whole.is_none() && !holders.parts.contains_key(&part) {
                        holders.parts.insert(part, thread);
                        break;
                    }
                }
                Scope::Whole => {
                    let is_next = holders.waiting_for_whole.first() == Some(&came);
                    if is_next && holders.whole.is_none() && holders.parts.is_empty() {
                        holders.whole = Some(thread);
                        holders.no_longer_waits(came);
                        break;
                    }
                }
            }
            let (begun, asked) = begun_and_asked.get_or_insert_with(|| (Instant::now(), Instant::now()));
            shard.waiting.fetch_add(1, Ordering::Relaxed);
            (documents, _) = shard.changed.wait_timeout(documents, TICK).unwrap_or_else(PoisonError::into_inner);
            shard.waiting.fetch_sub(1, Ordering::Relaxed);
            if asked.elapsed() >= TICK {
                *asked = Instant::now();
                drop(documents); // who is asked may take his time
                let answer = match begun.elapsed() >= LAST_PATIENCE && ending() {
                    true => Err(Error::new(Kind::Store, STOPPED)),
                    false => interrupt(),
                };
                documents = shard.lock();
                if let Err(error) = answer {
                    if scope == Scope::Whole {
                        documents.entry(document).or_default().no_longer_waits(came);
                    }
                    shard.tidy(documents, document);
                    return Err(error);
                }
            }
        }
        Ok(Held { shard, document, scope, nested })
    }
}

/// Releases at drop.
pub struct Held<'a> {
    shard: &'a Shard,
    document: Document,
    scope: Scope,
    nested: bool,
}

impl super::Guard for Held<'_> {}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut documents = self.shard.lock();
        if let Some(holders) = documents.get_mut(&self.document) {
            match self.scope {
                Scope::Part(part) => {
                    holders.parts.remove(&part);
                }
                Scope::Whole => holders.whole = None,
            }
        }
        self.shard.tidy(documents, self.document);
    }
}

/// [`Held`] in a table that every process has for itself. Void in a forked child: the parent's table, which may be locked
/// for ever there, is left alone.
pub struct HeldInProcess {
    held: Option<Held<'static>>,
    generation: u64,
}

impl HeldInProcess {
    pub fn acquire(
        table: &'static PerProcess<Exclusion>,
        document: Document,
        scope: Scope,
        interrupt: Interrupt<'_>,
    ) -> Result<Self> {
        let held = table.get().acquire(document, scope, interrupt)?;
        Ok(HeldInProcess { held: Some(held), generation: fork::generation() })
    }

    /// Whether this thread had another part of the same document already.
    pub fn is_nested(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.nested)
    }
}

impl super::Guard for HeldInProcess {}

impl Drop for HeldInProcess {
    fn drop(&mut self) {
        if self.generation != fork::generation() {
            std::mem::forget(self.held.take());
        }
    }
}

/// The part that stands for chunk `key` of the array whose metadata document is `lock_key`.
///
/// Hashed is the key as seen from where it parts from the document's, so that stores opened at an array, at a group
/// above it or at the root of the hierarchy agree. The hash (64-bit FNV-1a) is a convention between processes and
/// between releases: changing it lets an old and a new release overwrite each other's work.
pub fn part(lock_key: &str, key: &str) -> u64 {
    let mut rest = key;
    let mut segments = lock_key.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_name = segments.peek().is_none();
        match rest.strip_prefix(segment).and_then(|rest| rest.strip_prefix('/')) {
            Some(inner) if !is_name => rest = inner,
            _ => break,
        }
    }
    hash(rest)
}

/// A document known by its name alone; two that collide merely wait for each other.
pub fn document(name: &str) -> Document {
    (0, hash(name))
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use crate::error::{Error, Kind};
    use crate::interrupt::never;

    impl Exclusion {
        fn waiting_for_whole(&self, document: Document) -> usize {
            let shard = &self.shards[(document.0 ^ document.1) as usize % SHARDS];
            shard.lock().get(&document).map_or(0, |holders| holders.waiting_for_whole.len())
        }
    }

    #[test]
    fn a_chunk_has_one_part_wherever_the_store_was_opened() {
        let at_array = part("zarr.json", "c/0/1");
        assert_eq!(part("b/zarr.json", "b/c/0/1"), at_array);
        assert_eq!(part("a/b/zarr.json", "a/b/c/0/1"), at_array);
        assert_ne!(part("zarr.json", "c/0/2"), at_array);
        assert_eq!(
            part("x/meta/root/a.array.json", "x/data/root/a/c0"),
            part("meta/root/a.array.json", "data/root/a/c0")
        );
        assert_eq!(at_array, 0x0722_baa5_2531_d96d, "the hash is a convention between releases");
    }

    #[test]
    fn different_parts_do_not_wait_and_the_whole_waits_for_all() {
        let exclusion = Exclusion::default();
        let first = exclusion.acquire((1, 1), Scope::Part(1), &never).expect("free");
        let second = exclusion.acquire((1, 1), Scope::Part(2), &never).expect("free");
        let elsewhere = exclusion.acquire((1, 2), Scope::Whole, &never).expect("free");
        std::thread::scope(|scope| {
            let whole = scope.spawn(|| drop(exclusion.acquire((1, 1), Scope::Whole, &never)));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!whole.is_finished());
            drop(first);
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(!whole.is_finished());
            drop(second);
        });
        drop(elsewhere);
        assert!(exclusion.shards.iter().all(|shard| shard.documents.lock().expect("unlocked").is_empty()));
    }

    #[test]
    fn nobody_waits_for_himself() {
        let exclusion = Exclusion::default();
        let part = exclusion.acquire((1, 1), Scope::Part(1), &never).expect("free");
        drop(exclusion.acquire((1, 1), Scope::Part(2), &never).expect("another part"));
        for scope in [Scope::Part(1), Scope::Whole] {
            assert_eq!(exclusion.acquire((1, 1), scope, &never).map(drop).expect_err("itself").reason, ITSELF);
        }
        drop(part);
        let whole = exclusion.acquire((1, 1), Scope::Whole, &never).expect("free again");
        for scope in [Scope::Part(1), Scope::Whole] {
            assert_eq!(exclusion.acquire((1, 1), scope, &never).map(drop).expect_err("itself").reason, ITSELF);
        }
        drop(whole);
        assert!(exclusion.shards.iter().all(|shard| shard.lock().is_empty()));
    }

    /// Gives up when it is asked for the first time: after [`TICK`].
    fn at_once() -> Result<()> {
        Err(Error::new(Kind::Request, "it waits"))
    }

    #[test]
    fn whoever_holds_a_part_takes_another_though_somebody_waits_for_the_whole() {
        let exclusion = Exclusion::default();
        let outer = exclusion.acquire((1, 1), Scope::Part(1), &never).expect("free");
        assert!(!outer.nested);
        std::thread::scope(|others| {
            others.spawn(|| drop(exclusion.acquire((1, 1), Scope::Whole, &never)));
            while exclusion.waiting_for_whole((1, 1)) == 0 {
                std::thread::yield_now();
            }
            let inner = exclusion.acquire((1, 1), Scope::Part(2), &at_once);
            assert!(inner.map(|inner| inner.nested).expect("not behind the one who waits for this thread"));
            others.spawn(|| {
                let later = exclusion.acquire((1, 1), Scope::Part(3), &at_once).map(drop);
                assert_eq!(later.expect_err("another thread does").reason, "it waits");
            });
            std::thread::sleep(TICK * 2);
            drop(outer);
        });
    }

    #[test]
    fn a_part_gets_in_though_somebody_always_waits_for_the_whole() {
        let exclusion = Exclusion::default();
        let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let go_on = || done.load(Ordering::Relaxed) == 0;
        std::thread::scope(|others| {
            for _ in 0..2 {
                others.spawn(|| {
                    while go_on() {
                        let whole = exclusion.acquire((1, 1), Scope::Whole, &never).expect("free in the end");
                        // The other one comes before this one goes.
                        while go_on() && exclusion.waiting_for_whole((1, 1)) == 0 {
                            std::thread::yield_now();
                        }
                        begun.fetch_add(1, Ordering::Relaxed);
                        drop(whole);
                    }
                });
            }
            while begun.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            let asked = AtomicUsize::new(0);
            let patience = || match asked.fetch_add(1, Ordering::Relaxed) {
                0..200 => never(),
                _ => at_once(),
            };
            let part = exclusion.acquire((1, 1), Scope::Part(1), &patience).map(drop);
            done.store(1, Ordering::Relaxed);
            part.expect("its turn comes");
        });
    }

    #[test]
    fn who_is_interrupted_while_waiting_leaves_nothing_behind() {
        let exclusion = Exclusion::default();
        let first = exclusion.acquire((1, 1), Scope::Part(1), &never).expect("free");
        let stop = || Err(Error::new(Kind::Request, "stop"));
        std::thread::scope(|others| {
            others.spawn(|| {
                for scope in [Scope::Part(1), Scope::Whole] {
                    let outcome = exclusion.acquire((1, 1), scope, &stop).map(drop);
                    assert_eq!(outcome.expect_err("interrupted").reason, "stop");
                }
            });
        });
        // Nobody waits for the whole any more, so nobody goes before this part.
        drop(exclusion.acquire((1, 1), Scope::Part(2), &never).expect("free"));
        drop(first);
        drop(exclusion.acquire((1, 1), Scope::Whole, &never).expect("free"));
        assert!(exclusion.shards.iter().all(|shard| shard.lock().is_empty()));
    }
}

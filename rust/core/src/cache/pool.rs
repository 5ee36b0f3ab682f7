//! A bounded amount of memory for decoded chunks, shared by many arrays.
//!
//! Entries are spread over parts with a mutex each. Each use of an entry gets a number from one counter; the entry with
//! the lowest number is dropped first. Memory is taken from the limit before an entry is added, so the entries together
//! never exceed the limit. An entry in use stays alive even if it is dropped from the pool meanwhile.
//!
//! A forked child has a copy of the pool: nobody forks while a part is being changed ([`fork::enter`]).

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::changes::{self, Stamp};
use super::entries::{Entries, Entry};
use super::flight::Flight;
use super::object::Object;
use super::Id;
use crate::fork;
use crate::progress::{self, Count};

const PARTS: usize = 16;
/// The number of an empty part.
const NEVER: u64 = u64::MAX;

/// A pool that many arrays share.
pub struct CachePool {
    limit: usize,
    used: AtomicUsize,
    parts: [Part; PARTS],
    uses: AtomicU64,
    numbers: AtomicU64,
    keys: [RandomState; 2],
    begun: Instant,
    hits: AtomicU64,
    checks: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
    hasty: AtomicU64,
}

/// One part, on cache lines of its own.
#[repr(align(128))]
struct Part {
    entries: Mutex<Entries>,
    /// The last use of the entry that has gone unused for longest.
    oldest: AtomicU64,
}

/// The size of a pool, and the outcomes of its look-ups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The limit in bytes, and the bytes in use.
    pub limit: usize,
    pub used: usize,
    pub entries: usize,
    /// The numbers of entries that were recent enough, of entries that were after a check of the version, of values that
    /// had to be read, and of entries that were dropped to make room.
    pub hits: u64,
    pub checks: u64,
    pub misses: u64,
    pub evictions: u64,
}

/// The answer to a thread that wants to fetch a value.
pub enum Claim<'a> {
    /// The thread may fetch the value; others wait until this guard is dropped.
    Mine(Landing<'a>),
    /// Another thread is fetching the value.
    Theirs(Arc<Flight>),
}

/// Ends a flight when it is dropped.
pub struct Landing<'a> {
    pool: &'a CachePool,
    id: Id,
    flight: Arc<Flight>,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.pool.with(self.id, |entries| {
            if entries.flights.get(&self.id).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
                entries.flights.remove(&self.id);
            }
        });
        self.flight.land();
    }
}

impl CachePool {
    /// A pool with this limit in bytes.
    pub fn new(limit: usize) -> Self {
        changes::watch();
        CachePool {
            limit,
            used: AtomicUsize::new(0),
            parts: std::array::from_fn(|_| Part { entries: Mutex::default(), oldest: AtomicU64::new(NEVER) }),
            uses: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            keys: [RandomState::new(), RandomState::new()],
            begun: Instant::now(),
            hits: AtomicU64::new(0),
            checks: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            hasty: AtomicU64::new(0),
        }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn info(&self) -> Info {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Info {
            limit: self.limit,
            used: self.used.load(Ordering::Relaxed),
            entries: (0..PARTS as u128).map(|part| self.with(part, |entries| entries.len())).sum(),
            hits: load(&self.hits),
            checks: load(&self.checks),
            misses: load(&self.misses),
            evictions: load(&self.evictions),
        }
    }

    /// Drops all entries.
    pub fn clear(&self) {
        for part in 0..PARTS as u128 {
            let dropped = self.with(part, |entries| {
                let flights = std::mem::take(&mut entries.flights);
                let before = std::mem::take(entries);
                entries.flights = flights;
                before
            });
            self.used.fetch_sub(dropped.cost(), Ordering::Relaxed);
        }
    }

    /// Nanoseconds since the pool was made; never 0.
    pub fn now(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64 + 1
    }

    /// A moment of the system's clock on the pool's clock, or a little later; 0 for moments before the pool was made.
    pub fn moment(&self, seconds_since_epoch: f64) -> u64 {
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
        // Numbers of seconds since the epoch are exact to about half a microsecond. Too large ones saturate, so that nothing
        // is ever new enough.
        (self.now() as f64 + (seconds_since_epoch - clock) * 1e9 + 1e3) as u64
    }

    /// A hash of these words, wide enough that no two descriptions will ever share one.
    pub fn id(&self, words: impl Iterator<Item = u64> + Clone) -> Id {
        let hash = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            words.clone().for_each(|word| hasher.write_u64(word));
            u128::from(hasher.finish())
        };
        hash(&self.keys[0]) << 64 | hash(&self.keys[1])
    }

    /// A number that no object has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The object with this number, and whether it was known to be up to date at `since` or later.
    pub fn get(&self, id: Id, since: u64) -> Option<(Arc<Object>, bool)> {
        let now = self.uses.fetch_add(1, Ordering::Relaxed);
        let entry = self.with(id, |entries| {
            let entry = entries.touch(id, now)?;
            let fresh = entry.checked >= since && entry.stamp.as_ref().is_none_or(Stamp::is_current);
            Some((Arc::clone(&entry.object), fresh))
        });
        if entry.as_ref().is_some_and(|(_, fresh)| *fresh) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            progress::add(Count::CacheHits, 1);
        }
        entry
    }

    /// Notes that an object was up to date at this moment.
    pub fn confirm(&self, id: Id, object: &Arc<Object>, checked: u64, stamp: Option<Stamp>) {
        self.checks.fetch_add(1, Ordering::Relaxed);
        self.with(id, |entries| {
            if let Some(entry) = entries.peek(id).filter(|entry| Arc::ptr_eq(&entry.object, object)) {
                if checked > entry.checked {
                    entry.checked = checked;
                    // Of the same name, so of the same size.
                    entry.stamp = stamp;
                }
            }
        });
    }

    /// The number of objects that no check can confirm, because they were written just before they were read.
    pub fn hasty(&self) -> u64 {
        self.hasty.load(Ordering::Relaxed)
    }

    /// Keeps an object that was looked up at the moment `checked`, if there is room for it.
    pub fn keep(&self, id: Id, object: Object, checked: u64, stamp: Option<Stamp>) -> Arc<Object> {
        self.misses.fetch_add(1, Ordering::Relaxed);
        progress::add(Count::CacheMisses, 1);
        if object.version.is_some_and(|version| !version.is_settled()) {
            self.hasty.fetch_add(1, Ordering::Relaxed);
        }
        let cost = object.cost(stamp.as_ref());
        let object = Arc::new(object);
        if !self.make_room(cost) {
            // What was there before is of another version.
            self.drop_entry(id);
            return object;
        }
        let entry = Entry { object: Arc::clone(&object), checked, stamp, cost };
        let now = self.uses.fetch_add(1, Ordering::Relaxed);
        let before = self.with(id, |entries| entries.insert(id, entry, now));
        if let Some(before) = before {
            self.used.fetch_sub(before.cost, Ordering::Relaxed);
        }
        object
    }

    /// Whether an object of this size can be kept at all.
    pub fn holds(&self, cost: usize) -> bool {
        cost <= self.limit
    }

    /// Asks to fetch a value.
    pub fn claim(&self, id: Id) -> Claim<'_> {
        let flight = Flight::new();
        let other = self.with(id, |entries| match entries.flights.get(&id).filter(|flight| flight.is_here()) {
            Some(other) => Some(Arc::clone(other)),
            None => {
                // Without memory for it, others fetch the same for themselves.
                if entries.flights.try_reserve(1).is_ok() {
                    entries.flights.insert(id, Arc::clone(&flight));
                }
                None
            }
        });
        match other {
            Some(flight) => Claim::Theirs(flight),
            None => Claim::Mine(Landing { pool: self, id, flight }),
        }
    }

    /// Takes this much of the limit, and drops the entries that have gone unused for longest; `false` if the limit is lower.
    fn make_room(&self, cost: usize) -> bool {
        loop {
            let more = |used: usize| used.checked_add(cost).filter(|&used| used <= self.limit);
            if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok() {
                return true;
            }
            if !self.holds(cost) || !self.evict() {
                return false;
            }
        }
    }

    /// Drops the entry that has gone unused for longest; `false` if there is none.
    fn evict(&self) -> bool {
        let oldest = |part: &usize| self.parts[*part].oldest.load(Ordering::Relaxed);
        let Some(part) = (0..PARTS).filter(|part| oldest(part) != NEVER).min_by_key(oldest) else { return false };
        let dropped = self.with(part as u128, |entries| {
            let (id, _) = entries.oldest()?;
            entries.remove(id)
        });
        if let Some(dropped) = dropped {
            self.used.fetch_sub(dropped.cost, Ordering::Relaxed);
            self.evictions.fetch_add(1, Ordering::Relaxed);
            progress::add(Count::CacheEvictions, 1);
        }
        true
    }

    fn drop_entry(&self, id: Id) {
        if let Some(dropped) = self.with(id, |entries| entries.remove(id)) {
            self.used.fetch_sub(dropped.cost, Ordering::Relaxed);
        }
    }

    /// Calls `work` with the part for entries of this number. The caller drops the entries that `work` removes, since
    /// dropping may take a while.
    fn with<R>(&self, id: Id, work: impl FnOnce(&mut Entries) -> R) -> R {
        let part = &self.parts[id as usize % PARTS];
        let inside = fork::enter();
        let mut entries: MutexGuard<'_, Entries> = part.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut entries);
        part.oldest.store(entries.oldest().map_or(NEVER, |(_, used)| used), Ordering::Relaxed);
        drop(entries);
        drop(inside);
        done
    }
}

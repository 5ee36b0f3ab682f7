//! Counters of the changes that this process makes in stores: caches compare them, and check changed values again.
//!
//! A value has one name in the whole process, whichever handle leads to the value (`Store::full_name`). Each change of a
//! value increments a counter, which the hash of the name selects; a removal of everything below a prefix increments a
//! counter for the name of the prefix. Before a cache looks up a value, it remembers the sum of the counters of the value's
//! name and of all prefixes above that name. A different sum means that the value may have changed. Two names that share a
//! counter cost an unnecessary look at the store, and nothing else.
//!
//! Nothing is counted before there is a cache.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The numbers of counters for values and for prefixes; removals of prefixes are far fewer than changes of values.
const VALUES: usize = 1 << 16;
const PREFIXES: usize = 1 << 12;

static VALUE_CHANGES: [AtomicU64; VALUES] = [const { AtomicU64::new(0) }; VALUES];
static PREFIX_CHANGES: [AtomicU64; PREFIXES] = [const { AtomicU64::new(0) }; PREFIXES];
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Starts to count changes.
pub fn watch() {
    WATCHED.store(true, Ordering::SeqCst);
}

/// Whether changes are counted.
pub fn are_watched() -> bool {
    WATCHED.load(Ordering::Relaxed)
}

/// Counts that the value of this name has been set or deleted, or may have been. Callers call this after the change, even
/// if the change failed.
pub fn value(name: impl FnOnce() -> Option<String>) {
    count(name, |hash| &VALUE_CHANGES[hash as usize % VALUES]);
}

/// Counts that everything below the prefix of this name, which has no slash at its end, may have been deleted.
pub fn prefix(name: impl FnOnce() -> Option<String>) {
    count(name, |hash| &PREFIX_CHANGES[hash as usize % PREFIXES]);
}

fn count(name: impl FnOnce() -> Option<String>, counter: impl FnOnce(u64) -> &'static AtomicU64) {
    if !are_watched() {
        return;
    }
    if let Some(name) = name() {
        counter(finished(name.bytes().fold(BASIS, step))).fetch_add(1, Ordering::SeqCst);
    }
}

/// The counters of one value at one moment.
#[derive(Clone, Debug)]
pub struct Stamp {
    value: u32,
    prefixes: Box<[u16]>,
    sum: u64,
}

impl Stamp {
    /// The counters of the value of this name; callers take them before they look up the value.
    pub fn of(name: &str) -> Self {
        let mut hash = BASIS;
        let mut prefixes = Vec::with_capacity(name.len() / 4);
        for byte in name.bytes() {
            if byte == b'/' {
                prefixes.push((finished(hash) % PREFIXES as u64) as u16);
            }
            hash = step(hash, byte);
        }
        let value = (finished(hash) % VALUES as u64) as u32;
        let mut stamp = Stamp { value, prefixes: prefixes.into(), sum: 0 };
        stamp.sum = stamp.now();
        stamp
    }

    /// Whether this process has left the value unchanged since the counters were taken.
    pub fn is_current(&self) -> bool {
        self.now() == self.sum
    }

    /// The bytes that the stamp takes besides its own.
    pub fn size(&self) -> usize {
        self.prefixes.len() * size_of::<u16>()
    }

    fn now(&self) -> u64 {
        let load = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        let prefixes = self.prefixes.iter().map(|&slot| load(&PREFIX_CHANGES[usize::from(slot)]));
        prefixes.fold(load(&VALUE_CHANGES[self.value as usize]), u64::wrapping_add)
    }
}

// 64-bit FNV-1a takes one byte after the other, so hashing a name also gives the hashes of all its prefixes.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// The hash with its high bits mixed into the low ones, so that the low bits depend on all bytes of the name.
fn finished(hash: u64) -> u64 {
    hash ^ (hash >> 32) ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> impl FnOnce() -> Option<String> + '_ {
        move || Some(name.to_owned())
    }

    #[test]
    fn a_change_is_seen_by_who_remembers_the_value() {
        watch();
        let (stamp, other) = (Stamp::of("test:1/a/c/0"), Stamp::of("test:1/a/c/1"));
        assert!(stamp.is_current());
        value(named("test:1/a/c/0"));
        assert!(!stamp.is_current());
        assert!(other.is_current());
        assert!(Stamp::of("test:1/a/c/0").is_current());
    }

    #[test]
    fn a_removal_is_seen_by_everything_below() {
        watch();
        for above in ["test:2/a/c", "test:2/a", "test:2"] {
            let (stamp, beside) = (Stamp::of("test:2/a/c/0"), Stamp::of("other:2/a/c/0"));
            prefix(named(above));
            assert!(!stamp.is_current(), "{above:?}");
            assert!(beside.is_current());
        }
        let stamp = Stamp::of("test:2/a/c/0");
        prefix(named("test:2/a/c/0"));
        prefix(named("test:2/a/d"));
        assert!(stamp.is_current());
    }
}

//! What this process changes in stores, told to all caches: afterwards they look again at what they have of it.
//!
//! A value has one name in the whole process, whatever handle it is reached by (`Store::full_name`). Each change adds one
//! to a counter that is found by the hash of that name, and a removal of everything below a prefix to one for the name of
//! the prefix. Who keeps something of a value remembers what the counters of its name, and of all prefixes that it is
//! below, added up to **before** it was looked up. Sums that differ mean: perhaps changed. Names that share a counter cost
//! a look at the store, no more.
//!
//! Nothing is counted before there is a cache.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters of values, and of prefixes: far fewer of these are removed, and each has many values below it.
const VALUES: usize = 1 << 16;
const PREFIXES: usize = 1 << 12;

static VALUE_CHANGES: [AtomicU64; VALUES] = [const { AtomicU64::new(0) }; VALUES];
static PREFIX_CHANGES: [AtomicU64; PREFIXES] = [const { AtomicU64::new(0) }; PREFIXES];
static WATCHED: AtomicBool = AtomicBool::new(false);

/// From now on changes are counted.
pub fn watch() {
    WATCHED.store(true, Ordering::SeqCst);
}

/// Whether they are.
pub fn are_watched() -> bool {
    WATCHED.load(Ordering::Relaxed)
}

/// The value of this name has been set or deleted, or may have been. To be called when that is done, also if it failed.
pub fn value(name: impl FnOnce() -> Option<String>) {
    count(name, |hash| &VALUE_CHANGES[hash as usize % VALUES]);
}

/// Everything below the prefix of this name, which has no slash at its end, may have been deleted.
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
    /// To be taken before the value is looked up.
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

    /// Whether the value has not been changed since, by this process.
    pub fn is_current(&self) -> bool {
        self.now() == self.sum
    }

    /// Bytes that it takes besides its own.
    pub fn size(&self) -> usize {
        self.prefixes.len() * size_of::<u16>()
    }

    fn now(&self) -> u64 {
        let load = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        let prefixes = self.prefixes.iter().map(|&slot| load(&PREFIX_CHANGES[usize::from(slot)]));
        prefixes.fold(load(&VALUE_CHANGES[self.value as usize]), u64::wrapping_add)
    }
}

// 64-bit FNV-1a, one byte after the other, so that the hashes of all prefixes come for nothing.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// Its low bits hang on all bytes.
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

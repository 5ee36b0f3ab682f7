//! Caches: decoded chunks are kept for later reads, as long as they are known to be up to date.
//!
//! A cache keeps the *root* of a stored value: the elements of a chunk, the index of a shard, or the fact that there is no
//! value. It also keeps inner chunks of a shard, each under its index: when the shard is replaced, its index is another
//! one, and nobody asks for the inner chunks of the old index any more.
//!
//! A root is *checked* when it is read, and when the store reports later that the value still has the same version (one
//! `stat` of a file). Each read says since when a check is recent enough ([`Recheck`]). An older root is checked again; if
//! its version differs or is unknown, the value is read again. A change by this process ([`changes`]) makes every earlier
//! check invalid.
//!
//! Writers do not read from caches: they read the value that they merge into from the store, under their lock.
//!
//! - `pool`: the limit, and the entry to drop next; `entries`: one part of a pool; `object`: one entry;
//! - `cached`: the connection of an array to its pool;
//! - `flight`: if several threads need the same value, one of them fetches it;
//! - `changes`: counters of changes by this process.

mod cached;
pub mod changes;
mod entries;
mod flight;
mod object;
pub mod pool;
#[cfg(test)]
mod tests;

pub use cached::Cached;
pub use object::{cost_of, Content, Object};

/// The number of an entry: a hash of the name of its value.
pub type Id = u128;

/// The moment since which a check is recent enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// The beginning of the read.
    Always,
    /// Any moment: a check never becomes too old.
    Never,
    /// This moment on the pool's clock.
    Since(u64),
    /// This many nanoseconds before the read.
    Age(u64),
}

impl Recheck {
    /// The moment since which a check is recent enough for a read that begins now.
    pub fn since(self, now: impl FnOnce() -> u64) -> u64 {
        match self {
            Recheck::Never => 0,
            // What was checked after the read began is new enough whatever was asked for.
            Recheck::Always => now(),
            Recheck::Since(moment) => moment.min(now()),
            Recheck::Age(age) => now().saturating_sub(age),
        }
    }
}

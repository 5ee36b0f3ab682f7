//! Caches: what was decoded is kept for the next read, as long as it is known to be what is stored.
//!
//! What is kept of one stored value is its *root*: the elements of a chunk, the index of a shard, or that there is no
//! value. Of a shard each inner chunk that was wanted is kept, too, as one of that index: when the shard is another one,
//! its index is another one, and nobody asks for the inner chunks of the former any more.
//!
//! A root is *checked* when it is read, and when the store says afterwards that the value still has the version that was
//! read (one `stat` of a file). A read says from when on a check counts ([`Recheck`]); what was checked before that is
//! checked again, and read again if it has another version, or none that the store can tell. What this process has
//! changed itself ([`changes`]) was not checked since, whenever it was.
//!
//! Writers do not read from caches: what they merge into is read from the store, under their lock.
//!
//! - `pool`: how much is kept, and what goes first; `entries`: one part of it; `object`: what is kept;
//! - `cached`: what an array knows of its pool;
//! - `flight`: of several who miss the same, one fetches it;
//! - `changes`: what this process changes.

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

/// The number of an entry: a hash of what it is of.
pub type Id = u128;

/// From when on a check counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// When the read has begun.
    Always,
    /// Ever.
    Never,
    /// This moment of the pool's clock.
    Since(u64),
    /// So many nanoseconds before the read.
    Age(u64),
}

impl Recheck {
    /// The moment from which on a check counts, for a read that begins now.
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

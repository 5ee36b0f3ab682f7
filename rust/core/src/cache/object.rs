//! What a pool keeps: a decoded chunk, the index of a shard, or that there is nothing.

use std::sync::Arc;

use super::changes::Stamp;
use super::entries::Entry;
use crate::index::Index;
use crate::store::version::Version;

/// What is kept of one stored value, or of one inner chunk.
pub struct Object {
    pub content: Content,
    /// Of the value that it was read from; of an inner chunk this is known of its shard.
    pub version: Option<Version>,
    /// What its store calls that version, of a store that can be asked for this one and no other.
    pub pinned: Option<Arc<str>>,
    /// Tells it from all others, also from what is read of the same value later: inner chunks are those of an index.
    pub number: u64,
}

pub enum Content {
    /// There is no value, so all elements are the fill value.
    Missing,
    /// Elements as in memory, in the order of the chunk.
    Elements(Vec<u8>),
    /// Where the inner chunks of a shard lie, and the stored bytes that say so.
    Index(Index, Vec<u8>),
}

/// What an entry takes at most besides what it points to: itself, its place in the tables of a pool (which grow by
/// doubling), its number once more while it is fetched, and what the allocator adds to each of its blocks.
const OVERHEAD: usize = size_of::<Entry>() + size_of::<Object>() + 256;

impl Object {
    /// What it takes of a pool, to the byte as far as a program can know.
    pub fn cost(&self, stamp: Option<&Stamp>) -> usize {
        let content = match &self.content {
            Content::Missing => 0,
            Content::Elements(bytes) => bytes.capacity(),
            Content::Index(index, encoded) => index.size() + encoded.capacity(),
        };
        let pinned = self.pinned.as_ref().map_or(0, |version| version.len());
        cost_of(content.saturating_add(pinned).saturating_add(stamp.map_or(0, Stamp::size)))
    }
}

/// What something takes that points to so many bytes.
pub fn cost_of(bytes: usize) -> usize {
    bytes.saturating_add(OVERHEAD)
}

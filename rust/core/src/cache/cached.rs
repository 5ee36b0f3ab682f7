//! What an array knows of the pool that it keeps its chunks in.

use std::sync::Arc;

use super::changes::Stamp;
use super::pool::CachePool;
use super::{cost_of, Id, Recheck};
use crate::array::Keys;
use crate::chain::{Chain, Serializer};
use crate::store::Store;

/// The pool of one array.
#[derive(Clone)]
pub struct Cached {
    pub pool: Arc<CachePool>,
    pub recheck: Recheck,
    /// Of which array and chain the chunks are. All arrays of one place and chain share them.
    words: [u64; 3],
}

impl Cached {
    /// `lifetime` tells apart what has one full name one after the other.
    ///
    /// `None` when nothing of this array can be kept: it would not fit, or its elements mean something only as long as one
    /// operation takes, or nobody could tell whether it has changed.
    pub fn new(
        pool: &Arc<CachePool>,
        recheck: Recheck,
        store: &dyn Store,
        keys: &Keys,
        chain: &Chain,
        lifetime: u64,
    ) -> Option<Self> {
        let fits = match &chain.serializer {
            Serializer::Shard(shard) if chain.codecs.is_empty() => {
                let index = shard.index.length.saturating_add(shard.index_len);
                pool.holds(cost_of(index)) && pool.holds(cost_of(shard.inner.length)) && !shard.inner.has_tokens()
            }
            _ => pool.holds(cost_of(chain.length)) && !chain.has_tokens(),
        };
        if !fits || (recheck == Recheck::Always && !store.tells_versions()) {
            return None;
        }
        // Where a chunk lies says where all of them do, as far as two arrays of one chain can differ in it.
        let mut key = String::new();
        keys.write(&vec![1; chain.shape.len()], &mut key);
        let name = store.full_name(&key)?;
        let hash = pool.id(name.bytes().map(u64::from).chain([store.way(), lifetime]));
        Some(Cached { pool: Arc::clone(pool), recheck, words: [(hash >> 64) as u64, hash as u64, chain.number] })
    }

    /// The number of the root of the chunk at this place, which has this shape if not all have one: the chunk at the same
    /// place had another one before the array grew or was replaced.
    pub fn id(&self, indices: &[i64], shape: Option<&[usize]>) -> Id {
        let words = self.words.iter().copied().chain(indices.iter().map(|&index| index as u64));
        match shape {
            None => self.pool.id(words),
            Some(shape) => self.pool.id(words.chain(shape.iter().map(|&size| size as u64))),
        }
    }

    /// The number of an inner chunk of a shard with this root.
    pub fn inner_id(&self, root: u64, entry: usize) -> Id {
        // Fewer words than any place has.
        self.pool.id([root, entry as u64].into_iter())
    }

    /// What this process has changed of a value so far.
    pub fn stamp(store: &dyn Store, key: &str) -> Option<Stamp> {
        store.full_name(key).map(|name| Stamp::of(&name))
    }
}

//! The chains of an array whose chunks have several shapes, each prepared when a chunk of that shape is met first.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, TryLockError};

use crate::chain::Chain;
use crate::error::Result;

/// Prepares the chain for chunks of a shape.
pub type Prepare = Box<dyn Fn(&[usize]) -> Result<Arc<Chain>> + Send + Sync>;

/// A grid may have as many shapes as chunks, so only so many chains are kept.
const KEPT: usize = 1024;

/// Chains by the shape of their chunks.
pub struct Chains {
    prepare: Prepare,
    kept: Mutex<HashMap<Vec<usize>, Arc<Chain>>>,
}

impl Chains {
    pub fn new(prepare: Prepare) -> Self {
        Chains { prepare, kept: Mutex::default() }
    }

    /// The chain for chunks of a shape.
    ///
    /// The lock is never waited for, nor held while a chain is prepared, which may wait for Python's: a thread
    /// that finds it taken, perhaps by one that is only in the parent of a forked child, prepares a chain for itself.
    pub fn of(&self, shape: &[usize]) -> Result<Arc<Chain>> {
        let mut full = HashMap::new();
        if let Some(known) = self.kept(|kept| kept.get(shape).map(Arc::clone)).flatten() {
            return Ok(known);
        }
        let made = (self.prepare)(shape)?;
        self.kept(|kept| {
            if kept.len() >= KEPT {
                // Dropped behind the lock, as codecs in Python may be in them.
                std::mem::swap(kept, &mut full);
            }
            kept.insert(shape.to_vec(), Arc::clone(&made));
        });
        Ok(made)
    }

    fn kept<R>(&self, work: impl FnOnce(&mut HashMap<Vec<usize>, Arc<Chain>>) -> R) -> Option<R> {
        match self.kept.try_lock() {
            Ok(mut kept) => Some(work(&mut kept)),
            Err(TryLockError::Poisoned(kept)) => Some(work(&mut kept.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// The chain of one chunk: that of the array, or one for its shape.
pub enum ChunkChain<'a> {
    Common(&'a Chain),
    Own(Arc<Chain>),
}

impl Deref for ChunkChain<'_> {
    type Target = Chain;

    fn deref(&self) -> &Chain {
        match self {
            ChunkChain::Common(chain) => chain,
            ChunkChain::Own(chain) => chain,
        }
    }
}

//! How far this process has come: bytes of elements, counted as each chunk (or inner chunk) is decoded or encoded. One
//! call may take minutes for one shard; whoever shows its progress looks at these from another thread.

use std::sync::atomic::{AtomicU64, Ordering};

static DECODED: AtomicU64 = AtomicU64::new(0);
static ENCODED: AtomicU64 = AtomicU64::new(0);

pub(crate) fn decoded(bytes: usize) {
    DECODED.fetch_add(bytes as u64, Ordering::Relaxed);
}

pub(crate) fn encoded(bytes: usize) {
    ENCODED.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// The bytes of wanted elements that were decoded so far, and those that were encoded. The sums wrap.
pub fn so_far() -> (u64, u64) {
    (DECODED.load(Ordering::Relaxed), ENCODED.load(Ordering::Relaxed))
}

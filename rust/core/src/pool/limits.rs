//! How many threads work at once, and how many requests are made at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// 0 until somebody sets it.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// How many requests to a store that is far away are made at once; 0 until somebody sets it.
static REQUESTS: AtomicUsize = AtomicUsize::new(0);
/// The same for stores that cannot tell how many they answer well, unless somebody sets it.
const USUAL_REQUESTS: usize = 32;
/// The most for stores that can, unless somebody sets it.
const MOST_REQUESTS: usize = 256;

/// Sets how many threads loops use that do not say; 0 goes back to as many as the system grants this process.
pub fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// How many threads loops use that do not say.
pub fn threads() -> usize {
    // Not a `OnceLock`: a child forked while another thread was inside it would wait for ever.
    static GRANTED: AtomicUsize = AtomicUsize::new(0);
    match (THREADS.load(Ordering::Relaxed), GRANTED.load(Ordering::Relaxed)) {
        (0, 0) => {
            let granted = thread::available_parallelism().map_or(1, usize::from);
            GRANTED.store(granted, Ordering::Relaxed);
            granted
        }
        (0, granted) => granted,
        (count, _) => count,
    }
}

/// Sets how many requests to a store that is far away are made at once, at most; 0 leaves that to the store.
pub fn set_requests(count: usize) {
    REQUESTS.store(count, Ordering::Relaxed);
}

/// How many requests are made at once to a store that is far away and cannot tell how many it answers well.
pub fn requests() -> usize {
    match REQUESTS.load(Ordering::Relaxed) {
        0 => USUAL_REQUESTS,
        count => count,
    }
}

/// How many requests are made at once, at most, to a store that tells how many it answers well.
pub fn most_requests() -> usize {
    match REQUESTS.load(Ordering::Relaxed) {
        0 => MOST_REQUESTS,
        count => count,
    }
}

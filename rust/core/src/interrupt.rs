//! Stopping early: whatever may take long asks now and then whether it shall go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::Result;

/// Asked now and then; an error stops the operation (Ctrl-C). It may be asked by any thread, and also while chunks are
/// locked: what it calls (a signal handler) must not write to them (see [`crate::store::exclusion`]).
pub type Interrupt<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// For what cannot be stopped.
pub fn never() -> Result<()> {
    Ok(())
}

static ENDING: AtomicBool = AtomicBool::new(false);

/// How long is waited for other threads when they may have stopped for ever.
pub const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// From now on threads that need what is ending (the Python interpreter) may stop for ever, wherever they are. So loops are
/// run by their callers alone, and locks of other threads are waited for only so long. See [`crate::pool::end`].
pub(crate) fn end() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Whether the end has begun.
pub fn ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// How long anybody waits before asking again.
pub const TICK: Duration = Duration::from_millis(50);

/// Waiting for something that has to be tried again and again: often at first, then less and less.
pub struct Patience {
    begun: Instant,
    tries: u32,
}

/// The first tries only let others run: most locks are held for less time than falling asleep takes.
const YIELDS: u32 = 3;
const SHORTEST: Duration = Duration::from_micros(50);
const LONGEST: Duration = Duration::from_millis(10);
/// Each nap is this share of the time waited so far, so that what is waited in vain is a share of it, too.
const SHARE: u32 = 16;

impl Patience {
    pub fn new() -> Self {
        Patience { begun: Instant::now(), tries: 0 }
    }

    /// For how long so far.
    pub fn waited(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Waits a little.
    pub fn nap(&mut self) {
        self.tries += 1;
        if self.tries <= YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep((self.begun.elapsed() / SHARE).clamp(SHORTEST, LONGEST));
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::new()
    }
}

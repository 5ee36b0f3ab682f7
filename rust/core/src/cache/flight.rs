//! Something that one thread is fetching, and others wait for instead of fetching it, too.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::error::Result;
use crate::fork;
use crate::interrupt::{ending, Interrupt, LAST_PATIENCE, TICK};

/// Shared by who fetches and who waits.
pub struct Flight {
    landed: Mutex<bool>,
    changed: Condvar,
    /// The process that it is in: a forked child has none of the threads that fetch.
    generation: u64,
}

impl Flight {
    pub fn new() -> Arc<Self> {
        Arc::new(Flight { landed: Mutex::new(false), changed: Condvar::new(), generation: fork::generation() })
    }

    /// Whether somebody in this process is fetching.
    pub fn is_here(&self) -> bool {
        self.generation == fork::generation()
    }

    /// Whoever waits may go on.
    pub fn land(&self) {
        if self.is_here() {
            *self.landed.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.changed.notify_all();
        }
    }

    /// Waits until it is over, however it ended; in the end of the process not for ever, as who fetches may have stopped.
    pub fn wait(&self, interrupt: Interrupt<'_>) -> Result<()> {
        let begun = Instant::now();
        let mut landed = self.landed.lock().unwrap_or_else(PoisonError::into_inner);
        while !*landed {
            let timeout;
            (landed, timeout) = self.changed.wait_timeout(landed, TICK).unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                if ending() && begun.elapsed() >= LAST_PATIENCE {
                    return Ok(());
                }
                drop(landed); // who is asked may take his time
                interrupt()?;
                landed = self.landed.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
        Ok(())
    }
}

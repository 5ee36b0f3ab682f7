//! Ctrl-C while the engine works or waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::interrupt::Interrupt;
use blizzarr_core::notices;
use pyo3::prelude::*;

use crate::ending;
use crate::errors::of_signal;

/// Signals are looked for this often.
const EVERY_MS: u64 = 100;

/// Runs `work` with a question that it asks now and then, from any thread: whether a signal says to stop. Called without
/// the GIL.
pub fn watching_signals<R>(work: impl FnOnce(Interrupt<'_>) -> Result<R>) -> Result<R> {
    let begun = Instant::now();
    let asked = AtomicU64::new(0);
    let caller = thread::current().id();
    let raised = Mutex::new(None);
    let stopped = AtomicBool::new(false);
    let stop = || Err(Error::new(Kind::Request, "the operation was interrupted"));
    let interrupted = || {
        if stopped.load(Ordering::Relaxed) {
            return stop();
        }
        // Python tells only its main thread of signals: workers, in loops of their own, must not use up its turns.
        let now = begun.elapsed().as_millis() as u64;
        if now < asked.load(Ordering::Relaxed) + EVERY_MS || thread::current().id() != caller {
            return Ok(());
        }
        asked.store(now, Ordering::Relaxed);
        ending::attach(|py| py.check_signals().and_then(|()| write_notices(py)).map_err(of_signal)).or_else(|error| {
            *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            stopped.store(true, Ordering::Relaxed);
            stop()
        })
    };
    let mut outcome = work(&interrupted);
    if notices::any() {
        // Also behind an error, which they may explain.
        let written = ending::attach(write_notices).map_err(of_signal);
        outcome = outcome.and_then(|done| written.map(|()| done));
    }
    // Whichever thread was the first to stop: what the signal raised is what the caller is told.
    match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => outcome,
    }
}

/// Writes what the engine has noticed to the logs of Python, such as `blizzarr.locks`.
fn write_notices(py: Python<'_>) -> PyResult<()> {
    if !notices::any() {
        return Ok(());
    }
    let logging = py.import("logging")?;
    for (topic, text) in notices::take() {
        let log = ending::call_method(logging.as_any(), "getLogger", (format!("blizzarr.{}", topic.name()),))?;
        ending::call_method(&log, "info", ("%s", text))?;
    }
    Ok(())
}

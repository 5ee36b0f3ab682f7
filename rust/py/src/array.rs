//! `_native.ArrayHandle`: one array of one store, read and written in one crossing per operation.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use blizzarr_core::array::{Array, Keys, Options};
use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::pool;
use blizzarr_core::region::Region;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::buffer::Buffer;
use crate::chain::PyChain;
use crate::errors::{foreign, raise};
use crate::request::region;
use crate::stores::store_of;

/// Signals (Ctrl-C) are looked for this often while the engine works.
const SIGNALS_EVERY_MS: u64 = 100;

#[pyclass(name = "ArrayHandle", module = "blizzarr._native", frozen)]
pub struct ArrayHandle {
    array: Array,
    /// The array's path, for error messages.
    path: String,
}

#[pymethods]
impl ArrayHandle {
    #[new]
    #[pyo3(signature = (store, array, prefix, lock_key, shape, chain, head, separator, scalar_key, place=String::new(), locks=None))]
    #[allow(clippy::too_many_arguments)] // One call per open array; each is a plain value.
    fn new(
        store: &Bound<'_, PyAny>,
        array: String,
        prefix: String,
        lock_key: String,
        shape: Vec<usize>,
        chain: &PyChain,
        head: String,
        separator: String,
        scalar_key: String,
        place: String,
        locks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let keys = Keys { prefix, head, separator, scalar: scalar_key };
        let made = Array::new(store_of(store, place, locks)?, keys, lock_key, shape, Arc::clone(&chain.chain));
        let path = array;
        match made {
            Ok(array) => Ok(ArrayHandle { array, path }),
            Err(error) => Err(raise(store.py(), error, Some(&path))),
        }
    }

    /// Reads the elements that `axes` select into `out`.
    #[pyo3(signature = (out, axes, threads=0))]
    fn read(&self, out: &Bound<'_, PyAny>, axes: &Bound<'_, PyTuple>, threads: usize) -> PyResult<()> {
        let py = out.py();
        let mut buffer = Buffer::writing(out)?;
        let region = self.region(axes, &buffer)?;
        let target = buffer.target();
        let done = py.detach(|| {
            with_options(threads, false, &|options| blizzarr_core::read::read(&self.array, &region, &target, options))
        });
        done.map_err(|error| raise(py, error, Some(&self.path)))
    }

    /// Writes the elements of `source` to where `axes` select.
    #[pyo3(signature = (source, axes, write_empty=false, threads=0))]
    fn write(
        &self,
        source: &Bound<'_, PyAny>,
        axes: &Bound<'_, PyTuple>,
        write_empty: bool,
        threads: usize,
    ) -> PyResult<()> {
        let py = source.py();
        let buffer = Buffer::reading(source)?;
        let region = self.region(axes, &buffer)?;
        let origin = buffer.origin();
        let done = py.detach(|| {
            with_options(threads, write_empty, &|options| {
                blizzarr_core::write::write(&self.array, &region, &origin, options)
            })
        });
        done.map_err(|error| raise(py, error, Some(&self.path)))
    }

    /// The same array with another shape, sharing everything else.
    fn resized(&self, py: Python<'_>, shape: Vec<usize>) -> PyResult<Self> {
        let Array { store, keys, lock_key, chain, .. } = &self.array;
        let array = Array::new(Arc::clone(store), keys.clone(), lock_key.clone(), shape, Arc::clone(chain))
            .map_err(|error| raise(py, error, Some(&self.path)))?;
        Ok(ArrayHandle { array, path: self.path.clone() })
    }
}

impl ArrayHandle {
    fn region(&self, axes: &Bound<'_, PyTuple>, buffer: &Buffer) -> PyResult<Region> {
        let itemsize = self.array.chain.elements.itemsize;
        if buffer.itemsize != itemsize {
            let reason = format!("expected elements of {itemsize} bytes, found {}", buffer.itemsize);
            return Err(PyValueError::new_err(reason));
        }
        region(axes, &self.array.shape, &buffer.shape, &buffer.strides)
    }
}

/// Runs `work` with options that look for signals now and then. Called without the GIL.
fn with_options(threads: usize, write_empty: bool, work: &dyn Fn(&Options<'_>) -> Result<()>) -> Result<()> {
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
        if now < asked.load(Ordering::Relaxed) + SIGNALS_EVERY_MS || thread::current().id() != caller {
            return Ok(());
        }
        asked.store(now, Ordering::Relaxed);
        Python::attach(|py| py.check_signals().map_err(|raised| foreign(py, raised))).or_else(|error| {
            *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            stopped.store(true, Ordering::Relaxed);
            stop()
        })
    };
    let threads = if threads == 0 { pool::threads() } else { threads };
    let outcome = work(&Options { threads, write_empty, interrupted: &interrupted });
    // Whichever thread was the first to stop: what the signal raised is what the caller is told.
    match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => outcome,
    }
}

//! `blizzarr._native`: the border between Python and the engine. No Zarr logic in here.
//!
//! `unsafe` only in [`buffer`] and [`results`], which exchange memory with Python.

#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

mod array;
mod buffer;
mod chain;
mod codecs;
mod elements;
mod errors;
mod foreign;
mod request;
mod results;
mod stores;

use pyo3::prelude::*;

/// The version of the native module.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Whether the compiler optimised this module; without, everything is many times slower.
#[pyfunction]
fn is_optimised() -> bool {
    !cfg!(debug_assertions)
}

/// Sets how many threads one operation may use.
#[pyfunction]
fn threads_set(count: usize) {
    blizzarr_core::pool::set_threads(count);
}

/// How many threads one operation may use.
#[pyfunction]
fn threads() -> usize {
    blizzarr_core::pool::threads()
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Before there are other threads, one of which could fork while the handler is being registered.
    blizzarr_core::fork::generation();
    module.add_class::<array::ArrayHandle>()?;
    module.add_class::<elements::ElementTable>()?;
    module.add_class::<chain::PyChain>()?;
    module.add_class::<results::ResultMemory>()?;
    module.add_class::<stores::NativeStore>()?;
    module.add_class::<stores::PyLocalStore>()?;
    module.add_class::<stores::PyMemoryStore>()?;
    module.add_class::<stores::PyRenamedStore>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(is_optimised, module)?)?;
    module.add_function(wrap_pyfunction!(threads, module)?)?;
    module.add_function(wrap_pyfunction!(threads_set, module)?)?;
    Ok(())
}

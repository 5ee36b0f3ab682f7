//! `blizzarr._native`: the border between Python and the engine. No Zarr logic in here.
//!
//! The modules that may have `unsafe` blocks allow it at their head; `ARCHITECTURE.md` lists them.

#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

mod archive;
mod array;
mod basic;
mod buffer;
mod caching;
mod capsule;
mod chain;
mod codecs;
mod document;
mod elements;
mod ending;
mod errors;
mod foreign;
#[cfg(feature = "remote")]
mod objects;
#[cfg(not(feature = "remote"))]
#[path = "no_objects.rs"]
mod objects;
mod reducing;
mod request;
mod results;
mod signals;
mod stores;
mod texts;

use blizzarr_core::reserve::Reserving;
use blizzarr_core::store::durability;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

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

/// Sets how many requests to a store that is far away are made at once.
#[pyfunction]
fn requests_set(count: usize) {
    blizzarr_core::pool::set_requests(count);
}

/// Sets what survives a power cut, for stores and calls that do not say.
#[pyfunction]
fn durability_set(name: &str) -> PyResult<()> {
    durability::set_level(stores::level(name)?);
    Ok(())
}

/// What this thread has chosen for what it calls: a level, and whether somebody commits later.
type Choice = (Option<&'static str>, bool);

/// Changes this thread's choice; gives the one before.
#[pyfunction]
fn durability_choose(name: Option<&str>, gathers: bool) -> PyResult<Choice> {
    let level = name.map(stores::level).transpose()?;
    let before = durability::choose(durability::Choice { level, gathers });
    Ok((before.level.map(durability::Level::name), before.gathers))
}

/// This thread's choice.
#[pyfunction]
fn durability_choice() -> Choice {
    let now = durability::choice();
    (now.level.map(durability::Level::name), now.gathers)
}

/// How many directories could not be synchronised so far.
#[pyfunction]
fn durability_failures() -> u64 {
    durability::failures()
}

/// Synchronises all directories whose entries have changed at the level "full"; an error if that has failed since
/// `durability_failures` was `begun`.
#[pyfunction]
fn durability_commit(py: Python<'_>, begun: u64) -> PyResult<()> {
    let done = || py.detach(|| durability::commit(begun)).map_err(|error| errors::raise(py, error, None));
    errors::entry(py, "commit", None, done)
}

/// Whether what this thread does for the engine is in vain: see the engine's `pool::is_given_up`.
#[pyfunction]
fn is_given_up(by_signal: bool) -> bool {
    blizzarr_core::pool::is_given_up(by_signal)
}

/// What this process has done so far, by name: the fields of the engine's `progress::Count`.
#[pyfunction]
fn progress() -> std::collections::HashMap<&'static str, u64> {
    blizzarr_core::progress::so_far().collect()
}

/// Called when the interpreter begins to end.
#[pyfunction]
fn interpreter_ends(py: Python<'_>) {
    py.detach(blizzarr_core::pool::end);
    // Later it could not be imported any more. Where it cannot be now, nothing of ours is in use.
    let _ = errors::classes(py);
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Before there are other threads, one of which could fork while the handler is being registered.
    blizzarr_core::fork::generation();
    blizzarr_core::panics::install();
    let ends = wrap_pyfunction!(interpreter_ends, module)?;
    module.py().import("atexit")?.call_method1("register", (&ends,))?;
    module.add_function(ends)?;
    module.add_class::<array::ArrayHandle>()?;
    module.add_function(wrap_pyfunction!(basic::lower_basic, module)?)?;
    module.add_class::<document::PyDocument>()?;
    module.add_class::<caching::PyCachePool>()?;
    module.add_class::<elements::ElementTable>()?;
    module.add_function(wrap_pyfunction!(elements::texts_put, module)?)?;
    module.add_function(wrap_pyfunction!(codecs::crc32c, module)?)?;
    module.add_function(wrap_pyfunction!(codecs::zstd_decode, module)?)?;
    module.add_class::<chain::PyChain>()?;
    module.add_class::<results::ResultMemory>()?;
    module.add_class::<stores::NativeStore>()?;
    module.add_class::<stores::DocumentLocks>()?;
    module.add_function(wrap_pyfunction!(archive::usual_entries, module)?)?;
    module.add_class::<archive::OpenFile>()?;
    module.add_class::<stores::PyLocalStore>()?;
    module.add_class::<stores::PyMemoryStore>()?;
    module.add_class::<stores::PyRenamedStore>()?;
    #[cfg(feature = "remote")]
    module.add_class::<objects::ObjectClient>()?;
    module.add_function(wrap_pyfunction!(objects::object_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(caching::cache_exists, module)?)?;
    module.add_function(wrap_pyfunction!(caching::cache_value_changed, module)?)?;
    module.add_function(wrap_pyfunction!(caching::cache_prefix_changed, module)?)?;
    module.add_function(wrap_pyfunction!(is_optimised, module)?)?;
    module.add_function(wrap_pyfunction!(is_given_up, module)?)?;
    module.add_function(wrap_pyfunction!(threads, module)?)?;
    module.add_function(wrap_pyfunction!(threads_set, module)?)?;
    module.add_function(wrap_pyfunction!(requests_set, module)?)?;
    module.add_function(wrap_pyfunction!(progress, module)?)?;
    module.add_function(wrap_pyfunction!(durability_set, module)?)?;
    module.add_function(wrap_pyfunction!(durability_choose, module)?)?;
    module.add_function(wrap_pyfunction!(durability_choice, module)?)?;
    module.add_function(wrap_pyfunction!(durability_commit, module)?)?;
    module.add_function(wrap_pyfunction!(durability_failures, module)?)?;
    Ok(())
}

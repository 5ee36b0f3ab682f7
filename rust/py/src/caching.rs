//! `_native.CachePool`, and the elements of arrays that it has.

use std::sync::Arc;

use blizzarr_core::array::Array;
use blizzarr_core::cache::pool::CachePool;
use blizzarr_core::cache::{changes, Recheck};
use blizzarr_core::read_element::{element, RANK};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyTuple};

use crate::errors::entry;

/// A bounded amount of memory for what arrays have read; see `blizzarr.CachePool`.
#[pyclass(name = "CachePool", module = "blizzarr._native", frozen)]
pub struct PyCachePool {
    pool: Arc<CachePool>,
}

#[pymethods]
impl PyCachePool {
    #[new]
    fn new(py: Python<'_>, limit: usize) -> PyResult<Self> {
        entry(py, "make a pool", None, || Ok(PyCachePool { pool: Arc::new(CachePool::new(limit)) }))
    }

    /// Bytes at most, bytes now, entries, hits, checks, misses, evictions.
    fn info(&self, py: Python<'_>) -> PyResult<(usize, usize, usize, u64, u64, u64, u64)> {
        entry(py, "look at a pool", None, || {
            let info = py.detach(|| self.pool.info());
            Ok((info.limit, info.used, info.entries, info.hits, info.checks, info.misses, info.evictions))
        })
    }

    /// This moment, for reads that are asked for now and done later.
    fn now(&self) -> u64 {
        self.pool.now()
    }

    /// How often something was kept that was written only just before, so that no check can tell it to be what is stored.
    fn hasty(&self) -> u64 {
        self.pool.hasty()
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        entry(py, "empty a pool", None, || {
            py.detach(|| self.pool.clear());
            Ok(())
        })
    }
}

/// A pool, when a check counts (`"always"`, `"never"`, `"open"`: since now, `"since"` a number of seconds since the epoch,
/// `"age"` in seconds), and the store's lifetime.
pub type Given<'py> = (PyRef<'py, PyCachePool>, String, f64, u64);

/// The array with the pool that it was given.
pub fn with_pool(array: Array, (pool, kind, seconds, lifetime): Given<'_>) -> PyResult<Array> {
    let pool = &pool.pool;
    let recheck = match kind.as_str() {
        "always" => Recheck::Always,
        "never" => Recheck::Never,
        "open" => Recheck::Since(pool.now()),
        "since" => Recheck::Since(pool.moment(seconds)),
        "age" => Recheck::Age((seconds * 1e9) as u64),
        other => return Err(PyValueError::new_err(format!("expected when to recheck, found {other:?}"))),
    };
    Ok(array.cached(pool, recheck, lifetime))
}

/// How bytes become a NumPy scalar: what the elements are, and what is called with the number, or with the bytes.
pub struct Scalar {
    kind: Kind,
    make: Py<PyAny>,
}

#[derive(Clone, Copy)]
enum Kind {
    Boolean,
    Signed(usize),
    Unsigned(usize),
    Float32,
    Float64,
    Other,
}

impl Scalar {
    pub fn new(kind: &str, make: Py<PyAny>) -> Self {
        let kind = match kind {
            "b1" => Kind::Boolean,
            "i1" => Kind::Signed(1),
            "i2" => Kind::Signed(2),
            "i4" => Kind::Signed(4),
            "i8" => Kind::Signed(8),
            "u1" => Kind::Unsigned(1),
            "u2" => Kind::Unsigned(2),
            "u4" => Kind::Unsigned(4),
            "u8" => Kind::Unsigned(8),
            "f4" => Kind::Float32,
            "f8" => Kind::Float64,
            _ => Kind::Other,
        };
        Scalar { kind, make }
    }

    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Scalar { kind: self.kind, make: self.make.clone_ref(py) }
    }

    /// `None` where a number would lose bits on its way through Python.
    fn of<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut word = [0u8; 8];
        if let Some(word) = word.get_mut(..bytes.len()) {
            word.copy_from_slice(bytes);
        }
        let shift = |size: usize| 64 - 8 * size as u32;
        // Native elements: the first bytes of a word are its low ones, or its high ones.
        let unsigned = |size| {
            if cfg!(target_endian = "little") {
                u64::from_le_bytes(word)
            } else {
                u64::from_be_bytes(word) >> shift(size)
            }
        };
        let make = self.make.bind(py);
        let made = match self.kind {
            Kind::Boolean => make.call1((PyBool::new(py, word[0] != 0),)),
            Kind::Signed(size) => {
                make.call1((PyInt::new(py, ((unsigned(size) << shift(size)) as i64) >> shift(size)),))
            }
            Kind::Unsigned(size) => make.call1((PyInt::new(py, unsigned(size)),)),
            Kind::Float32 => {
                let number = f32::from_bits(unsigned(4) as u32);
                if number.is_nan() {
                    return Ok(None); // a signalling one would become a quiet one
                }
                make.call1((PyFloat::new(py, f64::from(number)),))
            }
            Kind::Float64 => make.call1((PyFloat::new(py, f64::from_bits(unsigned(8))),)),
            Kind::Other => make.call1((PyBytes::new(py, bytes),)),
        };
        made.map(Some)
    }
}

/// The element at a key of integers, if the pool has it and need not look at the store; `None` for everything else, also
/// for keys that are wrong.
pub fn known<'py>(array: &Array, scalar: &Scalar, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = key.py();
    let mut position = [0usize; RANK];
    let rank = array.shape.len();
    let Some(position) = position.get_mut(..rank) else { return Ok(None) };
    let index = |item: &Bound<'_, PyAny>, size: usize| {
        // Not of booleans, which are masks.
        let index: i64 = item.cast_exact::<PyInt>().ok()?.extract().ok()?;
        let index = if index < 0 { index.checked_add(size as i64)? } else { index };
        usize::try_from(index).ok().filter(|&index| index < size)
    };
    match key.cast_exact::<PyTuple>() {
        Ok(items) if items.len() == rank => {
            for ((slot, item), &size) in position.iter_mut().zip(items.iter_borrowed()).zip(&array.shape) {
                let Some(index) = index(&item, size) else { return Ok(None) };
                *slot = index;
            }
        }
        Err(_) if rank == 1 => {
            let Some(index) = index(key, array.shape[0]) else { return Ok(None) };
            position[0] = index;
        }
        _ => return Ok(None),
    }
    element(array, position, |bytes| scalar.of(py, bytes)).transpose().map(Option::flatten)
}

/// Whether there is any cache, or has been: if not, nobody need be told of changes.
#[pyfunction]
pub fn cache_exists() -> bool {
    changes::are_watched()
}

/// A value of a store written in Python has been changed, by its place and key.
#[pyfunction]
pub fn cache_value_changed(place: &str, key: &str) {
    changes::value(|| Some(crate::foreign::full_name(place, key)));
}

/// Everything below a prefix of a store written in Python may have been deleted.
#[pyfunction]
pub fn cache_prefix_changed(place: &str, prefix: &str) {
    let prefix = prefix.trim_end_matches('/');
    changes::prefix(|| Some(crate::foreign::full_name(place, prefix).trim_end_matches('/').to_owned()));
}

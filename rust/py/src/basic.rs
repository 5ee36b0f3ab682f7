//! The fast path for keys of integers, slices, `...` and `newaxis`, which most calls use.
//!
//! It makes the engine's axes directly, because it runs on every `array[key]`: in Python, it took a tenth of the time of a
//! small read. It refuses no key: any that it does not take, for whatever reason, goes through `blizzarr.indexing.dialect`,
//! which decides the meaning of all keys and says what is wrong with a bad one. Tests show that the two agree wherever
//! this one gives an answer.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PySlice, PyTuple, PyType};

/// The shape of the selection, the engine's axes, and whether NumPy would give a scalar.
type Lowered<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>, bool);

/// Of longer keys NumPy would make more dimensions than it has, and lists of any length need memory that may be missing.
const LONGEST: usize = 128;

/// Lowers a basic key for an array of this shape; `None` for all other keys, valid or not.
#[pyfunction]
pub fn lower_basic<'py>(key: &Bound<'py, PyAny>, shape: &Bound<'py, PyTuple>) -> PyResult<Option<Lowered<'py>>> {
    let py = key.py();
    let items = match key.cast_exact::<PyTuple>() {
        Ok(items) => items.clone(),
        Err(_) => PyTuple::new(py, [key])?,
    };
    if items.len() > LONGEST {
        return Ok(None);
    }
    let sizes = shape.iter_borrowed().map(|size| size.extract::<isize>()).collect::<PyResult<Vec<_>>>()?;
    let mut left = sizes.iter().copied();
    let (mut domain, mut axes): (Vec<isize>, Vec<Bound<'py, PyAny>>) = (Vec::new(), Vec::new());
    let mut scalar = true;
    let strided = |domain: &mut Vec<isize>, start, step, count| {
        let axis = (domain.len(), start, step).into_pyobject(py)?;
        domain.push(count);
        PyResult::Ok(axis.into_any())
    };
    for item in items.iter_borrowed() {
        if let Ok(slice) = item.cast_exact::<PySlice>() {
            let Some(size) = left.next() else { return Ok(None) };
            let part = match slice.indices(size) {
                Err(error) if error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py) => {
                    return Ok(None);
                }
                part => part?,
            };
            let count = part.slicelength;
            axes.push(strided(&mut domain, part.start, if count > 1 { part.step } else { 1 }, count as isize)?);
        } else if item.is_none() {
            domain.push(1);
        } else if item.is(py.Ellipsis()) {
            // It stands for the axes that the other items leave. Masks, which take several axes each, go the long way.
            let taken = items.iter_borrowed().filter(|other| !other.is_none()).count() - 1;
            let Some(count) = sizes.len().checked_sub(taken).filter(|_| scalar) else { return Ok(None) };
            scalar = false;
            for size in left.by_ref().take(count) {
                axes.push(strided(&mut domain, 0, 1, size)?);
            }
        } else {
            let Some(size) = left.next() else { return Ok(None) };
            let Some(index) = index(&item)? else { return Ok(None) };
            let index = if index < 0 { index + size } else { index };
            if !(0..size).contains(&index) {
                return Ok(None);
            }
            axes.push(index.into_pyobject(py)?.into_any());
        }
    }
    for size in left {
        axes.push(strided(&mut domain, 0, 1, size)?);
    }
    let scalar = scalar && domain.is_empty();
    Ok(Some((PyTuple::new(py, domain)?, PyTuple::new(py, axes)?, scalar)))
}

/// An integer of Python or NumPy; `None` for everything else, such as booleans, which are masks, and for integers that are
/// out of any bounds.
fn index(item: &Bound<'_, PyAny>) -> PyResult<Option<isize>> {
    static INTEGER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = item.py();
    if !item.is_exact_instance_of::<PyInt>() && !item.is_instance(INTEGER.import(py, "numpy", "integer")?)? {
        return Ok(None);
    }
    // Durations of NumPy are integers there, which nothing may be indexed with.
    Ok(item.extract().ok())
}

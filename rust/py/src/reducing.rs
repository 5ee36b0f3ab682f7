//! `_native.reduce`: one element for each block of an array.

use blizzarr_core::reduce::{Blocks, Method, Of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::{numbers, with_options};
use crate::buffer::Buffer;
use crate::errors::{entry, raise};

/// Makes elements of the blocks that `edges` (64-bit numbers, for each axis) divide `elements` into; both arrays are
/// contiguous.
#[pyfunction]
pub fn reduce(
    elements: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    edges: Vec<Bound<'_, PyAny>>,
    method: &str,
    dtype: &str,
) -> PyResult<()> {
    let py = elements.py();
    entry(py, "reduce", None, || {
        let wrong = || PyValueError::new_err(format!("expected a known method and data type, found {method}, {dtype}"));
        let (method, of) = method_of(method).zip(kind_of(dtype)).ok_or_else(wrong)?;
        let source = Buffer::reading(elements)?;
        let mut made = Buffer::writing(out)?;
        let edges = edges.iter().map(positions).collect::<PyResult<Vec<_>>>()?;
        let expected: Vec<usize> = edges.iter().map(|list| list.len().saturating_sub(1)).collect();
        if made.shape != expected || made.itemsize != source.itemsize || !made.is_contiguous() {
            return Err(PyValueError::new_err("expected a contiguous array with an element for each block"));
        }
        let blocks = Blocks::new(source.bytes()?, source.shape.clone(), edges, source.itemsize)
            .map_err(|error| raise(py, error, None))?;
        let target = made.target();
        let done = py.detach(|| with_options(None, 0, false, &|options| blocks.reduce(of, method, &target, options)));
        done.map_err(|error| raise(py, error, None))
    })
}

fn positions(edges: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    // Numbers of the same size: the list is used again.
    let listed = numbers(edges)?.into_iter().map(usize::try_from).collect::<Result<_, _>>();
    listed.map_err(|_| PyValueError::new_err("expected edges that are not negative"))
}

fn method_of(name: &str) -> Option<Method> {
    Some(match name {
        "mean" => Method::Mean,
        "min" => Method::Min,
        "max" => Method::Max,
        "median" => Method::Median,
        "mode" => Method::Mode,
        _ => return None,
    })
}

fn kind_of(dtype: &str) -> Option<Of> {
    Some(match dtype {
        "bool" => Of::Bool,
        "uint8" => Of::U8,
        "int8" => Of::I8,
        "uint16" => Of::U16,
        "int16" => Of::I16,
        "uint32" => Of::U32,
        "int32" => Of::I32,
        "uint64" => Of::U64,
        "int64" => Of::I64,
        "float32" => Of::F32,
        "float64" => Of::F64,
        _ => return None,
    })
}

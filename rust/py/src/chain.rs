//! `_native.Chain`: a codec chain made from plain tuples.

use std::sync::Arc;

use blizzarr_core::chain::{Chain, Elements, Serializer, Shard};
use blizzarr_core::codec::element::{Run, Swap};
use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::Result;
use blizzarr_core::subchunk_order::SubchunkOrder;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::codecs::{bytes_to_bytes, of_elements};
use crate::errors::{entry, handed, raise};

/// Shards inside shards, at most.
const MAX_NESTING: usize = 16;
/// Structs inside structs, at most.
const MAX_NESTING_OF_FIELDS: usize = 64;

/// A prepared codec chain for chunks of one shape.
#[pyclass(name = "Chain", module = "blizzarr._native", frozen)]
pub struct PyChain {
    pub chain: Arc<Chain>,
}

#[pymethods]
impl PyChain {
    #[new]
    fn new(
        py: Python<'_>,
        shape: Vec<usize>,
        itemsize: usize,
        fill: &[u8],
        boolean: bool,
        steps: Vec<Bound<'_, PyTuple>>,
    ) -> PyResult<Self> {
        entry(py, "prepare codecs", None, || {
            let cell = Cell { itemsize, boolean, fill };
            let chain = build(py, shape, &cell, &steps, 0)?;
            Ok(PyChain { chain: Arc::new(chain) })
        })
    }

    /// Bytes of a decoded chunk.
    #[getter]
    fn length(&self) -> usize {
        self.chain.length
    }

    /// Applies the bytes-to-bytes codecs, for tests and tools.
    fn encode<'py>(&self, py: Python<'py>, serialized: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        entry(py, "encode", None, || {
            let mut encoded = Vec::new();
            py.detach(|| self.chain.encode(serialized, &mut encoded)).map_err(|error| raise(py, error, None))?;
            handed(py, &encoded)
        })
    }

    /// Undoes the bytes-to-bytes codecs.
    fn decode<'py>(&self, py: Python<'py>, encoded: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        entry(py, "decode", None, || {
            let mut serialized = Vec::new();
            py.detach(|| self.chain.decode_bounded(encoded, &mut serialized))
                .map_err(|error| raise(py, error, None))?;
            handed(py, &serialized)
        })
    }
}

/// The units that are reversed: a number of bytes, or the runs of an element that has fields, each a length and the
/// units in it.
fn swapped(units: &Bound<'_, PyAny>, depth: usize) -> PyResult<Swap> {
    if depth > MAX_NESTING_OF_FIELDS {
        return Err(PyValueError::new_err(format!("expected fields at most {MAX_NESTING_OF_FIELDS} deep")));
    }
    let of_core = |result: Result<Swap>| result.map_err(|error| raise(units.py(), error, None));
    let Ok(runs) = units.cast::<PyTuple>() else {
        return of_core(Swap::new(units.extract()?));
    };
    let runs: PyResult<Vec<Run>> = runs
        .iter()
        .map(|run| {
            let (length, units): (usize, Bound<'_, PyAny>) = run.extract()?;
            Ok(Run { length, swap: swapped(&units, depth + 1)? })
        })
        .collect();
    of_core(Swap::fields(runs?))
}

/// What all chains of one array share.
struct Cell<'a> {
    itemsize: usize,
    boolean: bool,
    fill: &'a [u8],
}

fn build(
    py: Python<'_>,
    shape: Vec<usize>,
    cell: &Cell<'_>,
    steps: &[Bound<'_, PyTuple>],
    depth: usize,
) -> PyResult<Chain> {
    if depth > MAX_NESTING {
        return Err(PyValueError::new_err(format!("expected at most {MAX_NESTING} nested shardings")));
    }
    let mut order: Option<Vec<usize>> = None;
    let mut serializer = None;
    let mut swap = Swap::None;
    let mut codecs: Vec<Box<dyn BytesToBytes>> = Vec::new();
    for step in steps {
        let name: String = step.get_item(0)?.extract()?;
        match name.as_str() {
            "transpose" => {
                let next: Vec<usize> = step.get_item(1)?.extract()?;
                check_order(&next, shape.len())?;
                // Two transpositions in a row are one: axis i of the result is axis next[i] of what came before.
                order = Some(match order {
                    None => next,
                    Some(before) => next.iter().map(|&axis| before[axis]).collect(),
                });
            }
            "bytes" => {
                swap = swapped(&step.get_item(1)?, 0)?;
                if !cell.itemsize.is_multiple_of(swap.size()) {
                    let message = format!("elements of {} bytes are not whole units of {}", cell.itemsize, swap.size());
                    return Err(PyValueError::new_err(message));
                }
                serializer = Some(Serializer::Elements);
            }
            "elements" => {
                // Of variable length: what the engine has in their place are tokens.
                serializer = Some(Serializer::Elements);
                codecs.push(of_elements(step)?);
            }
            "shard" => {
                let stored = stored_shape(&shape, order.as_deref());
                serializer = Some(Serializer::Shard(Box::new(shard(py, &stored, cell, step, depth)?)));
            }
            _ => codecs.push(bytes_to_bytes(py, &name, step)?),
        }
    }
    let serializer = serializer.ok_or_else(|| PyValueError::new_err("expected one array-to-bytes step, found none"))?;
    let elements = Elements { itemsize: cell.itemsize, swap, boolean: cell.boolean };
    Chain::new(shape, elements, cell.fill.to_vec(), order, serializer, codecs).map_err(|error| raise(py, error, None))
}

fn shard(
    py: Python<'_>,
    stored: &[usize],
    cell: &Cell<'_>,
    step: &Bound<'_, PyTuple>,
    depth: usize,
) -> PyResult<Shard> {
    type Steps<'py> = Vec<Bound<'py, PyTuple>>;
    let (_, inner_shape, inner_steps, index_steps, at_start, order): (
        String,
        Vec<usize>,
        Steps<'_>,
        Steps<'_>,
        bool,
        String,
    ) = step.extract()?;
    if inner_shape.len() != stored.len() || inner_shape.contains(&0) {
        return Err(PyValueError::new_err(format!("inner chunks of shape {inner_shape:?} do not fit {stored:?}")));
    }
    let mut index_shape: Vec<usize> = stored.iter().zip(&inner_shape).map(|(shard, inner)| shard / inner).collect();
    index_shape.push(2);
    let inner = build(py, inner_shape, cell, &inner_steps, depth + 1)?;
    let index_cell = Cell { itemsize: 8, boolean: false, fill: &[0xff; 8] };
    let index = build(py, index_shape, &index_cell, &index_steps, depth + 1)?;
    let mut shard = Shard::new(stored, inner, index, at_start).map_err(|error| raise(py, error, None))?;
    shard.write_order = match order.as_str() {
        "morton" => SubchunkOrder::Morton,
        "colexicographic" => SubchunkOrder::Colexicographic,
        _ => SubchunkOrder::Lexicographic,
    };
    Ok(shard)
}

fn stored_shape(shape: &[usize], order: Option<&[usize]>) -> Vec<usize> {
    match order {
        None => shape.to_vec(),
        Some(order) => order.iter().map(|&axis| shape[axis]).collect(),
    }
}

fn check_order(order: &[usize], rank: usize) -> PyResult<()> {
    let mut seen = vec![false; rank];
    for &axis in order {
        match seen.get_mut(axis) {
            Some(slot) if !*slot => *slot = true,
            _ => return Err(PyValueError::new_err(format!("order {order:?} is not a permutation of {rank} axes"))),
        }
    }
    if order.len() != rank {
        return Err(PyValueError::new_err(format!("order {order:?} is not a permutation of {rank} axes")));
    }
    Ok(())
}

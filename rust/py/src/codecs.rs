//! Bytes-to-bytes codecs from the plain tuples of `_native.Chain`.

use std::sync::Arc;

use blizzarr_core::codec::compressed_segmentation::CompressedSegmentation;
use blizzarr_core::codec::crc32c::checksum;
use blizzarr_core::codec::foreign::{Element, Foreign};
use blizzarr_core::codec::n5::N5;
use blizzarr_core::codec::vlen::Vlen;
use blizzarr_core::codec::zstd::Zstd;
use blizzarr_core::codec::{prepare, BytesToBytes, Value};
use blizzarr_core::error::Result;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyTuple};

use crate::buffer::Buffer;
use crate::capsule::of_capsule;
use crate::elements::ElementTable;
use crate::errors::{entry, raise};
use crate::foreign::PythonCodec;

/// The codec that `step`, `(name, option, …)`, describes.
pub fn bytes_to_bytes(py: Python<'_>, name: &str, step: &Bound<'_, PyTuple>) -> PyResult<Box<dyn BytesToBytes>> {
    let fail = |error| raise(py, error, None);
    Ok(match name {
        "n5" => {
            let (_, shape, itemsize, inner): (String, Vec<usize>, usize, Option<Bound<'_, PyTuple>>) =
                step.extract()?;
            let codec = inner.map(|inner| bytes_to_bytes(py, &inner.get_item(0)?.extract::<String>()?, &inner));
            Box::new(N5::new(shape, itemsize, codec.transpose()?).map_err(fail)?)
        }
        "compressed_segmentation" => {
            let (_, shape, itemsize, block): (String, [usize; 4], usize, [usize; 3]) = step.extract()?;
            Box::new(CompressedSegmentation::new(shape, itemsize, block).map_err(fail)?)
        }
        "python" => python(step.get_item(1)?),
        "capsule" => of_capsule(&step.get_item(1)?.extract::<String>()?, &step.get_item(2)?)?,
        "bug" => Box::new(Bug),
        _ => {
            let options = step.iter().skip(1).map(|option| value(&option)).collect::<PyResult<Vec<_>>>()?;
            return prepare(name, &options).map_err(fail)?.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the engine has no codec {name:?} with {} options of these types",
                    options.len()
                ))
            });
        }
    })
}

/// The CRC-32C of a contiguous buffer.
#[pyfunction]
pub fn crc32c(data: &Bound<'_, PyAny>) -> PyResult<u32> {
    entry(data.py(), "compute a checksum", None, || {
        let buffer = Buffer::reading(data)?;
        let bytes = buffer.bytes()?;
        Ok(data.py().detach(|| checksum(bytes)))
    })
}

/// The content of all zstd frames in a contiguous buffer, of at most `limit` bytes.
#[pyfunction]
pub fn zstd_decode<'py>(data: &Bound<'py, PyAny>, limit: usize) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    entry(py, "decode zstd", None, || {
        let buffer = Buffer::reading(data)?;
        let (bytes, mut decoded) = (buffer.bytes()?, Vec::new());
        let codec = Zstd::new(0, false).map_err(|error| raise(py, error, None))?;
        py.detach(|| codec.decode_bounded(bytes, limit, &mut decoded)).map_err(|error| raise(py, error, None))?;
        Ok(PyBytes::new(py, &decoded))
    })
}

fn value(option: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = option.cast::<PyBool>() {
        return Ok(Value::Flag(flag.is_true()));
    }
    if let Ok(text) = option.extract() {
        return Ok(Value::Text(text));
    }
    Ok(Value::Integer(option.extract()?))
}

/// A codec that panics, for tests of what becomes of bugs in the engine; no document can name it.
struct Bug;

impl BytesToBytes for Bug {
    fn name(&self) -> &'static str {
        "bug"
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        decoded
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        panic!("{} bytes could not be made of {}", dst.len(), src.len())
    }

    fn decode_bounded(&self, src: &[u8], _limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        self.decode_exact(src, dst)
    }

    fn encode(&self, src: &[u8], _dst: &mut Vec<u8>) -> Result<()> {
        panic!("{} bytes could not be encoded", src.len())
    }
}

/// The codec that turns tokens into bytes in `step`, `("elements", table or codec)`.
pub fn of_elements(step: &Bound<'_, PyTuple>) -> PyResult<Box<dyn BytesToBytes>> {
    let object = step.get_item(1)?;
    if let Ok(elements) = object.cast::<ElementTable>() {
        return Ok(Box::new(Vlen::new(Arc::clone(&elements.get().table))));
    }
    Ok(python(object))
}

fn python(object: Bound<'_, PyAny>) -> Box<dyn BytesToBytes> {
    let name = object.getattr("name").and_then(|name| name.extract()).unwrap_or_else(|_| "python".to_owned());
    let element = object.getattr("element").and_then(|element| element.extract()).ok().flatten();
    let element = element.map(|(decoded, encoded, is_same)| Element { decoded, encoded, is_same });
    Box::new(Foreign::new(&name, Box::new(PythonCodec { object: object.unbind() }), element))
}

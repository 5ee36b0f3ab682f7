//! `_native.Document`: the metadata document of an array, compared before the array's chunks are written, and after they are read.

use std::sync::Arc;

use blizzarr_core::document::{Document, Stored};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::ending::{self, call};
use crate::errors::{entry, foreign, raise};
use crate::stores::store_of;

/// See `blizzarr_core::document`. `decode` is called with the key, and gives the bytes of the stored document and the
/// shape that it says, or raises the error about another array.
#[pyclass(name = "Document", module = "blizzarr._native", frozen)]
pub struct PyDocument {
    pub document: Arc<Document>,
}

#[pymethods]
impl PyDocument {
    #[new]
    #[pyo3(signature = (store, key, known, shape, decode, near, place=String::new(), locks=None))]
    #[allow(clippy::too_many_arguments)] // One call per open array; each is a plain value.
    fn new(
        store: &Bound<'_, PyAny>,
        key: String,
        known: Option<&[u8]>,
        shape: Vec<usize>,
        decode: Py<PyAny>,
        near: bool,
        place: String,
        locks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        entry(store.py(), "open an array", None, || {
            let name = key.clone();
            let decode = move || {
                ending::attach(|py| {
                    let stored = call(decode.bind(py), (&name,), None);
                    let (bytes, shape): (Bound<'_, PyBytes>, _) =
                        stored.and_then(|stored| stored.extract()).map_err(|raised| foreign(py, raised))?;
                    Ok(Stored { bytes: Arc::from(bytes.as_bytes()), shape })
                })
            };
            let store = store_of(store, place, locks)?;
            Ok(PyDocument { document: Arc::new(Document::new(store, key, known, shape, near, Box::new(decode))) })
        })
    }

    /// Raises the error about another array if there is one, and one if the array no longer has all elements of `shape`.
    #[pyo3(signature = (shape=Vec::new()))]
    fn compare(&self, py: Python<'_>, shape: Vec<usize>) -> PyResult<()> {
        entry(py, "look at an array", None, || {
            py.detach(|| self.document.has_all(&shape)).map_err(|error| raise(py, error, None))
        })
    }

    /// Whether the stored document is still the one that was known at first.
    fn is_unchanged(&self, py: Python<'_>) -> PyResult<bool> {
        entry(py, "look at an array", None, || {
            py.detach(|| self.document.is_unchanged()).map_err(|error| raise(py, error, None))
        })
    }

    /// Takes over a document that was just read or stored.
    fn learn(&self, known: &Bound<'_, PyBytes>, shape: Vec<usize>) -> PyResult<()> {
        entry(known.py(), "learn a document", None, || {
            self.document.learn(known.as_bytes(), &shape);
            Ok(())
        })
    }
}

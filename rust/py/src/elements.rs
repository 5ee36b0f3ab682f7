//! `_native.ElementTable`: texts and byte strings on their way into the engine and out of it.

use std::sync::Arc;

use blizzarr_core::codec::vlen::{Element, Source, Table, TOKEN};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::buffer::{Buffer, Slots};
use crate::errors::{entry, handed, raise};
use crate::texts::Texts;

/// What the tokens of one operation stand for.
#[pyclass(module = "blizzarr._native", frozen)]
pub struct ElementTable {
    pub table: Arc<Table>,
    /// Elements are `str`; else `bytes`.
    text: bool,
    fill: Py<PyAny>,
}

#[pymethods]
impl ElementTable {
    /// A table for the codec `name`, whose token 0 stands for `fill`: a `str` in tables of text, else `bytes`. Byte
    /// strings have a multiple of `unit` bytes.
    #[new]
    #[pyo3(signature = (name, fill, unit=1))]
    fn new(name: &str, fill: &Bound<'_, PyAny>, unit: usize) -> PyResult<Self> {
        entry(fill.py(), "make a table of elements", None, || {
            let text = fill.is_instance_of::<PyString>();
            let kind = if text { Element::Text } else { Element::Bytes(unit) };
            let table = with_bytes(fill, text, |bytes| Arc::new(Table::new(name, kind, bytes)))?;
            Ok(ElementTable { table, text, fill: fill.clone().unbind() })
        })
    }

    /// The tokens of these elements, as bytes: of a list, or of a contiguous array of objects or of NumPy's texts. A table
    /// takes the caller's elements once.
    fn put<'py>(&self, elements: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = elements.py();
        entry(py, "take elements in", None, || {
            let mut source = self.table.source();
            let tokens = if let Ok(list) = elements.cast::<PyList>() {
                self.tokens(py, &mut source, list.len(), |index| list.get_item(index))
            } else if let Some(texts) = self.texts_of(elements)? {
                PyBytes::new_with(py, texts.count() * TOKEN, |tokens| {
                    let mut tokens = tokens.chunks_exact_mut(TOKEN);
                    texts.each(|text| {
                        let new = source.push(text)?;
                        if let Some(token) = tokens.next() {
                            token.copy_from_slice(&new.to_ne_bytes());
                        }
                        Ok(())
                    })
                })
            } else {
                let slots = Slots::reading(elements)?;
                self.tokens(py, &mut source, slots.count(), |index| slots.get(index))
            }?;
            source.finish();
            Ok(tokens)
        })
    }

    /// Puts the elements of these tokens, a contiguous buffer, into `out`, a contiguous array of as many objects or texts.
    fn take(&self, tokens: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = tokens.py();
        entry(py, "hand elements out", None, || {
            let buffer = Buffer::reading(tokens)?;
            let blocks = self.table.blocks();
            let bytes = buffer.bytes()?;
            if let Some(mut texts) = self.texts_of(out)? {
                if texts.count() != bytes.len() / TOKEN {
                    return Err(PyValueError::new_err("expected as many tokens as texts"));
                }
                return texts.fill(|index| blocks.element(token_at(bytes, index)));
            }
            let mut slots = Slots::of(out)?;
            for index in 0..bytes.len() / TOKEN {
                let token = token_at(bytes, index);
                let element = if token == 0 {
                    self.fill.clone_ref(py)
                } else {
                    let element = blocks.element(token).map_err(|error| raise(py, error, None))?;
                    if self.text {
                        PyString::from_bytes(py, element)?.into_any().unbind()
                    } else {
                        handed(py, element)?.into_any().unbind()
                    }
                };
                slots.set(index, element)?;
            }
            Ok(())
        })
    }
}

impl ElementTable {
    /// `None` for arrays of another data type than NumPy's of texts.
    fn texts_of<'py>(&self, array: &Bound<'py, PyAny>) -> PyResult<Option<Texts<'py>>> {
        match Texts::of(array)? {
            Some(_) if !self.text => {
                Err(PyTypeError::new_err("expected an array of objects, found one of texts (StringDType)"))
            }
            texts => Ok(texts),
        }
    }

    fn tokens<'py>(
        &self,
        py: Python<'py>,
        source: &mut Source<'_>,
        count: usize,
        element: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, count * TOKEN, |tokens| {
            for (index, token) in tokens.chunks_exact_mut(TOKEN).enumerate() {
                let pushed = with_bytes(&element(index)?, self.text, |bytes| source.push(bytes))?;
                token.copy_from_slice(&pushed.map_err(|error| raise(py, error, None))?.to_ne_bytes());
            }
            Ok(())
        })
    }
}

fn token_at(tokens: &[u8], index: usize) -> u64 {
    tokens[index * TOKEN..][..TOKEN].try_into().map_or(0, u64::from_ne_bytes)
}

/// Lends `work` the bytes of an element; `TypeError` when it is not what the table holds.
fn with_bytes<R>(element: &Bound<'_, PyAny>, text: bool, work: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if text {
        if let Ok(text) = element.cast::<PyString>() {
            return Ok(work(text.to_str()?.as_bytes()));
        }
    } else if let Ok(bytes) = element.cast::<PyBytes>() {
        return Ok(work(bytes.as_bytes()));
    }
    let expected = if text { "str" } else { "bytes" };
    Err(PyTypeError::new_err(format!("expected {expected}, found {}", element.get_type().name()?)))
}

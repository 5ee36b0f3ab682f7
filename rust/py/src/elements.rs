//! `_native.ElementTable`: texts and byte strings on their way into the engine and out of it.

use std::sync::Arc;

use blizzarr_core::codec::vlen::{Element, Source, Table, TOKEN};
use blizzarr_core::error::{Error, Kind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::buffer::{text_of, Buffer, Characters, Slots};
use crate::errors::{entry, handed, raise};
use crate::texts::Texts;

/// Bytes of an offset, as many as of a token.
const OFFSET: usize = TOKEN;

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
                self.tokens(py, &mut source, list.len(), |index| list.get_item(index).map(Some))
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
                self.tokens(py, &mut source, slots.count(), |index| match slots.has(index, &self.fill) {
                    true => Ok(None),
                    false => slots.get(index).map(Some),
                })
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
            if (0..bytes.len() / TOKEN).all(|index| token_at(bytes, index) == 0) {
                // NumPy, which counts references without calling Python for each, takes half as long.
                return out.call_method1("fill", (&self.fill,)).map(drop);
            }
            let mut slots = Slots::of(out)?;
            let mut recent = Recent::of(bytes.len() / TOKEN);
            let mut characters = Characters::default();
            for index in 0..bytes.len() / TOKEN {
                let token = token_at(bytes, index);
                let element = if token == 0 {
                    self.fill.clone_ref(py)
                } else {
                    let element = blocks.element(token).map_err(|error| raise(py, error, None))?;
                    recent.get(py, element, || {
                        if self.text {
                            Ok(text_of(py, element, &mut characters)?.into_any().unbind())
                        } else {
                            Ok(handed(py, element)?.into_any().unbind())
                        }
                    })?
                };
                slots.set(index, element)?;
            }
            Ok(())
        })
    }

    /// The elements of these tokens, a contiguous buffer, without gaps, and before them where each begins and the last one
    /// ends: 64-bit integers, as Arrow has them.
    fn join<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let py = tokens.py();
        entry(py, "hand elements out", None, || {
            let buffer = Buffer::reading(tokens)?;
            let blocks = self.table.blocks();
            let bytes = buffer.bytes()?;
            let elements = || (0..bytes.len() / TOKEN).map(|index| blocks.element(token_at(bytes, index)));
            let mut end = 0;
            let offsets = PyBytes::new_with(py, bytes.len() + OFFSET, |offsets| {
                let summed = py.detach(|| {
                    for (element, offset) in elements().zip(offsets[OFFSET..].chunks_exact_mut(OFFSET)) {
                        end += element?.len();
                        offset.copy_from_slice(&(end as u64).to_ne_bytes());
                    }
                    Ok(())
                });
                summed.map_err(|error| raise(py, error, None))
            })?;
            let joined = PyBytes::new_with(py, end, |joined| {
                let copied = py.detach(|| {
                    let mut rest = joined;
                    for element in elements() {
                        let element = element?;
                        let (place, behind) = std::mem::take(&mut rest).split_at_mut(element.len());
                        place.copy_from_slice(element);
                        rest = behind;
                    }
                    Ok(())
                });
                copied.map_err(|error| raise(py, error, None))
            })?;
            Ok((offsets, joined))
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

    /// The tokens of so many elements, of which `None` is the fill value.
    fn tokens<'py>(
        &self,
        py: Python<'py>,
        source: &mut Source<'_>,
        count: usize,
        element: impl Fn(usize) -> PyResult<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, count * TOKEN, |tokens| {
            for (index, token) in tokens.chunks_exact_mut(TOKEN).enumerate() {
                if let Some(element) = element(index)? {
                    let pushed = with_bytes(&element, self.text, |bytes| source.push(bytes))?;
                    token.copy_from_slice(&pushed.map_err(|error| raise(py, error, None))?.to_ne_bytes());
                }
            }
            Ok(())
        })
    }
}

/// Puts texts that lie without gaps in `joined` into `out`, a contiguous array of NumPy's texts; `offsets` are as those of
/// [`ElementTable::join`].
#[pyfunction]
pub fn texts_put(offsets: &Bound<'_, PyAny>, joined: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
    entry(out.py(), "take texts in", None, || {
        let (places, whole) = (Buffer::reading(offsets)?, Buffer::reading(joined)?);
        let (places, whole) = (places.bytes()?, whole.bytes()?);
        let wrong = || PyValueError::new_err("expected texts, and an offset more than these");
        let mut texts = Texts::of(out)?.ok_or_else(wrong)?;
        if places.len() != (texts.count() + 1) * OFFSET {
            return Err(wrong());
        }
        texts.fill(|index| {
            let (start, end) = (token_at(places, index) as usize, token_at(places, index + 1) as usize);
            let text = whole.get(start..end).and_then(|text| std::str::from_utf8(text).ok());
            let text = text.ok_or_else(|| Error::new(Kind::Request, format!("text {index} is none in UTF-8")))?;
            Ok(text.as_bytes())
        })
    })
}

/// Objects of elements that came before: equal elements get the same object, which takes less time and memory than one
/// for each.
struct Recent<'t> {
    /// Each element has one place, where a later one may replace it. No places: elements are not looked for.
    places: Vec<Option<(&'t [u8], Py<PyAny>)>>,
    looked: usize,
    found: usize,
}

impl<'t> Recent<'t> {
    const PLACES: usize = 4096;

    /// For so many elements; few of them are not worth the memory.
    fn of(count: usize) -> Self {
        let mut places = Vec::new();
        if count >= Self::PLACES && places.try_reserve_exact(Self::PLACES).is_ok() {
            places.resize_with(Self::PLACES, || None);
        }
        Recent { places, looked: 0, found: 0 }
    }

    #[inline]
    fn get(
        &mut self,
        py: Python<'_>,
        element: &'t [u8],
        make: impl FnOnce() -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        if self.places.is_empty() {
            return make();
        }
        if self.looked == Self::PLACES {
            if self.found < Self::PLACES / 4 {
                // Most are different, and looking for them takes longer than what it saves.
                self.places = Vec::new();
            }
            (self.looked, self.found) = (0, 0);
        }
        let Some(place) = self.places.get_mut(place_of(element)) else { return make() };
        self.looked += 1;
        if let Some((known, object)) = place {
            if *known == element {
                self.found += 1;
                return Ok(object.clone_ref(py));
            }
        }
        let object = make()?;
        *place = Some((element, object.clone_ref(py)));
        Ok(object)
    }
}

/// The place of an element among [`Recent::PLACES`], by its length and its first, middle and last bytes.
fn place_of(element: &[u8]) -> usize {
    let word = |start: usize| element[start..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let bytes = match element.len() {
        0..8 => element.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        length => word(0).rotate_left(29) ^ word(length / 2 - 4).rotate_left(47) ^ word(length - 8),
    };
    let mixed = (bytes ^ element.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // The highest bits depend on all of them; lower ones do not on the last byte, in which many texts differ.
    (mixed >> (u64::BITS - Recent::PLACES.ilog2())) as usize
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

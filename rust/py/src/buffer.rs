//! The caller's memory, borrowed through the buffer protocol.
//!
//! This is where Python's promises become Rust's: an exporter must keep its memory in place and valid until the
//! buffer is released. Other Python threads may still change the contents meanwhile; the engine then stores or
//! returns some mixture of that buffer, nothing else.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::memory::{Origin, Target};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::ending;

/// A buffer that stays exported until this is dropped. Dropping needs the GIL.
pub struct Buffer {
    // Boxed, because exporters may let `shape` point into the view itself.
    view: Box<ffi::Py_buffer>,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
    pub itemsize: usize,
    /// Lowest and past-the-highest byte offset from `buf` that an element occupies.
    low: isize,
    high: isize,
}

// SAFETY: the view is only read, and released with the GIL held (see Drop); the memory it describes is plain bytes.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub fn reading(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::new(object, ffi::PyBUF_STRIDES)
    }

    pub fn writing(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = Self::new(object, ffi::PyBUF_STRIDES | ffi::PyBUF_WRITABLE)?;
        if buffer.overlaps_itself() {
            return Err(PyValueError::new_err("cannot read into an array whose elements share memory"));
        }
        Ok(buffer)
    }

    // Without PyBUF_FORMAT, because NumPy cannot name the format of every data type (datetime64, bfloat16).
    fn new(object: &Bound<'_, PyAny>, flags: std::ffi::c_int) -> PyResult<Self> {
        let mut view: Box<MaybeUninit<ffi::Py_buffer>> = Box::new(MaybeUninit::uninit());
        // SAFETY: the object is alive and the GIL is held; on success the view is filled in.
        let view = unsafe {
            if ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), flags) != 0 {
                return Err(PyErr::fetch(object.py()));
            }
            Box::from_raw(Box::into_raw(view).cast::<ffi::Py_buffer>())
        };
        let rank = view.ndim as usize;
        // SAFETY: with PyBUF_STRIDES an exporter sets shape and strides to arrays of `ndim` numbers; both may be
        // null only when there are no dimensions.
        let (shape, strides) = unsafe {
            if rank == 0 {
                (Vec::new(), Vec::new())
            } else {
                let shape = std::slice::from_raw_parts(view.shape, rank);
                (
                    shape.iter().map(|&size| size as usize).collect(),
                    std::slice::from_raw_parts(view.strides, rank).to_vec(),
                )
            }
        };
        let itemsize = view.itemsize as usize;
        let mut buffer = Buffer { view, shape, strides, itemsize, low: 0, high: 0 };
        if !buffer.shape.contains(&0) {
            buffer.high = itemsize as isize;
            for (&size, &stride) in buffer.shape.iter().zip(&buffer.strides) {
                let reach = (size as isize - 1) * stride;
                buffer.low += reach.min(0);
                buffer.high += reach.max(0);
            }
        }
        Ok(buffer)
    }

    /// Whether two elements may share bytes. Dimensions are looked at from the nearest stride to the farthest; each
    /// must step over everything nearer. (Some exotic layouts that do not overlap are refused, too.)
    fn overlaps_itself(&self) -> bool {
        let mut dims: Vec<(usize, usize)> = self
            .strides
            .iter()
            .zip(&self.shape)
            .filter(|(_, &size)| size > 1)
            .map(|(stride, &size)| (stride.unsigned_abs(), size))
            .collect();
        dims.sort_unstable();
        let mut reach = self.itemsize;
        for (stride, size) in dims {
            if stride < reach {
                return true;
            }
            reach += stride * (size - 1);
        }
        false
    }

    pub fn origin(&self) -> Origin<'_> {
        // SAFETY: the exporter keeps every element's bytes valid while the view is exported, which the lifetime ties
        // to this buffer; low and high enclose exactly the elements.
        unsafe { Origin::new(self.view.buf.cast::<u8>(), self.low, self.high) }
    }

    /// The memory to write to; only for buffers made by [`Buffer::writing`].
    pub fn target(&mut self) -> Target<'_> {
        debug_assert_eq!(self.view.readonly, 0);
        // SAFETY: as for `origin`; the view was requested writable, is borrowed uniquely, and no two elements share
        // bytes (checked in `writing`).
        unsafe { Target::new(self.view.buf.cast::<u8>(), self.low, self.high) }
    }

    /// Whether the elements lie in C order without gaps.
    pub fn is_contiguous(&self) -> bool {
        blizzarr_core::region::c_strides(&self.shape, self.itemsize)
            .iter()
            .zip(&self.strides)
            .zip(&self.shape)
            .all(|((expected, found), &size)| size <= 1 || expected == found)
    }

    /// The bytes of a contiguous buffer.
    pub fn bytes(&self) -> PyResult<&[u8]> {
        let length: usize = self.shape.iter().product::<usize>() * self.itemsize;
        if !self.is_contiguous() {
            return Err(PyValueError::new_err("expected a contiguous buffer"));
        }
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: contiguous in C order, so the elements are `length` bytes from `buf`, valid while exported.
        Ok(unsafe { std::slice::from_raw_parts(self.view.buf.cast::<u8>(), length) })
    }
}

/// A copy of `bytes` for Python; a size that comes from a file may be more than there is memory for.
pub fn to_python<'py>(py: Python<'py>, bytes: &[u8]) -> Result<Bound<'py, PyBytes>> {
    let no_memory = || Error::new(Kind::Limit, format!("cannot allocate {} bytes for a value", bytes.len()));
    let length = bytes.len().try_into().map_err(|_| no_memory())?;
    // SAFETY: the GIL is held, and a slice is as long as it says; the result is null, with an exception set, or a new
    // reference to an object of type `bytes`.
    let made = unsafe {
        let made = ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), length);
        Bound::from_owned_ptr_or_err(py, made)
    };
    let made = made.map_err(|_| no_memory())?;
    made.cast_into().map_err(|_| Error::new(Kind::Internal, "bytes are no bytes"))
}

/// Memory for the characters of one text, and then of the next: those below 256, and any.
#[derive(Default)]
pub struct Characters(Vec<u8>, Vec<char>);

/// A text of Python from UTF-8.
#[inline]
pub fn text_of<'py>(py: Python<'py>, text: &[u8], characters: &mut Characters) -> PyResult<Bound<'py, PyString>> {
    // Python decodes ASCII fast. From anything else it makes a text that grows with its widest character and is cut to its
    // length in the end, which takes twice as long as decoding here.
    match text.is_ascii() {
        true => PyString::from_bytes(py, text),
        false => decoded(py, text, characters),
    }
}

fn decoded<'py>(py: Python<'py>, text: &[u8], characters: &mut Characters) -> PyResult<Bound<'py, PyString>> {
    let Characters(narrow, wide) = characters;
    let no_memory = |_| PyMemoryError::new_err("no memory for a text");
    narrow.clear();
    narrow.try_reserve(text.len()).map_err(no_memory)?;
    let made = if decode_narrow(text, narrow) {
        // SAFETY: the GIL is held, and so many bytes are there; no name of a way to treat errors is given, as none happen.
        unsafe {
            ffi::PyUnicode_DecodeLatin1(narrow.as_ptr().cast(), narrow.len() as ffi::Py_ssize_t, std::ptr::null())
        }
    } else {
        // On Windows, its wide characters are of 16 bits.
        let text = match std::str::from_utf8(text) {
            Ok(text) if !cfg!(windows) => text,
            _ => return PyString::from_bytes(py, text),
        };
        wide.clear();
        wide.try_reserve(text.len()).map_err(no_memory)?;
        wide.extend(text.chars());
        // SAFETY: the GIL is held, and so many characters of 32 bits are there, as many as this system's `wchar_t` has.
        unsafe { ffi::PyUnicode_FromWideChar(wide.as_ptr().cast(), wide.len() as ffi::Py_ssize_t) }
    };
    // SAFETY: either function returns null, with an exception set, or a new reference to an object of type `str`.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, made) }?.cast_into()?)
}

/// Puts the characters of UTF-8 into `narrow`, which is empty and has room for as many bytes; `false` if one is above 255.
fn decode_narrow(text: &[u8], narrow: &mut Vec<u8>) -> bool {
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        narrow.push(match byte {
            0..=0x7f => byte,
            0xc2 | 0xc3 => match bytes.next() {
                Some(&next @ 0x80..=0xbf) => byte << 6 | next & 0x3f,
                _ => return false,
            },
            _ => return false,
        });
    }
    true
}

/// The places of a contiguous array of Python objects, NumPy's `object` type.
pub struct Slots<'py> {
    buffer: Buffer,
    count: usize,
    out: Bound<'py, PyAny>,
}

impl<'py> Slots<'py> {
    pub fn of(out: &Bound<'py, PyAny>) -> PyResult<Self> {
        Self::new(out, ffi::PyBUF_WRITABLE)
    }

    /// For `get` only.
    pub fn reading(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        Self::new(array, 0)
    }

    fn new(out: &Bound<'py, PyAny>, flags: std::ffi::c_int) -> PyResult<Self> {
        let buffer = Buffer::new(out, flags | ffi::PyBUF_C_CONTIGUOUS | ffi::PyBUF_FORMAT)?;
        // SAFETY: with PyBUF_FORMAT an exporter names the format, as a string that lives as long as the view.
        let objects = !buffer.view.format.is_null() && unsafe { CStr::from_ptr(buffer.view.format) } == c"O";
        if !objects || buffer.itemsize != size_of::<*mut ffi::PyObject>() {
            return Err(PyValueError::new_err("expected an array of objects"));
        }
        let count = buffer.shape.iter().product();
        Ok(Slots { buffer, count, out: out.clone() })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a place has this object.
    pub fn has(&self, index: usize, object: &Py<PyAny>) -> bool {
        // SAFETY: as in `set`; nothing is done with the object but comparing where it is.
        index < self.count
            && unsafe { *self.buffer.view.buf.cast::<*mut ffi::PyObject>().add(index) } == object.as_ptr()
    }

    /// The object in a place; NumPy means `None` where there is none.
    pub fn get(&self, index: usize) -> PyResult<Bound<'py, PyAny>> {
        if index >= self.count {
            return Err(PyValueError::new_err(format!("expected an array of more than {} objects", self.count)));
        }
        let py = self.out.py();
        // SAFETY: as in `set`; the GIL is held, so that nobody lets go of the object before it is borrowed.
        let found = unsafe {
            let slot = self.buffer.view.buf.cast::<*mut ffi::PyObject>().add(index);
            Bound::from_borrowed_ptr_or_opt(py, *slot)
        };
        Ok(found.unwrap_or_else(|| py.None().into_bound(py)))
    }

    /// Puts an object in a place, instead of what was there.
    #[inline]
    pub fn set(&mut self, index: usize, object: Py<PyAny>) -> PyResult<()> {
        if index >= self.count {
            return Err(PyValueError::new_err(format!("expected an array of more than {} objects", self.count)));
        }
        // SAFETY: the buffer is contiguous and writable and has `count` places, each null or the owner of a reference,
        // as the format says. The place owns the new object before the old one is let go, which may run any code.
        unsafe {
            let slot = self.buffer.view.buf.cast::<*mut ffi::PyObject>().add(index);
            let old = slot.replace(object.into_ptr());
            drop(Bound::from_owned_ptr_or_opt(self.out.py(), old));
        }
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Attached already on every path but a panic's; attaching twice is cheap.
        ending::attach(|_| {
            // SAFETY: the view came from PyObject_GetBuffer and is released once.
            unsafe { ffi::PyBuffer_Release(&mut *self.view) }
        });
    }
}

//! Arrays of NumPy's `StringDType`, whose elements are read and written by NumPy's own functions.
//!
//! Such arrays export no buffer. The functions are part of NumPy's interface for C since 2.0: a capsule has a table of
//! them, in which each has a place of its own.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::transmute;

use blizzarr_core::error::{Error, Kind, Result};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::raise;

/// NumPy's description of a data type.
type Descriptor = *mut ffi::PyObject;
/// What has the memory of elements.
type Allocator = *mut c_void;

/// An element: so many bytes of UTF-8.
#[repr(C)]
struct Unpacked {
    length: usize,
    bytes: *const u8,
}

/// Bytes that a packed element takes in an array.
const PACKED: usize = 2 * size_of::<usize>();
/// The places of the functions in NumPy's table.
const VERSION: usize = 0;
const LOAD: usize = 313;
const PACK: usize = 314;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

type Load = unsafe extern "C" fn(Allocator, *const c_void, *mut Unpacked) -> c_int;
type Pack = unsafe extern "C" fn(Allocator, *mut c_void, *const c_char, usize) -> c_int;
type Acquire = unsafe extern "C" fn(Descriptor) -> Allocator;
type Release = unsafe extern "C" fn(Allocator);

#[derive(Clone, Copy)]
struct Functions {
    load: Load,
    pack: Pack,
    acquire: Acquire,
    release: Release,
}

impl Functions {
    fn find(py: Python<'_>) -> PyResult<Self> {
        // Where NumPy's own headers look.
        let capsule = py.import("numpy._core._multiarray_umath")?.getattr("_ARRAY_API")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        // SAFETY: the capsule has no name, and lives as long as NumPy's module.
        let table = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
        if table.is_null() {
            return Err(PyErr::fetch(py));
        }
        let table = table.cast::<*const c_void>();
        // SAFETY: this place has this function in every version of NumPy.
        let version = unsafe { transmute::<*const c_void, extern "C" fn() -> c_uint>(*table.add(VERSION)) }() >> 24;
        if version != 2 {
            let reason = format!("expected NumPy with version 2 of its interface for C, found version {version}");
            return Err(PyRuntimeError::new_err(reason));
        }
        // SAFETY: in version 2, these places have functions of these signatures since NumPy 2.0, before which there was no
        // `StringDType`.
        unsafe {
            Ok(Functions {
                load: transmute::<*const c_void, Load>(*table.add(LOAD)),
                pack: transmute::<*const c_void, Pack>(*table.add(PACK)),
                acquire: transmute::<*const c_void, Acquire>(*table.add(ACQUIRE)),
                release: transmute::<*const c_void, Release>(*table.add(RELEASE)),
            })
        }
    }
}

/// The elements of a contiguous array of texts.
pub struct Texts<'py> {
    elements: Elements,
    // These keep alive what `elements` points to.
    array: Bound<'py, PyAny>,
    _dtype: Bound<'py, PyAny>,
}

#[derive(Clone, Copy)]
struct Elements {
    functions: Functions,
    descriptor: Descriptor,
    start: *mut u8,
    count: usize,
}

// SAFETY: the memory is used only by `Locked`, which has NumPy's lock of these elements; that is what NumPy's functions
// need, and they need no GIL.
unsafe impl Send for Elements {}

impl<'py> Texts<'py> {
    /// `None` for arrays of another data type.
    pub fn of(array: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let py = array.py();
        let dtype = array.getattr("dtype")?;
        if dtype.getattr("char")?.extract::<char>()? != 'T' {
            return Ok(None);
        }
        let numpy = py.import("numpy")?;
        let is_known = array.is_instance(&numpy.getattr("ndarray")?)?
            && dtype.is_instance(&numpy.getattr("dtypes")?.getattr("StringDType")?)?;
        if !is_known || dtype.getattr("itemsize")?.extract::<usize>()? != PACKED {
            return Err(PyTypeError::new_err("expected an array of NumPy's own StringDType"));
        }
        let interface = array.getattr("__array_interface__")?;
        if !interface.get_item("strides")?.is_none() {
            return Err(PyValueError::new_err("expected a contiguous array"));
        }
        let (start, _): (usize, bool) = interface.get_item("data")?.extract()?;
        let count = array.getattr("size")?.extract()?;
        let elements =
            Elements { functions: Functions::find(py)?, descriptor: dtype.as_ptr(), start: start as *mut u8, count };
        Ok(Some(Texts { elements, array: array.clone(), _dtype: dtype }))
    }

    /// Lends `work` each element, in order.
    pub fn each(&self, mut work: impl FnMut(&[u8]) -> Result<()> + Send) -> PyResult<()> {
        let (py, elements) = (self.array.py(), self.elements);
        let done = py.detach(move || {
            let locked = Locked::new(elements);
            (0..locked.elements.count).try_for_each(|index| work(locked.get(index)?))
        });
        done.map_err(|error| raise(py, error, None))
    }

    /// Replaces each element, in order.
    pub fn fill<'a>(&mut self, mut next: impl FnMut(usize) -> Result<&'a [u8]> + Send) -> PyResult<()> {
        let py = self.array.py();
        if !self.array.getattr("flags")?.getattr("writeable")?.extract::<bool>()? {
            return Err(PyValueError::new_err("expected an array that is writeable"));
        }
        let elements = self.elements;
        let done = py.detach(move || {
            let mut locked = Locked::new(elements);
            (0..locked.elements.count).try_for_each(|index| locked.set(index, next(index)?))
        });
        done.map_err(|error| raise(py, error, None))
    }

    pub fn count(&self) -> usize {
        self.elements.count
    }
}

/// Elements that no other thread changes. It must not wait for the GIL: whoever waits for NumPy's lock may have that.
struct Locked {
    elements: Elements,
    allocator: Allocator,
}

impl Locked {
    fn new(elements: Elements) -> Self {
        // SAFETY: the descriptor is that of a `StringDType`, which the array keeps alive.
        let allocator = unsafe { (elements.functions.acquire)(elements.descriptor) };
        Locked { elements, allocator }
    }

    fn place(&self, index: usize) -> *mut u8 {
        assert!(index < self.elements.count, "an element beyond the end of an array");
        // SAFETY: the array is contiguous and has more elements than that.
        unsafe { self.elements.start.add(index * PACKED) }
    }

    /// Whether an element is empty because nobody has set it since NumPy cleared the memory: NumPy means that by zeros.
    #[inline]
    fn is_clear(&self, index: usize) -> bool {
        // SAFETY: so many bytes are there, and the lock is ours.
        unsafe { self.place(index).cast::<[u8; PACKED]>().read() == [0; PACKED] }
    }

    #[inline]
    fn get(&self, index: usize) -> Result<&[u8]> {
        if self.is_clear(index) {
            return Ok(&[]);
        }
        let mut text = Unpacked { length: 0, bytes: std::ptr::null() };
        // SAFETY: the lock is ours, and a packed element is there.
        match unsafe { (self.elements.functions.load)(self.allocator, self.place(index).cast(), &mut text) } {
            0 if text.length == 0 => Ok(&[]),
            // SAFETY: so many bytes are there until the element is changed, which needs the lock.
            0 => Ok(unsafe { std::slice::from_raw_parts(text.bytes, text.length) }),
            1 => Err(Error::new(Kind::Request, format!("expected a text, found a missing one at position {index}"))),
            _ => Err(Error::new(Kind::Internal, "NumPy cannot read an element of its own array")),
        }
    }

    fn set(&mut self, index: usize, text: &[u8]) -> Result<()> {
        if text.is_empty() && self.is_clear(index) {
            return Ok(());
        }
        // SAFETY: the lock is ours, the array is writeable, and a packed element is there.
        match unsafe {
            (self.elements.functions.pack)(self.allocator, self.place(index).cast(), text.as_ptr().cast(), text.len())
        } {
            0 => Ok(()),
            _ => Err(Error::new(Kind::Limit, format!("cannot allocate {} bytes for a text", text.len()))),
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: acquired by `new`, and released once.
        unsafe { (self.elements.functions.release)(self.allocator) }
    }
}

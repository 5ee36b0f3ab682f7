//! Codecs in C, Rust or any other language: functions in a `PyCapsule`, which the engine calls without Python.
//!
//! `docs/extending.md` has the struct for those who write one. What is in the capsule can be checked as far as its name,
//! its size and missing functions go; beyond that, a capsule is code of the process like any other.

#![allow(unsafe_code)]

use std::ffi::{c_void, CStr};
use std::mem::size_of;

use blizzarr_core::codec::function::{Function, Functions};
use blizzarr_core::codec::BytesToBytes;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;

/// The name of the capsule, with the version of the struct.
const NAME: &CStr = c"blizzarr.codec.v1";

type Most = unsafe extern "C" fn(*const c_void, usize) -> usize;
type Code = unsafe extern "C" fn(*const c_void, *const u8, usize, *mut u8, usize) -> isize;

/// The struct that the capsule points to.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    /// The size of the struct in bytes.
    size: usize,
    /// Given to each function.
    context: *const c_void,
    bound: Option<Most>,
    encode: Option<Code>,
    decode: Option<Code>,
}

struct Capsule {
    context: *const c_void,
    bound: Most,
    encode: Code,
    decode: Code,
    /// Keeps the context and the functions.
    _capsule: Py<PyAny>,
}

// SAFETY: whoever makes a capsule of this name promises that threads may call its functions at once (see the documentation).
unsafe impl Send for Capsule {}
// SAFETY: as above.
unsafe impl Sync for Capsule {}

impl Functions for Capsule {
    fn bound(&self, decoded: usize) -> usize {
        // SAFETY: the function and its context live as long as the capsule, which is kept.
        unsafe { (self.bound)(self.context, decoded) }
    }

    fn encode(&self, source: &[u8], target: &mut [u8]) -> isize {
        // SAFETY: as above; the memory is that of the slices, which the function is told the lengths of.
        unsafe { (self.encode)(self.context, source.as_ptr(), source.len(), target.as_mut_ptr(), target.len()) }
    }

    fn decode(&self, source: &[u8], target: &mut [u8]) -> isize {
        // SAFETY: as above.
        unsafe { (self.decode)(self.context, source.as_ptr(), source.len(), target.as_mut_ptr(), target.len()) }
    }
}

/// The codec of the functions in a capsule.
pub fn of_capsule(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Box<dyn BytesToBytes>> {
    let refused = |found: String| {
        let expected = NAME.to_string_lossy();
        PyValueError::new_err(format!("{name}: expected a capsule with the name {expected:?}, found {found}"))
    };
    // SAFETY: the GIL is held, and the object is alive.
    if unsafe { ffi::PyCapsule_CheckExact(object.as_ptr()) } == 0 {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name}: expected a PyCapsule from capsule(), found {found}")));
    }
    // SAFETY: as above; it is a capsule.
    let found = unsafe { ffi::PyCapsule_GetName(object.as_ptr()) };
    if found.is_null() {
        return Err(refused("one without a name".to_owned()));
    }
    // SAFETY: the name of a capsule ends with a zero, and lives as long as the capsule.
    let found = unsafe { CStr::from_ptr(found) };
    if found != NAME {
        return Err(refused(format!("{:?}", found.to_string_lossy())));
    }
    // SAFETY: it is a capsule of this name.
    let table = unsafe { ffi::PyCapsule_GetPointer(object.as_ptr(), NAME.as_ptr()) }.cast::<Table>();
    if table.is_null() {
        return Err(PyErr::fetch(object.py()));
    }
    // SAFETY: the pointer is not null, and what a capsule of this name points to begins with its size.
    let size = unsafe { table.cast::<usize>().read_unaligned() };
    if size != size_of::<Table>() {
        let expected = size_of::<Table>();
        return Err(PyValueError::new_err(format!("{name}: expected a table of {expected} bytes, found {size}")));
    }
    // SAFETY: as above, and it has all members.
    let table = unsafe { table.read_unaligned() };
    let (Some(bound), Some(encode), Some(decode)) = (table.bound, table.encode, table.decode) else {
        return Err(PyValueError::new_err(format!("{name}: expected the functions bound, encode and decode")));
    };
    let capsule = Capsule { context: table.context, bound, encode, decode, _capsule: object.clone().unbind() };
    Ok(Box::new(Function::new(name, Box::new(capsule))))
}

//! Calls of Python that may never come back.
//!
//! While the interpreter ends, up to version 3.13 Python ends a thread that wants to go on by unwinding its stack from where
//! it asks. Frames of Rust cannot be unwound by others: the process would abort. So such a thread waits for ever, as it does
//! from 3.14 on by itself, and goes with the process. pyo3 does so where a thread comes back to Python; here it is done
//! where a thread is inside of Python that was called by us, or comes when Python is gone. What it holds it keeps: see
//! `blizzarr_core::interrupt::end`.

#![allow(unsafe_code)]

use std::hint::black_box;

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// `PyObject_Call`, with the truth about it: it may unwind.
type Call = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// Calls a method of an object that was written in Python.
pub fn call_method<'py, A>(object: &Bound<'py, PyAny>, name: &str, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
{
    call(&object.getattr(name)?, arguments, None)
}

/// Calls an object that was written in Python.
pub fn call<'py, A>(
    callable: &Bound<'py, PyAny>,
    arguments: A,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    let py = callable.py();
    let arguments = arguments.into_pyobject(py)?;
    let named = named.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: only what is said about unwinding differs, and "C-unwind" promises less. Hidden from the compiler, which knows
    // the function itself as one that never unwinds and would leave out what stops it.
    let function = black_box(unsafe { std::mem::transmute::<*const (), Call>(ffi::PyObject_Call as *const ()) });
    let stay = Stay;
    // SAFETY: the GIL is held; a callable, a tuple and a dictionary or null, all alive.
    let made = unsafe { function(callable.as_ptr(), arguments.as_ptr(), named) };
    std::mem::forget(stay);
    // SAFETY: a new reference, or null and an exception that is set.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }
}

/// Does something with Python from a thread that has let go of it, or was never part of it.
///
/// Once Python has begun to end it has no place for threads that it does not know, or no longer: asked for one, it reads
/// what is not there any more, up to version 3.13. Its own thread goes on until the very end.
pub fn attach<R>(work: impl for<'py> FnOnce(Python<'py>) -> R) -> R {
    // SAFETY: both may be called at any time, by any thread.
    if unsafe { ffi::Py_IsInitialized() == 0 && ffi::PyGILState_GetThisThreadState().is_null() } {
        drop(Stay);
    }
    Python::attach(work)
}

struct Stay;

impl Drop for Stay {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

//! `_native.ResultMemory`: a block of memory for one result, as a buffer that NumPy makes an array of.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use blizzarr_core::results::{Memory, FROM};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors::{entry, raise};

/// Memory with unspecified contents, kept for the next result when this one is gone.
#[pyclass(module = "blizzarr._native", frozen)]
pub struct ResultMemory {
    memory: Memory,
    length: usize,
}

#[pymethods]
impl ResultMemory {
    #[new]
    fn new(py: Python<'_>, length: usize) -> PyResult<Self> {
        entry(py, "make room for a result", None, || {
            let memory = Memory::new(length).map_err(|error| raise(py, error, None))?;
            Ok(ResultMemory { memory, length })
        })
    }

    /// Results smaller than this many bytes are better left to NumPy.
    #[classattr]
    const FROM: usize = FROM;

    // SAFETY (contract of the buffer protocol): the view is filled by Python itself, with a block that stays in place
    // as long as this object, to which the view holds a reference.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("expected a view to fill in"));
        }
        let this = slf.get();
        let start = this.memory.start().as_ptr().cast::<c_void>();
        // SAFETY: the view is not null, the block has at least `length` bytes, and the GIL is held.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, this.length as isize, 0, flags) };
        if filled == 0 {
            Ok(())
        } else {
            Err(PyErr::fetch(slf.py()))
        }
    }
}

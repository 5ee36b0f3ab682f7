//! Buffers that each thread keeps and reuses, so that no chunk costs an allocation.

use std::cell::RefCell;

use crate::codec::room;
use crate::error::{Error, Kind, Result};

/// Buffers larger than this are given back after use: a thread should not hold on to one giant chunk.
const KEEP: usize = 64 << 20;

thread_local! {
    // Used as a stack: nested uses take the next one.
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Lends `work` a buffer with unspecified contents and length.
pub fn with_vec<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut buffer = BUFFERS.with(|buffers| buffers.borrow_mut().pop()).unwrap_or_default();
    let result = work(&mut buffer);
    if buffer.capacity() <= KEEP {
        BUFFERS.with(|buffers| buffers.borrow_mut().push(buffer));
    }
    result
}

/// Lends `work` exactly `length` bytes with unspecified (but initialised) contents.
pub fn with_bytes<R>(length: usize, work: impl FnOnce(&mut [u8]) -> Result<R>) -> Result<R> {
    with_vec(|buffer| {
        if buffer.len() < length && length > KEEP {
            *buffer = room::zeroed(length).ok_or_else(|| out_of_memory(length))?;
        } else if buffer.len() < length {
            buffer.try_reserve_exact(length - buffer.len()).map_err(|_| out_of_memory(length))?;
            // Zeroed once, when a thread's buffer grows; afterwards the old contents serve as "initialised".
            buffer.resize(length, 0);
        }
        work(&mut buffer[..length])
    })
}

pub fn out_of_memory(length: usize) -> Error {
    Error::new(Kind::Limit, format!("cannot allocate {length} bytes for a chunk"))
}

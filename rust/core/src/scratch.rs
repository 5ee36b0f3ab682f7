//! Buffers that each thread keeps and reuses, so that no chunk costs an allocation.

use std::cell::RefCell;

use crate::codec::room;
use crate::error::{Error, Kind, Result};

/// Buffers larger than this are given back after use: a thread should not hold on to one giant chunk. A chunk of 64 MiB and
/// its checksum are kept.
const KEEP: usize = 65 << 20;
/// More than this are not nested, but were used for something else than a call.
const NESTED: usize = 16;

thread_local! {
    // Used as a stack: nested uses take the next one.
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Lends `work` a buffer with unspecified contents and length.
pub fn with_vec<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut buffer = take();
    let result = work(&mut buffer);
    give_back(buffer);
    result
}

/// A buffer of this thread with unspecified contents and length, for something else than a call.
pub fn take() -> Vec<u8> {
    BUFFERS.with(|buffers| buffers.borrow_mut().pop()).unwrap_or_default()
}

/// Keeps a buffer for later uses of this thread.
pub fn give_back(buffer: Vec<u8>) {
    BUFFERS.with_borrow_mut(|buffers| {
        if buffer.capacity() <= KEEP && buffers.len() < NESTED {
            buffers.push(buffer);
        }
    });
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

/// Adds zeros to a buffer, and gives them.
pub fn grow(buffer: &mut Vec<u8>, length: usize) -> Result<&mut [u8]> {
    let before = buffer.len();
    if before == 0 && buffer.capacity() < length && length > KEEP {
        *buffer = room::zeroed(length).ok_or_else(|| out_of_memory(length))?;
    } else {
        reserve(buffer, length)?;
        buffer.resize(before + length, 0);
    }
    Ok(&mut buffer[before..])
}

/// Adds to a list as long as stored numbers want it to be.
pub fn push<T>(list: &mut Vec<T>, item: T) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve(1).map_err(|_| out_of_memory(size_of::<T>().saturating_mul(list.len())))?;
    }
    list.push(item);
    Ok(())
}

/// An empty list with room for `count` items, which stored numbers or a request want.
pub fn list<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| out_of_memory(size_of::<T>().saturating_mul(count)))?;
    Ok(list)
}

/// So many copies of an item.
pub fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let mut items = list(count)?;
    items.resize(count, item);
    Ok(items)
}

/// All items of an iterator that knows how many they are.
pub fn listed<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vector = list(items.len())?;
    vector.extend(items);
    Ok(vector)
}

/// Makes room for `more` items behind those of a list.
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    list.try_reserve(more).map_err(|_| out_of_memory(size_of::<T>().saturating_mul(more)))
}

/// What [`spare`] asks for.
const SPARE: usize = 64 << 10;

/// Makes sure that there is some memory left, for what is too small to be asked for by itself: where nothing is left for
/// such an allocation, Rust ends the process.
pub fn spare() -> Result<()> {
    // Without the black box the compiler would see that nobody uses the memory, and not ask for it.
    std::hint::black_box(list::<u8>(SPARE)?);
    Ok(())
}

pub fn out_of_memory(length: usize) -> Error {
    Error::new(Kind::Limit, format!("cannot allocate {length} bytes"))
}

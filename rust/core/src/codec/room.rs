//! Room for output: allocation that can fail, appending without zeroing first, growing when a size is unknown.

#![allow(unsafe_code)]

use std::alloc::{alloc_zeroed, Layout};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::report;
use crate::error::{Direction, Result};

/// From this size on, memory that is written to only where there are data is worth a fresh allocation.
const LARGE: usize = 64 << 20;

/// Makes room for `more` bytes behind what `dst` holds, or says that there is no memory.
pub fn reserve(codec: &'static str, direction: Direction, dst: &mut Vec<u8>, more: usize) -> Result<()> {
    dst.try_reserve(more).map_err(|_| report::no_memory(codec, direction, more))
}

/// Appends so many zeros, to be overwritten, and returns them.
pub fn appended<'a>(codec: &'static str, dst: &'a mut Vec<u8>, size: usize) -> Result<&'a mut [u8]> {
    let before = dst.len();
    reserve(codec, Direction::Encode, dst, size)?;
    dst.resize(before + size, 0);
    Ok(&mut dst[before..])
}

/// The first `size` bytes of a scratch buffer that only grows: zeroed once, when it grows, never per chunk.
pub fn scratch<'a>(
    codec: &'static str,
    direction: Direction,
    buffer: &'a mut Vec<u8>,
    size: usize,
) -> Result<&'a mut [u8]> {
    if buffer.len() < size {
        reserve(codec, direction, buffer, size - buffer.len())?;
        buffer.resize(size, 0);
    }
    Ok(&mut buffer[..size])
}

/// Appends what `fill` writes into at most `room` bytes of spare capacity; `None` from it means nothing was written.
///
/// # Safety
///
/// When `fill` returns `Some(n)`, it must have initialised the first `n` bytes of the slice it was given.
pub unsafe fn append(
    codec: &'static str,
    dst: &mut Vec<u8>,
    room: usize,
    fill: impl FnOnce(&mut [MaybeUninit<u8>]) -> Option<usize>,
) -> Result<Option<usize>> {
    reserve(codec, Direction::Encode, dst, room)?;
    let before = dst.len();
    let made = fill(&mut dst.spare_capacity_mut()[..room]);
    if let Some(made) = made {
        assert!(made <= room, "{codec} wrote {made} bytes into {room}");
        // SAFETY: `before + made` is within the capacity reserved above, and the caller promises the bytes are initialised.
        unsafe { dst.set_len(before + made) };
    }
    Ok(made)
}

/// So many zeros; `None` when there is no memory. The system provides each page when it is first written to: what a lying
/// header or shape claims costs nothing until there are data for it.
pub fn zeroed(length: usize) -> Option<Vec<u8>> {
    let layout = Layout::array::<u8>(length).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout has a size.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
    // SAFETY: just allocated by the global allocator for exactly `length` bytes, all of them initialised.
    Some(unsafe { Vec::from_raw_parts(start.as_ptr(), length, length) })
}

/// Makes `dst` so many zeros, to be overwritten.
pub fn resize(codec: &'static str, dst: &mut Vec<u8>, size: usize) -> Result<()> {
    dst.clear();
    if size > LARGE && size > dst.capacity() {
        *dst = Vec::new(); // before there is a second one
        *dst = zeroed(size).ok_or_else(|| report::no_memory(codec, Direction::Decode, size))?;
    } else {
        reserve(codec, Direction::Decode, dst, size)?;
        dst.resize(size, 0);
    }
    Ok(())
}

/// Decodes a value of this size, which is refused beyond `limit` before there is memory for it; `decode` fills all of it.
pub fn of_size(
    codec: &'static str,
    size: usize,
    limit: usize,
    dst: &mut Vec<u8>,
    decode: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    dst.clear();
    if size > limit {
        return Err(report::over_limit(codec, limit));
    }
    resize(codec, dst, size)?;
    decode(dst)
}

/// Decodes a value of unknown size: tries `guess` bytes, then twice as many, up to `limit`.
///
/// `attempt` fills the slice from its start and returns how many bytes it made, or `None` when the slice is too small.
/// A guess may come from an untrusted header: a wrong one costs time, never more memory than `limit`.
pub fn grow(
    codec: &'static str,
    limit: usize,
    guess: usize,
    dst: &mut Vec<u8>,
    mut attempt: impl FnMut(&mut [u8]) -> Result<Option<usize>>,
) -> Result<()> {
    dst.clear();
    let mut size = guess.max(1024).min(limit);
    loop {
        resize(codec, dst, size)?;
        if let Some(made) = attempt(dst)? {
            dst.truncate(made);
            return Ok(());
        }
        if size == limit {
            return Err(report::over_limit(codec, limit));
        }
        size = size.saturating_mul(2).min(limit);
    }
}

/// More than any sane encoder makes of `decoded` bytes: room for headers, for several members or frames, for blocks that grew.
pub fn generous(decoded: usize) -> usize {
    decoded.saturating_add(decoded / 4).saturating_add(64 * 1024)
}

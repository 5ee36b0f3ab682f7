//! Storing past the cache.
//!
//! An ordinary store fetches the cache line first, even if all of it is about to be overwritten: scattering into a
//! result that is larger than the caches reads as much memory as it writes. Streaming stores of whole lines do not.
//! They are for large targets only, as what they store is not in the cache for whoever reads it next.

#![allow(unsafe_code)]

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Whether whole lines can be streamed on this processor.
pub const AVAILABLE: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Copies one row, its whole lines past the cache.
///
/// # Safety
/// `length` bytes must be valid at both places and must not overlap. Before another thread reads them, this one must
/// call [`finish`].
#[inline(always)]
pub unsafe fn copy_row(to: *mut u8, from: *const u8, length: usize) {
    let head = to.align_offset(LINE).min(length);
    let lines = (length - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: head, lines and tail are the row, one behind the other; the lines begin at a multiple of LINE.
    unsafe {
        if head > 0 {
            std::ptr::copy_nonoverlapping(from, to, head);
        }
        for line in 0..lines {
            store_line(to.add(head + line * LINE), from.add(head + line * LINE));
        }
        if tail < length {
            std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), length - tail);
        }
    }
}

/// # Safety
/// One line must be valid at both places, `to` aligned to it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn store_line(to: *mut u8, from: *const u8) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    for part in 0..LINE / 16 {
        // SAFETY: SSE2 is part of x86-64; 16 bytes of the line, aligned to 16 on the side that is stored to.
        unsafe { _mm_stream_si128(to.add(part * 16).cast(), _mm_loadu_si128(from.add(part * 16).cast())) };
    }
}

/// # Safety
/// One line must be valid at both places.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
unsafe fn store_line(to: *mut u8, from: *const u8) {
    // SAFETY: as the caller vouches.
    unsafe { std::ptr::copy_nonoverlapping(from, to, LINE) };
}

/// Makes what was streamed visible to other threads in the usual order.
#[inline(always)]
pub fn finish() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64; a fence has no other effect than order.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

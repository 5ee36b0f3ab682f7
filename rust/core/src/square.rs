//! Turning a small square of elements in registers: rows become columns.
//!
//! The work is the same for every element size: interleave row pairs, then pairs of pairs, until each register holds
//! a column. Processors with SSE2 (every x86-64) have the instructions for it; elsewhere the compiler does what it can.

#![allow(unsafe_code)]

/// Elements along the edge of a square of elements of `size` bytes.
pub const fn edge(size: usize) -> usize {
    match size {
        1 | 2 => 8,
        4 => 4,
        8 => 2,
        _ => 1,
    }
}

/// Turns one square of `N` = [`edge`] elements a side: row `j` of the source, dense, `from_row` bytes apart, becomes
/// column `j` of the destination, whose dense rows are `to_row` bytes apart.
///
/// # Safety
/// All rows must be valid, for reading and for writing, and the sides must not overlap.
#[inline(always)]
pub unsafe fn turn<T: Copy>(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
    // SAFETY: as this function's contract, for the element size at hand.
    unsafe {
        match std::mem::size_of::<T>() {
            1 => turn_1(to, from, to_row, from_row),
            2 => turn_2(to, from, to_row, from_row),
            4 => turn_4(to, from, to_row, from_row),
            8 => turn_8(to, from, to_row, from_row),
            _ => to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned()),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use std::arch::x86_64::{
        __m128i, _mm_loadl_epi64, _mm_loadu_si128, _mm_storel_epi64, _mm_storeu_si128, _mm_unpackhi_epi16,
        _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpackhi_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32,
        _mm_unpacklo_epi64, _mm_unpacklo_epi8,
    };

    #[inline(always)]
    unsafe fn row(from: *const u8, row: isize, number: isize) -> __m128i {
        // SAFETY: 16 bytes of a valid row.
        unsafe { _mm_loadu_si128(from.offset(number * row).cast()) }
    }

    #[inline(always)]
    unsafe fn put(to: *mut u8, row: isize, number: isize, value: __m128i) {
        // SAFETY: 16 bytes of a valid row.
        unsafe { _mm_storeu_si128(to.offset(number * row).cast(), value) }
    }

    /// 8 by 8 elements of 1 byte.
    #[inline(always)]
    pub unsafe fn turn_1(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: SSE2 is part of x86-64; rows of 8 bytes are valid by the caller's contract.
        unsafe {
            let half = |number: isize| _mm_loadl_epi64(from.offset(number * from_row).cast());
            let pair = |number: isize| _mm_unpacklo_epi8(half(number), half(number + 4));
            // Rows 0,4 | 1,5 | 2,6 | 3,7 interleaved; then 0,2,4,6 | 1,3,5,7; then all eight.
            let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
            let (even_low, even_high) = (_mm_unpacklo_epi8(a, c), _mm_unpackhi_epi8(a, c));
            let (odd_low, odd_high) = (_mm_unpacklo_epi8(b, d), _mm_unpackhi_epi8(b, d));
            let columns = [
                _mm_unpacklo_epi8(even_low, odd_low),
                _mm_unpackhi_epi8(even_low, odd_low),
                _mm_unpacklo_epi8(even_high, odd_high),
                _mm_unpackhi_epi8(even_high, odd_high),
            ];
            for (number, two) in columns.into_iter().enumerate() {
                let first = 2 * number as isize;
                _mm_storel_epi64(to.offset(first * to_row).cast(), two);
                _mm_storel_epi64(to.offset((first + 1) * to_row).cast(), _mm_unpackhi_epi64(two, two));
            }
        }
    }

    /// 8 by 8 elements of 2 bytes.
    #[inline(always)]
    pub unsafe fn turn_2(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: SSE2 is part of x86-64; rows of 16 bytes are valid by the caller's contract.
        unsafe {
            let pair = |number: isize| {
                let (a, b) = (row(from, from_row, number), row(from, from_row, number + 1));
                (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b))
            };
            let ((a0, a1), (b0, b1), (c0, c1), (d0, d1)) = (pair(0), pair(2), pair(4), pair(6));
            // Four rows of two columns each, low half of the columns first.
            let quads = |a, b, c, d| {
                (
                    (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d)),
                    (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d)),
                )
            };
            let (q0, q1) = quads(a0, b0, c0, d0);
            let (q2, q3) = quads(a1, b1, c1, d1);
            for (number, (upper, lower)) in [q0, q1, q2, q3].into_iter().enumerate() {
                let first = 2 * number as isize;
                put(to, to_row, first, _mm_unpacklo_epi64(upper, lower));
                put(to, to_row, first + 1, _mm_unpackhi_epi64(upper, lower));
            }
        }
    }

    /// 4 by 4 elements of 4 bytes.
    #[inline(always)]
    pub unsafe fn turn_4(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: SSE2 is part of x86-64; rows of 16 bytes are valid by the caller's contract.
        unsafe {
            let pair = |number: isize| {
                let (a, b) = (row(from, from_row, number), row(from, from_row, number + 1));
                (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b))
            };
            let ((a0, a1), (b0, b1)) = (pair(0), pair(2));
            put(to, to_row, 0, _mm_unpacklo_epi64(a0, b0));
            put(to, to_row, 1, _mm_unpackhi_epi64(a0, b0));
            put(to, to_row, 2, _mm_unpacklo_epi64(a1, b1));
            put(to, to_row, 3, _mm_unpackhi_epi64(a1, b1));
        }
    }

    /// 2 by 2 elements of 8 bytes.
    #[inline(always)]
    pub unsafe fn turn_8(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: SSE2 is part of x86-64; rows of 16 bytes are valid by the caller's contract.
        unsafe {
            let (a, b) = (row(from, from_row, 0), row(from, from_row, 1));
            put(to, to_row, 0, _mm_unpacklo_epi64(a, b));
            put(to, to_row, 1, _mm_unpackhi_epi64(a, b));
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod vector {
    #[inline(always)]
    unsafe fn turn<T: Copy, const N: usize>(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: N rows of N elements are valid by the caller's contract.
        unsafe {
            let rows: [[T; N]; N] =
                std::array::from_fn(|j| from.offset(j as isize * from_row).cast::<[T; N]>().read_unaligned());
            for k in 0..N {
                let column: [T; N] = std::array::from_fn(|j| rows[j][k]);
                to.offset(k as isize * to_row).cast::<[T; N]>().write_unaligned(column);
            }
        }
    }

    pub unsafe fn turn_1(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: as the caller vouches.
        unsafe { turn::<u8, 8>(to, from, to_row, from_row) }
    }

    pub unsafe fn turn_2(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: as the caller vouches.
        unsafe { turn::<u16, 8>(to, from, to_row, from_row) }
    }

    pub unsafe fn turn_4(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: as the caller vouches.
        unsafe { turn::<u32, 4>(to, from, to_row, from_row) }
    }

    pub unsafe fn turn_8(to: *mut u8, from: *const u8, to_row: isize, from_row: isize) {
        // SAFETY: as the caller vouches.
        unsafe { turn::<u64, 2>(to, from, to_row, from_row) }
    }
}

use vector::{turn_1, turn_2, turn_4, turn_8};

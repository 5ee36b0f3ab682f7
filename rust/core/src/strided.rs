//! Copying boxes of elements between layouts. Every offset is checked by the caller ([`crate::memory`]).
//!
//! A copy is described by its dimensions, each with a count and the distance in bytes between neighbours on both
//! sides. They are brought into normal form first: single ones dropped, ordered from far to near on the destination
//! side, neighbours that continue each other merged. Then the innermost loop is one of three: whole rows by `memcpy`,
//! a tiled transposition when the sides disagree about what is near, or element by element.

#![allow(unsafe_code)]

use crate::square;
use crate::stream::{self, LINE};

/// One dimension of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    pub count: usize,
    /// Distance in bytes between neighbours in the destination, and in the source.
    pub to: isize,
    pub from: isize,
}

/// Brings dimensions into normal form; `None` when there is nothing to copy.
pub fn normalise(dims: &mut Vec<Dim>) -> Option<()> {
    if dims.iter().any(|dim| dim.count == 0) {
        return None;
    }
    dims.retain(|dim| dim.count > 1);
    dims.sort_by_key(|dim| std::cmp::Reverse((dim.to.unsigned_abs(), dim.from.unsigned_abs())));
    let mut merged = 0;
    for next in 1..dims.len() {
        let (outer, inner) = (dims[merged], dims[next]);
        let count = inner.count as isize;
        if outer.to == inner.to * count && outer.from == inner.from * count {
            dims[merged] = Dim { count: outer.count * inner.count, ..inner };
        } else {
            merged += 1;
            dims[merged] = inner;
        }
    }
    dims.truncate(merged + 1);
    Some(())
}

/// Copies the elements that `dims` (in normal form) describe; with `past_cache`, for large targets, whole cache lines
/// are not kept in the cache: call [`stream::finish`] when all copies of an operation are done.
///
/// # Safety
/// For every combination of positions `0..count`, `to` plus the sum of `position * dim.to` must be valid for writing
/// `itemsize` bytes, and `from` likewise for reading; the two sides must not overlap.
pub unsafe fn copy(to: *mut u8, from: *const u8, dims: &[Dim], itemsize: usize, past_cache: bool) {
    // SAFETY: each arm only fixes the element type; the contract is this function's own.
    unsafe {
        match itemsize {
            1 => copy_as::<[u8; 1]>(to, from, dims, past_cache),
            2 => copy_as::<[u8; 2]>(to, from, dims, past_cache),
            4 => copy_as::<[u8; 4]>(to, from, dims, past_cache),
            8 => copy_as::<[u8; 8]>(to, from, dims, past_cache),
            16 => copy_as::<[u8; 16]>(to, from, dims, past_cache),
            _ => {
                // Any other element is a little row of bytes.
                let mut bytes = dims.to_vec();
                bytes.push(Dim { count: itemsize, to: 1, from: 1 });
                outer(to, from, &bytes, &|to, from, dims: &[Dim]| rows(to, from, dims, 1, false));
            }
        }
    }
}

/// Runs `inner` on the last one or two dimensions for every combination of the others.
///
/// # Safety
/// As [`copy`]; `inner` must keep to the offsets it is given.
unsafe fn outer(to: *mut u8, from: *const u8, dims: &[Dim], inner: &dyn Fn(*mut u8, *const u8, &[Dim])) {
    if dims.len() <= 2 {
        return inner(to, from, dims);
    }
    let (first, rest) = (dims[0], &dims[1..]);
    for position in 0..first.count as isize {
        // SAFETY: position is inside this dimension, so both sides stay within what the caller vouched for.
        unsafe { outer(to.offset(position * first.to), from.offset(position * first.from), rest, inner) };
    }
}

/// # Safety
/// As [`copy`], with `size_of::<T>()` bytes an element.
unsafe fn copy_as<T: Copy>(to: *mut u8, from: *const u8, dims: &[Dim], past_cache: bool) {
    let size = std::mem::size_of::<T>() as isize;
    let Some(&near) = dims.last() else {
        // SAFETY: no dimension left means exactly one element.
        return unsafe { to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned()) };
    };
    if near.to == size && near.from == size {
        // SAFETY: as this function's contract.
        return unsafe { outer(to, from, dims, &|to, from, dims| rows(to, from, dims, size as usize, past_cache)) };
    }
    // The source's nearest dimension; when it is another one, walk both in tiles.
    let nearest = (0..dims.len()).filter(|&dim| dims[dim].from != 0).min_by_key(|&dim| dims[dim].from.unsigned_abs());
    if let Some(nearest) = nearest.filter(|&dim| dim + 1 < dims.len() && dims[dim].from.abs() < near.from.abs()) {
        let mut tiled = dims.to_vec();
        let across = tiled.remove(nearest);
        tiled.insert(tiled.len() - 1, across);
        // SAFETY: the same dimensions in another order; both sides are walked completely either way.
        return unsafe { outer(to, from, &tiled, &|to, from, dims| tiles::<T>(to, from, dims, past_cache)) };
    }
    // SAFETY: as this function's contract.
    unsafe { outer(to, from, dims, &|to, from, dims| elements::<T>(to, from, dims)) }
}

/// Rows that are contiguous on both sides. The last dimension is the row.
fn rows(to: *mut u8, from: *const u8, dims: &[Dim], size: usize, past_cache: bool) {
    let row = dims[dims.len() - 1].count * size;
    let across = if dims.len() == 2 { dims[0] } else { Dim { count: 1, to: 0, from: 0 } };
    if past_cache && row >= LINE {
        for position in 0..across.count as isize {
            // SAFETY: only called through `copy`, whose caller vouches for every element of every row.
            unsafe { stream::copy_row(to.offset(position * across.to), from.offset(position * across.from), row) };
        }
        return;
    }
    // Short rows of a fixed length are a few vector moves; a call of memcpy would cost more than the copy.
    match row {
        16 => short_rows::<16>(to, from, across),
        32 => short_rows::<32>(to, from, across),
        64 => short_rows::<64>(to, from, across),
        128 => short_rows::<128>(to, from, across),
        _ => {
            for position in 0..across.count as isize {
                // SAFETY: only called through `copy`, whose caller vouches for every element of every row.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        from.offset(position * across.from),
                        to.offset(position * across.to),
                        row,
                    );
                }
            }
        }
    }
}

fn short_rows<const ROW: usize>(to: *mut u8, from: *const u8, across: Dim) {
    for position in 0..across.count as isize {
        // SAFETY: as in `rows`; unaligned moves of ROW bytes.
        unsafe {
            let row = from.offset(position * across.from).cast::<[u8; ROW]>().read_unaligned();
            to.offset(position * across.to).cast::<[u8; ROW]>().write_unaligned(row);
        }
    }
}

fn elements<T: Copy>(to: *mut u8, from: *const u8, dims: &[Dim]) {
    let near = dims[dims.len() - 1];
    let across = if dims.len() == 2 { dims[0] } else { Dim { count: 1, to: 0, from: 0 } };
    for outer in 0..across.count as isize {
        // SAFETY: only called through `copy`, whose caller vouches for every element.
        unsafe { line::<T>(to.offset(outer * across.to), from.offset(outer * across.from), near) };
    }
}

/// One line of elements.
///
/// # Safety
/// As [`copy`] for the single dimension `dim`.
unsafe fn line<T: Copy>(to: *mut u8, from: *const u8, dim: Dim) {
    let size = std::mem::size_of::<T>() as isize;
    // SAFETY: positions stay inside the dimension. The branches only tell the compiler which side is dense.
    unsafe {
        if dim.from == 0 {
            let value = from.cast::<T>().read_unaligned();
            if dim.to == size {
                for position in 0..dim.count {
                    to.cast::<T>().add(position).write_unaligned(value);
                }
            } else {
                for position in 0..dim.count as isize {
                    to.offset(position * dim.to).cast::<T>().write_unaligned(value);
                }
            }
        } else if dim.to == size {
            for position in 0..dim.count as isize {
                let value = from.offset(position * dim.from).cast::<T>().read_unaligned();
                to.cast::<T>().offset(position).write_unaligned(value);
            }
        } else {
            for position in 0..dim.count as isize {
                let value = from.offset(position * dim.from).cast::<T>().read_unaligned();
                to.offset(position * dim.to).cast::<T>().write_unaligned(value);
            }
        }
    }
}

/// A transposition of two dimensions: `dims[0]` is near in the source, `dims[1]` near in the destination.
///
/// It goes tile by tile. A tile is one cache line wide on both sides and is turned into a buffer of its own first, so
/// that each line is read and written as a whole, once. (Element by element, rows that are a power of two apart would
/// push each other out of the cache between two uses of a line.)
fn tiles<T: Copy>(to: *mut u8, from: *const u8, dims: &[Dim], past_cache: bool) {
    let size = std::mem::size_of::<T>();
    let (source_near, target_near) = (dims[0], dims[1]);
    if source_near.from != size as isize || target_near.to != size as isize {
        for k in 0..source_near.count as isize {
            // SAFETY: k lies inside its dimension; only called through `copy`.
            unsafe { line::<T>(to.offset(k * source_near.to), from.offset(k * source_near.from), target_near) };
        }
        return;
    }
    let width = LINE / size;
    for i in (0..source_near.count).step_by(width) {
        let i_count = width.min(source_near.count - i);
        for j in (0..target_near.count).step_by(width) {
            let j_count = width.min(target_near.count - j);
            let (i, j) = (i as isize, j as isize);
            // SAFETY: the tile lies inside both dimensions, whose rows are dense (checked above); only called through
            // `copy`.
            unsafe {
                let to = to.offset(i * source_near.to + j * size as isize);
                let from = from.offset(i * size as isize + j * target_near.from);
                let rows = [source_near.to, target_near.from];
                tile::<T>(to, from, rows, [i_count, j_count], past_cache);
            }
        }
    }
}

/// Turns one tile: `j_count` rows of `i_count` elements, `from_row` bytes apart, become `i_count` rows of `j_count`.
///
/// # Safety
/// All rows on both sides must be valid and must not overlap; neither count may exceed `LINE / size_of::<T>()`.
unsafe fn tile<T: Copy>(
    to: *mut u8,
    from: *const u8,
    [to_row, from_row]: [isize; 2],
    [i_count, j_count]: [usize; 2],
    past_cache: bool,
) {
    #[repr(align(64))]
    struct Turned(std::mem::MaybeUninit<[u8; LINE * LINE]>);
    let size = std::mem::size_of::<T>();
    let mut buffer = Turned(std::mem::MaybeUninit::uninit());
    let turned = buffer.0.as_mut_ptr().cast::<u8>();
    let edge = square::edge(size);
    let (i_whole, j_whole) = (i_count / edge * edge, j_count / edge * edge);
    // SAFETY: row i of the buffer begins at i * LINE; with at most LINE / size rows of LINE bytes each, everything
    // lies inside its LINE * LINE bytes (and exactly the elements i < i_count, j < j_count are written before they are
    // read). Source and destination rows are as the caller vouches.
    unsafe {
        for j in (0..j_whole).step_by(edge) {
            for i in (0..i_whole).step_by(edge) {
                let from = from.offset(j as isize * from_row).add(i * size);
                square::turn::<T>(turned.add(i * LINE + j * size), from, LINE as isize, from_row);
            }
        }
        for j in 0..j_count {
            for i in if j < j_whole { i_whole } else { 0 }..i_count {
                let element = from.offset(j as isize * from_row).add(i * size).cast::<T>().read_unaligned();
                turned.add(i * LINE + j * size).cast::<T>().write_unaligned(element);
            }
        }
        for i in 0..i_count {
            let to = to.offset(i as isize * to_row);
            if past_cache {
                stream::copy_row(to, turned.add(i * LINE), j_count * size);
            } else if j_count * size == LINE {
                to.cast::<[u8; LINE]>().write_unaligned(turned.add(i * LINE).cast::<[u8; LINE]>().read());
            } else {
                std::ptr::copy_nonoverlapping(turned.add(i * LINE), to, j_count * size);
            }
        }
    }
}

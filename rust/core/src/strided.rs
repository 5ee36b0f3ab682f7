//! Copying boxes of elements between layouts. Every offset is checked by the caller ([`crate::memory`]).
//!
//! A copy is described by its dimensions, each with a count and the distance in bytes between neighbours on both
//! sides. They are brought into normal form first: single ones dropped, ordered from far to near on the destination
//! side, neighbours that continue each other merged. Then the innermost loop is one of three: whole rows by `memcpy`,
//! a tiled transposition when the sides disagree about what is near, or element by element.

/// One dimension of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    pub count: usize,
    /// Distance in bytes between neighbours in the destination, and in the source.
    pub to: isize,
    pub from: isize,
}

/// Elements along one edge of a tile of a transposition: small enough that a tile of 8-byte elements, strided on
/// one side, stays in the first-level cache.
const TILE: usize = 32;

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

/// Copies the elements that `dims` (in normal form) describe.
///
/// # Safety
/// For every combination of positions `0..count`, `to` plus the sum of `position * dim.to` must be valid for writing
/// `itemsize` bytes, and `from` likewise for reading; the two sides must not overlap.
pub unsafe fn copy(to: *mut u8, from: *const u8, dims: &[Dim], itemsize: usize) {
    // SAFETY: each arm only fixes the element type; the contract is this function's own.
    unsafe {
        match itemsize {
            1 => copy_as::<[u8; 1]>(to, from, dims),
            2 => copy_as::<[u8; 2]>(to, from, dims),
            4 => copy_as::<[u8; 4]>(to, from, dims),
            8 => copy_as::<[u8; 8]>(to, from, dims),
            16 => copy_as::<[u8; 16]>(to, from, dims),
            _ => {
                // Any other element is a little row of bytes.
                let mut bytes = dims.to_vec();
                bytes.push(Dim { count: itemsize, to: 1, from: 1 });
                outer(to, from, &bytes, &|to, from, dims: &[Dim]| rows(to, from, dims, 1));
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
unsafe fn copy_as<T: Copy>(to: *mut u8, from: *const u8, dims: &[Dim]) {
    let size = std::mem::size_of::<T>() as isize;
    let Some(&near) = dims.last() else {
        // SAFETY: no dimension left means exactly one element.
        return unsafe { to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned()) };
    };
    if near.to == size && near.from == size {
        // SAFETY: as this function's contract.
        return unsafe { outer(to, from, dims, &|to, from, dims| rows(to, from, dims, size as usize)) };
    }
    // The source's nearest dimension; when it is another one, walk both in tiles.
    let nearest = (0..dims.len()).filter(|&dim| dims[dim].from != 0).min_by_key(|&dim| dims[dim].from.unsigned_abs());
    if let Some(nearest) = nearest.filter(|&dim| dim + 1 < dims.len() && dims[dim].from.abs() < near.from.abs()) {
        let mut tiled = dims.to_vec();
        let across = tiled.remove(nearest);
        tiled.insert(tiled.len() - 1, across);
        // SAFETY: the same dimensions in another order; both sides are walked completely either way.
        return unsafe { outer(to, from, &tiled, &|to, from, dims| tiles::<T>(to, from, dims)) };
    }
    // SAFETY: as this function's contract.
    unsafe { outer(to, from, dims, &|to, from, dims| elements::<T>(to, from, dims)) }
}

/// Rows that are contiguous on both sides. The last dimension is the row.
fn rows(to: *mut u8, from: *const u8, dims: &[Dim], size: usize) {
    let row = dims[dims.len() - 1].count * size;
    let (count, step) = match dims {
        [across, _] => (across.count, *across),
        _ => (1, Dim { count: 1, to: 0, from: 0 }),
    };
    for position in 0..count as isize {
        // SAFETY: only called through `copy`, whose caller vouches for every element of every row.
        unsafe { std::ptr::copy_nonoverlapping(from.offset(position * step.from), to.offset(position * step.to), row) };
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
fn tiles<T: Copy>(to: *mut u8, from: *const u8, dims: &[Dim]) {
    let (source_near, target_near) = (dims[0], dims[1]);
    for i in (0..source_near.count).step_by(TILE) {
        let i_count = TILE.min(source_near.count - i);
        for j in (0..target_near.count).step_by(TILE) {
            let j_count = TILE.min(target_near.count - j);
            for k in i..i + i_count {
                let (k, j) = (k as isize, j as isize);
                // SAFETY: k and j lie inside their dimensions; only called through `copy`.
                unsafe {
                    let to = to.offset(k * source_near.to + j * target_near.to);
                    let from = from.offset(k * source_near.from + j * target_near.from);
                    line::<T>(to, from, Dim { count: j_count, ..target_near });
                }
            }
        }
    }
}

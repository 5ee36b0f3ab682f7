//! The caller's memory, lent for one operation: where reads scatter to and writes gather from.
//!
//! [`Target`] and [`Origin`] know which bytes they may touch. Every transfer computes the lowest and highest byte it
//! will touch, on both sides, and refuses before it touches any; so a mistake in the plan is an error, never a stray
//! write. What remains to be proven at the border (see the binding) is that the lent range is valid, and that no two
//! elements of a target share bytes.

#![allow(unsafe_code)]

use std::marker::PhantomData;

use crate::error::{Error, Kind, Result};
use crate::region::{Axis, Points, Region};
use crate::scratch;
use crate::stream;
use crate::strided::{copy, normalise, Dim};

/// Memory to read from, as a range of byte offsets around a base address.
pub struct Origin<'a> {
    base: *const u8,
    low: isize,
    high: isize,
    lent: PhantomData<&'a [u8]>,
}

/// Memory to write to. Many threads may scatter into it at once, as long as their regions share no element:
/// the cells of one [`crate::split::Split`] never do, because each wanted element belongs to one cell.
pub struct Target<'a> {
    base: *mut u8,
    low: isize,
    high: isize,
    /// Larger than the caches, so that storing should go past them.
    past_cache: bool,
    lent: PhantomData<&'a mut [u8]>,
}

// SAFETY: an origin is only read; the lifetime keeps the memory lent.
unsafe impl Send for Origin<'_> {}
// SAFETY: as above.
unsafe impl Sync for Origin<'_> {}
// SAFETY: threads write through a target only to regions that share no element (see its documentation).
unsafe impl Send for Target<'_> {}
// SAFETY: as above.
unsafe impl Sync for Target<'_> {}

/// A target of this many bytes will not be found in a cache by who reads it next.
const PAST_CACHE_FROM: isize = 8 << 20;

/// Which way elements go between memory and a cell.
#[derive(Clone, Copy)]
enum Way {
    ToMemory { past_cache: bool },
    ToCell,
}

impl<'a> Origin<'a> {
    /// # Safety
    /// The bytes from `base + low` to `base + high` must stay valid for reading for `'a`.
    pub unsafe fn new(base: *const u8, low: isize, high: isize) -> Self {
        Origin { base, low, high, lent: PhantomData }
    }

    pub fn of(bytes: &'a [u8]) -> Self {
        // SAFETY: a slice is valid for its own length.
        unsafe { Origin::new(bytes.as_ptr(), 0, bytes.len() as isize) }
    }

    /// Copies the region's elements from memory into the cell, whose elements lie `strides` bytes apart.
    pub fn gather(&self, region: &Region, cell: &mut [u8], strides: &[isize], itemsize: usize) -> Result<()> {
        check_memory(region, itemsize, self.low, self.high)?;
        let shift = check_cell(region, strides, itemsize, cell.len())?;
        let Some(shift) = shift else { return Ok(()) };
        // SAFETY: both checks passed: every element lies in the lent range and in the cell, and the cell is a
        // unique borrow, so the sides cannot overlap.
        unsafe { transfer(self.base.cast_mut(), cell.as_mut_ptr(), region, strides, shift, itemsize, Way::ToCell) };
        Ok(())
    }

    /// Appends a cell of this shape, all of which the region covers, to `out`; `strides` are those of its elements.
    pub fn gather_onto<'o>(
        &self,
        out: &'o mut Vec<u8>,
        region: &Region,
        shape: &[usize],
        strides: &[isize],
        itemsize: usize,
    ) -> Result<&'o mut [u8]> {
        let length = dense_length(shape, strides, itemsize).filter(|_| region.covers(shape)).ok_or_else(misplaced)?;
        check_memory(region, itemsize, self.low, self.high)?;
        let shift = check_cell(region, strides, itemsize, length)?.ok_or_else(misplaced)?;
        scratch::reserve(out, length)?;
        let before = out.len();
        // SAFETY: the checks passed: every element lies in the lent range and in the `length` bytes behind those of
        // `out`, which are reserved. The region has as many positions along each axis as the cell, one step apart, and
        // none lies outside, so that each position of the cell is one of them; elements side by side leave no byte out.
        // So all bytes are written.
        unsafe {
            let cell = out.as_mut_ptr().add(before);
            transfer(self.base.cast_mut(), cell, region, strides, shift, itemsize, Way::ToCell);
            out.set_len(before + length);
        }
        Ok(&mut out[before..])
    }

    /// The bytes of a region that lies in memory exactly as in its cell (see [`Region::is_verbatim`]).
    pub fn verbatim(&self, region: &Region, shape: &[usize], strides: &[isize], length: usize) -> Option<&'a [u8]> {
        let end = region.base.checked_add(isize::try_from(length).ok()?)?;
        if !region.is_verbatim(shape, strides) || region.base < self.low || end > self.high {
            return None;
        }
        // SAFETY: checked to lie in the lent range; an origin is only read.
        Some(unsafe { std::slice::from_raw_parts(self.base.offset(region.base), length) })
    }
}

impl<'a> Target<'a> {
    /// # Safety
    /// The bytes from `base + low` to `base + high` must stay valid for writing for `'a`, be initialised or plain
    /// bytes, and be touched by nobody else meanwhile.
    pub unsafe fn new(base: *mut u8, low: isize, high: isize) -> Self {
        let past_cache = stream::AVAILABLE && high.saturating_sub(low) >= PAST_CACHE_FROM;
        Target { base, low, high, past_cache, lent: PhantomData }
    }

    pub fn of(bytes: &'a mut [u8]) -> Self {
        // SAFETY: a unique slice is valid for its own length.
        unsafe { Target::new(bytes.as_mut_ptr(), 0, bytes.len() as isize) }
    }

    /// The same target, written past the cache though it is small: for tests.
    pub fn streamed(self) -> Self {
        Target { past_cache: true, ..self }
    }

    /// Copies the region's elements from the cell, whose elements lie `strides` bytes apart, to memory. The cell's
    /// bytes may begin `skip` bytes into the cell, when only a part of it was decoded.
    pub fn scatter(&self, region: &Region, cell: &[u8], skip: usize, strides: &[isize], itemsize: usize) -> Result<()> {
        check_memory(region, itemsize, self.low, self.high)?;
        let Some(shift) = check_cell(region, strides, itemsize, skip + cell.len())? else { return Ok(()) };
        let shift = shift - skip as isize;
        if region.span(strides, itemsize).is_some_and(|span| span.start < skip) {
            return Err(misplaced());
        }
        let way = Way::ToMemory { past_cache: self.past_cache };
        // SAFETY: both checks passed; `cell` is a shared borrow of other memory than the lent target.
        unsafe { transfer(self.base, cell.as_ptr().cast_mut(), region, strides, shift, itemsize, way) };
        if self.past_cache {
            stream::finish();
        }
        Ok(())
    }

    /// Sets every element of the region to `value`: an element of `itemsize` bytes, or those along the last axis.
    pub fn fill(&self, region: &Region, value: &[u8], itemsize: usize) -> Result<()> {
        let mut strides = vec![0isize; region.axes.len()];
        if value.len() > itemsize {
            if let Some(last) = strides.last_mut() {
                *last = itemsize as isize;
            }
        }
        self.scatter(region, value, 0, &strides, itemsize)
    }

    /// Hands out the bytes of a region that lies in memory exactly as in its cell, to decode straight into them;
    /// `None` when it does not (see [`Region::is_verbatim`]).
    #[allow(clippy::mut_from_ref)] // Regions of one operation share no element: see the type's documentation.
    pub fn verbatim(&self, region: &Region, shape: &[usize], strides: &[isize], length: usize) -> Option<&'a mut [u8]> {
        let end = region.base.checked_add(isize::try_from(length).ok()?)?;
        if !region.is_verbatim(shape, strides) || region.base < self.low || end > self.high {
            return None;
        }
        // SAFETY: checked to lie in the lent range; no other region of this operation covers these elements.
        Some(unsafe { std::slice::from_raw_parts_mut(self.base.offset(region.base), length) })
    }
}

fn misplaced() -> Error {
    Error::new(Kind::Internal, "the plan of this operation left the memory it was lent")
}

/// Lowest and highest memory offset that the region touches.
fn check_memory(region: &Region, itemsize: usize, low: isize, high: isize) -> Result<()> {
    let (mut first, mut last) = (region.base, region.base);
    for axis in &region.axes {
        if let Axis::Strided { count, stride, .. } = *axis {
            if count == 0 {
                return Ok(());
            }
            let reach = isize::try_from(count - 1).ok().and_then(|further| further.checked_mul(stride));
            let reach = reach.ok_or_else(misplaced)?;
            first = first.checked_add(reach.min(0)).ok_or_else(misplaced)?;
            last = last.checked_add(reach.max(0)).ok_or_else(misplaced)?;
        }
    }
    for points in &region.groups {
        let offsets = &points.offsets[points.range.clone()];
        let (Some(near), Some(far)) = (offsets.iter().min(), offsets.iter().max()) else { return Ok(()) };
        first = first.checked_add(*near).ok_or_else(misplaced)?;
        last = last.checked_add(*far).ok_or_else(misplaced)?;
    }
    if first < low || last.checked_add(itemsize as isize).is_none_or(|end| end > high) {
        return Err(misplaced());
    }
    Ok(())
}

/// Offset in the cell of the region's first element (listed axes counted from zero); `None` when nothing is wanted.
fn check_cell(region: &Region, strides: &[isize], itemsize: usize, length: usize) -> Result<Option<isize>> {
    let Some(span) = region.span(strides, itemsize) else { return Ok(None) };
    if span.end > length || span.start > span.end {
        return Err(misplaced());
    }
    let shift = region.axes.iter().zip(strides).map(|(axis, stride)| match *axis {
        Axis::Strided { start, .. } => start as isize * stride,
        Axis::Listed { .. } => 0,
    });
    Ok(Some(shift.sum()))
}

/// The length in bytes of a cell whose elements lie side by side, in whatever order of its axes; `None` if they do not.
fn dense_length(shape: &[usize], strides: &[isize], itemsize: usize) -> Option<usize> {
    let longer = || shape.iter().zip(strides).filter(|(&extent, _)| extent != 1);
    let mut length = itemsize;
    for _ in longer() {
        // Each extent makes the length greater, so that none is found twice.
        let (extent, _) = longer().find(|(&extent, &stride)| extent > 1 && usize::try_from(stride) == Ok(length))?;
        length = length.checked_mul(*extent)?;
    }
    Some(length)
}

/// # Safety
/// Every element of the region must lie in the memory around `memory` and in the cell at `cell`, which must not
/// overlap; the side written to must be valid for writing.
unsafe fn transfer(
    memory: *mut u8,
    cell: *mut u8,
    region: &Region,
    strides: &[isize],
    shift: isize,
    itemsize: usize,
    way: Way,
) {
    let mut dims = Vec::with_capacity(region.axes.len());
    for (axis, &cell_stride) in region.axes.iter().zip(strides) {
        if let Axis::Strided { step, count, stride, .. } = *axis {
            // The step of a single position may be anything: it is never taken, and its dimension is dropped.
            let cell_stride = (step as isize).wrapping_mul(cell_stride);
            dims.push(match way {
                Way::ToMemory { .. } => Dim { count, to: stride, from: cell_stride },
                Way::ToCell => Dim { count, to: cell_stride, from: stride },
            });
        }
    }
    if normalise(&mut dims).is_none() {
        return;
    }
    let move_box = |memory_offset: isize, cell_offset: isize| {
        // SAFETY: the caller vouches for every element of the region; the offsets below add up to exactly those.
        unsafe {
            let (memory, cell) = (memory.offset(memory_offset), cell.offset(cell_offset));
            match way {
                Way::ToMemory { past_cache } => copy(memory, cell, &dims, itemsize, past_cache),
                Way::ToCell => copy(cell, memory, &dims, itemsize, false),
            }
        }
    };
    if region.groups.is_empty() {
        return move_box(region.base, shift);
    }
    // Cell strides of each group's members, in their order.
    let member_strides: Vec<Vec<isize>> =
        (0..region.groups.len()).map(|group| members(region, strides, group)).collect();
    if let (Some((last, others)), [], 1 | 2 | 4 | 8 | 16) = (region.groups.split_last(), dims.as_slice(), itemsize) {
        let last_strides = &member_strides[others.len()];
        let move_points = |memory_offset: isize, cell_offset: isize| {
            // SAFETY: as this function's contract: the offsets of all groups together are an element on both sides.
            unsafe {
                let (memory, cell) = (memory.offset(memory_offset), cell.offset(cell_offset));
                scattered(last, last_strides, memory, cell, itemsize, way);
            }
        };
        return each_point(others, &member_strides, region.base, shift, &move_points);
    }
    each_point(&region.groups, &member_strides, region.base, shift, &move_box);
}

fn members(region: &Region, strides: &[isize], group: usize) -> Vec<isize> {
    let mut members = vec![0isize; region.groups[group].coords.len()];
    for (axis, &stride) in region.axes.iter().zip(strides) {
        if let Axis::Listed { group: of, member } = *axis {
            if of == group {
                members[member] = stride;
            }
        }
    }
    members
}

/// Visits the product of the groups' points, in the order of the request.
fn each_point(groups: &[Points], strides: &[Vec<isize>], memory: isize, cell: isize, visit: &impl Fn(isize, isize)) {
    let Some((points, rest)) = groups.split_first() else { return visit(memory, cell) };
    for point in points.range.clone() {
        let mut cell = cell;
        for (member, stride) in strides[0].iter().enumerate() {
            cell += (points.coords[member][point] - points.origin[member]) as isize * stride;
        }
        each_point(rest, &strides[1..], memory + points.offsets[point], cell, visit);
    }
}

/// Single elements of 1, 2, 4, 8 or 16 bytes, point by point, without the detour of a box for each.
///
/// # Safety
/// `itemsize` must be one of these. Every point's element must lie behind `memory` and behind `cell`, which must not
/// overlap; the side written to must be valid for writing.
unsafe fn scattered(points: &Points, strides: &[isize], memory: *mut u8, cell: *mut u8, itemsize: usize, way: Way) {
    /// # Safety
    /// As [`scattered`], with elements of `size_of::<T>()` bytes.
    unsafe fn each<T: Copy>(points: &Points, strides: &[isize], memory: *mut u8, cell: *mut u8, way: Way) {
        let shift: isize = points.origin.iter().zip(strides).map(|(&origin, &stride)| origin as isize * stride).sum();
        let offsets = &points.offsets[points.range.clone()];
        let lists: Vec<&[i64]> = points.coords.iter().map(|list| &list[points.range.clone()]).collect();
        let one = |memory_offset: isize, cell_offset: isize| {
            // SAFETY: as the caller vouches.
            unsafe {
                let (memory, cell) = (memory.offset(memory_offset), cell.offset(cell_offset - shift));
                match way {
                    Way::ToMemory { .. } => memory.cast::<T>().write_unaligned(cell.cast::<T>().read_unaligned()),
                    Way::ToCell => cell.cast::<T>().write_unaligned(memory.cast::<T>().read_unaligned()),
                }
            }
        };
        // Loops over the lists take longer than all else.
        match (lists.as_slice(), strides) {
            ([only], [stride]) => {
                for (&offset, &index) in offsets.iter().zip(*only) {
                    one(offset, index as isize * stride);
                }
            }
            ([first, last], [outer, inner]) => {
                for ((&offset, &row), &column) in offsets.iter().zip(*first).zip(*last) {
                    one(offset, row as isize * outer + column as isize * inner);
                }
            }
            _ => {
                for (point, &offset) in offsets.iter().enumerate() {
                    one(offset, lists.iter().zip(strides).map(|(list, &stride)| list[point] as isize * stride).sum());
                }
            }
        }
    }
    // SAFETY: each arm only fixes the element type.
    unsafe {
        match itemsize {
            1 => each::<[u8; 1]>(points, strides, memory, cell, way),
            2 => each::<[u8; 2]>(points, strides, memory, cell, way),
            4 => each::<[u8; 4]>(points, strides, memory, cell, way),
            8 => each::<[u8; 8]>(points, strides, memory, cell, way),
            _ => each::<[u8; 16]>(points, strides, memory, cell, way),
        }
    }
}

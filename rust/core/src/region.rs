//! Which elements of a cell are wanted, and where in memory each of them lies.
//!
//! A *cell* is a box of elements: the whole array, a shard, an inner chunk. A [`Region`] says, for every axis of its
//! cell, which positions are wanted: evenly spaced ones, or listed ones. It also carries the memory side: the byte
//! offset of every wanted element in the caller's buffer. Reading and writing use the same region, with the arrows
//! flipped.
//!
//! Listed positions come in groups: the axes of one group move together, point by point (NumPy's `vindex`); different
//! groups, and evenly spaced axes, form a product (`oindex`).

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::scratch;

/// What is wanted along one axis of a cell.
#[derive(Clone, Debug)]
pub enum Axis {
    /// Positions `start`, `start + step`, …, `count` of them; the next one lies `stride` bytes further in memory.
    Strided { start: i64, step: i64, count: usize, stride: isize },
    /// The positions that group number `group` lists for its member number `member`.
    Listed { group: usize, member: usize },
}

/// Positions listed point by point for one or more axes.
#[derive(Clone, Debug)]
pub struct Points {
    /// Per member axis, the position of each point, counted from `origin`'s zero.
    pub coords: Arc<[Vec<i64>]>,
    /// Byte offset in memory of each point.
    pub offsets: Arc<Vec<isize>>,
    /// Which of the points belong to this cell.
    pub range: Range<usize>,
    /// Per member axis, where this cell begins: subtract it from `coords`.
    pub origin: Vec<i64>,
}

impl Points {
    /// Other lists in place of those of this cell's positions, one for each member axis.
    pub fn listed(&self, make: impl Fn(&[i64]) -> Result<Vec<i64>>) -> Result<Arc<[Vec<i64>]>> {
        self.coords.iter().map(|list| make(&list[self.range.clone()])).collect()
    }
}

/// The wanted elements of one cell and their places in memory.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Byte offset in memory that all others are added to.
    pub base: isize,
    pub axes: Vec<Axis>,
    pub groups: Vec<Points>,
}

impl Region {
    /// How many elements are wanted.
    pub fn len(&self) -> usize {
        let strided = self.axes.iter().map(|axis| match axis {
            Axis::Strided { count, .. } => *count,
            Axis::Listed { .. } => 1,
        });
        let listed = self.groups.iter().map(|points| points.range.len());
        strided.chain(listed).product()
    }

    pub fn is_empty(&self) -> bool {
        let nothing = |axis: &Axis| matches!(axis, Axis::Strided { count: 0, .. });
        self.axes.iter().any(nothing) || self.groups.iter().any(|points| points.range.is_empty())
    }

    /// The whole of a cell of `shape` that lies in memory with `strides`.
    pub fn whole(shape: &[usize], strides: &[isize]) -> Self {
        let axes = shape
            .iter()
            .zip(strides)
            .map(|(&count, &stride)| Axis::Strided { start: 0, step: 1, count, stride })
            .collect();
        Region { base: 0, axes, groups: Vec::new() }
    }

    /// Whether every element of the leading box `extent` of the cell is wanted. Listed positions count as "no":
    /// whether they cover everything would cost more to find out than reading does.
    pub fn covers(&self, extent: &[usize]) -> bool {
        self.axes.iter().zip(extent).all(|(axis, &extent)| match *axis {
            Axis::Strided { step, count, .. } => count == extent && (step.abs() == 1 || count <= 1),
            Axis::Listed { .. } => false,
        })
    }

    /// For each axis, one more than the last position that is wanted; nothing may be wanted of cells of no elements.
    pub fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        self.axes.iter().map(|axis| match *axis {
            Axis::Strided { start, step, count, .. } => {
                let last = start.saturating_add(step.saturating_mul(count.saturating_sub(1) as i64));
                start.max(last).saturating_add(1).max(0) as usize
            }
            Axis::Listed { group, member } => {
                let points = &self.groups[group];
                let last = points.coords[member][points.range.clone()].iter().max();
                last.map_or(0, |last| last.saturating_sub(points.origin[member]).saturating_add(1).max(0) as usize)
            }
        })
    }

    /// The same region with the axes of its cell in another order: new axis `i` is old axis `order[i]`.
    pub fn permuted(&self, order: &[usize]) -> Self {
        Region {
            base: self.base,
            axes: order.iter().map(|&axis| self.axes[axis].clone()).collect(),
            groups: self.groups.clone(),
        }
    }

    /// The same elements, one after the other in memory.
    pub fn packed(&self, itemsize: usize) -> Result<Self> {
        let mut stride = itemsize as isize;
        let mut groups = Vec::with_capacity(self.groups.len());
        for points in &self.groups {
            // Only the points of this cell: there may be many more of others.
            let count = points.range.len();
            groups.push(Points {
                coords: points.listed(|list| scratch::listed(list.iter().copied()))?,
                offsets: Arc::new(scratch::listed((0..count).map(|point| point as isize * stride))?),
                range: 0..count,
                origin: points.origin.clone(),
            });
            stride *= count as isize;
        }
        let axes = self.axes.iter().map(|axis| match *axis {
            Axis::Strided { start, step, count, .. } => {
                let packed = Axis::Strided { start, step, count, stride };
                stride *= count as isize;
                packed
            }
            Axis::Listed { group, member } => Axis::Listed { group, member },
        });
        Ok(Region { base: 0, axes: axes.collect(), groups })
    }

    /// First and past-the-last byte of the wanted elements in a cell whose elements lie `strides` bytes apart.
    /// `None` when nothing is wanted; bytes that no cell has when an element would lie before the first or too far behind.
    pub fn span(&self, strides: &[isize], itemsize: usize) -> Option<Range<usize>> {
        if self.is_empty() {
            return None;
        }
        Some(self.reach(strides, itemsize).unwrap_or(usize::MAX..usize::MAX))
    }

    fn reach(&self, strides: &[isize], itemsize: usize) -> Option<Range<usize>> {
        let mut low = 0isize;
        let mut high = 0isize;
        for (axis, &stride) in self.axes.iter().zip(strides) {
            let (first, last) = match *axis {
                Axis::Strided { start, step, count, .. } => {
                    let further = step.checked_mul(i64::try_from(count).ok()? - 1)?;
                    (start, start.checked_add(further)?)
                }
                Axis::Listed { group, member } => {
                    let points = &self.groups[group];
                    let coords = &points.coords[member][points.range.clone()];
                    let origin = points.origin[member];
                    (coords.iter().min()?.checked_sub(origin)?, coords.iter().max()?.checked_sub(origin)?)
                }
            };
            let (first, last) = ((first as isize).checked_mul(stride)?, (last as isize).checked_mul(stride)?);
            low = low.checked_add(first.min(last))?;
            high = high.checked_add(first.max(last))?;
        }
        Some(usize::try_from(low).ok()?..usize::try_from(high).ok()?.checked_add(itemsize)?)
    }

    /// Whether the region is the whole cell of `shape` and lies in memory exactly as in the cell (`strides`).
    pub fn is_verbatim(&self, shape: &[usize], strides: &[isize]) -> bool {
        self.axes.iter().zip(shape.iter().zip(strides)).all(|(axis, (&size, &cell_stride))| match *axis {
            Axis::Strided { start, step, count, stride } => {
                start == 0 && count == size && (count == 1 || (step == 1 && stride == cell_stride))
            }
            Axis::Listed { .. } => false,
        })
    }
}

/// Distance in bytes between neighbours along each axis of a C-ordered box.
pub fn c_strides(shape: &[usize], itemsize: usize) -> Vec<isize> {
    let mut strides = vec![0isize; shape.len()];
    let mut stride = itemsize as isize;
    for (slot, &size) in strides.iter_mut().zip(shape).rev() {
        *slot = stride;
        stride *= size.max(1) as isize;
    }
    strides
}

//! Splitting a region along a regular grid.
//!
//! The grid's cells that a region touches are a product of short tables, one per axis or group of listed axes. The
//! tables are made first; the product is never written down. Cell number `n` is found by taking `n` apart in mixed
//! radix, so 1,000,000 chunks of a 10,000³ array need 300 rows.

use std::ops::Range;
use std::sync::Arc;

use crate::region::{Axis, Points, Region};

/// The cells of a regular grid that a region touches.
pub struct Split {
    factors: Vec<Factor>,
    base: isize,
    rank: usize,
    /// How many cells are touched.
    pub count: usize,
}

/// One row of an evenly spaced axis: a cell, and what is wanted of it.
struct Row {
    cell: i64,
    start: i64,
    count: usize,
    /// Byte offset in memory of the row's first element.
    offset: isize,
}

enum Factor {
    Strided { axis: usize, step: i64, stride: isize, rows: Vec<Row> },
    Listed(ListedFactor),
}

struct ListedFactor {
    /// The axes that move together, in the order of `coords`.
    axes: Vec<usize>,
    coords: Arc<[Vec<i64>]>,
    offsets: Arc<[isize]>,
    /// Cells, `axes.len()` numbers each, and the points in each.
    cells: Vec<i64>,
    rows: Vec<Range<usize>>,
    /// Size of a cell along each of `axes`, and where the parent cell begins.
    sizes: Vec<i64>,
    origin: Vec<i64>,
}

impl Split {
    /// Splits `region` along the grid of cells of `shape` that begins at the region's cell's first element.
    pub fn new(region: &Region, shape: &[usize]) -> Self {
        let mut factors = Vec::with_capacity(shape.len());
        for (axis, wanted) in region.axes.iter().enumerate() {
            if let Axis::Strided { start, step, count, stride } = *wanted {
                let rows = strided_rows(start, step, count, stride, shape[axis] as i64);
                factors.push(Factor::Strided { axis, step, stride, rows });
            }
        }
        for (group, points) in region.groups.iter().enumerate() {
            factors.push(Factor::Listed(listed_factor(region, group, points, shape)));
        }
        let count = factors.iter().map(Factor::len).product();
        Split { factors, base: region.base, rank: shape.len(), count }
    }

    /// Cell number `index`: its place in the grid goes to `place`, what is wanted of it to `region`.
    pub fn cell(&self, index: usize, place: &mut Vec<i64>, region: &mut Region) {
        place.clear();
        place.resize(self.rank, 0);
        region.base = self.base;
        region.axes.clear();
        region.axes.resize(self.rank, Axis::Strided { start: 0, step: 1, count: 0, stride: 0 });
        region.groups.clear();
        let mut rest = index;
        // The last factor varies fastest, so that neighbours in the list are neighbours in a C-ordered store.
        for factor in self.factors.iter().rev() {
            let row = rest % factor.len();
            rest /= factor.len();
            match factor {
                Factor::Strided { axis, step, stride, rows } => {
                    let row = &rows[row];
                    place[*axis] = row.cell;
                    region.base += row.offset;
                    region.axes[*axis] =
                        Axis::Strided { start: row.start, step: *step, count: row.count, stride: *stride };
                }
                Factor::Listed(listed) => listed.cell(row, place, region),
            }
        }
        // Factors were visited backwards; groups keep the order of the request (last write wins).
        let groups = region.groups.len();
        if groups > 1 {
            region.groups.reverse();
            for axis in &mut region.axes {
                if let Axis::Listed { group, .. } = axis {
                    *group = groups - 1 - *group;
                }
            }
        }
    }
}

impl Factor {
    fn len(&self) -> usize {
        match self {
            Factor::Strided { rows, .. } => rows.len(),
            Factor::Listed(listed) => listed.rows.len(),
        }
    }
}

impl ListedFactor {
    fn cell(&self, row: usize, place: &mut [i64], region: &mut Region) {
        let members = self.axes.len();
        let cells = &self.cells[row * members..(row + 1) * members];
        let group = region.groups.len();
        let mut origin = Vec::with_capacity(members);
        for (member, (&axis, &cell)) in self.axes.iter().zip(cells).enumerate() {
            place[axis] = cell;
            region.axes[axis] = Axis::Listed { group, member };
            origin.push(self.origin[member] + cell * self.sizes[member]);
        }
        region.groups.push(Points {
            coords: self.coords.clone(),
            offsets: self.offsets.clone(),
            range: self.rows[row].clone(),
            origin,
        });
    }
}

fn strided_rows(start: i64, step: i64, count: usize, stride: isize, size: i64) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut done = 0usize;
    let mut position = start;
    while done < count {
        let cell = position / size;
        let within = position - cell * size;
        let fit = if step > 0 { (size - within - 1) / step + 1 } else { within / -step + 1 };
        let take = (count - done).min(usize::try_from(fit).unwrap_or(usize::MAX));
        rows.push(Row { cell, start: within, count: take, offset: done as isize * stride });
        done += take;
        // Only computed while more is wanted, so it stays inside the axis.
        if done < count {
            position += step * take as i64;
        }
    }
    rows
}

fn listed_factor(region: &Region, group: usize, points: &Points, shape: &[usize]) -> ListedFactor {
    let members = points.coords.len();
    let mut axes = vec![0usize; members];
    for (axis, wanted) in region.axes.iter().enumerate() {
        match wanted {
            Axis::Listed { group: of, member } if *of == group => axes[*member] = axis,
            _ => {}
        }
    }
    let sizes: Vec<i64> = axes.iter().map(|&axis| shape[axis] as i64).collect();
    let cell_of = |member: usize, point: usize| (points.coords[member][point] - points.origin[member]) / sizes[member];
    let before = |a: usize, b: usize| {
        (0..members).map(|member| cell_of(member, a).cmp(&cell_of(member, b))).find(|order| order.is_ne())
    };
    let range = points.range.clone();
    let sorted = range.clone().skip(1).all(|point| before(point - 1, point).is_none_or(|order| order.is_lt()));
    let (coords, offsets, range) = if sorted {
        (points.coords.clone(), points.offsets.clone(), range)
    } else {
        // Stable, so that of two writes to one element the later one stays later.
        let mut order: Vec<usize> = range.clone().collect();
        order.sort_by(|&a, &b| before(a, b).unwrap_or(std::cmp::Ordering::Equal));
        let coords = points.coords.iter().map(|list| order.iter().map(|&point| list[point]).collect()).collect();
        let offsets: Arc<[isize]> = order.iter().map(|&point| points.offsets[point]).collect();
        (coords, offsets, 0..order.len())
    };
    let mut factor = ListedFactor {
        axes,
        coords,
        offsets,
        cells: Vec::new(),
        rows: Vec::new(),
        sizes,
        origin: points.origin.clone(),
    };
    let mut first = range.start;
    for point in range.clone() {
        let cell =
            |member: usize, point: usize| (factor.coords[member][point] - factor.origin[member]) / factor.sizes[member];
        let ends = point + 1 == range.end || (0..members).any(|member| cell(member, point) != cell(member, point + 1));
        if ends {
            let place: Vec<i64> = (0..members).map(|member| cell(member, point)).collect();
            factor.cells.extend(place);
            factor.rows.push(first..point + 1);
            first = point + 1;
        }
    }
    factor
}

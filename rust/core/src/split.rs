//! Splitting a region along a grid.
//!
//! The grid's cells that a region touches are a product of factors, one per axis or group of listed axes. The product is
//! never written down: cell number `n` is found by taking `n` apart in mixed radix. Of evenly spaced axes nothing is:
//! which cell comes next follows by arithmetic, so that filling an array of 2^40 chunks begins at once. Where cells have
//! several lengths, each run of equal ones that is touched is such an axis of its own. A group of listed axes needs a
//! table of its cells, which is no longer than the list.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::grid::{run_at, Grid, Run, Side};
use crate::region::{Axis, Points, Region};
use crate::scratch;

/// The cells of a grid that a region touches.
pub struct Split {
    factors: Vec<Factor>,
    base: isize,
    rank: usize,
    /// How many cells are touched.
    pub count: usize,
}

enum Factor {
    Strided(StridedFactor),
    Runs(RunsFactor),
    Listed(ListedFactor),
}

/// An evenly spaced axis: positions `start`, `start + step`, …, `count` of them, in cells of `size`.
struct StridedFactor {
    axis: usize,
    start: i64,
    step: i64,
    count: usize,
    /// Distance in bytes between neighbours in memory.
    stride: isize,
    size: i64,
    /// Where in its cell `start` is.
    within: i64,
    /// How many cells are touched.
    rows: usize,
}

/// An evenly spaced axis in cells of several lengths.
struct RunsFactor {
    /// The runs of equal cells that are touched, in the order of the positions.
    parts: Vec<RunPart>,
    rows: usize,
}

/// What is wanted of one run.
struct RunPart {
    /// How many touched cells, and how many positions, are in the parts before this one.
    row: usize,
    number: usize,
    /// The number of the first cell of the run.
    first: i64,
    /// The positions, counted from where the run begins.
    strided: StridedFactor,
}

struct ListedFactor {
    /// The axes that move together, in the order of `coords`.
    axes: Vec<usize>,
    coords: Arc<[Vec<i64>]>,
    offsets: Arc<Vec<isize>>,
    /// Cells, `axes.len()` numbers each, and the points in each.
    cells: Vec<i64>,
    rows: Vec<Range<usize>>,
    /// The cells along each of `axes`, and where the parent cell begins.
    sides: Vec<Side>,
    origin: Vec<i64>,
}

impl Split {
    /// Splits `region` along the grid of cells of `shape` that begins at the region's cell's first element.
    pub fn new(region: &Region, shape: &[usize]) -> Result<Self> {
        Self::along(region, shape)
    }

    /// The same along any grid.
    pub fn along(region: &Region, grid: &(impl Grid + ?Sized)) -> Result<Self> {
        let mut factors = Vec::with_capacity(grid.rank());
        for (axis, wanted) in region.axes.iter().enumerate() {
            if let Axis::Strided { start, step, count, stride } = *wanted {
                factors.push(match grid.side(axis) {
                    Side::Even(size) => Factor::Strided(StridedFactor::new(axis, start, step, count, stride, size)),
                    Side::Uneven(runs) => Factor::Runs(RunsFactor::new(axis, start, step, count, stride, &runs)?),
                });
            }
        }
        for (group, points) in region.groups.iter().enumerate() {
            factors.push(Factor::Listed(listed_factor(region, group, points, grid)?));
        }
        let count = factors.iter().map(Factor::len).product();
        Ok(Split { factors, base: region.base, rank: grid.rank(), count })
    }

    /// Cell number `index`: its indices in the grid go to `indices`, what is wanted of it to `region`.
    pub fn cell(&self, index: usize, indices: &mut Vec<i64>, region: &mut Region) {
        indices.clear();
        indices.resize(self.rank, 0);
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
                Factor::Strided(strided) => strided.cell(row, indices, region),
                Factor::Runs(runs) => runs.cell(row, indices, region),
                Factor::Listed(listed) => listed.cell(row, indices, region),
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
            Factor::Strided(strided) => strided.rows,
            Factor::Runs(runs) => runs.rows,
            Factor::Listed(listed) => listed.rows.len(),
        }
    }
}

impl StridedFactor {
    fn new(axis: usize, start: i64, step: i64, count: usize, stride: isize, size: i64) -> Self {
        let mut factor = StridedFactor { axis, start, step, count, stride, size, within: 0, rows: count };
        if let Some(last) = count.checked_sub(1) {
            factor.within = start % size;
            if factor.leaves_out_no_cell() {
                factor.rows = (factor.position(last) / size).abs_diff(start / size) as usize + 1;
            }
        }
        factor
    }

    /// Whether every cell between the first and the last has a position; if not, no cell has two.
    fn leaves_out_no_cell(&self) -> bool {
        self.step.unsigned_abs() <= self.size.unsigned_abs()
    }

    fn position(&self, number: usize) -> i64 {
        self.start + self.step * number as i64
    }

    /// The number of the first position in the cell of this row.
    fn first(&self, row: usize) -> usize {
        if row == 0 || !self.leaves_out_no_cell() {
            return row;
        }
        // How far it is from the start to the side of the cell where positions enter it; rounded up to a whole step.
        let cells = row as i64 * self.size;
        let distance = if self.step > 0 { cells - self.within } else { cells - (self.size - 1 - self.within) };
        match self.step {
            1 | -1 => distance as usize, // no division: this is per chunk
            step => distance.unsigned_abs().div_ceil(step.unsigned_abs()) as usize,
        }
    }

    fn cell(&self, row: usize, indices: &mut [i64], region: &mut Region) {
        let first = self.first(row);
        let end = if row + 1 == self.rows { self.count } else { self.first(row + 1) };
        let position = self.position(first);
        let cell = position / self.size;
        indices[self.axis] = cell;
        region.base += first as isize * self.stride;
        let (start, count) = (position - cell * self.size, end - first);
        region.axes[self.axis] = Axis::Strided { start, step: self.step, count, stride: self.stride };
    }
}

impl RunsFactor {
    fn new(axis: usize, start: i64, step: i64, count: usize, stride: isize, runs: &[Run]) -> Result<Self> {
        let (mut parts, mut rows, mut number) = (Vec::new(), 0usize, 0usize);
        while number < count {
            let position = start + step * number as i64;
            let index = run_at(runs, position);
            let run = runs[index];
            // How many positions there are from this one to where the run ends, or to where it begins.
            let more = match (step, runs.get(index + 1)) {
                (1.., Some(next)) => (next.start - position).unsigned_abs().div_ceil(step.unsigned_abs()),
                (..=-1, _) => (position - run.start).unsigned_abs() / step.unsigned_abs() + 1,
                _ => u64::MAX,
            };
            let part = (count - number).min(usize::try_from(more).unwrap_or(usize::MAX));
            let strided = StridedFactor::new(axis, position - run.start, step, part, stride, run.size);
            let before = rows;
            rows += strided.rows;
            scratch::push(&mut parts, RunPart { row: before, number, first: run.first, strided })?;
            number += part;
        }
        Ok(RunsFactor { parts, rows })
    }

    fn cell(&self, row: usize, indices: &mut [i64], region: &mut Region) {
        let part = &self.parts[self.parts.partition_point(|part| part.row <= row) - 1];
        part.strided.cell(row - part.row, indices, region);
        indices[part.strided.axis] += part.first;
        region.base += part.number as isize * part.strided.stride;
    }
}

impl ListedFactor {
    fn cell(&self, row: usize, indices: &mut [i64], region: &mut Region) {
        let members = self.axes.len();
        let cells = &self.cells[row * members..(row + 1) * members];
        let group = region.groups.len();
        let mut origin = Vec::with_capacity(members);
        for (member, (&axis, &cell)) in self.axes.iter().zip(cells).enumerate() {
            indices[axis] = cell;
            region.axes[axis] = Axis::Listed { group, member };
            origin.push(self.origin[member] + self.sides[member].bounds(cell).0);
        }
        region.groups.push(Points {
            coords: self.coords.clone(),
            offsets: self.offsets.clone(),
            range: self.rows[row].clone(),
            origin,
        });
    }
}

fn listed_factor(region: &Region, group: usize, points: &Points, grid: &(impl Grid + ?Sized)) -> Result<ListedFactor> {
    let members = points.coords.len();
    let mut axes = vec![0usize; members];
    for (axis, wanted) in region.axes.iter().enumerate() {
        match wanted {
            Axis::Listed { group: of, member } if *of == group => axes[*member] = axis,
            _ => {}
        }
    }
    let sides: Vec<Side> = axes.iter().map(|&axis| grid.side(axis)).collect();
    let mut factor = ListedFactor {
        axes,
        coords: points.coords.clone(),
        offsets: points.offsets.clone(),
        cells: Vec::new(),
        rows: Vec::new(),
        sides,
        origin: points.origin.clone(),
    };
    // Small numbers take half the memory.
    match cells_of::<u32>(points, &factor.sides)? {
        Some(cells) => factor.divide(points, cells)?,
        None => match cells_of::<u64>(points, &factor.sides)? {
            Some(cells) => factor.divide(points, cells)?,
            None => factor.divide(points, ranks(points, &factor.sides)?)?,
        },
    }
    Ok(factor)
}

/// A number that a cell has, or a place in a list.
trait Number: Copy + Ord {
    const MOST: u64;
    fn of(number: u64) -> Self;
    fn get(self) -> u64;
}

impl Number for u32 {
    const MOST: u64 = u32::MAX as u64;

    fn of(number: u64) -> Self {
        number as u32
    }

    fn get(self) -> u64 {
        u64::from(self)
    }
}

impl Number for u64 {
    const MOST: u64 = u64::MAX;

    fn of(number: u64) -> Self {
        number
    }

    fn get(self) -> u64 {
        self
    }
}

impl ListedFactor {
    /// Puts the points of one cell next to each other, as they were: of two writes to one element the later stays the
    /// later. `cells` has the number of each point's cell.
    fn divide<T: Number>(&mut self, points: &Points, mut cells: Vec<T>) -> Result<()> {
        let range = points.range.clone();
        if cells.is_sorted() {
            let mut first = 0;
            for point in 0..cells.len() {
                if cells.get(point + 1) != cells.get(point) {
                    self.add(range.start + first..range.start + point + 1)?;
                    first = point + 1;
                }
            }
            return Ok(());
        }
        // Where each point goes takes the place of its cell's number.
        let bounds = places(&mut cells)?;
        self.coords = points.listed(|list| {
            let mut numbers = scratch::filled(0, cells.len())?;
            for (&place, &one) in cells.iter().zip(list) {
                numbers[place.get() as usize] = one;
            }
            Ok(numbers)
        })?;
        let mut offsets = scratch::filled(0, cells.len())?;
        for (&place, &offset) in cells.iter().zip(&points.offsets[range]) {
            offsets[place.get() as usize] = offset;
        }
        self.offsets = Arc::new(offsets);
        let mut first = 0;
        for end in bounds {
            self.add(first..end)?;
            first = end;
        }
        Ok(())
    }

    /// One more cell: that of these points.
    fn add(&mut self, points: Range<usize>) -> Result<()> {
        for (member, side) in self.sides.iter().enumerate() {
            scratch::push(&mut self.cells, side.cell(self.coords[member][points.start] - self.origin[member]))?;
        }
        scratch::push(&mut self.rows, points)
    }
}

/// Division by one number, many times: by multiplication where numbers are small enough for that to be exact.
struct Divisor {
    size: u64,
    /// 2^64 / size, rounded up; 0 where that is no number of 64 bits.
    reciprocal: u64,
}

impl Divisor {
    /// For numbers up to `most`.
    fn new(size: i64, most: i64) -> Self {
        let size = size as u64;
        let small = (2..1 << 32).contains(&size) && (0..1 << 32).contains(&most);
        Divisor { size, reciprocal: if small { u64::MAX / size + 1 } else { 0 } }
    }

    fn divide(&self, number: i64) -> u64 {
        if self.reciprocal == 0 {
            number as u64 / self.size
        } else {
            ((u128::from(self.reciprocal) * u128::from(number as u64)) >> 64) as u64
        }
    }
}

/// One number per point, the same for points of one cell and ordered like the cells; `None` if that takes larger numbers.
fn cells_of<T: Number>(points: &Points, sides: &[Side]) -> Result<Option<Vec<T>>> {
    let Some(bounds) = bounds(points, sides, T::MOST) else { return Ok(None) };
    let mut cells = scratch::filled(T::of(0), points.range.len())?;
    for (member, (first, count, most)) in bounds.iter().enumerate() {
        let origin = points.origin[member];
        let pairs = cells.iter_mut().zip(&points.coords[member][points.range.clone()]);
        match &sides[member] {
            Side::Even(size) => {
                let size = Divisor::new(*size, *most);
                for (cell, &position) in pairs {
                    *cell = T::of(cell.get() * count + (size.divide(position - origin) - first));
                }
            }
            side @ Side::Uneven(_) => {
                for (cell, &position) in pairs {
                    *cell = T::of(cell.get() * count + (side.cell(position - origin) as u64 - first));
                }
            }
        }
    }
    Ok(Some(cells))
}

/// Of each member axis the first cell that is touched, how many are from there to the last, and the last position;
/// `None` if there are more cells, or more points, than numbers up to `limit`.
fn bounds(points: &Points, sides: &[Side], limit: u64) -> Option<Vec<(u64, u64, i64)>> {
    let mut bounds = Vec::with_capacity(sides.len());
    let mut all = 1u64;
    for (member, side) in sides.iter().enumerate() {
        let list = &points.coords[member][points.range.clone()];
        let origin = points.origin[member];
        let (least, most) = (list.iter().min()? - origin, list.iter().max()? - origin);
        let first = side.cell(least);
        let count = (side.cell(most) - first) as u64 + 1;
        all = all.checked_mul(count).filter(|&all| all.max(list.len() as u64) <= limit)?;
        bounds.push((first as u64, count, most));
    }
    Some(bounds)
}

/// The same where there are more cells than can be numbered.
fn ranks(points: &Points, sides: &[Side]) -> Result<Vec<u64>> {
    let cell = |member: usize, point: usize| sides[member].cell(points.coords[member][point] - points.origin[member]);
    let place = |point: usize| (0..sides.len()).map(move |member| cell(member, points.range.start + point));
    let mut cells = scratch::filled(0u64, points.range.len())?;
    let mut order: Vec<usize> = scratch::listed(0..cells.len())?;
    order.sort_unstable_by(|&a, &b| place(a).cmp(place(b)));
    let mut rank = 0;
    for (position, &point) in order.iter().enumerate() {
        rank += u64::from(position > 0 && place(order[position - 1]).ne(place(point)));
        cells[point] = rank;
    }
    Ok(cells)
}

/// Replaces the number of each point's cell by the place that the point has when they are sorted, equal ones as they were;
/// gives where each cell ends. There are no more points than numbers.
fn places<T: Number>(cells: &mut [T]) -> Result<Vec<usize>> {
    let most = cells.iter().copied().max().map_or(0, T::get);
    if most >= (4 * cells.len()).max(1 << 12) as u64 {
        let mut order: Vec<usize> = scratch::listed(0..cells.len())?;
        // Sorting that keeps the order of equal ones would take memory that it cannot do without.
        order.sort_unstable_by_key(|&point| (cells[point], point));
        let mut ends = Vec::new();
        for end in 1..=order.len() {
            if end == order.len() || cells[order[end]] != cells[order[end - 1]] {
                scratch::push(&mut ends, end)?;
            }
        }
        for (place, point) in order.into_iter().enumerate() {
            cells[point] = T::of(place as u64);
        }
        return Ok(ends);
    }
    // Few cells: counted, then each point goes where its cell's points begin.
    let mut starts = scratch::filled(0usize, most as usize + 2)?;
    for &cell in cells.iter() {
        starts[cell.get() as usize + 1] += 1;
    }
    for cell in 1..starts.len() {
        starts[cell] += starts[cell - 1];
    }
    let mut ends: Vec<usize> = scratch::listed(starts[1..].iter().copied())?;
    ends.dedup();
    ends.retain(|&end| end > 0);
    for cell in cells.iter_mut() {
        let place = &mut starts[cell.get() as usize];
        *cell = T::of(*place as u64);
        *place += 1;
    }
    Ok(ends)
}

//! Regions taken apart along a grid.

use blizzarr_core::grid::Side;
use blizzarr_core::region::{Axis, Region};
use blizzarr_core::split::Split;

use crate::input::Input;
use crate::model::{elements, region, Place};

/// The cells of a split hold exactly the elements of the region, each at its place in memory.
pub fn plan(data: &[u8]) {
    let mut input = Input(data);
    if input.one_in(4) {
        return far(&mut input);
    }
    let rank = input.range(0..=3);
    let (longest, widest) = if input.one_in(8) { (9, 6) } else { ([0, 12, 6, 4][rank], [0, 6, 4, 3][rank]) };
    let shape: Vec<usize> = (0..rank).map(|_| input.range(0..=longest)).collect();
    let (sides, cells): (Vec<Side>, Vec<_>) = shape.iter().map(|&size| side(&mut input, size, widest)).unzip();
    let (region, _) = region(&mut input, &shape, 2);
    let mut expected: Vec<u64> = elements(&region).iter().map(|(place, offset)| numbered(place, *offset)).collect();
    assert_eq!(region.len(), expected.len());
    assert_eq!(region.is_empty(), expected.is_empty());
    let split = Split::along(&region, sides.as_slice()).unwrap();
    let (mut place, mut part) = (Vec::new(), Region::default());
    let mut found = Vec::new();
    let mut places = Vec::new();
    for number in 0..split.count {
        split.cell(number, &mut place, &mut part);
        places.push(place.clone());
        let inside = elements(&part);
        assert_eq!(part.len(), inside.len());
        let bounds: Vec<_> = cells.iter().zip(&place).map(|(bounds, &cell)| bounds[cell as usize]).collect();
        let cell: Vec<usize> = bounds.iter().map(|(start, stop)| (stop - start) as usize).collect();
        let covered = inside.len() == cell.iter().product::<usize>();
        assert!(!part.covers(&cell) || covered, "covers, but lacks elements");
        let mut packed: Vec<_> = elements(&part.packed(8).unwrap()).into_iter().map(|(_, offset)| offset).collect();
        packed.sort_unstable();
        assert!(packed.iter().enumerate().all(|(number, &offset)| offset == 8 * number as isize));
        for (mut position, offset) in inside {
            for (at, (start, stop)) in position.iter_mut().zip(&bounds) {
                *at += start;
                assert!((*start..*stop).contains(at), "outside its cell");
            }
            found.push(numbered(&position, offset));
        }
    }
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), count, "a cell comes twice");
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// Cells of one length, or runs of cells, that cover an axis; and where each of them begins and ends. Runs that do not
/// follow each other are refused.
fn side(input: &mut Input<'_>, size: usize, widest: usize) -> (Side, Vec<(i64, i64)>) {
    let even = (!input.one_in(3)).then(|| input.range(1..=widest) as i64);
    let (mut runs, mut bounds, mut start) = ((Vec::new(), Vec::new(), Vec::new()), Vec::new(), 0);
    while runs.0.is_empty() || start < size as i64 {
        let (length, count) =
            even.map_or_else(|| (input.range(1..=4) as i64, input.range(1..=3) as i64), |length| (length, 1));
        runs.0.push(length);
        runs.1.push(bounds.len() as i64);
        runs.2.push(start);
        bounds.extend((0..count).map(|cell| (start + cell * length, start + (cell + 1) * length)));
        start += length * count;
    }
    if let Some(length) = even {
        return (Side::Even(length), bounds);
    }
    // Whatever numbers are given: an error, or runs that can be asked for any cell.
    let list = [0; 3].map(|_| input.u64() as i64 >> input.range(0..=63));
    if let Ok(side) = Side::uneven(&[list[0], 2], &[0, list[1]], &[0, list[2]]) {
        let at = (input.u64() >> 1) as i64;
        let (first, length) = side.bounds(side.cell(at));
        assert!(first <= at && at - first < length);
    }
    (Side::uneven(&runs.0, &runs.1, &runs.2).unwrap(), bounds)
}

/// A place and an offset as one number: these are sorted faster.
fn numbered(place: &Place, offset: isize) -> u64 {
    place.iter().fold(offset as u64, |number, &at| {
        assert!((0..16).contains(&at) && number < 1 << 60);
        number << 4 | at as u64
    })
}

/// An axis of any length up to 2^63: cells follow each other without a gap.
fn far(input: &mut Input<'_>) {
    let size = ((input.u64() >> 1) >> input.range(0..=62)).max(1) as i64;
    let cell = (input.u64() as usize >> input.range(1..=62)).clamp(1, i64::MAX as usize);
    let count = (input.u64() as i64).rem_euclid(size) + 1;
    let widest = if count > 1 { (size - 1) / (count - 1) } else { size };
    let step = (input.u64() as i64).rem_euclid(widest.max(1)) + 1;
    let step = step.min(widest.max(1));
    let reach = (count - 1) * step;
    let first = (input.u64() as i64).rem_euclid(size - reach);
    let (start, step) = if input.flag() { (first + reach, -step) } else { (first, step) };
    let axis = Axis::Strided { start, step, count: count as usize, stride: 0 };
    let split = Split::new(&Region { base: 0, axes: vec![axis], groups: Vec::new() }, &[cell]).unwrap();
    let bounds = |number: usize| {
        let (mut place, mut part) = (Vec::new(), Region::default());
        split.cell(number, &mut place, &mut part);
        let Axis::Strided { start, count, .. } = part.axes[0] else { unreachable!("listed") };
        assert!(count > 0 && (0..cell as i128).contains(&i128::from(start)));
        let last = i128::from(start) + i128::from(step) * (count as i128 - 1);
        assert!((0..cell as i128).contains(&last));
        let first = i128::from(place[0]) * cell as i128 + i128::from(start);
        (first, first + i128::from(step) * count as i128)
    };
    assert_eq!(bounds(0).0, i128::from(start));
    for number in [0, 1, split.count / 2, split.count / 3, split.count.saturating_sub(2)] {
        if number + 1 < split.count {
            assert_eq!(bounds(number).1, bounds(number + 1).0, "behind cell {number}");
        }
    }
    assert_eq!(bounds(split.count - 1).1, i128::from(start) + i128::from(step) * i128::from(count));
}

//! Splitting and copying, against enumeration of every element.

use std::sync::{Arc, Mutex};

use super::random::{elements, Random};
use crate::chain::{Chain, Elements, Serializer};
use crate::chains::Chains;
use crate::codec::element::Swap;
use crate::grid::Side;
use crate::memory::{Origin, Target};
use crate::region::{c_strides, Axis, Region};
use crate::split::Split;

const CASES: u64 = if cfg!(miri) { 60 } else { 4000 };

/// Cells of one length, or random runs of cells that cover `size`; and where each of them begins and ends.
fn side(random: &mut Random, size: usize) -> (Side, Vec<(i64, i64)>) {
    let even = random.chance(2).then(|| random.range(1, 5) as i64);
    let (mut runs, mut cells, mut start) = ((Vec::new(), Vec::new(), Vec::new()), Vec::new(), 0);
    while runs.0.is_empty() || start < size as i64 {
        let (length, count) = (even.unwrap_or(random.range(1, 4) as i64), random.range(1, 3) as i64);
        runs.0.push(length);
        runs.1.push(cells.len() as i64);
        runs.2.push(start);
        cells.extend((0..count).map(|cell| (start + cell * length, start + (cell + 1) * length)));
        start += length * count;
    }
    (even.map_or_else(|| Side::uneven(&runs.0, &runs.1, &runs.2).unwrap(), Side::Even), cells)
}

/// The cells of a split hold exactly the elements of the region, each once per time it was wanted, at the same place
/// in memory; a cell comes once, and none is empty.
#[test]
fn a_split_keeps_every_element_and_its_place() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let rank = random.range(0, 4);
        let shape: Vec<usize> = (0..rank).map(|_| random.range(0, 12)).collect();
        let (sides, cells): (Vec<Side>, Vec<_>) = shape.iter().map(|&size| side(&mut random, size)).unzip();
        let (region, _) = random.region(&shape, 2);
        let mut expected = elements(&region);
        let split = Split::along(&region, sides.as_slice()).unwrap();
        let (mut indices, mut part) = (Vec::new(), Region::default());
        let (mut found, mut places) = (Vec::new(), Vec::new());
        for number in 0..split.count {
            split.cell(number, &mut indices, &mut part);
            places.push(indices.clone());
            let inside = elements(&part);
            assert!(region.is_empty() || !inside.is_empty(), "seed {seed}: an empty cell");
            for (mut position, offset) in inside {
                for ((at, &cell), bounds) in position.iter_mut().zip(&indices).zip(&cells) {
                    let (start, stop) = bounds[cell as usize];
                    *at += start;
                    assert!((start..stop).contains(at), "seed {seed}: outside its cell");
                }
                found.push((position, offset));
            }
        }
        let count = places.len();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), count, "seed {seed}: a cell comes twice");
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// The place of a cell follows from the runs alone, however many cells there are.
#[test]
fn runs_of_very_many_cells_are_no_table() {
    let many = 1i64 << 40;
    let side = Side::uneven(&[3, 1, 5], &[0, many, 2 * many], &[0, 3 * many, 4 * many]).unwrap();
    for (position, cell, bounds) in [
        (0, 0, (0, 3)),
        (3 * many - 1, many - 1, (3 * many - 3, 3)),
        (3 * many, many, (3 * many, 1)),
        (4 * many + 7, 2 * many + 1, (4 * many + 5, 5)),
        // Behind the last run that was given: cells go on.
        (4 * many + 500, 2 * many + 100, (4 * many + 500, 5)),
    ] {
        assert_eq!((side.cell(position), side.bounds(cell)), (cell, bounds));
    }
    for (step, start) in [(1, 0), (-1, 4 * many - 1)] {
        let axis = Axis::Strided { start, step, count: 4 * many as usize, stride: 0 };
        let region = Region { base: 0, axes: vec![axis], groups: Vec::new() };
        assert_eq!(Split::along(&region, [side.clone()].as_slice()).unwrap().count, 2 * many as usize);
    }
}

/// Runs that overlap, leave a gap, overflow or have no length are refused: the border takes them from anybody.
#[test]
fn runs_that_do_not_follow_each_other_are_refused() {
    let most = i64::MAX;
    for (sizes, firsts, starts) in [
        (vec![], vec![], vec![]),
        (vec![1, 2], vec![0], vec![0, 1]),
        (vec![0], vec![0], vec![0]),
        (vec![-1], vec![0], vec![0]),
        (vec![1], vec![1], vec![0]),
        (vec![1], vec![0], vec![1]),
        (vec![2, 1], vec![0, 2], vec![0, 3]),
        (vec![2, 1], vec![0, 0], vec![0, 0]),
        (vec![2, 1], vec![0, -1], vec![0, -2]),
        (vec![most, 1], vec![0, 2], vec![0, -2]),
        (vec![most, 1, 1], vec![0, 1, most], vec![0, most, most]),
    ] {
        assert!(Side::uneven(&sizes, &firsts, &starts).is_err(), "{sizes:?} {firsts:?} {starts:?}");
    }
}

/// However many shapes chunks have, only some of their chains are in memory at a time.
#[test]
fn chains_of_many_shapes_are_not_all_kept() {
    let made = Arc::new(Mutex::new(Vec::new()));
    let chains = Chains::new(Box::new({
        let made = Arc::clone(&made);
        move |shape| {
            let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
            let chain = Chain::new(shape.to_vec(), elements, vec![0], None, Serializer::Elements, vec![])?;
            let chain = Arc::new(chain);
            made.lock().unwrap().push(Arc::downgrade(&chain));
            Ok(chain)
        }
    }));
    for length in 1..=5000 {
        assert_eq!(chains.of(&[length]).unwrap().length, length);
    }
    assert_eq!(chains.of(&[5000]).unwrap().length, 5000);
    let made = made.lock().unwrap();
    assert_eq!(made.len(), 5000, "one that was kept is made again");
    assert!(made.iter().filter(|chain| chain.upgrade().is_some()).count() <= 1024);
}

/// A packed region has the same elements, one after the other in memory from the start.
#[test]
fn a_packed_region_has_the_same_elements() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let rank = random.range(0, 4);
        let shape: Vec<usize> = (0..rank).map(|_| random.range(0, 9)).collect();
        let cell: Vec<usize> = (0..rank).map(|_| random.range(1, 5)).collect();
        let (region, _) = random.region(&shape, 2);
        let split = Split::new(&region, &cell).unwrap();
        let (mut indices, mut part) = (Vec::new(), Region::default());
        for number in 0..split.count {
            split.cell(number, &mut indices, &mut part);
            let (mut expected, mut found) = (elements(&part), elements(&part.packed(8).unwrap()));
            let mut offsets: Vec<_> = found.iter().map(|(_, offset)| *offset).collect();
            offsets.sort();
            assert!(
                offsets.iter().enumerate().all(|(n, &offset)| offset == 8 * n as isize),
                "seed {seed}: {offsets:?}"
            );
            expected.sort();
            found.sort();
            let positions =
                |list: &[(Vec<i64>, isize)]| list.iter().map(|(indices, _)| indices.clone()).collect::<Vec<_>>();
            assert_eq!(positions(&found), positions(&expected), "seed {seed}");
        }
    }
}

/// However many cells an evenly spaced region touches, taking it apart costs nothing, and any of them can be asked for.
#[test]
fn a_split_of_very_many_cells_is_no_table() {
    let size = 1i64 << 62;
    for (start, step, count, cell) in
        [(0, 1, size, 1), (size - 1, -1, size, 1), (3, 1, size - 3, 7), (1, 3, size / 3, 2)]
    {
        let axis = Axis::Strided { start, step, count: count as usize, stride: 0 };
        let split = Split::new(&Region { base: 0, axes: vec![axis], groups: Vec::new() }, &[cell]).unwrap();
        let bounds = |number: usize| {
            let (mut place, mut part) = (Vec::new(), Region::default());
            split.cell(number, &mut place, &mut part);
            let Axis::Strided { start, count, .. } = part.axes[0] else { unreachable!("listed") };
            let first = place[0] * cell as i64 + start;
            (first, first + step * count as i64)
        };
        assert_eq!(bounds(0).0, start);
        for number in [0, 1, split.count / 2, split.count / 3 * 2, split.count - 2] {
            assert_eq!(bounds(number).1, bounds(number + 1).0, "after cell {number}");
        }
        assert_eq!(bounds(split.count - 1).1 - step, start + step * (count - 1));
    }
}

/// Strides of elements that lie side by side in a random order of the axes.
fn strides_in_some_order(random: &mut Random, shape: &[usize], itemsize: usize) -> Vec<isize> {
    let order = random.permutation(shape.len());
    let stored: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let mut strides = vec![0; shape.len()];
    for (&axis, stride) in order.iter().zip(c_strides(&stored, itemsize)) {
        strides[axis] = stride;
    }
    strides
}

/// Scattering and gathering move every element between its place in the cell and its place in memory, for all
/// element sizes, orders and strides; nothing else is touched.
#[test]
fn copies_agree_with_one_element_at_a_time() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        // Miri takes a thousand times as long: fewer elements, though enough for each way to copy.
        let rank = random.range(0, if cfg!(miri) { 2 } else { 4 });
        let longest = if random.chance(9) { 70 } else { 9 };
        let shape: Vec<usize> = (0..rank).map(|_| random.range(0, longest)).collect();
        let itemsize = [1, 2, 3, 4, 8, 16, 5][random.range(0, 6)];
        let strides = strides_in_some_order(&mut random, &shape, itemsize);
        let cell_len = shape.iter().product::<usize>() * itemsize;
        let (region, memory_len) = random.region(&shape, itemsize);
        let at =
            |position: &[i64]| position.iter().zip(&strides).map(|(&p, &s)| p as isize * s).sum::<isize>() as usize;

        let cell = random.bytes(cell_len);
        let mut memory = random.bytes(memory_len);
        let mut expected = memory.clone();
        for (position, offset) in elements(&region) {
            let (from, to) = (at(&position), offset as usize);
            expected[to..to + itemsize].copy_from_slice(&cell[from..from + itemsize]);
        }
        let before = memory.clone();
        Target::of(&mut memory).scatter(&region, &cell, 0, &strides, itemsize).unwrap();
        assert_eq!(memory, expected, "seed {seed}: scatter");
        memory = before;
        Target::of(&mut memory).streamed().scatter(&region, &cell, 0, &strides, itemsize).unwrap();
        assert_eq!(memory, expected, "seed {seed}: scatter past the cache");

        let mut cell = random.bytes(cell_len);
        let mut expected = cell.clone();
        // In C order of the request the last write to an element wins; memory is unchanged.
        for (position, offset) in elements(&region) {
            let (from, to) = (offset as usize, at(&position));
            expected[to..to + itemsize].copy_from_slice(&memory[from..from + itemsize]);
        }
        Origin::of(&memory).gather(&region, &mut cell, &strides, itemsize).unwrap();
        assert_eq!(cell, expected, "seed {seed}: gather");
    }
}

/// A cell that a region covers is appended with every element in its place; a region that leaves elements of the cell
/// out, and strides that leave bytes of it out, are refused before anything is appended.
#[test]
fn a_covered_cell_is_gathered_behind_what_is_there() {
    for seed in 0..CASES / 4 {
        let mut random = Random::new(seed);
        let rank = random.range(0, 3);
        let shape: Vec<usize> = (0..rank).map(|_| random.range(1, 6)).collect();
        let itemsize = [1, 2, 3, 4, 8][random.range(0, 4)];
        let strides = strides_in_some_order(&mut random, &shape, itemsize);
        let length = shape.iter().product::<usize>() * itemsize;
        let memory = random.bytes(length);
        let mut axes = Vec::new();
        let mut base = 0;
        for (&count, stride) in shape.iter().zip(c_strides(&shape, itemsize)) {
            let reversed = random.chance(2);
            base += if reversed { (count as isize - 1) * stride } else { 0 };
            let (start, step, stride) = if reversed { (count as i64 - 1, -1, -stride) } else { (0, 1, stride) };
            axes.push(Axis::Strided { start, step, count, stride });
        }
        let region = Region { base, axes, groups: Vec::new() };
        let origin = Origin::of(&memory);
        let mut expected = vec![7; 5 + length];
        origin.gather(&region, &mut expected[5..], &strides, itemsize).unwrap();
        let mut out = vec![7; 5];
        let cell = origin.gather_onto(&mut out, &region, &shape, &strides, itemsize).unwrap();
        assert_eq!(cell.len(), length, "seed {seed}");
        assert_eq!(out, expected, "seed {seed}");

        let Some(long) = shape.iter().position(|&count| count > 1) else { continue };
        let mut larger = shape.clone();
        larger[long] += 1;
        let wide: Vec<isize> = strides.iter().map(|stride| 2 * stride).collect();
        for (shape, strides) in [(&larger, &strides), (&shape, &wide)] {
            assert!(origin.gather_onto(&mut out, &region, shape, strides, itemsize).is_err(), "seed {seed}");
        }
        assert_eq!(out, expected, "seed {seed}: refused");
    }
}

/// A region that would leave the memory it was lent, or its cell, is refused before anything is touched.
#[test]
fn stray_regions_are_refused() {
    let shape = [4usize, 4];
    let strides = c_strides(&shape, 1);
    let region = Region::whole(&shape, &strides);
    let mut memory = [7u8; 15];
    let cell = [1u8; 16];
    assert!(Target::of(&mut memory).scatter(&region, &cell, 0, &strides, 1).is_err());
    assert_eq!(memory, [7u8; 15]);
    let mut memory = [7u8; 16];
    assert!(Target::of(&mut memory).scatter(&region, &cell[..15], 0, &strides, 1).is_err());
    assert!(Target::of(&mut memory).scatter(&region, &cell[1..], 1, &strides, 1).is_err());
    assert_eq!(memory, [7u8; 16]);
    assert!(Origin::of(&memory[..15]).gather(&region, &mut [0; 16], &strides, 1).is_err());
}

/// Found by fuzzing: positions and offsets that 64 bits cannot hold are refused, too; they do not come round to valid ones.
#[test]
fn numbers_that_overflow_are_refused() {
    let far = 1i64 << 62;
    let axis = |start, step, count, stride| Axis::Strided { start, step, count, stride };
    for axes in [
        vec![axis(far, 1, 1, 1), axis(0, 1, 1, 1)],
        vec![axis(0, far, 5, 0), axis(0, 1, 1, 1)],
        vec![axis(0, 1, usize::MAX, 0), axis(0, 1, 1, 1)],
        vec![axis(i64::MIN, 1, 1, 1), axis(0, -1, 2, 1)],
        vec![axis(0, 1, 4, isize::MAX), axis(0, 1, 4, isize::MAX)],
        vec![axis(0, 0, 3, far as isize), axis(0, 0, 3, far as isize)],
    ] {
        let region = Region { base: 0, axes, groups: Vec::new() };
        let (mut memory, mut cell) = ([7u8; 16], [1u8; 16]);
        assert!(Target::of(&mut memory).scatter(&region, &cell, 0, &[4, 4], 4).is_err(), "{region:?}");
        assert!(Origin::of(&memory).gather(&region, &mut cell, &[4, 4], 4).is_err(), "{region:?}");
        assert_eq!((memory, cell), ([7; 16], [1; 16]), "{region:?}");
    }
    // A step that is never taken does not matter.
    let region = Region { base: 0, axes: vec![axis(2, i64::MAX, 1, isize::MAX)], groups: Vec::new() };
    let mut memory = [7u8; 4];
    Target::of(&mut memory).scatter(&region, &[1; 16], 0, &[4], 4).unwrap();
    assert_eq!(memory, [1; 4]);
    // As many elements as 2^64 are some.
    let region = Region { base: 0, axes: vec![axis(0, 0, 1 << 32, 0); 2], groups: Vec::new() };
    assert!(!region.is_empty());
}

/// Points in more cells than 64 bits can number are split like any others.
#[test]
fn points_far_apart_are_split() {
    use crate::region::{Axis, Points};
    let far = 1i64 << 61;
    let coords = [vec![far, 0, far, 0, far], vec![0, far, 1, far, 0], vec![far, far, far, 0, far]];
    let region = Region {
        base: 0,
        axes: (0..3).map(|member| Axis::Listed { group: 0, member }).collect(),
        groups: vec![Points {
            coords: coords.to_vec().into(),
            offsets: Arc::new((0..5).collect()),
            range: 0..5,
            origin: vec![0; 3],
        }],
    };
    let split = Split::new(&region, &[1, 1, 1]).unwrap();
    let (mut indices, mut part) = (Vec::new(), Region::default());
    let mut found = Vec::new();
    for number in 0..split.count {
        split.cell(number, &mut indices, &mut part);
        found.push((indices.clone(), elements(&part).into_iter().map(|(_, offset)| offset).collect::<Vec<_>>()));
    }
    let expected = vec![
        (vec![0, far, 0], vec![3]),
        (vec![0, far, far], vec![1]),
        (vec![far, 0, far], vec![0, 4]),
        (vec![far, 1, far], vec![2]),
    ];
    assert_eq!(found, expected);
}

/// Cells that are numbered in 32 bits, in 64, or not at all; few of them, or more than points; chunks of any length.
#[test]
fn many_points_are_in_the_cells_that_they_are_in() {
    use crate::region::Points;
    for (seed, (extent, size)) in [
        (1 << 10, 7i64),
        (1 << 10, 64),
        (1 << 10, 1),
        (1 << 20, 3),
        (1 << 31, 5),
        (1 << 31, (1 << 31) + 11),
        (1 << 40, 3),
        (1 << 62, 5),
        (1 << 62, 1 << 40),
    ]
    .into_iter()
    .enumerate()
    {
        let mut random = Random::new(seed as u64);
        let count = if cfg!(miri) { 40 } else { 3000 };
        let origin = [17i64, 5];
        let list = |start: i64, random: &mut Random| -> Vec<i64> {
            (0..count).map(|_| start + (random.range(0, 1 << 31) as i64 * 0x9e37_79b9).rem_euclid(extent)).collect()
        };
        let coords = vec![list(origin[0], &mut random), list(origin[1], &mut random)];
        let (first, last) = (count / 10, count - count / 10);
        let region = Region {
            base: 0,
            axes: (0..2).map(|member| Axis::Listed { group: 0, member }).collect(),
            groups: vec![Points {
                coords: coords.clone().into(),
                offsets: Arc::new((0..count as isize).collect()),
                range: first..last,
                origin: origin.to_vec(),
            }],
        };
        let mut expected = std::collections::BTreeMap::<Vec<i64>, Vec<isize>>::new();
        for (point, pair) in coords[0].iter().zip(&coords[1]).enumerate().take(last).skip(first) {
            let indices = vec![(pair.0 - origin[0]) / size, (pair.1 - origin[1]) / size];
            expected.entry(indices).or_default().push(point as isize);
        }
        let split = Split::new(&region, &[size as usize; 2]).unwrap();
        let (mut indices, mut part) = (Vec::new(), Region::default());
        let mut found = Vec::new();
        for number in 0..split.count {
            split.cell(number, &mut indices, &mut part);
            let points = &part.groups[0];
            for point in points.range.clone() {
                let (own, offset) = (points.offsets[point], point);
                for member in 0..2 {
                    assert_eq!(points.coords[member][offset], coords[member][own as usize]);
                    assert_eq!(points.origin[member], origin[member] + indices[member] * size);
                }
            }
            found.push((indices.clone(), points.offsets[points.range.clone()].to_vec()));
        }
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{extent} {size}");
    }
}

//! Copies between layouts.

use blizzarr_core::memory::{Origin, Target};
use blizzarr_core::region::{c_strides, Axis, Region};

use crate::input::{repeated, Input};
use crate::model::{at, elements, region};
use crate::room::Room;

/// Scattering and gathering move every element between its two places, and touch nothing else; regions that would leave
/// either side are refused before anything is touched.
pub fn strided(data: &[u8]) {
    let mut input = Input(data);
    let rank = input.range(0..=3);
    // What is longer than a vector or a row of tiles costs as much as a hundred small ones.
    let longest = if rank <= 2 && input.one_in(32) {
        70
    } else if input.one_in(8) {
        9
    } else {
        [0, 20, 7, 4][rank]
    };
    let shape: Vec<usize> = (0..rank).map(|_| input.range(0..=longest)).collect();
    let itemsize = input.pick(&[1, 2, 3, 4, 8, 16, 5, 32]);
    let order = input.permutation(rank);
    let stored: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let mut strides = vec![0; rank];
    for (&axis, stride) in order.iter().zip(c_strides(&stored, itemsize)) {
        strides[axis] = stride;
    }
    let length = shape.iter().product::<usize>() * itemsize;
    let (mut region, memory_len) = region(&mut input, &shape, itemsize);
    let cell = numbered(length, 1);
    let before = numbered(memory_len, 7);
    if input.one_in(4) {
        return stray(&mut input, &mut region, &cell, before, &strides, itemsize);
    }
    let list = elements(&region);

    let mut expected = before.clone();
    for (position, offset) in &list {
        let (from, to) = (at(position, &strides), *offset as usize);
        expected[to..to + itemsize].copy_from_slice(&cell[from..from + itemsize]);
    }
    let mut memory = Room::of(&before);
    let target = Target::of(&mut memory);
    let target = if input.flag() { target.streamed() } else { target };
    // Sometimes only a part of the cell was decoded.
    let span = region.span(&strides, itemsize);
    let span = span.filter(|_| input.flag()).unwrap_or(0..length);
    target
        .scatter(&region, &Room::of(&cell[span.clone()]), span.start, &strides, itemsize)
        .expect("a region of this cell");
    assert_eq!(*memory, *expected, "scatter");

    let mut found = Room::of(&cell);
    let mut expected = cell;
    for (position, offset) in &list {
        let (from, to) = (*offset as usize, at(position, &strides));
        expected[to..to + itemsize].copy_from_slice(&before[from..from + itemsize]);
    }
    Origin::of(&Room::of(&before)).gather(&region, &mut found, &strides, itemsize).expect("a region of this cell");
    assert_eq!(*found, *expected, "gather");

    let value: Vec<u8> = (0..itemsize as u8).map(|byte| byte ^ 0xc3).collect();
    let mut expected = before.clone();
    for (_, offset) in &list {
        expected[*offset as usize..*offset as usize + itemsize].copy_from_slice(&value);
    }
    memory = Room::of(&before);
    Target::of(&mut memory).fill(&region, &value, value.len()).expect("a region of this memory");
    assert_eq!(*memory, *expected, "fill");
}

/// A region with some of its numbers changed to anything: an error with nothing touched, or what it says.
fn stray(input: &mut Input<'_>, region: &mut Region, cell: &[u8], before: Vec<u8>, strides: &[isize], itemsize: usize) {
    for _ in 0..input.range(1..=2) {
        let number = input.u64() as i64 >> input.range(0..=63);
        match input.range(0..=1 + 4 * region.axes.len()) {
            0 => region.base = number as isize,
            1 => region.base = region.base.wrapping_add(number as isize),
            choice => {
                if let Axis::Strided { start, step, count, stride } = &mut region.axes[(choice - 2) / 4] {
                    match choice % 4 {
                        0 => *start = number,
                        1 => *step = number,
                        2 => *count = (number as u64 >> 1) as usize,
                        _ => *stride = number as isize,
                    }
                }
            }
        }
    }
    let wanted = region.axes.iter().try_fold(1usize, |total, axis| match axis {
        Axis::Strided { count, .. } => total.checked_mul(*count),
        Axis::Listed { .. } => Some(total),
    });
    // What repeats one element very often is legal, and slow.
    if wanted.is_none_or(|wanted| wanted > 100_000) {
        return;
    }
    let mut memory = Room::of(&before);
    if Target::of(&mut memory).scatter(region, &Room::of(cell), 0, strides, itemsize).is_err() {
        assert_eq!(*memory, *before, "refused, but touched");
    }
    let mut found = Room::of(cell);
    if Origin::of(&Room::of(&before)).gather(region, &mut found, strides, itemsize).is_err() {
        assert_eq!(*found, *cell, "refused, but touched");
    }
    let shape: Vec<usize> = region.axes.iter().map(|_| 3).collect();
    let _ = Origin::of(&before).verbatim(region, &shape, strides, cell.len());
}

/// Bytes that differ from their neighbours, and from those of another start.
fn numbered(length: usize, start: usize) -> Vec<u8> {
    let period = (0..251.min(length)).map(|i| ((i + start) * 167 % 251) as u8).collect();
    repeated(period, length)
}

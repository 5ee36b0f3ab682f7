//! Requests made of choices, and what they mean, element by element.

use std::sync::Arc;

use blizzarr_core::region::{Axis, Points, Region};

use crate::input::Input;

/// A request into a cell of `shape`, dense in memory in any order of its dimensions, with the bytes of memory it needs.
pub fn region(input: &mut Input<'_>, shape: &[usize], itemsize: usize) -> (Region, usize) {
    // Which group of points an axis belongs to.
    let mut groups = 0;
    let mut kinds = Vec::new();
    for &size in shape {
        if size > 0 && input.one_in(4) {
            let group = input.range(0..=groups);
            groups = groups.max(group + 1);
            kinds.push(Some(group));
        } else {
            kinds.push(None);
        }
    }
    let lists: Vec<usize> = (0..groups).map(|_| input.range(0..=7)).collect();
    let mut counts = Vec::new();
    let mut spaced = Vec::new();
    for (&size, kind) in shape.iter().zip(&kinds) {
        if kind.is_none() {
            let count = if input.flag() { input.range(0..=size) } else { size };
            let widest = if count > 1 { (size - 1) / (count - 1) } else { size.max(1) };
            let step = input.range(1..=widest) as i64;
            let reach = step * (count as i64 - 1).max(0);
            let first = input.range(0..=(size.max(1) as i64 - 1 - reach).max(0) as usize) as i64;
            spaced.push(if input.one_in(3) { (first + reach, -step, count) } else { (first, step, count) });
            counts.push(count);
        }
    }
    counts.extend(&lists);
    let mut strides = vec![0isize; counts.len()];
    let (mut total, mut base) = (itemsize as isize, 0);
    for dim in input.permutation(counts.len()).into_iter().rev() {
        let backwards = input.one_in(4);
        strides[dim] = if backwards { -total } else { total };
        if backwards {
            base += total * (counts[dim] as isize - 1).max(0);
        }
        total *= counts[dim].max(1) as isize;
    }
    let mut axes = Vec::new();
    let mut members = vec![Vec::new(); groups];
    let mut next = 0;
    for (&size, kind) in shape.iter().zip(&kinds) {
        match *kind {
            None => {
                let (start, step, count) = spaced[next];
                axes.push(Axis::Strided { start, step, count, stride: strides[next] });
                next += 1;
            }
            Some(group) => {
                axes.push(Axis::Listed { group, member: members[group].len() });
                let coords: Vec<i64> = (0..lists[group]).map(|_| input.range(0..=size - 1) as i64).collect();
                members[group].push(coords);
            }
        }
    }
    let first = spaced.len();
    let groups = members.into_iter().enumerate().map(|(group, coords)| Points {
        origin: vec![0; coords.len()],
        coords: coords.into(),
        offsets: Arc::new((0..lists[group] as isize).map(|point| point * strides[first + group]).collect()),
        range: 0..lists[group],
    });
    (Region { base, axes, groups: groups.collect() }, total as usize)
}

/// No cell here has more axes.
pub const RANK: usize = 3;
pub type Place = [i64; RANK];

/// Every wanted element in the order of the request: its position in the cell, and its byte offset in memory.
pub fn elements(region: &Region) -> Vec<(Place, isize)> {
    let mut found = vec![([0; RANK], region.base)];
    for (axis, wanted) in region.axes.iter().enumerate() {
        let Axis::Strided { start, step, count, stride } = *wanted else { continue };
        let mut next = Vec::with_capacity(found.len() * count);
        for &(mut position, offset) in &found {
            for number in 0..count {
                position[axis] = start + step * number as i64;
                next.push((position, offset + stride * number as isize));
            }
        }
        found = next;
    }
    for (group, points) in region.groups.iter().enumerate() {
        let mut next = Vec::new();
        for &(mut position, offset) in &found {
            for point in points.range.clone() {
                for (axis, wanted) in region.axes.iter().enumerate() {
                    if let Axis::Listed { group: of, member } = *wanted {
                        if of == group {
                            position[axis] = points.coords[member][point] - points.origin[member];
                        }
                    }
                }
                next.push((position, offset + points.offsets[point]));
            }
        }
        found = next;
    }
    found
}

/// Where an element is in a cell whose elements lie `strides` bytes apart.
pub fn at(position: &Place, strides: &[isize]) -> usize {
    position.iter().zip(strides).map(|(&place, &stride)| place as isize * stride).sum::<isize>() as usize
}

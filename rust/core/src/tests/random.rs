//! Small reproducible random numbers and requests.

use std::sync::Arc;

use crate::region::{Axis, Points, Region};

/// xorshift64*: good enough to pick test cases, and the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in `low..=high`.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.range(1, one_in) == 1
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }

    pub fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for position in (1..rank).rev() {
            order.swap(position, self.range(0, position));
        }
        order
    }

    /// A request into a cell of `shape`, laid out densely in memory in a random order of its dimensions.
    /// Returns it with the number of bytes of memory it needs.
    pub fn region(&mut self, shape: &[usize], itemsize: usize) -> (Region, usize) {
        // Dimensions of the result: one per strided axis, one per group.
        let mut counts = Vec::new();
        let mut kinds: Vec<Option<usize>> = Vec::new();
        let mut groups = 0;
        for &size in shape {
            if size > 0 && self.chance(4) {
                let group = if groups > 0 && self.chance(2) { self.range(0, groups - 1) } else { groups };
                groups = groups.max(group + 1);
                kinds.push(Some(group));
            } else {
                kinds.push(None);
            }
        }
        let lists: Vec<usize> = (0..groups).map(|_| self.range(0, 7)).collect();
        let mut strided = Vec::new();
        for (&size, kind) in shape.iter().zip(&kinds) {
            if kind.is_some() {
                continue;
            }
            let fewest = usize::from(!self.chance(8)).min(size);
            let count = self.range(fewest, size);
            let widest = if count > 1 { (size - 1) / (count - 1) } else { size.max(1) };
            let step = self.range(1, widest) as i64;
            let reach = step * (count as i64 - 1).max(0);
            let first = self.range(0, (size.max(1) as i64 - 1 - reach).max(0) as usize) as i64;
            let (start, step) = if self.chance(3) { (first + reach, -step) } else { (first, step) };
            strided.push((start, step, count));
            counts.push(count);
        }
        counts.extend(&lists);
        let mut strides = vec![0isize; counts.len()];
        let mut total = itemsize as isize;
        let mut base = 0;
        for dim in self.permutation(counts.len()) {
            // Now and then a dimension that runs backwards in memory.
            let backwards = self.chance(4);
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
                    let (start, step, count) = strided[next];
                    axes.push(Axis::Strided { start, step, count, stride: strides[next] });
                    next += 1;
                }
                Some(group) => {
                    axes.push(Axis::Listed { group, member: members[group].len() });
                    let coords: Vec<i64> = (0..lists[group]).map(|_| self.range(0, size - 1) as i64).collect();
                    members[group].push(coords);
                }
            }
        }
        let first_list = strided.len();
        let groups = members
            .into_iter()
            .enumerate()
            .map(|(group, coords)| Points {
                origin: vec![0; coords.len()],
                coords: coords.into(),
                offsets: Arc::new(
                    (0..lists[group] as isize).map(|point| point * strides[first_list + group]).collect(),
                ),
                range: 0..lists[group],
            })
            .collect();
        (Region { base, axes, groups }, total as usize)
    }
}

/// Every wanted element in the order of the request: its position in the cell, and its byte offset in memory.
pub fn elements(region: &Region) -> Vec<(Vec<i64>, isize)> {
    let mut pairs = vec![(vec![0i64; region.axes.len()], region.base)];
    for (axis, wanted) in region.axes.iter().enumerate() {
        if let Axis::Strided { start, step, count, stride } = *wanted {
            pairs = pairs
                .iter()
                .flat_map(|(position, offset)| {
                    (0..count).map(move |number| {
                        let mut position = position.clone();
                        position[axis] = start + step * number as i64;
                        (position, offset + stride * number as isize)
                    })
                })
                .collect();
        }
    }
    for (group, points) in region.groups.iter().enumerate() {
        pairs = pairs
            .iter()
            .flat_map(|(position, offset)| {
                points.range.clone().map(move |point| {
                    let mut position = position.clone();
                    for (axis, wanted) in region.axes.iter().enumerate() {
                        match *wanted {
                            Axis::Listed { group: of, member } if of == group => {
                                position[axis] = points.coords[member][point] - points.origin[member];
                            }
                            _ => {}
                        }
                    }
                    (position, offset + points.offsets[point])
                })
            })
            .collect();
    }
    pairs
}

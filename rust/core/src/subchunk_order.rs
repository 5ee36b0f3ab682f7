//! The order in which a writer lays the inner chunks of a shard down; readers find each by the index of the shard.

use crate::error::Result;
use crate::read_shard::linear;
use crate::scratch;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubchunkOrder {
    /// The last axis varies fastest: C order.
    #[default]
    Lexicographic,
    /// The first axis varies fastest.
    Colexicographic,
    /// The bits of the positions along all axes take turns; the lowest bit of the first axis varies fastest.
    Morton,
}

/// A part of the position along one axis: a multiple of `unit`, less than `count` times.
struct Digit {
    axis: usize,
    unit: i64,
    count: i64,
}

impl SubchunkOrder {
    /// The entries of the index, which has them in C order of the grid, in this order; `None` for C order itself.
    pub fn entries(self, grid: &[usize]) -> Result<Option<Vec<usize>>> {
        let backwards = || (0..grid.len()).rev().filter(|&axis| grid[axis] > 1);
        let digits: Vec<Digit> = match self {
            _ if grid.contains(&0) => return Ok(None),
            SubchunkOrder::Lexicographic => return Ok(None),
            SubchunkOrder::Colexicographic => {
                backwards().map(|axis| Digit { axis, unit: 1, count: grid[axis] as i64 }).collect()
            }
            SubchunkOrder::Morton => (0..usize::BITS)
                .rev()
                .flat_map(|bit| {
                    backwards().filter(move |&axis| (grid[axis] - 1) >> bit > 0).map(move |axis| (axis, bit))
                })
                .map(|(axis, bit)| Digit { axis, unit: 1 << bit, count: 2 })
                .collect(),
        };
        let mut entries = scratch::list(grid.iter().product())?;
        walk(&digits, grid, &mut vec![0; grid.len()], &mut entries);
        Ok(Some(entries))
    }
}

/// Appends the entries of all positions that begin with `at` and go on with these digits, the first of which is the
/// most significant one.
fn walk(digits: &[Digit], grid: &[usize], at: &mut [i64], entries: &mut Vec<usize>) {
    let Some((digit, rest)) = digits.split_first() else {
        entries.push(linear(grid, at));
        return;
    };
    let first = at[digit.axis];
    for number in 0..digit.count {
        at[digit.axis] = first + number * digit.unit;
        if at[digit.axis] < grid[digit.axis] as i64 {
            walk(rest, grid, at, entries);
        }
    }
    at[digit.axis] = first;
}

//! The cells of a grid along each axis: all of one length, or in runs of equal ones.
//!
//! A grid of uneven cells is never written down cell by cell. The cell of an element is found in the run that the element
//! is in, by bisection, and within that by a division.

use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::scratch;

/// Cells of one length in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The length of each of them.
    pub size: i64,
    /// The number of the first one.
    pub first: i64,
    /// The first element of that.
    pub start: i64,
}

/// The cells along one axis. Behind the last run, cells of its length follow without end.
#[derive(Clone, Debug)]
pub enum Side {
    Even(i64),
    Uneven(Arc<Vec<Run>>),
}

impl Side {
    /// Cells in these runs, of which each begins where the one before it ends; the three lists are as long as each other.
    pub fn uneven(sizes: &[i64], firsts: &[i64], starts: &[i64]) -> Result<Self> {
        let wrong = |reason: &str| Err(Error::new(Kind::Request, format!("expected runs of chunks, found {reason}")));
        if sizes.is_empty() || sizes.len() != firsts.len() || sizes.len() != starts.len() {
            return wrong("lists of several lengths, or none");
        }
        let runs = sizes.iter().zip(firsts).zip(starts);
        let list = scratch::listed(runs.map(|((&size, &first), &start)| Run { size, first, start }))?;
        if list[0].first != 0 || list[0].start != 0 || list.iter().any(|run| run.size < 1) {
            return wrong("one that does not begin at 0, or a length below 1");
        }
        let follows = |pair: &[Run]| {
            let cells = pair[1].first.checked_sub(pair[0].first).filter(|&cells| cells > 0);
            let stop = cells.and_then(|cells| cells.checked_mul(pair[0].size)?.checked_add(pair[0].start));
            stop == Some(pair[1].start)
        };
        if !list.windows(2).all(follows) {
            return wrong("one that does not begin where the one before it ends");
        }
        Ok(Side::Uneven(Arc::new(list)))
    }

    /// The cell that a position is in.
    pub fn cell(&self, position: i64) -> i64 {
        match self {
            Side::Even(size) => position / size,
            Side::Uneven(runs) => {
                let run = runs[run_at(runs, position)];
                run.first + (position - run.start) / run.size
            }
        }
    }

    /// Where a cell begins, and its length.
    pub fn bounds(&self, cell: i64) -> (i64, i64) {
        match self {
            Side::Even(size) => (cell.saturating_mul(*size), *size),
            Side::Uneven(runs) => {
                let run = runs[runs.partition_point(|run| run.first <= cell).saturating_sub(1)];
                (run.start.saturating_add(cell.saturating_sub(run.first).saturating_mul(run.size)), run.size)
            }
        }
    }
}

/// The number of the run that a position is in.
pub fn run_at(runs: &[Run], position: i64) -> usize {
    runs.partition_point(|run| run.start <= position).saturating_sub(1)
}

/// A grid, as it is divided along: cells of one shape, or the sides of several.
pub trait Grid {
    fn side(&self, axis: usize) -> Side;
    fn rank(&self) -> usize;
}

impl Grid for [usize] {
    fn side(&self, axis: usize) -> Side {
        Side::Even(self[axis] as i64)
    }

    fn rank(&self) -> usize {
        self.len()
    }
}

impl Grid for [Side] {
    fn side(&self, axis: usize) -> Side {
        self[axis].clone()
    }

    fn rank(&self) -> usize {
        self.len()
    }
}

//! Several regions divided along one grid: each cell comes once, with what every region wants of it.

use std::ops::Range;

use crate::error::Result;
use crate::region::Region;
use crate::scratch;
use crate::split::Split;

/// The cells of a grid that at least one of several regions touches.
pub struct Cells {
    splits: Vec<Split>,
    /// For several regions: who touches what, ordered by cells, and which of these belong to each cell.
    touches: Vec<Touch>,
    of_cells: Vec<Range<usize>>,
}

/// A cell of one region, by the number of the region and its own number in the division of that.
struct Touch {
    indices: Vec<i64>,
    part: usize,
    cell: usize,
}

impl Cells {
    /// Divides the regions, each by itself as `split` does.
    pub fn new<'r>(
        regions: impl Iterator<Item = &'r Region>,
        split: impl Fn(&Region) -> Result<Split>,
    ) -> Result<Self> {
        let splits = regions.map(split).collect::<Result<Vec<_>>>()?;
        let (mut touches, mut of_cells) = (Vec::new(), Vec::new());
        if splits.len() > 1 {
            let mut region = Region::default();
            for (part, split) in splits.iter().enumerate() {
                for cell in 0..split.count {
                    let mut indices = Vec::new();
                    split.cell(cell, &mut indices, &mut region);
                    scratch::push(&mut touches, Touch { indices, part, cell })?;
                }
            }
            // Stable, so that the last of several regions stays the last.
            touches.sort_by(|one, other| one.indices.cmp(&other.indices));
            let mut first = 0;
            for same in touches.chunk_by(|one, other| one.indices == other.indices) {
                scratch::push(&mut of_cells, first..first + same.len())?;
                first += same.len();
            }
        }
        Ok(Cells { splits, touches, of_cells })
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        match self.splits.as_slice() {
            [only] => only.count,
            _ => self.of_cells.len(),
        }
    }

    /// Cell number `index`: its indices in the grid go to `indices`; gives what is wanted of it by which region.
    pub fn cell(&self, index: usize, indices: &mut Vec<i64>) -> Vec<(usize, Region)> {
        let mut wanted = |part: usize, cell: usize| {
            let mut region = Region::default();
            self.splits[part].cell(cell, indices, &mut region);
            (part, region)
        };
        match self.splits.as_slice() {
            [_] => vec![wanted(0, index)],
            _ => {
                self.touches[self.of_cells[index].clone()].iter().map(|touch| wanted(touch.part, touch.cell)).collect()
            }
        }
    }
}

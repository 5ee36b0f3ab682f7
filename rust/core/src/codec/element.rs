//! The elements of the `bytes` codec: their byte order, and booleans.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html>.
//! Names: `bytes` (`endian` in drafts of v3); v1 and v2 say it in the data type (`>u4`). Any alignment will do.

use std::sync::Arc;

use super::blocks::vectorised;
use super::report;
use crate::error::Result;

/// Elements are reversed field by field in blocks of about this many bytes, which stay in the first-level cache.
const BLOCK: usize = 16 << 10;

/// The units whose bytes are reversed: an element, each half of a complex one, each character of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    None,
    Two,
    Four,
    Eight,
    /// Elements of `size` bytes whose parts have different units.
    Fields {
        size: usize,
        runs: Arc<[Run]>,
    },
}

/// So many bytes of an element, one after the other, that are alike: units of one size, or inner elements of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub length: usize,
    pub swap: Swap,
}

impl Swap {
    /// From the width of a unit in bytes; 0 and 1 leave the bytes as they are.
    pub fn new(unit: usize) -> Result<Self> {
        match unit {
            0 | 1 => Ok(Swap::None),
            2 => Ok(Swap::Two),
            4 => Ok(Swap::Four),
            8 => Ok(Swap::Eight),
            _ => Err(report::option("bytes", "swap unit", "0, 1, 2, 4 or 8 bytes", unit)),
        }
    }

    /// From the runs of an element, each of them some whole units. Neighbours that are alike become one.
    pub fn fields(runs: Vec<Run>) -> Result<Self> {
        let mut merged: Vec<Run> = Vec::with_capacity(runs.len());
        let mut size = 0_usize;
        for run in runs {
            if run.length == 0 || run.length % run.swap.size() != 0 {
                return Err(report::option("bytes", "run", "some bytes, in whole units", run.length));
            }
            size = size
                .checked_add(run.length)
                .ok_or_else(|| report::option("bytes", "runs", "fewer bytes than there is memory", "more"))?;
            match merged.last_mut() {
                Some(last) if last.swap == run.swap => last.length += run.length,
                _ => merged.push(run),
            }
        }
        match merged.as_slice() {
            [] => Err(report::option("bytes", "runs", "at least one", "none")),
            [only] => Ok(only.swap.clone()),
            _ => Ok(Swap::Fields { size, runs: merged.into() }),
        }
    }

    /// The bytes of one unit, or of one element that has fields.
    pub fn size(&self) -> usize {
        match self {
            Swap::None => 1,
            Swap::Two => 2,
            Swap::Four => 4,
            Swap::Eight => 8,
            Swap::Fields { size, .. } => *size,
        }
    }

    /// Reverses every unit where it lies. Bytes of an incomplete last unit stay; sizes are checked elsewhere.
    pub fn apply(&self, data: &mut [u8]) {
        match self {
            Swap::None => {}
            Swap::Fields { size, runs } => swap_fields(runs, *size, data),
            _ => vectorised(
                #[inline(always)]
                || match self {
                    Swap::Two => swap::<2>(data),
                    Swap::Four => swap::<4>(data),
                    _ => swap::<8>(data),
                },
            ),
        }
    }
}

/// One run after the other for all elements of a block, which leaves the loops nothing to decide.
fn swap_fields(runs: &[Run], size: usize, data: &mut [u8]) {
    let whole = data.len() - data.len() % size;
    for block in data[..whole].chunks_mut((BLOCK / size).max(1) * size) {
        let mut start = 0;
        for run in runs {
            match run.swap {
                Swap::None => {}
                Swap::Two => swap_run::<2>(run, start, size, block),
                Swap::Four => swap_run::<4>(run, start, size, block),
                Swap::Eight => swap_run::<8>(run, start, size, block),
                Swap::Fields { .. } => {
                    for element in block.chunks_exact_mut(size) {
                        run.swap.apply(&mut element[start..start + run.length]);
                    }
                }
            }
            start += run.length;
        }
    }
}

fn swap_run<const N: usize>(run: &Run, start: usize, size: usize, block: &mut [u8]) {
    let length = run.length;
    for element in block.chunks_exact_mut(size) {
        swap::<N>(&mut element[start..start + length]);
    }
}

// Reversing arrays of constant length is what the compiler turns into vector shuffles.
#[inline(always)]
fn swap<const N: usize>(data: &mut [u8]) {
    data.as_chunks_mut::<N>().0.iter_mut().for_each(|unit| unit.reverse());
}

/// Makes every byte that is not 0 a 1: what C programs and bit flips leave in boolean chunks is no legal `bool` in NumPy.
pub fn normalise_booleans(data: &mut [u8]) {
    for byte in data {
        *byte = u8::from(*byte != 0);
    }
}

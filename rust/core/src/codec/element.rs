//! The elements of the `bytes` codec: their byte order, and booleans.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html>.
//! Names: `bytes` (`endian` in drafts of v3); v1 and v2 say it in the data type (`>u4`). Any alignment will do.

use std::sync::Arc;

use super::report;
use crate::error::Result;

/// The units whose bytes are reversed: an element, each half of a complex one, each character of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swap {
    None,
    Two,
    Four,
    Eight,
    /// Elements of several fields, with runs of different units.
    Fields(Arc<[Run]>),
}

/// So many bytes of an element that are units of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub length: usize,
    pub unit: usize,
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

    /// From the runs of an element, whose lengths add up to its size and are whole units.
    pub fn fields(runs: Vec<Run>, itemsize: usize) -> Result<Self> {
        let mut total = 0_usize;
        for run in &runs {
            let whole = match Swap::new(run.unit)? {
                Swap::None => true,
                _ => run.length % run.unit == 0,
            };
            if !whole || run.length == 0 {
                return Err(report::option("bytes", "run", "some bytes, in whole units", run.length));
            }
            total = total.saturating_add(run.length);
        }
        if total != itemsize {
            return Err(report::option("bytes", "runs", &format!("{itemsize} bytes in all"), total));
        }
        Ok(if runs.iter().all(|run| run.unit < 2) { Swap::None } else { Swap::Fields(runs.into()) })
    }

    /// Reverses every unit where it lies. Bytes of an incomplete last unit stay; sizes are checked elsewhere.
    pub fn apply(&self, data: &mut [u8]) {
        match self {
            Swap::None => {}
            Swap::Two => swap::<2>(data),
            Swap::Four => swap::<4>(data),
            Swap::Eight => swap::<8>(data),
            Swap::Fields(runs) => swap_fields(runs, data),
        }
    }

    /// Copies `src` over `dst` of the same length, reversing every unit on the way: one pass instead of two.
    pub fn copy(&self, src: &[u8], dst: &mut [u8]) {
        match self {
            Swap::None => dst.copy_from_slice(src),
            Swap::Fields(runs) => {
                dst.copy_from_slice(src);
                swap_fields(runs, dst);
            }
            Swap::Two => swap_copy::<2>(src, dst),
            Swap::Four => swap_copy::<4>(src, dst),
            Swap::Eight => swap_copy::<8>(src, dst),
        }
    }
}

fn swap_fields(runs: &[Run], data: &mut [u8]) {
    let size = runs.iter().map(|run| run.length).sum();
    for element in data.chunks_exact_mut(size) {
        let mut rest = element;
        for run in runs {
            let (field, after) = rest.split_at_mut(run.length);
            match run.unit {
                2 => swap::<2>(field),
                4 => swap::<4>(field),
                8 => swap::<8>(field),
                _ => {}
            }
            rest = after;
        }
    }
}

// Reversing arrays of constant length is what the compiler turns into vector shuffles.
fn swap<const N: usize>(data: &mut [u8]) {
    for unit in data.chunks_exact_mut(N) {
        let mut bytes = [0; N];
        bytes.copy_from_slice(unit);
        bytes.reverse();
        unit.copy_from_slice(&bytes);
    }
}

fn swap_copy<const N: usize>(src: &[u8], dst: &mut [u8]) {
    let whole = src.len() - src.len() % N;
    dst[whole..].copy_from_slice(&src[whole..]);
    for (to, from) in dst.chunks_exact_mut(N).zip(src.chunks_exact(N)) {
        let mut bytes = [0; N];
        bytes.copy_from_slice(from);
        bytes.reverse();
        to.copy_from_slice(&bytes);
    }
}

/// Makes every byte that is not 0 a 1: what C programs and bit flips leave in boolean chunks is no legal `bool` in NumPy.
pub fn normalise_booleans(data: &mut [u8]) {
    for byte in data {
        *byte = u8::from(*byte != 0);
    }
}

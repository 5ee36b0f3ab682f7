//! The elements of the `bytes` codec: their byte order, and booleans.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html>.
//! Names: `bytes` (`endian` in drafts of v3); v1 and v2 say it in the data type (`>u4`). Any alignment will do.

use super::report;
use crate::error::Result;

/// The units whose bytes are reversed: an element, or each half of a complex one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swap {
    None,
    Two,
    Four,
    Eight,
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

    /// Reverses every unit where it lies. Bytes of an incomplete last unit stay; sizes are checked elsewhere.
    pub fn apply(self, data: &mut [u8]) {
        match self {
            Swap::None => {}
            Swap::Two => swap::<2>(data),
            Swap::Four => swap::<4>(data),
            Swap::Eight => swap::<8>(data),
        }
    }

    /// Copies `src` over `dst` of the same length, reversing every unit on the way: one pass instead of two.
    pub fn copy(self, src: &[u8], dst: &mut [u8]) {
        match self {
            Swap::None => dst.copy_from_slice(src),
            Swap::Two => swap_copy::<2>(src, dst),
            Swap::Four => swap_copy::<4>(src, dst),
            Swap::Eight => swap_copy::<8>(src, dst),
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

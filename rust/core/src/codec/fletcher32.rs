//! `fletcher32`: the checksum of HDF5's filter of this name, behind the data.
//!
//! Names: `fletcher32` in v2 (numcodecs), `numcodecs.fletcher32` in v3. HDF5's function takes words of two bytes, big
//! endian; a last byte alone is the upper one of a word. Both sums are numbers of 16 bits in ones' complement.

use super::blocks::vectorised;

/// The words of a block: the second sum of 360 is a number of 32 bits, and loops of a constant length become vectors.
const BLOCK: usize = 352;

/// The checksum of these bytes: the sum of the words, and above it that of all such sums on the way.
pub fn checksum(data: &[u8]) -> u32 {
    let (words, last) = data.as_chunks::<2>();
    let last = last.first().map(|&byte| [byte, 0]);
    let (blocks, words) = words.as_chunks::<BLOCK>();
    let (mut first, mut second) = (0, 0);
    vectorised(
        #[inline(always)]
        || {
            for block in blocks {
                let (mut sum, mut weighted) = (0, 0);
                // Each word is in the second sum as often as there are words from it on.
                for (index, bytes) in block.iter().enumerate() {
                    let word = u32::from(u16::from_be_bytes(*bytes));
                    sum += word;
                    weighted += word * (BLOCK - index) as u32;
                }
                second = folded(second + first * BLOCK as u64 + u64::from(weighted));
                first = folded(first + u64::from(sum));
            }
        },
    );
    for bytes in words.iter().chain(&last) {
        first = folded(first + u64::from(u16::from_be_bytes(*bytes)));
        second = folded(second + first);
    }
    (second << 16 | first) as u32
}

/// The number of 16 bits that is congruent modulo 2^16 - 1; only 0 becomes 0.
#[inline(always)]
fn folded(sum: u64) -> u64 {
    if sum == 0 {
        0
    } else {
        (sum - 1) % 0xffff + 1
    }
}

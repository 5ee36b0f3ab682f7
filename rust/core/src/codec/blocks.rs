//! Elements in blocks that stay in the first-level cache, by loops that compilers turn into vector instructions.
//!
//! Compilers use instructions that every processor of a kind has. For x86-64 that leaves out rounding, reversing bytes, and
//! half of each vector, so that loops in here are compiled a second time, for processors with AVX2: nearly all since 2013.

#![allow(unsafe_code)]

use super::number::put;
use super::room;
use crate::error::{Direction, Result};

/// The elements of a block: at 8 bytes each, 16 KiB.
pub const BLOCK: usize = 2048;
/// The elements of a block for loops that keep nothing between two passes over it: to find the loop for two data types takes
/// as long as 1,000 elements.
pub const LONG_BLOCK: usize = 8 * BLOCK;

/// Calls `work`, compiled for AVX2 where the processor has that. `work` has to be `#[inline(always)]`, as have the functions
/// with loops that it calls: only what becomes a part of the function for AVX2 is compiled for it.
#[inline(always)]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }

        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, which is all that the function needs.
            return unsafe { with_avx2(work) };
        }
    }
    work()
}

/// Calls `work` with the index of the first element of each block, the block, and the place of what becomes of it; a block
/// has `most` elements at most, and an element of `taken` bytes becomes one of `made`.
#[inline(always)]
pub fn each(
    most: usize,
    (src, taken): (&[u8], usize),
    (dst, made): (&mut [u8], usize),
    mut work: impl FnMut(usize, &[u8], &mut [u8]) -> Result<()>,
) -> Result<()> {
    vectorised(
        #[inline(always)]
        || {
            let blocks = src.chunks(most * taken).zip(dst.chunks_mut(most * made)).enumerate();
            for (number, (src, dst)) in blocks {
                work(number * most, src, dst)?;
            }
            Ok(())
        },
    )
}

/// The same for encoding: appends what becomes of the blocks. A block goes through the cache, so that memory that is written
/// to need not be filled with zeros before.
#[inline(always)]
pub fn append(
    codec: &'static str,
    most: usize,
    (src, taken): (&[u8], usize),
    (dst, made): (&mut Vec<u8>, usize),
    mut work: impl FnMut(usize, &[u8], &mut [u8]) -> Result<()>,
) -> Result<()> {
    room::reserve(codec, Direction::Encode, dst, (src.len() / taken).saturating_mul(made))?;
    let mut block = [0; BLOCK * 8];
    let most = most.min(block.len() / made);
    vectorised(
        #[inline(always)]
        || {
            for (number, src) in src.chunks(most * taken).enumerate() {
                let block = &mut block[..src.len() / taken * made];
                work(number * most, src, block)?;
                dst.extend_from_slice(block);
            }
            Ok(())
        },
    )
}

/// What each element of one byte becomes; nothing, where no rule tells.
#[derive(Debug)]
pub struct ByteTable(Box<[Option<u64>; 256]>);

impl ByteTable {
    pub fn new(becomes: impl Fn(u64) -> Option<u64>) -> Self {
        ByteTable(Box::new(std::array::from_fn(|byte| becomes(byte as u64))))
    }

    /// Stores what becomes of a block, in elements of `made` bytes; gives whether something does of each.
    #[inline(always)]
    pub fn run(&self, src: &[u8], (dst, made): (&mut [u8], usize)) -> bool {
        let mut has_all = true;
        for (byte, place) in src.iter().zip(dst.chunks_exact_mut(made)) {
            let becomes = self.0[usize::from(*byte)];
            has_all &= becomes.is_some();
            put(becomes.unwrap_or_default(), place);
        }
        has_all
    }
}

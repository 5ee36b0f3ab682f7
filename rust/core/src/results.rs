//! Memory for results, kept for the next result.
//!
//! Fresh memory costs more than reading into it: the system clears every page before it hands the page out, which for
//! 64 MiB takes about as long as copying them out of the page cache. So this module keeps the blocks of former results for
//! later ones. It offers kept blocks to the system (`MADV_FREE`): the system takes them back whenever memory is short, and
//! until then it costs nothing to use them again. On systems without such an offer, nothing is kept.

#![allow(unsafe_code)]

use std::alloc::{alloc, dealloc, Layout};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Kind, Result};
use crate::fork::PerProcess;

/// Smaller results are the allocator's business: they are no whole large page, and to use small pages again that were offered
/// costs more than the allocator does.
pub const FROM: usize = LARGE_PAGE / 5 * 4;
/// The most bytes that are kept, in all blocks together.
const KEEP: usize = 256 << 20;
/// Blocks are aligned to large pages. Their length is a multiple of a large page if that wastes no more than a quarter of
/// the block: if a user keeps 1,000 results of 1.1 MiB, whole large pages would waste nearly half of their memory.
const LARGE_PAGE: usize = 2 << 20;
/// Other lengths are multiples of this one: whole pages, and few different lengths, so that blocks fit later results.
const STEP: usize = 64 << 10;

static KEPT: PerProcess<Mutex<Vec<Block>>> = PerProcess::new(|| Mutex::new(Vec::new()));

/// One block of memory with unspecified contents.
pub struct Memory(Option<Block>);

struct Block {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a block is the only owner of its memory.
unsafe impl Send for Block {}
// SAFETY: a shared block only gives its address and length.
unsafe impl Sync for Block {}

impl Memory {
    /// At least `length` bytes.
    pub fn new(length: usize) -> Result<Self> {
        let rounded = [LARGE_PAGE, STEP]
            .into_iter()
            .filter_map(|step| length.max(1).checked_next_multiple_of(step))
            .find(|&rounded| rounded - length <= length / 4 || rounded <= STEP)
            .filter(|&rounded| rounded <= isize::MAX as usize);
        let Some(rounded) = rounded else { return Err(out_of_memory(length)) };
        let reused = {
            let mut kept = KEPT.get().lock().unwrap_or_else(PoisonError::into_inner);
            let fits = |block: &Block| block.length >= rounded && block.length <= rounded + rounded / 4;
            kept.iter().rposition(fits).map(|at| kept.remove(at))
        };
        reused.or_else(|| Block::new(rounded)).map(|block| Memory(Some(block))).ok_or_else(|| out_of_memory(length))
    }

    pub fn start(&self) -> NonNull<u8> {
        self.0.as_ref().map_or(NonNull::dangling(), |block| block.start)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Some(block) = self.0.take().filter(Block::offer) else { return };
        let mut dropped = Vec::new();
        let mut kept = KEPT.get().lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(block);
        // The oldest go first.
        let mut total: usize = kept.iter().map(|block| block.length).sum();
        while total > KEEP {
            let oldest = kept.remove(0);
            total -= oldest.length;
            dropped.push(oldest);
        }
        drop(kept); // giving memory back takes a while: not while others wait
        drop(dropped);
    }
}

impl Block {
    fn layout(length: usize) -> Option<Layout> {
        Layout::from_size_align(length, LARGE_PAGE).ok()
    }

    fn new(length: usize) -> Option<Self> {
        // SAFETY: the length is not 0.
        let start = NonNull::new(unsafe { alloc(Self::layout(length)?) })?;
        let block = Block { start, length };
        #[cfg(target_os = "linux")]
        block.advise(libc::MADV_HUGEPAGE);
        Some(block)
    }

    /// Lets the system take the contents when it needs memory; `false` when the block is better given back now.
    fn offer(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.length <= KEEP && self.advise(libc::MADV_FREE);
        #[cfg(not(target_os = "linux"))]
        false
    }

    #[cfg(target_os = "linux")]
    fn advise(&self, advice: libc::c_int) -> bool {
        // SAFETY: the whole pages of a block that this process owns; both kinds of advice keep the mapping, and the
        // contents of a block that is offered are not needed any more.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.length, advice) == 0 }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.length) {
            // SAFETY: allocated with this layout, and dropped once.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

fn out_of_memory(length: usize) -> Error {
    Error::new(Kind::Limit, format!("cannot allocate {length} bytes for a result"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a result leaves behind is where the next one of about its size lies; far smaller ones go elsewhere.
    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_used_again() {
        // Sizes of their own, as other tests share the kept blocks.
        let first = Memory::new(37 * LARGE_PAGE - 5).unwrap();
        let start = first.start();
        // SAFETY: the block is at least that long and nobody else's.
        unsafe { start.as_ptr().write_bytes(7, 37 * LARGE_PAGE - 5) };
        drop(first);
        let small = Memory::new(20 * LARGE_PAGE).unwrap();
        assert_ne!(small.start(), start);
        let again = Memory::new(36 * LARGE_PAGE).unwrap();
        assert_eq!(again.start(), start);
    }

    /// Rounding up is bounded: what somebody keeps many of is about as large as it says.
    #[test]
    fn little_is_wasted() {
        for length in [FROM, FROM + 1, LARGE_PAGE + 1, 5 * FROM, 9 * FROM + 7, 101 * FROM] {
            let block = Memory::new(length).unwrap().0.take().unwrap();
            assert!((length..=length + length / 2).contains(&block.length), "{length}: {}", block.length);
        }
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        assert_eq!(Memory::new(usize::MAX).map(drop).unwrap_err().kind, Kind::Limit);
        assert_eq!(Memory::new(isize::MAX as usize - LARGE_PAGE).map(drop).unwrap_err().kind, Kind::Limit);
    }
}

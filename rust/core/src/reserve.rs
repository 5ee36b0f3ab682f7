//! A little memory in reserve, for the small allocations that Rust cannot do without.
//!
//! What follows in size from data or from a selection is allocated so that it may fail, and is an error then. On the way
//! there, a box, a name, a list of a few entries must not fail: Rust ends the process. So where the system has no memory
//! any more, blocks of up to [`BLOCK`] bytes come from here, until what asked for much has given up.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

const BLOCK: usize = 1024;
const ALIGNMENT: usize = 64;
const WORDS: usize = 4;

/// The system's allocator, and behind it the reserve.
pub struct Reserving;

/// Blocks of memory that is not used, so that the system provides no pages for it, before there is none left.
#[repr(C, align(64))]
struct Blocks(UnsafeCell<[MaybeUninit<u8>; BLOCK * WORDS * 64]>);

// SAFETY: nobody reads or writes a block but its owner, who has set its bit in `TAKEN`.
unsafe impl Sync for Blocks {}

static BLOCKS: Blocks = Blocks(UnsafeCell::new([MaybeUninit::uninit(); BLOCK * WORDS * 64]));
static TAKEN: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

/// A block that nobody has; `None` if there is none, or it would be too small.
fn take(size: usize, alignment: usize) -> Option<NonNull<u8>> {
    if size > BLOCK || alignment > ALIGNMENT {
        return None;
    }
    for (word, taken) in TAKEN.iter().enumerate() {
        loop {
            let free = !taken.load(Ordering::Relaxed);
            if free == 0 {
                break;
            }
            let bit = free.trailing_zeros();
            if taken.fetch_or(1 << bit, Ordering::Acquire) & (1 << bit) == 0 {
                let offset = (word * 64 + bit as usize) * BLOCK;
                // SAFETY: the offset is within the blocks.
                return NonNull::new(unsafe { BLOCKS.0.get().cast::<u8>().add(offset) });
            }
        }
    }
    None
}

/// The number of the block at this address; `None` if it is not in the reserve.
fn number_of(address: *mut u8) -> Option<usize> {
    let offset = (address as usize).wrapping_sub(BLOCKS.0.get() as usize);
    (offset < BLOCK * WORDS * 64).then_some(offset / BLOCK)
}

fn give_back(number: usize) {
    TAKEN[number / 64].fetch_and(!(1 << (number % 64)), Ordering::Release);
}

fn or_take(address: *mut u8, layout: Layout) -> *mut u8 {
    if address.is_null() {
        take(layout.size(), layout.align()).map_or(address, NonNull::as_ptr)
    } else {
        address
    }
}

// SAFETY: memory is the system's, or a block of the reserve, which has room for the layout and one owner at a time.
unsafe impl GlobalAlloc for Reserving {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        or_take(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let address = or_take(unsafe { System.alloc_zeroed(layout) }, layout);
        if number_of(address).is_some() {
            // SAFETY: the block has room for the layout, and is ours.
            unsafe { ptr::write_bytes(address, 0, layout.size()) };
        }
        address
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        match number_of(address) {
            Some(number) => give_back(number),
            // SAFETY: it is the system's; the caller's promise.
            None => unsafe { System.dealloc(address, layout) },
        }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if number_of(address).is_none() {
            // SAFETY: it is the system's; the caller's promise.
            let moved = unsafe { System.realloc(address, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        } else if size <= BLOCK {
            return address;
        }
        // SAFETY: the caller promises that the size does not overflow with this alignment.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both have room for so many bytes, and are different allocations.
            unsafe { ptr::copy_nonoverlapping(address, moved, layout.size().min(size)) };
            // SAFETY: the caller gives it up, as `moved` takes its place.
            unsafe { self.dealloc(address, layout) };
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_the_reserve_have_one_owner_and_come_back() {
        // One test, as the reserve is that of the whole process.
        let all: Vec<NonNull<u8>> = std::iter::from_fn(|| take(BLOCK, ALIGNMENT)).collect();
        assert_eq!(all.len(), WORDS * 64);
        let mut numbers: Vec<usize> = all.iter().filter_map(|block| number_of(block.as_ptr())).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..WORDS * 64).collect::<Vec<_>>());
        assert!(all.iter().all(|block| (block.as_ptr() as usize).is_multiple_of(ALIGNMENT)));
        assert_eq!(take(1, 1), None);
        numbers.into_iter().for_each(give_back);
        assert_eq!((take(BLOCK + 1, 1), take(1, 128)), (None, None));

        let small = Layout::from_size_align(16, 8).unwrap();
        let block = take(16, 8).unwrap().as_ptr();
        // SAFETY: the block is ours, has room for these layouts, and is given up as each call says.
        unsafe {
            ptr::copy_nonoverlapping([7u8; 16].as_ptr(), block, 16);
            let same = Reserving.realloc(block, small, BLOCK);
            assert_eq!(same, block);
            let moved = Reserving.realloc(same, Layout::from_size_align(BLOCK, 8).unwrap(), BLOCK * 2);
            assert_eq!(number_of(moved), None);
            assert_eq!(std::slice::from_raw_parts(moved, 16), [7; 16]);
            let shorter = Reserving.realloc(moved, Layout::from_size_align(BLOCK * 2, 8).unwrap(), 8);
            assert_eq!(std::slice::from_raw_parts(shorter, 8), [7; 8]);
            Reserving.dealloc(shorter, Layout::from_size_align(8, 8).unwrap());
        }
        assert_eq!(number_of(take(1, 1).unwrap().as_ptr()), Some(0));
        give_back(0);
        assert_eq!(number_of(or_take(ptr::null_mut(), small)), Some(0));
        give_back(0);
    }
}

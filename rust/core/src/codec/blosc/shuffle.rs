//! The two filters of blosc: transposing the bytes, or the bits, of the elements of a block. The kernels are c-blosc's,
//! but for that of the bits where the processor has AVX2.

#![allow(unsafe_code)]

use std::ffi::c_int;

#[cfg(target_arch = "x86_64")]
use super::bits::Avx2;
use super::{room, NAME};
use crate::error::{Direction, Error, Result};

extern "C" {
    // `shuffle.h` of c-blosc, which `blosc-src` builds but does not declare. Each picks its kernel by the processor.
    fn blosc_internal_shuffle(typesize: usize, size: usize, src: *const u8, dst: *mut u8);
    fn blosc_internal_unshuffle(typesize: usize, size: usize, src: *const u8, dst: *mut u8);
    fn blosc_internal_bitshuffle(typesize: usize, size: usize, src: *const u8, dst: *mut u8, work: *mut u8) -> c_int;
    fn blosc_internal_bitunshuffle(typesize: usize, size: usize, src: *const u8, dst: *mut u8, work: *mut u8) -> c_int;
}

/// `shuffle`: what is done to a block before it is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    None,
    Bytes,
    Bits,
}

impl Shuffle {
    pub fn from_number(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|i| [Shuffle::None, Shuffle::Bytes, Shuffle::Bits].get(i).copied())
    }

    pub fn is_none(self) -> bool {
        self == Shuffle::None
    }

    /// What is really done to a block of `size` bytes: single bytes are not shuffled, less than one element not bit by bit.
    pub fn on(self, typesize: usize, size: usize) -> Self {
        match self {
            Shuffle::Bytes if typesize > 1 => Shuffle::Bytes,
            Shuffle::Bits if size >= typesize => Shuffle::Bits,
            _ => Shuffle::None,
        }
    }

    /// Filters `src` into `dst` of the same length.
    pub fn apply(self, typesize: usize, src: &[u8], dst: &mut [u8], work: &mut Vec<u8>) -> Result<()> {
        self.run(Direction::Encode, typesize, src, dst, work, blosc_internal_shuffle, blosc_internal_bitshuffle)
    }

    /// Undoes [`Shuffle::apply`].
    pub fn undo(self, typesize: usize, src: &[u8], dst: &mut [u8], work: &mut Vec<u8>) -> Result<()> {
        self.run(Direction::Decode, typesize, src, dst, work, blosc_internal_unshuffle, blosc_internal_bitunshuffle)
    }

    #[allow(clippy::too_many_arguments)]
    fn run(
        self,
        direction: Direction,
        typesize: usize,
        src: &[u8],
        dst: &mut [u8],
        work: &mut Vec<u8>,
        bytes: unsafe extern "C" fn(usize, usize, *const u8, *mut u8),
        bits: unsafe extern "C" fn(usize, usize, *const u8, *mut u8, *mut u8) -> c_int,
    ) -> Result<()> {
        assert!(src.len() == dst.len() && typesize > 0);
        let size = src.len();
        match self {
            Shuffle::None => dst.copy_from_slice(src),
            // SAFETY: both slices are `size` bytes long and disjoint; the kernels read and write exactly `size` bytes, elements
            // that do not fill a vector and bytes that do not fill an element included. `typesize` is not 0.
            Shuffle::Bytes => unsafe { bytes(typesize, size, src.as_ptr(), dst.as_mut_ptr()) },
            Shuffle::Bits => {
                let work = room::scratch(NAME, direction, work, size)?;
                #[cfg(target_arch = "x86_64")]
                if let (Some(kernel), true) = (Avx2::detect(), in_planes(typesize, size)) {
                    by_planes(kernel, direction, typesize, src, dst, work, bytes);
                    return Ok(());
                }
                // SAFETY: as above; the work buffer, a third disjoint slice, takes at most the whole elements of the block.
                let code = unsafe { bits(typesize, size, src.as_ptr(), dst.as_mut_ptr(), work.as_mut_ptr()) };
                if code < 0 {
                    let mut error = Error::decode(NAME, format!("the bit shuffle failed with code {code}"));
                    error.direction = Some(direction);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// Whether the bits of a block are transposed plane by plane: c-blosc's kernels for bytes are slow for other elements, and
/// leave a block as it is whose elements do not fill all bytes of a row.
#[cfg(target_arch = "x86_64")]
fn in_planes(typesize: usize, size: usize) -> bool {
    matches!(typesize, 1 | 2 | 4 | 8 | 16) && size.is_multiple_of(8 * typesize)
}

#[cfg(target_arch = "x86_64")]
fn by_planes(
    kernel: Avx2,
    direction: Direction,
    typesize: usize,
    src: &[u8],
    dst: &mut [u8],
    work: &mut [u8],
    bytes: unsafe extern "C" fn(usize, usize, *const u8, *mut u8),
) {
    let size = src.len();
    assert!(dst.len() == size && work.len() == size);
    let plane = size / typesize;
    match (direction, typesize) {
        (Direction::Encode, 1) => kernel.to_rows(src, dst),
        (Direction::Decode, 1) => kernel.to_plane(src, dst),
        (Direction::Encode, _) => {
            // SAFETY: both are `size` bytes long and disjoint, see `run`.
            unsafe { bytes(typesize, size, src.as_ptr(), work.as_mut_ptr()) };
            work.chunks_exact(plane)
                .zip(dst.chunks_exact_mut(plane))
                .for_each(|(plane, rows)| kernel.to_rows(plane, rows));
        }
        (Direction::Decode, _) => {
            src.chunks_exact(plane)
                .zip(work.chunks_exact_mut(plane))
                .for_each(|(rows, plane)| kernel.to_plane(rows, plane));
            // SAFETY: as above.
            unsafe { bytes(typesize, size, work.as_ptr(), dst.as_mut_ptr()) };
        }
    }
}

//! `shuffle`: the first bytes of all elements, then the second ones, and so on, by Blosc's kernels.
//!
//! Names: `shuffle` in v2 (numcodecs; HDF5 has the same filter), `numcodecs.shuffle` in v3.

use super::blosc::Shuffle as Kernel;
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Result};

const NAME: &str = "shuffle";

/// The `shuffle` codec with its option checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffle {
    element: usize,
}

impl Shuffle {
    /// `element` is the length of an element in bytes; with 1, and 0, nothing is done.
    pub fn new(element: i64) -> Result<Self> {
        match u32::try_from(element) {
            Ok(element) => Ok(Shuffle { element: element.max(1) as usize }),
            Err(_) => Err(report::option(NAME, "elementsize", "an integer of 32 bits, 0 or more", element)),
        }
    }

    fn check(&self, direction: Direction, length: usize) -> Result<()> {
        match length.is_multiple_of(self.element) {
            true => Ok(()),
            false => Err(report::uneven(NAME, direction, self.element, length)),
        }
    }

    fn kernel(&self) -> Kernel {
        if self.element > 1 {
            Kernel::Bytes
        } else {
            Kernel::None
        }
    }
}

impl BytesToBytes for Shuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        decoded
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != dst.len() {
            return Err(report::wrong_size(NAME, dst.len(), src.len()));
        }
        self.check(Direction::Decode, src.len())?;
        self.kernel().undo(self.element, src, dst, &mut Vec::new())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, src.len(), limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        self.check(Direction::Encode, src.len())?;
        self.kernel().apply(self.element, src, room::appended(NAME, dst, src.len())?, &mut Vec::new())
    }
}

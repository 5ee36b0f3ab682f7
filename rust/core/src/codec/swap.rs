//! The byte order of elements behind filters, whose output has the machine's own.

use super::element::Swap;
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Result};

const NAME: &str = "bytes";

/// The `bytes` codec as a step of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swapped(Swap);

impl Swapped {
    /// `unit` is the number of bytes that are reversed together.
    pub fn new(unit: i64) -> Result<Self> {
        let unit =
            usize::try_from(unit).map_err(|_| report::option(NAME, "swap unit", "0, 1, 2, 4 or 8 bytes", unit))?;
        Ok(Swapped(Swap::new(unit)?))
    }
}

impl BytesToBytes for Swapped {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        decoded
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn encoded_element(&self, size: usize) -> Option<usize> {
        size.is_multiple_of(self.0.size()).then_some(size)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != dst.len() {
            return Err(report::wrong_size(NAME, dst.len(), src.len()));
        }
        dst.copy_from_slice(src);
        self.0.apply(dst);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, src.len(), limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let before = dst.len();
        room::reserve(NAME, Direction::Encode, dst, src.len())?;
        dst.extend_from_slice(src);
        self.0.apply(&mut dst[before..]);
        Ok(())
    }
}

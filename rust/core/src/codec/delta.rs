//! `delta`: the first element, then the difference of each element from the one before.
//!
//! Names: `delta` in v2 (numcodecs), `numcodecs.delta` in v3. Types are those of numcodecs in the machine's byte order.

use super::blocks;
use super::float_blocks::by_integer;
use super::number::Format;
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "delta";

/// The `delta` codec with its options checked. Differences wrap around; those of floating point are left to numcodecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    elements: Format,
    differences: Format,
}

impl Delta {
    /// The data types of elements and of differences, like `int32`.
    pub fn new(elements: &str, differences: &str) -> Result<Self> {
        let integer = |name, found| match Format::named(NAME, found)? {
            format if format.is_integer() && format.is_machine_type() => Ok(format),
            _ => Err(report::option(NAME, name, "a type of integers of this machine", found)),
        };
        Ok(Delta { elements: integer("dtype", elements)?, differences: integer("astype", differences)? })
    }

    fn length(&self, decoded: usize) -> Option<usize> {
        let size = self.elements.bytes();
        decoded.is_multiple_of(size).then(|| (decoded / size).checked_mul(self.differences.bytes()))?
    }
}

macro_rules! add_up {
    ($src:expr, $dst:expr, $from:ty, $to:ty) => {{
        let mut sum: $to = 0;
        for (difference, place) in $src.as_chunks().0.iter().zip($dst.as_chunks_mut().0) {
            sum = sum.wrapping_add(<$from>::from_ne_bytes(*difference) as $to);
            *place = sum.to_ne_bytes();
        }
    }};
}

impl BytesToBytes for Delta {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        self.length(decoded).unwrap_or(decoded)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        self.length(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if self.length(dst.len()) != Some(src.len()) {
            return Err(report::wrong_size(NAME, self.length(dst.len()).unwrap_or(dst.len()), src.len()));
        }
        macro_rules! each {
            ($from:ty) => {
                match self.elements.bytes() {
                    1 => add_up!(src, dst, $from, u8),
                    2 => add_up!(src, dst, $from, u16),
                    4 => add_up!(src, dst, $from, u32),
                    _ => add_up!(src, dst, $from, u64),
                }
            };
        }
        by_integer!(self.differences, each, {});
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let size = (src.len() / self.differences.bytes()).saturating_mul(self.elements.bytes());
        room::of_size(NAME, size, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let size = self.elements.bytes();
        if !src.len().is_multiple_of(size) {
            return Err(report::uneven(NAME, Direction::Encode, size, src.len()));
        }
        blocks::append(
            NAME,
            (src, size),
            (dst, self.differences.bytes()),
            #[inline(always)]
            |start, block, dst| {
                let mut has_all = true;
                macro_rules! from {
                    ($from:ty) => {{
                        macro_rules! to {
                            ($to:ty) => {{
                                let mut put = |this: &_, before: $from, place: &mut _| {
                                    let difference = <$from>::from_ne_bytes(*this).wrapping_sub(before);
                                    let made = difference as $to;
                                    // Wider types have them all; casting back finds what a narrower one lost.
                                    has_all &= size_of::<$to>() >= size_of::<$from>() || made as $from == difference;
                                    *place = made.to_ne_bytes();
                                };
                                let (elements, places) = (block.as_chunks().0, dst.as_chunks_mut().0);
                                if let ([first, others @ ..], [place, places @ ..]) = (elements, places) {
                                    // From the first of all, nothing is subtracted.
                                    let before = src[..start * size].last_chunk();
                                    put(first, before.map_or(0, |bytes| <$from>::from_ne_bytes(*bytes)), place);
                                    for ((before, this), place) in elements.iter().zip(others).zip(places) {
                                        put(this, <$from>::from_ne_bytes(*before), place);
                                    }
                                }
                            }};
                        }
                        by_integer!(self.differences, to, {})
                    }};
                }
                by_integer!(self.elements, from, {});
                match has_all {
                    true => Ok(()),
                    false => Err(Error::encode(
                        NAME,
                        "expected differences that the type astype has, found others; choose a wider one",
                    )),
                }
            },
        )
    }
}

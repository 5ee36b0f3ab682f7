//! `delta`: the first element, then the difference of each element from the one before.
//!
//! Names: `delta` in v2 (numcodecs), `numcodecs.delta` in v3. Types are those of numcodecs in the machine's byte order.

use std::ops::Add;

use super::blocks;
use super::float_blocks::by_integer;
use super::number::{Format, FLOAT32};
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "delta";

/// The `delta` codec with its options checked. Differences of integers wrap around. Those of
/// floating point are of the same type; other pairs of types are left to numcodecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    elements: Format,
    differences: Format,
}

impl Delta {
    /// The data types of elements and of differences, like `int32`.
    pub fn new(elements: &str, differences: &str) -> Result<Self> {
        let number = |name, found| match Format::named(NAME, found)? {
            format if format.is_machine_type() => Ok(format),
            _ => Err(report::option(NAME, name, "a type of numbers of this machine", found)),
        };
        let (elements, differences) = (number("dtype", elements)?, number("astype", differences)?);
        if elements != differences && !(elements.is_integer() && differences.is_integer()) {
            return Err(report::option(NAME, "astype", "integers, or the floating point of dtype", "another type"));
        }
        Ok(Delta { elements, differences })
    }

    fn length(&self, decoded: usize) -> Option<usize> {
        let size = self.elements.bytes();
        decoded.is_multiple_of(size).then(|| (decoded / size).checked_mul(self.differences.bytes()))?
    }
}

/// Stores the sums, from `$nothing` on, which adding changes nothing.
macro_rules! add_up {
    ($src:expr, $dst:expr, $from:ty, $to:ty, $nothing:expr, $add:expr) => {{
        let mut sum: $to = $nothing;
        for (difference, place) in $src.as_chunks().0.iter().zip($dst.as_chunks_mut().0) {
            sum = $add(sum, <$from>::from_ne_bytes(*difference) as $to);
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
        macro_rules! integers {
            ($from:ty) => {
                match self.elements.bytes() {
                    1 => add_up!(src, dst, $from, u8, 0, u8::wrapping_add),
                    2 => add_up!(src, dst, $from, u16, 0, u16::wrapping_add),
                    4 => add_up!(src, dst, $from, u32, 0, u32::wrapping_add),
                    _ => add_up!(src, dst, $from, u64, 0, u64::wrapping_add),
                }
            };
        }
        by_integer!(
            self.differences,
            integers,
            match self.differences {
                FLOAT32 => add_up!(src, dst, f32, f32, -0.0, f32::add),
                _ => add_up!(src, dst, f64, f64, -0.0, f64::add),
            }
        );
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
            blocks::LONG_BLOCK,
            (src, size),
            (dst, self.differences.bytes()),
            #[inline(always)]
            |start, block, dst| {
                let mut has_all = true;
                macro_rules! subtract {
                    ($from:ty, $to:ty, $made:expr) => {{
                        let number = |bytes: &[u8; size_of::<$from>()]| <$from>::from_ne_bytes(*bytes);
                        let (elements, places) = (block.as_chunks().0, dst.as_chunks_mut().0);
                        if let ([first, others @ ..], [place, places @ ..]) = (elements, places) {
                            // From the first of all, nothing is subtracted.
                            let before = src[..start * size].last_chunk().map_or(<$from>::default(), number);
                            let made: $to = $made(number(first), before);
                            *place = made.to_ne_bytes();
                            for ((before, this), place) in elements.iter().zip(others).zip(places) {
                                let made: $to = $made(number(this), number(before));
                                *place = made.to_ne_bytes();
                            }
                        }
                    }};
                }
                macro_rules! from {
                    ($from:ty) => {{
                        macro_rules! to {
                            ($to:ty) => {
                                subtract!($from, $to, |this: $from, before| {
                                    let difference = this.wrapping_sub(before);
                                    let made = difference as $to;
                                    // Wider types have them all; casting back finds what a narrower one lost.
                                    has_all &= size_of::<$to>() >= size_of::<$from>() || made as $from == difference;
                                    made
                                })
                            };
                        }
                        by_integer!(self.differences, to, {})
                    }};
                }
                by_integer!(
                    self.elements,
                    from,
                    match self.elements {
                        FLOAT32 => subtract!(f32, f32, |this: f32, before| this - before),
                        _ => subtract!(f64, f64, |this: f64, before| this - before),
                    }
                );
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

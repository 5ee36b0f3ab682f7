//! `bitround`: fewer significant bits, so that what follows compresses better. Decoding changes nothing.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/bitround>.

use super::blocks;
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Result};

const NAME: &str = "bitround";

/// The `bitround` codec with its options checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bitround {
    bytes: usize,
    /// Of floating point, the bits of the mantissa; of integers, 0: what counts begins at the first bit that is set.
    mantissa: u32,
    keepbits: u32,
}

impl Bitround {
    /// `bytes` is the size of a number, of a complex one that of its parts.
    pub fn new(bytes: i64, mantissa: i64, keepbits: i64) -> Result<Self> {
        match (bytes, u32::try_from(mantissa), u32::try_from(keepbits)) {
            (1 | 2 | 4 | 8, Ok(mantissa @ 0..=52), Ok(keepbits)) => {
                Ok(Bitround { bytes: bytes as usize, mantissa, keepbits })
            }
            _ => Err(report::option(NAME, "keepbits", "bits of a number of 1, 2, 4 or 8 bytes", keepbits)),
        }
    }

    fn rounded(self, value: u64) -> u64 {
        let whole = u64::MAX >> (64 - 8 * self.bytes);
        let from = match self.mantissa {
            0 => 64 - value.leading_zeros(),
            bits => bits,
        };
        let Some(dropped) = from.checked_sub(self.keepbits).filter(|&bits| bits > 0) else {
            return value;
        };
        if self.mantissa > 0 && self.is_nan(value) {
            return value;
        }
        // Halfway, to the even neighbour; where the greater neighbour is none of the type's, to the lesser one.
        let up = (1 << (dropped - 1)) - 1 + (value >> (dropped - 1) >> 1 & 1);
        let sum = value.checked_add(up).filter(|&sum| sum <= whole).unwrap_or(value);
        sum >> (dropped - 1) >> 1 << (dropped - 1) << 1
    }

    fn is_nan(self, value: u64) -> bool {
        let magnitude = value << (65 - 8 * self.bytes) >> (65 - 8 * self.bytes);
        let infinity = (u64::MAX >> (65 - 8 * self.bytes)) >> self.mantissa << self.mantissa;
        magnitude > infinity
    }
}

impl BytesToBytes for Bitround {
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
        size.is_multiple_of(self.bytes).then_some(size)
    }

    fn decodes_to_itself(&self) -> bool {
        true
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != dst.len() {
            return Err(report::wrong_size(NAME, dst.len(), src.len()));
        }
        dst.copy_from_slice(src);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, src.len(), limit, dst, |dst| self.decode_exact(src, dst))
    }

    /// Each element is encoded by itself.
    fn source_may_change(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        if !src.len().is_multiple_of(self.bytes) {
            return Err(report::uneven(NAME, Direction::Encode, self.bytes, src.len()));
        }
        // The size is a constant in each loop.
        macro_rules! each {
            ($type:ty) => {
                blocks::append(
                    NAME,
                    blocks::LONG_BLOCK,
                    (src, size_of::<$type>()),
                    (dst, size_of::<$type>()),
                    #[inline(always)]
                    |_, src, dst| {
                        let elements = src.as_chunks().0.iter().zip(dst.as_chunks_mut().0);
                        let Some(dropped) = self.mantissa.checked_sub(self.keepbits).filter(|&bits| bits > 0) else {
                            elements.for_each(|(src, dst)| {
                                *dst = (self.rounded(<$type>::from_ne_bytes(*src).into()) as $type).to_ne_bytes();
                            });
                            return Ok(());
                        };
                        // As `rounded`, without a branch.
                        let (half, sign) = ((1 << (dropped - 1)) - 1, <$type>::MAX >> 1);
                        let infinity = sign >> self.mantissa << self.mantissa;
                        for (src, dst) in elements {
                            let value = <$type>::from_ne_bytes(*src);
                            let sum = value.wrapping_add(half + (value >> dropped & 1));
                            let kept = if sum < value { value } else { sum } >> dropped << dropped;
                            let made = if value & sign > infinity { value } else { kept };
                            *dst = made.to_ne_bytes();
                        }
                        Ok(())
                    },
                )
            };
        }
        match self.bytes {
            1 => each!(u8),
            2 => each!(u16),
            4 => each!(u32),
            _ => each!(u64),
        }
    }
}

//! `fixedscaleoffset`: `(x - offset) * scale`, rounded, as another type.
//!
//! Names: `fixedscaleoffset` in v2 (numcodecs), `numcodecs.fixedscaleoffset` in v3. Here are those that store floating
//! point, in the machine's byte order, computed as numcodecs does: in the type that is taken, and back in the type that
//! is stored, or in float64 if that is one of integers.

use super::blocks::{self, BLOCK};
use super::float_blocks::{self, by_type};
use super::number::{Format, OutOfRange, Rounding, FLOAT32, FLOAT64};
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "fixedscaleoffset";

/// The `fixedscaleoffset` codec with its options checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedScaleOffset {
    /// float32 or float64.
    element: Format,
    stored: Format,
    offset: f64,
    scale: f64,
}

impl FixedScaleOffset {
    /// The data types of elements (`float32` or `float64`) and of what is stored; `offset` and `scale` as digits.
    pub fn new(elements: &str, stored: &str, offset: &str, scale: &str) -> Result<Self> {
        let (element, format) = (Format::named(NAME, elements)?, Format::named(NAME, stored)?);
        if !matches!(element, FLOAT32 | FLOAT64) {
            return Err(report::option(NAME, "dtype", "float32 or float64", elements));
        }
        if !format.is_machine_type() {
            return Err(report::option(NAME, "astype", "a type of numbers of this machine", stored));
        }
        let number = |name, digits: &str| match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(report::option(NAME, name, "a finite number", digits)),
        };
        let (offset, scale) = (number("offset", offset)?, number("scale", scale)?);
        Ok(FixedScaleOffset { element, stored: format, offset, scale })
    }

    fn length(&self, decoded: usize) -> Option<usize> {
        let element = self.element.bytes();
        decoded.is_multiple_of(element).then(|| (decoded / element).checked_mul(self.stored.bytes()))?
    }
}

impl BytesToBytes for FixedScaleOffset {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        self.length(decoded).unwrap_or(decoded)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        self.length(decoded)
    }

    fn encoded_element(&self, size: usize) -> Option<usize> {
        self.length(size)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if self.length(dst.len()) != Some(src.len()) {
            return Err(report::wrong_size(NAME, self.length(dst.len()).unwrap_or(dst.len()), src.len()));
        }
        macro_rules! decode {
            ($from:ty, $computed:ty, $to:ty) => {{
                let (scale, offset) = (self.scale as $computed, self.offset as $computed);
                for (src, dst) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
                    let value = <$from>::from_ne_bytes(*src) as $computed;
                    *dst = ((value / scale + offset) as $to).to_ne_bytes();
                }
            }};
        }
        macro_rules! each {
            ($from:ty) => {
                match self.element {
                    FLOAT32 => decode!($from, f64, f32),
                    _ => decode!($from, f64, f64),
                }
            };
        }
        blocks::vectorised(
            #[inline(always)]
            || match (self.stored, self.element) {
                (FLOAT32, FLOAT32) => decode!(f32, f32, f32),
                (FLOAT32, _) => decode!(f32, f32, f64),
                (stored, _) => by_type!(stored, each, {}),
            },
        );
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let size = (src.len() / self.stored.bytes()).saturating_mul(self.element.bytes());
        room::of_size(NAME, size, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let element = self.element.bytes();
        if !src.len().is_multiple_of(element) {
            return Err(report::uneven(NAME, Direction::Encode, element, src.len()));
        }
        // Floating point has every number, as it has infinity and NaN.
        let rule = if self.stored.is_integer() { OutOfRange::Refuse } else { OutOfRange::Clamp };
        let mut block = [0.0; BLOCK];
        blocks::append(
            NAME,
            BLOCK,
            (src, element),
            (dst, self.stored.bytes()),
            #[inline(always)]
            |_, src, dst| {
                let values = &mut block[..src.len() / element];
                macro_rules! encode {
                    ($from:ty) => {{
                        let (scale, offset) = (self.scale as $from, self.offset as $from);
                        for (value, bytes) in values.iter_mut().zip(src.as_chunks().0) {
                            let number = <$from>::from_ne_bytes(*bytes);
                            *value = f64::from((number - offset) * scale).round_ties_even();
                        }
                    }};
                }
                match self.element {
                    FLOAT32 => encode!(f32),
                    _ => encode!(f64),
                }
                if float_blocks::store(self.stored, (Rounding::NearestEven, rule), values, dst) {
                    return Ok(());
                }
                let reason = "expected (x - offset) * scale that the type astype has, found others, such as NaN";
                Err(Error::encode(NAME, reason))
            },
        )
    }
}

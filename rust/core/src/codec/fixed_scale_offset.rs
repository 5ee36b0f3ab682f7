//! `fixedscaleoffset`: `(x - offset) * scale`, rounded, as another type.
//!
//! Names: `fixedscaleoffset` in v2 (numcodecs), `numcodecs.fixedscaleoffset` in v3. Here are those that store floating
//! point, in the machine's byte order, computed as numcodecs does: in the type that is taken, and back in the type that
//! is stored, or in float64 if that is one of integers.

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "fixedscaleoffset";

/// A type of stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Type {
    fn named(name: &str) -> Result<Self> {
        match (name.as_bytes(), name.get(1..).and_then(|size| size.parse().ok())) {
            ([b'i', ..], Some(size @ (1 | 2 | 4 | 8))) => Ok(Type::Signed(size)),
            ([b'u', ..], Some(size @ (1 | 2 | 4 | 8))) => Ok(Type::Unsigned(size)),
            ([b'f', ..], Some(size @ (4 | 8))) => Ok(Type::Float(size)),
            _ => Err(report::option(NAME, "dtype", "a type of numbers", name)),
        }
    }

    fn size(self) -> usize {
        match self {
            Type::Signed(size) | Type::Unsigned(size) | Type::Float(size) => size,
        }
    }
}

/// The `fixedscaleoffset` codec with its options checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedScaleOffset {
    /// Bytes of an element: 4 or 8.
    element: usize,
    stored: Type,
    offset: f64,
    scale: f64,
}

impl FixedScaleOffset {
    /// The types of elements (`f4` or `f8`) and of what is stored; `offset` and `scale` as digits.
    pub fn new(elements: &str, stored: &str, offset: &str, scale: &str) -> Result<Self> {
        let Type::Float(element) = Type::named(elements)? else {
            return Err(report::option(NAME, "dtype", "f4 or f8", elements));
        };
        let number = |name, digits: &str| match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(report::option(NAME, name, "a finite number", digits)),
        };
        let (offset, scale) = (number("offset", offset)?, number("scale", scale)?);
        Ok(FixedScaleOffset { element, stored: Type::named(stored)?, offset, scale })
    }

    fn length(&self, decoded: usize) -> Option<usize> {
        decoded.is_multiple_of(self.element).then(|| (decoded / self.element).checked_mul(self.stored.size()))?
    }
}

/// Converts a whole number to a type. Where the type does not have the number (`has!`), the result means nothing.
macro_rules! whole {
    ($value:expr, f32) => {
        $value as f32
    };
    ($value:expr, f64) => {
        $value
    };
    ($value:expr, i64) => {
        $value as i64
    };
    ($value:expr, u64) => {
        $value as u64
    };
    // The sum is between 2^52 and 2^53: its lowest bits are those of the integer.
    ($value:expr, $type:ident) => {
        ($value + 6_755_399_441_055_744.0).to_bits() as $type
    };
}

/// Whether a type has a whole number. Both bounds of a type of integers are exact as float64: its least number, and the
/// first one beyond its greatest. Floating point has every number, as it has infinity and NaN.
macro_rules! has {
    ($value:expr, f32) => {
        true
    };
    ($value:expr, f64) => {
        true
    };
    ($value:expr, $type:ident) => {
        ($value >= <$type>::MIN as f64) & ($value < (<$type>::MAX / 2 + 1) as f64 * 2.0)
    };
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

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if self.length(dst.len()) != Some(src.len()) {
            return Err(report::wrong_size(NAME, self.length(dst.len()).unwrap_or(dst.len()), src.len()));
        }
        macro_rules! decode {
            ($from:ty, $computed:ty, $to:ty) => {{
                let (scale, offset) = (self.scale as $computed, self.offset as $computed);
                for (bytes, place) in src.chunks_exact(size_of::<$from>()).zip(dst.chunks_exact_mut(size_of::<$to>())) {
                    let value = <$from>::from_ne_bytes(bytes.try_into().unwrap_or_default()) as $computed;
                    place.copy_from_slice(&((value / scale + offset) as $to).to_ne_bytes());
                }
            }};
        }
        macro_rules! each {
            ($from:ty, $computed:ty) => {
                match self.element {
                    4 => decode!($from, $computed, f32),
                    _ => decode!($from, $computed, f64),
                }
            };
        }
        match self.stored {
            Type::Signed(1) => each!(i8, f64),
            Type::Signed(2) => each!(i16, f64),
            Type::Signed(4) => each!(i32, f64),
            Type::Signed(_) => each!(i64, f64),
            Type::Unsigned(1) => each!(u8, f64),
            Type::Unsigned(2) => each!(u16, f64),
            Type::Unsigned(4) => each!(u32, f64),
            Type::Unsigned(_) => each!(u64, f64),
            Type::Float(4) => each!(f32, f32),
            Type::Float(_) => each!(f64, f64),
        }
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let size = (src.len() / self.stored.size()).saturating_mul(self.element);
        room::of_size(NAME, size, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let Some(size) = self.length(src.len()) else {
            let reason = format!("expected elements of {} bytes, found {} bytes", self.element, src.len());
            return Err(Error { direction: Some(Direction::Encode), ..Error::decode(NAME, reason) });
        };
        let dst = room::appended(NAME, dst, size)?;
        let mut has_all = true;
        macro_rules! encode {
            ($from:ty, $to:ident) => {{
                let (scale, offset) = (self.scale as $from, self.offset as $from);
                for (bytes, place) in src.chunks_exact(size_of::<$from>()).zip(dst.chunks_exact_mut(size_of::<$to>())) {
                    let value = <$from>::from_ne_bytes(bytes.try_into().unwrap_or_default());
                    let value = rounded(f64::from((value - offset) * scale));
                    has_all &= has!(value, $to);
                    place.copy_from_slice(&whole!(value, $to).to_ne_bytes());
                }
            }};
        }
        macro_rules! each {
            ($to:ident) => {
                match self.element {
                    4 => encode!(f32, $to),
                    _ => encode!(f64, $to),
                }
            };
        }
        match self.stored {
            Type::Signed(1) => each!(i8),
            Type::Signed(2) => each!(i16),
            Type::Signed(4) => each!(i32),
            Type::Signed(_) => each!(i64),
            Type::Unsigned(1) => each!(u8),
            Type::Unsigned(2) => each!(u16),
            Type::Unsigned(4) => each!(u32),
            Type::Unsigned(_) => each!(u64),
            Type::Float(4) => each!(f32),
            Type::Float(_) => each!(f64),
        }
        if has_all {
            return Ok(());
        }
        let reason = "expected (x - offset) * scale that the type astype has, found others, such as NaN";
        Err(Error { direction: Some(Direction::Encode), ..Error::decode(NAME, reason.to_owned()) })
    }
}

/// The nearest integer, or the even one of two: like `round_ties_even`, which without the instructions of newer processors
/// takes a call.
#[inline]
fn rounded(value: f64) -> f64 {
    let size = value.abs();
    // Below 2^52, the sum with that has no fraction; above, there is none.
    let whole =
        if size < 4_503_599_627_370_496.0 { (size + 4_503_599_627_370_496.0) - 4_503_599_627_370_496.0 } else { size };
    whole.copysign(value)
}

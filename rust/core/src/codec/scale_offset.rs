//! `scale_offset`: `(x - offset) * scale`, in the arithmetic of the data type.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset>.

use super::number::{bits, put, Format, Number, Rounding, Stored};
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "scale_offset";

/// The `scale_offset` codec with its options checked.
#[derive(Debug)]
pub struct ScaleOffset {
    data_type: Box<str>,
    format: Format,
    offset: Number,
    scale: Number,
}

impl ScaleOffset {
    /// `offset` and `scale` are elements, as hexadecimal digits of their bits.
    pub fn new(data_type: &str, offset: &str, scale: &str) -> Result<Self> {
        let format = Format::named(NAME, data_type)?;
        let number = |name, digits: &str| match u64::from_str_radix(digits, 16) {
            Ok(bits) => Ok(format.load(bits)),
            Err(_) => Err(report::option(NAME, name, "hexadecimal digits", digits)),
        };
        let (offset, scale) = (number("offset", offset)?, number("scale", scale)?);
        if scale == Number::Integer(0) {
            return Err(report::option(NAME, "scale", "an integer that is not 0", 0));
        }
        Ok(ScaleOffset { data_type: data_type.into(), format, offset, scale })
    }

    fn run(&self, src: &[u8], dst: &mut [u8], direction: Direction) -> Result<()> {
        if src.len() != dst.len() || !src.len().is_multiple_of(self.format.bytes()) {
            return Err(report::wrong_size(NAME, dst.len(), src.len()));
        }
        let encodes = direction == Direction::Encode;
        macro_rules! each {
            ($type:ty, $offset:expr, $scale:expr) => {{
                let (offset, scale) = ($offset as $type, $scale as $type);
                const SIZE: usize = size_of::<$type>();
                for (src, dst) in src.chunks_exact(SIZE).zip(dst.chunks_exact_mut(SIZE)) {
                    let value = <$type>::from_ne_bytes(src.try_into().unwrap_or_default());
                    let made = if encodes { (value - offset) * scale } else { value / scale + offset };
                    dst.copy_from_slice(&made.to_ne_bytes());
                }
            }};
        }
        match (self.offset, self.scale, self.format.bits()) {
            (Number::Float(offset), Number::Float(scale), 32) => each!(f32, offset, scale),
            (Number::Float(offset), Number::Float(scale), 64) => each!(f64, offset, scale),
            _ => {
                let size = self.format.bytes();
                for (index, (src, dst)) in src.chunks_exact(size).zip(dst.chunks_exact_mut(size)).enumerate() {
                    let number = self.format.load(bits(src));
                    let made = if encodes { self.encoded(number) } else { self.decoded(number) };
                    put(made.ok_or_else(|| self.refused(direction, index, number))?, dst);
                }
            }
        }
        Ok(())
    }

    fn encoded(&self, number: Number) -> Option<u64> {
        match (number, self.offset, self.scale) {
            (Number::Integer(value), Number::Integer(offset), Number::Integer(scale)) => {
                self.whole(self.checked(value - offset)? * scale)
            }
            (Number::Float(value), Number::Float(offset), Number::Float(scale)) => {
                self.rounded(self.format.load_float(self.rounded(value - offset)?) * scale)
            }
            _ => None,
        }
    }

    fn decoded(&self, number: Number) -> Option<u64> {
        match (number, self.offset, self.scale) {
            (Number::Integer(value), Number::Integer(offset), Number::Integer(scale)) => {
                (value % scale == 0).then(|| self.whole(self.checked(value / scale)? + offset))?
            }
            (Number::Float(value), Number::Float(offset), Number::Float(scale)) => {
                self.rounded(self.format.load_float(self.rounded(value / scale)?) + offset)
            }
            _ => None,
        }
    }

    /// An integer, if the data type has it.
    fn checked(&self, value: i128) -> Option<i128> {
        self.whole(value).map(|_| value)
    }

    fn whole(&self, value: i128) -> Option<u64> {
        match self.format.store(Number::Integer(value), Rounding::NearestEven) {
            Stored::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// What the data type's own arithmetic makes: float64 has more than twice its bits, so that this rounds once.
    fn rounded(&self, value: f64) -> Option<u64> {
        match self.format.store(Number::Float(value), Rounding::NearestEven) {
            Stored::Bits(bits) => Some(bits),
            // Infinity, where there is one.
            Stored::Above => Some(self.format.end(true)).filter(|&end| self.format.load_float(end).is_infinite()),
            Stored::Below => Some(self.format.end(false)).filter(|&end| self.format.load_float(end).is_infinite()),
            Stored::Impossible => None,
        }
    }

    fn refused(&self, direction: Direction, index: usize, number: Number) -> Error {
        let rule = match direction {
            Direction::Encode => "(x - offset) * scale",
            Direction::Decode => "x / scale + offset",
        };
        let cause = match (direction, number, self.scale) {
            (Direction::Decode, Number::Integer(value), Number::Integer(scale)) if value % scale != 0 => {
                "x / scale has a non-zero remainder".into()
            }
            _ => format!("it is outside the range of dtype {}", self.data_type),
        };
        let index = report::grouped(index);
        let reason = format!("expected x with {rule}, found {number} as element {index} of a chunk: {cause}");
        Error { direction: Some(direction), ..Error::decode(NAME, reason) }
    }
}

impl BytesToBytes for ScaleOffset {
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
        size.is_multiple_of(self.format.bytes()).then_some(size)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.run(src, dst, Direction::Decode)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, src.len(), limit, dst, |dst| self.decode_exact(src, dst))
    }

    /// Each element is encoded by itself.
    fn source_may_change(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        self.run(src, room::appended(NAME, dst, src.len())?, Direction::Encode)
    }
}

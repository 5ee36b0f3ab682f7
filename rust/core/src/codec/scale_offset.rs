//! `scale_offset`: `(x - offset) * scale`, in the arithmetic of the data type.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset>.

use super::blocks::{self, ByteTable, BLOCK};
use super::float_blocks::{self, by_integer, Floats};
use super::number::{bits, put, Format, Number, OutOfRange, Rounding, Stored, FLOAT32, FLOAT64};
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
    /// Of elements of one byte that are no integers of this machine: encoded, and decoded.
    bytes: Option<(ByteTable, ByteTable)>,
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
        let mut codec = ScaleOffset { data_type: data_type.into(), format, offset, scale, bytes: None };
        if format.bytes() == 1 && !format.is_machine_type() {
            let encoding = ByteTable::new(|byte| codec.encoded(format.load(byte)));
            codec.bytes = Some((encoding, ByteTable::new(|byte| codec.decoded(format.load(byte)))));
        }
        Ok(codec)
    }

    /// Encodes or decodes a block; `first` is the index of its first element.
    #[inline(always)]
    fn run(&self, first: usize, src: &[u8], dst: &mut [u8], values: &mut Floats, direction: Direction) -> Result<()> {
        let encodes = direction == Direction::Encode;
        let mut has_all = true;
        macro_rules! each {
            ($type:ty, $made:expr) => {
                for (src, dst) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
                    let made: $type = $made(<$type>::from_ne_bytes(*src));
                    *dst = made.to_ne_bytes();
                }
            };
        }
        macro_rules! floats {
            ($type:ty, $offset:expr, $scale:expr) => {{
                let (offset, scale) = ($offset as $type, $scale as $type);
                match encodes {
                    true => each!($type, |value| (value - offset) * scale),
                    false => each!($type, |value| value / scale + offset),
                }
            }};
        }
        match (self.offset, self.scale) {
            _ if self.bytes.is_some() => {
                let table = self.bytes.as_ref().map(|(encoding, decoding)| if encodes { encoding } else { decoding });
                has_all = table.is_some_and(|table| table.run(src, (dst, 1)));
            }
            (Number::Float(offset), Number::Float(scale)) => match self.format {
                FLOAT32 => floats!(f32, offset, scale),
                FLOAT64 => floats!(f64, offset, scale),
                _ => has_all = self.run_by_float64((offset, scale), src, dst, &mut values[..src.len() / 2], encodes),
            },
            (Number::Integer(offset), Number::Integer(scale)) => {
                macro_rules! integers {
                    ($type:ty) => {{
                        let (offset, scale) = (offset as $type, scale as $type);
                        // Division without a remainder is a product with the inverse of the odd factor, modulo 2^N.
                        let twos = scale.trailing_zeros();
                        let odd = scale >> twos;
                        // The lowest three bits are those of the inverse; each step doubles how many are.
                        let inverse = (0..5).fold(odd, |inverse, _| {
                            inverse.wrapping_mul((2 as $type).wrapping_sub(odd.wrapping_mul(inverse)))
                        });
                        // What can be multiplied by the scale, and what of that has the offset added or taken away.
                        let ends = (<$type>::MIN.saturating_div(scale), <$type>::MAX.saturating_div(scale));
                        let (least, most) = (ends.0.min(ends.1), ends.0.max(ends.1));
                        let (least, most) = match encodes {
                            true => (least.saturating_add(offset), most.saturating_add(offset)),
                            false => (
                                least.max(<$type>::MIN.saturating_sub(offset)),
                                most.min(<$type>::MAX.saturating_sub(offset)),
                            ),
                        };
                        match encodes {
                            true => each!($type, |value: $type| {
                                has_all &= (value >= least) & (value <= most);
                                value.wrapping_sub(offset).wrapping_mul(scale)
                            }),
                            false => each!($type, |value: $type| {
                                let quotient = (value >> twos).wrapping_mul(inverse);
                                // One that is not exact is so large that the data type does not have its product.
                                has_all &= (quotient >= least) & (quotient <= most) & (value >> twos << twos == value);
                                quotient.wrapping_add(offset)
                            }),
                        }
                    }};
                }
                by_integer!(self.format, integers, has_all = false)
            }
            _ => has_all = false,
        }
        match has_all {
            true => Ok(()),
            false => self.run_slowly(first, src, dst, direction),
        }
    }

    /// Rounds to the data type after each operation.
    #[inline(always)]
    fn run_by_float64(
        &self,
        (offset, scale): (f64, f64),
        src: &[u8],
        dst: &mut [u8],
        values: &mut [f64],
        encodes: bool,
    ) -> bool {
        let rule = if self.format.load_float(self.format.end(true)).is_infinite() {
            OutOfRange::Clamp
        } else {
            OutOfRange::Refuse
        };
        let rules = (Rounding::NearestEven, rule);
        float_blocks::load(self.format, src, values);
        values.iter_mut().for_each(|value| *value = if encodes { *value - offset } else { *value / scale });
        let has_all = float_blocks::store(self.format, rules, values, dst);
        float_blocks::load(self.format, dst, values);
        values.iter_mut().for_each(|value| *value = if encodes { *value * scale } else { *value + offset });
        has_all & float_blocks::store(self.format, rules, values, dst)
    }

    fn run_slowly(&self, first: usize, src: &[u8], dst: &mut [u8], direction: Direction) -> Result<()> {
        let size = self.format.bytes();
        for (index, (src, dst)) in src.chunks_exact(size).zip(dst.chunks_exact_mut(size)).enumerate() {
            let number = self.format.load(bits(src));
            let made = if direction == Direction::Encode { self.encoded(number) } else { self.decoded(number) };
            put(made.ok_or_else(|| self.refused(direction, first + index, number))?, dst);
        }
        Ok(())
    }

    fn encoded(&self, number: Number) -> Option<u64> {
        match (number, self.offset, self.scale) {
            (Number::Integer(value), Number::Integer(offset), Number::Integer(scale)) => {
                self.whole(self.checked(value - offset)?.saturating_mul(scale))
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
        let size = self.format.bytes();
        if src.len() != dst.len() {
            return Err(report::wrong_size(NAME, dst.len(), src.len()));
        }
        if !src.len().is_multiple_of(size) {
            return Err(report::uneven(NAME, Direction::Decode, size, src.len()));
        }
        let mut values = [0.0; BLOCK];
        blocks::each(
            BLOCK,
            (src, size),
            (dst, size),
            #[inline(always)]
            |first, src, dst| self.run(first, src, dst, &mut values, Direction::Decode),
        )
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, src.len(), limit, dst, |dst| self.decode_exact(src, dst))
    }

    /// Each element is encoded by itself.
    fn source_may_change(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let size = self.format.bytes();
        if !src.len().is_multiple_of(size) {
            return Err(report::uneven(NAME, Direction::Encode, size, src.len()));
        }
        let mut values = [0.0; BLOCK];
        blocks::append(
            NAME,
            BLOCK,
            (src, size),
            (dst, size),
            #[inline(always)]
            |first, src, dst| self.run(first, src, dst, &mut values, Direction::Encode),
        )
    }
}

//! `cast_value`: every number as one of another data type.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value>.

use super::number::{bits, put, Format, Number, Rounding, Stored};
use super::{report, room, BytesToBytes, Value};
use crate::error::{Direction, Error, Result};

const NAME: &str = "cast_value";
/// So many elements are loaded before they are stored, each in a loop of its own.
const BLOCK: usize = 256;
/// Added to a number far below 2^51, it leaves no bits for fractions.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Calls the macro `each` with the type of this machine that has a format; `other` is for formats that none has, and for
/// integers of 64 bits, which float64 does not have.
macro_rules! by_type {
    ($format:expr, $each:ident, $other:expr) => {
        match ($format, $format.bits()) {
            (Format::Signed(8), _) => $each!(i8),
            (Format::Signed(16), _) => $each!(i16),
            (Format::Signed(32), _) => $each!(i32),
            (Format::Unsigned(8), _) => $each!(u8),
            (Format::Unsigned(16), _) => $each!(u16),
            (Format::Unsigned(32), _) => $each!(u32),
            (Format::Float(_), 32) => $each!(f32),
            (Format::Float(_), 64) => $each!(f64),
            _ => $other,
        }
    };
}

/// What becomes of numbers beyond the least and the greatest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutOfRange {
    Refuse,
    Clamp,
    Wrap,
}

/// An integer from a float64 that is one, or the float32 that is nearest.
macro_rules! store_as {
    (f32, $value:expr) => {
        $value as f32
    };
    (f64, $value:expr) => {
        $value
    };
    // The lowest bits of the sum are those of the integer.
    ($type:ident, $value:expr) => {
        ($value + WHOLE).to_bits() as $type
    };
}

/// One direction: from one format to the other.
#[derive(Debug)]
struct Cast {
    from: Format,
    to: Format,
    rounding: Rounding,
    out_of_range: OutOfRange,
    /// The keys of numbers, in order, with the bits that each becomes, whatever the rules.
    map: Vec<(u64, u64)>,
    direction: Direction,
}

/// The `cast_value` codec with its options checked.
#[derive(Debug)]
pub struct CastValue {
    encoding: Cast,
    decoding: Cast,
}

impl CastValue {
    /// The options: data type of the array and of the encoded elements, rounding, rule for numbers out of range (`""`:
    /// an error), and the maps for encoding and decoding, as `from:to` in hexadecimal digits of elements, with commas.
    pub fn new(options: &[Value]) -> Result<Self> {
        let text = |index: usize| match options.get(index) {
            Some(Value::Text(text)) => Ok(text.as_str()),
            _ => Err(report::option(NAME, "options", "six texts", options.len())),
        };
        let (array, encoded) = (Format::named(NAME, text(0)?)?, Format::named(NAME, text(1)?)?);
        let rounding = Rounding::named(NAME, text(2)?)?;
        let out_of_range = match text(3)? {
            "" => OutOfRange::Refuse,
            "clamp" => OutOfRange::Clamp,
            "wrap" => OutOfRange::Wrap,
            other => return Err(report::option(NAME, "out_of_range", "clamp or wrap", other)),
        };
        let cast = |from: Format, to: Format, map: &str, direction| -> Result<Cast> {
            Ok(Cast { from, to, rounding, out_of_range, map: entries(map, from)?, direction })
        };
        Ok(CastValue {
            encoding: cast(array, encoded, text(4)?, Direction::Encode)?,
            decoding: cast(encoded, array, text(5)?, Direction::Decode)?,
        })
    }
}

fn entries(text: &str, from: Format) -> Result<Vec<(u64, u64)>> {
    let refused = || report::option(NAME, "scalar_map", "pairs of hexadecimal digits", text);
    let digits = |text| u64::from_str_radix(text, 16).map_err(|_| refused());
    let mut entries = text
        .split(',')
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (key, value) = entry.split_once(':').ok_or_else(refused)?;
            Ok((from.load(digits(key)?).key(), digits(value)?))
        })
        .collect::<Result<Vec<_>>>()?;
    // The first of several for one number counts: sorting is stable.
    entries.sort_by_key(|entry| entry.0);
    entries.dedup_by_key(|entry| entry.0);
    Ok(entries)
}

impl Cast {
    fn length(&self, size: usize) -> Option<usize> {
        size.is_multiple_of(self.from.bytes()).then(|| (size / self.from.bytes()).checked_mul(self.to.bytes()))?
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let (taken, made) = (self.from.bytes(), self.to.bytes());
        if self.map.is_empty() && self.is_exact() && self.run_exactly(src, dst) {
            return Ok(());
        }
        if self.map.is_empty() && self.from.fits_float64() {
            let mut block = [0.0; BLOCK];
            for (number, (src, dst)) in src.chunks(BLOCK * taken).zip(dst.chunks_mut(BLOCK * made)).enumerate() {
                let values = &mut block[..src.len() / taken];
                self.load(src, values);
                if !self.store(values, dst) {
                    self.run_slowly(number * BLOCK, src, dst)?;
                }
            }
            return Ok(());
        }
        self.run_slowly(0, src, dst)
    }

    /// Whether the other format is floating point that has every value.
    fn is_exact(&self) -> bool {
        match (self.from, self.to) {
            (Format::Signed(bits) | Format::Unsigned(bits), Format::Float(_)) => {
                (bits <= 24 && self.to.bits() == 32) || (bits <= 32 && self.to.bits() == 64)
            }
            (Format::Float(_), Format::Float(_)) => (self.from.bits(), self.to.bits()) == (32, 64),
            _ => false,
        }
    }

    /// Casts elements whose values the other format has; `false` if this machine has no type for one of the formats.
    fn run_exactly(&self, src: &[u8], dst: &mut [u8]) -> bool {
        macro_rules! cast {
            ($from:ty, $to:ty) => {{
                let elements = src.chunks_exact(size_of::<$from>()).zip(dst.chunks_exact_mut(size_of::<$to>()));
                for (src, dst) in elements {
                    let value = <$from>::from_ne_bytes(src.try_into().unwrap_or_default());
                    dst.copy_from_slice(&(value as $to).to_ne_bytes());
                }
            }};
        }
        macro_rules! to_float32 {
            ($from:ty) => {
                cast!($from, f32)
            };
        }
        macro_rules! to_float64 {
            ($from:ty) => {
                cast!($from, f64)
            };
        }
        match self.to.bits() {
            32 => by_type!(self.from, to_float32, return false),
            _ => by_type!(self.from, to_float64, return false),
        }
        true
    }

    /// One element after the other, with all rules; `first` is the index of the first one.
    fn run_slowly(&self, first: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let elements = src.chunks_exact(self.from.bytes()).zip(dst.chunks_exact_mut(self.to.bytes()));
        for (index, (src, dst)) in elements.enumerate() {
            let number = self.from.load(bits(src));
            let bits = self.bits(number).ok_or_else(|| self.refused(first + index, number))?;
            put(bits, dst);
        }
        Ok(())
    }

    fn bits(&self, number: Number) -> Option<u64> {
        if let Ok(index) = self.map.binary_search_by_key(&number.key(), |entry| entry.0) {
            return Some(self.map[index].1);
        }
        match (self.to.store(number, self.rounding), self.out_of_range) {
            (Stored::Bits(bits), _) => Some(bits),
            (Stored::Below | Stored::Above, OutOfRange::Wrap) if self.to.is_integer() => Some(self.wrapped(number)),
            (Stored::Below, OutOfRange::Clamp) => Some(self.to.end(false)),
            (Stored::Above, OutOfRange::Clamp) => Some(self.to.end(true)),
            _ => None,
        }
    }

    fn wrapped(&self, number: Number) -> u64 {
        match number {
            Number::Integer(value) => self.to.wrapped(value),
            // The remainder is exact, and so small that it is an integer of 128 bits.
            Number::Float(value) => {
                self.to.wrapped((self.rounding.whole(value) % 18_446_744_073_709_551_616.0) as i128)
            }
        }
    }

    fn refused(&self, index: usize, number: Number) -> Error {
        let reason = format!(
            "expected numbers that the other data type has, found {number} as element {} of a chunk; out_of_range and \
             scalar_map say what becomes of others",
            report::grouped(index)
        );
        Error { direction: Some(self.direction), ..Error::decode(NAME, reason) }
    }

    fn load(&self, src: &[u8], values: &mut [f64]) {
        macro_rules! each {
            ($type:ty) => {
                for (value, bytes) in values.iter_mut().zip(src.chunks_exact(size_of::<$type>())) {
                    *value = <$type>::from_ne_bytes(bytes.try_into().unwrap_or_default()) as f64;
                }
            };
        }
        by_type!(self.from, each, {
            for (value, bytes) in values.iter_mut().zip(src.chunks_exact(self.from.bytes())) {
                *value = self.from.load_float(bits(bytes));
            }
        });
    }

    /// Stores numbers that all lie within the range; `false` when one does not, or there is no fast way: then what is
    /// stored means nothing.
    fn store(&self, values: &mut [f64], dst: &mut [u8]) -> bool {
        let rounding = self.rounding;
        if self.to.is_integer() && !self.from.is_integer() {
            round(rounding, values);
        } else if !self.to.is_integer() && rounding != Rounding::NearestEven && self.to.bits() == 32 {
            // What the type has needs no rounding, such as integers that are read.
            if values.iter().any(|&value| f64::from(value as f32) != value) {
                return false;
            }
        }
        macro_rules! each {
            ($type:ident) => {{
                // Comparisons with NaN are false.
                let fits = |value: f64| (value >= <$type>::MIN as f64) & (value <= <$type>::MAX as f64);
                let mut all = true;
                for (value, bytes) in values.iter().zip(dst.chunks_exact_mut(size_of::<$type>())) {
                    all &= fits(*value);
                    bytes.copy_from_slice(&store_as!($type, *value).to_ne_bytes());
                }
                all
            }};
        }
        by_type!(self.to, each, false)
    }
}

/// Replaces numbers by the integers they round to, those from 2^51 on by others as large, which 32 bits do not have: like [`Rounding::whole`], which without the
/// instructions of newer processors takes a call for each.
fn round(rounding: Rounding, values: &mut [f64]) {
    // The sum with 1.5 * 2^52 has no fraction, and is rounded to the nearest one, or the even one of two.
    let nearest = |value: f64| (value + WHOLE) - WHOLE;
    let one = |condition: bool| f64::from(u8::from(condition));
    let below = |value: f64| nearest(value) - one(nearest(value) > value);
    match rounding {
        Rounding::NearestEven => values.iter_mut().for_each(|value| *value = nearest(*value)),
        Rounding::TowardsNegative => values.iter_mut().for_each(|value| *value = below(*value)),
        Rounding::TowardsPositive => values.iter_mut().for_each(|value| *value = -below(-*value)),
        Rounding::TowardsZero => values.iter_mut().for_each(|value| *value = below(value.abs()).copysign(*value)),
        Rounding::NearestAway => values.iter_mut().for_each(|value| {
            let size = value.abs();
            let whole = below(size);
            *value = (whole + one(size - whole >= 0.5)).copysign(*value);
        }),
    }
}

impl BytesToBytes for CastValue {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        self.encoding.length(decoded).unwrap_or(decoded)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        self.encoding.length(decoded)
    }

    fn encoded_element(&self, size: usize) -> Option<usize> {
        self.encoding.length(size)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if self.decoding.length(src.len()) != Some(dst.len()) {
            let expected = self.encoding.length(dst.len()).unwrap_or(dst.len());
            return Err(report::wrong_size(NAME, expected, src.len()));
        }
        self.decoding.run(src, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let size = self.decoding.length(src.len()).unwrap_or(src.len());
        room::of_size(NAME, size, limit, dst, |dst| self.decode_exact(src, dst))
    }

    /// Each element is encoded by itself.
    fn source_may_change(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let size = self.encoding.length(src.len()).unwrap_or(src.len());
        self.encoding.run(src, room::appended(NAME, dst, size)?)
    }
}

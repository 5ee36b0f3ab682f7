//! `cast_value`: every number as one of another data type.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value>.

use super::blocks::{self, ByteTable, BLOCK, LONG_BLOCK};
use super::float_blocks::{self, by_integer, by_type, has_rounded, store_float32, Floats};
use super::number::{bits, put, Format, Number, OutOfRange, Rounding, Stored, FLOAT32, FLOAT64};
use super::{report, room, BytesToBytes, Value};
use crate::error::{Direction, Error, Result};

const NAME: &str = "cast_value";
/// Of a map with more entries, the one of a number is looked up, instead of comparing all numbers with each.
const FEW: usize = 32;

/// What a number becomes, whatever the rules.
#[derive(Debug)]
struct Entry {
    key: u64,
    /// The nearest float64.
    number: f64,
    bits: u64,
}

/// One direction: from one format to the other.
#[derive(Debug)]
struct Cast {
    from: Format,
    to: Format,
    rounding: Rounding,
    out_of_range: OutOfRange,
    /// In the order of the keys.
    map: Vec<Entry>,
    /// Of elements of one byte.
    bytes: Option<ByteTable>,
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
            let mut cast = Cast { from, to, rounding, out_of_range, map: entries(map, from)?, bytes: None, direction };
            if from.bytes() == 1 {
                cast.bytes = Some(ByteTable::new(|byte| cast.bits(from.load(byte))));
            }
            Ok(cast)
        };
        Ok(CastValue {
            encoding: cast(array, encoded, text(4)?, Direction::Encode)?,
            decoding: cast(encoded, array, text(5)?, Direction::Decode)?,
        })
    }
}

fn entries(text: &str, from: Format) -> Result<Vec<Entry>> {
    let refused = || report::option(NAME, "scalar_map", "pairs of hexadecimal digits", text);
    let digits = |text| u64::from_str_radix(text, 16).map_err(|_| refused());
    let mut entries = text
        .split(',')
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (key, value) = entry.split_once(':').ok_or_else(refused)?;
            let key = digits(key)?;
            Ok(Entry { key: from.load(key).key(), number: from.load_float(key), bits: digits(value)? })
        })
        .collect::<Result<Vec<_>>>()?;
    // The first of several for one number counts: sorting is stable.
    entries.sort_by_key(|entry| entry.key);
    entries.dedup_by_key(|entry| entry.key);
    Ok(entries)
}

impl Cast {
    fn length(&self, size: usize) -> Option<usize> {
        size.is_multiple_of(self.from.bytes()).then(|| (size / self.from.bytes()).checked_mul(self.to.bytes()))?
    }

    /// Casts a block; `first` is the index of its first element.
    #[inline(always)]
    fn run(&self, first: usize, src: &[u8], dst: &mut [u8], block: &mut Floats) -> Result<()> {
        if self.run_directly(src, dst) {
            return Ok(());
        }
        let (taken, made) = (self.from.bytes(), self.to.bytes());
        for (number, (src, dst)) in src.chunks(BLOCK * taken).zip(dst.chunks_mut(BLOCK * made)).enumerate() {
            let has_all = match &self.bytes {
                Some(bytes) => bytes.run(src, (dst, made)),
                None => self.run_by_float64(src, dst, &mut block[..src.len() / taken]),
            };
            if !has_all {
                self.run_slowly(first + number * BLOCK, src, dst)?;
            }
        }
        Ok(())
    }

    /// Casts elements as this machine casts its own types, if the rules tell the same of each element; `false` if they do not,
    /// or if there are no such types: then what is stored means nothing.
    #[inline(always)]
    fn run_directly(&self, src: &[u8], dst: &mut [u8]) -> bool {
        let (from, to, rule) = (self.from, self.to, self.out_of_range);
        let mut has_all = true;
        macro_rules! cast {
            ($from:ty, $to:ty, $made:expr) => {
                for (src, dst) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
                    let made: $to = $made(<$from>::from_ne_bytes(*src));
                    *dst = made.to_ne_bytes();
                }
            };
        }
        if !self.map.is_empty() {
            return false;
        }
        if from.is_integer() && to.is_integer() {
            macro_rules! from {
                ($from:ty) => {{
                    macro_rules! to {
                        ($to:ty) => {{
                            if rule == OutOfRange::Clamp {
                                // The bounds, as far as the type that is taken has numbers beyond them.
                                let bound = |of: i128| of.clamp(<$from>::MIN.into(), <$from>::MAX.into()) as $from;
                                let (least, most) = (bound(<$to>::MIN.into()), bound(<$to>::MAX.into()));
                                cast!($from, $to, |value: $from| value.max(least).min(most) as $to);
                            } else {
                                // Casting back finds what a narrower type lost, and this bit what a sign changed.
                                let (signed, wider) = (<$from>::MIN != 0, size_of::<$to>() > size_of::<$from>());
                                let keeps_sign = signed == (<$to>::MIN != 0) || (!signed && wider);
                                let sign = if keeps_sign { 0 } else { 1 << (<$from>::BITS - 1) };
                                let mut lost = 0;
                                cast!($from, $to, |value: $from| {
                                    let made = value as $to;
                                    lost |= (made as $from ^ value) | (value & sign);
                                    made
                                });
                                has_all &= lost == 0;
                            }
                        }};
                    }
                    by_integer!(to, to, return false)
                }};
            }
            by_integer!(from, from, return false);
            return has_all | (rule == OutOfRange::Wrap);
        }
        if self.rounding != Rounding::NearestEven && !self.is_exact() {
            return false;
        }
        macro_rules! to_float32 {
            ($from:ty) => {
                cast!($from, f32, |value| value as f32)
            };
        }
        macro_rules! to_float64 {
            ($from:ty) => {
                cast!($from, f64, |value| value as f64)
            };
        }
        match (from, to) {
            (FLOAT32, to) if to.is_integer() => {
                let numbers = src.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
                return store_float32(to, rule, numbers.map(f32::round_ties_even), dst);
            }
            (FLOAT64, FLOAT32) => cast!(f64, f32, |value| {
                let made = value as f32;
                has_all &= has_rounded(made, value);
                made
            }),
            (from, FLOAT32) => by_type!(from, to_float32, return false),
            (from, FLOAT64) => by_type!(from, to_float64, return false),
            _ => return false,
        }
        has_all | (rule == OutOfRange::Clamp)
    }

    /// Whether floating point has every value of the other format.
    fn is_exact(&self) -> bool {
        match self.to {
            FLOAT32 => self.from == FLOAT32 || self.from.bits() <= 24,
            FLOAT64 => self.from.fits_float64(),
            _ => false,
        }
    }

    /// Casts elements whose values float64 has; `false` when the rules do not tell what becomes of one of them, or there is
    /// no fast way.
    #[inline(always)]
    fn run_by_float64(&self, src: &[u8], dst: &mut [u8], values: &mut [f64]) -> bool {
        let fits = self.from.fits_float64();
        if (!fits && (self.to.is_integer() || self.to == FLOAT64 || !self.map.is_empty())) || self.map.len() > FEW {
            return false;
        }
        float_blocks::load(self.from, src, values);
        if self.map.is_empty() {
            return float_blocks::store(self.to, (self.rounding, self.out_of_range), values, dst);
        }
        // Of each number, the entry that is its own, counted from 1.
        let mut entries = [0_u64; BLOCK];
        for (entry, count) in self.map.iter().zip(1..) {
            for (value, own) in values.iter().zip(&mut entries) {
                let is_it = (*value == entry.number) | (value.is_nan() & entry.number.is_nan());
                *own = if is_it { count } else { *own };
            }
        }
        for (value, own) in values.iter_mut().zip(&entries) {
            *value = if *own == 0 { *value } else { 0.0 };
        }
        let has_all = float_blocks::store(self.to, (self.rounding, self.out_of_range), values, dst);
        if entries.iter().fold(0, |any, own| any | own) > 0 {
            for (own, place) in entries.iter().zip(dst.chunks_exact_mut(self.to.bytes())).filter(|(own, _)| **own > 0) {
                put(self.map[*own as usize - 1].bits, place);
            }
        }
        has_all
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
        if let Ok(index) = self.map.binary_search_by_key(&number.key(), |entry| entry.key) {
            return Some(self.map[index].bits);
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
        let mut values = [0.0; BLOCK];
        let sizes = (self.decoding.from.bytes(), self.decoding.to.bytes());
        blocks::each(
            LONG_BLOCK,
            (src, sizes.0),
            (dst, sizes.1),
            #[inline(always)]
            |first, src, dst| self.decoding.run(first, src, dst, &mut values),
        )
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
        if !src.len().is_multiple_of(self.encoding.from.bytes()) {
            return Err(report::uneven(NAME, Direction::Encode, self.encoding.from.bytes(), src.len()));
        }
        let mut values = [0.0; BLOCK];
        blocks::append(
            NAME,
            LONG_BLOCK,
            (src, self.encoding.from.bytes()),
            (dst, self.encoding.to.bytes()),
            #[inline(always)]
            |first, src, dst| self.encoding.run(first, src, dst, &mut values),
        )
    }
}

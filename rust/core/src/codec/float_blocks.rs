//! Blocks of float64, loaded from elements of any format and stored as those of any: what [`Format::load`] and
//! [`Format::store`] do, without a decision for each element.

use super::blocks::BLOCK;
use super::number::{bits, Float, Format, OutOfRange, Rounding, Special, FLOAT32, FLOAT64};

/// Numbers of a block; 2^52 is added to these to find the bits of an integer.
pub type Floats = [f64; BLOCK];
/// From here on, float64 has no fractions.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// Added to a smaller integer, it leaves the lowest bits of its two's complement as the lowest bits of the sum.
const SIGNED: f64 = 1.5 * WHOLE;
/// The same for float32, and integers of 16 bits or fewer.
const SIGNED32: f32 = 12_582_912.0;

/// Calls the macro `each` with the type of integers of this machine that has a format; `other` is for formats that none has.
macro_rules! by_integer {
    ($format:expr, $each:ident, $other:expr) => {
        match $format {
            Format::Signed(8) => $each!(i8),
            Format::Signed(16) => $each!(i16),
            Format::Signed(32) => $each!(i32),
            Format::Signed(64) => $each!(i64),
            Format::Unsigned(8) => $each!(u8),
            Format::Unsigned(16) => $each!(u16),
            Format::Unsigned(32) => $each!(u32),
            Format::Unsigned(64) => $each!(u64),
            _ => $other,
        }
    };
}

/// The same with floating point.
macro_rules! by_type {
    ($format:expr, $each:ident, $other:expr) => {
        match $format {
            FLOAT32 => $each!(f32),
            FLOAT64 => $each!(f64),
            other => crate::codec::float_blocks::by_integer!(other, $each, $other),
        }
    };
}

pub(super) use {by_integer, by_type};

/// Loads elements. Integers that float64 does not have become neighbours that round alike in every shorter format: an odd
/// last bit says that there were others behind it.
#[inline(always)]
pub fn load(format: Format, src: &[u8], values: &mut [f64]) {
    macro_rules! each {
        ($type:ty) => {
            for (value, bytes) in values.iter_mut().zip(src.as_chunks().0) {
                *value = <$type>::from_ne_bytes(*bytes) as f64;
            }
        };
    }
    macro_rules! long {
        ($type:ty) => {
            for (value, bytes) in values.iter_mut().zip(src.as_chunks().0) {
                let number = <$type>::from_ne_bytes(*bytes);
                let odd = number >> 11 | <$type>::from(number & 0x7ff != 0);
                *value = if number.abs_diff(0) < 1 << 53 { number } else { odd << 11 } as f64;
            }
        };
    }
    match format {
        Format::Signed(64) => return long!(i64),
        Format::Unsigned(64) => return long!(u64),
        _ => {}
    }
    by_type!(format, each, {
        match format {
            Format::Float(float) if format.bits() == 16 => float.load_halves(src, values),
            _ => {
                for (value, bytes) in values.iter_mut().zip(src.chunks_exact(format.bytes())) {
                    *value = format.load_float(bits(bytes));
                }
            }
        }
    });
}

/// Stores numbers, which are overwritten; `false` when the rules do not tell what becomes of one of them, or there is no
/// fast way: then what is stored means nothing.
#[inline(always)]
pub fn store(format: Format, (rounding, rule): (Rounding, OutOfRange), values: &mut [f64], dst: &mut [u8]) -> bool {
    match format {
        FLOAT64 => {
            for (value, bytes) in values.iter().zip(dst.as_chunks_mut().0) {
                *bytes = value.to_ne_bytes();
            }
            true
        }
        FLOAT32 if rounding == Rounding::NearestEven => {
            let mut has_all = true;
            for (value, bytes) in values.iter().zip(dst.as_chunks_mut().0) {
                let made = *value as f32;
                has_all &= has_rounded(made, *value);
                *bytes = made.to_ne_bytes();
            }
            has_all | (rule == OutOfRange::Clamp)
        }
        Format::Float(float) => float.store_block(rounding, rule, values, dst),
        _ => {
            round(rounding, values);
            store_whole(format, rule, values.iter().copied(), dst)
        }
    }
}

/// Whether a float32 is infinite only if the number that it was made of is.
#[inline(always)]
pub fn has_rounded(made: f32, value: f64) -> bool {
    (made.abs() != f32::INFINITY) | (value.abs() == f64::INFINITY)
}

#[inline(always)]
fn round(rounding: Rounding, values: &mut [f64]) {
    macro_rules! each {
        ($mode:ident) => {
            values.iter_mut().for_each(|value| *value = Rounding::$mode.whole(*value))
        };
    }
    match rounding {
        Rounding::NearestEven => each!(NearestEven),
        Rounding::NearestAway => each!(NearestAway),
        Rounding::TowardsZero => each!(TowardsZero),
        Rounding::TowardsPositive => each!(TowardsPositive),
        Rounding::TowardsNegative => each!(TowardsNegative),
    }
}

/// Stores whole numbers as integers; `false` as in `store`.
#[inline(always)]
fn store_whole(format: Format, rule: OutOfRange, values: impl Iterator<Item = f64> + Clone, dst: &mut [u8]) -> bool {
    let (least, most) = format.range();
    // Both are exact, as is the first number above the range.
    let (least, most, above) = (least as f64, most as f64, (most + 1) as f64);
    let is_long = format.bits() == 64;
    // Whatever is stored then is among `kept`. NaN and infinity are never accepted: comparisons with NaN are false.
    let (accepted, kept) = match rule {
        OutOfRange::Clamp => ((f64::MIN, f64::INFINITY), (least, most)),
        OutOfRange::Wrap if !is_long => ((-WHOLE / 2.0, WHOLE / 2.0), (-WHOLE / 2.0, WHOLE / 2.0)),
        _ => ((least, above), (least, most)),
    };
    let mask = u64::MAX >> (64 - format.bits());
    let mut has_all = true;
    if is_long {
        // Few are so large that the sum does not have all of their bits; these go one by one.
        for (value, bytes) in values.clone().zip(dst.as_chunks_mut().0) {
            has_all &= (value >= least.max(-WHOLE / 2.0)) & (value < WHOLE / 2.0);
            *bytes = (value + SIGNED).to_bits().wrapping_sub(SIGNED.to_bits()).to_ne_bytes();
        }
        if std::mem::replace(&mut has_all, true) {
            return true;
        }
    }
    macro_rules! each {
        ($whole:expr) => {
            for (value, bytes) in values.zip(dst.as_chunks_mut().0) {
                has_all &= (value >= accepted.0) & (value < accepted.1);
                *bytes = $whole(value).to_ne_bytes();
            }
        };
    }
    let lowest_bits = |value: f64| {
        let value = if value > kept.0 { value } else { kept.0 };
        let value = if value < kept.1 { value } else { kept.1 };
        (value + SIGNED).to_bits()
    };
    match format {
        Format::Signed(64) => each!(|value: f64| value as i64),
        Format::Unsigned(64) => each!(|value: f64| value as u64),
        Format::Signed(32) | Format::Unsigned(32) => each!(|value| lowest_bits(value) as u32),
        Format::Signed(16) | Format::Unsigned(16) => each!(|value| lowest_bits(value) as u16),
        _ => each!(|value| (lowest_bits(value) & mask) as u8),
    }
    has_all
}

/// The same for float32, which has all integers of 16 bits; a vector has twice as many of these numbers.
#[inline(always)]
pub fn store_float32(
    format: Format,
    rule: OutOfRange,
    values: impl Iterator<Item = f32> + Clone,
    dst: &mut [u8],
) -> bool {
    let (least, most) = format.range();
    if rule == OutOfRange::Wrap || format.bits() > 16 {
        return store_whole(format, rule, values.map(f64::from), dst);
    }
    let accepted = match rule {
        OutOfRange::Clamp => (f32::MIN, f32::INFINITY),
        _ => (least as f32, (most + 1) as f32),
    };
    let (least, most) = (least as f32, most as f32);
    let mask = u32::MAX >> (32 - format.bits());
    let mut has_all = true;
    macro_rules! each {
        ($whole:expr) => {
            for (value, bytes) in values.zip(dst.as_chunks_mut().0) {
                has_all &= (value >= accepted.0) & (value < accepted.1);
                *bytes = $whole(value).to_ne_bytes();
            }
        };
    }
    let lowest_bits = |value: f32| {
        let value = if value > least { value } else { least };
        let value = if value < most { value } else { most };
        (value + SIGNED32).to_bits()
    };
    match format {
        Format::Signed(16) | Format::Unsigned(16) => each!(|value| lowest_bits(value) as u16),
        _ => each!(|value| (lowest_bits(value) & mask) as u8),
    }
    has_all
}

impl Float {
    /// Loads elements of 16 bits.
    #[inline(always)]
    fn load_halves(self, src: &[u8], values: &mut [f64]) {
        let shift = 52 - self.mantissa;
        // Also of numbers below the least normal one the product is exact.
        let scale = f64::from_bits(((1023 + 1023 - self.bias) as u64) << 52);
        let infinity = u64::from(u16::MAX >> 1) >> self.mantissa << self.mantissa;
        for (value, bytes) in values.iter_mut().zip(src.as_chunks().0) {
            let bits = u64::from(u16::from_ne_bytes(*bytes));
            let magnitude = bits & 0x7fff;
            let finite = (f64::from_bits(magnitude << shift) * scale).to_bits();
            let size = if magnitude < infinity { finite } else { magnitude << shift | f64::INFINITY.to_bits() };
            *value = f64::from_bits(size | bits >> 15 << 63);
        }
    }

    /// As `store` does, in units of the last bit of each number.
    #[inline(always)]
    fn store_block(self, rounding: Rounding, rule: OutOfRange, values: &mut [f64], dst: &mut [u8]) -> bool {
        if self.special == Special::Powers {
            return false;
        }
        let (least, mantissa) = (i64::from(1 - self.bias), u64::from(self.mantissa));
        let (mut exponents, mut numbers) = ([0_u64; BLOCK], [0.0; BLOCK]);
        for ((value, exponent), number) in values.iter_mut().zip(&mut exponents).zip(&mut numbers) {
            *number = *value;
            *exponent = ((value.to_bits() >> 52 & 0x7ff) as i64 - 1023).max(least) as u64;
            *value *= f64::from_bits((1023 + mantissa).wrapping_sub(*exponent) << 52);
        }
        round(rounding, values);
        let most = self.most();
        let has_infinity = self.special == Special::Ieee;
        let end = if has_infinity { most + 1 } else { most };
        let (has_nan, nan) = match self.special {
            Special::Ieee => (true, most + 1 + (1 << (self.mantissa - 1))),
            Special::OnesNan => (true, most + 1),
            Special::ZeroNan => (true, self.sign(true)),
            Special::Finite | Special::Powers => (false, 0),
        };
        let (sign, has_zeros, clamps) =
            (self.exponent + self.mantissa, self.special != Special::ZeroNan, rule == OutOfRange::Clamp);
        let mut has_all = true;
        for ((value, exponent), number) in values.iter().zip(&mut exponents).zip(&numbers) {
            let units = (value.abs() + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits());
            let magnitude = (exponent.wrapping_sub(least as u64) << mantissa).wrapping_add(units);
            let (is_nan, is_infinite) = (number.is_nan(), number.abs() == f64::INFINITY);
            let is_above = (magnitude > most) | is_nan | is_infinite;
            has_all &=
                !is_above | (is_nan & has_nan) | (is_infinite & has_infinity) | (!is_nan & !is_infinite & clamps);
            let magnitude = if is_above { end } else { magnitude };
            let magnitude = if is_nan { nan } else { magnitude };
            let negative = (number.to_bits() >> 63) & u64::from(has_zeros | (magnitude != 0));
            *exponent = negative << sign | magnitude;
        }
        macro_rules! put {
            ($type:ty) => {
                for (bits, bytes) in exponents.iter().zip(dst.as_chunks_mut().0) {
                    *bytes = (*bits as $type).to_ne_bytes();
                }
            };
        }
        match 1 + sign {
            32 => put!(u32),
            16 => put!(u16),
            _ => put!(u8),
        }
        has_all
    }
}

//! Formats of numbers, and exact conversion between them: what `cast_value`, `scale_offset` and `bitround` compute with.
//!
//! An element is loaded as a [`Number`], which holds every value of every format exactly. Storing rounds it as asked.

use super::report;
use crate::error::Result;

/// How a number that lies between two of a format becomes one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    NearestEven,
    NearestAway,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
}

impl Rounding {
    pub fn named(codec: &'static str, name: &str) -> Result<Self> {
        Ok(match name {
            "nearest-even" => Rounding::NearestEven,
            "nearest-away" => Rounding::NearestAway,
            "towards-zero" => Rounding::TowardsZero,
            "towards-positive" => Rounding::TowardsPositive,
            "towards-negative" => Rounding::TowardsNegative,
            _ => return Err(report::option(codec, "rounding", "a rounding mode", name)),
        })
    }

    /// The integer that a number rounds to.
    #[inline(always)]
    pub fn whole(self, value: f64) -> f64 {
        match self {
            Rounding::NearestEven => value.round_ties_even(),
            Rounding::NearestAway => value.round(),
            Rounding::TowardsZero => value.trunc(),
            Rounding::TowardsPositive => value.ceil(),
            Rounding::TowardsNegative => value.floor(),
        }
    }
}

/// What becomes of numbers beyond the least and the greatest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfRange {
    Refuse,
    Clamp,
    Wrap,
}

/// A value of any format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl std::fmt::Display for Number {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Integer(value) => value.fmt(text),
            Number::Float(value) => value.fmt(text),
        }
    }
}

impl Number {
    /// The same for equal numbers of one format, and for NaN.
    pub fn key(self) -> u64 {
        match self {
            Number::Integer(value) => value as u64,
            Number::Float(value) if value.is_nan() => u64::MAX,
            // Adding 0 makes zero of its negative.
            Number::Float(value) => (value + 0.0).to_bits(),
        }
    }
}

/// Floating point in the manner of IEEE 754: a sign, `exponent` bits and `mantissa` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Float {
    pub(super) exponent: u32,
    pub(super) mantissa: u32,
    pub(super) bias: i32,
    pub(super) special: Special,
}

/// What the bit patterns stand for that are no finite numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// The greatest exponent is that of infinity and NaN.
    Ieee,
    /// Everything is finite.
    Finite,
    /// Only the pattern of all ones but the sign is not finite: NaN.
    OnesNan,
    /// There is one NaN, where negative zero would be.
    ZeroNan,
    /// Powers of two without a sign and without zero; all ones are NaN.
    Powers,
}

/// How an element is stored in its bytes, in the machine's byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Signed(u32),
    Unsigned(u32),
    Float(Float),
}

/// What became of a number in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    Bits(u64),
    /// It lies beyond the least or the greatest value.
    Below,
    Above,
    /// NaN or infinity, which the format does not have.
    Impossible,
}

const fn float(exponent: u32, mantissa: u32, bias: i32, special: Special) -> Format {
    Format::Float(Float { exponent, mantissa, bias, special })
}

pub(super) const NAMES: [(&str, Format); 26] = [
    ("int2", Format::Signed(2)),
    ("int4", Format::Signed(4)),
    ("int8", Format::Signed(8)),
    ("int16", Format::Signed(16)),
    ("int32", Format::Signed(32)),
    ("int64", Format::Signed(64)),
    ("uint2", Format::Unsigned(2)),
    ("uint4", Format::Unsigned(4)),
    ("uint8", Format::Unsigned(8)),
    ("uint16", Format::Unsigned(16)),
    ("uint32", Format::Unsigned(32)),
    ("uint64", Format::Unsigned(64)),
    ("float4_e2m1fn", float(2, 1, 1, Special::Finite)),
    ("float6_e2m3fn", float(2, 3, 1, Special::Finite)),
    ("float6_e3m2fn", float(3, 2, 3, Special::Finite)),
    ("float8_e3m4", float(3, 4, 3, Special::Ieee)),
    ("float8_e4m3", float(4, 3, 7, Special::Ieee)),
    ("float8_e4m3fn", float(4, 3, 7, Special::OnesNan)),
    ("float8_e4m3b11fnuz", float(4, 3, 11, Special::ZeroNan)),
    ("float8_e4m3fnuz", float(4, 3, 8, Special::ZeroNan)),
    ("float8_e5m2", float(5, 2, 15, Special::Ieee)),
    ("float8_e5m2fnuz", float(5, 2, 16, Special::ZeroNan)),
    ("float8_e8m0fnu", float(8, 0, 127, Special::Powers)),
    ("bfloat16", float(8, 7, 127, Special::Ieee)),
    ("float16", float(5, 10, 15, Special::Ieee)),
    ("float32", FLOAT32),
];
pub(super) const FLOAT32: Format = float(8, 23, 127, Special::Ieee);
pub(super) const FLOAT64: Format = float(11, 52, 1023, Special::Ieee);

impl Format {
    /// The format of a registered data type.
    pub fn named(codec: &'static str, name: &str) -> Result<Self> {
        if name == "float64" {
            return Ok(FLOAT64);
        }
        let row = NAMES.iter().find(|row| row.0 == name);
        row.map(|row| row.1).ok_or_else(|| report::option(codec, "data_type", "a type of numbers", name))
    }

    pub fn bits(self) -> u32 {
        match self {
            Format::Signed(bits) | Format::Unsigned(bits) => bits,
            Format::Float(Float { special: Special::Powers, exponent, .. }) => exponent,
            Format::Float(float) => 1 + float.exponent + float.mantissa,
        }
    }

    /// The bytes of an element: narrow ones have a byte of their own, whose upper bits mean nothing.
    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Whether Rust has a type for it.
    pub fn is_machine_type(self) -> bool {
        matches!(self, FLOAT32 | FLOAT64) || (self.is_integer() && self.bits() >= 8)
    }

    pub fn is_integer(self) -> bool {
        !matches!(self, Format::Float(_))
    }

    /// Whether every value is also one of float64.
    pub fn fits_float64(self) -> bool {
        !self.is_integer() || self.bits() <= 53
    }

    #[inline]
    pub fn load(self, bits: u64) -> Number {
        match self {
            Format::Signed(width) => {
                let shift = 64 - width;
                Number::Integer(i128::from((bits << shift) as i64 >> shift))
            }
            Format::Unsigned(width) => Number::Integer(i128::from(bits << (64 - width) >> (64 - width))),
            Format::Float(float) => Number::Float(float.load(bits)),
        }
    }

    /// The value as float64, which it is exactly if it [`fits_float64`](Self::fits_float64).
    #[inline]
    pub fn load_float(self, bits: u64) -> f64 {
        match self {
            Format::Signed(width) => ((bits << (64 - width)) as i64 >> (64 - width)) as f64,
            Format::Unsigned(width) => (bits << (64 - width) >> (64 - width)) as f64,
            Format::Float(float) => float.load(bits),
        }
    }

    /// The bits that stand for a number, rounded to one of the format.
    #[inline]
    pub fn store(self, number: Number, rounding: Rounding) -> Stored {
        match (self, number) {
            (Format::Float(float), Number::Float(value)) => float.store(value, rounding),
            (Format::Float(float), Number::Integer(value)) => {
                float.store(nearest(value, float.mantissa + 1, rounding), rounding)
            }
            (_, Number::Integer(value)) => self.store_integer(value),
            (_, Number::Float(value)) if !value.is_finite() => Stored::Impossible,
            (_, Number::Float(value)) => {
                let whole = rounding.whole(value);
                if whole.abs() < (1_u128 << 100) as f64 {
                    self.store_integer(whole as i128)
                } else if whole < 0.0 {
                    Stored::Below
                } else {
                    Stored::Above
                }
            }
        }
    }

    fn store_integer(self, value: i128) -> Stored {
        let (least, most) = self.range();
        match value {
            _ if value < least => Stored::Below,
            _ if value > most => Stored::Above,
            _ => Stored::Bits(self.wrapped(value)),
        }
    }

    /// The lowest bits of an integer, which stand for the value that is congruent to it.
    pub fn wrapped(self, value: i128) -> u64 {
        value as u64 & (u64::MAX >> (64 - self.bits()))
    }

    /// The least and the greatest integer.
    pub fn range(self) -> (i128, i128) {
        match self {
            Format::Signed(bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            other => (0, (1 << other.bits()) - 1),
        }
    }

    /// The bits of the least value, or of the greatest; of infinity, where there is one.
    pub fn end(self, above: bool) -> u64 {
        match self {
            Format::Float(float) => float.end(above),
            whole => whole.wrapped(if above { whole.range().1 } else { whole.range().0 }),
        }
    }
}

impl Float {
    const fn ones(self) -> u64 {
        (1 << self.mantissa) - 1
    }

    #[inline]
    fn load(self, bits: u64) -> f64 {
        match (self.exponent, self.mantissa) {
            (11, 52) => return f64::from_bits(bits),
            (8, 23) => return f64::from(f32::from_bits(bits as u32)),
            (8, 7) => return f64::from(f32::from_bits((bits as u32) << 16)),
            _ => {}
        }
        let exponent = (bits >> self.mantissa) & ((1 << self.exponent) - 1);
        let mantissa = bits & self.ones();
        let top = exponent == (1 << self.exponent) - 1;
        let magnitude = bits & ((1 << (self.exponent + self.mantissa)) - 1);
        let negative = self.special != Special::Powers && (bits >> (self.exponent + self.mantissa)) & 1 == 1;
        let value = match self.special {
            Special::Powers if top => f64::NAN,
            Special::Powers => return power_of_two(exponent as i32 - self.bias),
            Special::Ieee if top && mantissa == 0 => f64::INFINITY,
            Special::Ieee if top => f64::NAN,
            Special::OnesNan if top && mantissa == self.ones() => f64::NAN,
            Special::ZeroNan if negative && magnitude == 0 => f64::NAN,
            _ if exponent == 0 => mantissa as f64 * power_of_two(1 - self.bias - self.mantissa as i32),
            _ => {
                (mantissa | (1 << self.mantissa)) as f64
                    * power_of_two(exponent as i32 - self.bias - self.mantissa as i32)
            }
        };
        if negative {
            -value
        } else {
            value
        }
    }

    /// The bits of the greatest finite magnitude.
    pub(super) fn most(self) -> u64 {
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        match self.special {
            Special::Ieee => all - self.ones() - 1,
            Special::Finite | Special::ZeroNan => all,
            Special::OnesNan | Special::Powers => all - 1,
        }
    }

    pub(super) fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.exponent + self.mantissa)
    }

    fn end(self, above: bool) -> u64 {
        match self.special {
            Special::Powers if !above => 0,
            Special::Powers => self.most(),
            Special::Ieee => self.sign(!above) | (self.most() + 1),
            _ => self.sign(!above) | self.most(),
        }
    }

    #[inline]
    fn store(self, value: f64, rounding: Rounding) -> Stored {
        if (self.exponent, self.mantissa) == (11, 52) {
            return Stored::Bits(value.to_bits());
        }
        if (self.exponent, self.mantissa) == (8, 23) && rounding == Rounding::NearestEven {
            let narrow = value as f32;
            if narrow.is_finite() || !value.is_finite() {
                return Stored::Bits(u64::from(narrow.to_bits()));
            }
        }
        self.store_slowly(value, rounding)
    }

    fn store_slowly(self, value: f64, rounding: Rounding) -> Stored {
        let negative = value.is_sign_negative();
        if !value.is_finite() {
            let infinite = value.is_infinite();
            return match self.special {
                Special::Ieee if infinite => Stored::Bits(self.end(!negative)),
                Special::Ieee => Stored::Bits(self.sign(negative) | (self.most() + 1) | (1 << (self.mantissa - 1))),
                Special::OnesNan if !infinite => Stored::Bits(self.sign(negative) | (self.most() + 1)),
                Special::ZeroNan if !infinite => Stored::Bits(self.sign(true)),
                Special::Powers if !infinite => Stored::Bits(self.most() + 1),
                _ => Stored::Impossible,
            };
        }
        if self.special == Special::Powers && value <= 0.0 {
            return Stored::Below;
        }
        if value == 0.0 {
            return Stored::Bits(self.sign(negative && self.special != Special::ZeroNan));
        }
        let least = if self.special == Special::Powers { -self.bias } else { 1 - self.bias };
        let exponent = exponent_of(value).max(least);
        // In units of the last bit: a number below 2^53, so that all of this is exact.
        let unit = exponent - self.mantissa as i32;
        let units = rounding.whole(scaled(value, -unit)).abs() as u64;
        if self.special == Special::Powers {
            return match (units, exponent - least + i32::from(units > 1)) {
                (0, _) => Stored::Below,
                (_, stored) if stored as u64 > self.most() => Stored::Above,
                (_, stored) => Stored::Bits(stored as u64),
            };
        }
        // With the hidden bit counted in: a carry out of the mantissa raises the exponent by itself.
        let magnitude = (((exponent - least) as u64) << self.mantissa) + units;
        match negative {
            true if magnitude > self.most() => Stored::Below,
            false if magnitude > self.most() => Stored::Above,
            _ if magnitude == 0 && self.special == Special::ZeroNan => Stored::Bits(0),
            _ => Stored::Bits(self.sign(negative) | magnitude),
        }
    }
}

/// Of a finite number that is not zero: `1 <= |value| / 2^exponent < 2`.
fn exponent_of(value: f64) -> i32 {
    let bits = (value.to_bits() >> 52 & 0x7ff) as i32;
    if bits == 0 {
        // Below the least normal number: once more, 2^64 times as large.
        return exponent_of(value * 18_446_744_073_709_551_616.0) - 64;
    }
    bits - 1023
}

/// 2 to a power between those of the least and the greatest number of float64.
fn power_of_two(power: i32) -> f64 {
    match power {
        -1022..=1023 => f64::from_bits(((power + 1023) as u64) << 52),
        _ if power < 0 => f64::from_bits(1_u64.checked_shl((power + 1074) as u32).unwrap_or(0)),
        _ => f64::INFINITY,
    }
}

/// `value * 2^power`, in two steps where the factor alone is beyond the range.
fn scaled(value: f64, power: i32) -> f64 {
    let half = power / 2;
    value * power_of_two(half) * power_of_two(power - half)
}

/// An integer as the float64 of at most `precision` bits to which it rounds.
fn nearest(value: i128, precision: u32, rounding: Rounding) -> f64 {
    let magnitude = value.unsigned_abs();
    let length = 128 - magnitude.leading_zeros();
    if length <= precision.min(53) {
        return value as f64;
    }
    let unit = length - precision.min(53);
    // Exact: what is rounded has a few bits before the point, and a sticky one behind it tells ties from neighbours.
    let kept = (magnitude >> unit) as f64;
    let rest = magnitude & ((1 << unit) - 1);
    let half = 1_u128 << (unit - 1);
    let up = match rounding {
        Rounding::TowardsZero => false,
        Rounding::TowardsPositive => rest > 0 && value > 0,
        Rounding::TowardsNegative => rest > 0 && value < 0,
        Rounding::NearestAway => rest >= half,
        Rounding::NearestEven => rest > half || (rest == half && (magnitude >> unit) & 1 == 1),
    };
    let rounded = (kept + f64::from(u8::from(up))) * power_of_two(unit as i32);
    if value < 0 {
        -rounded
    } else {
        rounded
    }
}

/// The bits of the element at the start of some bytes.
#[inline]
pub fn bits(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// Puts the bits of an element into its bytes.
#[inline]
pub fn put(bits: u64, bytes: &mut [u8]) {
    match bytes.len() {
        1 => bytes[0] = bits as u8,
        2 => bytes.copy_from_slice(&(bits as u16).to_ne_bytes()),
        4 => bytes.copy_from_slice(&(bits as u32).to_ne_bytes()),
        _ => bytes.copy_from_slice(&bits.to_ne_bytes()),
    }
}

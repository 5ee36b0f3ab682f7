//! `delta`: the first element, then the difference of each element from the one before.
//!
//! Names: `delta` in v2 (numcodecs), `numcodecs.delta` in v3. Types are those of numcodecs in the machine's byte order.

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "delta";

/// A type of integers: its bytes, and whether it has a sign.
type Integer = (usize, bool);

/// The `delta` codec with its options checked. Differences wrap around; those of floating point are left to numcodecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    elements: Integer,
    differences: Integer,
}

impl Delta {
    /// The types of elements and of differences, like `i4` or `u2`.
    pub fn new(elements: &str, differences: &str) -> Result<Self> {
        Ok(Delta { elements: integer(elements)?, differences: integer(differences)? })
    }

    fn length(&self, decoded: usize) -> Option<usize> {
        let size = self.elements.0;
        decoded.is_multiple_of(size).then(|| (decoded / size).checked_mul(self.differences.0))?
    }
}

fn integer(name: &str) -> Result<Integer> {
    match (name.as_bytes(), name.get(1..).and_then(|size| size.parse().ok())) {
        ([kind @ (b'i' | b'u'), ..], Some(size @ (1 | 2 | 4 | 8))) => Ok((size, *kind == b'i')),
        _ => Err(report::option(NAME, "dtype", "a type of integers", name)),
    }
}

/// Calls the macro `each` with the type of integers of so many bytes, with a sign or without.
macro_rules! by_integer {
    ($integer:expr, $each:ident) => {
        match $integer {
            (1, true) => $each!(i8),
            (1, false) => $each!(u8),
            (2, true) => $each!(i16),
            (2, false) => $each!(u16),
            (4, true) => $each!(i32),
            (4, false) => $each!(u32),
            (_, true) => $each!(i64),
            (_, false) => $each!(u64),
        }
    };
}

/// Subtracts from each element the one before it, from the first one nothing; gives whether the type of differences has all
/// of them.
macro_rules! subtract {
    ($src:expr, $dst:expr, $from:ty, $to:ty) => {{
        const SIZE: usize = size_of::<$from>();
        let value = |bytes: &[u8]| <$from>::from_ne_bytes(bytes.try_into().unwrap_or_default());
        let mut has_all = true;
        let mut put = |difference: $from, place: &mut [u8]| {
            let made = difference as $to;
            // Wider types have them all; casting back finds what a narrower one lost.
            has_all &= size_of::<$to>() >= SIZE || made as $from == difference;
            place.copy_from_slice(&made.to_ne_bytes());
        };
        let mut differences = $dst.chunks_exact_mut(size_of::<$to>());
        if let (Some(first), Some(place)) = ($src.get(..SIZE), differences.next()) {
            put(value(first), place);
        }
        let pairs = $src.chunks_exact(SIZE).zip($src.get(SIZE..).unwrap_or_default().chunks_exact(SIZE));
        for ((before, this), place) in pairs.zip(differences) {
            put(value(this).wrapping_sub(value(before)), place);
        }
        has_all
    }};
}

macro_rules! add_up {
    ($src:expr, $dst:expr, $from:ty, $to:ty) => {{
        let mut sum: $to = 0;
        for (bytes, place) in $src.chunks_exact(size_of::<$from>()).zip($dst.chunks_exact_mut(size_of::<$to>())) {
            let difference = <$from>::from_ne_bytes(bytes.try_into().unwrap_or_default());
            sum = sum.wrapping_add(difference as $to);
            place.copy_from_slice(&sum.to_ne_bytes());
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
        macro_rules! each {
            ($from:ty) => {
                match self.elements.0 {
                    1 => add_up!(src, dst, $from, u8),
                    2 => add_up!(src, dst, $from, u16),
                    4 => add_up!(src, dst, $from, u32),
                    _ => add_up!(src, dst, $from, u64),
                }
            };
        }
        by_integer!(self.differences, each);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let size = (src.len() / self.differences.0).saturating_mul(self.elements.0);
        room::of_size(NAME, size, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let Some(size) = self.length(src.len()) else {
            let reason = format!("expected elements of {} bytes, found {} bytes", self.elements.0, src.len());
            return Err(Error { direction: Some(Direction::Encode), ..Error::decode(NAME, reason) });
        };
        let dst = room::appended(NAME, dst, size)?;
        macro_rules! each {
            ($from:ty) => {{
                macro_rules! into {
                    ($to:ty) => {
                        subtract!(src, dst, $from, $to)
                    };
                }
                by_integer!(self.differences, into)
            }};
        }
        let has_all = by_integer!(self.elements, each);
        if has_all {
            return Ok(());
        }
        let reason = "expected differences that the type astype has, found others; choose a wider one";
        Err(Error { direction: Some(Direction::Encode), ..Error::decode(NAME, reason.to_owned()) })
    }
}

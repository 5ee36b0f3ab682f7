//! The words of codec errors: one wording per fault, the same for every codec.

use crate::error::{Direction, Error, Kind};

/// Digits in groups of three: `4,096`.
pub fn grouped(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `4,096`, or what stands for it when nobody said how many bytes there should be.
fn of(expected: Option<usize>) -> String {
    expected.map_or_else(String::new, |n| format!(" of {}", grouped(n)))
}

/// The encoded bytes end too early (or, indistinguishably, are a whole stream of a shorter value).
pub fn ended(codec: &'static str, made: usize, expected: Option<usize>) -> Error {
    Error::decode(codec, format!("data ended after {}{} bytes", grouped(made), of(expected)))
}

/// The encoded bytes are cut, seen from a header that says how many there must be.
pub fn cut(codec: &'static str, found: usize, expected: usize) -> Error {
    Error::decode(codec, format!("data ended after {} of {} encoded bytes", grouped(found), grouped(expected)))
}

/// More decoded bytes than the value has.
pub fn too_long(codec: &'static str, expected: usize) -> Error {
    Error::decode(codec, format!("expected {} bytes, found more", grouped(expected)))
}

/// A size that a header or a checksum's position tells before decoding.
pub fn wrong_size(codec: &'static str, expected: usize, found: impl TryInto<u64>) -> Error {
    Error::decode(codec, format!("expected {} bytes, found {}", grouped(expected), grouped(found)))
}

/// Bytes that are no whole number of elements.
pub fn uneven(codec: &'static str, direction: Direction, element: usize, found: usize) -> Error {
    let reason = format!("expected a multiple of {} bytes, found {}", grouped(element), grouped(found));
    Error { direction: Some(direction), ..Error::decode(codec, reason) }
}

/// Bytes after the end of the encoded value. Every codec refuses them: they are what a half-overwritten file looks like.
pub fn trailing(codec: &'static str, count: usize) -> Error {
    Error::decode(codec, format!("{} bytes follow the end of the encoded data", grouped(count)))
}

/// The stream breaks its own format's rules.
pub fn damaged(codec: &'static str, made: usize, expected: Option<usize>) -> Error {
    Error::decode(codec, format!("data is damaged after about {}{} bytes", grouped(made), of(expected)))
}

/// The stream breaks its own format's rules, at a byte of the encoded data.
pub fn damaged_at(codec: &'static str, at: usize, length: usize) -> Error {
    let at = grouped(at.min(length));
    Error::decode(codec, format!("encoded data is damaged near byte {at} of {}", grouped(length)))
}

/// More than the format, or the library, takes at a time.
pub fn too_large(codec: &'static str, direction: Direction, size: usize, most: usize) -> Error {
    let mut error = Error::decode(codec, format!("expected at most {} bytes, found {}", grouped(most), grouped(size)));
    error.direction = Some(direction);
    error
}

/// The bytes are something else altogether.
pub fn foreign(codec: &'static str, what: &str, src: &[u8]) -> Error {
    let start: Vec<String> = src.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    Error::decode(codec, format!("expected {what}, found bytes that begin with {}", start.join(" ")))
}

/// A checksum that does not match; names both sums.
pub fn checksum(codec: &'static str, stored: u32, computed: u32) -> Error {
    let mut error =
        Error::decode(codec, format!("checksum stored is {stored:08x}, that of the data is {computed:08x}"));
    error.kind = Kind::Checksum;
    error
}

/// More decoded bytes than the codec before it can have made of a chunk: damage, or a bomb. Nobody lacks memory.
pub fn over_limit(codec: &'static str, limit: usize) -> Error {
    Error::decode(codec, format!("data decodes to more than the {} bytes allowed here", grouped(limit)))
}

/// The system has no such amount of memory.
pub fn no_memory(codec: &'static str, direction: Direction, size: usize) -> Error {
    let mut error = Error::decode(codec, format!("cannot allocate {} bytes", grouped(size)));
    error.kind = Kind::Limit;
    error.direction = Some(direction);
    error
}

/// An option outside its range; the metadata's own checks come first, this one keeps C code safe whoever calls.
pub fn option(codec: &'static str, name: &str, expected: &str, found: impl std::fmt::Display) -> Error {
    let mut error = Error::new(Kind::Request, format!("{name}: expected {expected}, found {found}"));
    error.codec = Some(codec);
    error
}

/// A caller asked for a part that the value does not have.
pub fn outside(codec: &'static str, offset: usize, length: usize, size: usize) -> Error {
    let part = format!("bytes {} to {}", grouped(offset), grouped(offset.saturating_add(length)));
    let mut error = Error::decode(codec, format!("{part} lie outside a value of {} bytes", grouped(size)));
    error.kind = Kind::Request;
    error
}

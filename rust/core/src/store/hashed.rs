//! Which sub-directory a chunk lies in, by the hash of its name; `transformers/hashed.py` in the package says how.

use std::fmt::Write;

use crate::error::Result;

/// Hexadecimal digits of a hash.
pub const DIGITS: usize = 8;

/// Where values lie: behind `prefix` in `levels` directories of `width` digits each, of [`DIGITS`] together at most, with
/// dots for the slashes in the rest of their key.
pub fn directories(prefix: String, levels: usize, width: usize) -> impl Fn(&str) -> Result<String> + Send + Sync {
    move |key| {
        let Some(name) = key.strip_prefix(prefix.as_str()) else { return Ok(key.to_owned()) };
        let name = name.replace('/', ".");
        let hash = crc32(name.as_bytes());
        let mut stored = String::with_capacity(key.len() + levels * (width + 1));
        stored.push_str(&prefix);
        for level in 1..=levels {
            // Writing to a string cannot fail.
            let _ = write!(stored, "{:0width$x}/", digits(hash, (level - 1) * width, level * width));
        }
        stored.push_str(&name);
        Ok(stored)
    }
}

/// The digits from number `start` to number `end`, counted from the most significant one, as a number.
fn digits(hash: u32, start: usize, end: usize) -> u32 {
    let rest = u64::from(hash) & ((1u64 << (4 * (DIGITS - start))) - 1);
    (rest >> (4 * (DIGITS - end))) as u32
}

/// The CRC-32 of zlib, gzip and PNG. Names are short, so a table would save nothing.
fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shifted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"c1.0"), 0x00a0_31d6);
    }

    #[test]
    fn directories_stand_between_prefix_and_name() {
        let stored = |levels, width| directories("data/foo/".into(), levels, width)("data/foo/c1/0").expect("renamed");
        assert_eq!(stored(2, 2), "data/foo/00/a0/c1.0");
        assert_eq!(stored(1, 8), "data/foo/00a031d6/c1.0");
        assert_eq!(stored(8, 1), "data/foo/0/0/a/0/3/1/d/6/c1.0");
        assert_eq!(stored(2, 3), "data/foo/00a/031/c1.0");
        assert_eq!(directories("a/".into(), 1, 2)("b/c").expect("renamed"), "b/c");
    }
}

//! Checksums of four bytes, little endian, behind the data or before them: `crc32c`, and those of numcodecs.
//!
//! Names: `fletcher32`, `crc32`, `adler32` in v2 (numcodecs), with the prefix `numcodecs.` in v3.

use super::{crc32c, deflate, fletcher32, report, room, BytesToBytes};
use crate::error::{Direction, Result};

/// How many bytes the checksum adds.
pub const LEN: usize = 4;

/// A checksum, where it is stored, and how it is computed.
#[derive(Debug, Clone, Copy)]
pub struct Checksum {
    name: &'static str,
    sum: fn(&[u8]) -> u32,
    at_start: bool,
}

impl Checksum {
    /// `crc32c`, which has no options.
    pub const CRC32C: Checksum = Checksum { name: "crc32c", sum: crc32c::checksum, at_start: false };

    /// The checksum of this name; `None` if it is none.
    pub fn new(name: &str, at_start: bool) -> Option<Self> {
        let (name, sum): (_, fn(&[u8]) -> u32) = match name {
            "adler32" => ("adler32", deflate::adler32),
            "crc32" => ("crc32", deflate::crc32),
            "fletcher32" => ("fletcher32", fletcher32::checksum),
            _ => return None,
        };
        Some(Checksum { name, sum, at_start })
    }

    /// Checks `src` where it lies and returns what the checksum covers.
    pub fn verify(self, src: &[u8]) -> Result<&[u8]> {
        let parts = if self.at_start {
            src.split_first_chunk::<LEN>().map(|(stored, data)| (data, stored))
        } else {
            src.split_last_chunk::<LEN>()
        };
        let Some((data, stored)) = parts else {
            return Err(report::cut(self.name, src.len(), LEN));
        };
        let (stored, computed) = (u32::from_le_bytes(*stored), (self.sum)(data));
        if stored != computed {
            return Err(report::checksum(self.name, stored, computed));
        }
        Ok(data)
    }

    /// [`verify`](Self::verify), and the data must be `expected` bytes long. The size is checked first: it names the
    /// likelier fault.
    fn verify_sized(self, src: &[u8], expected: usize) -> Result<&[u8]> {
        match src.len().checked_sub(LEN) {
            Some(found) if found > expected => Err(report::wrong_size(self.name, expected, found)),
            Some(found) if found == expected => self.verify(src),
            found => Err(report::ended(self.name, found.unwrap_or(0), Some(expected))),
        }
    }
}

impl BytesToBytes for Checksum {
    fn name(&self) -> &'static str {
        self.name
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        decoded.saturating_add(LEN)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.checked_add(LEN)
    }

    fn checksum(&self) -> Option<Checksum> {
        Some(*self)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(self.verify_sized(src, dst.len())?);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        dst.clear();
        if src.len().saturating_sub(LEN) > limit {
            return Err(report::over_limit(self.name, limit));
        }
        let data = self.verify(src)?;
        room::reserve(self.name, Direction::Decode, dst, data.len())?;
        dst.extend_from_slice(data);
        Ok(())
    }

    /// Reads everything, because no byte is handed out that the checksum does not vouch for, and copies the part.
    fn decode_part(&self, src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<bool> {
        let data = self.verify_sized(src, decoded)?;
        let part = offset.checked_add(dst.len()).and_then(|end| data.get(offset..end));
        dst.copy_from_slice(part.ok_or_else(|| report::outside(self.name, offset, dst.len(), decoded))?);
        Ok(true)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        room::reserve(self.name, Direction::Encode, dst, src.len().saturating_add(LEN))?;
        let sum = (self.sum)(src).to_le_bytes();
        let (before, after): (&[u8], &[u8]) = if self.at_start { (&sum, &[]) } else { (&[], &sum) };
        dst.extend_from_slice(before);
        dst.extend_from_slice(src);
        dst.extend_from_slice(after);
        Ok(())
    }
}

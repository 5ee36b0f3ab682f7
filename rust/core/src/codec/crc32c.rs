//! `crc32c`: four bytes of CRC-32C (Castagnoli), little endian, behind the data.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html>. Name: `crc32c` in v3 (RFC 3720).

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Result};

const NAME: &str = "crc32c";

/// How many bytes the checksum adds.
pub const LEN: usize = 4;

/// The `crc32c` codec; it has no options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Crc32c;

impl Crc32c {
    pub fn new() -> Self {
        Crc32c
    }
}

/// The checksum of these bytes.
pub fn checksum(data: &[u8]) -> u32 {
    ::crc32c::crc32c(data)
}

/// Checks `src` where it lies and returns what the checksum covers, without its last four bytes.
pub fn verify(src: &[u8]) -> Result<&[u8]> {
    let Some((data, stored)) = src.split_last_chunk::<LEN>() else {
        return Err(report::cut(NAME, src.len(), LEN));
    };
    let (stored, computed) = (u32::from_le_bytes(*stored), checksum(data));
    if stored != computed {
        return Err(report::checksum(NAME, stored, computed));
    }
    Ok(data)
}

/// [`verify`], and the data must be `expected` bytes long. The size is checked first: it names the likelier fault.
fn verify_sized(src: &[u8], expected: usize) -> Result<&[u8]> {
    match src.len().checked_sub(LEN) {
        Some(found) if found > expected => Err(report::wrong_size(NAME, expected, found)),
        Some(found) if found == expected => verify(src),
        found => Err(report::ended(NAME, found.unwrap_or(0), Some(expected))),
    }
}

impl BytesToBytes for Crc32c {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        decoded.saturating_add(LEN)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.checked_add(LEN)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(verify_sized(src, dst.len())?);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        dst.clear();
        if src.len().saturating_sub(LEN) > limit {
            return Err(report::over_limit(NAME, limit));
        }
        let data = verify(src)?;
        room::reserve(NAME, Direction::Decode, dst, data.len())?;
        dst.extend_from_slice(data);
        Ok(())
    }

    /// Reads everything, because no byte is handed out that the checksum does not vouch for, and copies the part.
    fn decode_part(&self, src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<bool> {
        let data = verify_sized(src, decoded)?;
        let part = offset.checked_add(dst.len()).and_then(|end| data.get(offset..end));
        dst.copy_from_slice(part.ok_or_else(|| report::outside(NAME, offset, dst.len(), decoded))?);
        Ok(true)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        room::reserve(NAME, Direction::Encode, dst, src.len().saturating_add(LEN))?;
        dst.extend_from_slice(src);
        dst.extend_from_slice(&checksum(src).to_le_bytes());
        Ok(())
    }
}

//! `crc32c`: four bytes of CRC-32C (Castagnoli), little endian, behind the data.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html>. Name: `crc32c` in v3 (RFC 3720).

/// The checksum of these bytes.
pub fn checksum(data: &[u8]) -> u32 {
    ::crc32c::crc32c(data)
}

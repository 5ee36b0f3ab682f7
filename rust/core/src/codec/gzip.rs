//! `gzip` (RFC 1952), by libdeflate.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html>.
//! Names: `gzip` in v3 and v2, `https://purl.org/zarr/spec/codec/gzip/1.0` in the v3 draft of 2022.
//! Several members one behind the other are one value, as RFC 1952 says.

use super::deflate::{self, Wrapper};
use super::{report, room, BytesToBytes};
use crate::error::Result;

const NAME: &str = "gzip";

/// The `gzip` codec with its level checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gzip {
    level: u8,
}

impl Gzip {
    /// `level` is 0 (stored) to 9 (smallest).
    pub fn new(level: i64) -> Result<Self> {
        match u8::try_from(level) {
            Ok(level @ 0..=9) => Ok(Gzip { level }),
            _ => Err(report::option(NAME, "level", "an integer in [0, 9]", level)),
        }
    }
}

impl BytesToBytes for Gzip {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        room::generous(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        deflate::decode_exact(Wrapper::Gzip, NAME, src, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        deflate::decode_bounded(Wrapper::Gzip, NAME, src, limit, dst)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        deflate::encode(Wrapper::Gzip, NAME, self.level, src, dst)
    }
}

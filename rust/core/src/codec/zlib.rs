//! `zlib` (RFC 1950), by libdeflate.
//!
//! Names: `zlib` in v1 and v2 (numcodecs); no final v3 name. One stream per value, nothing behind it.

use super::deflate::{self, Wrapper};
use super::{report, room, BytesToBytes};
use crate::error::Result;

const NAME: &str = "zlib";

/// The `zlib` codec with its level checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zlib {
    level: u8,
}

impl Zlib {
    /// `level` is 0 (stored) to 9 (smallest).
    pub fn new(level: i64) -> Result<Self> {
        match u8::try_from(level) {
            Ok(level @ 0..=9) => Ok(Zlib { level }),
            _ => Err(report::option(NAME, "level", "an integer in [0, 9]", level)),
        }
    }
}

impl BytesToBytes for Zlib {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        room::generous(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        deflate::decode_exact(Wrapper::Zlib, NAME, src, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        deflate::decode_bounded(Wrapper::Zlib, NAME, src, limit, dst)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        deflate::encode(Wrapper::Zlib, NAME, self.level, src, dst)
    }
}

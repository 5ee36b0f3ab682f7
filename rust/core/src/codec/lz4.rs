//! `lz4`: the length of the value in four bytes, and one LZ4 block.
//!
//! Names: `lz4` in v1 and v2 (numcodecs), `numcodecs.lz4` in v3, `https://purl.org/zarr/spec/codec/lz4/1.0` in zarr-python's
//! draft of v3. It is not the frame format of the `lz4` program.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};

use lz4_sys as lz4;

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "lz4";
const HEADER_LEN: usize = 4;
/// LZ4 compresses no more at a time.
const MAX_DECODED: usize = 0x7e00_0000;
/// Each byte of a match's length adds at most this many to it.
const MOST_PER_BYTE: usize = 255;

/// The `lz4` codec; decoding needs no option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lz4 {
    acceleration: c_int,
}

impl Lz4 {
    /// A higher `acceleration` is faster and compresses less; 0 and less are 1 to LZ4.
    pub fn new(acceleration: i64) -> Result<Self> {
        match c_int::try_from(acceleration) {
            Ok(acceleration) => Ok(Lz4 { acceleration }),
            Err(_) => Err(report::option(NAME, "acceleration", "an integer of 32 bits", acceleration)),
        }
    }
}

/// The length that the header claims, and the block.
fn parse(src: &[u8]) -> Result<(usize, &[u8])> {
    match src.split_first_chunk::<HEADER_LEN>() {
        Some((header, block)) if !block.is_empty() => Ok((u32::from_le_bytes(*header) as usize, block)),
        _ => Err(report::cut(NAME, src.len(), HEADER_LEN + 1)),
    }
}

/// Decodes a block into exactly `dst`.
fn decode(block: &[u8], dst: &mut [u8]) -> Result<()> {
    let (Ok(length), Ok(room)) = (c_int::try_from(block.len()), c_int::try_from(dst.len())) else {
        return Err(report::too_large(NAME, Direction::Decode, dst.len(), MAX_DECODED));
    };
    let (input, output) = (block.as_ptr().cast::<c_char>(), dst.as_mut_ptr().cast::<c_char>());
    // SAFETY: both are slices passed with their lengths; the safe variant of LZ4 stays inside both whatever the data.
    let made = unsafe { lz4::LZ4_decompress_safe(input, output, length, room) };
    match usize::try_from(made) {
        Ok(made) if made == dst.len() => Ok(()),
        Ok(made) => Err(report::ended(NAME, made, Some(dst.len()))),
        // It tells how far it came in the block.
        Err(_) => Err(report::damaged_at(NAME, made.unsigned_abs() as usize + HEADER_LEN, block.len() + HEADER_LEN)),
    }
}

impl BytesToBytes for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        room::generous(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let (claimed, block) = parse(src)?;
        if claimed != dst.len() {
            return Err(report::wrong_size(NAME, dst.len(), claimed));
        }
        decode(block, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        dst.clear();
        let (claimed, block) = parse(src)?;
        if claimed > limit {
            return Err(report::over_limit(NAME, limit));
        }
        // No byte of a block stands for more: a claim beyond that is worth no memory.
        let most = block.len().saturating_mul(MOST_PER_BYTE);
        if claimed > most {
            return Err(report::wrong_size(NAME, claimed, most));
        }
        room::resize(NAME, dst, claimed)?;
        decode(block, dst)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        if src.len() > MAX_DECODED {
            return Err(report::too_large(NAME, Direction::Encode, src.len(), MAX_DECODED));
        }
        let size = (src.len() as u32).to_le_bytes();
        room::reserve(NAME, Direction::Encode, dst, size.len())?;
        dst.extend_from_slice(&size);
        let length = src.len() as c_int;
        // SAFETY: it has no memory to look at.
        let bound = unsafe { lz4::LZ4_compressBound(length) } as usize;
        // SAFETY: `src` and `spare` are slices passed with their lengths, which `c_int` holds; LZ4 returns how many bytes it
        // wrote from the start of `spare`, 0 when they do not fit.
        let made = unsafe {
            room::append(NAME, dst, bound, |spare| {
                let output = spare.as_mut_ptr().cast::<c_char>();
                let room = spare.len() as c_int;
                let made = lz4::LZ4_compress_fast(src.as_ptr().cast(), output, length, room, self.acceleration);
                usize::try_from(made).ok().filter(|made| *made > 0)
            })
        }?;
        made.map(drop).ok_or_else(|| Error::encode(NAME, format!("the library compressed none of {} bytes", src.len())))
    }
}

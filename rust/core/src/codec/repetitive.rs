//! DEFLATE of data that repeat nearly everywhere, like masks, labels and images of a dark sky: there zlib-rs is 2 to 20
//! times as fast as libdeflate at low levels, for as many bytes. Elsewhere libdeflate is faster, or makes less of them.

#![allow(unsafe_code)]

use lz4_sys as lz4;
use zlib_rs::{compress_slice, DeflateConfig, ReturnCode};

use super::deflate::Wrapper;
use super::room;
use crate::error::{Direction, Result};

/// Above, they take equally long.
const LAST_LEVEL: u8 = 5;
/// Level 1 makes twice as many bytes as level 2, in hardly less time.
const FIRST_LEVEL: u8 = 2;
/// Below, what is looked at says nothing.
const LEAST: usize = 8 << 10;
/// What is looked at: such a part of the data, in a few pieces, and no more bytes than that.
const PART: usize = 16;
const PIECES: usize = 4;
const MOST: usize = 16 << 10;
/// Data repeat if LZ4 makes them so many times shorter.
const REPETITIVE: usize = 10;
/// And then DEFLATE does so at least so many times.
const SHORTER: usize = 4;

/// Appends one stream of at most `room` bytes, if the data repeat; otherwise `false`, and nothing is appended.
pub fn encode(
    wrapper: Wrapper,
    codec: &'static str,
    level: u8,
    src: &[u8],
    dst: &mut Vec<u8>,
    room: Option<usize>,
) -> Result<bool> {
    if !(1..=LAST_LEVEL).contains(&level) || !repeats(src) {
        return Ok(false);
    }
    let before = dst.len();
    let most = (src.len() / SHORTER).min(room.unwrap_or(usize::MAX));
    room::reserve(codec, Direction::Encode, dst, most)?;
    dst.resize(before + most, 0);
    let wrapped = match wrapper {
        Wrapper::Zlib => 15,
        Wrapper::Gzip => 16 + 15,
    };
    let config = DeflateConfig { window_bits: wrapped, ..DeflateConfig::new(i32::from(level.max(FIRST_LEVEL))) };
    let (made, code) = compress_slice(&mut dst[before..], src, config);
    let made = if code == ReturnCode::Ok { made.len() } else { 0 };
    dst.truncate(before + made);
    Ok(made > 0)
}

fn repeats(src: &[u8]) -> bool {
    if src.len() < LEAST {
        return false;
    }
    let piece = (src.len() / PART).min(MOST) / PIECES;
    let apart = (src.len() - piece) / (PIECES - 1);
    let (mut seen, mut shorter) = ([0u8; MOST], [0u8; MOST / REPETITIVE]);
    let seen = &mut seen[..PIECES * piece];
    for (number, into) in seen.chunks_exact_mut(piece).enumerate() {
        into.copy_from_slice(&src[number * apart..][..piece]);
    }
    let room = seen.len() / REPETITIVE;
    // SAFETY: both buffers are passed with their lengths, which are below 2^31; `room` is at most the length of `shorter`.
    let made = unsafe {
        lz4::LZ4_compress_fast(seen.as_ptr().cast(), shorter.as_mut_ptr().cast(), seen.len() as i32, room as i32, 1)
    };
    made > 0
}

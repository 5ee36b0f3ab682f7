//! The DEFLATE streams of `gzip`, `zlib` and `zarrs.gdeflate`: libdeflate with one compressor per level and one decompressor per thread.
//!
//! libdeflate decodes a whole stream into memory of a known size, which is what chunks are, and does not say how far it
//! came when it fails. So a failure, and only a failure, is decoded once more by a streaming decoder that can say
//! where the data ended or broke.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ptr::NonNull;

use libdeflate_sys as c;
use miniz_oxide::inflate::stream::{inflate, InflateState};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use super::{repetitive, report, room};
use crate::error::{Direction, Error, Result};

/// How much is decoded at a time only to see where it breaks.
const WINDOW: usize = 32 << 10;

/// What stands around the DEFLATE data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapper {
    /// RFC 1952: header, data, CRC-32, length; may be repeated.
    Gzip,
    /// RFC 1950: two bytes, data, Adler-32.
    Zlib,
}

struct Decompressor(NonNull<c::libdeflate_decompressor>);

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_decompressor` and is freed once, here.
        unsafe { c::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

struct Compressor(NonNull<c::libdeflate_compressor>);

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `libdeflate_alloc_compressor` and is freed once, here.
        unsafe { c::libdeflate_free_compressor(self.0.as_ptr()) }
    }
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor>> = const { RefCell::new(None) };
    static COMPRESSORS: RefCell<[Option<Compressor>; 13]> = const { RefCell::new([const { None }; 13]) };
}

/// The checksum of gzip, and of PNG.
pub fn crc32(data: &[u8]) -> u32 {
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { c::libdeflate_crc32(0, data.as_ptr().cast(), data.len()) }
}

/// The checksum of zlib.
pub fn adler32(data: &[u8]) -> u32 {
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { c::libdeflate_adler32(1, data.as_ptr().cast(), data.len()) }
}

/// How decoding one stream went.
enum Outcome {
    Done { used: usize, made: usize },
    NoRoom,
    Damaged,
}

/// Decodes the one stream that `src` begins with into the start of `dst`.
pub fn decode_stream(
    wrapper: Wrapper,
    codec: &'static str,
    src: &[u8],
    dst: &mut [u8],
) -> Result<Option<(usize, usize)>> {
    match stream(wrapper, codec, src, dst)? {
        Outcome::Done { used, made } => Ok(Some((used, made))),
        Outcome::NoRoom | Outcome::Damaged => Ok(None),
    }
}

fn stream(wrapper: Wrapper, codec: &'static str, src: &[u8], dst: &mut [u8]) -> Result<Outcome> {
    let decode = match wrapper {
        Wrapper::Gzip => c::libdeflate_gzip_decompress_ex,
        Wrapper::Zlib => c::libdeflate_zlib_decompress_ex,
    };
    DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            // SAFETY: takes nothing; null means that there is no memory.
            *slot = NonNull::new(unsafe { c::libdeflate_alloc_decompressor() }).map(Decompressor);
        }
        let Some(decompressor) = slot else { return Err(report::no_memory(codec, Direction::Decode, 1 << 16)) };
        let (mut used, mut made) = (0, 0);
        // SAFETY: the decompressor is live and this thread's own; both buffers are slices passed with their lengths, which
        // libdeflate never leaves; the two counters are locals.
        let code = unsafe {
            decode(
                decompressor.0.as_ptr(),
                src.as_ptr().cast(),
                src.len(),
                dst.as_mut_ptr().cast(),
                dst.len(),
                &mut used,
                &mut made,
            )
        };
        Ok(match code {
            c::libdeflate_result_LIBDEFLATE_SUCCESS => Outcome::Done { used, made },
            c::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Outcome::NoRoom,
            _ => Outcome::Damaged,
        })
    })
}

/// Decodes every member of `src`; `None` when they do not fit into `dst`, an error when `expected` says that they must.
fn members(
    wrapper: Wrapper,
    codec: &'static str,
    src: &[u8],
    dst: &mut [u8],
    expected: Option<usize>,
) -> Result<Option<usize>> {
    let (mut used, mut made) = (0, 0);
    loop {
        match stream(wrapper, codec, &src[used..], &mut dst[made..])? {
            Outcome::Done { used: more, made: bytes } => {
                used += more;
                made += bytes;
            }
            // Behind the end of cut data libdeflate reads zeros, which may decode to more than there is room for.
            Outcome::NoRoom if expected.is_none() => return Ok(None),
            Outcome::NoRoom | Outcome::Damaged => return Err(diagnose(wrapper, codec, &src[used..], made, expected)),
        }
        if used == src.len() {
            return Ok(Some(made));
        }
        if wrapper == Wrapper::Zlib || !src[used..].starts_with(&[0x1f, 0x8b]) {
            return Err(report::trailing(codec, src.len() - used));
        }
    }
}

pub fn decode_exact(wrapper: Wrapper, codec: &'static str, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let expected = dst.len();
    match members(wrapper, codec, src, dst, Some(expected))? {
        Some(made) if made < expected => Err(report::ended(codec, made, Some(expected))),
        Some(_) => Ok(()),
        None => Err(report::too_long(codec, expected)),
    }
}

pub fn decode_bounded(
    wrapper: Wrapper,
    codec: &'static str,
    src: &[u8],
    limit: usize,
    dst: &mut Vec<u8>,
) -> Result<()> {
    // The length in a gzip trailer is not asked: it is that of the last member, modulo 2^32, and anybody's to write.
    room::grow(codec, limit, src.len().saturating_mul(4), dst, |dst| members(wrapper, codec, src, dst, None))
}

/// Appends one stream; with `room`, gives up (`false`) rather than write more than that.
pub fn encode_stream(
    wrapper: Wrapper,
    codec: &'static str,
    level: u8,
    src: &[u8],
    dst: &mut Vec<u8>,
    room: Option<usize>,
) -> Result<bool> {
    if repetitive::encode(wrapper, codec, level, src, dst, room)? {
        return Ok(true);
    }
    let (encode, bound) = match wrapper {
        Wrapper::Gzip => (
            c::libdeflate_gzip_compress as unsafe extern "C" fn(_, _, _, _, _) -> _,
            c::libdeflate_gzip_compress_bound as unsafe extern "C" fn(_, _) -> _,
        ),
        Wrapper::Zlib => (c::libdeflate_zlib_compress as _, c::libdeflate_zlib_compress_bound as _),
    };
    COMPRESSORS.with_borrow_mut(|slots| {
        let slot = &mut slots[usize::from(level.min(12))];
        if slot.is_none() {
            // SAFETY: levels 0 to 12 are valid; null means that there is no memory.
            *slot = NonNull::new(unsafe { c::libdeflate_alloc_compressor(i32::from(level.min(12))) }).map(Compressor);
        }
        let Some(compressor) = slot else { return Err(report::no_memory(codec, Direction::Encode, 1 << 20)) };
        let compressor = compressor.0.as_ptr();
        // SAFETY: the compressor is live; only its level is read.
        let room = room.unwrap_or_else(|| unsafe { bound(compressor, src.len()) });
        // SAFETY: the compressor is live and this thread's own; both buffers are slices passed with their lengths. The returned
        // count is that of the bytes written from the start of `spare`, 0 when they did not fit.
        let made = unsafe {
            room::append(codec, dst, room, |spare| {
                let made = encode(compressor, src.as_ptr().cast(), src.len(), spare.as_mut_ptr().cast(), spare.len());
                (made > 0).then_some(made)
            })
        };
        Ok(made?.is_some())
    })
}

pub fn encode(wrapper: Wrapper, codec: &'static str, level: u8, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
    match encode_stream(wrapper, codec, level, src, dst, None)? {
        true => Ok(()),
        false => Err(Error::encode(codec, format!("cannot encode {} bytes", report::grouped(src.len())))),
    }
}

/// Says where the stream that `src` begins with ends or breaks, after `made` bytes of earlier members. Cold and slow.
#[cold]
fn diagnose(wrapper: Wrapper, codec: &'static str, src: &[u8], made: usize, expected: Option<usize>) -> Error {
    let (body, format, trailer) = match wrapper {
        Wrapper::Zlib => (0, DataFormat::Zlib, 0),
        Wrapper::Gzip => match gzip_header_len(src) {
            Ok(Some(length)) => (length, DataFormat::Raw, 8),
            Ok(None) => return report::ended(codec, made, expected),
            Err(()) => return report::foreign(codec, "a gzip header (1f 8b 08)", src),
        },
    };
    let mut state = InflateState::new_boxed(format);
    let Some(mut window) = room::zeroed(WINDOW) else { return report::no_memory(codec, Direction::Decode, WINDOW) };
    let (mut used, mut total, mut sum) = (body, made, 0);
    loop {
        let step = inflate(&mut state, &src[used..], &mut window, MZFlush::None);
        used += step.bytes_consumed;
        total += step.bytes_written;
        // SAFETY: the slice is passed with its length and only read.
        sum = unsafe { c::libdeflate_crc32(sum, window.as_ptr().cast(), step.bytes_written) };
        match step.status {
            _ if expected.is_some_and(|expected| total > expected) => {
                return report::too_long(codec, expected.unwrap_or(total));
            }
            Ok(MZStatus::StreamEnd) => break,
            Ok(_) if step.bytes_consumed > 0 || step.bytes_written > 0 => {}
            Ok(_) | Err(MZError::Buf) => return report::ended(codec, total, expected),
            Err(_) if wrapper == Wrapper::Zlib && used < 2 => {
                return report::foreign(codec, "a zlib header (78 ..)", src)
            }
            Err(_) => return report::damaged(codec, total, expected),
        }
    }
    match src.get(used..used + trailer) {
        Some(&[a, b, c, d, ..]) if u32::from_le_bytes([a, b, c, d]) != sum => {
            report::checksum(codec, u32::from_le_bytes([a, b, c, d]), sum)
        }
        Some(_) => report::damaged(codec, total, expected),
        None => report::ended(codec, total, expected),
    }
}

/// The length of the gzip header `src` begins with; `None` when it is cut, an error when it is none.
fn gzip_header_len(src: &[u8]) -> std::result::Result<Option<usize>, ()> {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    let start = &src[..src.len().min(3)];
    if start != &MAGIC[..start.len()] {
        return Err(());
    }
    let Some(&flags) = src.get(3) else { return Ok(None) };
    let mut length = 10;
    if flags & 4 != 0 {
        let Some(&[low, high]) = src.get(length..length + 2) else { return Ok(None) };
        length += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let rest = src.get(length..).unwrap_or(&[]);
            let Some(end) = rest.iter().position(|&byte| byte == 0) else { return Ok(None) };
            length += end + 1;
        }
    }
    if flags & 2 != 0 {
        length += 2;
    }
    Ok((length <= src.len()).then_some(length))
}

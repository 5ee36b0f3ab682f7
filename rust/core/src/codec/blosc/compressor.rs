//! The six compressors inside blosc. Each is bounded on both sides: it reads only `src` and writes only `dst`.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

use blosc_src as _; // links the C code declared below
use lz4_sys as lz4;

use super::super::deflate::{self, Wrapper};
use super::super::{room, zstd};
use super::header::splittable;
use super::NAME;
use crate::error::{Direction, Result};

extern "C" {
    // `blosclz.h` of c-blosc, which `blosc-src` builds but does not declare.
    fn blosclz_compress(
        level: c_int,
        input: *const c_void,
        length: c_int,
        output: *mut c_void,
        maxout: c_int,
        split: c_int,
    ) -> c_int;
    fn blosclz_decompress(input: *const c_void, length: c_int, output: *mut c_void, maxout: c_int) -> c_int;
}

/// `cname`: the compressor inside the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressor {
    BloscLz,
    Lz4,
    Lz4Hc,
    Snappy,
    Zlib,
    Zstd,
}

use Compressor::{BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd};

impl Compressor {
    pub fn from_name(name: &str) -> Option<Self> {
        [BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd].into_iter().find(|compressor| compressor.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            BloscLz => "blosclz",
            Lz4 => "lz4",
            Lz4Hc => "lz4hc",
            Snappy => "snappy",
            Zlib => "zlib",
            Zstd => "zstd",
        }
    }

    /// The number in the container's flags; the two LZ4s share a format.
    pub fn format(self) -> u8 {
        match self {
            BloscLz => 0,
            Lz4 | Lz4Hc => 1,
            Snappy => 2,
            Zlib => 3,
            Zstd => 4,
        }
    }

    pub fn from_format(number: u8) -> Option<Self> {
        [BloscLz, Lz4, Snappy, Zlib, Zstd].get(usize::from(number)).copied()
    }

    /// Whether it is slow enough to deserve longer blocks.
    pub fn is_thorough(self) -> bool {
        matches!(self, Lz4Hc | Zlib | Zstd)
    }

    /// Whether it gains from one split per byte of an element.
    pub fn splits(self, typesize: usize, block: usize) -> bool {
        self != Zstd && splittable(typesize, block)
    }

    /// Decodes `src` into exactly `dst`; `false` when it is no such data.
    pub fn decompress(self, src: &[u8], dst: &mut [u8]) -> Result<bool> {
        let made = match self {
            BloscLz => {
                let (input, length) = (src.as_ptr().cast(), src.len() as c_int);
                // SAFETY: both are slices passed with their lengths, below 2^31 as the container's header bounds them.
                // blosclz checks its position against both ends before every access; it reads nothing when `length` is 0.
                let made = unsafe { blosclz_decompress(input, length, dst.as_mut_ptr().cast(), dst.len() as c_int) };
                usize::try_from(made).ok()
            }
            Lz4 | Lz4Hc => {
                let (input, output) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
                // SAFETY: as above; the safe variant of LZ4 stays inside both lengths whatever the data.
                let made = unsafe { lz4::LZ4_decompress_safe(input, output, src.len() as c_int, dst.len() as c_int) };
                usize::try_from(made).ok()
            }
            Snappy => snap::raw::Decoder::new().decompress(src, dst).ok(),
            Zlib => {
                let made = deflate::decode_stream(Wrapper::Zlib, NAME, src, dst)?;
                made.and_then(|(used, made)| (used == src.len()).then_some(made))
            }
            Zstd => zstd::decompress(NAME, true, src, dst)?.ok(),
        };
        Ok(made == Some(dst.len()))
    }

    /// Appends at most `room` bytes; `None` when they do not suffice. `dst` may then end in rubbish.
    pub fn compress(
        self,
        level: u8,
        split: bool,
        src: &[u8],
        dst: &mut Vec<u8>,
        room: usize,
        work: &mut Vec<u8>,
    ) -> Result<Option<usize>> {
        let level_c = c_int::from(level);
        let length = src.len() as c_int;
        match self {
            Zlib => {
                let before = dst.len();
                let fits = deflate::encode_stream(Wrapper::Zlib, NAME, level, src, dst, Some(room))?;
                Ok(fits.then(|| dst.len() - before))
            }
            Zstd => {
                let level = if level < 9 { 2 * i32::from(level) - 1 } else { 22 };
                zstd::append(NAME, level, false, src, dst, room)
            }
            Snappy => {
                let most = snap::raw::max_compress_len(src.len());
                let work = room::scratch(NAME, Direction::Encode, work, most)?;
                let made = ENCODER.with_borrow_mut(|encoder| encoder.compress(src, work));
                let made = made.ok().filter(|made| *made <= room);
                dst.extend_from_slice(&work[..made.unwrap_or(0)]);
                Ok(made)
            }
            BloscLz | Lz4 | Lz4Hc => {
                let input = src.as_ptr();
                // SAFETY: `src` and `spare` are slices passed with their lengths, below 2^31 as `Blosc::encode` bounds them. Each
                // returns how many bytes it wrote from the start of `spare`, 0 (or less) when they do not fit.
                unsafe {
                    room::append(NAME, dst, room, |spare| {
                        let (output, room) = (spare.as_mut_ptr(), spare.len() as c_int);
                        let (text, out) = (input.cast::<c_char>(), output.cast::<c_char>());
                        let made = match self {
                            Lz4 => lz4::LZ4_compress_fast(text, out, length, room, 10 - level_c),
                            Lz4Hc => lz4::LZ4_compress_HC(text, out, length, room, level_c),
                            _ => blosclz_compress(level_c, input.cast(), length, output.cast(), room, split.into()),
                        };
                        usize::try_from(made).ok().filter(|made| *made > 0)
                    })
                }
            }
        }
    }
}

thread_local! {
    static ENCODER: std::cell::RefCell<snap::raw::Encoder> = std::cell::RefCell::new(snap::raw::Encoder::new());
}

//! The bare codecs: one call each way, with contexts and scratch memory kept per thread.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};

use libdeflater::{CompressionLvl, Compressor, Decompressor};
use zstd_safe::{CCtx, CParameter, DCtx};

pub const RAW: u32 = 0;
pub const GZIP: u32 = 1;
pub const ZSTD: u32 = 2;
pub const BLOSC: u32 = 3;

/// Which codec, with its options; those that it does not have are ignored.
#[repr(C)]
pub struct Codec {
    pub kind: u32,
    level: c_int,
    shuffle: c_int,
    typesize: usize,
    cname: *const c_char,
}

// SAFETY: `cname` is a constant of the caller.
unsafe impl Sync for Codec {}

/// What a thread keeps from call to call.
pub struct Scratch {
    /// Encoded bytes on their way: the first `used` of a buffer that only grows, so that it is not cleared each time.
    pub encoded: Vec<u8>,
    pub used: usize,
    inflate: Decompressor,
    deflate: Option<(c_int, Compressor)>,
    unzstd: DCtx<'static>,
    zstd: CCtx<'static>,
}

impl Scratch {
    /// Call `work` with this thread's scratch.
    pub fn with<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
        thread_local!(static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new()));
        SCRATCH.with_borrow_mut(work)
    }

    /// Have the first `length` bytes used, whatever is in them.
    pub fn set_used(&mut self, length: usize) {
        if self.encoded.len() < length {
            self.encoded.resize(length, 0);
        }
        self.used = length;
    }

    fn new() -> Self {
        Scratch {
            encoded: Vec::new(),
            used: 0,
            inflate: Decompressor::new(),
            deflate: None,
            unzstd: DCtx::create(),
            zstd: CCtx::create(),
        }
    }
}

impl Codec {
    /// Decode `scratch.encoded[range]` into `out`, which it must fill.
    pub fn decode(&self, scratch: &mut Scratch, range: std::ops::Range<usize>, out: &mut [u8]) -> bool {
        let encoded = &scratch.encoded[range];
        match self.kind {
            GZIP => scratch.inflate.gzip_decompress(encoded, out) == Ok(out.len()),
            ZSTD => scratch.unzstd.decompress(out, encoded) == Ok(out.len()),
            // SAFETY: a whole blosc buffer of our own making; the library does not write past `out.len()`.
            BLOSC => unsafe {
                let (from, to) = (encoded.as_ptr().cast(), out.as_mut_ptr().cast());
                blosc_src::blosc_decompress_ctx(from, to, out.len(), 1) == out.len() as c_int
            },
            _ => {
                out.copy_from_slice(encoded);
                true
            }
        }
    }

    /// Append the encoded form of `data` to the used part of `scratch.encoded`.
    pub fn encode(&self, scratch: &mut Scratch, data: &[u8]) -> bool {
        let start = scratch.used;
        scratch.set_used(start + data.len() + data.len() / 8 + 512);
        let written = self.encode_into(scratch, start, data);
        scratch.used = start + written.unwrap_or(0);
        written.is_some()
    }

    fn encode_into(&self, scratch: &mut Scratch, start: usize, data: &[u8]) -> Option<usize> {
        let out = &mut scratch.encoded[start..];
        match self.kind {
            GZIP => {
                if scratch.deflate.as_ref().is_none_or(|(level, _)| *level != self.level) {
                    scratch.deflate = Some((self.level, Compressor::new(CompressionLvl::new(self.level).ok()?)));
                }
                scratch.deflate.as_mut()?.1.gzip_compress(data, out).ok()
            }
            ZSTD => {
                scratch.zstd.set_parameter(CParameter::CompressionLevel(self.level)).ok()?;
                scratch.zstd.compress2(out, data).ok()
            }
            // SAFETY: source and destination are as long as said, and `cname` is a C string.
            BLOSC => unsafe {
                let (from, to) = (data.as_ptr().cast(), out.as_mut_ptr().cast());
                let (level, shuffle, cname) = (self.level, self.shuffle, self.cname);
                let room = out.len();
                let written = blosc_src::blosc_compress_ctx(
                    level,
                    shuffle,
                    self.typesize,
                    data.len(),
                    from,
                    to,
                    room,
                    cname,
                    0,
                    1,
                );
                usize::try_from(written).ok().filter(|&written| written > 0)
            },
            _ => {
                out[..data.len()].copy_from_slice(data);
                Some(data.len())
            }
        }
    }
}

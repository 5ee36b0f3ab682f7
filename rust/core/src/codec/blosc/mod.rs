//! `blosc`: the container of c-blosc 1, read and written here, with the libraries it stands on.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html>; the container is described in
//! c-blosc's `README_CHUNK_FORMAT.rst`. Names: `blosc` in v1, v2 and v3, `https://purl.org/zarr/spec/codec/blosc/1.0` in the
//! v3 draft of 2022. `shuffle` is a number in v1 and v2 and a word in v3.
//!
//! ```text
//! header (16 bytes) | start of block 0, 1, … (4 bytes each) | blocks
//! block             = split 0 | split 1 | …   (one, or one per byte of an element)
//! split             = length (4 bytes) | compressed bytes, or the bytes themselves when the length is the split's own
//! ```
//!
//! Why not `blosc_decompress_ctx`: it believes the header (reads up to the `cbytes` it claims, whatever the buffer's length;
//! returns uninitialised memory when `typesize` does not divide a split block), allocates and frees its buffers and a whole
//! zstd context per call, and cannot stop at the blocks wanted. The compressors below it are bounded on both sides, so here
//! a header is checked once, every offset when it is followed, and buffers and contexts belong to the thread.
//!
//! - `header.rs`: the 16 bytes and what must hold for them
//! - `block.rs`: one block: its splits, its filter
//! - `compressor.rs`: the six compressors
//! - `shuffle.rs`: the two filters; `bits.rs`: the bits of one of them, with AVX2

#[cfg(target_arch = "x86_64")]
mod bits;
mod block;
mod compressor;
mod header;
mod shuffle;

use std::cell::RefCell;

use super::{report, room, BytesToBytes, Fetch};
use crate::error::{Direction, Error, Kind, Result};
use block::Scratch;
pub use compressor::Compressor;
use header::{Header, LEN as HEADER_LEN, MAX_BLOCK, MAX_DECODED, MIN_COMPRESSED};
pub use shuffle::Shuffle;

const NAME: &str = "blosc";
/// What is read of a long container to find its blocks: the header, and where as many as usual start.
const HEAD: usize = 1 << 10;
/// Another request is worth so many bytes that need not be read.
const SAVED: usize = 16 << 10;

thread_local! {
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
}

/// The `blosc` codec with its options checked. Decoding needs none of them: the container says everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blosc {
    compressor: Compressor,
    level: u8,
    shuffle: Shuffle,
    typesize: u8,
    /// Wanted length of a block; 0 lets the level decide.
    blocksize: usize,
}

impl Blosc {
    /// `shuffle` is 0 (none), 1 (bytes) or 2 (bits); `typesize` is the element's length in bytes, 1 to 255.
    pub fn new(cname: &str, clevel: i64, shuffle: i64, typesize: i64, blocksize: i64) -> Result<Self> {
        let wrong = |name, expected, found| report::option(NAME, name, expected, found);
        Ok(Blosc {
            compressor: Compressor::from_name(cname)
                .ok_or_else(|| report::option(NAME, "cname", "blosclz, lz4, lz4hc, snappy, zlib or zstd", cname))?,
            level: u8::try_from(clevel)
                .ok()
                .filter(|level| *level <= 9)
                .ok_or_else(|| wrong("clevel", "an integer in [0, 9]", clevel))?,
            shuffle: Shuffle::from_number(shuffle).ok_or_else(|| wrong("shuffle", "0, 1 or 2", shuffle))?,
            typesize: u8::try_from(typesize)
                .ok()
                .filter(|size| *size > 0)
                .ok_or_else(|| wrong("typesize", "an integer in [1, 255]", typesize))?,
            blocksize: usize::try_from(blocksize)
                .map(|size| size.min(MAX_BLOCK))
                .map_err(|_| wrong("blocksize", "an integer, 0 or more", blocksize))?,
        })
    }

    /// How a value of `decoded` bytes is laid out. Blocks are as long as c-blosc would make them: they should stay in a
    /// core's own cache, grow with the level, and leave every split long enough to compress.
    fn header_for(&self, decoded: usize) -> Header {
        let typesize = usize::from(self.typesize);
        let mut size = match self.blocksize {
            0 => automatic_block(self.compressor, self.level, typesize, decoded),
            wanted => wanted.max(MIN_COMPRESSED),
        };
        size = size.min(decoded);
        if size > typesize {
            size -= size % typesize;
        }
        let split = self.compressor.splits(typesize, size);
        Header::new(self.compressor, self.shuffle, typesize, split, decoded, size.max(1))
    }
}

fn automatic_block(compressor: Compressor, level: u8, typesize: usize, decoded: usize) -> usize {
    const BASE: usize = 32 << 10;
    /// In quarters of the base, by level.
    const QUARTERS: [usize; 10] = [1, 2, 4, 8, 16, 16, 32, 32, 32, 32];
    let mut size = decoded;
    if decoded >= BASE {
        size = BASE * QUARTERS[usize::from(level)] / 4;
        if compressor.is_thorough() {
            size *= if level == 9 { 4 } else { 2 };
        }
    }
    if level > 0 && compressor.splits(typesize, size) {
        size = (size.min(256 << 10) * typesize).clamp(64 << 10, 1 << 20);
    }
    size
}

impl BytesToBytes for Blosc {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        room::generous(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let header = Header::parse(src)?;
        if header.decoded != dst.len() {
            return Err(report::wrong_size(NAME, dst.len(), header.decoded));
        }
        decode(&header, src, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let header = Header::parse(src)?;
        room::of_size(NAME, header.decoded, limit, dst, |dst| decode(&header, src, dst))
    }

    fn decode_part(&self, src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<bool> {
        let header = Header::parse(src)?;
        if header.decoded != decoded {
            return Err(report::wrong_size(NAME, decoded, header.decoded));
        }
        if offset.checked_add(dst.len()).is_none_or(|end| end > decoded) {
            return Err(report::outside(NAME, offset, dst.len(), decoded));
        }
        if header.stored {
            dst.copy_from_slice(&src[HEADER_LEN + offset..][..dst.len()]);
        } else {
            with_scratch(|scratch| block::decode_part(&header, src, offset, dst, scratch))?;
        }
        Ok(true)
    }

    fn decode_fetched(&self, src: &mut [u8], decoded: usize, offset: usize, dst: &mut [u8], fetch: Fetch<'_>) -> bool {
        let mut work = || -> Result<bool> {
            let head = src.len().min(HEAD);
            if !fetch(0, &mut src[..head])? {
                return Ok(false);
            }
            // Behind a shorter container there would have to be zeros.
            if Header::encoded(src) != Some(src.len()) {
                return Ok(false);
            }
            let header = Header::parse(src)?;
            let Some(end) = offset.checked_add(dst.len()).filter(|&end| end <= decoded) else { return Ok(false) };
            if header.stored || header.decoded != decoded || header.first_block() > head {
                return Ok(false);
            }
            let Some(span) = header.span(src, offset / header.block..end.div_ceil(header.block))? else {
                return Ok(false);
            };
            if src.len() - span.len() < SAVED || !fetch(span.start, &mut src[span.clone()])? {
                return Ok(false);
            }
            // Without what lies behind, which is not there: a block that ran on would be an error.
            with_scratch(|scratch| block::decode_part(&header, &src[..span.end], offset, dst, scratch))?;
            Ok(true)
        };
        work().unwrap_or(false)
    }

    /// Filters read each byte once, and the compressors but libdeflate check each step against the room that is left.
    fn source_may_change(&self) -> bool {
        self.compressor != Compressor::Zlib
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        if src.len() > MAX_DECODED {
            let size = (report::grouped(src.len()), report::grouped(MAX_DECODED));
            let mut error = Error::encode(NAME, format!("{} bytes are more than the {} it can hold", size.0, size.1));
            error.kind = Kind::Limit;
            return Err(error);
        }
        let start = dst.len();
        let mut header = self.header_for(src.len());
        let worth = self.level > 0 && src.len() >= MIN_COMPRESSED;
        if !(worth && with_scratch(|scratch| block::encode(&header, self.level, src, dst, scratch))?) {
            dst.truncate(start);
            header.stored = true;
            room::reserve(NAME, Direction::Encode, dst, src.len() + HEADER_LEN)?;
            dst.extend_from_slice(&header.to_bytes(src.len() + HEADER_LEN));
            dst.extend_from_slice(src);
        }
        Ok(())
    }
}

fn decode(header: &Header, src: &[u8], dst: &mut [u8]) -> Result<()> {
    if header.stored {
        dst.copy_from_slice(&src[HEADER_LEN..][..dst.len()]);
        return Ok(());
    }
    with_scratch(|scratch| block::decode_all(header, src, dst, scratch))
}

fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> Result<T>) -> Result<T> {
    SCRATCH.with_borrow_mut(|scratch| {
        let result = work(scratch);
        scratch.shrink();
        result
    })
}

//! The first 16 bytes of a blosc container, and everything that must hold for them.
//!
//! ```text
//! byte  0      version of the container: 2
//! byte  1      version of the compressor's format: 1
//! byte  2      flags: 1 byte shuffle, 2 stored, 4 bit shuffle, 16 not split, 0xe0 the compressor's format
//! byte  3      typesize
//! bytes 4-7    decoded length        (all little endian)
//! bytes 8-11   length of a block
//! bytes 12-15  length of the container
//! ```

use std::ops::Range;

use super::{compressor::Compressor, report, shuffle::Shuffle, NAME};
use crate::error::{Error, Result};
use crate::surplus;

pub const LEN: usize = 16;
/// Shorter values are stored: no compressor gains anything.
pub const MIN_COMPRESSED: usize = 128;
/// The longest value: its container's length must fit 31 bits.
pub const MAX_DECODED: usize = i32::MAX as usize - LEN;
/// The longest block c-blosc accepts.
pub const MAX_BLOCK: usize = (i32::MAX as usize - 255 * 4) / 3;
/// Blocks are split by the byte of an element only for elements up to this size …
const MAX_SPLITS: usize = 16;
/// … and when each split has at least this many bytes.
const MIN_SPLIT: usize = 128;

const BYTE_SHUFFLE: u8 = 1;
const STORED: u8 = 2;
const BIT_SHUFFLE: u8 = 4;
const RESERVED: u8 = 8;
const NOT_SPLIT: u8 = 16;

/// A header that has been checked, against the length of the container it begins as well.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    pub compressor: Compressor,
    pub shuffle: Shuffle,
    pub typesize: usize,
    /// The data follows the header as they are.
    pub stored: bool,
    split: bool,
    pub decoded: usize,
    pub block: usize,
}

/// Whether blocks of this shape are long enough to be split.
pub fn splittable(typesize: usize, block: usize) -> bool {
    typesize <= MAX_SPLITS && block / typesize >= MIN_SPLIT
}

impl Header {
    pub fn new(
        compressor: Compressor,
        shuffle: Shuffle,
        typesize: usize,
        split: bool,
        decoded: usize,
        block: usize,
    ) -> Self {
        Header { compressor, shuffle, typesize, stored: false, split, decoded, block }
    }

    /// How long the container is that begins with `src`.
    pub fn encoded(src: &[u8]) -> Option<usize> {
        let bytes = src.get(12..)?.first_chunk::<4>()?;
        usize::try_from(i32::from_le_bytes(*bytes)).ok()
    }

    /// Reads and checks the header of `src`, which must be the whole container and nothing else.
    pub fn parse(src: &[u8]) -> Result<Self> {
        let Some(&[version, format_version, flags, typesize, ref sizes @ ..]) = src.first_chunk::<LEN>() else {
            return Err(report::cut(NAME, src.len(), LEN));
        };
        if version != 2 {
            let hint = if (3..=5).contains(&version) { " (blosc2 data)" } else { "" };
            return Err(refused("container version 2", format_args!("{version}{hint}")));
        }
        let [decoded, block, encoded] = [0, 4, 8].map(|at| i32::from_le_bytes([0, 1, 2, 3].map(|i| sizes[at + i])));
        let (Ok(decoded), Ok(encoded)) = (usize::try_from(decoded), usize::try_from(encoded)) else {
            return Err(refused("lengths of 0 or more", format_args!("{decoded} decoded and {encoded} encoded bytes")));
        };
        if encoded > src.len() {
            return Err(report::cut(NAME, src.len(), encoded));
        }
        // z5py wrote the whole of the buffer it had for the largest result, zeros behind the shorter one.
        if src.len() > encoded {
            let surplus = &src[encoded..];
            if surplus.iter().any(|&byte| byte != 0) {
                return Err(report::trailing(NAME, surplus.len()));
            }
            surplus::note(NAME, surplus.len());
        }
        if decoded > MAX_DECODED {
            return Err(refused("at most 2,147,483,631 decoded bytes", report::grouped(decoded)));
        }
        if typesize == 0 {
            return Err(refused("a typesize of 1 or more", 0));
        }
        if flags & RESERVED != 0 {
            return Err(refused("flag 8 unset", format_args!("flags {flags:#04x}")));
        }
        let stored = flags & STORED != 0;
        let compressor = match Compressor::from_format(flags >> 5) {
            Some(compressor) if format_version == 1 || stored => compressor,
            // The format of a compressor that is not used does not matter.
            None if stored => Compressor::BloscLz,
            Some(_) => return Err(refused("version 1 of the compressor's format", format_version)),
            None => return Err(refused("a compressor's number from 0 to 4", flags >> 5)),
        };
        let typesize = usize::from(typesize);
        let shuffle = match flags {
            _ if flags & BYTE_SHUFFLE != 0 => Shuffle::Bytes,
            _ if flags & BIT_SHUFFLE != 0 => Shuffle::Bits,
            _ => Shuffle::None,
        };
        if stored || decoded == 0 {
            if encoded != decoded + LEN {
                return Err(refused(
                    &format!("{} stored bytes", report::grouped(decoded)),
                    report::grouped(encoded.saturating_sub(LEN)),
                ));
            }
            return Ok(Header { compressor, shuffle, typesize, stored: true, split: false, decoded, block: 1 });
        }
        let block = match usize::try_from(block) {
            Ok(block @ 1..=MAX_BLOCK) if block <= decoded => block,
            _ => return Err(refused("blocks of 1 byte to the whole value", format_args!("{block} bytes"))),
        };
        let split = flags & NOT_SPLIT == 0 && splittable(typesize, block);
        if split && block % typesize != 0 {
            let found = format_args!("{} bytes", report::grouped(block)).to_string();
            return Err(refused(&format!("split blocks of a multiple of {typesize} bytes"), found));
        }
        let header = Header { compressor, shuffle, typesize, stored, split, decoded, block };
        // Each block needs its start and the length of at least one split.
        let least = header.first_block().saturating_add(header.blocks().saturating_mul(4));
        if least > encoded {
            let blocks = report::grouped(header.blocks());
            return Err(refused(
                &format!("at least {} bytes for {blocks} blocks", report::grouped(least)),
                report::grouped(encoded),
            ));
        }
        Ok(header)
    }

    /// The 16 bytes, for a container of `encoded` bytes.
    pub fn to_bytes(self, encoded: usize) -> [u8; LEN] {
        let mut flags = self.compressor.format() << 5;
        flags |= match self.shuffle {
            Shuffle::None => 0,
            Shuffle::Bytes => BYTE_SHUFFLE,
            Shuffle::Bits => BIT_SHUFFLE,
        };
        flags |= if self.stored { STORED } else { 0 };
        flags |= if self.split { 0 } else { NOT_SPLIT };
        let mut bytes = [0; LEN];
        bytes[..4].copy_from_slice(&[2, 1, flags, self.typesize as u8]);
        for (to, size) in bytes[4..].chunks_exact_mut(4).zip([self.decoded, self.block, encoded]) {
            to.copy_from_slice(&(size as u32).to_le_bytes());
        }
        bytes
    }

    /// How many blocks there are, the shorter last one included.
    pub fn blocks(&self) -> usize {
        self.decoded.div_ceil(self.block)
    }

    /// Decoded length of block `i`.
    pub fn block_len(&self, i: usize) -> usize {
        self.block.min(self.decoded - i * self.block)
    }

    /// Into how many splits block `i` is cut; a shorter last block never is.
    pub fn splits(&self, i: usize) -> usize {
        if self.split && self.block_len(i) == self.block {
            self.typesize
        } else {
            1
        }
    }

    /// Whether blocks are split at all.
    pub fn is_split(&self) -> bool {
        self.split
    }

    /// Where the table of starts ends and the first block may begin.
    pub fn first_block(&self) -> usize {
        LEN.saturating_add(self.blocks().saturating_mul(4))
    }

    /// Where block `i` starts.
    pub fn start(&self, src: &[u8], i: usize) -> Result<usize> {
        let entry = src.get(LEN + i * 4..).and_then(|rest| rest.first_chunk::<4>());
        let start = entry.and_then(|bytes| usize::try_from(i32::from_le_bytes(*bytes)).ok());
        start.filter(|start| (self.first_block()..src.len()).contains(start)).ok_or_else(|| {
            Error::decode(
                NAME,
                format!("block {i} of {} does not start inside the data", report::grouped(self.blocks())),
            )
        })
    }

    /// What these blocks are in, which may have been stored in any order: it ends where another block begins.
    pub fn span(&self, src: &[u8], blocks: Range<usize>) -> Result<Option<Range<usize>>> {
        let (mut first, mut last) = (usize::MAX, 0);
        for i in blocks {
            let start = self.start(src, i)?;
            (first, last) = (first.min(start), last.max(start));
        }
        let mut end = src.len();
        for i in 0..self.blocks() {
            let start = self.start(src, i)?;
            end = if start > last { end.min(start) } else { end };
        }
        Ok((first < end).then_some(first..end))
    }
}

fn refused(expected: &str, found: impl std::fmt::Display) -> Error {
    Error::decode(NAME, format!("header: expected {expected}, found {found}"))
}

//! `vlen-utf8`, `vlen-bytes`, `vlen-array`: elements of variable length.
//!
//! A chunk is the number of its elements and, for each of them in C order, its length and its bytes; numbers are
//! unsigned, little-endian, of 32 bits.
//!
//! The engine moves elements of eight bytes, and here these are *tokens*: each says where in a [`Table`] its element is.
//! So whatever is done with numbers (selections, parts of chunks, shards, chunks of nothing but fill) is done with text.

mod table;

use std::sync::Arc;

use table::read;
pub use table::{Blocks, Element, Source, Table, TOKEN};

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Kind, Result};

/// Bytes of a length, and of the number of elements.
const PREFIX: usize = 4;

/// No chunk is longer, decompressed: its elements have any length, so the shape does not bound it. As much as Blosc takes.
pub const MAX_LEN: usize = i32::MAX as usize;

/// The codec over the table of one operation.
pub struct Vlen {
    table: Arc<Table>,
}

impl Vlen {
    pub fn new(table: Arc<Table>) -> Self {
        Vlen { table }
    }
}

/// The number at the start of `bytes`.
#[inline]
fn number(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk::<PREFIX>().map(|bytes| u32::from_le_bytes(*bytes) as usize)
}

/// The element whose length stands at `at`.
#[inline]
fn element(block: &[u8], at: usize) -> Option<&[u8]> {
    let rest = block.get(at..)?;
    rest[PREFIX.min(rest.len())..].get(..number(rest)?)
}

impl BytesToBytes for Vlen {
    fn name(&self) -> &'static str {
        self.table.name
    }

    fn max_encoded_len(&self, _decoded: usize) -> usize {
        MAX_LEN
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let name = self.table.name;
        let expected = dst.len() / TOKEN;
        let count = number(src).ok_or_else(|| report::cut(name, src.len(), PREFIX))?;
        if count != expected {
            let (expected, count) = (report::grouped(expected), report::grouped(count));
            return Err(Error::decode(name, format!("expected {expected} elements, found a count of {count}")));
        }
        // Places in a block are 32-bit numbers.
        if src.len() > MAX_LEN {
            return Err(report::over_limit(name, MAX_LEN));
        }
        let block = self.table.reserve();
        // Lengths below 128 are ASCII, too, so that short texts are mostly checked here, all at once.
        let is_ascii = src.is_ascii();
        let mut all_fill = true;
        let mut at = PREFIX;
        for (index, token) in dst.chunks_exact_mut(TOKEN).enumerate() {
            let Some(element) = element(src, at) else {
                self.table.release(block);
                return Err(ended(name, index, count, &src[at.min(src.len())..]));
            };
            if let Some(reason) = self.table.refuses(element, is_ascii) {
                self.table.release(block);
                let (index, count) = (report::grouped(index), report::grouped(count));
                return Err(Error::decode(name, format!("element {index} of {count} {reason}")));
            }
            let new = self.table.token(block, at, element);
            token.copy_from_slice(&new.to_ne_bytes());
            all_fill &= new == 0;
            at += PREFIX + element.len();
        }
        if at != src.len() {
            self.table.release(block);
            return Err(report::trailing(name, src.len() - at));
        }
        if all_fill {
            // No token points to it, by which it could be released.
            self.table.release(block);
            return Ok(());
        }
        self.table.fill_in(block, src)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let count = number(src).ok_or_else(|| report::cut(self.table.name, src.len(), PREFIX))?;
        // Each element takes at least its length: no count is worth more memory than the bytes that are there.
        if count * TOKEN > limit || count > src.len() / PREFIX {
            return Err(ended(self.table.name, src.len() / PREFIX, count, &[]));
        }
        room::resize(self.table.name, dst, count * TOKEN)?;
        self.decode_exact(src, dst)
    }

    /// Tokens are looked up one by one, each with a check.
    fn source_may_change(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let before = dst.len();
        let count = u32::try_from(src.len() / TOKEN).map_err(|_| too_long(self.table.name, src.len()))?;
        room::reserve(self.table.name, Direction::Encode, dst, PREFIX)?;
        dst.extend_from_slice(&count.to_le_bytes());
        let blocks = self.table.blocks();
        let mut tokens = src.chunks_exact(TOKEN).map(read).peekable();
        while let Some(token) = tokens.next() {
            let elements = blocks.run(token, &mut tokens)?;
            let length = dst.len() - before + elements.len();
            if length > MAX_LEN {
                return Err(too_long(self.table.name, length));
            }
            room::reserve(self.table.name, Direction::Encode, dst, elements.len())?;
            dst.extend_from_slice(elements);
        }
        Ok(())
    }

    fn keeps(&self) -> bool {
        true
    }

    fn keep(&self, wanted: &mut [u8], cell: &[u8]) -> Result<()> {
        self.table.keep(wanted, cell)
    }
}

/// A chunk that would have more bytes than one may have.
fn too_long(name: &'static str, length: usize) -> Error {
    let (most, length) = (report::grouped(MAX_LEN), report::grouped(length));
    let reason =
        format!("expected at most {most} bytes of elements in a chunk, found {length} or more; use smaller chunks");
    Error { kind: Kind::Limit, ..Error::encode(name, reason) }
}

/// The data end within an element, of which `rest` is there.
fn ended(name: &'static str, index: usize, count: usize, rest: &[u8]) -> Error {
    let element = format!("element {} of {}", report::grouped(index), report::grouped(count));
    let reason = match number(rest) {
        None => format!("data ended before {element}"),
        Some(length) => {
            let (found, length) = (report::grouped(rest.len() - PREFIX), report::grouped(length));
            format!("data ended after {found} of {length} bytes of {element}")
        }
    };
    Error::decode(name, reason)
}

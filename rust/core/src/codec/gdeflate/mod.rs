//! `zarrs.gdeflate`: DEFLATE in pages of 64 KiB, which a GPU decodes with 32 threads each.
//!
//! https://codec.zarrs.dev/bytes_to_bytes/gdeflate. A value is its length, how many pages there are, the encoded length
//! of each page (all of 64 bits, little-endian), and the pages. No page refers to another one.
//!
//! A page is DEFLATE (RFC 1951) whose bits are dealt out to 32 *lanes*:
//!
//! 1. Lanes take turns, and each turn is one item: a length of the code of code lengths, a code length, a literal, a
//!    length, or a distance. The first lane begins with the header of a block, and whenever another kind of code follows.
//! 2. After a length, the distance takes the next turn of the same lane. Until then, later items go behind
//!    the bytes for which room was left.
//! 3. The bits of a lane are stored in words of 32. A page begins with one for each lane; the next one belongs to
//!    whichever lane first has less than 32 bits left, and so on.
//!
//! Other than in RFC 1951, as in DEFLATE64: the last code of lengths is 3 and 16 more bits, and distances have two more
//! codes. A stored block has its length in 16 bits, and a byte for each turn.

mod code;
mod decode;
mod encode;

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "zarrs.gdeflate";
const PAGE: usize = 64 << 10;
const LANES: usize = 32;
/// The length of the value and the number of pages.
const HEADER_LEN: usize = 16;

/// The `zarrs.gdeflate` codec with its level checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gdeflate {
    level: u8,
}

impl Gdeflate {
    /// `level` is 0 (stored) to 12 (smallest).
    pub fn new(level: i64) -> Result<Self> {
        match u8::try_from(level) {
            Ok(level @ 0..=12) => Ok(Gdeflate { level }),
            _ => Err(report::option(NAME, "level", "an integer in [0, 12]", level)),
        }
    }
}

/// The number of 64 bits at `at`, if there is one.
fn number(src: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*src.get(at..)?.first_chunk()?)).ok()
}

/// The length of the value that `src` claims.
fn claimed(src: &[u8]) -> Result<usize> {
    number(src, 0).ok_or_else(|| report::cut(NAME, src.len(), HEADER_LEN))
}

/// Decodes `[offset, offset + dst.len())` of a value of `decoded` bytes: the pages in which it lies.
fn decode_pages(src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<()> {
    let found = claimed(src)?;
    if found != decoded {
        return Err(report::wrong_size(NAME, decoded, found));
    }
    let pages = number(src, 8).ok_or_else(|| report::cut(NAME, src.len(), HEADER_LEN))?;
    if pages != decoded.div_ceil(PAGE) {
        let reason =
            format!("expected {} pages, found {}", report::grouped(decoded.div_ceil(PAGE)), report::grouped(pages));
        return Err(Error::decode(NAME, reason));
    }
    let mut at = HEADER_LEN + 8 * pages;
    let mut scratch = Vec::new();
    let mut filled = 0;
    for page in 0..pages {
        let length = number(src, HEADER_LEN + 8 * page).ok_or_else(|| report::cut(NAME, src.len(), at))?;
        let end = at.saturating_add(length);
        let encoded = src.get(at..end).ok_or_else(|| report::cut(NAME, src.len(), end))?;
        at = end;
        let first = page * PAGE;
        let size = PAGE.min(decoded - first);
        let wanted = offset.saturating_sub(first).min(size)..(offset + dst.len()).saturating_sub(first).min(size);
        let into = &mut dst[filled..filled + wanted.len()];
        filled += wanted.len();
        if wanted.len() == size {
            decode::page(encoded, into).map_err(|fault| fault.report(first, decoded))?;
        } else if !wanted.is_empty() {
            room::resize(NAME, &mut scratch, size)?;
            decode::page(encoded, &mut scratch).map_err(|fault| fault.report(first, decoded))?;
            into.copy_from_slice(&scratch[wanted]);
        }
    }
    match src.len() - at.min(src.len()) {
        0 if at > src.len() => Err(report::cut(NAME, src.len(), at)),
        0 => Ok(()),
        more => Err(report::trailing(NAME, more)),
    }
}

impl BytesToBytes for Gdeflate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        room::generous(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        decode_pages(src, dst.len(), 0, dst)
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        let claimed = claimed(src)?;
        // Each page has at least a word for each lane: a claim beyond that is worth no memory.
        let most = (src.len() / (4 * LANES)).saturating_mul(PAGE);
        if claimed > most {
            return Err(report::wrong_size(NAME, claimed, most));
        }
        room::of_size(NAME, claimed, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn decode_part(&self, src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<bool> {
        if offset.checked_add(dst.len()).is_none_or(|end| end > decoded) {
            return Err(report::outside(NAME, offset, dst.len(), decoded));
        }
        decode_pages(src, decoded, offset, dst)?;
        Ok(true)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let pages = src.len().div_ceil(PAGE);
        let mut at = dst.len() + HEADER_LEN;
        room::reserve(NAME, Direction::Encode, dst, HEADER_LEN + 8 * pages)?;
        dst.extend_from_slice(&(src.len() as u64).to_le_bytes());
        dst.extend_from_slice(&(pages as u64).to_le_bytes());
        dst.resize(at + 8 * pages, 0);
        let mut scratch = Vec::new();
        for page in src.chunks(PAGE) {
            let before = dst.len();
            encode::page(self.level, page, &mut scratch, dst)?;
            let length = (dst.len() - before) as u64;
            dst[at..at + 8].copy_from_slice(&length.to_le_bytes());
            at += 8;
        }
        Ok(())
    }
}

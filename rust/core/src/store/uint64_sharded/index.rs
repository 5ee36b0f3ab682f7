//! Where chunks lie in a shard of Neuroglancer.
//!
//! https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/sharded.md. A shard begins with two
//! numbers for each minishard: where its index begins and ends. That index has, for each chunk, its number, less that of
//! the one before; where it begins, less where the one before ends; and how long it is: all numbers, then all beginnings,
//! then all lengths. Numbers have 64 bits and are little-endian; places are counted from the end of the first part.

use crate::codec::gzip::Gzip;
use crate::codec::BytesToBytes;
use crate::error::{Error, Kind, Result};
use crate::scratch;

/// Bytes of what is said of a minishard.
pub const ENTRY: usize = 16;
/// Bytes of what is said of a chunk.
const ROW: usize = 24;

/// A chunk: its number, and where it begins and ends in the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub chunk: u64,
    pub start: u64,
    pub end: u64,
}

/// Where the index of a minishard begins and ends in a shard whose first part has `base` bytes; `None` if it has no chunks.
pub fn minishard(entry: &[u8; ENTRY], base: u64) -> Result<Option<(u64, u64)>> {
    let [start, end] = [number(entry, 0), number(entry, 1)];
    let absolute = start.checked_add(base).zip(end.checked_add(base)).filter(|(start, end)| start <= end);
    let range = absolute.filter(|(_, end)| i64::try_from(*end).is_ok());
    let range = range.ok_or_else(|| damaged(format!("the index of a minishard cannot lie from {start} to {end}")))?;
    Ok((start != end).then_some(range))
}

/// The chunks of a minishard by their numbers; at most `most`.
pub fn decode(stored: &[u8], gzip: bool, base: u64, most: u64) -> Result<Vec<Entry>> {
    if !gzip {
        return entries(stored, base, most);
    }
    let limit = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(ROW).min(crate::chain::MAX_INDEX_BYTES);
    scratch::with_vec(|decoded| {
        codec()?.decode_bounded(stored, limit, decoded)?;
        entries(decoded, base, most)
    })
}

fn codec() -> Result<Gzip> {
    Gzip::new(6)
}

fn entries(bytes: &[u8], base: u64, most: u64) -> Result<Vec<Entry>> {
    let count = bytes.len() / ROW;
    if !bytes.len().is_multiple_of(ROW) || count as u64 > most {
        let reason = format!("expected at most {most} chunks of {ROW} bytes in the index of a minishard");
        return Err(damaged(format!("{reason}, found {} bytes", bytes.len())));
    }
    let mut list = scratch::list(count)?;
    let (mut chunk, mut place) = (0u64, base);
    for row in 0..count {
        chunk = chunk.wrapping_add(number(bytes, row));
        // Where a chunk begins may be told as a step backwards.
        let start = place.wrapping_add(number(bytes, count + row));
        let end = start.checked_add(number(bytes, 2 * count + row));
        // Requests take signed places.
        let Some(end) = end.filter(|&end| start >= base && i64::try_from(end).is_ok()) else {
            return Err(damaged(format!("chunk {chunk} cannot begin at byte {start}")));
        };
        list.push(Entry { chunk, start, end });
        place = end;
    }
    list.sort_by_key(|entry| entry.chunk);
    Ok(list)
}

/// The index of a minishard of these chunks, which are sorted by number, in a shard whose first part has `base` bytes.
pub fn encode(entries: &[Entry], gzip: bool, base: u64, dst: &mut Vec<u8>) -> Result<()> {
    let mut rows = Vec::new();
    scratch::reserve(&mut rows, entries.len().saturating_mul(ROW))?;
    let before = |row: usize| row.checked_sub(1).map(|row| entries[row]);
    for (row, entry) in entries.iter().enumerate() {
        let step = entry.chunk.wrapping_sub(before(row).map_or(0, |entry| entry.chunk));
        rows.extend_from_slice(&step.to_le_bytes());
    }
    for (row, entry) in entries.iter().enumerate() {
        let step = entry.start.wrapping_sub(before(row).map_or(base, |entry| entry.end));
        rows.extend_from_slice(&step.to_le_bytes());
    }
    entries.iter().for_each(|entry| rows.extend_from_slice(&(entry.end - entry.start).to_le_bytes()));
    if gzip {
        return codec()?.encode(&rows, dst);
    }
    scratch::reserve(dst, rows.len())?;
    dst.extend_from_slice(&rows);
    Ok(())
}

fn number(bytes: &[u8], index: usize) -> u64 {
    let at = index * 8;
    bytes[at..at + 8].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A shard, or the index in it, is not what it should be.
pub fn damaged(reason: String) -> Error {
    Error::new(Kind::ShardIndex, reason)
}

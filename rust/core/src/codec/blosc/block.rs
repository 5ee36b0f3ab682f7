//! One block of a blosc container: its splits one by one, then its filter.

use super::header::{Header, LEN as HEADER_LEN};
use super::{report, room, NAME};
use crate::error::{Direction, Error, Result};

/// Buffers of one thread, as long as the longest block it met.
pub struct Scratch {
    /// A block with its filter applied.
    filtered: Vec<u8>,
    /// What the bit filter works in, then what compressors without a raw interface write to.
    work: Vec<u8>,
    /// A block of which only a part is wanted.
    block: Vec<u8>,
}

/// Scratch beyond this is given back after the call: automatic blocks are at most 1 MiB.
const KEEP: usize = 4 << 20;

impl Scratch {
    pub const fn new() -> Self {
        Scratch { filtered: Vec::new(), work: Vec::new(), block: Vec::new() }
    }

    pub fn shrink(&mut self) {
        for buffer in [&mut self.filtered, &mut self.work, &mut self.block] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
    }
}

/// Decodes every block into its place.
pub fn decode_all(header: &Header, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    for (i, part) in dst.chunks_mut(header.block).enumerate() {
        decode(header, src, i, part, &mut scratch.filtered, &mut scratch.work)?;
    }
    Ok(())
}

/// Decodes `dst.len()` bytes from `offset` on, and no block that holds none of them.
pub fn decode_part(header: &Header, src: &[u8], offset: usize, dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    let mut done = 0;
    while done < dst.len() {
        let (i, skip) = ((offset + done) / header.block, (offset + done) % header.block);
        let length = header.block_len(i);
        let part = &mut dst[done..];
        let wanted = part.len().min(length - skip);
        if wanted == length {
            decode(header, src, i, &mut part[..length], &mut scratch.filtered, &mut scratch.work)?;
        } else {
            let block = room::scratch(NAME, Direction::Decode, &mut scratch.block, length)?;
            decode(header, src, i, block, &mut scratch.filtered, &mut scratch.work)?;
            part[..wanted].copy_from_slice(&block[skip..skip + wanted]);
        }
        done += wanted;
    }
    Ok(())
}

/// Decodes block `i` into `dst`, which has its length.
fn decode(
    header: &Header,
    src: &[u8],
    i: usize,
    dst: &mut [u8],
    filtered: &mut Vec<u8>,
    work: &mut Vec<u8>,
) -> Result<()> {
    let start = header.start(src, i)?;
    let shuffle = header.shuffle.on(header.typesize, dst.len());
    if shuffle.is_none() {
        return splits(header, src, i, start, dst);
    }
    let filtered = room::scratch(NAME, Direction::Decode, filtered, dst.len())?;
    splits(header, src, i, start, filtered)?;
    shuffle.undo(header.typesize, filtered, dst, work)
}

fn splits(header: &Header, src: &[u8], i: usize, start: usize, dst: &mut [u8]) -> Result<()> {
    let length = dst.len() / header.splits(i);
    let mut rest = &src[start..];
    // `Header::parse` made sure that splits divide a block, so no byte of `dst` is left over.
    for split in dst.chunks_exact_mut(length) {
        let Some((bytes, behind)) = rest.split_first_chunk::<4>() else { return Err(overrun(header, i)) };
        let Ok(size) = usize::try_from(i32::from_le_bytes(*bytes)) else { return Err(overrun(header, i)) };
        let Some((data, behind)) = behind.split_at_checked(size) else { return Err(overrun(header, i)) };
        if size == length {
            split.copy_from_slice(data);
        } else if !header.compressor.decompress(data, split)? {
            let named = format!("block {i} of {}", report::grouped(header.blocks()));
            let name = header.compressor.name();
            return Err(Error::decode(NAME, format!("{named} is no {name} data of {} bytes", report::grouped(length))));
        }
        rest = behind;
    }
    Ok(())
}

fn overrun(header: &Header, i: usize) -> Error {
    Error::decode(NAME, format!("block {i} of {} runs past the end of the data", report::grouped(header.blocks())))
}

/// Appends the whole container; `false` when it would be no shorter than the stored form, with rubbish appended.
pub fn encode(header: &Header, level: u8, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<bool> {
    let begin = dst.len();
    let end = begin + src.len() + HEADER_LEN;
    if header.first_block() > end - begin {
        return Ok(false);
    }
    room::reserve(NAME, Direction::Encode, dst, end - begin)?;
    dst.resize(begin + header.first_block(), 0);
    for (i, part) in src.chunks(header.block).enumerate() {
        let start = (dst.len() - begin) as u32;
        dst[begin + HEADER_LEN + i * 4..][..4].copy_from_slice(&start.to_le_bytes());
        let shuffle = header.shuffle.on(header.typesize, part.len());
        let data = if shuffle.is_none() {
            part
        } else {
            let filtered = room::scratch(NAME, Direction::Encode, &mut scratch.filtered, part.len())?;
            shuffle.apply(header.typesize, part, filtered, &mut scratch.work)?;
            filtered
        };
        for split in data.chunks_exact(data.len() / header.splits(i)) {
            if !encode_split(header, level, split, dst, end, &mut scratch.work)? {
                return Ok(false);
            }
        }
    }
    let header = header.to_bytes(dst.len() - begin);
    dst[begin..begin + HEADER_LEN].copy_from_slice(&header);
    Ok(true)
}

/// Appends one split, `dst` not to exceed `end`; `false` when it does not fit.
fn encode_split(
    header: &Header,
    level: u8,
    split: &[u8],
    dst: &mut Vec<u8>,
    end: usize,
    work: &mut Vec<u8>,
) -> Result<bool> {
    let at = dst.len();
    let Some(room) = end.checked_sub(at + 4).filter(|room| *room > 0) else { return Ok(false) };
    dst.extend_from_slice(&[0; 4]);
    // Shorter than the split, or it would pass for stored bytes.
    let made = header.compressor.compress(level, header.is_split(), split, dst, room.min(split.len() - 1), work)?;
    let size = match made {
        Some(size) => size,
        None if split.len() <= room => {
            dst.truncate(at + 4);
            dst.extend_from_slice(split);
            split.len()
        }
        None => return Ok(false),
    };
    dst[at..at + 4].copy_from_slice(&(size as u32).to_le_bytes());
    Ok(true)
}

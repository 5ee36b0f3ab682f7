//! `compressed_segmentation`: labels of Neuroglancer, in blocks of few different ones.
//!
//! https://github.com/google/neuroglancer/blob/master/src/sliceview/compressed_segmentation/README.md. All numbers are
//! little-endian words of 32 bits, all offsets count words. First there is an offset for each channel, of its data from
//! the beginning. These begin with two words for each block, x fastest: the offset of its table of labels (24 bits), the
//! number of bits of an index into it (8 bits: 0, 1, 2, 4, 8, 16 or 32), and the offset of its indices, both from where
//! the channel's data begin. Indices lie in their words from the lowest bit on, as many as a whole block has, also where
//! the block is cut off at the end of the chunk. Blocks may share tables.

use std::collections::BTreeMap;

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};
use crate::scratch;

const NAME: &str = "compressed_segmentation";
const WORD: usize = 4;
/// Words of what is said of a block.
const HEADER: usize = 2;
/// Where a table can be.
const MOST_WORDS: usize = 1 << 24;

/// The `compressed_segmentation` codec for chunks of one shape.
pub struct CompressedSegmentation {
    /// Channels.
    channels: usize,
    /// z, y, x.
    shape: [usize; 3],
    /// The same of a block.
    block: [usize; 3],
    /// Blocks along z, y and x.
    grid: [usize; 3],
    /// Elements of a whole block.
    count: usize,
    itemsize: usize,
    /// Bytes of all elements.
    length: usize,
}

/// A block within its chunk: where it begins, and how much of it lies inside.
struct Part {
    start: [usize; 3],
    shape: [usize; 3],
}

impl CompressedSegmentation {
    /// `shape` is that of a chunk in the order in which it is stored (channel, z, y, x), `block` has z, y and x.
    pub fn new(shape: [usize; 4], itemsize: usize, block: [usize; 3]) -> Result<Self> {
        if itemsize != 4 && itemsize != 8 {
            return Err(report::option(NAME, "elements", "4 or 8 bytes", itemsize));
        }
        if block.contains(&0) {
            return Err(report::option(NAME, "block", "lengths of at least 1", format!("{block:?}")));
        }
        let length = shape.iter().try_fold(itemsize, |size, &length| size.checked_mul(length));
        let count = block.iter().try_fold(1usize, |size, &length| size.checked_mul(length));
        let (Some(length), Some(count)) = (length, count.filter(|&count| count <= usize::MAX >> 8)) else {
            let found = format!("{block:?} in {shape:?}");
            return Err(report::option(NAME, "block", "fewer elements than memory has", found));
        };
        let [channels, z, y, x] = shape;
        let shape = [z, y, x];
        let grid = std::array::from_fn(|axis| shape[axis].div_ceil(block[axis]));
        Ok(CompressedSegmentation { channels, shape, block, grid, count, itemsize, length })
    }

    fn blocks(&self) -> usize {
        self.grid.iter().product()
    }

    /// The block with this number, x fastest.
    fn part(&self, number: usize) -> Part {
        let position =
            [number / (self.grid[1] * self.grid[2]), number / self.grid[2] % self.grid[1], number % self.grid[2]];
        let start: [usize; 3] = std::array::from_fn(|axis| position[axis] * self.block[axis]);
        Part { start, shape: std::array::from_fn(|axis| self.block[axis].min(self.shape[axis] - start[axis])) }
    }

    /// For each row of a block the first of its elements among those of the channel, and among those of a whole block.
    fn rows<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = (usize, usize)> + 'a {
        let [z, y, x] = part.start;
        (0..part.shape[0]).flat_map(move |row_z| {
            (0..part.shape[1]).map(move |row_y| {
                let in_channel = ((z + row_z) * self.shape[1] + y + row_y) * self.shape[2] + x;
                (in_channel, (row_z * self.block[1] + row_y) * self.block[2])
            })
        })
    }

    /// Words that the indices of a block take.
    fn index_words(&self, bits: usize) -> usize {
        self.count.saturating_mul(bits).div_ceil(32)
    }

    fn decode_channel<const SIZE: usize>(&self, channel: usize, words: &[u8], dst: &mut [u8]) -> Result<()> {
        let total = words.len() / WORD;
        if self.blocks().saturating_mul(HEADER) > total {
            let wanted = self.blocks().saturating_mul(HEADER * WORD);
            let reason = format!("expected {} bytes about blocks", report::grouped(wanted));
            return Err(damaged(channel, format!("{reason}, found {}", report::grouped(words.len()))));
        }
        for number in 0..self.blocks() {
            let header = number * HEADER;
            let first = word(words, header);
            let (table, bits) = ((first & 0x00ff_ffff) as usize, (first >> 24) as usize);
            let values = word(words, header + 1) as usize;
            if bits > 32 || (bits != 0 && !bits.is_power_of_two()) {
                let reason =
                    format!("expected indices of 0, 1, 2, 4, 8, 16 or 32 bits in block {number}, found {bits}");
                return Err(damaged(channel, reason));
            }
            if table > total || values.checked_add(self.index_words(bits)).is_none_or(|end| end > total) {
                let reason = format!("block {number} lies outside of {} bytes", report::grouped(words.len()));
                return Err(damaged(channel, reason));
            }
            let labels = &words[table * WORD..];
            let part = self.part(number);
            let indices = &words[values * WORD..];
            let done = match bits {
                0 => labels.first_chunk::<SIZE>().map(|label| {
                    for (row, _) in self.rows(&part) {
                        for element in dst[row * SIZE..(row + part.shape[2]) * SIZE].chunks_exact_mut(SIZE) {
                            element.copy_from_slice(label);
                        }
                    }
                }),
                _ => self.decode_block::<SIZE>(&part, bits, indices, labels, dst),
            };
            if done.is_none() {
                let reason = format!("an index of block {number} lies outside of its table of labels");
                return Err(damaged(channel, reason));
            }
        }
        Ok(())
    }

    /// The labels of a block; `None` if an index is of none. The caller has seen that there are as many indices.
    fn decode_block<const SIZE: usize>(
        &self,
        part: &Part,
        bits: usize,
        indices: &[u8],
        labels: &[u8],
        dst: &mut [u8],
    ) -> Option<()> {
        let mask = u32::MAX >> (32 - bits);
        let count = labels.len() / SIZE;
        for (row, first) in self.rows(part) {
            let mut bit = first * bits;
            for element in dst[row * SIZE..(row + part.shape[2]) * SIZE].chunks_exact_mut(SIZE) {
                let index = (word(indices, bit / 32) >> (bit % 32) & mask) as usize;
                if index >= count {
                    return None;
                }
                element.copy_from_slice(&labels[index * SIZE..(index + 1) * SIZE]);
                bit += bits;
            }
        }
        Some(())
    }

    fn decode<const SIZE: usize>(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let total = src.len() / WORD;
        if !src.len().is_multiple_of(WORD) || total < self.channels {
            let reason = format!("expected words of 32 bits, at least {} of them", report::grouped(self.channels));
            return Err(Error::decode(NAME, format!("{reason}, found {} bytes", report::grouped(src.len()))));
        }
        let length = dst.len() / self.channels.max(1);
        for channel in 0..self.channels {
            let offset = word(src, channel) as usize;
            if offset > total {
                let reason = format!("begins at word {offset} of {}", report::grouped(total));
                return Err(damaged(channel, reason));
            }
            let elements = &mut dst[channel * length..(channel + 1) * length];
            self.decode_channel::<SIZE>(channel, &src[offset * WORD..], elements)?;
        }
        Ok(())
    }

    fn encode_channel<const SIZE: usize>(&self, elements: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let base = dst.len();
        grow(dst, self.blocks().saturating_mul(HEADER))?;
        // Where each table is that there is already.
        let mut tables: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        let mut labels = Vec::new();
        for number in 0..self.blocks() {
            let part = self.part(number);
            labels.clear();
            for (row, _) in self.rows(&part) {
                for element in elements[row * SIZE..(row + part.shape[2]) * SIZE].chunks_exact(SIZE) {
                    let label = number_of(element);
                    if labels.last() != Some(&label) {
                        scratch::push(&mut labels, label)?;
                    }
                }
            }
            labels.sort_unstable();
            labels.dedup();
            // As few bits as say the largest index, rounded up to a power of two.
            let bits = match labels.len() {
                0 | 1 => 0,
                several => ((several - 1).ilog2() as usize + 1).next_power_of_two(),
            };
            let values = (dst.len() - base) / WORD;
            if self.index_words(bits) >= MOST_WORDS {
                return Err(too_many());
            }
            grow(dst, self.index_words(bits))?;
            let indices = &mut dst[base + values * WORD..];
            if bits > 0 {
                for (row, first) in self.rows(&part) {
                    let mut bit = first * bits;
                    for element in elements[row * SIZE..(row + part.shape[2]) * SIZE].chunks_exact(SIZE) {
                        let index = labels.binary_search(&number_of(element)).unwrap_or(0);
                        let at = bit / 32 * WORD;
                        let shifted = word(indices, bit / 32) | (index as u32) << (bit % 32);
                        indices[at..at + WORD].copy_from_slice(&shifted.to_le_bytes());
                        bit += bits;
                    }
                }
            }
            let table = match tables.get(&labels) {
                Some(&table) => table,
                None => {
                    let table = (dst.len() - base) / WORD;
                    let size = labels.len().saturating_mul(SIZE);
                    room::reserve(NAME, Direction::Encode, dst, size)?;
                    for label in &labels {
                        dst.extend_from_slice(&label.to_le_bytes()[..SIZE]);
                    }
                    tables.insert(scratch::listed(labels.iter().copied())?, table);
                    table
                }
            };
            if table >= MOST_WORDS || u32::try_from(values).is_err() {
                return Err(too_many());
            }
            let header = base + number * HEADER * WORD;
            let first = (table | bits << 24) as u32;
            dst[header..header + WORD].copy_from_slice(&first.to_le_bytes());
            dst[header + WORD..header + 2 * WORD].copy_from_slice(&(values as u32).to_le_bytes());
        }
        Ok(())
    }

    fn encode_all<const SIZE: usize>(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let base = dst.len();
        grow(dst, self.channels)?;
        let length = src.len() / self.channels.max(1);
        for channel in 0..self.channels {
            let offset = (dst.len() - base) / WORD;
            let offset = u32::try_from(offset).map_err(|_| {
                Error::encode(NAME, format!("channel {channel} would begin at word {}", report::grouped(offset)))
            })?;
            let at = base + channel * WORD;
            dst[at..at + WORD].copy_from_slice(&offset.to_le_bytes());
            self.encode_channel::<SIZE>(&src[channel * length..(channel + 1) * length], dst)?;
        }
        Ok(())
    }

    fn check(&self, direction: Direction, length: usize) -> Result<()> {
        if length == self.length {
            return Ok(());
        }
        Err(Error { direction: Some(direction), ..report::wrong_size(NAME, self.length, length) })
    }
}

impl BytesToBytes for CompressedSegmentation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, _decoded: usize) -> usize {
        // Indices of 32 bits, a table for each block, and as much again for who shares and packs nothing.
        let block = self.count.saturating_mul(WORD + self.itemsize).saturating_add(HEADER * WORD);
        let channel = block.saturating_mul(self.blocks()).saturating_add(WORD);
        room::generous(channel.saturating_mul(self.channels).saturating_mul(2))
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.check(Direction::Decode, dst.len())?;
        match self.itemsize {
            4 => self.decode::<4>(src, dst),
            _ => self.decode::<8>(src, dst),
        }
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, self.length, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        self.check(Direction::Encode, src.len())?;
        match self.itemsize {
            4 => self.encode_all::<4>(src, dst),
            _ => self.encode_all::<8>(src, dst),
        }
    }
}

/// Appends so many words of zeros.
fn grow(dst: &mut Vec<u8>, words: usize) -> Result<()> {
    room::appended(NAME, dst, words.saturating_mul(WORD)).map(|_| ())
}

/// The word at a place that the caller has seen to be there.
fn word(words: &[u8], at: usize) -> u32 {
    let at = at * WORD;
    u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]])
}

fn number_of(element: &[u8]) -> u64 {
    element.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// No table can be behind so much.
fn too_many() -> Error {
    let most = report::grouped(MOST_WORDS * WORD);
    Error::encode(NAME, format!("labels of one channel take more than {most} bytes"))
}

fn damaged(channel: usize, reason: String) -> Error {
    Error::decode(NAME, format!("channel {channel}: {reason}"))
}

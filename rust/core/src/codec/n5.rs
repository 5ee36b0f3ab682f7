//! `n5`: a block of N5, which is a header and the elements, compressed or not.
//!
//! https://github.com/saalfeldlab/n5#file-system-specification. All numbers are big-endian: mode (16 bits; 0 is usual, 1
//! says how many elements there are), the number of dimensions (16 bits), the length along each of them (32 bits), for
//! mode 1 the number of elements (32 bits). The header is never compressed.
//!
//! A block at the end of an array may be stored shorter than the others. To the engine all have one shape, so what such a
//! block lacks reads as zeros, and whole blocks are written, as TensorStore does: an array that grows finds them there.

use super::{report, room, BytesToBytes, Fetch};
use crate::error::{Direction, Error, Kind, Result};
use crate::scratch;

const NAME: &str = "n5";
const USUAL: u16 = 0;
const COUNTED: u16 = 1;

/// The `n5` codec for blocks of one shape.
pub struct N5 {
    /// The lengths of a whole block, that along which neighbours in memory lie first.
    shape: Vec<usize>,
    itemsize: usize,
    /// Bytes of the elements of a whole block.
    length: usize,
    codec: Option<Box<dyn BytesToBytes>>,
    /// The header of a whole block.
    header: Vec<u8>,
}

/// What a header says.
struct Block<'a> {
    /// The lengths; none for a whole block.
    shape: Option<Vec<usize>>,
    body: &'a [u8],
}

impl N5 {
    /// `codec` compresses the elements of blocks of this shape; without one they are stored as they are.
    pub fn new(shape: Vec<usize>, itemsize: usize, codec: Option<Box<dyn BytesToBytes>>) -> Result<Self> {
        let rank = u16::try_from(shape.len()).map_err(|_| wrong("dimensions", "fewer than 65536", shape.len()))?;
        let mut header = [USUAL.to_be_bytes(), rank.to_be_bytes()].concat();
        for &length in &shape {
            let length = u32::try_from(length).map_err(|_| wrong("block", "lengths of 32 bits", length))?;
            header.extend_from_slice(&length.to_be_bytes());
        }
        let length = shape.iter().try_fold(itemsize, |size, &length| size.checked_mul(length));
        let length = length.ok_or_else(|| wrong("block", "fewer bytes than memory has", format!("{shape:?}")))?;
        Ok(N5 { shape, itemsize, length, codec, header })
    }

    fn block<'a>(&self, src: &'a [u8]) -> Result<Block<'a>> {
        if let Some(body) = src.strip_prefix(self.header.as_slice()) {
            return Ok(Block { shape: None, body });
        }
        let mut rest = src;
        let ended = || {
            let expected = report::grouped(self.header.len());
            damaged(format!("expected a header of {expected} bytes, found {} bytes in all", report::grouped(src.len())))
        };
        let mode = take::<2>(&mut rest).map(u16::from_be_bytes).ok_or_else(ended)?;
        if mode != USUAL && mode != COUNTED {
            return Err(damaged(format!("expected mode 0 or 1, found {mode}")));
        }
        let rank = take::<2>(&mut rest).map(u16::from_be_bytes).ok_or_else(ended)?;
        if usize::from(rank) != self.shape.len() {
            return Err(damaged(format!("expected {} dimensions, found {rank}", self.shape.len())));
        }
        let mut shape = Vec::with_capacity(self.shape.len());
        for _ in &self.shape {
            shape.push(take::<4>(&mut rest).map(u32::from_be_bytes).ok_or_else(ended)? as usize);
        }
        if shape.iter().zip(&self.shape).any(|(found, most)| found > most) {
            return Err(damaged(format!("expected a block of at most {:?}, found {shape:?}", self.shape)));
        }
        if mode == COUNTED {
            let count = take::<4>(&mut rest).map(u32::from_be_bytes).ok_or_else(ended)? as usize;
            let expected: usize = shape.iter().product();
            if count != expected {
                let reason = format!("expected {} elements in a block of {shape:?}", report::grouped(expected));
                return Err(damaged(format!("{reason}, found {}: of variable length", report::grouped(count))));
            }
        }
        Ok(Block { shape: (shape != self.shape).then_some(shape), body: rest })
    }

    /// The elements of a block into exactly `dst`.
    fn elements(&self, body: &[u8], dst: &mut [u8]) -> Result<()> {
        match &self.codec {
            Some(codec) => codec.decode_exact(body, dst),
            None if body.len() == dst.len() => {
                dst.copy_from_slice(body);
                Ok(())
            }
            None => Err(report::wrong_size(NAME, dst.len(), body.len())),
        }
    }

    fn check(&self, direction: Direction, length: usize) -> Result<()> {
        if length == self.length {
            return Ok(());
        }
        Err(Error { direction: Some(direction), ..report::wrong_size(NAME, self.length, length) })
    }

    /// The elements of a block of the lengths `shape` to where they are in a whole one.
    fn spread(&self, shape: &[usize], elements: &[u8], dst: &mut [u8]) {
        let row = shape.first().copied().unwrap_or(1) * self.itemsize;
        if row == 0 {
            return;
        }
        let mut index = vec![0; shape.len()];
        for source in elements.chunks_exact(row) {
            let mut start = 0;
            for axis in (0..shape.len()).rev() {
                start = start * self.shape[axis] + index[axis];
            }
            let start = start * self.itemsize;
            dst[start..start + row].copy_from_slice(source);
            for axis in 1..shape.len() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
    }
}

impl BytesToBytes for N5 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        let body = self.codec.as_ref().map_or(decoded, |codec| codec.max_encoded_len(decoded));
        // Room for the number of elements, which others may have.
        body.saturating_add(self.header.len() + 4)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.check(Direction::Decode, dst.len())?;
        let block = self.block(src)?;
        let Some(shape) = block.shape else {
            return self.elements(block.body, dst);
        };
        // No more than a whole block, as every length was compared.
        let length = shape.iter().product::<usize>() * self.itemsize;
        scratch::with_bytes(length, |elements| {
            self.elements(block.body, elements)?;
            dst.fill(0);
            self.spread(&shape, elements, dst);
            Ok(())
        })
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::of_size(NAME, self.length, limit, dst, |dst| self.decode_exact(src, dst))
    }

    fn decode_part(&self, src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]) -> Result<bool> {
        self.check(Direction::Decode, decoded)?;
        let block = self.block(src)?;
        match (&self.codec, block.shape) {
            (Some(codec), None) => codec.decode_part(block.body, decoded, offset, dst),
            (None, None) => {
                self.check(Direction::Decode, block.body.len())?;
                let end = offset.checked_add(dst.len());
                let part = end.and_then(|end| block.body.get(offset..end));
                dst.copy_from_slice(part.ok_or_else(|| report::outside(NAME, offset, dst.len(), decoded))?);
                Ok(true)
            }
            (_, Some(_)) => Ok(false),
        }
    }

    fn decode_fetched(&self, src: &mut [u8], decoded: usize, offset: usize, dst: &mut [u8], fetch: Fetch<'_>) -> bool {
        let start = self.header.len();
        let Some((header, body)) = src.split_at_mut_checked(start) else { return false };
        let is_whole = decoded == self.length && matches!(fetch(0, header), Ok(true)) && *header == *self.header;
        match &self.codec {
            _ if !is_whole => false,
            Some(codec) => {
                codec.decode_fetched(body, decoded, offset, dst, &|offset, bytes| fetch(start + offset, bytes))
            }
            None => {
                let is_inside = offset.checked_add(dst.len()).is_some_and(|end| end <= decoded);
                body.len() == decoded && is_inside && matches!(fetch(start + offset, dst), Ok(true))
            }
        }
    }

    fn source_may_change(&self) -> bool {
        self.codec.as_ref().is_none_or(|codec| codec.source_may_change())
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        self.check(Direction::Encode, src.len())?;
        room::reserve(NAME, Direction::Encode, dst, self.header.len())?;
        dst.extend_from_slice(&self.header);
        if let Some(codec) = &self.codec {
            return codec.encode(src, dst);
        }
        room::reserve(NAME, Direction::Encode, dst, src.len())?;
        dst.extend_from_slice(src);
        Ok(())
    }
}

/// The next `N` bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk::<N>()?;
    *rest = others;
    Some(*first)
}

fn damaged(reason: String) -> Error {
    Error::decode(NAME, reason)
}

fn wrong(option: &str, expected: &str, found: impl std::fmt::Display) -> Error {
    Error { kind: Kind::Request, ..report::option(NAME, option, expected, found) }
}

//! `packbits`: elements of a few bits, without gaps.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits>.

use super::number::{bits, put};
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

const NAME: &str = "packbits";
/// Each byte is 1.
const ONES: u64 = u64::MAX / 255;
/// The bits of each byte, each in a byte of its own, the lowest first.
const SPREAD: [u64; 256] = spread();

const fn spread() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        // The bit of each byte in it, then whether that is there.
        let bits = (byte as u64 * ONES) & 0x8040_2010_0804_0201;
        table[byte] = (bits + 0x7f * ONES) >> 7 & ONES;
        byte += 1;
    }
    table
}

/// Where the number of padding bits is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    Nowhere,
    FirstByte,
    LastByte,
}

/// The `packbits` codec with its options checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packbits {
    /// Bytes of a component of an element in memory.
    bytes: usize,
    /// Bits of a component's value, before some are left out.
    width: u32,
    first: u32,
    /// How many bits from `first` on are stored.
    kept: u32,
    /// Whether the greatest bit is that of the sign.
    signed: bool,
    padding: Padding,
}

impl Packbits {
    pub fn new(width: i64, first: i64, last: i64, signed: bool, padding: &str) -> Result<Self> {
        let padding = match padding {
            "none" => Padding::Nowhere,
            "first_byte" => Padding::FirstByte,
            "last_byte" => Padding::LastByte,
            other => return Err(report::option(NAME, "padding_encoding", "none, first_byte or last_byte", other)),
        };
        if !(1..=64).contains(&width) || first < 0 || last < first || last >= width {
            return Err(report::option(NAME, "last_bit", "a bit of the data type, from first_bit on", last));
        }
        let (width, first, kept) = (width as u32, first as u32, (last - first + 1) as u32);
        let bytes = (width as usize).div_ceil(8).next_power_of_two();
        Ok(Packbits { bytes, width, first, kept, signed, padding })
    }

    fn packed_len(&self, decoded: usize) -> Option<usize> {
        Some((decoded / self.bytes).checked_mul(self.kept as usize)?.div_ceil(8))
    }

    fn padding_bits(&self, decoded: usize, packed: usize) -> u8 {
        (packed * 8 - decoded / self.bytes * self.kept as usize) as u8
    }

    fn pack(&self, src: &[u8], dst: &mut [u8]) {
        let whole = if self.bytes == 1 { self.pack_bytes(src, dst) } else { 0 };
        let (src, dst) = (&src[whole * 8 / self.kept as usize..], &mut dst[whole..]);
        let mask = u64::MAX >> (64 - self.kept);
        let (mut waiting, mut count) = (0_u128, 0_u32);
        let mut packed = dst.iter_mut();
        for element in src.chunks_exact(self.bytes) {
            waiting |= u128::from(bits(element) >> self.first & mask) << count;
            count += self.kept;
            while count >= 8 {
                if let Some(byte) = packed.next() {
                    *byte = waiting as u8;
                }
                waiting >>= 8;
                count -= 8;
            }
        }
        if let Some(byte) = packed.next() {
            *byte = waiting as u8;
        }
    }

    /// Packs elements of one byte where a whole number of them fills a byte, and gives the number of bytes that are full;
    /// 0 for others.
    fn pack_bytes(&self, src: &[u8], dst: &mut [u8]) -> usize {
        let first = self.first;
        match self.kept {
            1 => {
                for (elements, byte) in src.as_chunks().0.iter().zip(dst) {
                    let ones = u64::from_le_bytes(*elements) >> first & ONES;
                    // Adds up each one at its place in the highest byte; nothing is carried.
                    *byte = (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
                }
                src.len() / 8
            }
            2 => {
                for ([a, b, c, d], byte) in src.as_chunks().0.iter().zip(dst) {
                    *byte = [d, c, b, a].iter().fold(0, |byte, one| byte << 2 | (**one >> first & 3));
                }
                src.len() / 4
            }
            4 => {
                for ([a, b], byte) in src.as_chunks().0.iter().zip(dst) {
                    *byte = (a >> first & 15) | (b >> first & 15) << 4;
                }
                src.len() / 2
            }
            _ => 0,
        }
    }

    /// The reverse of `pack_bytes`; gives the number of bytes that were unpacked.
    fn unpack_bytes(&self, src: &[u8], dst: &mut [u8]) -> usize {
        let first = self.first;
        match self.kept {
            1 => {
                for (elements, byte) in dst.as_chunks_mut().0.iter_mut().zip(src) {
                    *elements = (SPREAD[usize::from(*byte)] << first).to_le_bytes();
                }
                dst.len() / 8
            }
            2 => {
                for (four, byte) in dst.as_chunks_mut().0.iter_mut().zip(src) {
                    *four = [0, 2, 4, 6].map(|position| (byte >> position & 3) << first);
                }
                dst.len() / 4
            }
            4 => {
                for (two, byte) in dst.as_chunks_mut().0.iter_mut().zip(src) {
                    *two = [(byte & 15) << first, (byte >> 4) << first];
                }
                dst.len() / 2
            }
            _ => 0,
        }
    }

    fn unpack(&self, src: &[u8], dst: &mut [u8]) {
        // A sign with no bits above it to be spread over is a bit like any other.
        let is_plain = self.bytes == 1 && (!self.signed || self.first + self.kept == self.width);
        let whole = if is_plain { self.unpack_bytes(src, dst) } else { 0 };
        let (src, dst) = (&src[whole..], &mut dst[whole * 8 / self.kept as usize..]);
        let mask = u64::MAX >> (64 - self.kept);
        let (mut waiting, mut count) = (0_u128, 0_u32);
        let mut packed = src.iter();
        // The sign is spread over the bits of the value that are left out above, not over those of the byte in memory.
        let above = 64 - self.first - self.kept;
        let width = u64::MAX >> (64 - self.width);
        for element in dst.chunks_exact_mut(self.bytes) {
            while count < self.kept {
                waiting |= u128::from(packed.next().copied().unwrap_or(0)) << count;
                count += 8;
            }
            let value = waiting as u64 & mask;
            waiting >>= self.kept;
            count -= self.kept;
            let value = match self.signed {
                true => (value << (64 - self.kept)) as i64 >> above,
                false => (value << self.first) as i64,
            };
            put(value as u64 & width, element);
        }
    }
}

impl BytesToBytes for Packbits {
    fn name(&self) -> &'static str {
        NAME
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        self.fixed_encoded_len(decoded).unwrap_or(decoded)
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        self.packed_len(decoded)?.checked_add(usize::from(self.padding != Padding::Nowhere))
    }

    fn encoded_elements(&self, size: usize) -> Option<(usize, usize)> {
        let elements = 8 >> self.kept.trailing_zeros().min(3);
        (size == self.bytes && self.padding == Padding::Nowhere)
            .then_some((elements, elements * self.kept as usize / 8))
    }

    fn makes_booleans(&self) -> bool {
        (self.bytes, self.first, self.kept, self.signed) == (1, 0, 1, false)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let expected = self.fixed_encoded_len(dst.len());
        if expected != Some(src.len()) {
            return Err(report::wrong_size(NAME, expected.unwrap_or(0), src.len()));
        }
        let (stated, packed) = match (self.padding, src) {
            (Padding::FirstByte, [stated, packed @ ..]) | (Padding::LastByte, [packed @ .., stated]) => {
                (Some(*stated), packed)
            }
            _ => (None, src),
        };
        let padding = self.padding_bits(dst.len(), packed.len());
        if let Some(stated) = stated.filter(|&stated| stated != padding) {
            return Err(Error::decode(NAME, format!("expected {padding} padding bits, found {stated}")));
        }
        self.unpack(packed, dst);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        // The bytes do not tell how many elements there are; the chain knows, and asks for exactly those.
        let stated = usize::from(self.padding != Padding::Nowhere);
        if self.fixed_encoded_len(limit) == Some(src.len()) {
            return room::of_size(NAME, limit, limit, dst, |dst| self.decode_exact(src, dst));
        }
        let packed = src.len().saturating_sub(stated);
        let size = (packed * 8 / self.kept as usize).saturating_mul(self.bytes);
        room::of_size(NAME, size, limit, dst, |dst| self.decode_exact(src, dst))
    }

    /// Each element is encoded by itself.
    fn source_may_change(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let size = match self.packed_len(src.len()) {
            Some(size) if src.len().is_multiple_of(self.bytes) => size,
            _ => return Err(report::uneven(NAME, Direction::Encode, self.bytes, src.len())),
        };
        room::reserve(NAME, Direction::Encode, dst, size + 1)?;
        let padding = self.padding_bits(src.len(), size);
        if self.padding == Padding::FirstByte {
            dst.push(padding);
        }
        self.pack(src, room::appended(NAME, dst, size)?);
        if self.padding == Padding::LastByte {
            dst.push(padding);
        }
        Ok(())
    }
}

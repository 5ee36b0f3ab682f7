//! The Huffman codes of DEFLATE, and the header of a block that has them.

use super::{report, NAME};
use crate::error::Error;

/// The bits of the longest codeword.
const LONGEST: usize = 15;
/// Codewords up to this length are found by one look at a table.
const SHORT: usize = 10;
const LITERALS: usize = 288;
const DISTANCES: usize = 32;
/// The literal that ends a block; lengths follow it.
pub const END: usize = 256;
/// The order in which the lengths of the code of code lengths are stored.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// What is wrong with a page, after so many of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It has no more words.
    Ended(usize),
    /// It breaks the rules.
    Damaged(usize),
    /// It has more bytes than a page.
    TooLong,
    /// So many bytes follow its end.
    Trailing(usize),
}

impl Fault {
    /// The error, for a page behind `before` bytes of a value of `decoded`.
    #[cold]
    pub fn report(self, before: usize, decoded: usize) -> Error {
        match self {
            Fault::Ended(made) => report::ended(NAME, before + made, Some(decoded)),
            Fault::Damaged(made) => report::damaged(NAME, before + made, Some(decoded)),
            Fault::TooLong => report::too_long(NAME, decoded),
            Fault::Trailing(count) => report::trailing(NAME, count),
        }
    }
}

/// Where the bits of a page come from: from its lanes, or from DEFLATE that is dealt out to lanes meanwhile.
pub trait Bits {
    /// The next bits, at least 31.
    fn peek(&self) -> u32;
    /// Takes so many bits, at most 31.
    fn skip(&mut self, count: u32) -> Result<(), Fault>;
    /// The next lane.
    fn turn(&mut self);
    /// The first lane.
    fn first(&mut self);

    fn take(&mut self, count: u32) -> Result<u32, Fault> {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count)?;
        Ok(bits)
    }
}

/// A Huffman code, given by the lengths of its codewords.
pub struct Code {
    /// Symbol and length, by the next bits; 0 where the codeword is longer, or none.
    short: [u16; 1 << SHORT],
    /// How many codewords have each length.
    counts: [u16; LONGEST + 1],
    /// The symbols in the order of their codewords.
    symbols: [u16; LITERALS],
}

impl Code {
    pub const fn new() -> Self {
        Code { short: [0; 1 << SHORT], counts: [0; LONGEST + 1], symbols: [0; LITERALS] }
    }

    fn set(&mut self, lengths: &[u8]) -> Result<(), Fault> {
        self.short.fill(0);
        self.counts.fill(0);
        for &length in lengths {
            self.counts[usize::from(length)] += 1;
        }
        self.counts[0] = 0;
        let (mut free, mut codeword) = (1i32, 0);
        let (mut place, mut places, mut codewords) = (0, [0; LONGEST + 1], [0u16; LONGEST + 1]);
        for length in 1..=LONGEST {
            let count = self.counts[length];
            free = 2 * free - i32::from(count);
            (places[length], codewords[length]) = (place, codeword << 1);
            place += usize::from(count);
            codeword = codewords[length].wrapping_add(count);
            if free < 0 {
                return Err(Fault::Damaged(0));
            }
        }
        // Only a code of one symbol, or of none, may leave bits without a meaning.
        if free > 0 && !(place == 0 || place == 1 && self.counts[1] == 1) {
            return Err(Fault::Damaged(0));
        }
        for (symbol, &length) in lengths.iter().enumerate().filter(|(_, &length)| length > 0) {
            let length = usize::from(length);
            self.symbols[places[length]] = symbol as u16;
            places[length] += 1;
            if length <= SHORT {
                let first = codewords[length].reverse_bits() >> (16 - length);
                for at in (usize::from(first)..1 << SHORT).step_by(1 << length) {
                    self.short[at] = (symbol as u16) << 4 | length as u16;
                }
            }
            codewords[length] = codewords[length].wrapping_add(1);
        }
        Ok(())
    }

    /// The symbol with whose codeword these bits begin, and the bits of the codeword.
    #[inline(always)]
    pub fn find(&self, bits: u32) -> Result<(usize, u32), Fault> {
        match self.short[bits as usize & ((1 << SHORT) - 1)] {
            0 => self.find_long(bits),
            found => Ok((usize::from(found >> 4), u32::from(found & 15))),
        }
    }

    fn find_long(&self, bits: u32) -> Result<(usize, u32), Fault> {
        let (mut codeword, mut first, mut place) = (0, 0, 0);
        for length in 1..=LONGEST {
            codeword = codeword << 1 | (bits >> (length - 1) & 1) as usize;
            let count = usize::from(self.counts[length]);
            if codeword < first + count {
                return Ok((usize::from(self.symbols[place + codeword - first]), length as u32));
            }
            place += count;
            first = (first + count) << 1;
        }
        Err(Fault::Damaged(0))
    }

    fn take(&self, bits: &mut impl Bits) -> Result<usize, Fault> {
        let (symbol, length) = self.find(bits.peek())?;
        bits.skip(length)?;
        Ok(symbol)
    }
}

/// The codes of a block.
pub struct Codes {
    /// Literals, the end, and lengths.
    pub literals: Code,
    pub distances: Code,
}

/// What a block is.
pub enum Block {
    Stored,
    Coded,
}

impl Codes {
    pub const fn new() -> Self {
        Codes { literals: Code::new(), distances: Code::new() }
    }

    /// Reads the header of a block: whether it is the last one, and what it is; a coded one has its codes here afterwards.
    pub fn block(&mut self, bits: &mut impl Bits) -> Result<(bool, Block), Fault> {
        bits.first();
        let last = bits.take(1)? == 1;
        let block = match bits.take(2)? {
            0 => Block::Stored,
            1 => {
                let mut lengths = [8; LITERALS];
                lengths[144..256].fill(9);
                lengths[256..280].fill(7);
                self.literals.set(&lengths)?;
                self.distances.set(&[5; DISTANCES])?;
                Block::Coded
            }
            2 => {
                self.read(bits)?;
                Block::Coded
            }
            _ => return Err(Fault::Damaged(0)),
        };
        if matches!(block, Block::Coded) {
            bits.first();
        }
        Ok((last, block))
    }

    fn read(&mut self, bits: &mut impl Bits) -> Result<(), Fault> {
        let literals = bits.take(5)? as usize + END + 1;
        let all = literals + bits.take(5)? as usize + 1;
        let mut lengths = [0; LITERALS + DISTANCES];
        for &symbol in &ORDER[..bits.take(4)? as usize + 4] {
            lengths[symbol] = bits.take(3)? as u8;
            bits.turn();
        }
        // The code of code lengths needs a place only until they are read.
        self.literals.set(&lengths[..ORDER.len()])?;
        bits.first();
        let mut made = 0;
        while made < all {
            let symbol = self.literals.take(bits)?;
            let (length, count) = match symbol {
                16 if made == 0 => return Err(Fault::Damaged(0)),
                16 => (lengths[made - 1], 3 + bits.take(2)?),
                17 => (0, 3 + bits.take(3)?),
                18 => (0, 11 + bits.take(7)?),
                length => (length as u8, 1),
            };
            let end = made + count as usize;
            lengths.get_mut(made..end).filter(|_| end <= all).ok_or(Fault::Damaged(0))?.fill(length);
            made = end;
            bits.turn();
        }
        let (literals, distances) = lengths[..all].split_at(literals);
        self.literals.set(literals)?;
        self.distances.set(distances)
    }
}

/// The least length of a symbol above `END`, and how many more bits it has; the last one is that of GDeflate.
pub fn length(symbol: usize) -> Result<(usize, u32), Fault> {
    match symbol - END - 1 {
        code @ 0..8 => Ok((3 + code, 0)),
        code @ 8..28 => {
            let more = code / 4 - 1;
            Ok((3 + ((4 + code % 4) << more), more as u32))
        }
        28 => Ok((3, 16)),
        _ => Err(Fault::Damaged(0)),
    }
}

/// The least distance of a symbol, and how many more bits it has.
pub fn distance(symbol: usize) -> (usize, u32) {
    match symbol {
        0..4 => (1 + symbol, 0),
        _ => {
            let more = symbol / 2 - 1;
            (1 + ((2 + symbol % 2) << more), more as u32)
        }
    }
}

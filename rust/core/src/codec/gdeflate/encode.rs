//! A page, encoded: libdeflate makes DEFLATE, whose bits are dealt out to the lanes.

use super::super::deflate::{self, Wrapper};
use super::super::{report, room};
use super::code::{distance, length, Bits, Block, Codes, Fault, END};
use super::{LANES, NAME, PAGE};
use crate::error::{self, Direction, Error};

/// What zlib has before the DEFLATE, and behind it.
const ZLIB_HEADER: usize = 2;
const ZLIB_TRAILER: usize = 4;
/// The length whose code has more bits here than in DEFLATE.
const LONG: usize = 258;

/// What a lane has written.
#[derive(Clone, Copy)]
struct Lane {
    bits: u64,
    count: u32,
    /// The bits that the decoder has of this lane.
    left: u32,
    /// Where the next word goes, and the one after it.
    places: [usize; 2],
}

/// DEFLATE, of which everything that is taken goes to the lane whose turn it is.
struct Dealer<'a> {
    src: &'a [u8],
    bits: u64,
    count: u32,
    dst: &'a mut Vec<u8>,
    lane: usize,
    lanes: [Lane; LANES],
}

impl<'a> Dealer<'a> {
    fn new(src: &'a [u8], dst: &'a mut Vec<u8>) -> Self {
        let mut lanes = [Lane { bits: 0, count: 0, left: 32, places: [0; 2] }; LANES];
        for lane in &mut lanes {
            lane.places[0] = dst.len();
            dst.extend_from_slice(&[0; 4]);
        }
        let mut dealer = Dealer { src, bits: 0, count: 0, dst, lane: 0, lanes };
        dealer.drop(0);
        dealer
    }

    /// Takes so many bits, which go to no lane. Behind the end there are zeros.
    fn drop(&mut self, count: u32) {
        self.bits >>= count;
        self.count -= count;
        while self.count < 32 {
            let (byte, rest) = self.src.split_first().unwrap_or((&0, &[]));
            self.bits |= u64::from(*byte) << self.count;
            self.count += 8;
            self.src = rest;
        }
    }

    /// Gives bits to this lane, at most 31.
    fn deal(&mut self, bits: u32, count: u32) {
        let lane = &mut self.lanes[self.lane];
        lane.bits |= u64::from(bits) << lane.count;
        lane.count += count;
        lane.left -= count;
        if lane.count >= 32 {
            self.dst[lane.places[0]..][..4].copy_from_slice(&(lane.bits as u32).to_le_bytes());
            lane.places[0] = lane.places[1];
            lane.bits >>= 32;
            lane.count -= 32;
        }
        if lane.left < 32 {
            lane.places[1] = self.dst.len();
            self.dst.extend_from_slice(&[0; 4]);
            lane.left += 32;
        }
    }

    /// Bytes that are stored: length and complement begin with a byte.
    fn stored(&mut self) -> Result<(), Fault> {
        self.drop(self.count % 8);
        let length = self.take(16)?;
        self.drop(16);
        for _ in 0..length {
            self.take(8)?;
            self.turn();
        }
        Ok(())
    }

    fn coded(&mut self, codes: &Codes) -> Result<(), Fault> {
        // The distance that each lane has to write at its next turn, and its bits.
        let mut waiting = [None; LANES];
        loop {
            while let Some((bits, count)) = waiting[self.lane].take() {
                self.deal(bits, count);
                self.turn();
            }
            let (symbol, taken) = codes.literals.find(self.peek())?;
            self.skip(taken)?;
            if symbol == END {
                break;
            }
            if symbol > END {
                match length(symbol)? {
                    (least, 16) => self.deal((LONG - least) as u32, 16),
                    (_, more) => self.skip(more)?,
                }
                let bits = self.peek();
                let (symbol, taken) = codes.distances.find(bits)?;
                let count = taken + distance(symbol).1;
                waiting[self.lane] = Some((bits & ((1 << count) - 1), count));
                self.drop(count);
            }
            self.turn();
        }
        for _ in 0..LANES {
            if let Some((bits, count)) = waiting[self.lane].take() {
                self.deal(bits, count);
            }
            self.turn();
        }
        Ok(())
    }

    fn blocks(mut self) -> Result<(), Fault> {
        let mut codes = Codes::new();
        loop {
            let (last, block) = codes.block(&mut self)?;
            match block {
                Block::Stored => self.stored()?,
                Block::Coded => self.coded(&codes)?,
            }
            if last {
                break;
            }
        }
        for lane in &self.lanes {
            self.dst[lane.places[0]..][..4].copy_from_slice(&(lane.bits as u32).to_le_bytes());
        }
        Ok(())
    }
}

impl Bits for Dealer<'_> {
    fn peek(&self) -> u32 {
        self.bits as u32
    }

    fn skip(&mut self, count: u32) -> Result<(), Fault> {
        self.deal(self.peek() & ((1 << count) - 1), count);
        self.drop(count);
        Ok(())
    }

    fn turn(&mut self) {
        self.lane = (self.lane + 1) % LANES;
    }

    fn first(&mut self) {
        self.lane = 0;
    }
}

/// Appends a page.
pub fn page(level: u8, src: &[u8], scratch: &mut Vec<u8>, dst: &mut Vec<u8>) -> error::Result<()> {
    scratch.clear();
    deflate::encode(Wrapper::Zlib, NAME, level, src, scratch)?;
    // The longest lengths have 16 more bits here, and each lane up to two words that are not full.
    let most = scratch.len() + 2 * (PAGE / LONG + 1) + 8 * LANES;
    room::reserve(NAME, Direction::Encode, dst, most)?;
    let deflated = &scratch[ZLIB_HEADER..scratch.len() - ZLIB_TRAILER];
    Dealer::new(deflated, dst).blocks().map_err(|_| {
        Error::encode(NAME, format!("the library made no DEFLATE of {} bytes", report::grouped(src.len())))
    })
}

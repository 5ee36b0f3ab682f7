//! A page, decoded.

use super::code::{distance, length, Bits, Block, Codes, Fault, END};
use super::LANES;

/// The words of a page, and what each lane has of them.
struct Lanes<'a> {
    words: &'a [u8],
    lane: usize,
    bits: [u64; LANES],
    counts: [u32; LANES],
}

impl<'a> Lanes<'a> {
    fn new(words: &'a [u8]) -> Result<Self, Fault> {
        let mut lanes = Lanes { words, lane: 0, bits: [0; LANES], counts: [0; LANES] };
        for _ in 0..LANES {
            lanes.skip(0)?;
            lanes.turn();
        }
        Ok(lanes)
    }
}

impl Bits for Lanes<'_> {
    #[inline(always)]
    fn peek(&self) -> u32 {
        self.bits[self.lane] as u32
    }

    #[inline(always)]
    fn skip(&mut self, count: u32) -> Result<(), Fault> {
        let (bits, left) = (&mut self.bits[self.lane], &mut self.counts[self.lane]);
        *bits >>= count;
        *left -= count;
        if *left < 32 {
            let (word, rest) = self.words.split_first_chunk().ok_or(Fault::Ended(0))?;
            *bits |= u64::from(u32::from_le_bytes(*word)) << *left;
            *left += 32;
            self.words = rest;
        }
        Ok(())
    }

    #[inline(always)]
    fn turn(&mut self) {
        self.lane = (self.lane + 1) % LANES;
    }

    fn first(&mut self) {
        self.lane = 0;
    }
}

/// Bytes that a lane copies at its next turn; none if `length` is 0.
#[derive(Clone, Copy)]
struct Copy {
    at: usize,
    length: usize,
}

/// Decodes a page into exactly `dst`.
pub fn page(src: &[u8], dst: &mut [u8]) -> Result<(), Fault> {
    let mut made = 0;
    blocks(src, dst, &mut made).map_err(|fault| match fault {
        Fault::Ended(_) => Fault::Ended(made),
        Fault::Damaged(_) => Fault::Damaged(made),
        other => other,
    })
}

fn blocks(src: &[u8], dst: &mut [u8], made: &mut usize) -> Result<(), Fault> {
    let mut lanes = Lanes::new(src)?;
    let mut codes = Codes::new();
    loop {
        let (last, block) = codes.block(&mut lanes)?;
        match block {
            Block::Stored => {
                for _ in 0..lanes.take(16)? {
                    *dst.get_mut(*made).ok_or(Fault::TooLong)? = lanes.take(8)? as u8;
                    *made += 1;
                    lanes.turn();
                }
            }
            Block::Coded => coded(&mut lanes, &codes, dst, made)?,
        }
        if last {
            break;
        }
    }
    match lanes.words.len() {
        0 if *made < dst.len() => Err(Fault::Ended(*made)),
        0 => Ok(()),
        more => Err(Fault::Trailing(more)),
    }
}

fn coded(lanes: &mut Lanes<'_>, codes: &Codes, dst: &mut [u8], made: &mut usize) -> Result<(), Fault> {
    let mut copies = [Copy { at: 0, length: 0 }; LANES];
    loop {
        let waiting = &mut copies[lanes.lane];
        if waiting.length > 0 {
            copy(lanes, codes, dst, waiting)?;
            lanes.turn();
            continue;
        }
        let bits = lanes.peek();
        let (symbol, taken) = codes.literals.find(bits)?;
        if symbol < END {
            lanes.skip(taken)?;
            *dst.get_mut(*made).ok_or(Fault::TooLong)? = symbol as u8;
            *made += 1;
        } else if symbol == END {
            lanes.skip(taken)?;
            break;
        } else {
            let (least, more) = length(symbol)?;
            let length = least + (bits >> taken & ((1 << more) - 1)) as usize;
            lanes.skip(taken + more)?;
            if length > dst.len() - *made {
                return Err(Fault::TooLong);
            }
            *waiting = Copy { at: *made, length };
            *made += length;
        }
        lanes.turn();
    }
    for _ in 0..LANES {
        let waiting = &mut copies[lanes.lane];
        if waiting.length > 0 {
            copy(lanes, codes, dst, waiting)?;
        }
        lanes.turn();
    }
    Ok(())
}

/// Copies the bytes for which this lane has left room, now that their distance is here.
fn copy(lanes: &mut Lanes<'_>, codes: &Codes, dst: &mut [u8], waiting: &mut Copy) -> Result<(), Fault> {
    let bits = lanes.peek();
    let (symbol, taken) = codes.distances.find(bits)?;
    let (least, more) = distance(symbol);
    let distance = least + (bits >> taken & ((1 << more) - 1)) as usize;
    lanes.skip(taken + more)?;
    let Copy { at, length } = std::mem::replace(waiting, Copy { at: 0, length: 0 });
    let from = at.checked_sub(distance).ok_or(Fault::Damaged(0))?;
    // What is copied may repeat: each time, there are twice as many bytes to copy from.
    let mut copied = 0;
    while copied < length {
        let count = (distance + copied).min(length - copied);
        dst.copy_within(from..from + count, at + copied);
        copied += count;
    }
    Ok(())
}

//! Bytes of the fuzzer as a row of choices. When they end, every choice left is the first one: an input can be short.

use std::ops::RangeInclusive;

/// What is left of the fuzzer's bytes.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number of the range, from as few bytes as it takes.
    pub fn range(&mut self, range: RangeInclusive<usize>) -> usize {
        let (low, high) = range.into_inner();
        let mut number = 0;
        let mut most = high - low;
        while most > 0 {
            number = number << 8 | usize::from(self.byte());
            most >>= 8;
        }
        match high - low {
            usize::MAX => number,
            span => low + number % (span + 1),
        }
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// True for one in `count` bytes, never for those that have ended.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.range(0..=count - 1) == count - 1
    }

    /// True for one in `count` of all that may follow, whatever that is: a change anywhere in it decides anew.
    pub fn one_of_hashed(&self, count: u64) -> bool {
        let hash = self
            .0
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        (hash >> 32) % count == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0..=from.len() - 1)]
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        bytes.to_vec()
    }

    pub fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for position in (1..rank).rev() {
            order.swap(position, self.range(0..=position));
        }
        order
    }

    /// A length that is often near something: a vector, a block, a page.
    pub fn length(&mut self, most: usize) -> usize {
        let near = self.pick(&[0, 16, 64, 128, 255, 256, 512, 1024, 4096]);
        let length = match self.range(0..=3) {
            0 => self.range(0..=40),
            1 => (near + self.range(0..=8)).saturating_sub(4),
            // Short ones more often: they cost less, and are seldom less than long ones.
            _ => {
                let number = self.range(0..=2000);
                most.min(2000) * number / 2000 * number / 2000
            }
        };
        length.min(most)
    }

    /// A value to be encoded: zeros, a ramp, something repeated, or the fuzzer's bytes with any of these behind.
    pub fn value(&mut self, length: usize) -> Vec<u8> {
        let kind = self.range(0..=3);
        let mut value = match kind {
            0 => vec![0; length],
            1 => {
                let slope = self.range(1..=64);
                let mut ramp = Vec::with_capacity(length);
                for step in 0..length.div_ceil(slope) {
                    ramp.resize((ramp.len() + slope).min(length), step as u8);
                }
                ramp
            }
            2 => {
                let count = self.range(1..=24);
                let unit = self.bytes(count);
                if unit.is_empty() {
                    vec![0x5a; length]
                } else {
                    repeated(unit, length)
                }
            }
            _ => {
                // Noise that needs no bytes of the input.
                let mut state = self.u64() | 1;
                let mut noise = Vec::with_capacity(length + 8);
                while noise.len() < length {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    noise.extend_from_slice(&state.to_le_bytes());
                }
                noise.truncate(length);
                noise
            }
        };
        let own = self.range(0..=64).min(length);
        let own = self.bytes(own);
        value[..own.len()].copy_from_slice(&own);
        value
    }
}

/// `unit` again and again, copied in pieces that double: byte by byte it would take longer than what is tested.
pub fn repeated(unit: Vec<u8>, length: usize) -> Vec<u8> {
    let mut value = unit;
    value.reserve(length);
    while !value.is_empty() && value.len() < length {
        value.extend_from_within(..value.len().min(length - value.len()));
    }
    value.truncate(length);
    value
}

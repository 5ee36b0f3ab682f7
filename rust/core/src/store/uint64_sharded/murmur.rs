//! MurmurHash3_x86_128 of one 64-bit number, and its first half: a hash function of shards of Neuroglancer.
//!
//! https://github.com/aappleby/smhasher/wiki/MurmurHash3

const MULTIPLIERS: [u32; 3] = [0x239b_961b, 0xab0e_9789, 0x38b3_4ae5];
const LENGTH: u32 = 8;

/// The lower 64 bits of the hash of the number's bytes, the lowest first.
pub fn hash(number: u64) -> u64 {
    let (low, high) = (number as u32, (number >> 32) as u32);
    let [c1, c2, c3] = MULTIPLIERS;
    let second = high.wrapping_mul(c2).rotate_left(16).wrapping_mul(c3);
    let first = low.wrapping_mul(c1).rotate_left(15).wrapping_mul(c2);
    let (mut h1, mut h2, mut h3, mut h4) = (first ^ LENGTH, second ^ LENGTH, LENGTH, LENGTH);
    h1 = h1.wrapping_add(h2).wrapping_add(h3).wrapping_add(h4);
    h2 = h2.wrapping_add(h1);
    h3 = h3.wrapping_add(h1);
    h4 = h4.wrapping_add(h1);
    (h1, h2, h3, h4) = (mixed(h1), mixed(h2), mixed(h3), mixed(h4));
    h1 = h1.wrapping_add(h2).wrapping_add(h3).wrapping_add(h4);
    h2 = h2.wrapping_add(h1);
    u64::from(h2) << 32 | u64::from(h1)
}

fn mixed(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

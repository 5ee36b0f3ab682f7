//! What every codec is asked, and the codecs one by one. Rows are those of the catalogue of faults.

mod blosc;
mod blosc_header;
mod compressed_segmentation;
mod crc32c;
mod deflate;
mod element;
mod filters;
mod foreign;
mod gdeflate;
mod lz4;
mod n5;
mod number;
mod shuffle;
mod vectors;
mod vlen;
mod zstd;

use super::BytesToBytes;
use crate::error::{Error, Kind};

/// xorshift64*: the same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Slowly rising 16-bit numbers with noise in the low bits: compressible, but not trivially.
pub fn ramp(size: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    (0..size as u64)
        .map(|i| if i % 2 == 0 { (i / 37) as u8 ^ (random.next() & 3) as u8 } else { (i / 9472) as u8 })
        .collect()
}

/// Incompressible bytes.
pub fn noise(size: usize) -> Vec<u8> {
    let mut random = Random::new(size as u64);
    (0..size).map(|_| random.next() as u8).collect()
}

pub fn encoded(codec: &dyn BytesToBytes, value: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    codec.encode(value, &mut encoded).unwrap();
    encoded
}

/// Decodes into `size` bytes that must not keep what was there before.
pub fn decoded(codec: &dyn BytesToBytes, src: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    let mut dst = vec![0xa5; size];
    codec.decode_exact(src, &mut dst)?;
    Ok(dst)
}

pub fn bounded(codec: &dyn BytesToBytes, src: &[u8], limit: usize) -> Result<Vec<u8>, Error> {
    let mut dst = vec![1, 2, 3];
    codec.decode_bounded(src, limit, &mut dst)?;
    Ok(dst)
}

/// Sizes around every threshold a codec has, compressible and not; all ways to decode agree with the value.
pub fn check_round_trips(codec: &dyn BytesToBytes) {
    for size in [0, 1, 2, 3, 7, 15, 16, 127, 128, 129, 255, 1000, 4096, 65_535, 65_536, 200_001, 1_200_003] {
        for value in [ramp(size), noise(size), vec![0; size]] {
            let mut src = b"before".to_vec();
            codec.encode(&value, &mut src).unwrap();
            let (before, src) = src.split_at(6);
            assert_eq!(before, b"before", "encode appends");
            assert!(src.len() <= codec.max_encoded_len(size), "{size}: {} encoded bytes", src.len());
            assert!(codec.fixed_encoded_len(size).is_none_or(|fixed| fixed == src.len()));
            assert_eq!(decoded(codec, src, size).unwrap(), value, "{size}");
            assert_eq!(bounded(codec, src, size).unwrap(), value, "{size}");
            assert_eq!(bounded(codec, src, size * 2 + 99).unwrap(), value, "{size}");
            if size > 0 {
                assert_eq!(bounded(codec, src, size - 1).unwrap_err().kind, Kind::Codec, "{size}");
                check_parts(codec, src, &value);
            }
        }
    }
}

fn check_parts(codec: &dyn BytesToBytes, src: &[u8], value: &[u8]) {
    let mut random = Random::new(value.len() as u64);
    for _ in 0..4 {
        let offset = random.below(value.len());
        let mut part = vec![0x5a; random.below(value.len() - offset + 1)];
        if codec.decode_part(src, value.len(), offset, &mut part).unwrap() {
            assert_eq!(part, &value[offset..offset + part.len()], "{offset} of {}", value.len());
        }
    }
    let mut part = [0; 2];
    if !matches!(codec.decode_part(src, value.len(), value.len() - 1, &mut part), Ok(false)) {
        for offset in [value.len() - 1, usize::MAX] {
            assert_eq!(codec.decode_part(src, value.len(), offset, &mut part).unwrap_err().kind, Kind::Request);
        }
        assert_eq!(codec.decode_part(src, value.len() + 1, 0, &mut part[..1]).unwrap_err().kind, Kind::Codec);
    }
}

/// The error is about this codec decoding, and says something.
pub fn assert_placed(codec: &dyn BytesToBytes, error: &Error) {
    assert_eq!(error.codec, Some(codec.name()));
    assert_eq!(error.direction, Some(crate::error::Direction::Decode));
    assert!(!error.reason.is_empty());
}

/// Rows 1, 2, 3, 5, 8, 11: cut anywhere, empty, followed by something, of another size: an error with this codec's name.
pub fn check_refusals(codec: &dyn BytesToBytes, value: &[u8]) {
    let src = encoded(codec, value);
    for length in 0..src.len() {
        // In an allocation of its own, so that a sanitizer sees a read behind it.
        let cut = src[..length].to_vec().into_boxed_slice();
        let error = decoded(codec, &cut, value.len()).expect_err("a cut value");
        assert_placed(codec, &error);
        assert!(error.reason.contains(" of ") || error.kind == Kind::Checksum, "{length}: both sizes: {error}");
        assert_placed(codec, &bounded(codec, &cut, 1 << 20).expect_err("a cut value"));
        let mut part = [0; 1];
        assert!(!matches!(codec.decode_part(&cut, value.len(), 0, &mut part), Ok(true)), "{length}");
    }
    for extra in [&b"\0"[..], b"\x1f", b"\0\0\0\0", b"more bytes than that"] {
        let longer = [&src[..], extra].concat();
        if codec.name() == "blosc" && extra.iter().all(|&byte| byte == 0) {
            assert_eq!(decoded(codec, &longer, value.len()).unwrap(), value, "z5py wrote zeros there");
            continue;
        }
        assert_placed(codec, &decoded(codec, &longer, value.len()).expect_err("trailing bytes"));
        assert_placed(codec, &bounded(codec, &longer, 1 << 20).expect_err("trailing bytes"));
    }
    for size in [0, 1, value.len() - 1, value.len() + 1, value.len() * 2] {
        let error = decoded(codec, &src, size).expect_err("another size");
        assert_placed(codec, &error);
        assert!(error.reason.contains(&super::report::grouped(size)), "{error}");
    }
}

/// Rows 7 and 10: damaged bytes never crash, and what decodes has the right size. Returns how many were refused.
pub fn check_mutations(codec: &dyn BytesToBytes, src: &[u8], size: usize, count: usize) -> usize {
    let mut random = Random::new(src.len() as u64);
    let mut dst = vec![0; size];
    let mut refused = 0;
    for _ in 0..count {
        let mut damaged = src.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(damaged.len());
            damaged[at] = random.next() as u8;
        }
        if random.below(4) == 0 {
            damaged.truncate(random.below(damaged.len()));
        }
        let damaged = damaged.into_boxed_slice();
        if let Err(error) = codec.decode_exact(&damaged, &mut dst) {
            assert_placed(codec, &error);
            refused += 1;
        }
        if let Ok(made) = bounded(codec, &damaged, size) {
            assert!(made.len() <= size);
        }
        let offset = random.below(size);
        let length = random.below(size - offset + 1);
        let _ = codec.decode_part(&damaged, size, offset, &mut dst[..length]);
    }
    refused
}

/// Row 10: bytes of something else.
pub fn check_foreign_bytes(codec: &dyn BytesToBytes) {
    for src in [&b"<!DOCTYPE html><html><head><title>404 Not Found</title></head></html>"[..], &[0; 64], &[0xff; 64]] {
        assert_placed(codec, &decoded(codec, src, 4096).unwrap_err());
    }
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

#[test]
fn sizes_in_messages_are_grouped() {
    for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (4096, "4,096"), (1_234_567, "1,234,567")] {
        assert_eq!(super::report::grouped(n as u64), text);
    }
}

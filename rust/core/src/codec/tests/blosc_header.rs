//! Row 22: blosc containers whose header or offsets lie. None may crash, read outside the buffer, or show memory.

use super::blosc::{blosc, COMPRESSORS};
use super::*;

const SIZE: usize = 1700;

fn containers() -> Vec<(crate::codec::blosc::Blosc, Vec<u8>)> {
    let mut all = Vec::new();
    for cname in COMPRESSORS {
        for (clevel, shuffle, typesize, blocksize) in [(5, 1, 2, 0), (5, 2, 4, 512), (5, 0, 8, 300), (0, 1, 2, 0)] {
            let codec = blosc(cname, clevel, shuffle, typesize, blocksize);
            all.push((codec, encoded(&codec, &ramp(SIZE))));
        }
    }
    all
}

/// Decodes in every way, twice over different garbage: what decodes must not depend on what was in memory before.
fn decode_all_ways(codec: &dyn BytesToBytes, src: &[u8]) {
    let once = |garbage| {
        let mut dst = vec![garbage; SIZE];
        codec.decode_exact(src, &mut dst).map(|()| dst)
    };
    match (once(0x11), once(0xee)) {
        (Ok(one), Ok(two)) => assert_eq!(one, two, "uninitialised bytes"),
        (Err(error), Err(_)) => assert_placed(codec, &error),
        _ => panic!("decoding depends on memory"),
    }
    if let Ok(made) = bounded(codec, src, SIZE) {
        assert!(made.len() <= SIZE);
    }
    let _ = codec.decode_part(src, SIZE, 700, &mut [0; 300]);
}

#[test]
fn every_value_of_every_header_byte() {
    for (codec, src) in containers() {
        for at in 0..16.min(src.len()) {
            for byte in 0..=255 {
                let mut lie = src.clone();
                lie[at] = byte;
                decode_all_ways(&codec, &lie);
                // Eighteen bytes in all, whatever the header says.
                decode_all_ways(&codec, &lie[..18].to_vec().into_boxed_slice());
            }
        }
    }
}

#[test]
fn sizes_at_their_extremes() {
    let extremes = [
        0,
        1,
        2,
        15,
        16,
        17,
        127,
        128,
        255,
        256,
        1699,
        1700,
        1701,
        1716,
        1 << 20,
        i32::MAX - 16,
        i32::MAX,
        -1,
        i32::MIN,
    ];
    for (codec, src) in containers() {
        for (first, second) in [(4, 8), (4, 12), (8, 12)] {
            for (a, b) in extremes.iter().flat_map(|a| extremes.iter().map(move |b| (a, b))) {
                let mut lie = src.clone();
                lie[first..first + 4].copy_from_slice(&a.to_le_bytes());
                lie[second..second + 4].copy_from_slice(&b.to_le_bytes());
                decode_all_ways(&codec, &lie);
            }
        }
    }
}

#[test]
fn starts_and_lengths_that_lead_astray() {
    for (codec, src) in containers().into_iter().filter(|(_, src)| src[2] & 2 == 0) {
        let first = u32::from_le_bytes(src[16..20].try_into().unwrap()) as usize;
        for at in [16, 20, first] {
            for value in
                [0, 1, 15, 16, 19, 20, src.len() as i32 - 1, src.len() as i32, i32::MAX, i32::MAX - 3, -1, -4, i32::MIN]
            {
                let mut lie = src.clone();
                lie[at..at + 4].copy_from_slice(&value.to_le_bytes());
                decode_all_ways(&codec, &lie);
            }
        }
    }
}

#[test]
fn random_headers() {
    let containers = containers();
    let mut random = Random::new(22);
    for i in 0..40_000 {
        let (codec, src) = &containers[i % containers.len()];
        let mut lie = src.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(24.min(lie.len()));
            lie[at] = random.next() as u8;
        }
        // A true length gets the lie past the first check.
        if random.below(2) == 0 {
            let length = (lie.len() as u32).to_le_bytes();
            lie[12..16].copy_from_slice(&length);
        }
        decode_all_ways(codec, &lie);
    }
}

/// What c-blosc leaves unwritten: the last byte of split blocks whose typesize does not divide them.
#[test]
fn a_typesize_that_does_not_divide_split_blocks_is_refused() {
    let codec = blosc("lz4", 5, 1, 2, 0);
    let mut src = encoded(&codec, &ramp(SIZE));
    src[3] = 3;
    let error = decoded(&codec, &src, SIZE).unwrap_err();
    assert_eq!(error.reason, "header: expected split blocks of a multiple of 3 bytes, found 1,700 bytes");
}

#[test]
fn messages_name_what_was_expected_and_found() {
    let codec = blosc("lz4", 5, 1, 2, 0);
    let src = encoded(&codec, &ramp(SIZE));
    for (at, bytes, text) in [
        (0, &[3][..], "header: expected container version 2, found 3 (blosc2 data)"),
        (0, &[9], "header: expected container version 2, found 9"),
        (1, &[2], "header: expected version 1 of the compressor's format, found 2"),
        (2, &[0xe1], "header: expected a compressor's number from 0 to 4, found 7"),
        (2, &[0x29], "header: expected flag 8 unset, found flags 0x29"),
        (3, &[0], "header: expected a typesize of 1 or more, found 0"),
        (4, &[0xa5, 6, 0, 0], "expected 1,700 bytes, found 1,701"),
        (8, &[0, 0, 0, 0], "header: expected blocks of 1 byte to the whole value, found 0 bytes"),
        (8, &[0xff, 0xff, 0xff, 0xff], "header: expected blocks of 1 byte to the whole value, found -1 bytes"),
        (16, &[0xff, 0xff, 0xff, 0x7f], "block 0 of 1 does not start inside the data"),
        (20, &[0xff, 0xff, 0xff, 0x7f], "block 0 of 1 runs past the end of the data"),
    ] {
        let mut lie = src.clone();
        lie[at..at + bytes.len()].copy_from_slice(bytes);
        assert_eq!(decoded(&codec, &lie, SIZE).unwrap_err().to_string(), format!("blosc: {text}"));
    }
}

/// A header alone must not make memory: the limit is checked first, and a claim within it is all that is taken.
#[test]
fn claims_beyond_the_limit_allocate_nothing() {
    let codec = blosc("zstd", 5, 1, 2, 0);
    let mut src = encoded(&codec, &ramp(SIZE));
    src[4..8].copy_from_slice(&(i32::MAX - 16).to_le_bytes());
    src[8..12].copy_from_slice(&(1_i32 << 29).to_le_bytes());
    let mut dst = Vec::new();
    assert_eq!(codec.decode_bounded(&src, 1 << 20, &mut dst).unwrap_err().kind, Kind::Codec);
    assert_eq!(dst.capacity(), 0);
}

/// Row 10.
#[test]
fn other_bytes_are_refused() {
    check_foreign_bytes(&blosc("lz4", 5, 1, 2, 0));
}

//! `crc32c`, and the checksums of numcodecs.

use super::super::checksum::Checksum;
use super::*;

const CODEC: Checksum = Checksum::CRC32C;

#[test]
fn every_size_round_trips() {
    check_round_trips(&CODEC);
    assert_eq!(CODEC.fixed_encoded_len(10), Some(14));
    assert_eq!(CODEC.fixed_encoded_len(usize::MAX), None);
}

/// RFC 3720, B.4: 32 zero bytes sum to 8a9136aa, 32 of ff to 62a8ab43; stored little endian.
#[test]
fn known_sums() {
    assert_eq!(encoded(&CODEC, &[0; 32])[32..], [0xaa, 0x36, 0x91, 0x8a]);
    assert_eq!(encoded(&CODEC, &[0xff; 32])[32..], [0x43, 0xab, 0xa8, 0x62]);
    assert_eq!(encoded(&CODEC, b"123456789")[9..], 0xe306_9283_u32.to_le_bytes());
}

/// Row 13: the error names both sums; rows 6 and 14: every bit counts, for a part too.
#[test]
fn flipped_bits_are_found() {
    let value = ramp(100);
    let src = encoded(&CODEC, &value);
    for bit in 0..src.len() * 8 {
        let mut flipped = src.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        for error in [
            decoded(&CODEC, &flipped, 100).unwrap_err(),
            bounded(&CODEC, &flipped, 100).unwrap_err(),
            CODEC.decode_part(&flipped, 100, 50, &mut [0]).unwrap_err(),
            CODEC.verify(&flipped).unwrap_err(),
        ] {
            assert_eq!(error.kind, Kind::Checksum);
            assert_placed(&CODEC, &error);
        }
    }
    let mut flipped = encoded(&CODEC, &[0; 32]);
    flipped[32] = 0xab;
    let error = decoded(&CODEC, &flipped, 32).unwrap_err();
    assert_eq!(error.to_string(), "crc32c: checksum stored is 8a9136ab, that of the data is 8a9136aa");
}

/// Fletcher's sums are those of numcodecs 0.17; of more than a block, of one byte, of words that add up to 2^16 - 1.
#[test]
fn checksums_of_numcodecs() {
    let long = (0..5001).map(|index: usize| (index * 7 % 251) as u8).collect();
    for (name, value, sum) in [
        ("fletcher32", b"abcde".to_vec(), 0x4ff0_29c7_u32),
        ("fletcher32", b"a".to_vec(), 0x6100_6100),
        ("fletcher32", vec![0xff; 6], 0xffff_ffff),
        ("fletcher32", vec![0xff; 100_000], 0xffff_ffff),
        ("fletcher32", vec![0; 5], 0),
        ("fletcher32", vec![], 0),
        ("fletcher32", long, 0xadf3_004c),
        ("crc32", b"123456789".to_vec(), 0xcbf4_3926),
        ("adler32", b"123456789".to_vec(), 0x091e_01de),
    ] {
        let codec = Checksum::new(name, false).unwrap();
        assert_eq!(encoded(&codec, &value)[value.len()..], sum.to_le_bytes(), "{name}");
        let first = Checksum::new(name, true).unwrap();
        assert_eq!(encoded(&first, &value), [&sum.to_le_bytes(), &value[..]].concat(), "{name}");
        check_round_trips(&first);
    }
}

#[test]
fn verifying_in_place_returns_the_data() {
    let src = encoded(&CODEC, b"value");
    let data = CODEC.verify(&src).unwrap();
    assert_eq!(data, b"value");
    assert_eq!(data.as_ptr(), src.as_ptr());
}

/// Row 16: 0 to 3 bytes; row 11: any other size.
#[test]
fn short_and_resized_values_are_refused() {
    for length in 0..4 {
        let error = CODEC.verify(&vec![0; length]).unwrap_err();
        assert_eq!(error.to_string(), format!("crc32c: data ended after {length} of 4 encoded bytes"));
        assert_eq!(bounded(&CODEC, &vec![0; length], 9).unwrap_err().kind, Kind::Codec);
    }
    check_refusals(&CODEC, &ramp(300));
    let error = decoded(&CODEC, &encoded(&CODEC, b"1234"), 3).unwrap_err();
    assert_eq!(error.to_string(), "crc32c: expected 3 bytes, found 4");
}

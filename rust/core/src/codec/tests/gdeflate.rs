//! `zarrs.gdeflate`. The values encoded by others are those of NVIDIA's encoder in the crate gdeflate-sys 0.4.1, with the
//! header that zarrs writes.

use super::super::gdeflate::Gdeflate;
use super::*;

const STORED: &str = "5a0000000000000001000000000000000401000000000000d102006026323e008a5622002cb844000c58a4002a36420086521e0020ac3800539feb0069758100bd8955004fdb67001f6bb7002d39450079451100038f1b002672be002c384400703c0800f27e0a00b2fe4a00b0bcc800ecb8840066f27e0079c511006f7b8700a36f000015a10000c5110000b3bf0000dfab000049d50000c20400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
const FIXED: &str = "b0040000000000000100000000000000d4000000000000006300000003040000ec000000030401007c00000003040100a2000000030401003200000003040100ca000000030401005a0000000304010086000000030401001600000003040100f600000003040100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
const DYNAMIC: &str = "bc0200000000000001000000000000004401000000000000b5d06ded6b2c32e38cc606a8b35b9701c8103ab6b26711f2b05a5722cbd71b56c8c62062f3031b4cf897e234bbc29b0e68d154051e3c4b00203845006e7cef7cc03d0c00c687fb0d781a1f00f78f73c0274c8606c064bba12debf3000437ba540ba6b44515ab7a02130fd04b10122f6acb2c690f2d8dbc54b4b19f0222e8b2a812522f00520100008b5a01006f000000f14b05000700000000000000070000000000000004000000030000008a000000000000000000000000000000000000000000000015000000000000003f2a000000000000020000000000000000000000ad000000000000000500000005000000000000000000000000000000150000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
const PAGES: &str = "701101000000000002000000000000009000000000000000900000000000000063060000cc000000a3fbff0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000063060000cc000000a36b1100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";

fn gdeflate(level: i64) -> Gdeflate {
    Gdeflate::new(level).unwrap()
}

#[test]
fn every_size_round_trips_at_every_level() {
    for level in [0, 1, 6, 12] {
        check_round_trips(&gdeflate(level));
    }
    for level in 0..=12 {
        assert_eq!(decoded(&gdeflate(level), &encoded(&gdeflate(level), &ramp(5000)), 5000).unwrap(), ramp(5000));
    }
    for level in [-1, 13] {
        let error = Gdeflate::new(level).unwrap_err();
        assert_eq!(error.to_string(), format!("zarrs.gdeflate: level: expected an integer in [0, 12], found {level}"));
    }
}

/// Rows 1, 2, 3, 5, 7, 8, 10, 11.
#[test]
fn damaged_values_are_refused() {
    check_refusals(&gdeflate(6), &ramp(3000));
    check_refusals(&gdeflate(1), &noise(300));
    check_refusals(&gdeflate(9), &vec![3; 70_000]);
    check_foreign_bytes(&gdeflate(1));
    for value in [ramp(3000), noise(300), vec![3; 70_000]] {
        check_mutations(&gdeflate(1), &encoded(&gdeflate(1), &value), value.len(), 3000);
    }
}

#[test]
fn messages() {
    let src = encoded(&gdeflate(1), &ramp(70_000));
    let refused = |src: &[u8], size: usize| decoded(&gdeflate(1), src, size).unwrap_err().to_string();
    assert_eq!(refused(&src[..9], 70_000), "zarrs.gdeflate: data ended after 9 of 16 encoded bytes");
    assert_eq!(refused(&src, 70_001), "zarrs.gdeflate: expected 70,001 bytes, found 70,000");
    let mut pages = src.clone();
    pages[8] = 3;
    assert_eq!(refused(&pages, 70_000), "zarrs.gdeflate: expected 2 pages, found 3");
    // The second page is said to end a word earlier, and a word follows it.
    let mut short = src.clone();
    let length = u64::from_le_bytes(*src[24..].first_chunk().unwrap());
    short[24..32].copy_from_slice(&(length - 4).to_le_bytes());
    assert!(refused(&short, 70_000).contains(" of 70,000 bytes"), "{}", refused(&short, 70_000));
    let error = bounded(&gdeflate(1), &[0xff; 100], usize::MAX).unwrap_err();
    assert_eq!(error.kind, Kind::Codec, "{error}");
}

/// Blocks of each kind, distances beyond a few bytes, the longest lengths, and two pages.
#[test]
fn values_of_another_encoder() {
    let noise: Vec<u8> = (0..90u32).map(|i| (i * i * 31 + i * 7 + (i >> 3) * 91) as u8).collect();
    let fixed: Vec<u8> = (0..600u16).flat_map(|i| (7 * (i / 60)).to_le_bytes()).collect();
    let dynamic: Vec<u8> = (0..700u64)
        .map(|i| (((i % 150).pow(2) >> 3 ^ (i % 150 * 2_654_435_761) >> 13) & 15) as u8 | u8::from(i % 97 == 0) << 5)
        .collect();
    for (hex, value) in [(STORED, noise), (FIXED, fixed), (DYNAMIC, dynamic), (PAGES, vec![3; 70_000])] {
        let src = unhex(hex);
        assert_eq!(decoded(&gdeflate(1), &src, value.len()).unwrap(), value);
        let mut part = [0; 20];
        let offset = value.len() - 45;
        assert!(gdeflate(1).decode_part(&src, value.len(), offset, &mut part).unwrap());
        assert_eq!(part, value[offset..][..20]);
    }
}

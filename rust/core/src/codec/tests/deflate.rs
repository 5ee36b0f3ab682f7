//! `gzip` and `zlib`.

use super::super::gzip::Gzip;
use super::super::zlib::Zlib;
use super::*;

fn gzip(level: i64) -> Gzip {
    Gzip::new(level).unwrap()
}

#[test]
fn every_size_round_trips_at_every_level() {
    for level in [0, 1, 5, 9] {
        check_round_trips(&gzip(level));
        check_round_trips(&Zlib::new(level).unwrap());
    }
    for level in 0..=9 {
        assert_eq!(decoded(&gzip(level), &encoded(&gzip(level), &ramp(5000)), 5000).unwrap(), ramp(5000));
    }
}

/// K-40: a level outside 0 to 9 is refused and named.
#[test]
fn levels_are_checked() {
    for level in [-1, 10, i64::MAX, i64::MIN] {
        let error = Gzip::new(level).unwrap_err();
        assert_eq!(error.to_string(), format!("gzip: level: expected an integer in [0, 9], found {level}"));
        assert_eq!(Zlib::new(level).unwrap_err().codec, Some("zlib"));
    }
}

/// Rows 1, 5, 8, 11.
#[test]
fn cut_extended_or_resized_values_are_refused() {
    check_refusals(&gzip(6), &ramp(3000));
    check_refusals(&gzip(1), &noise(300));
    check_refusals(&Zlib::new(6).unwrap(), &ramp(3000));
}

#[test]
fn a_cut_value_says_how_far_it_came() {
    let src = encoded(&gzip(5), &noise(4096));
    let error = decoded(&gzip(5), &src[..152], 4096).unwrap_err();
    assert_eq!(error.to_string(), "gzip: data ended after 137 of 4,096 bytes");
}

/// Row 6: CRC-32 and Adler-32 let no flipped bit change the value. The few bits that mean nothing are in gzip's header
/// (text flag, time, effort, system) and behind the last block, up to a whole byte.
#[test]
fn flipped_bits_are_found() {
    let value = ramp(700);
    for (codec, free) in [(&gzip(6) as &dyn BytesToBytes, 1 + 48 + 7), (&Zlib::new(6).unwrap(), 7)] {
        let src = encoded(codec, &value);
        let mut harmless = 0;
        for bit in 0..src.len() * 8 {
            let mut flipped = src.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match decoded(codec, &flipped, value.len()) {
                Err(error) => assert_placed(codec, &error),
                Ok(same) => {
                    assert_eq!(same, value, "bit {bit}");
                    harmless += 1;
                }
            }
        }
        assert!(harmless <= free, "{harmless}");
    }
}

#[test]
fn a_wrong_sum_is_a_checksum_error_with_both_sums() {
    let value = ramp(700);
    let mut src = encoded(&gzip(6), &value);
    let at = src.len() - 8;
    let sum = u32::from_le_bytes(src[at..at + 4].try_into().unwrap());
    src[at] ^= 1;
    let error = decoded(&gzip(6), &src, 700).unwrap_err();
    assert_eq!(error.kind, Kind::Checksum);
    assert_eq!(error.reason, format!("checksum stored is {:08x}, that of the data is {sum:08x}", sum ^ 1));
}

/// Row 9: several members are one value, empty ones among them.
#[test]
fn members_are_concatenated() {
    let value = ramp(5000);
    let mut src = Vec::new();
    for part in [&value[..1], b"", &value[1..3000], &value[3000..], b""] {
        gzip(6).encode(part, &mut src).unwrap();
    }
    assert_eq!(decoded(&gzip(0), &src, 5000).unwrap(), value);
    assert_eq!(bounded(&gzip(0), &src, 5000).unwrap(), value);
    let two = [encoded(&Zlib::new(6).unwrap(), b"a"), encoded(&Zlib::new(6).unwrap(), b"b")].concat();
    assert_eq!(
        decoded(&Zlib::new(6).unwrap(), &two, 2).unwrap_err().reason,
        "12 bytes follow the end of the encoded data"
    );
}

/// Rows 18 and 19: 4 GiB of zeros in 4 MB, made of members, and gzip of it: stopped after the limit.
#[test]
fn bombs_cost_an_error_not_memory() {
    let member = encoded(&gzip(9), &vec![0; 16 << 20]);
    let bomb = member.repeat(256);
    assert!(bomb.len() < 5 << 20);
    for codec in [&gzip(6), &gzip(1)] {
        let error = decoded(codec, &bomb, 16 << 10).unwrap_err();
        assert_eq!(error.to_string(), "gzip: expected 16,384 bytes, found more");
        let mut dst = Vec::new();
        let error = codec.decode_bounded(&bomb, 16 << 10, &mut dst).unwrap_err();
        assert_eq!(error.to_string(), "gzip: data decodes to more than the 16,384 bytes allowed here");
        assert_eq!(error.kind, Kind::Codec);
        assert!(dst.capacity() <= 64 << 10);
    }
    let nested = encoded(&gzip(9), &encoded(&gzip(9), &bomb));
    let outer = bounded(&gzip(9), &nested, 1 << 20).unwrap();
    assert_eq!(bounded(&gzip(9), &outer, 1 << 20).unwrap_err().kind, Kind::Codec);
}

/// The length in the trailer is only compared: a lie in it neither allocates nor passes.
#[test]
fn a_lying_length_is_an_error() {
    let mut src = encoded(&gzip(6), &ramp(1000));
    let at = src.len() - 4;
    src[at..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(decoded(&gzip(6), &src, 1000).unwrap_err().reason, "data is damaged after about 1,000 of 1,000 bytes");
    let mut dst = Vec::new();
    assert!(gzip(6).decode_bounded(&src, usize::MAX, &mut dst).is_err());
    assert!(dst.capacity() < 1 << 20);
}

/// Row 10.
#[test]
fn other_bytes_are_refused() {
    check_foreign_bytes(&gzip(6));
    check_foreign_bytes(&Zlib::new(6).unwrap());
    let error = decoded(&gzip(6), b"garbage", 10).unwrap_err();
    assert_eq!(error.to_string(), "gzip: expected a gzip header (1f 8b 08), found bytes that begin with 67 61 72 62");
}

/// Headers with every optional field, cut at every byte, and lengths in them that lead nowhere.
#[test]
fn optional_header_fields_are_followed() {
    let plain = encoded(&gzip(6), &ramp(1000));
    let mut src = plain[..10].to_vec();
    src[3] = 4 | 8 | 16;
    src.extend_from_slice(&[3, 0, 9, 9, 9]);
    src.extend_from_slice(b"name\0comment\0");
    src.extend_from_slice(&plain[10..]);
    assert_eq!(decoded(&gzip(6), &src, 1000).unwrap(), ramp(1000));
    for length in 0..src.len() {
        assert!(decoded(&gzip(6), &src[..length], 1000).unwrap_err().reason.contains(" of 1,000 bytes"));
    }
    src[10..12].copy_from_slice(&[0xff, 0xff]);
    assert!(decoded(&gzip(6), &src, 1000).is_err());
}

#[test]
fn random_damage_is_survived() {
    let value = ramp(2000);
    let refused = check_mutations(&gzip(6), &encoded(&gzip(6), &value), value.len(), 4000);
    assert!(refused > 3000, "{refused}");
    check_mutations(&Zlib::new(6).unwrap(), &encoded(&Zlib::new(6).unwrap(), &value), value.len(), 4000);
}

/// Data that repeat, and data that only begin so, at every level: `zlib-rs` and libdeflate read what the other wrote.
#[test]
fn repetitive_data_round_trip() {
    let mut labels: Vec<u8> = (0..300_000u32).flat_map(|at| (at / 700 * 7919 % 1000).to_le_bytes()).collect();
    for level in 1..=9 {
        assert_eq!(decoded(&gzip(level), &encoded(&gzip(level), &labels), labels.len()).unwrap(), labels);
        let zlib = Zlib::new(level).unwrap();
        assert_eq!(decoded(&zlib, &encoded(&zlib, &labels), labels.len()).unwrap(), labels);
        assert!(encoded(&gzip(level), &labels).len() < labels.len() / 50, "level {level}");
    }
    labels.extend(noise(2 << 20));
    for level in 1..=5 {
        assert_eq!(decoded(&gzip(level), &encoded(&gzip(level), &labels), labels.len()).unwrap(), labels);
    }
    for size in [8 << 10, (8 << 10) + 1, 100_003] {
        assert_eq!(decoded(&gzip(3), &encoded(&gzip(3), &vec![7; size]), size).unwrap(), vec![7; size]);
    }
}

/// What looks repetitive where it is looked at, but is not.
#[test]
fn data_that_deceive_round_trip() {
    let mut src = vec![0; 1 << 20];
    let (piece, apart) = (4 << 10, ((1 << 20) - (4 << 10)) / 3);
    src.copy_from_slice(&noise(1 << 20));
    for at in [0, apart, 2 * apart, 3 * apart] {
        src[at..at + piece].fill(0);
    }
    for level in 1..=5 {
        assert_eq!(decoded(&gzip(level), &encoded(&gzip(level), &src), src.len()).unwrap(), src);
    }
}

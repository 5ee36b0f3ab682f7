//! `zstd`.

use super::super::zstd::Zstd;
use super::*;

fn zstd(level: i64, checksum: bool) -> Zstd {
    Zstd::new(level, checksum).unwrap()
}

/// Any 4 bytes of this range begin a frame that decoders skip.
fn skippable(data: &[u8]) -> Vec<u8> {
    [&0x184d_2a53_u32.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), data].concat()
}

#[test]
fn every_size_round_trips() {
    for (level, checksum) in [(0, false), (3, true), (-7, false), (-131_072, true), (13, false)] {
        check_round_trips(&zstd(level, checksum));
    }
}

#[test]
fn every_level_round_trips() {
    let value = ramp(20_000);
    for level in -3..=22 {
        for checksum in [false, true] {
            let src = encoded(&zstd(level, checksum), &value);
            assert_eq!(decoded(&zstd(0, false), &src, value.len()).unwrap(), value, "{level}");
        }
    }
}

/// One thread's encoder serves codecs with different options in turn: none inherits another's.
#[test]
fn options_do_not_leak_between_codecs_of_a_thread() {
    let value = ramp(20_000);
    let once: Vec<_> = [(1, false), (19, true), (1, true)].map(|(l, c)| (l, c, encoded(&zstd(l, c), &value))).into();
    assert_eq!(once[2].2.len(), once[0].2.len() + 4);
    for (level, checksum, src) in once.iter().chain(once.iter().rev()) {
        assert_eq!(&encoded(&zstd(*level, *checksum), &value), src);
    }
}

/// K-42: −131072 to 22.
#[test]
fn levels_are_checked() {
    for level in [-131_073, 23, i64::MAX, i64::MIN] {
        let error = Zstd::new(level, false).unwrap_err();
        assert_eq!(error.to_string(), format!("zstd: level: expected an integer in [-131072, 22], found {level}"));
    }
}

/// Rows 2, 5, 8, 11.
#[test]
fn cut_extended_or_resized_values_are_refused() {
    check_refusals(&zstd(3, false), &ramp(3000));
    check_refusals(&zstd(3, true), &ramp(3000));
    check_refusals(&zstd(1, false), &noise(300));
}

#[test]
fn a_cut_value_says_how_far_it_came() {
    let src = encoded(&zstd(3, false), &noise(300_000));
    let error = decoded(&zstd(3, false), &src[..140_000], 300_000).unwrap_err();
    assert_eq!(error.to_string(), "zstd: data ended after 139,985 of 300,000 bytes");
    let error = decoded(&zstd(3, false), b"", 4096).unwrap_err();
    assert_eq!(error.to_string(), "zstd: data ended after 0 of 4,096 bytes");
}

/// Row 6, with the checksum on.
#[test]
fn flipped_bits_are_found() {
    let value = ramp(700);
    let codec = zstd(3, true);
    let src = encoded(&codec, &value);
    let mut harmless = 0;
    for bit in 0..src.len() * 8 {
        let mut flipped = src.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let error = match decoded(&codec, &flipped, value.len()) {
            // The flag that announces the checksum, an unused one, and few bits of the compression proper decide nothing.
            Ok(same) => {
                assert_eq!(same, value, "bit {bit}");
                harmless += 1;
                continue;
            }
            Err(error) => error,
        };
        assert_placed(&codec, &error);
        if bit / 8 >= src.len() - 4 {
            assert_eq!(error.kind, Kind::Checksum);
            assert_eq!(error.reason, "the checksum does not match the data");
        }
    }
    assert!(harmless * 50 < src.len() * 8, "{harmless}");
}

/// Row 9: several frames are one value, empty and skippable ones among them.
#[test]
fn frames_are_concatenated() {
    let value = ramp(5000);
    let codec = zstd(3, true);
    let mut src = skippable(b"seek table or what not");
    for part in [&value[..1], b"", &value[1..3000], &value[3000..], b""] {
        codec.encode(part, &mut src).unwrap();
    }
    src.extend(skippable(b""));
    assert_eq!(decoded(&codec, &src, 5000).unwrap(), value);
    assert_eq!(bounded(&codec, &src, 5000).unwrap(), value);
    let garbage = [&src[..], b"xyz"].concat();
    assert_eq!(decoded(&codec, &garbage, 5000).unwrap_err().reason, "3 bytes follow the end of the encoded data");
}

/// Row 21: a header that claims 2^60, 2^63 or 2^64-1 bytes, or a window of 2^31 and more, is an error, not memory.
#[test]
fn claimed_sizes_allocate_nothing() {
    for claim in [1u64 << 60, 1 << 63, u64::MAX] {
        // Single segment, eight bytes of content size, one empty raw block.
        let src = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &claim.to_le_bytes(), &[1, 0, 0]].concat();
        assert_placed(&zstd(3, false), &decoded(&zstd(3, false), &src, 1000).unwrap_err());
        let mut dst = Vec::new();
        let made = zstd(3, false).decode_bounded(&src, 1 << 20, &mut dst);
        assert!(dst.capacity() <= 1 << 20);
        // 2^64-1 is libzstd's own word for "unknown", so the frame is an honest empty one.
        assert_eq!(made.map_err(|error| error.kind), if claim == u64::MAX { Ok(()) } else { Err(Kind::Codec) });
    }
    for window in 0..=255 {
        // A window descriptor, no content size, a raw block of four bytes.
        let src = [&[0x28, 0xb5, 0x2f, 0xfd, 0, window][..], &[33, 0, 0], b"abcd"].concat();
        if let Ok(made) = decoded(&zstd(3, false), &src, 4) {
            assert_eq!(made, b"abcd");
        }
        assert!(decoded(&zstd(3, false), &src[..src.len() - 1], 4).is_err());
    }
}

/// Row 20: 4 GiB in 131 KB of run-length blocks, without a content size.
#[test]
fn bombs_cost_an_error_not_memory() {
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x88];
    let block = ((128u32 << 10) << 3) | 2;
    for _ in 0..32 * 1024 {
        bomb.extend_from_slice(&block.to_le_bytes()[..3]);
        bomb.push(0);
    }
    bomb.extend_from_slice(&[1, 0, 0]);
    let codec = zstd(3, false);
    assert_eq!(decoded(&codec, &bomb, 16 << 10).unwrap_err().reason, "expected 16,384 bytes, found more");
    let mut dst = Vec::new();
    assert_eq!(codec.decode_bounded(&bomb, 16 << 10, &mut dst).unwrap_err().kind, Kind::Codec);
    assert!(dst.capacity() <= 64 << 10);
}

/// Row 10; the formats before zstd 0.8 are other bytes too.
#[test]
fn other_bytes_are_refused() {
    check_foreign_bytes(&zstd(3, false));
    for version in 0x1e..=0x27_u8 {
        let src = [&[version, 0xb5, 0x2f, 0xfd][..], &[0; 40]].concat();
        let error = decoded(&zstd(3, false), &src, 100).unwrap_err();
        assert!(
            error.reason.starts_with("expected a zstd frame (28 b5 2f fd), found bytes that begin with"),
            "{error}"
        );
    }
}

#[test]
fn random_damage_is_survived() {
    let value = ramp(2000);
    for checksum in [false, true] {
        let codec = zstd(3, checksum);
        let refused = check_mutations(&codec, &encoded(&codec, &value), value.len(), 6000);
        assert!(refused > 3000, "{refused}");
    }
}

/// Parts of long values are decoded without what lies behind them; everything that a frame can tell is still noticed.
#[test]
fn parts_of_long_values() {
    let length = 1_000_000;
    let value: Vec<u8> = ramp(length).iter().enumerate().map(|(at, byte)| byte ^ (at >> 9) as u8).collect();
    let codec = zstd(3, false);
    let src = encoded(&codec, &value);
    for (offset, size) in [(0, 1), (131_071, 2), (131_072, 10), (400_000, 300_000), (5, 0), (868_927, 1)] {
        let mut part = vec![0; size];
        assert!(codec.decode_part(&src, length, offset, &mut part).unwrap(), "{offset}");
        assert_eq!(part, value[offset..offset + size], "{offset}");
    }
    let mut part = [0; 4];
    // Nothing would be saved, or a checksum would go unchecked.
    assert!(!codec.decode_part(&src, length, length - 131_072, &mut part).unwrap());
    assert!(!codec.decode_part(&src, length, usize::MAX, &mut part).unwrap());
    assert!(!codec.decode_part(&encoded(&zstd(3, true), &value), length, 0, &mut part).unwrap());
    // Cut, followed by something, of another length, of several frames, damaged in front of what is wanted.
    for cut in [0, 1, 4, 10, src.len() / 2, src.len() - 1] {
        assert!(!codec.decode_part(&src[..cut], length, 0, &mut part).unwrap(), "{cut}");
    }
    assert!(!codec.decode_part(&[&src[..], b"x"].concat(), length, 0, &mut part).unwrap());
    assert!(!codec.decode_part(&src, length + 1, 0, &mut part).unwrap());
    assert!(!codec.decode_part(&[&src[..], &src[..]].concat(), 2 * length, 0, &mut part).unwrap());
    let mut random = 1u64;
    for _ in 0..2_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bad = src.clone();
        let at = (random >> 33) as usize % bad.len();
        bad[at] ^= 1 << (random >> 60 & 7);
        let mut part = [0; 100];
        // Either refused, or something of the right size: without a checksum the values cannot be told.
        let _ = codec.decode_part(&bad, length, 300_000, &mut part).unwrap();
    }
    // The context of the thread is as good as new after each failure.
    assert!(codec.decode_part(&src, length, 7, &mut part).unwrap());
    assert_eq!(part, value[7..11]);
}

/// Found by fuzzing: a value that did not fit (blosc gives up then) leaves its frame open in the thread's encoder, and the next
/// codec with other options could not set them.
#[test]
fn an_encoding_that_ran_out_of_room_does_not_spoil_the_next() {
    let value = noise(300);
    let mut dst = Vec::new();
    assert_eq!(super::super::zstd::append("blosc", 5, false, &value, &mut dst, 20).unwrap(), None);
    assert!(dst.is_empty());
    for (level, checksum) in [(1, true), (5, false)] {
        let src = encoded(&zstd(level, checksum), &value);
        assert_eq!(decoded(&zstd(0, false), &src, value.len()).unwrap(), value);
    }
}

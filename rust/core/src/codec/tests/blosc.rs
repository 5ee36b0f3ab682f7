//! `blosc`: its compressors, filters and blocks. Damaged headers have a file of their own.

use super::super::blosc::{Blosc, Shuffle};
use super::super::report;
use super::*;

pub const COMPRESSORS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

pub fn blosc(cname: &str, clevel: i64, shuffle: i64, typesize: i64, blocksize: i64) -> Blosc {
    Blosc::new(cname, clevel, shuffle, typesize, blocksize).unwrap()
}

/// K-41: six compressors, three shuffles.
#[test]
fn every_size_round_trips_with_every_compressor() {
    for cname in COMPRESSORS {
        for shuffle in 0..3 {
            check_round_trips(&blosc(cname, 5, shuffle, 2, 0));
        }
    }
}

#[test]
fn every_level_typesize_and_blocksize_round_trips() {
    let mut random = Random::new(1);
    for cname in COMPRESSORS {
        for clevel in 0..=9 {
            for typesize in [1, 3, 4, 8, 12, 16, 17, 40, 255] {
                let size = random.below(40_000);
                let blocksize = [0, 1, 128, 1000, 4096, 1 << 40][random.below(6)];
                let codec = blosc(cname, clevel, random.below(3) as i64, typesize, blocksize);
                let value = ramp(size);
                let src = encoded(&codec, &value);
                assert!(src.len() <= size + 16, "never more than 16 bytes longer");
                assert_eq!(decoded(&codec, &src, size).unwrap(), value, "{codec:?}");
            }
        }
    }
}

/// As c-blosc defines them: bit `k` of byte `j` of every element is row `8 * j + k`; whatever kernel the processor has.
#[test]
fn bits_are_transposed_into_rows() {
    let mut random = Random::new(2);
    for typesize in [1, 2, 3, 4, 8, 16, 17] {
        for eights in [1, 3, 31, 32, 33, 64, 100] {
            let elements = 8 * eights;
            let value: Vec<u8> = (0..elements * typesize).map(|_| random.below(256) as u8).collect();
            let mut rows = vec![0; value.len()];
            for (i, byte) in value.iter().enumerate() {
                let (element, j) = (i / typesize, i % typesize);
                for k in 0..8 {
                    rows[(8 * j + k) * eights + element / 8] |= (byte >> k & 1) << (element % 8);
                }
            }
            let (mut made, mut back, mut work) = (vec![1; value.len()], vec![1; value.len()], Vec::new());
            Shuffle::Bits.apply(typesize, &value, &mut made, &mut work).unwrap();
            assert!(made == rows, "{elements} elements of {typesize} bytes");
            Shuffle::Bits.undo(typesize, &rows, &mut back, &mut work).unwrap();
            assert!(back == value, "{elements} elements of {typesize} bytes");
        }
    }
}

#[test]
fn compressible_data_shrinks_and_noise_is_stored() {
    for cname in COMPRESSORS {
        let codec = blosc(cname, 5, 1, 2, 0);
        let (easy, hard) = (encoded(&codec, &ramp(100_000)), encoded(&codec, &noise(100_000)));
        assert!(easy.len() < 60_000, "{cname}: {}", easy.len());
        assert_eq!(hard.len(), 100_016, "{cname}");
        assert_eq!(hard[2] & 2, 2, "{cname}");
    }
}

/// K-41: what is out of range is refused and named.
#[test]
fn options_are_checked() {
    for (made, text) in [
        (Blosc::new("lz5", 5, 1, 2, 0), "cname: expected blosclz, lz4, lz4hc, snappy, zlib or zstd, found lz5"),
        (Blosc::new("lz4", 10, 1, 2, 0), "clevel: expected an integer in [0, 9], found 10"),
        (Blosc::new("lz4", -1, 1, 2, 0), "clevel: expected an integer in [0, 9], found -1"),
        (Blosc::new("lz4", 5, 3, 2, 0), "shuffle: expected 0, 1 or 2, found 3"),
        (Blosc::new("lz4", 5, -1, 2, 0), "shuffle: expected 0, 1 or 2, found -1"),
        (Blosc::new("lz4", 5, 1, 0, 0), "typesize: expected an integer in [1, 255], found 0"),
        (Blosc::new("lz4", 5, 1, 256, 0), "typesize: expected an integer in [1, 255], found 256"),
        (Blosc::new("lz4", 5, 1, 2, -1), "blocksize: expected an integer, 0 or more, found -1"),
    ] {
        assert_eq!(made.unwrap_err().to_string(), format!("blosc: {text}"));
    }
}

/// Rows 3, 5, 8, 11, for every compressor and shuffle, of one block and of several.
#[test]
fn cut_extended_or_resized_values_are_refused() {
    for cname in COMPRESSORS {
        for shuffle in 0..3 {
            check_refusals(&blosc(cname, 5, shuffle, 2, 0), &ramp(2000));
            check_refusals(&blosc(cname, 5, shuffle, 2, 300), &ramp(1000));
        }
    }
    check_refusals(&blosc("lz4", 0, 1, 2, 0), &ramp(500));
    check_refusals(&blosc("lz4", 5, 1, 2, 0), &ramp(20));
    let src = encoded(&blosc("lz4", 5, 1, 2, 0), &ramp(2000));
    let error = decoded(&blosc("lz4", 5, 1, 2, 0), &src[..137], 2000).unwrap_err();
    assert_eq!(error.reason, format!("data ended after 137 of {} encoded bytes", report::grouped(src.len())));
}

/// Every part, from every block to every other, of a value in several blocks with a shorter last one.
#[test]
fn parts_are_cut_from_the_blocks_that_hold_them() {
    let value = ramp(1100);
    for (shuffle, typesize) in [(0, 1), (1, 2), (2, 4), (1, 3)] {
        let codec = blosc("lz4", 5, shuffle, typesize, 256);
        let src = encoded(&codec, &value);
        for (start, end) in
            (0..=1100).step_by(31).flat_map(|start| (start..=1100).step_by(29).map(move |end| (start, end)))
        {
            let mut part = vec![0xa5; end - start];
            assert!(codec.decode_part(&src, 1100, start, &mut part).unwrap());
            assert_eq!(part, &value[start..end], "{start}..{end}");
        }
    }
}

/// A part needs its own blocks only: damage elsewhere is not its business.
#[test]
fn only_the_blocks_wanted_are_decoded() {
    let value = ramp(4096);
    let codec = blosc("zlib", 5, 1, 2, 1024);
    let mut src = encoded(&codec, &value);
    let last = u32::from_le_bytes(src[28..32].try_into().unwrap()) as usize;
    src[last + 8] ^= 0xff;
    assert!(decoded(&codec, &src, 4096).unwrap_err().reason.starts_with("block 3 of 4 is no zlib data of"));
    let mut part = [0; 1500];
    assert!(codec.decode_part(&src, 4096, 1500, &mut part).unwrap());
    assert_eq!(part, value[1500..3000]);
    assert!(codec.decode_part(&src, 4096, 3000, &mut part[..1000]).is_err());
}

/// Of a long container only the head and the wanted blocks are read, in whatever order they are stored.
#[test]
fn only_the_blocks_wanted_are_read() {
    // Noise and zeros in turn, so that each block is about half as long as its value.
    let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 13).wrapping_mul(2_246_822_519).to_le_bytes()[3];
    let value: Vec<u8> = (0..1 << 20).map(|i| if i & 256 == 0 { noise(i) } else { 0 }).collect();
    let codec = blosc("lz4", 5, 0, 1, 128 << 10);
    let src = encoded(&codec, &value);
    let read = |src: &[u8], offset: usize, part: &mut [u8]| {
        let (fetched, mut room) = (std::cell::Cell::new(0), vec![0xa5; src.len()]);
        let fetch = |from: usize, bytes: &mut [u8]| {
            fetched.set(fetched.get() + bytes.len());
            bytes.copy_from_slice(&src[from..][..bytes.len()]);
            Ok(true)
        };
        codec.decode_fetched(&mut room, value.len(), offset, part, &fetch).then(|| fetched.get())
    };
    let entry = |i: usize| 16 + 4 * i..20 + 4 * i;
    let start = |i: usize| u32::from_le_bytes(src[entry(i)].try_into().unwrap()) as usize;
    let mut part = vec![0; 100_000];
    for offset in [0, 131_072, 200_000, 948_576] {
        assert!(read(&src, offset, &mut part).unwrap() <= 1024 + 3 * (start(1) - start(0)), "{offset}");
        assert_eq!(part, value[offset..][..100_000], "{offset}");
    }
    // Blocks 2 and 3 in the place of each other, as several threads store them.
    let mut swapped = [&src[..start(2)], &src[start(3)..start(4)], &src[start(2)..start(3)], &src[start(4)..]].concat();
    swapped[entry(3)].copy_from_slice(&(start(2) as u32).to_le_bytes());
    swapped[entry(2)].copy_from_slice(&((start(2) + start(4) - start(3)) as u32).to_le_bytes());
    for offset in [262_144, 293_216, 393_216] {
        assert!(read(&swapped, offset, &mut part).is_some());
        assert_eq!(part, value[offset..][..100_000], "{offset}");
    }
    // What is wrong is told by decoding everything: a block that runs on into the next one, a start outside, a cut end.
    let mut long = src.clone();
    long[start(1)..][..4].copy_from_slice(&((start(3) - start(1) - 4) as u32).to_le_bytes());
    let mut outside = src.clone();
    outside[entry(1)].copy_from_slice(&(src.len() as u32).to_le_bytes());
    for damaged in [&long[..], &outside, &src[..src.len() - 1], &[&src[..], &[0]].concat()] {
        assert_eq!(read(damaged, 131_072, &mut part), None);
    }
    assert_eq!(read(&src, value.len() - 10, &mut part), None);
    assert_eq!(read(&src, usize::MAX, &mut part), None);
}

/// Row 7: damage behind a good header. Every compressor, every filter, one block and several, split and not.
#[test]
fn random_damage_is_survived() {
    for cname in COMPRESSORS {
        for (shuffle, typesize, blocksize) in [(0, 1, 0), (1, 2, 400), (2, 8, 0), (1, 4, 600), (1, 3, 390), (2, 17, 0)]
        {
            let codec = blosc(cname, 5, shuffle, typesize, blocksize);
            let src = encoded(&codec, &ramp(1700));
            check_mutations(&codec, &src, 1700, 1500);
        }
    }
}

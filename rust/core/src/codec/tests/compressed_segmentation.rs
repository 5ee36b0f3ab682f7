//! `compressed_segmentation`.

use super::super::compressed_segmentation::CompressedSegmentation;
use super::*;

/// One channel of 1 x 2 x 3 labels of 32 bits, in blocks of 1 x 2 x 2.
fn small() -> CompressedSegmentation {
    CompressedSegmentation::new([1, 1, 2, 3], 4, [1, 2, 2]).unwrap()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn blocks_have_a_table_and_indices() {
    // Blocks {5, 7; 7, 5} and {9; 9}.
    let value = words(&[5, 7, 9, 7, 5, 9]);
    let src = encoded(&small(), &value);
    assert_eq!(src, words(&[1, 5 | 1 << 24, 4, 7, 7, 0b0110, 5, 7, 9]));
    assert_eq!(decoded(&small(), &src, 24).unwrap(), value);
    assert_eq!(bounded(&small(), &src, 24).unwrap(), value);
}

#[test]
fn blocks_share_tables() {
    let codec = CompressedSegmentation::new([1, 1, 1, 4], 8, [1, 1, 2]).unwrap();
    let value: Vec<u8> = [1u64 << 40, 2, 2, 1 << 40].iter().flat_map(|label| label.to_le_bytes()).collect();
    let src = encoded(&codec, &value);
    assert_eq!(src, words(&[1, 5 | 1 << 24, 4, 5 | 1 << 24, 9, 0b01, 2, 0, 0, 1 << 8, 0b10]));
    assert_eq!(decoded(&codec, &src, 32).unwrap(), value);
}

#[test]
fn labels_come_back_whatever_their_number() {
    let mut random = Random::new(1);
    for (shape, block) in [
        ([1, 1, 1, 1], [1, 1, 1]),
        ([2, 3, 5, 7], [2, 2, 2]),
        ([1, 9, 8, 17], [8, 8, 8]),
        ([3, 4, 4, 4], [4, 4, 5]),
        ([1, 0, 4, 4], [2, 2, 2]),
        ([0, 1, 4, 4], [2, 2, 2]),
        ([1, 41, 41, 41], [41, 41, 41]),
    ] {
        let count: usize = shape.iter().product();
        for itemsize in [4, 8] {
            for different in [1, 2, 3, 5, 17, 300, 70_000] {
                let codec = CompressedSegmentation::new(shape, itemsize, block).unwrap();
                let mut value = Vec::new();
                for _ in 0..count {
                    let label = (random.below(different) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    value.extend_from_slice(&label.to_le_bytes()[..itemsize]);
                }
                let src = encoded(&codec, &value);
                assert!(src.len() <= codec.max_encoded_len(value.len()));
                assert_eq!(decoded(&codec, &src, value.len()).unwrap(), value);
                for cut in 0..src.len().min(40) {
                    assert!(decoded(&codec, &src[..cut], value.len()).is_err() || value.is_empty());
                }
            }
        }
    }
}

#[test]
fn whatever_is_stored_nothing_else_is_touched() {
    let mut random = Random::new(2);
    let codec = CompressedSegmentation::new([2, 2, 3, 5], 4, [2, 2, 2]).unwrap();
    let value: Vec<u8> = (0..60u32).flat_map(|label| (label % 7).to_le_bytes()).collect();
    let good = encoded(&codec, &value);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..20_000 {
        let mut src = good.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(src.len());
            src[at] = random.next() as u8;
        }
        src.truncate(src.len() - random.below(2) * random.below(9));
        match decoded(&codec, &src, value.len()) {
            Ok(_) => taken += 1,
            Err(error) => {
                assert_placed(&codec, &error);
                refused += 1;
            }
        }
    }
    assert!(refused > 1000 && taken > 1000, "{refused} {taken}");
}

#[test]
fn what_it_refuses() {
    let refused = |stored: &[u32]| {
        let error = decoded(&small(), &words(stored), 24).unwrap_err();
        assert_placed(&small(), &error);
        error.to_string().trim_start_matches("compressed_segmentation: ").to_owned()
    };
    let good = [1, 5 | 1 << 24, 4, 7, 7, 0b0110, 5, 7, 9];
    let with = |at: usize, word: u32| {
        let mut stored = good;
        stored[at] = word;
        stored
    };
    assert!(decoded(&small(), &words(&good), 24).is_ok());
    assert_eq!(refused(&[]), "expected words of 32 bits, at least 1 of them, found 0 bytes");
    assert_eq!(refused(&with(0, 10)), "channel 0: begins at word 10 of 9");
    assert_eq!(refused(&with(0, 6)), "channel 0: expected 16 bytes about blocks, found 12");
    assert_eq!(
        refused(&with(1, 5 | 3 << 24)),
        "channel 0: expected indices of 0, 1, 2, 4, 8, 16 or 32 bits in block 0, found 3"
    );
    assert_eq!(refused(&with(1, 0x00ff_ffff)), "channel 0: block 0 lies outside of 32 bytes");
    assert_eq!(refused(&with(2, u32::MAX)), "channel 0: block 0 lies outside of 32 bytes");
    assert_eq!(refused(&with(1, 7 | 1 << 24)), "channel 0: an index of block 0 lies outside of its table of labels");
    assert_eq!(refused(&with(3, 8)), "channel 0: an index of block 1 lies outside of its table of labels");
    let error = decoded(&small(), &[0; 7], 24).unwrap_err();
    assert!(error.to_string().ends_with("found 7 bytes"), "{error}");
    assert_eq!(small().encode(b"abc", &mut Vec::new()).unwrap_err().direction, Some(crate::error::Direction::Encode));
    assert_eq!(bounded(&small(), &words(&good), 23).unwrap_err().kind, Kind::Codec);
    assert!(CompressedSegmentation::new([1; 4], 2, [1; 3]).is_err());
    assert!(CompressedSegmentation::new([1; 4], 4, [1, 0, 1]).is_err());
    assert!(CompressedSegmentation::new([1; 4], 4, [1 << 40; 3]).is_err());
    // A block far larger than the chunk has more indices than there is memory for.
    let codec = CompressedSegmentation::new([1, 1, 1, 2], 4, [1, 1, 1 << 40]).unwrap();
    assert!(codec.encode(&words(&[1, 2]), &mut Vec::new()).is_err());
    assert!(decoded(&codec, &words(&[1, 1 | 1 << 24, 2, 0]), 8).is_err());
}

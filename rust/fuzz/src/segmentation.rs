//! Labels of Neuroglancer: blocks, tables and offsets that say anything, held against the document read label by label.

use blizzarr_core::codec::compressed_segmentation::CompressedSegmentation;
use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::{Direction, Kind};

use crate::input::Input;
use crate::mutation::{damage, field, Damage, Field};
use crate::room::Room;

/// A chunk, damaged: what is decoded is what the model reads, and an error where that reads none.
pub fn segmentation(data: &[u8]) {
    let mut input = Input(data);
    let shape = [input.range(0..=2), input.range(0..=4), input.range(0..=5), input.range(1..=6)];
    let block = [input.range(1..=4), input.range(1..=4), input.range(1..=5)];
    let itemsize = input.pick(&[4, 8]);
    let codec = CompressedSegmentation::new(shape, itemsize, block).expect("a small chunk");
    let count: usize = shape.iter().product();
    let different = input.pick(&[1, 2, 3, 5, 17, 255]);
    let mut value = Vec::new();
    for _ in 0..count {
        let label = (input.byte() as u64 % different).wrapping_mul(0x0123_4567_89ab_cdef);
        value.extend_from_slice(&label.to_le_bytes()[..itemsize]);
    }
    let mut encoded = Vec::new();
    codec.encode(&value, &mut encoded).expect("few labels");
    assert!(encoded.len() <= codec.max_encoded_len(value.len()));
    let fields = fields(shape[0], encoded.len());
    let done = damage(&mut input, &mut encoded, &fields);

    let expected = model(&encoded, shape, itemsize, block);
    if done == Damage::None {
        assert!(expected.as_ref() == Some(&value), "the model reads something else");
    }
    let encoded = Room::of(&encoded);
    let mut found = Room::filled(input.byte(), value.len());
    match (codec.decode_exact(&encoded, &mut found), expected) {
        (Ok(()), Some(expected)) => assert!(*found == expected, "other labels came back"),
        (Ok(()), None) => panic!("what is no chunk was decoded"),
        (Err(error), Some(_)) => panic!("a chunk was refused: {error:?}"),
        (Err(error), None) => {
            assert!(matches!(error.kind, Kind::Codec), "{error:?}");
            assert!(error.codec.is_some() && error.direction == Some(Direction::Decode), "{error:?}");
        }
    }
}

/// Offsets of channels, and what is said of the first blocks.
fn fields(channels: usize, length: usize) -> Vec<Field> {
    let numbers = (channels + 8).min(length / 4);
    (0..numbers).flat_map(|number| [field(4 * number, 4), field(4 * number + 3, 1)]).collect()
}

/// All labels; `None` where that is no chunk.
fn model(src: &[u8], shape: [usize; 4], itemsize: usize, block: [usize; 3]) -> Option<Vec<u8>> {
    let [channels, z, y, x] = shape;
    if !src.len().is_multiple_of(4) || src.len() / 4 < channels {
        return None;
    }
    let word = |at: usize| Some(u32::from_le_bytes(src.get(4 * at..4 * at + 4)?.try_into().ok()?) as usize);
    let grid = [z.div_ceil(block[0]), y.div_ceil(block[1]), x.div_ceil(block[2])];
    let mut found = Vec::new();
    for channel in 0..channels {
        let base = word(channel)?;
        let total = (src.len() / 4).checked_sub(base)?;
        let blocks: usize = grid.iter().product();
        if total < 2 * blocks {
            return None;
        }
        // All of what is said of blocks counts, also of those that nobody looks into.
        for number in 0..blocks {
            let first = word(base + 2 * number)?;
            let (table, bits, values) = (first & 0xff_ffff, first >> 24, word(base + 2 * number + 1)?);
            let words = (bits * block.iter().product::<usize>()).div_ceil(32);
            if ![0, 1, 2, 4, 8, 16, 32].contains(&bits) || table > total || values + words > total {
                return None;
            }
        }
        for element in 0..z * y * x {
            let place = [element / (y * x), element / x % y, element % x];
            let of: Vec<usize> = (0..3).map(|axis| place[axis] / block[axis]).collect();
            let within: Vec<usize> = (0..3).map(|axis| place[axis] % block[axis]).collect();
            let header = base + 2 * ((of[0] * grid[1] + of[1]) * grid[2] + of[2]);
            let (table, bits) = (word(header)? & 0xff_ffff, word(header)? >> 24);
            let bit = ((within[0] * block[1] + within[1]) * block[2] + within[2]) * bits;
            let index = match bits {
                0 => 0,
                32 => word(base + word(header + 1)? + bit / 32)?,
                _ => word(base + word(header + 1)? + bit / 32)? >> (bit % 32) & ((1 << bits) - 1),
            };
            let at = 4 * (base + table) + index * itemsize;
            found.extend_from_slice(src.get(at..at + itemsize)?);
        }
    }
    Some(found)
}

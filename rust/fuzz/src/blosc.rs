//! blosc.

use blizzarr_core::codec::blosc::Blosc;

use crate::codec::{check, every_way, Checked};
use crate::input::Input;
use crate::mutation::{field, Field};

/// A container with each compressor and filter, damaged; or any bytes behind a header.
pub fn blosc(data: &[u8]) {
    let mut input = Input(data);
    let kind = input.range(0..=7);
    let cname = input.pick(&["lz4", "blosclz", "zstd", "zlib", "snappy", "lz4hc"]);
    // How hard an encoder tries makes little difference to what is decoded, and much to how long it takes.
    let level = input.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 3, 5, 9]);
    let shuffle = input.range(0..=2) as i64;
    let typesize = input.pick(&[1, 2, 4, 8, 3, 16, 17, 255, 7]);
    let block = if input.flag() { input.range(0..=700) as i64 } else { 0 };
    let codec = Blosc::new(cname, level, shuffle, typesize, block).expect("options");
    if kind == 7 {
        let size = input.range(1..=600);
        let block = input.range(1..=size);
        let raw = input.bytes(usize::MAX);
        let mut header = vec![2, 1, input.byte(), typesize as u8];
        header.extend([size, block, raw.len() + 16].iter().flat_map(|&number| (number as u32).to_le_bytes()));
        header.extend(raw);
        // The flags are the fuzzer's: behind the raw bytes nothing is left for them.
        header[2] = header.last().copied().unwrap_or(0);
        every_way(&mut Input(data), &codec, &header, size);
        return;
    }
    // Long enough for blocks of sixteen splits.
    let length = input.length(2100);
    let value = input.value(length);
    check(&mut input, &codec, &value, fields, Checked::No);
}

/// Versions, flags, sizes; where blocks start, and how long their splits are.
fn fields(encoded: &[u8]) -> Vec<Field> {
    let mut fields =
        [(0, 1), (1, 1), (2, 1), (2, 1), (3, 1), (4, 4), (8, 4), (8, 4), (12, 4)].map(|(at, n)| field(at, n)).to_vec();
    let number = |at: usize| {
        let bytes = encoded.get(at..).and_then(|rest| rest.first_chunk::<4>());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
    };
    let (decoded, block) = (number(4), number(8).max(1));
    for i in 0..decoded.div_ceil(block).min(4) {
        fields.push(field(16 + 4 * i, 4));
        let mut at = number(16 + 4 * i);
        for _ in 0..3 {
            fields.extend([field(at, 4), field(at + 4, 1), field(at + 4, 4)]);
            at = at.saturating_add(4).saturating_add(number(at));
        }
    }
    fields
}

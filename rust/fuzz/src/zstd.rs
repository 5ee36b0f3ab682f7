//! zstd.

use blizzarr_core::codec::zstd::Zstd;

use crate::codec::{check, every_way, Checked, MOST};
use crate::input::Input;
use crate::mutation::{field, Field};

/// Frames, damaged; or any bytes behind the magic number of one.
pub fn zstd(data: &[u8]) {
    let mut input = Input(data);
    let kind = input.range(0..=7);
    let checksum = input.flag();
    let codec = Zstd::new(input.pick(&[1, 0, 3, -5]), checksum).expect("a level");
    if kind >= 6 {
        let size = input.range(0..=600);
        let raw = input.bytes(usize::MAX);
        let raw = if kind == 6 { [b"\x28\xb5\x2f\xfd", &raw[..]].concat() } else { raw };
        every_way(&mut Input(&raw), &codec, &raw, size);
        return;
    }
    // Parts are decoded by themselves only of values of several blocks. They cost as much as a hundred short ones: few of
    // the inputs that descend from one that has found the way here take it, too.
    let length = if kind == 5 && input.range(0..=65_535) == 65_535 && input.one_of_hashed(64) {
        input.range(131_100..=140_000)
    } else {
        input.length(MOST)
    };
    let value = input.value(length);
    check(&mut input, &codec, &value, fields, if checksum { Checked::Yes } else { Checked::No });
}

/// The magic number, the descriptor, the content size, the headers of the first blocks, the checksum.
fn fields(encoded: &[u8]) -> Vec<Field> {
    let descriptor = encoded.get(4).copied().unwrap_or(0);
    let single = descriptor & 0x20 != 0;
    let size = match descriptor >> 6 {
        0 => usize::from(single),
        power => 1 << power,
    };
    let window = usize::from(!single);
    let block = 5 + window + size;
    let mut fields = vec![field(0, 4), field(4, 1), field(4, 1), field(5 + window, size.max(1)), field(5, 1)];
    let mut at = block;
    for _ in 0..3 {
        fields.extend([field(at, 3), field(at, 1), field(at + 3, 1), field(at + 3, 3), field(at + 6, 3)]);
        let Some(&[a, b, c]) = encoded.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        at += 3 + (u32::from_le_bytes([a, b, c, 0]) >> 3) as usize;
    }
    fields.push(field(encoded.len().saturating_sub(4), 4));
    fields
}

//! lz4, and the codecs that are a few lines: crc32c, shuffle, the elements of `bytes`.

use blizzarr_core::codec::checksum::Checksum;
use blizzarr_core::codec::element::{normalise_booleans, Run, Swap};
use blizzarr_core::codec::lz4::Lz4;
use blizzarr_core::codec::shuffle::Shuffle;

use crate::codec::{check, every_way, Checked, MOST};
use crate::input::Input;
use crate::mutation::{field, Field};

/// A value of lz4, crc32c or shuffle, damaged; elements of any fields, reversed and reversed again.
pub fn lz4(data: &[u8]) {
    let mut input = Input(data);
    let kind = input.range(0..=6);
    let lz4 = Lz4::new(input.pick(&[1, 0, -5, 65_538])).expect("an acceleration");
    if kind == 1 {
        let size = input.range(0..=600);
        let raw = input.bytes(usize::MAX);
        let raw = [&(size as u32).to_le_bytes()[..], &raw].concat();
        every_way(&mut Input(&raw), &lz4, &raw, size);
        return;
    }
    let mut length = input.length(MOST);
    let element = input.range(1..=40);
    if kind == 4 {
        length -= length % element;
    }
    let value = input.value(length);
    match kind {
        2 | 3 => check(&mut input, &Checksum::CRC32C, &value, sum, Checked::Yes),
        4 => check(&mut input, &Shuffle::new(element as i64).expect("a size"), &value, |_| vec![], Checked::No),
        5 => elements(&mut input, &value),
        _ => check(&mut input, &lz4, &value, lz4_fields, Checked::No),
    }
}

fn sum(encoded: &[u8]) -> Vec<Field> {
    vec![field(encoded.len() - 4, 4), field(encoded.len() - 4, 1)]
}

/// The length; the first token and what follows it.
fn lz4_fields(_encoded: &[u8]) -> Vec<Field> {
    [(0, 4), (0, 4), (4, 1), (5, 2), (6, 2)].map(|(at, length)| field(at, length)).to_vec()
}

fn swap(input: &mut Input<'_>, depth: usize) -> Swap {
    if depth < 3 && input.one_in(3) {
        let runs = (0..input.range(1..=4)).map(|_| {
            let swap = swap(input, depth + 1);
            Run { length: swap.size() * input.range(1..=3), swap }
        });
        return Swap::fields(runs.collect()).expect("whole units");
    }
    Swap::new(input.pick(&[0, 1, 2, 4, 8])).expect("a unit")
}

fn elements(input: &mut Input<'_>, value: &[u8]) {
    let swap = swap(input, 0);
    let mut turned = value.to_vec();
    swap.apply(&mut turned);
    let expected = naive(&swap, value);
    assert_eq!(turned, expected);
    swap.apply(&mut turned);
    assert_eq!(turned, value);
    normalise_booleans(&mut turned);
    assert!(turned.iter().zip(value).all(|(found, stored)| *found == u8::from(*stored != 0)));
}

fn naive(swap: &Swap, value: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for unit in value.chunks(swap.size()) {
        match swap {
            _ if unit.len() < swap.size() => found.extend_from_slice(unit),
            Swap::Fields { runs, .. } => {
                let mut rest = unit;
                for run in runs.iter() {
                    let (part, behind) = rest.split_at(run.length);
                    found.extend(naive(&run.swap, part));
                    rest = behind;
                }
            }
            _ => found.extend(unit.iter().rev()),
        }
    }
    found
}

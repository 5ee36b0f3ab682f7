//! Blocks of N5: whole ones, shorter ones, and headers that say anything, held against the document read word by word.

use blizzarr_core::codec::gzip::Gzip;
use blizzarr_core::codec::n5::N5;
use blizzarr_core::codec::zstd::Zstd;
use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::{Direction, Kind};

use crate::codec::{check, Checked};
use crate::input::Input;
use crate::mutation::{damage, field, Damage, Field};
use crate::room::Room;

/// A block, stored whole or shorter, damaged: what is decoded is what the model reads, and an error where that reads none.
pub fn n5(data: &[u8]) {
    let mut input = Input(data);
    let rank = input.range(0..=3);
    let shape: Vec<usize> = (0..rank).map(|_| input.range(1..=5)).collect();
    let itemsize = input.pick(&[1, 2, 4, 8]);
    let length = shape.iter().product::<usize>() * itemsize;
    let kind = input.range(0..=2);
    let block = N5::new(shape.clone(), itemsize, inner(kind)).expect("a small block");
    if kind == 0 && input.one_in(3) {
        let value = input.value(length);
        check(&mut input, &block, &value, |_| fields(rank), Checked::No);
        return;
    }

    let stored: Vec<usize> =
        shape.iter().map(|&size| if input.one_in(2) { size } else { input.range(0..=size) }).collect();
    let count: usize = stored.iter().product();
    let counted = input.one_in(3);
    let value = input.value(count * itemsize);
    let mut encoded = vec![0, u8::from(counted), 0, rank as u8];
    stored.iter().for_each(|&length| encoded.extend((length as u32).to_be_bytes()));
    if counted {
        encoded.extend((count as u32).to_be_bytes());
    }
    match inner(kind) {
        Some(codec) => codec.encode(&value, &mut encoded).expect("any value"),
        None => encoded.extend(&value),
    }
    let done = damage(&mut input, &mut encoded, &fields(rank + 1));

    let expected = model(&encoded, &shape, itemsize, inner(kind).as_deref());
    assert!(done != Damage::None || expected.is_some());
    let encoded = Room::of(&encoded);
    let mut found = Room::filled(input.byte(), length);
    match (block.decode_exact(&encoded, &mut found), expected) {
        (Ok(()), Some(expected)) => assert!(*found == expected, "another block came back"),
        (Ok(()), None) => panic!("what is no block was decoded"),
        (Err(error), Some(_)) => panic!("a block was refused: {error:?}"),
        (Err(error), None) => {
            assert!(matches!(error.kind, Kind::Codec | Kind::Checksum | Kind::Limit), "{error:?}");
            assert!(error.codec.is_some() && error.direction == Some(Direction::Decode), "{error:?}");
        }
    }
}

fn inner(kind: usize) -> Option<Box<dyn BytesToBytes>> {
    match kind {
        0 => None,
        1 => Some(Box::new(Gzip::new(1).expect("a level"))),
        _ => Some(Box::new(Zstd::new(1, false).expect("a level"))),
    }
}

fn fields(numbers: usize) -> Vec<Field> {
    let mut fields = vec![field(0, 2), field(1, 1), field(2, 2), field(3, 1)];
    for number in 0..numbers {
        fields.extend([field(4 + 4 * number, 4), field(7 + 4 * number, 1)]);
    }
    fields
}

/// A whole block of what is stored, element by element; `None` where that is no block.
fn model(src: &[u8], shape: &[usize], itemsize: usize, codec: Option<&dyn BytesToBytes>) -> Option<Vec<u8>> {
    let number = |at: usize, length: usize| {
        let bytes = src.get(at..at + length)?;
        Some(bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte)))
    };
    let mode = number(0, 2)?;
    if mode > 1 || number(2, 2)? != shape.len() as u64 {
        return None;
    }
    let mut stored = Vec::new();
    for (axis, &most) in shape.iter().enumerate() {
        stored.push(usize::try_from(number(4 + 4 * axis, 4)?).ok().filter(|&length| length <= most)?);
    }
    let count: usize = stored.iter().product();
    let end = 4 + 4 * shape.len();
    if mode == 1 && number(end, 4)? != count as u64 {
        return None;
    }
    let body = src.get(end + 4 * mode as usize..)?;
    let mut elements = vec![0; count * itemsize];
    match codec {
        Some(codec) => codec.decode_exact(body, &mut elements).ok()?,
        None if body.len() == elements.len() => elements.copy_from_slice(body),
        None => return None,
    }
    let mut whole = vec![0; shape.iter().product::<usize>() * itemsize];
    for (position, element) in elements.chunks(itemsize).enumerate() {
        let (mut rest, mut at, mut step) = (position, 0, itemsize);
        for axis in 0..shape.len() {
            at += rest % stored[axis] * step;
            rest /= stored[axis];
            step *= shape[axis];
        }
        whole[at..at + itemsize].copy_from_slice(element);
    }
    Some(whole)
}

//! Elements of variable length.

use std::sync::Arc;

use blizzarr_core::codec::vlen::{Element, Table, Vlen, TOKEN};
use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::Kind;

use crate::input::Input;
use crate::mutation::{damage, field, Damage};
use crate::room::Room;

/// A chunk of texts or byte strings, damaged: its tokens stand for what a plain reading of the bytes says.
pub fn vlen(data: &[u8]) {
    let mut input = Input(data);
    let unit = input.pick(&[0, 1, 1, 4]);
    let kind = if unit == 0 { Element::Text } else { Element::Bytes(unit) };
    let fill: &[u8] = if input.flag() { b"fill" } else { b"" };
    let count = input.range(0..=12);
    let mut encoded = (count as u32).to_le_bytes().to_vec();
    let mut fields = vec![field(0, 4), field(0, 4)];
    for _ in 0..count {
        let length = input.range(0..=9);
        let mut element = if input.one_in(4) { fill.to_vec() } else { input.bytes(length) };
        if unit == 0 {
            element = String::from_utf8_lossy(&element).into_owned().into_bytes();
        } else {
            element.truncate(element.len() - element.len() % unit);
        }
        fields.push(field(encoded.len(), 4));
        encoded.extend((element.len() as u32).to_le_bytes());
        encoded.extend(element);
    }
    let done = damage(&mut input, &mut encoded, &fields);
    let expected_count = if input.one_in(8) { input.range(0..=14) } else { count };
    let encoded = Room::of(&encoded);

    let table = Arc::new(Table::new("vlen-bytes", kind, fill));
    let codec = Vlen::new(Arc::clone(&table));
    let naive = parse(&encoded, kind).filter(|elements| elements.len() == expected_count);
    assert!(done != Damage::None || expected_count != count || naive.is_some());
    let mut tokens = Room::filled(0xa5, expected_count * TOKEN);
    let found = codec.decode_exact(&encoded, &mut tokens);
    match (&naive, &found) {
        (Some(elements), Ok(())) => stand_for(&table, &tokens, elements),
        (None, Err(error)) => assert!(error.kind == Kind::Codec && error.codec.is_some(), "{error:?}"),
        (naive, found) => panic!("{naive:?}, but {found:?}"),
    }
    let mut bounded = Vec::new();
    let limit = expected_count * TOKEN;
    let outcome = codec.decode_bounded(&encoded, limit, &mut bounded);
    assert!(bounded.capacity() <= limit.max(64) && (outcome.is_err() || bounded.len() <= limit));
    assert!(found.is_err() || outcome.is_ok());
    if let (Some(elements), Ok(())) = (naive, found) {
        // Some of them are kept, as often as one likes, and all of these can be written again.
        let count = if expected_count == 0 { 0 } else { input.range(0..=2 * expected_count) };
        let picked: Vec<usize> = (0..count).map(|_| input.range(0..=expected_count - 1)).collect();
        let wanted: Vec<Vec<u8>> = picked.iter().map(|&index| elements[index].clone()).collect();
        let mut kept: Vec<u8> = picked.iter().flat_map(|&index| &tokens[index * TOKEN..][..TOKEN]).copied().collect();
        codec.keep(&mut kept, &tokens).expect("tokens of this table");
        stand_for(&table, &kept, &wanted);
        let mut again = Vec::new();
        codec.encode(&kept, &mut again).expect("tokens of this table");
        assert_eq!(parse(&again, Element::Bytes(1)), Some(wanted));
    }
    // Tokens of nothing are an error, too.
    let stray: Vec<u8> = (0..2).flat_map(|_| input.u64().to_ne_bytes()).collect();
    let _ = codec.encode(&stray, &mut Vec::new());
    let _ = codec.keep(&mut stray.clone(), &stray);
}

fn stand_for(table: &Table, tokens: &[u8], elements: &[Vec<u8>]) {
    let blocks = table.blocks();
    for (token, element) in tokens.chunks_exact(TOKEN).zip(elements) {
        let token = u64::from_ne_bytes(token.try_into().expect("eight bytes"));
        assert_eq!(blocks.element(token).expect("a token of this table"), element);
    }
}

fn parse(bytes: &[u8], kind: Element) -> Option<Vec<Vec<u8>>> {
    fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
        let (number, rest) = bytes.split_first_chunk()?;
        Some((u32::from_le_bytes(*number) as usize, rest))
    }
    let (count, mut rest) = number(bytes)?;
    let mut elements = Vec::new();
    for _ in 0..count {
        let (length, behind) = number(rest)?;
        let element = behind.get(..length)?;
        match kind {
            Element::Text => drop(std::str::from_utf8(element).ok()?),
            Element::Bytes(unit) if element.len() % unit != 0 => return None,
            Element::Bytes(_) => {}
        }
        elements.push(element.to_vec());
        rest = &behind[length..];
    }
    rest.is_empty().then_some(elements)
}

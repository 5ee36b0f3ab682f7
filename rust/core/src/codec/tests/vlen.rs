//! Elements of variable length: chunks of them, their tokens, and what is kept in memory (fault rows 17 and 24).

use std::sync::Arc;

use super::super::vlen::{Element, Table, Vlen, TOKEN};
use super::*;
use crate::error::Direction;

fn table() -> Arc<Table> {
    Arc::new(Table::new("vlen-utf8", Element::Text, b"none"))
}

fn tokens(table: &Table, elements: &[&[u8]]) -> Vec<u8> {
    let mut source = table.source();
    let tokens = elements.iter().flat_map(|element| source.push(element).unwrap().to_ne_bytes()).collect();
    source.finish();
    tokens
}

fn elements(table: &Table, tokens: &[u8]) -> Vec<String> {
    let blocks = table.blocks();
    let element = |token: &[u8]| blocks.element(u64::from_ne_bytes(token.try_into().unwrap())).unwrap().to_vec();
    tokens.chunks_exact(TOKEN).map(|token| String::from_utf8(element(token)).unwrap()).collect()
}

/// The chunk of these elements, laid down by hand.
fn chunk(elements: &[&[u8]]) -> Vec<u8> {
    let mut bytes = (elements.len() as u32).to_le_bytes().to_vec();
    for element in elements {
        bytes.extend((element.len() as u32).to_le_bytes());
        bytes.extend(*element);
    }
    bytes
}

const TEXTS: [&[u8]; 5] = [b"", b"none", b"a", "\u{e4}\u{1f980}".as_bytes(), b"none of these"];

#[test]
fn chunks_are_as_the_format_says() {
    let table = table();
    let codec = Vlen::new(Arc::clone(&table));
    let tokens = tokens(&table, &TEXTS);
    assert_eq!(encoded(&codec, &tokens), chunk(&TEXTS));
    assert_eq!(tokens[TOKEN..2 * TOKEN], [0; TOKEN], "the fill value is token 0");

    let other = self::table();
    let read = decoded(&Vlen::new(Arc::clone(&other)), &chunk(&TEXTS), TEXTS.len() * TOKEN).unwrap();
    assert_eq!(elements(&other, &read), ["", "none", "a", "\u{e4}\u{1f980}", "none of these"]);
    assert_eq!(read[TOKEN..2 * TOKEN], [0; TOKEN]);
    assert_eq!(bounded(&Vlen::new(Arc::clone(&other)), &chunk(&TEXTS), 1 << 20).unwrap().len(), TEXTS.len() * TOKEN);
}

/// Elements that lie one behind the other are copied together; a chunk may have them in any order, and as often as it likes.
#[test]
fn elements_in_any_order_make_a_chunk() {
    let table = table();
    let codec = Vlen::new(Arc::clone(&table));
    let tokens = tokens(&table, &TEXTS);
    let read = decoded(&codec, &chunk(&TEXTS), TEXTS.len() * TOKEN).unwrap();
    for order in [[4, 3, 2, 1, 0], [0, 0, 2, 3, 3], [2, 3, 4, 2, 3], [1, 1, 4, 4, 0], [3, 4, 0, 2, 1]] {
        let wanted: Vec<&[u8]> = order.iter().map(|&index| TEXTS[index]).collect();
        for all in [&tokens, &read] {
            let picked: Vec<u8> = order.iter().flat_map(|&index| all[index * TOKEN..][..TOKEN].to_vec()).collect();
            assert_eq!(encoded(&codec, &picked), chunk(&wanted), "{order:?}");
        }
    }
    assert_eq!(encoded(&codec, &[&tokens[..2 * TOKEN], &read[2 * TOKEN..]].concat()), chunk(&TEXTS));
}

#[test]
fn an_empty_chunk_has_a_count() {
    let codec = Vlen::new(table());
    assert_eq!(encoded(&codec, &[]), [0; 4]);
    assert_eq!(decoded(&codec, &[0; 4], 0).unwrap(), []);
}

#[test]
fn row_024_lying_counts_and_lengths_take_no_memory() {
    let codec = Vlen::new(table());
    for (count, found) in [(2u32, "2"), (u32::MAX, "4,294,967,295"), (1 << 31, "2,147,483,648")] {
        let mut lying = chunk(&TEXTS[..3]);
        lying[..4].copy_from_slice(&count.to_le_bytes());
        let error = decoded(&codec, &lying, 3 * TOKEN).unwrap_err();
        assert_eq!(error.to_string(), format!("vlen-utf8: expected 3 elements, found a count of {found}"));
        if count > 3 {
            assert_eq!(bounded(&codec, &lying, 1 << 40).unwrap_err().kind, Kind::Codec);
        }
    }
    let mut lying = chunk(&[b"ab", b"cd"]);
    lying[10..14].copy_from_slice(&(u32::MAX).to_le_bytes());
    let error = decoded(&codec, &lying, 2 * TOKEN).unwrap_err();
    assert_eq!(error.to_string(), "vlen-utf8: data ended after 2 of 4,294,967,295 bytes of element 1 of 2");
    assert_eq!((error.kind, error.direction), (Kind::Codec, Some(Direction::Decode)));
}

#[test]
fn cut_anywhere_or_too_long() {
    let codec = Vlen::new(table());
    let whole = chunk(&TEXTS);
    for length in 0..whole.len() {
        let error = decoded(&codec, &whole[..length], TEXTS.len() * TOKEN).unwrap_err();
        assert!(error.to_string().starts_with("vlen-utf8: data ended "), "{length}: {error}");
    }
    let error = decoded(&codec, &[&whole[..], b"!"].concat(), TEXTS.len() * TOKEN).unwrap_err();
    assert_eq!(error.to_string(), "vlen-utf8: 1 bytes follow the end of the encoded data");
}

#[test]
fn row_017_text_is_utf_8() {
    let error = decoded(&Vlen::new(table()), &chunk(&[b"a", b"bc\xff"]), 2 * TOKEN).unwrap_err();
    assert_eq!(error.to_string(), "vlen-utf8: element 1 of 2 is not UTF-8 text, from byte 2 on");
    let bytes = Vlen::new(Arc::new(Table::new("vlen-bytes", Element::Bytes(1), b"")));
    assert!(decoded(&bytes, &chunk(&[b"a", b"bc\xff"]), 2 * TOKEN).is_ok());
}

#[test]
fn arrays_have_whole_elements() {
    let codec = Vlen::new(Arc::new(Table::new("vlen-array", Element::Bytes(4), b"")));
    assert!(decoded(&codec, &chunk(&[b"12345678", b""]), 2 * TOKEN).is_ok());
    let error = decoded(&codec, &chunk(&[b"12345678", b"12345"]), 2 * TOKEN).unwrap_err();
    assert_eq!(error.to_string(), "vlen-array: element 1 of 2 has 5 bytes, not a multiple of 4");
}

#[test]
fn what_was_merged_is_let_go() {
    let table = table();
    let codec = Vlen::new(Arc::clone(&table));
    let new = tokens(&table, &[b"new"]);
    for round in 0..3 {
        let mut cell = decoded(&codec, &chunk(&[b"old", b"older"]), 2 * TOKEN).unwrap();
        let old = cell.clone();
        cell[..TOKEN].copy_from_slice(&new);
        assert_eq!(encoded(&codec, &cell), chunk(&[b"new", b"older"]), "round {round}");
        codec.keep(&mut [], &old).unwrap();
        assert!(table.blocks().element(u64::from_ne_bytes(cell[TOKEN..].try_into().unwrap())).is_err());
    }
    assert_eq!(elements(&table, &new), ["new"], "the caller's elements stay");
}

#[test]
fn only_what_is_wanted_is_kept() {
    let table = table();
    let codec = Vlen::new(Arc::clone(&table));
    let long = [b'x'; 1000];
    let cell = decoded(&codec, &chunk(&[&long, b"wanted", &long, b"none"]), 4 * TOKEN).unwrap();
    let mut wanted = [&cell[TOKEN..2 * TOKEN], &cell[3 * TOKEN..], &cell[TOKEN..2 * TOKEN]].concat();
    codec.keep(&mut wanted, &cell).unwrap();
    assert_eq!(elements(&table, &wanted), ["wanted", "none", "wanted"]);
    assert!(table.blocks().element(u64::from_ne_bytes(cell[..TOKEN].try_into().unwrap())).is_err());
}

#[test]
fn what_is_wanted_often_is_kept_once() {
    let table = table();
    let codec = Vlen::new(Arc::clone(&table));
    let long = [b'x'; 1000];
    let cell = decoded(&codec, &chunk(&[&long, b"marker", b"", b"none"]), 4 * TOKEN).unwrap();
    let mut wanted = [vec![&cell[..TOKEN]; 50].concat(), cell[TOKEN..].to_vec()].concat();
    codec.keep(&mut wanted, &cell).unwrap();
    let long = "x".repeat(1000);
    let mut expected = vec![long.as_str(); 50];
    expected.extend(["marker", "", "none"]);
    assert_eq!(elements(&table, &wanted), expected);
    let places: Vec<u64> =
        wanted.chunks_exact(TOKEN).map(|token| u64::from_ne_bytes(token.try_into().unwrap()) & 0xffff_ffff).collect();
    assert!(places.iter().all(|&place| place < 1100), "{places:?}");
}

#[test]
fn chunks_of_nothing_but_fill_keep_nothing() {
    let table = table();
    let codec = Vlen::new(Arc::clone(&table));
    let first = decoded(&codec, &chunk(&[b"none", b"none"]), 2 * TOKEN).unwrap();
    assert_eq!(first, [0; 2 * TOKEN]);
    // The number of the block is free again.
    let second = decoded(&codec, &chunk(&[b"a", b"none"]), 2 * TOKEN).unwrap();
    assert_eq!(u64::from_ne_bytes(second[..TOKEN].try_into().unwrap()) >> 32, 0);
}

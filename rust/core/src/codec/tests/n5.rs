//! `n5`.

use super::super::gzip::Gzip;
use super::super::n5::N5;
use super::*;

/// A block of 3 x 2 single bytes, the first axis fastest.
fn raw() -> N5 {
    N5::new(vec![3, 2], 1, None).unwrap()
}

fn stored(numbers: &[u8], elements: &[u8]) -> Vec<u8> {
    [numbers, elements].concat()
}

const WHOLE: [u8; 12] = [0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2];
const SHORT: [u8; 12] = [0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2];

#[test]
fn a_block_has_a_header() {
    let src = encoded(&raw(), b"abcdef");
    assert_eq!(src, stored(&WHOLE, b"abcdef"));
    assert_eq!(decoded(&raw(), &src, 6).unwrap(), b"abcdef");
    assert_eq!(bounded(&raw(), &src, 6).unwrap(), b"abcdef");
    let mut part = [0; 2];
    assert!(raw().decode_part(&src, 6, 3, &mut part).unwrap());
    assert_eq!(&part, b"de");
    assert_eq!(raw().decode_part(&src, 6, 5, &mut part).unwrap_err().kind, Kind::Request);
}

#[test]
fn no_more_than_the_header_and_what_is_wanted_is_read() {
    use std::cell::RefCell;

    let fetched = |src: &[u8], decoded: usize, offset: usize, dst: &mut [u8]| {
        let asked = RefCell::new(Vec::new());
        let fetch = |start: usize, bytes: &mut [u8]| {
            asked.borrow_mut().push((start, bytes.len()));
            bytes.copy_from_slice(&src[start..start + bytes.len()]);
            Ok(true)
        };
        let done = raw().decode_fetched(&mut vec![0; src.len()], decoded, offset, dst, &fetch);
        done.then(|| asked.into_inner())
    };
    let src = stored(&WHOLE, b"abcdef");
    let mut part = [0; 2];
    assert_eq!(fetched(&src, 6, 3, &mut part), Some(vec![(0, 12), (15, 2)]));
    assert_eq!(&part, b"de");
    // What is not whole, too short or too long, of another size, or outside, is for who decodes all of it.
    for src in [&stored(&SHORT, b"abcd"), &src[..17], &[&src[..], b"g"].concat(), &src[..11]] {
        assert_eq!(fetched(src, 6, 0, &mut part), None);
    }
    assert_eq!(fetched(&src, 5, 0, &mut part), None);
    assert_eq!(fetched(&src, 6, 5, &mut part), None);
    assert_eq!(fetched(&src, 6, usize::MAX, &mut part), None);
}

#[test]
fn a_short_block_is_filled_up_with_zeros() {
    let src = stored(&SHORT, b"abcd");
    assert_eq!(decoded(&raw(), &src, 6).unwrap(), b"ab\0cd\0");
    assert!(!raw().decode_part(&src, 6, 0, &mut [0; 2]).unwrap());
    // Along every axis, and of wider elements behind a compressor.
    let codec = |codec| N5::new(vec![2, 3, 2], 2, codec).unwrap();
    let numbers = [0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2];
    let expected = b"aa\0\0bb\0\0\0\0\0\0cc\0\0dd\0\0\0\0\0\0";
    assert_eq!(decoded(&codec(None), &stored(&numbers, b"aabbccdd"), 24).unwrap(), expected);
    let body = encoded(&Gzip::new(1).unwrap(), b"aabbccdd");
    let gzip = codec(Some(Box::new(Gzip::new(1).unwrap())));
    assert_eq!(decoded(&gzip, &stored(&numbers, &body), 24).unwrap(), expected);
    // Nothing at all is a block, too.
    let none = [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2];
    assert_eq!(decoded(&raw(), &none, 6).unwrap(), [0; 6]);
}

#[test]
fn a_block_may_say_how_many_elements_it_has() {
    let counted = |count: u8| [&[0, 1], &SHORT[2..], &[0, 0, 0, count], b"abcd"].concat();
    assert_eq!(decoded(&raw(), &counted(4), 6).unwrap(), b"ab\0cd\0");
    let error = decoded(&raw(), &counted(5), 6).unwrap_err();
    assert_eq!(error.to_string(), "n5: expected 4 elements in a block of [2, 2], found 5: of variable length");
    let whole = [&[0, 1], &WHOLE[2..], &[0, 0, 0, 6], b"abcdef"].concat();
    assert!(whole.len() <= raw().max_encoded_len(6));
    assert_eq!(decoded(&raw(), &whole, 6).unwrap(), b"abcdef");
}

#[test]
fn one_element_without_dimensions() {
    let codec = N5::new(vec![], 2, None).unwrap();
    let src = encoded(&codec, b"ab");
    assert_eq!(src, b"\0\0\0\0ab");
    assert_eq!(decoded(&codec, &src, 2).unwrap(), b"ab");
    assert_eq!(decoded(&codec, b"\0\x01\0\0\0\0\0\x01ab", 2).unwrap(), b"ab");
}

#[test]
fn every_codec_may_stand_behind_the_header() {
    for size in [1, 2, 1000, 200_001] {
        let codec = N5::new(vec![size, 1], 1, Some(Box::new(Gzip::new(6).unwrap()))).unwrap();
        for value in [ramp(size), noise(size)] {
            let mut src = b"before".to_vec();
            codec.encode(&value, &mut src).unwrap();
            assert_eq!(&src[..10], b"before\0\0\0\x02");
            assert!(src.len() - 6 <= codec.max_encoded_len(size));
            assert_eq!(decoded(&codec, &src[6..], size).unwrap(), value);
            for cut in 6..src.len().min(60) {
                let error = decoded(&codec, &src[6..cut], size).unwrap_err();
                assert_eq!(error.codec, Some(if cut < 18 { "n5" } else { "gzip" }));
            }
        }
    }
}

#[test]
fn what_it_refuses() {
    let refused = |src: &[u8]| {
        let error = decoded(&raw(), src, 6).unwrap_err();
        assert_placed(&raw(), &error);
        assert!(raw().decode_part(src, 6, 0, &mut [0; 2]).is_err());
        assert!(bounded(&raw(), src, 6).is_err());
        error.to_string()
    };
    assert_eq!(refused(b""), "n5: expected a header of 12 bytes, found 0 bytes in all");
    assert_eq!(refused(&WHOLE[..11]), "n5: expected a header of 12 bytes, found 11 bytes in all");
    assert_eq!(refused(&stored(&[0, 2], &WHOLE[2..])), "n5: expected mode 0 or 1, found 2");
    assert_eq!(refused(&[0, 0, 0xff, 0xff, 0, 0, 0, 1]), "n5: expected 2 dimensions, found 65535");
    let huge = [0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2];
    assert_eq!(refused(&huge), "n5: expected a block of at most [3, 2], found [4294967295, 2]");
    assert_eq!(refused(&stored(&WHOLE, b"abcde")), "n5: expected 6 bytes, found 5");
    assert_eq!(refused(&stored(&WHOLE, b"abcdefg")), "n5: expected 6 bytes, found 7");
    assert_eq!(decoded(&raw(), &stored(&SHORT, b"abc"), 6).unwrap_err().to_string(), "n5: expected 4 bytes, found 3");
    let error = raw().encode(b"abc", &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "n5: expected 6 bytes, found 3");
    assert_eq!(error.direction, Some(crate::error::Direction::Encode));
    assert_eq!(bounded(&raw(), &stored(&WHOLE, b"abcdef"), 5).unwrap_err().kind, Kind::Codec);
    assert!(N5::new(vec![1 << 33], 1, None).is_err());
    assert!(N5::new(vec![1 << 31, 1 << 31, 1 << 31], 8, None).is_err());
    assert!(N5::new(vec![1; 65536], 1, None).is_err());
}

//! `shuffle`.

use super::super::shuffle::Shuffle;
use super::*;

#[test]
fn bytes_of_a_place_stand_together() {
    let codec = Shuffle::new(4).unwrap();
    let src = encoded(&codec, b"abcdABCD0123");
    assert_eq!(src, b"aA0bB1cC2dD3");
    assert_eq!(decoded(&codec, &src, 12).unwrap(), b"abcdABCD0123");
    assert_eq!(bounded(&codec, &src, 12).unwrap(), b"abcdABCD0123");
    for element in [0, 1] {
        assert_eq!(encoded(&Shuffle::new(element).unwrap(), b"abc"), b"abc");
    }
    assert!(Shuffle::new(-1).is_err());
}

#[test]
fn every_size_of_an_element_round_trips() {
    for element in [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 255, 256, 1000] {
        let codec = Shuffle::new(element).unwrap();
        for count in [0, 1, 2, 15, 16, 17, 100, 1023] {
            let value = noise(element as usize * count);
            let src = encoded(&codec, &value);
            assert_eq!(codec.fixed_encoded_len(value.len()), Some(src.len()));
            assert_eq!(decoded(&codec, &src, value.len()).unwrap(), value, "{element} {count}");
        }
    }
}

#[test]
fn what_it_refuses() {
    let codec = Shuffle::new(4).unwrap();
    let error = codec.encode(b"abc", &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "shuffle: expected a multiple of 4 bytes, found 3");
    assert_eq!(error.direction, Some(crate::error::Direction::Encode));
    assert_placed(&codec, &decoded(&codec, b"abc", 3).unwrap_err());
    assert_eq!(decoded(&codec, b"abcd", 8).unwrap_err().to_string(), "shuffle: expected 8 bytes, found 4");
    assert_eq!(bounded(&codec, b"abcdabcd", 4).unwrap_err().kind, Kind::Codec);
}

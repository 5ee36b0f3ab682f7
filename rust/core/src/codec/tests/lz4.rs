//! `lz4`.

use super::super::lz4::Lz4;
use super::*;

fn lz4(acceleration: i64) -> Lz4 {
    Lz4::new(acceleration).unwrap()
}

#[test]
fn every_size_round_trips() {
    for acceleration in [-1, 1, 20] {
        check_round_trips(&lz4(acceleration));
    }
    assert!(Lz4::new(1 << 40).is_err());
}

/// Rows 1, 5, 8, 11.
#[test]
fn cut_extended_or_resized_values_are_refused() {
    check_refusals(&lz4(1), &ramp(3000));
    check_refusals(&lz4(1), &noise(300));
    check_foreign_bytes(&lz4(1));
}

/// Rows 7 and 10.
#[test]
fn damage_is_refused_or_has_the_right_size() {
    check_mutations(&lz4(1), &encoded(&lz4(1), &ramp(5000)), 5000, 3000);
}

#[test]
fn what_it_says() {
    let src = encoded(&lz4(1), &noise(4096));
    let said = |src: &[u8]| decoded(&lz4(1), src, 4096).unwrap_err().to_string();
    assert_eq!(said(&src[..3]), "lz4: data ended after 3 of 5 encoded bytes");
    assert_eq!(said(&src[..100]), "lz4: encoded data is damaged near byte 23 of 100");
    let claimed = [&[0xff; 4], &src[4..]].concat();
    assert_eq!(said(&claimed), "lz4: expected 4,096 bytes, found 4,294,967,295");
    let error = bounded(&lz4(1), &claimed, 1 << 20).unwrap_err().to_string();
    assert_eq!(error, "lz4: data decodes to more than the 1,048,576 bytes allowed here");
}

/// numcodecs 0.16.6, `LZ4().encode(bytes(range(10)) * 20)`.
#[test]
fn a_value_of_numcodecs() {
    let value: Vec<u8> = (0..200).map(|i| i % 10).collect();
    let src = unhex("c8000000af000102030405060708090a00a6500506070809");
    assert_eq!(decoded(&lz4(1), &src, 200).unwrap(), value);
    assert_eq!(encoded(&lz4(1), &value), src);
}

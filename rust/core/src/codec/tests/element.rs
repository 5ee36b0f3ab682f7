//! The elements of the `bytes` codec.

use super::super::element::{normalise_booleans, Swap};
use super::*;

#[test]
fn units_are_reversed() {
    for (unit, expected) in [
        (0, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (1, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (2, [2, 1, 4, 3, 6, 5, 8, 7, 9]),
        (4, [4, 3, 2, 1, 8, 7, 6, 5, 9]),
        (8, [8, 7, 6, 5, 4, 3, 2, 1, 9]),
    ] {
        let swap = Swap::new(unit).unwrap();
        let mut data = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        swap.apply(&mut data);
        assert_eq!(data, expected);
        let mut copy = [0; 9];
        swap.copy(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &mut copy);
        assert_eq!(copy, expected);
    }
}

/// Lengths around the width of a vector, from odd addresses, against one element at a time; twice is the identity.
#[test]
fn any_length_and_alignment_will_do() {
    for unit in [2, 4, 8] {
        let swap = Swap::new(unit).unwrap();
        for (start, length) in (0..9).flat_map(|start| (0..150).map(move |length| (start, length))) {
            let value = noise(start + length);
            let mut data = value.clone();
            swap.apply(&mut data[start..]);
            let mut expected = value.clone();
            expected[start..].chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            assert_eq!(data, expected, "{unit} {start} {length}");
            swap.apply(&mut data[start..]);
            assert_eq!(data, value);
        }
    }
}

#[test]
fn other_units_are_refused() {
    for unit in [3, 5, 16, usize::MAX] {
        let error = Swap::new(unit).unwrap_err();
        assert_eq!(error.to_string(), format!("bytes: swap unit: expected 0, 1, 2, 4 or 8 bytes, found {unit}"));
    }
}

/// Row 17: a boolean byte of 2 is true, and true is 1.
#[test]
fn booleans_are_0_or_1() {
    let mut data: Vec<u8> = (0..=255).collect();
    normalise_booleans(&mut data);
    assert_eq!(data[0], 0);
    assert!(data[1..].iter().all(|byte| *byte == 1));
}

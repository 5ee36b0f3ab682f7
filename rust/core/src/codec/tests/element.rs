//! The elements of the `bytes` codec.

use super::super::element::{normalise_booleans, Run, Swap};
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

#[test]
fn fields_are_swapped_one_by_one() {
    let run = |length, unit| Run { length, unit };
    // A 32-bit number, a byte, two 16-bit numbers: nine bytes an element, twice, and a part of a third.
    let swap = Swap::fields(vec![run(4, 4), run(1, 1), run(4, 2)], 9).unwrap();
    let stored: Vec<u8> = (0..22).collect();
    let expected = [3, 2, 1, 0, 4, 6, 5, 8, 7, 12, 11, 10, 9, 13, 15, 14, 17, 16, 18, 19, 20, 21];
    let mut data = stored.clone();
    swap.apply(&mut data);
    assert_eq!(data, expected);
    let mut copied = vec![0; stored.len()];
    swap.copy(&stored, &mut copied);
    assert_eq!(copied, expected);
    swap.apply(&mut data);
    assert_eq!(data, stored, "twice is not at all");
}

#[test]
fn fields_that_do_not_make_an_element_are_refused() {
    let run = |length, unit| Run { length, unit };
    for (runs, itemsize) in [
        (vec![run(4, 4)], 5),
        (vec![run(3, 2), run(2, 1)], 5),
        (vec![run(0, 1), run(5, 1)], 5),
        (vec![run(usize::MAX, 1), run(6, 1)], 5),
        (vec![run(5, 3)], 5),
    ] {
        assert_eq!(Swap::fields(runs, itemsize).unwrap_err().codec, Some("bytes"));
    }
    assert_eq!(Swap::fields(vec![run(2, 1), run(3, 0)], 5).unwrap(), Swap::None);
}

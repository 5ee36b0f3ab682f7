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
        assert_eq!(swap.size(), unit.max(1));
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

fn run(length: usize, unit: usize) -> Run {
    Run { length, swap: Swap::new(unit).unwrap() }
}

#[test]
fn fields_are_reversed_one_by_one() {
    // A 32-bit number, a byte, two 16-bit numbers: nine bytes an element, twice, and a part of a third.
    let swap = Swap::fields(vec![run(4, 4), run(1, 1), run(4, 2)]).unwrap();
    let stored: Vec<u8> = (0..22).collect();
    let mut data = stored.clone();
    swap.apply(&mut data);
    assert_eq!(data, [3, 2, 1, 0, 4, 6, 5, 8, 7, 12, 11, 10, 9, 13, 15, 14, 17, 16, 18, 19, 20, 21]);
    swap.apply(&mut data);
    assert_eq!(data, stored, "twice is not at all");
}

#[test]
fn what_is_alike_is_one_run() {
    assert_eq!(Swap::fields(vec![run(4, 4), run(8, 4)]).unwrap(), Swap::Four);
    assert_eq!(Swap::fields(vec![run(2, 1), run(3, 0)]).unwrap(), Swap::None);
    let pair = Swap::fields(vec![run(2, 2), run(1, 1)]).unwrap();
    let inner = |count: usize| Run { length: 3 * count, swap: pair.clone() };
    assert_eq!(Swap::fields(vec![inner(2), inner(1)]).unwrap(), pair);
    let swap = Swap::fields(vec![run(2, 2), run(2, 2), run(1, 1), inner(1), inner(4)]).unwrap();
    assert_eq!(swap.size(), 20);
    assert_eq!(swap, Swap::fields(vec![run(4, 2), run(1, 0), inner(5)]).unwrap());
}

/// Elements of random fields, some of them elements of fields in turn, and how wide each unit of one element is.
fn random_fields(random: &mut Random, depth: usize) -> (Swap, Vec<usize>) {
    let mut runs = Vec::new();
    let mut units = Vec::new();
    for _ in 0..1 + random.below(5) {
        let (swap, unit, most) = if depth > 0 && random.below(3) == 0 {
            let (swap, units) = random_fields(random, depth - 1);
            (swap, units, 4)
        } else {
            // Mostly short; now and then longer than a block.
            let unit = [1, 2, 4, 8][random.below(4)];
            (Swap::new(unit).unwrap(), vec![unit], if random.below(60) == 0 && !cfg!(miri) { 3000 } else { 4 })
        };
        let count = 1 + random.below(most);
        runs.push(Run { length: count * unit.iter().sum::<usize>(), swap });
        units.extend(unit.repeat(count));
    }
    (Swap::fields(runs).unwrap(), units)
}

/// However fields nest, and however many elements there are, it is as if each unit had been reversed by itself.
#[test]
fn fields_of_any_shape_are_reversed_unit_by_unit() {
    let rounds = if cfg!(miri) { 12 } else { 300 };
    let mut random = Random::new(21);
    for round in 0..rounds {
        let (swap, units) = random_fields(&mut random, if cfg!(miri) { 1 } else { 3 });
        let size: usize = units.iter().sum();
        let most = if cfg!(miri) { 400 } else { 60_000 };
        let length = size * random.below(most / size + 3) + random.below(2) * random.below(size);
        let value = noise(length);
        let mut expected = value.clone();
        if size > 1 {
            assert_eq!(size % swap.size(), 0);
        }
        let whole = length - length % swap.size();
        let mut at = 0;
        for &unit in units.iter().cycle() {
            if at + unit > whole {
                break;
            }
            expected[at..at + unit].reverse();
            at += unit;
        }
        let mut data = value.clone();
        swap.apply(&mut data);
        assert_eq!(data, expected, "round {round}: {swap:?}, {length} bytes");
        swap.apply(&mut data);
        assert_eq!(data, value, "round {round}: {swap:?}, {length} bytes, twice");
    }
}

#[test]
fn fields_that_make_no_element_are_refused() {
    let pair = Swap::fields(vec![run(2, 2), run(1, 1)]).unwrap();
    for (runs, reason) in [
        (vec![], "bytes: runs: expected at least one, found none"),
        (vec![run(3, 2), run(2, 1)], "bytes: run: expected some bytes, in whole units, found 3"),
        (vec![run(0, 1), run(5, 1)], "bytes: run: expected some bytes, in whole units, found 0"),
        (vec![Run { length: 4, swap: pair }], "bytes: run: expected some bytes, in whole units, found 4"),
        (vec![run(usize::MAX, 1), run(8, 8)], "bytes: runs: expected fewer bytes than there is memory, found more"),
    ] {
        assert_eq!(Swap::fields(runs).unwrap_err().to_string(), reason);
    }
}

//! Formats of numbers: every value, every rounding, the ends.

use super::super::bitround::Bitround;
use super::super::cast_value::CastValue;
use super::super::delta::Delta;
use super::super::fixed_scale_offset::FixedScaleOffset;
use super::super::number::{bits, put, Format, Number, Rounding, Stored, FLOAT64, NAMES};
use super::super::packbits::Packbits;
use super::super::scale_offset::ScaleOffset;
use super::super::swap::Swapped;
use super::super::{BytesToBytes, Value};
use super::{assert_placed, bounded, check_mutations, decoded, encoded};

fn all() -> impl Iterator<Item = (&'static str, Format)> {
    NAMES.into_iter().chain([("float64", FLOAT64)])
}

#[test]
fn every_narrow_value_is_stored_as_it_was_loaded() {
    for (name, format) in all().filter(|(_, format)| format.bits() <= 16) {
        for bits in 0..1_u64 << format.bits() {
            let number = format.load(bits);
            let stored = format.store(number, Rounding::TowardsZero);
            match number {
                Number::Float(value) if value.is_nan() => match stored {
                    Stored::Bits(back) => assert!(format.load_float(back).is_nan(), "{name} {bits:x}"),
                    other => panic!("{name} {bits:x}: {other:?}"),
                },
                _ => assert_eq!(stored, Stored::Bits(bits), "{name} {bits:x} {number}"),
            }
        }
    }
}

#[test]
fn numbers_between_two_neighbours_round_as_asked() {
    use Rounding::*;
    for (name, format) in all().filter(|(_, format)| format.bits() <= 16 && !format.is_integer()) {
        let mut values: Vec<f64> = (0..1_u64 << format.bits()).map(|bits| format.load_float(bits)).collect();
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        values.dedup();
        for pair in values.windows(2) {
            let (low, high) = (pair[0], pair[1]);
            let middle = low + (high - low) / 2.0;
            let back = |value, rounding| match format.store(Number::Float(value), rounding) {
                Stored::Bits(bits) => format.load_float(bits),
                other => panic!("{name} {value}: {other:?}"),
            };
            assert_eq!(back(middle, TowardsPositive), high, "{name} {low} {high}");
            assert_eq!(back(middle, TowardsNegative), low, "{name} {low} {high}");
            assert_eq!(back(middle, TowardsZero), if low < 0.0 { high } else { low }, "{name} {low} {high}");
            assert_eq!(back(middle, NearestAway), if low < 0.0 { low } else { high }, "{name} {low} {high}");
            for (value, near) in [(low + (high - low) * 0.25, low), (low + (high - low) * 0.75, high)] {
                assert_eq!(back(value, NearestEven), near, "{name} {low} {high}");
                assert_eq!(back(value, NearestAway), near, "{name} {low} {high}");
            }
            if format != NAMES[22].1 {
                let even = back(middle, NearestEven);
                let Stored::Bits(bits) = format.store(Number::Float(even), NearestEven) else { panic!() };
                assert_eq!(bits & 1, 0, "{name} {low} {high} {even}");
            }
        }
    }
}

#[test]
fn long_integers_round_once() {
    let format = Format::named("test", "float32").unwrap();
    // A tie after rounding to 53 bits, but not before.
    let value = (1_i128 << 60) + (1 << 36) + 1;
    let Stored::Bits(bits) = format.store(Number::Integer(value), Rounding::NearestEven) else { panic!() };
    assert_eq!(format.load(bits), Number::Float(((1_u64 << 60) + (1 << 37)) as f64));
    let Stored::Bits(bits) = format.store(Number::Integer(-value), Rounding::TowardsZero) else { panic!() };
    assert_eq!(format.load(bits), Number::Float(-((1_u64 << 60) as f64)));
}

#[test]
fn the_ends_of_each_format() {
    for (name, low, high) in [
        ("int4", -8.0, 7.0),
        ("uint16", 0.0, 65535.0),
        ("float6_e3m2fn", -28.0, 28.0),
        ("float8_e4m3fn", -448.0, 448.0),
        ("float8_e4m3b11fnuz", -30.0, 30.0),
        ("float16", f64::NEG_INFINITY, f64::INFINITY),
    ] {
        let format = Format::named("test", name).unwrap();
        assert_eq!((format.load_float(format.end(false)), format.load_float(format.end(true))), (low, high), "{name}");
        assert_eq!(format.store(Number::Float(1e9), Rounding::TowardsZero), Stored::Above, "{name}");
        assert_eq!(format.store(Number::Float(-1e9), Rounding::TowardsZero), Stored::Below, "{name}");
    }
}

#[test]
fn values_of_another_size_are_refused_and_damaged_ones_have_theirs() {
    let text = |text: &str| Value::Text(text.to_owned());
    let cast = |from, to| [text(from), text(to), text("nearest-even"), text("wrap"), text(""), text("0:7f")];
    let codecs: [Box<dyn BytesToBytes>; 9] = [
        Box::new(Bitround::new(4, 23, 3).unwrap()),
        Box::new(CastValue::new(&cast("int16", "int8")).unwrap()),
        Box::new(CastValue::new(&cast("uint64", "int32")).unwrap()),
        Box::new(Packbits::new(6, 1, 4, false, "none").unwrap()),
        Box::new(Packbits::new(32, 0, 12, true, "first_byte").unwrap()),
        Box::new(ScaleOffset::new("int32", "5", "3").unwrap()),
        Box::new(Delta::new("int16", "int32").unwrap()),
        Box::new(FixedScaleOffset::new("float64", "int32", "0", "1").unwrap()),
        Box::new(Swapped::new(8).unwrap()),
    ];
    for codec in codecs {
        // Small numbers, so that each type has what is made of them.
        let value: Vec<u8> = (0..4096).map(|index| if index % 8 == 0 { 7 } else { 0 }).collect();
        let src = encoded(&*codec, &value);
        assert_eq!(Some(src.len()), codec.fixed_encoded_len(value.len()), "{}", codec.name());
        let made = decoded(&*codec, &src, value.len()).unwrap();
        assert_eq!(bounded(&*codec, &src, value.len()).unwrap(), made, "{}", codec.name());
        for size in [0, 1, value.len() - 8, value.len() + 8] {
            assert_placed(&*codec, &decoded(&*codec, &src, size).expect_err("another size"));
        }
        for length in [0, 1, src.len() - 1] {
            assert_placed(&*codec, &decoded(&*codec, &src[..length], value.len()).expect_err("a cut value"));
        }
        check_mutations(&*codec, &src, value.len(), 2000);
    }
}

#[test]
fn casts_to_float32_round_as_asked_whether_or_not_they_must() {
    let text = |text: &str| Value::Text(text.to_owned());
    let tenth = 0.1_f64;
    for (rounding, expected) in [("nearest-even", 0.1_f32), ("towards-zero", 0.099_999_994), ("towards-positive", 0.1)]
    {
        for values in [vec![0.5, -3.0, 16_777_216.0], vec![0.5, tenth, -3.0]] {
            let options = [text("float64"), text("float32"), text(rounding), text(""), text(""), text("")];
            let src: Vec<u8> = values.iter().flat_map(|value: &f64| value.to_ne_bytes()).collect();
            let made = encoded(&CastValue::new(&options).unwrap(), &src);
            let wanted = values.iter().map(|&value| if value == tenth { expected } else { value as f32 });
            assert_eq!(made, wanted.flat_map(f32::to_ne_bytes).collect::<Vec<_>>(), "{rounding} {values:?}");
        }
    }
}

/// `from:to` of more numbers than are looked for in whole blocks, so that all elements are cast one by one.
const MANY: i64 = 40;

fn cast(from: (&str, Format), to: &str, (rounding, rule): (&str, &str), one_by_one: bool) -> CastValue {
    let entry = |number: i64| match from.1.store(Number::Integer(i128::from(number)), Rounding::TowardsZero) {
        Stored::Bits(bits) => format!("{bits:x}:0"),
        other => panic!("{} {number} {other:?}", from.0),
    };
    let map = (1000..1000 + MANY).map(entry).collect::<Vec<_>>().join(",");
    let text = |text: &str| Value::Text(text.to_owned());
    let map = if one_by_one { map } else { String::new() };
    CastValue::new(&[text(from.0), text(to), text(rounding), text(rule), text(&map), text("")]).unwrap()
}

/// Numbers of a format, more than a block of them: usual ones, halves, and any bits; but none that `cast` maps.
fn numbers(format: Format) -> Vec<Vec<u8>> {
    let mut random = super::Random::new(format.bits().into());
    let small = |number: i128| match format.store(Number::Float(number as f64 / 8.0), Rounding::TowardsZero) {
        Stored::Bits(bits) => bits,
        _ => 0,
    };
    let is_mapped = |bits: &u64| match format.load(*bits) {
        Number::Integer(value) => (1000..1040).contains(&value),
        Number::Float(value) => (1000.0..1040.0).contains(&value),
    };
    let sets: [Vec<u64>; 4] = [
        (0..600).map(small).collect(),
        (-600..600).map(small).collect(),
        (0..600).map(|_| random.next() & (u64::MAX >> (64 - format.bits()))).collect(),
        // One by one, so that what one of them is refused for hides nothing of the others.
        vec![],
    ];
    let bytes = |bits: &u64| bits.to_le_bytes()[..format.bytes()].to_vec();
    let mut values: Vec<Vec<u8>> =
        sets.iter().map(|set| set.iter().filter(|bits| !is_mapped(bits)).flat_map(bytes).collect()).collect();
    values.extend(sets[2].iter().filter(|bits| !is_mapped(bits)).take(60).map(bytes));
    let ends = [format.end(false), format.end(true), 0, format.wrapped(1 << (format.bits() - 1))];
    values.extend(ends.iter().map(bytes));
    values
}

/// Blocks are cast from every format to every other, by every rule, as single numbers are.
#[test]
#[cfg(target_endian = "little")]
fn blocks_are_cast_as_single_numbers_are() {
    let modes = ["nearest-even", "nearest-away", "towards-zero", "towards-positive", "towards-negative"];
    for from in all().filter(|(_, format)| format.bytes() > 1) {
        let values = numbers(from.1);
        for (to, format) in all() {
            for (mode, rule) in modes.into_iter().flat_map(|mode| ["", "clamp", "wrap"].map(|rule| (mode, rule))) {
                let (fast, slow) = (cast(from, to, (mode, rule), false), cast(from, to, (mode, rule), true));
                for value in &values {
                    let (mut one, mut other) = (Vec::new(), Vec::new());
                    let what = || format!("{} as {to}, {mode}, {rule}: {value:?}", from.0);
                    match (fast.encode(value, &mut one), slow.encode(value, &mut other)) {
                        (Ok(()), Ok(())) => {
                            for (one, other) in one.chunks(format.bytes()).zip(other.chunks(format.bytes())) {
                                let is_nan = |bytes| format.load_float(bits(bytes)).is_nan();
                                assert!(
                                    one == other || (is_nan(one) && is_nan(other)),
                                    "{}: {one:?} {other:?}",
                                    what()
                                );
                            }
                        }
                        (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string(), "{}", what()),
                        (one, other) => panic!("{}: {one:?} {other:?}", what()),
                    }
                }
            }
        }
    }
}

/// Entries of a map are found in blocks, the first one of NaN, of both zeros, and of numbers that a type does not have.
#[test]
fn mapped_numbers_stand_among_others() {
    let text = |text: &str| Value::Text(text.to_owned());
    let map = "7fc00000:8000,0:7,7f800000:7fff";
    let options = [text("float32"), text("int16"), text("nearest-even"), text(""), text(map), text("8000:7fc00000")];
    let codec = CastValue::new(&options).unwrap();
    let numbers = |index: usize| match index % 7 {
        0 => f32::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f32::INFINITY,
        _ => index as f32 / 2.0,
    };
    let value: Vec<u8> = (0..5000).flat_map(|index| numbers(index).to_ne_bytes()).collect();
    let expected = |index: usize| match index % 7 {
        0 => i16::MIN,
        1 | 2 => 7,
        3 => i16::MAX,
        _ => (index as f64 / 2.0).round_ties_even() as i16,
    };
    let src = encoded(&codec, &value);
    assert_eq!(src, (0..5000).flat_map(|index| expected(index).to_ne_bytes()).collect::<Vec<_>>());
    let back = decoded(&codec, &src, value.len()).unwrap();
    for (index, bytes) in back.as_chunks().0.iter().enumerate() {
        let (found, number) = (f32::from_ne_bytes(*bytes), expected(index));
        assert!(found == f32::from(number) || (number == i16::MIN && found.is_nan()), "{index} {found}");
    }
    // Refused is the first that has no rule, named by its place in the chunk.
    let far = [value, 40000.0_f32.to_ne_bytes().to_vec()].concat();
    let error = codec.encode(&far, &mut Vec::new()).unwrap_err();
    assert!(error.reason.contains("found 40000 as element 5,000 of a chunk"), "{error}");
}

/// `scale_offset` of every integer of some bits, and of those around the ends, as exact arithmetic has it.
#[test]
fn integers_are_scaled_as_exact_arithmetic_has_it() {
    for (name, format) in all().filter(|(_, format)| format.is_integer()) {
        let (least, most) = format.range();
        let fits = |value: i128| (least..=most).contains(&value);
        for (offset, scale) in [(0, 1), (5, 1), (-3, 2), (1, -1), (7, 12), (least, 1), (most, 3), (0, least), (1, most)]
        {
            if !fits(offset) || !fits(scale) || scale == 0 {
                continue;
            }
            let digits = |value: i128| format!("{:x}", format.wrapped(value));
            let codec = ScaleOffset::new(name, &digits(offset), &digits(scale)).unwrap();
            let near = |middle: i128| (middle - 30..middle + 30).filter(|&value| fits(value));
            for value in near(0).chain(near(least)).chain(near(most)).chain(near(offset)) {
                let bytes = |value: i128| {
                    let mut bytes = vec![0; format.bytes()];
                    put(format.wrapped(value), &mut bytes);
                    bytes
                };
                let what = format!("{name} {value}, {offset} {scale}");
                let mut made = Vec::new();
                let done = codec.encode(&bytes(value), &mut made);
                match Some(value - offset).filter(|&value| fits(value)).map(|value| value.saturating_mul(scale)) {
                    Some(expected) if fits(expected) => assert_eq!(made, bytes(expected), "{what}"),
                    _ => assert!(done.is_err(), "{what}: {made:?}"),
                }
                let made = decoded(&codec, &bytes(value), format.bytes());
                match (value % scale == 0 && fits(value / scale), value / scale + offset) {
                    (true, expected) if fits(expected) => assert_eq!(made.unwrap(), bytes(expected), "{what}"),
                    _ => assert!(made.is_err(), "{what}: {made:?}"),
                }
            }
        }
    }
}

/// Each operation rounds to the data type, and beyond its range there is infinity, or an error.
#[test]
fn halves_are_scaled_in_their_own_arithmetic() {
    let half = Format::named("test", "float16").unwrap();
    let codec = ScaleOffset::new("float16", "3c00", "4200").unwrap(); // 1 and 3
    let bits_of = |value: f64| match half.store(Number::Float(value), Rounding::NearestEven) {
        Stored::Bits(bits) => (bits as u16).to_ne_bytes(),
        other => panic!("{other:?}"),
    };
    for (value, stored) in
        [(2.0, 3.0), (0.1, -2.7), (2049.0, 6140.0), (60000.0, f64::INFINITY), (f64::INFINITY, f64::INFINITY)]
    {
        assert_eq!(encoded(&codec, &bits_of(value)), bits_of(stored), "{value}");
    }
    assert_eq!(decoded(&codec, &bits_of(10.0), 2).unwrap(), bits_of(4.335_937_5));
    let codec = ScaleOffset::new("float8_e4m3fn", "0", "50").unwrap(); // 0 and 8
    assert_eq!(encoded(&codec, &[0x38]), [0x50]);
    let error = codec.encode(&[0x7e], &mut Vec::new()).unwrap_err();
    assert!(error.reason.contains("outside the range of dtype float8_e4m3fn"), "{error}");
}

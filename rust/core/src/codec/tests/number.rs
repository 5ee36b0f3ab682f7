//! Formats of numbers: every value, every rounding, the ends.

use super::super::bitround::Bitround;
use super::super::cast_value::CastValue;
use super::super::number::{Format, Number, Rounding, Stored, FLOAT64, NAMES};
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
    let codecs: [Box<dyn BytesToBytes>; 7] = [
        Box::new(Bitround::new(4, 23, 3).unwrap()),
        Box::new(CastValue::new(&cast("int16", "int8")).unwrap()),
        Box::new(CastValue::new(&cast("uint64", "int32")).unwrap()),
        Box::new(Packbits::new(6, 1, 4, false, "none").unwrap()),
        Box::new(Packbits::new(32, 0, 12, true, "first_byte").unwrap()),
        Box::new(ScaleOffset::new("int32", "5", "3").unwrap()),
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

/// Every rounding mode of whole blocks, as of single numbers: halves, both zeros, and numbers that no integer is.
#[test]
fn blocks_are_cast_as_single_numbers_are() {
    let modes = ["nearest-even", "nearest-away", "towards-zero", "towards-positive", "towards-negative"];
    let usual: Vec<f64> =
        (-600..600).map(|number| f64::from(number) / 8.0).chain([-0.0, 1e-300, 0.49999999999999994]).collect();
    let odd = [f64::NAN, f64::INFINITY, 1e300, -1e18, 4503599627370497.0, 2251799813685249.5, 2147483647.5, -129.0];
    for (mode, to) in modes.iter().flat_map(|mode| ["int8", "uint8", "int16", "int32", "uint32"].map(|to| (mode, to))) {
        let text = |text: &str| Value::Text(text.to_owned());
        let options = |map: &str| [text("float64"), text(to), text(mode), text("clamp"), text(map), text("")];
        // A map for a number that is not there: then all of them are cast one by one.
        let fast = CastValue::new(&options("")).unwrap();
        let slow = CastValue::new(&options("40b3880000000000:01")).unwrap();
        for values in [usual.clone(), usual.iter().map(|value| value.abs()).collect()] {
            for extra in odd.iter().map(Some).chain([None]) {
                let values: Vec<u8> = values.iter().chain(extra).flat_map(|value| value.to_ne_bytes()).collect();
                let (mut one, mut other) = (Vec::new(), Vec::new());
                assert_eq!(fast.encode(&values, &mut one).is_ok(), slow.encode(&values, &mut other).is_ok());
                assert!(one == other || extra.is_some_and(|value| value.is_nan()), "{mode} {to} {extra:?}");
            }
        }
    }
}

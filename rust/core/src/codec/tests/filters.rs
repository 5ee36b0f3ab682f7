//! `delta` and `fixedscaleoffset`. The expected numbers are those of numcodecs 0.16.

use super::super::delta::Delta;
use super::super::fixed_scale_offset::FixedScaleOffset;
use super::super::number::{Format, Number, Rounding, Stored, NAMES};
use super::*;

/// Elements of a data type, in bytes.
fn bytes(name: &str, values: &[f64]) -> Vec<u8> {
    let format = Format::named("test", name).unwrap();
    let element = |value: &f64| match format.store(Number::Float(*value), Rounding::NearestEven) {
        Stored::Bits(bits) => bits.to_ne_bytes()[..format.bytes()].to_vec(),
        other => panic!("{name} {value}: {other:?}"),
    };
    values.iter().flat_map(element).collect()
}

#[test]
#[cfg(target_endian = "little")]
fn differences_of_each_type() {
    for (elements, differences, values, made) in [
        ("int32", "int32", vec![100.0, 101.0, 99.0, -5.0], vec![100.0, 1.0, -2.0, -104.0]),
        ("int64", "int8", vec![100.0, 101.0, -27.0], vec![100.0, 1.0, -128.0]),
        // Of an unsigned type, differences wrap, whatever they are stored as.
        ("uint8", "uint8", vec![3.0, 1.0, 255.0], vec![3.0, 254.0, 254.0]),
        ("uint8", "int16", vec![3.0, 1.0], vec![3.0, 254.0]),
        ("uint16", "uint64", vec![1.0, 0.0], vec![1.0, 65535.0]),
        ("int8", "int64", vec![100.0, -100.0], vec![100.0, 56.0]),
        ("int8", "uint8", vec![1.0, 0.0], vec![1.0, 255.0]),
        ("int16", "int32", vec![], vec![]),
        ("float32", "float32", vec![-0.0, 0.5, f64::INFINITY], vec![-0.0, 0.5, f64::INFINITY]),
        ("float64", "float64", vec![1.5, 0.25, -3.0], vec![1.5, -1.25, -3.25]),
    ] {
        let codec = Delta::new(elements, differences).unwrap();
        let (value, src) = (bytes(elements, &values), bytes(differences, &made));
        assert_eq!(encoded(&codec, &value), src, "{elements} {differences}");
        assert_eq!(decoded(&codec, &src, value.len()).unwrap(), value, "{elements} {differences}");
        assert_eq!(bounded(&codec, &src, value.len()).unwrap(), value, "{elements} {differences}");
    }
}

/// More than a block: what is subtracted from the first element of a block is the last of the one before.
#[test]
fn every_pair_of_types_round_trips() {
    let integers = || NAMES.into_iter().filter(|(_, format)| format.is_integer() && format.bits() >= 8);
    for (elements, from) in integers() {
        for (differences, to) in integers().filter(|(_, to)| to.bits() >= from.bits()) {
            let codec = Delta::new(elements, differences).unwrap();
            for count in [0, 1, 2, 2047, 2048, 2049, 5000] {
                let value = noise(count * from.bytes());
                let src = encoded(&codec, &value);
                assert_eq!(Some(src.len()), codec.fixed_encoded_len(value.len()));
                assert_eq!(src.len(), count * to.bytes());
                assert_eq!(decoded(&codec, &src, value.len()).unwrap(), value, "{elements} {differences} {count}");
            }
        }
    }
}

#[test]
#[cfg(target_endian = "little")]
fn scaled_numbers_of_each_type() {
    let f4 = f64::from(0.1_f32);
    for (elements, stored, (offset, scale), values, made) in [
        ("float64", "int32", ("1000", "10"), vec![1000.0, 1000.1, 1000.25, 1000.35], vec![0.0, 1.0, 2.0, 4.0]),
        ("float64", "uint8", ("1000", "10"), vec![1000.0, 1025.5], vec![0.0, 255.0]),
        ("float32", "int16", ("0", "100"), vec![f4, -327.68, 0.005], vec![10.0, -32768.0, 0.0]),
        ("float32", "float32", ("0", "10"), vec![0.25, 0.35, f64::INFINITY], vec![2.0, 4.0, f64::INFINITY]),
        ("float64", "float32", ("0", "1"), vec![2.5, 3.5, -0.5, 1e300], vec![2.0, 4.0, -0.0, f64::INFINITY]),
        ("float64", "float64", ("0.5", "2"), vec![1.0, -1.0], vec![1.0, -3.0]),
        (
            "float64",
            "int64",
            ("0", "1"),
            vec![i64::MIN as f64, 4503599627370497.0],
            vec![i64::MIN as f64, 4503599627370497.0],
        ),
        ("float64", "uint64", ("0", "1"), vec![(u64::MAX - 2047) as f64], vec![(u64::MAX - 2047) as f64]),
        ("float64", "int8", ("0", "1"), vec![], vec![]),
    ] {
        let codec = FixedScaleOffset::new(elements, stored, offset, scale).unwrap();
        let value = match stored {
            "float32" => bytes(
                elements,
                &values.iter().map(|value| if *value == 1e300 { f64::INFINITY } else { *value }).collect::<Vec<_>>(),
            ),
            _ => bytes(elements, &values),
        };
        assert_eq!(encoded(&codec, &value), bytes(stored, &made), "{elements} {stored}");
    }
}

#[test]
#[cfg(target_endian = "little")]
fn scaled_numbers_are_read_in_float64_but_of_float32() {
    for (elements, stored, made, values) in [
        ("float64", "uint8", vec![0.0, 1.0, 255.0], vec![1000.0, 1000.1, 1025.5]),
        ("float32", "uint8", vec![1.0], vec![f64::from(1000.1_f32)]),
        // 3 / 10 + 1000 in float32, made wider afterwards.
        ("float64", "float32", vec![3.0], vec![f64::from(3.0_f32 / 10.0 + 1000.0)]),
        ("float32", "float64", vec![3.0], vec![f64::from((3.0_f64 / 10.0 + 1000.0) as f32)]),
    ] {
        let codec = FixedScaleOffset::new(elements, stored, "1000", "10").unwrap();
        let (src, value) = (bytes(stored, &made), bytes(elements, &values));
        assert_eq!(decoded(&codec, &src, value.len()).unwrap(), value, "{elements} {stored}");
        assert_eq!(bounded(&codec, &src, value.len()).unwrap(), value, "{elements} {stored}");
    }
}

#[test]
fn what_a_type_does_not_have_is_refused() {
    let delta = Delta::new("int64", "int8").unwrap();
    let fixed = FixedScaleOffset::new("float64", "int8", "0", "1").unwrap();
    let long = |value: f64| [vec![0; 8 * 2500], value.to_ne_bytes().to_vec(), vec![0; 8]].concat();
    for (codec, value, reason) in [
        (&delta as &dyn BytesToBytes, 128_i64.to_ne_bytes().to_vec(), "expected differences that the type astype has"),
        (&fixed, long(128.0), "expected (x - offset) * scale that the type astype has"),
        (&fixed, long(-128.51), "expected (x - offset) * scale that the type astype has"),
        (&fixed, long(f64::NAN), "expected (x - offset) * scale that the type astype has"),
        (&delta, vec![0; 9], "expected a multiple of 8 bytes, found 9"),
        (&fixed, vec![0; 9], "expected a multiple of 8 bytes, found 9"),
    ] {
        let error = codec.encode(&value, &mut Vec::new()).unwrap_err();
        assert!(error.reason.contains(reason), "{error}");
        assert_eq!((error.kind, error.direction), (Kind::Codec, Some(crate::error::Direction::Encode)));
    }
    // The ends themselves are there.
    assert_eq!(encoded(&fixed, &127.5_f64.next_down().to_ne_bytes()), [127]);
    assert_eq!(encoded(&fixed, &(-128.5_f64).to_ne_bytes()), [128]);
    for (elements, differences) in
        [("float32", "int8"), ("float64", "float32"), ("int8", "float64"), ("int4", "int8"), ("int8", "bool")]
    {
        assert_eq!(Delta::new(elements, differences).unwrap_err().kind, Kind::Request);
    }
    for (elements, stored, offset, scale) in [
        ("int32", "int8", "0", "1"),
        ("float32", "float16", "0", "1"),
        ("float32", "int4", "0", "1"),
        ("float32", "int8", "inf", "1"),
        ("float32", "int8", "0", "ten"),
    ] {
        assert_eq!(FixedScaleOffset::new(elements, stored, offset, scale).unwrap_err().kind, Kind::Request);
    }
}

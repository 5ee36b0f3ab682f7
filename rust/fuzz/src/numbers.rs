//! Codecs that compute with numbers: delta, fixedscaleoffset, cast_value, scale_offset, bitround, packbits.

use blizzarr_core::codec::{prepare, BytesToBytes, Value};
use blizzarr_core::error::{Direction, Error, Kind};

use crate::codec::{every_way, MOST};
use crate::input::Input;
use crate::mutation::damage;
use crate::room::Room;

const INTEGERS: [(&str, usize); 8] =
    [("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8), ("uint8", 1), ("uint16", 2), ("uint32", 4), ("uint64", 8)];
const OTHERS: [(&str, usize); 8] = [
    ("int4", 1),
    ("uint2", 1),
    ("float6_e2m3fn", 1),
    ("float8_e4m3b11fnuz", 1),
    ("float8_e8m0fnu", 1),
    ("bfloat16", 2),
    ("float16", 2),
    ("float32", 4),
];

/// Elements of any types, encoded, damaged and decoded: what can be encoded without rounding comes back, and elements that
/// are encoded each by itself are encoded in blocks as alone.
pub fn numbers(data: &[u8]) {
    let mut input = Input(data);
    let (codec, element) = codec(&mut input);
    // More than a block in some, so that one is followed by another.
    let most = if input.one_in(8) { 4 * MOST } else { MOST };
    let length = input.length(most) / element * element;
    let value = Room::of(&input.value(length));
    let mut encoded = Vec::new();
    match codec.encode(&value, &mut encoded) {
        Ok(()) => assert!(codec.fixed_encoded_len(length) == Some(encoded.len()), "of another length than it says"),
        Err(error) => refused(&*codec, &error, Direction::Encode),
    }
    if let Some(made) = codec.encoded_element(element) {
        one_by_one(&value, element, &encoded, made, |src, dst| codec.encode(src, dst));
    }
    if encoded.is_empty() {
        encoded = input.value(length);
    } else {
        damage(&mut input, &mut encoded, &[]);
    }
    if let Some(made) = codec.encoded_element(element) {
        let count = encoded.len() / made;
        encoded.truncate(count * made);
        let mut decoded = Room::filled(input.byte(), count * element);
        if let Err(error) = codec.decode_exact(&Room::of(&encoded), &mut decoded) {
            refused(&*codec, &error, Direction::Decode);
        } else {
            one_by_one(&encoded, made, &decoded, element, |src, dst| {
                dst.resize(element, 0);
                codec.decode_exact(src, dst)
            });
        }
    }
    match codec.name() {
        // The bytes do not tell how many elements there are.
        "packbits" => {
            let mut decoded = Room::filled(input.byte(), length);
            if let Err(error) = codec.decode_exact(&Room::of(&encoded), &mut decoded) {
                refused(&*codec, &error, Direction::Decode);
            }
        }
        _ => drop(every_way(&mut input, &*codec, &encoded, length)),
    }
}

/// A codec, and the bytes of an element.
fn codec(input: &mut Input<'_>) -> (Box<dyn BytesToBytes>, usize) {
    let text = |text: &str| Value::Text(text.to_owned());
    let any = |input: &mut Input<'_>| if input.flag() { input.pick(&INTEGERS) } else { input.pick(&OTHERS) };
    let float = |input: &mut Input<'_>| input.pick(&[("float32", 4), ("float64", 8)]);
    let (name, options, element) = match input.range(0..=5) {
        0 => {
            let ((elements, size), (differences, _)) = if input.one_in(4) {
                let element = float(input);
                (element, element)
            } else {
                (input.pick(&INTEGERS), input.pick(&INTEGERS))
            };
            ("delta", vec![text(elements), text(differences)], size)
        }
        1 => {
            let (elements, size) = float(input);
            let stored = if input.flag() { input.pick(&INTEGERS).0 } else { float(input).0 };
            let (offset, scale) = (input.pick(&["0", "-7.5", "1e300"]), input.pick(&["1", "100", "1e-3", "-1e300"]));
            ("fixedscaleoffset", vec![text(elements), text(stored), text(offset), text(scale)], size)
        }
        2 => {
            let ((from, size), (to, _)) = (any(input), if input.one_in(4) { float(input) } else { any(input) });
            let modes = ["nearest-even", "nearest-away", "towards-zero", "towards-positive", "towards-negative"];
            let (mode, rule) = (input.pick(&modes), input.pick(&["clamp", "", "wrap"]));
            let pairs = input.pick(&[0, 0, 1, 3, 40]);
            let map = |input: &mut Input<'_>| {
                let pairs: Vec<String> =
                    (0..pairs).map(|_| format!("{:x}:{:x}", input.u64() >> (64 - 8 * size), input.byte())).collect();
                text(&pairs.join(","))
            };
            let (encode, decode) = (map(input), map(input));
            ("cast_value", vec![text(from), text(to), text(mode), text(rule), encode, decode], size)
        }
        3 => {
            let (name, size) = if input.one_in(4) { float(input) } else { any(input) };
            let mut number = || format!("{:x}", input.u64() >> (64 - 8 * size));
            ("scale_offset", vec![text(name), text(&number()), text(&number())], size)
        }
        4 => {
            let (size, mantissa) = input.pick(&[(1, 0), (2, 0), (4, 0), (8, 0), (2, 10), (2, 7), (4, 23), (8, 52)]);
            let numbers = [size as i64, mantissa, input.range(0..=70) as i64];
            ("bitround", numbers.map(Value::Integer).into(), size)
        }
        _ => {
            let width = input.pick(&[1, 2, 4, 6, 8, 16, 32, 64]);
            let (first, last) = (input.range(0..=width - 1), input.range(0..=width - 1));
            let numbers = [width, first.min(last), first.max(last)].map(|number| Value::Integer(number as i64));
            let padding = input.pick(&["none", "first_byte", "last_byte"]);
            let options = numbers.into_iter().chain([Value::Flag(input.flag()), text(padding)]).collect();
            ("packbits", options, width.div_ceil(8).next_power_of_two())
        }
    };
    match prepare(name, &options) {
        Ok(Some(codec)) => (codec, element),
        // A scale that is 0.
        _ => (prepare("bitround", &[4, 23, 3].map(Value::Integer)).ok().flatten().expect("options"), 4),
    }
}

/// All elements at once become what each of them becomes alone, unless one is refused.
fn one_by_one(
    src: &[u8],
    taken: usize,
    made: &[u8],
    size: usize,
    convert: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), Error>,
) {
    for (src, made) in src.chunks_exact(taken).zip(made.chunks_exact(size)) {
        let mut alone = Vec::new();
        convert(src, &mut alone).expect("among others, it was not refused");
        assert!(alone == made, "another element than alone");
    }
}

fn refused(codec: &dyn BytesToBytes, error: &Error, direction: Direction) {
    assert_eq!((error.kind, error.codec), (Kind::Codec, Some(codec.name())), "{error:?}");
    assert_eq!(error.direction, Some(direction));
}

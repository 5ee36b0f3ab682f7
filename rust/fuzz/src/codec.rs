//! What holds for every codec, whatever the bytes: all ways to decode agree, and nothing but a value of the right size is one.

use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::{Direction, Error, Kind};

use crate::input::Input;
use crate::mutation::{damage, Damage, Field};
use crate::room::Room;

/// The longest value, but for formats with something to choose only from a length on.
pub const MOST: usize = 600;

/// How far a codec's checksum reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    No,
    /// A flipped bit is an error, or does not matter.
    Yes,
}

/// Encodes `value`, damages it at `fields`, and decodes it in every way.
pub fn check(
    input: &mut Input<'_>,
    codec: &dyn BytesToBytes,
    value: &[u8],
    fields: impl FnOnce(&[u8]) -> Vec<Field>,
    checked: Checked,
) {
    let mut encoded = Vec::new();
    codec.encode(value, &mut encoded).expect("a value of any bytes can be encoded");
    assert!(encoded.len() <= codec.max_encoded_len(value.len()), "longer than its codec says");
    assert!(codec.fixed_encoded_len(value.len()).is_none_or(|fixed| fixed == encoded.len()));
    let fields = fields(&encoded);
    let done = damage(input, &mut encoded, &fields);
    let size = match input.range(0..=9) {
        0 => value.len() + input.range(0..=300),
        1 => value.len().saturating_sub(input.range(0..=300)),
        _ => value.len(),
    };
    let found = every_way(input, codec, &encoded, size);
    match done {
        Damage::None if size == value.len() => assert!(found.as_deref() == Some(value), "another value came back"),
        Damage::Bit if checked == Checked::Yes => {
            assert!(found.is_none() || found.as_deref() == Some(value), "a flipped bit went unnoticed");
        }
        _ => {}
    }
}

/// Decodes into `size` bytes, into at most some more, and a part of them.
pub fn every_way(input: &mut Input<'_>, codec: &dyn BytesToBytes, encoded: &[u8], size: usize) -> Option<Room> {
    let encoded = Room::of(encoded);
    let background = input.byte();
    let mut exact = Room::filled(background, size);
    let exact = codec.decode_exact(&encoded, &mut exact).map(|()| exact);
    if let Ok(exact) = &exact {
        // Every byte was written: none is left of what was there before.
        let mut again = Room::filled(!background, size);
        codec.decode_exact(&encoded, &mut again).expect("decoded once already");
        assert!(**exact == *again, "some bytes were not decoded");
    }
    let limit = size + input.pick(&[0, 1, 1000]);
    let mut bounded = vec![1, 2, 3];
    let bounded = codec.decode_bounded(&encoded, limit, &mut bounded).map(|()| bounded);
    if let Ok(bounded) = &bounded {
        assert!(bounded.len() <= limit, "more than the limit");
        assert!(bounded.capacity() <= 2 * limit + 4096, "{} bytes of memory for {limit}", bounded.capacity());
    }
    match (&exact, &bounded) {
        (Ok(exact), Ok(bounded)) => assert!(**exact == **bounded, "two ways to decode disagree"),
        (Ok(_), Err(error)) => panic!("only one way decodes: {error}"),
        (Err(error), Ok(bounded)) => assert!(bounded.len() != size, "only one way fails: {error}"),
        (Err(_), Err(_)) => {}
    }
    let offset = input.range(0..=size);
    let mut part = Room::filled(background, input.range(0..=size - offset));
    let decoded = codec.decode_part(&encoded, size, offset, &mut part);
    if let (Ok(exact), Ok(true)) = (&exact, &decoded) {
        assert!(*part == exact[offset..offset + part.len()], "a part is another one");
    }
    for error in [exact.as_ref().err(), bounded.as_ref().err(), decoded.as_ref().err()].into_iter().flatten() {
        placed(codec, error);
    }
    if exact.is_ok() {
        assert!(decoded.is_ok(), "a part fails where the whole does not");
    }
    exact.ok()
}

fn placed(codec: &dyn BytesToBytes, error: &Error) {
    assert!(matches!(error.kind, Kind::Codec | Kind::Checksum | Kind::Limit), "{error:?}");
    assert_eq!(error.codec, Some(codec.name()));
    assert_eq!(error.direction, Some(Direction::Decode));
    assert!(!error.reason.is_empty());
}

//! A codec written elsewhere.

use super::super::foreign::{Foreign, ForeignCodec, Length, Take};
use super::*;
use crate::error::{Direction, Result};

/// Writes every byte twice; decoding ignores `max_size`, as a careless codec does.
struct Twice;

impl ForeignCodec for Twice {
    fn encode(&self, decoded: &[u8], take: &mut Take<'_>) -> Result<()> {
        take(&decoded.iter().flat_map(|byte| [*byte, *byte]).collect::<Vec<_>>())
    }

    fn decode(&self, encoded: &[u8], _max_size: usize, take: &mut Take<'_>) -> Result<()> {
        take(&encoded.iter().step_by(2).copied().collect::<Vec<_>>())
    }

    fn encoded_len(&self, decoded: usize) -> Length {
        Length::Exactly(2 * decoded)
    }
}

/// Raises in both directions, or returns without a result.
struct Broken(bool);

impl ForeignCodec for Broken {
    fn encode(&self, _: &[u8], _: &mut Take<'_>) -> Result<()> {
        Err(Error::new(Kind::Foreign, "ValueError: no"))
    }

    fn decode(&self, _: &[u8], _: usize, _: &mut Take<'_>) -> Result<()> {
        if self.0 {
            return Ok(());
        }
        Err(Error::new(Kind::Foreign, "ValueError: no"))
    }
}

#[test]
fn a_foreign_codec_is_one_step_like_any_other() {
    let codec = Foreign::new("acme.twice", Box::new(Twice), None);
    check_round_trips(&codec);
    assert_eq!(encoded(&codec, b"ab"), b"aabb");
    assert_eq!(codec.name(), "acme.twice");
}

#[test]
fn what_it_makes_is_measured() {
    let codec = Foreign::new("acme.twice", Box::new(Twice), None);
    let error = decoded(&codec, &[0; 20], 9).unwrap_err();
    assert_eq!(error.to_string(), "acme.twice: expected 9 bytes, found 10");
    let error = bounded(&codec, &[0; 20], 9).unwrap_err();
    assert_eq!(error.kind, Kind::Codec);
    let silent = Foreign::new("acme.silent", Box::new(Broken(true)), None);
    assert_eq!(decoded(&silent, b"", 4).unwrap_err().to_string(), "acme.silent: expected 4 bytes, found 0");
}

#[test]
fn what_it_raises_passes_through() {
    let codec = Foreign::new("acme.broken", Box::new(Broken(false)), None);
    let error = decoded(&codec, b"x", 1).unwrap_err();
    assert_eq!(
        (error.kind, error.codec, error.direction),
        (Kind::Foreign, Some("acme.broken"), Some(Direction::Decode))
    );
    let error = codec.encode(b"x", &mut Vec::new()).unwrap_err();
    assert_eq!(
        (error.kind, error.codec, error.direction),
        (Kind::Foreign, Some("acme.broken"), Some(Direction::Encode))
    );
}

#[test]
fn it_may_know_its_length() {
    let codec = Foreign::new("acme.twice", Box::new(Twice), None);
    assert_eq!((codec.max_encoded_len(10), codec.fixed_encoded_len(10)), (20, Some(20)));
    let codec = Foreign::new("acme.broken", Box::new(Broken(false)), None);
    assert_eq!((codec.max_encoded_len(10), codec.fixed_encoded_len(10)), (40 + 64 * 1024, None));
}

#[test]
fn names_are_kept_once() {
    let [a, b] = [0, 1].map(|_| Foreign::new("acme.same", Box::new(Twice), None).name());
    assert_eq!(a.as_ptr(), b.as_ptr());
}

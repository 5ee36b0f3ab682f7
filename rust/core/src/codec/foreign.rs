//! A codec written elsewhere (in Python): one step of the chain like any other.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Kind, Result};
use crate::fork::PerProcess;

/// Receives what a foreign codec made, while the codec still owns it: one copy, not two.
pub type Take<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// What is known of the encoded length before encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Unknown,
    AtMost(usize),
    /// Whatever the values.
    Exactly(usize),
}

/// What the border implements. Each method hands its result to `take` exactly once.
pub trait ForeignCodec: Send + Sync {
    /// Encodes `decoded`.
    fn encode(&self, decoded: &[u8], take: &mut Take<'_>) -> Result<()>;

    /// Decodes `encoded`, which should make at most `max_size` bytes; what it makes is checked again here.
    fn decode(&self, encoded: &[u8], max_size: usize, take: &mut Take<'_>) -> Result<()>;

    /// The length of what `decoded` bytes are encoded to; asked once, when a chain is prepared.
    fn encoded_len(&self, _decoded: usize) -> Length {
        Length::Unknown
    }
}

/// A [`ForeignCodec`] with its name, checked for size on the way back.
pub struct Foreign {
    name: &'static str,
    codec: Box<dyn ForeignCodec>,
    element: Option<Element>,
}

/// The bytes of one element, decoded and encoded, where each is encoded by itself and stays in its place, and whether
/// decoding changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct Element {
    pub decoded: usize,
    pub encoded: usize,
    pub is_same: bool,
}

impl Foreign {
    /// `element` is given for a codec that decodes any part of what it makes.
    pub fn new(name: &str, codec: Box<dyn ForeignCodec>, element: Option<Element>) -> Self {
        Foreign { name: interned(name), codec, element }
    }

    /// Names the codec and the direction, which foreign code does not know.
    fn named(&self, mut error: Error, direction: Direction) -> Error {
        if error.kind != Kind::Store && error.codec.is_none() {
            error.codec = Some(self.name);
            error.direction = Some(direction);
        }
        error
    }
}

/// Names live as long as the program, since errors carry them; each is kept once, and there are few.
pub(super) fn interned(name: &str) -> &'static str {
    static NAMES: PerProcess<Mutex<BTreeSet<&'static str>>> = PerProcess::new(Mutex::default);
    let mut names = NAMES.get().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

/// Four times the data is more than a compressor loses and less than a bomb gains.
fn most_of(decoded: usize) -> usize {
    decoded.saturating_mul(4).saturating_add(64 * 1024)
}

impl BytesToBytes for Foreign {
    fn name(&self) -> &'static str {
        self.name
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        match self.codec.encoded_len(decoded) {
            Length::Unknown => most_of(decoded),
            Length::AtMost(length) | Length::Exactly(length) => length,
        }
    }

    fn fixed_encoded_len(&self, decoded: usize) -> Option<usize> {
        match self.codec.encoded_len(decoded) {
            Length::Exactly(length) => Some(length),
            Length::Unknown | Length::AtMost(_) => None,
        }
    }

    fn encoded_element(&self, size: usize) -> Option<usize> {
        let element = self.element.filter(|element| element.decoded > 0 && size.is_multiple_of(element.decoded))?;
        (size / element.decoded).checked_mul(element.encoded)
    }

    fn decodes_to_itself(&self) -> bool {
        self.element.is_some_and(|element| element.is_same && element.decoded == element.encoded)
    }

    fn has_costly_calls(&self) -> bool {
        true
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let mut taken = false;
        let size = dst.len();
        let decoded = self.codec.decode(src, size, &mut |made| {
            if made.len() != size {
                return Err(report::wrong_size(self.name, size, made.len()));
            }
            dst.copy_from_slice(made);
            taken = true;
            Ok(())
        });
        decoded.map_err(|error| self.named(error, Direction::Decode))?;
        if taken {
            return Ok(());
        }
        Err(report::wrong_size(self.name, dst.len(), 0usize))
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        dst.clear();
        let decoded = self.codec.decode(src, limit, &mut |made| {
            if made.len() > limit {
                return Err(report::over_limit(self.name, limit));
            }
            room::reserve(self.name, Direction::Decode, dst, made.len())?;
            dst.extend_from_slice(made);
            Ok(())
        });
        decoded.map_err(|error| self.named(error, Direction::Decode))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let encoded = self.codec.encode(src, &mut |made| {
            // Nobody could read it again.
            if made.len() > most_of(src.len()) && made.len() > self.max_encoded_len(src.len()) {
                let most = self.max_encoded_len(src.len());
                return Err(report::too_large(self.name, Direction::Encode, made.len(), most));
            }
            room::reserve(self.name, Direction::Encode, dst, made.len())?;
            dst.extend_from_slice(made);
            Ok(())
        });
        encoded.map_err(|error| self.named(error, Direction::Encode))
    }
}

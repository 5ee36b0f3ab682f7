//! A codec that is given as functions of another library: one step of the chain, without Python.

use super::foreign::interned;
use super::{report, room, BytesToBytes};
use crate::error::{Direction, Error, Result};

/// What the functions return in place of a length.
pub const DAMAGED: isize = -1;
pub const TOO_SMALL: isize = -2;

/// What the border implements. Functions fill the target from its start, and return how many bytes they wrote, or one of
/// the numbers above; any other negative number is an error of theirs.
pub trait Functions: Send + Sync {
    /// The most bytes that so many can be encoded to.
    fn bound(&self, decoded: usize) -> usize;

    fn encode(&self, source: &[u8], target: &mut [u8]) -> isize;

    fn decode(&self, source: &[u8], target: &mut [u8]) -> isize;
}

/// The codec of such functions, whose results are checked.
pub struct Function {
    name: &'static str,
    functions: Box<dyn Functions>,
}

impl Function {
    pub fn new(name: &str, functions: Box<dyn Functions>) -> Self {
        Function { name: interned(name), functions }
    }

    /// How many bytes there are by a result; `None` where the target was too small.
    fn made(&self, result: isize, room: usize, direction: Direction) -> Result<Option<usize>> {
        let error = |reason: String| Err(Error { direction: Some(direction), ..Error::decode(self.name, reason) });
        match usize::try_from(result) {
            Ok(made) if made <= room => Ok(Some(made)),
            Ok(made) => {
                let (room, made) = (report::grouped(room), report::grouped(made));
                error(format!("expected at most {room} bytes from the function, found {made}"))
            }
            Err(_) if result == TOO_SMALL => Ok(None),
            Err(_) if result == DAMAGED => error("the function refuses the data".to_owned()),
            Err(_) => error(format!("the function failed with the number {result}")),
        }
    }
}

impl BytesToBytes for Function {
    fn name(&self) -> &'static str {
        self.name
    }

    fn max_encoded_len(&self, decoded: usize) -> usize {
        self.functions.bound(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let result = self.functions.decode(src, dst);
        match self.made(result, dst.len(), Direction::Decode)? {
            Some(made) if made == dst.len() => Ok(()),
            Some(made) => Err(report::wrong_size(self.name, dst.len(), made)),
            None => Err(report::too_long(self.name, dst.len())),
        }
    }

    fn decode_bounded(&self, src: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
        room::grow(self.name, limit, src.len().saturating_mul(4), dst, |dst| {
            let result = self.functions.decode(src, dst);
            self.made(result, dst.len(), Direction::Decode)
        })
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        let (before, room) = (dst.len(), self.functions.bound(src.len()));
        room::reserve(self.name, Direction::Encode, dst, room)?;
        dst.resize(before + room, 0);
        let result = self.functions.encode(src, &mut dst[before..]);
        match self.made(result, room, Direction::Encode)? {
            Some(made) => dst.truncate(before + made),
            None => {
                let reason = format!("expected the function to need at most {} bytes", report::grouped(room));
                return Err(Error::encode(self.name, reason));
            }
        }
        Ok(())
    }
}

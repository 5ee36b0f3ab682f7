//! Readers over bytes that are already somewhere: in memory, or inside a longer value.

use crate::error::{Error, Result};
use crate::store::{ranges, Reader};

/// A value that lies in memory.
pub struct Slice<T>(pub T);

impl<T: AsRef<[u8]> + Send + Sync> Reader for Slice<T> {
    fn len(&self) -> Option<u64> {
        Some(self.0.as_ref().len() as u64)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.0.as_ref())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        let part = usize::try_from(offset).ok().and_then(|offset| self.0.as_ref().get(offset..)?.get(..buffer.len()));
        match part {
            Some(bytes) => buffer.copy_from_slice(bytes),
            None => return Err(ends_early(offset + buffer.len() as u64, self.0.as_ref().len() as u64)),
        }
        Ok(true)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        match self.0.as_ref().len().checked_sub(buffer.len()) {
            Some(offset) => self.read_at(offset as u64, buffer),
            None => Err(ends_early(buffer.len() as u64, self.0.as_ref().len() as u64)),
        }
    }

    fn read_all(&self, buffer: &mut Vec<u8>, _limit: u64) -> Result<bool> {
        ranges::reserve(buffer, self.0.as_ref().len() as u64)?;
        buffer.extend_from_slice(self.0.as_ref());
        Ok(true)
    }
}

/// Part of another value: an inner chunk inside its shard.
pub struct Window<'a> {
    pub whole: &'a dyn Reader,
    pub offset: u64,
    pub length: u64,
}

impl Reader for Window<'_> {
    fn len(&self) -> Option<u64> {
        Some(self.length)
    }

    fn bytes(&self) -> Option<&[u8]> {
        let offset = usize::try_from(self.offset).ok()?;
        self.whole.bytes()?.get(offset..)?.get(..usize::try_from(self.length).ok()?)
    }

    fn reads_blocks(&self) -> bool {
        self.whole.reads_blocks()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(ends_early(offset.saturating_add(buffer.len() as u64), self.length));
        }
        self.whole.read_at(self.offset + offset, buffer)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        match self.length.checked_sub(buffer.len() as u64) {
            Some(offset) => self.read_at(offset, buffer),
            None => Err(ends_early(buffer.len() as u64, self.length)),
        }
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        if self.length > limit {
            return Err(too_long(self.length, limit));
        }
        let length = self.length as usize;
        ranges::reserve(buffer, self.length)?;
        buffer.resize(length, 0);
        self.read_at(0, buffer)
    }

    fn read_scattered(&self, offset: u64, pieces: &mut [std::io::IoSliceMut<'_>]) -> Result<bool> {
        let wanted: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
        if offset.checked_add(wanted).is_none_or(|end| end > self.length) {
            return Err(ends_early(offset.saturating_add(wanted), self.length));
        }
        self.whole.read_scattered(self.offset + offset, pieces)
    }
}

/// A lazy value whose length somebody has asked for.
pub struct Sized<'a> {
    pub reader: &'a dyn Reader,
    pub length: u64,
}

impl Reader for Sized<'_> {
    fn len(&self) -> Option<u64> {
        Some(self.length)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        self.reader.read_at(offset, buffer)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        self.reader.read_suffix(buffer)
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        self.reader.read_all(buffer, limit)
    }
}

fn ends_early(expected: u64, found: u64) -> Error {
    Error::decode("bytes", format!("data ended after {found} of {expected} bytes"))
}

fn too_long(length: u64, limit: u64) -> Error {
    Error::decode("bytes", format!("a stored value of {length} bytes is longer than the {limit} that a chunk can need"))
}

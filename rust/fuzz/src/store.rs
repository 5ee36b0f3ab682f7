//! A store of one value, which can be read as from memory, from a file, or from far away.

use std::sync::{Mutex, PoisonError};

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::interrupt::Interrupt;
use blizzarr_core::store::{Guard, Locker, Reader, Store};

use crate::room::Room;

/// What a reader knows before it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// All bytes.
    Memory,
    /// The length.
    File,
    /// Nothing.
    Far,
}

pub struct OneValue {
    face: Face,
    value: Mutex<Option<Vec<u8>>>,
}

impl OneValue {
    pub fn new(face: Face) -> Self {
        OneValue { face, value: Mutex::new(None) }
    }

    pub fn value(&self) -> Option<Vec<u8>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn put(&self, value: Option<Vec<u8>>) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

struct Value {
    face: Face,
    bytes: Option<Room>,
}

impl Reader for Value {
    fn len(&self) -> Option<u64> {
        let bytes = self.bytes.as_ref().filter(|_| self.face != Face::Far);
        bytes.map(|bytes| bytes.len() as u64)
    }

    fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref().filter(|_| self.face == Face::Memory)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        let Some(bytes) = &self.bytes else { return Ok(false) };
        let found = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)?.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or_else(|| Error::new(Kind::Codec, "the value ends before"))?);
        Ok(true)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        let Some(bytes) = &self.bytes else { return Ok(false) };
        match bytes.len().checked_sub(buffer.len()) {
            Some(offset) => self.read_at(offset as u64, buffer),
            None => Err(Error::new(Kind::Codec, "the value is shorter")),
        }
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        let Some(bytes) = &self.bytes else { return Ok(false) };
        if bytes.len() as u64 > limit {
            return Err(Error::new(Kind::Codec, "the value is too long"));
        }
        buffer.clear();
        buffer.extend_from_slice(bytes);
        Ok(true)
    }
}

impl Store for OneValue {
    fn open<'a>(&'a self, _key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        let bytes = self.value.lock().unwrap_or_else(PoisonError::into_inner).as_deref().map(Room::of);
        if bytes.is_none() && self.face != Face::Far {
            return Ok(None);
        }
        Ok(Some(Box::new(Value { face: self.face, bytes })))
    }

    fn set(&self, _key: &str, parts: &[&[u8]]) -> Result<()> {
        self.put(Some(parts.concat()));
        Ok(())
    }

    fn delete(&self, _key: &str) -> Result<bool> {
        Ok(self.value.lock().unwrap_or_else(PoisonError::into_inner).take().is_some())
    }

    fn locker<'a>(&'a self, _lock_key: &'a str, _interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        Ok(Box::new(Alone))
    }
}

struct Alone;

impl Locker for Alone {
    fn lock<'a>(&'a self, _key: &str) -> Result<Box<dyn Guard + 'a>> {
        Ok(Box::new(Alone))
    }
}

impl Guard for Alone {}

//! One value of an object store, for the engine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::store::{ranges, Reader};

use crate::client::{Client, Parts};
use crate::runtime::GoOn;
use crate::spans::Wanted;

pub struct ObjectReader<'a> {
    client: &'a Client,
    key: &'a str,
    /// Whether whoever waits for an answer is to go on waiting.
    go_on: &'a (dyn Fn() -> Result<()> + Send + Sync),
    /// The version that everything is read of, once a request was answered from it.
    pinned: Mutex<Option<Arc<str>>>,
    /// The length of that version.
    size: OnceLock<u64>,
}

impl<'a> ObjectReader<'a> {
    pub fn new(
        client: &'a Client,
        key: &'a str,
        version: Option<Arc<str>>,
        go_on: &'a (dyn Fn() -> Result<()> + Send + Sync),
    ) -> Self {
        ObjectReader { client, key, go_on, pinned: Mutex::new(version), size: OnceLock::new() }
    }

    fn go_on(&self) -> GoOn<'a> {
        self.go_on
    }

    /// Parts of one version, the first that was found: of another one there are none.
    fn parts(&self, wanted: &[Wanted]) -> Result<Option<Parts>> {
        let pinned = self.pinned();
        let Some(parts) = self.client.get_ranges(self.key, wanted, pinned.clone(), self.go_on())? else {
            return if pinned.is_none() { Ok(None) } else { Err(self.replaced()) };
        };
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        match pinned.as_deref() {
            // Two requests may have been the first.
            Some(first) if *first != *parts.version => return Err(self.replaced()),
            Some(_) => {}
            None => *pinned = Some(Arc::clone(&parts.version)),
        }
        self.size.get_or_init(|| parts.size());
        Ok(Some(parts))
    }

    fn replaced(&self) -> Error {
        Error::new(Kind::Conflict, "the value was replaced while it was being read").at_key(self.key)
    }

    fn too_long(&self, size: u64, limit: u64) -> Error {
        let reason = format!("a stored value of {size} bytes is longer than the {limit} a chunk can need");
        Error::decode("bytes", reason).at_key(self.key)
    }
}

impl Reader for ObjectReader<'_> {
    /// Known once a range was answered: such answers say how long the whole value is.
    fn len(&self) -> Option<u64> {
        self.size.get().copied()
    }

    fn pinned(&self) -> Option<Arc<str>> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        self.read_ranges(&mut [(offset as i64, buffer)])
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        self.read_ranges(&mut [(-(buffer.len() as i64), buffer)])
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        buffer.clear();
        // One request for all of it needs no version, unless something was read already.
        if self.pinned().is_some() {
            let wanted = [(0, None)];
            let Some(parts) = self.parts(&wanted)? else { return Ok(false) };
            parts.each(&wanted, |_, bytes| {
                let size = bytes.len() as u64;
                if size > limit {
                    return Err(self.too_long(size, limit));
                }
                ranges::reserve(buffer, size).map_err(|error| error.at_key(self.key))?;
                buffer.extend_from_slice(bytes);
                Ok(())
            })?;
            return Ok(true);
        }
        let room = std::mem::take(buffer);
        let Some(answer) = self.client.get(self.key, limit, room, self.go_on())? else { return Ok(false) };
        if answer.size > limit {
            return Err(self.too_long(answer.size, limit));
        }
        *buffer = answer.body;
        Ok(true)
    }

    fn read_ranges(&self, ranges: &mut [(i64, &mut [u8])]) -> Result<bool> {
        let wanted: Vec<Wanted> = ranges.iter().map(|(start, buffer)| (*start, Some(buffer.len() as u64))).collect();
        let Some(parts) = self.parts(&wanted)? else { return Ok(false) };
        parts.each(&wanted, |number, bytes| {
            let (start, buffer) = &mut ranges[number];
            if bytes.len() != buffer.len() {
                let reason = format!("data ended after {} of {} bytes at offset {start}", bytes.len(), buffer.len());
                return Err(Error::decode("bytes", reason).at_key(self.key));
            }
            buffer.copy_from_slice(bytes);
            Ok(())
        })?;
        Ok(true)
    }
}

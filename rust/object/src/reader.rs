//! Values of an object store, for the engine: one to read parts of, or many whole ones.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::store::{ranges, Reader, Requested, Requests};

use crate::client::{Client, Connected, Parts};
use crate::runtime::{GoOn, UnderWay};
use crate::spans::{Span, Wanted};

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
}

/// Makes sure that a value is not longer than what is wanted of it.
fn check(size: u64, limit: u64, key: &str) -> Result<()> {
    match size <= limit {
        true => Ok(()),
        false => {
            let reason = format!("a stored value of {size} bytes is longer than the {limit} a chunk can need");
            Err(Error::decode("bytes", reason).at_key(key))
        }
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
                check(size, limit, self.key)?;
                ranges::reserve(buffer, size).map_err(|error| error.at_key(self.key))?;
                buffer.extend_from_slice(bytes);
                Ok(())
            })?;
            return Ok(true);
        }
        let room = std::mem::take(buffer);
        let Some(answer) = self.client.get(self.key, limit, room, self.go_on())? else { return Ok(false) };
        check(answer.size, limit, self.key)?;
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

/// Whole values that are requested at once.
pub struct ObjectRequests<'a> {
    connected: Arc<Connected>,
    under_way: UnderWay<'a, Option<Vec<u8>>>,
}

impl<'a> ObjectRequests<'a> {
    pub fn new(client: &Client, go_on: &'a (dyn Fn() -> Result<()> + Sync)) -> Result<Self> {
        Ok(ObjectRequests { connected: client.connected()?, under_way: UnderWay::new(go_on) })
    }
}

impl Requests for ObjectRequests<'_> {
    fn begin(&self, number: usize, key: &str, limit: u64, room: Vec<u8>) -> Result<()> {
        let (store, key) = (Arc::clone(&self.connected), key.to_owned());
        self.under_way.begin(number, async move {
            let Some(answer) = store.get(&key, &Span::WHOLE, limit, room).await? else { return Ok(None) };
            check(answer.size, limit, &key).map(|()| Some(answer.body))
        })
    }

    fn under_way(&self) -> usize {
        self.under_way.count()
    }

    fn next(&self) -> Result<Option<(usize, Requested)>> {
        self.under_way.answer()
    }
}

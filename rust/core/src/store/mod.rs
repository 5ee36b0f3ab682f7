//! Stores: where values live under keys. Only "not found" is `None` or `false`; anything else is an error.

pub mod archive;
pub mod durability;
pub mod exclusion;
pub mod hashed;
pub mod key;
pub mod local;
pub mod many;
pub mod memory;
pub mod ranges;
pub mod renamed;
pub mod uint64_sharded;
pub mod version;

use std::sync::Arc;
use std::time::Duration;

use crate::error::{Kind, Result};
use crate::interrupt::{Interrupt, Patience};
use crate::pool;
use crate::scratch;
use ranges::ByteRange;
use version::{Status, Version};

#[cfg(test)]
pub(crate) mod tests;

/// A key-value store the engine can read chunks from and write them to.
pub trait Store: Send + Sync {
    /// Opens the value under `key`; `None` when there is none. A remote store may answer lazily (see [`Reader`]).
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>>;

    /// Whether a value that was not found may be there, as somebody is just replacing it.
    fn may_be_replacing(&self, key: &str) -> bool {
        let _ = key;
        false
    }

    /// Opens this version of the value, which a reader has reported ([`Reader::pinned`]). If another version is stored,
    /// reading is a [`crate::error::Kind::Conflict`].
    fn open_pinned<'a>(&'a self, key: &'a str, version: Arc<str>) -> Result<Option<Box<dyn Reader + 'a>>> {
        let _ = version;
        self.open(key)
    }

    /// Requests for whole values, of which no thread has to wait for each, if the store can do that.
    fn whole_values<'a>(&'a self) -> Result<Option<Box<dyn Requests + 'a>>> {
        Ok(None)
    }

    /// The interface for replacing a value only if nobody else has replaced it, if the store can do that.
    fn conditional(&self) -> Option<&dyn Conditional> {
        None
    }

    /// Replaces the value under `key` by the concatenation of `parts`, atomically: readers see the old or the new.
    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()>;

    /// The same for callers that have found a value there, which a store need not look for again.
    fn set_over(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.set(key, parts)
    }

    /// The interface for storing a long value while it is being made, if the store can do that.
    fn stepwise(&self) -> Option<&dyn Stepwise> {
        None
    }

    /// Removes the value; `false` when there was none.
    fn delete(&self, key: &str) -> Result<bool>;

    /// The locks for the chunks of one array during one operation. `lock_key` is the key of the array's document, where
    /// the local store places locks of the operating system. An error of `interrupt` ends waiting for a lock.
    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>>;

    /// The whole value.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        match self.open(key)? {
            Some(reader) if reader.read_all(&mut value, u64::MAX)? => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Parts of one version of the value, in the order asked for; each is clipped where the value ends.
    fn get_ranges(&self, key: &str, wanted: &[ByteRange]) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(reader) = self.open(key)? else { return Ok(None) };
        let mut whole = Vec::new();
        let size = match reader.len() {
            Some(size) => size,
            // Without a length nothing can be clipped before it is read.
            None if reader.read_all(&mut whole, u64::MAX)? => whole.len() as u64,
            None => return Ok(None),
        };
        let mut parts = scratch::list(wanted.len())?;
        for range in wanted {
            let (offset, length) = ranges::resolve(size, *range);
            let mut bytes = ranges::with_room(length).map_err(|error| error.at_key(key))?;
            bytes.resize(length as usize, 0);
            if reader.len().is_none() {
                bytes.copy_from_slice(&whole[offset as usize..(offset + length) as usize]);
            } else if !reader.read_at(offset, &mut bytes)? {
                return Ok(None);
            }
            parts.push(bytes);
        }
        Ok(Some(parts))
    }

    /// The length of the value.
    fn size(&self, key: &str) -> Result<Option<u64>> {
        match self.open(key)?.map(|reader| reader.len()) {
            Some(Some(size)) => Ok(Some(size)),
            Some(None) => Ok(self.get(key)?.map(|value| value.len() as u64)),
            None => Ok(None),
        }
    }

    /// Whether setting a value waits for a device, so that setting many values at once is faster than one by one.
    fn waits(&self) -> bool {
        false
    }

    /// Whether a request takes long for any reason, so that many requests at once are faster than one by one.
    fn remote(&self) -> bool {
        false
    }

    /// How many requests are made at once, at most, if each takes long.
    fn requests(&self) -> usize {
        pool::requests()
    }

    /// The name of the value, which is the same for all handles in this process, with a slash between a prefix and the
    /// rest of the name; `None` if it is unknown. Caches ([`crate::cache`]) use these names.
    fn full_name(&self, key: &str) -> Option<String> {
        let _ = key;
        None
    }

    /// A number that differs between handles that may find different values under one full name.
    fn way(&self) -> u64 {
        0
    }

    /// The version of the stored value, without reading the value.
    fn status(&self, key: &str) -> Result<Status> {
        let _ = key;
        Ok(Status::Unknown)
    }

    /// Whether [`Store::status`] can report versions.
    fn tells_versions(&self) -> bool {
        false
    }

    /// Whether there is a value.
    fn has(&self, key: &str) -> Result<bool> {
        Ok(self.size(key)?.is_some())
    }
}

/// Replacing a value only if it is still the one that was read.
pub trait Conditional: Send + Sync {
    /// The whole value, and the name of its version.
    fn get_with_version(&self, key: &str) -> Result<Option<(Vec<u8>, String)>>;

    /// Replaces the value by the concatenation of `parts` if it is of this version (`None`: if there is none); `false` if it
    /// is not.
    fn set_if_version(&self, key: &str, parts: &[&[u8]], version: Option<&str>) -> Result<bool>;
}

/// What became of a request for a value; `None`: there is none.
pub type Requested = Result<Option<Vec<u8>>>;

/// Requests for whole values, which several threads make, and are answered in any order. Dropping it gives up those that
/// are not answered.
pub trait Requests: Sync {
    /// Requests the value under `key`, of at most `limit` bytes, into the memory of `room`.
    fn begin(&self, number: usize, key: &str, limit: u64, room: Vec<u8>) -> Result<()>;

    /// How many requests were made whose answers nobody has taken.
    fn under_way(&self) -> usize;

    /// Waits for the next answer: which request it is of, and what became of that. `None` if no request is under way.
    fn next(&self) -> Result<Option<(usize, Requested)>>;
}

/// Keys and prefixes directly under a prefix, both in full and sorted; prefixes end with `/`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub keys: Vec<String>,
    pub prefixes: Vec<String>,
}

/// A store of our own: it knows its keys, and guards documents against concurrent changes.
///
/// A prefix is empty (everything) or a key with or without a final `/`; what is under it begins with `prefix + "/"`.
pub trait ListableStore: Store {
    /// Opens the value under `stored` for somebody who knows it as `key`, which is what errors name.
    fn open_as<'a>(&'a self, key: &'a str, stored: &str) -> Result<Option<Box<dyn Reader + 'a>>>;

    /// All keys under the prefix, sorted.
    fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// The keys and prefixes directly under the prefix.
    fn list_dir(&self, prefix: &str) -> Result<Listing>;

    /// At most `limit` names under the prefix that are not keys, but that [`ListableStore::delete_prefix`] would remove.
    /// Only a store that other programs use, too, has such names.
    fn others(&self, prefix: &str, limit: usize) -> Result<Vec<String>> {
        let _ = (prefix, limit);
        Ok(Vec::new())
    }

    /// The files that dead writers left below the prefix, by names that are not keys.
    fn leftovers(&self, prefix: &str) -> Result<Vec<String>> {
        let _ = prefix;
        Ok(Vec::new())
    }

    /// Removes these files, and returns their names.
    fn sweep(&self, prefix: &str) -> Result<Vec<String>> {
        let _ = prefix;
        Ok(Vec::new())
    }

    /// Waits until everything that was stored and deleted so far, at whatever level, would survive a power cut.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Gives values second keys without copying them, and returns for each `(key, other)` whether `other` now has the
    /// value of `key`. Where it does not, because the store has no links, the caller can copy the value.
    fn link_many(&self, pairs: &[(String, String)], interrupt: Interrupt<'_>) -> Result<Vec<bool>> {
        let _ = interrupt;
        Ok(vec![false; pairs.len()])
    }

    /// Removes everything under the prefix, if there is anything.
    fn delete_prefix(&self, prefix: &str) -> Result<()>;

    /// Excludes everybody who holds or wants a [`Store::lock`] under this document. A caller that replaces or deletes the
    /// document with `set`, `delete` or `delete_prefix` must hold this lock from before it reads the old document.
    fn lock_document<'a>(&'a self, lock_key: &str, interrupt: Interrupt<'_>) -> Result<Box<dyn Guard + 'a>>;

    /// Sets the value (`None`: deletes it) if what is there equals `expected` (`None`: nothing is there); `false` when it
    /// does not. For a document this takes [`ListableStore::lock_document`] itself, so it must not be held.
    fn replace(
        &self,
        key: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
        interrupt: Interrupt<'_>,
    ) -> Result<bool>;

    /// The locks of several documents at once, for a caller that deletes the documents: no writer is then about to store a
    /// chunk of these arrays, and a later writer learns that its document is gone. Documents that are missing or cannot be
    /// locked are left out.
    fn lock_for_deletion(&self, keys: &[&str], interrupt: Interrupt<'_>) -> Result<Vec<Box<dyn Guard + Send>>>;
}

/// Stores values that never are in memory as a whole.
pub trait Stepwise {
    /// Replaces the value under `key` by what `make` appends, as atomically as [`Store::set`]; leaves it as it is if `make`
    /// answers `false` or fails. `make` may be called again, for a value that begins anew.
    fn set_in_steps(&self, key: &str, make: &mut dyn FnMut(&dyn Steps) -> Result<bool>) -> Result<()>;
}

/// A value that is being made.
pub trait Steps: Sync {
    fn append(&self, bytes: &[u8]) -> Result<()>;

    /// Replaces the first bytes of those that were appended.
    fn replace_start(&self, bytes: &[u8]) -> Result<()>;
}

/// Locks chunks of one array, for one operation of many chunks.
pub trait Locker: Send + Sync {
    /// Excludes other writers of `key` (threads, and processes where the store can) until the guard is dropped.
    fn lock<'a>(&'a self, key: &str) -> Result<Box<dyn Guard + 'a>>;

    /// Whether its guards know the version of the document.
    fn tells_document(&self) -> bool {
        false
    }
}

/// Opens a value for whoever does not exclude writers: where it may be missing only because it is being replaced, it is looked
/// for again while nobody does that.
pub fn open_to_read<'a>(
    store: &'a dyn Store,
    lock_key: &str,
    key: &'a str,
    interrupt: Interrupt<'_>,
) -> Result<Option<Box<dyn Reader + 'a>>> {
    let opened = store.open(key)?;
    if opened.is_some() || !store.may_be_replacing(key) {
        return Ok(opened);
    }
    let locker = store.locker(lock_key, interrupt);
    match locker.and_then(|locker| locker.lock(key).map(|_guard| store.open(key))) {
        Ok(opened) => opened,
        // Who may not lock, like those who may only read, waits for a while instead.
        Err(error) if matches!(error.kind, Kind::Store | Kind::Unsupported | Kind::Conflict) => {
            let mut patience = Patience::new();
            while patience.waited() < REPLACING {
                patience.nap();
                interrupt()?;
                if let Some(reader) = store.open(key)? {
                    return Ok(Some(reader));
                }
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// For how long a value may be missing while it is replaced.
const REPLACING: Duration = Duration::from_millis(5);

/// Held while one writer reads, merges and writes back; dropping it releases the lock.
pub trait Guard {
    /// The version of the metadata document when the lock was taken, where that is known without another request. The
    /// document stays as it is until the guard is dropped.
    fn document(&self) -> Option<Version> {
        None
    }

    /// Whether the metadata document is these bytes; `None` where the lock does not have it open for reading.
    fn holds_document(&self, _expected: &[u8]) -> Option<std::io::Result<bool>> {
        None
    }
}

/// One version of one value: every read through one reader sees the same bytes where the store can promise it
/// (an open file, a shared buffer). Each read answers `false` when a lazy store finds that the key is missing.
#[allow(clippy::len_without_is_empty)] // the length only serves as a bound
pub trait Reader: Send + Sync {
    /// Length in bytes, when known without another request.
    fn len(&self) -> Option<u64>;

    /// The value itself, when it lies in memory already.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }

    /// Which version this is, when that is known without another request.
    fn version(&self) -> Option<Version> {
        None
    }

    /// Whether reading block after block takes about as long as reading everything at once.
    fn reads_blocks(&self) -> bool {
        false
    }

    /// The store's name of the version that answered the first request. Every later request through this reader returns
    /// bytes of the same version, or is a [`crate::error::Kind::Conflict`]. `None` if the store does not promise this.
    fn pinned(&self) -> Option<Arc<str>> {
        None
    }

    /// Fills `buffer` from `offset`; a value that ends before is a [`crate::error::Kind::Codec`] error (truncated).
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool>;

    /// Fills `buffer` with the last bytes of the value.
    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool>;

    /// Puts the whole value into `buffer` (cleared first), refusing more than `limit` bytes before reading them.
    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool>;

    /// Several ranges of one version at once; stores with costly requests answer them in one. A negative offset counts
    /// from the end, and must be that of a suffix: as long as the buffer.
    fn read_ranges(&self, ranges: &mut [(i64, &mut [u8])]) -> Result<bool> {
        for (offset, buffer) in ranges {
            let exists = match u64::try_from(*offset) {
                Ok(offset) => self.read_at(offset, buffer)?,
                Err(_) => self.read_suffix(buffer)?,
            };
            if !exists {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Scatters the bytes from `offset` over `pieces` in order (a vectored read where the system has one).
    fn read_scattered(&self, offset: u64, pieces: &mut [std::io::IoSliceMut<'_>]) -> Result<bool> {
        let mut offset = offset;
        for piece in pieces {
            if !self.read_at(offset, piece)? {
                return Ok(false);
            }
            offset += piece.len() as u64;
        }
        Ok(true)
    }
}

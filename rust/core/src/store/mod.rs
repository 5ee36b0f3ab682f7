//! Stores: where values live under keys. Only "not found" is `None` or `false`; anything else is an error.

use crate::error::Result;

/// A key-value store the engine can read chunks from and write them to.
pub trait Store: Send + Sync {
    /// Opens the value under `key`; `None` when there is none. A remote store may answer lazily (see [`Reader`]).
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>>;

    /// Replaces the value under `key` by the concatenation of `parts`, atomically: readers see the old or the new.
    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()>;

    /// Removes the value; `false` when there was none.
    fn delete(&self, key: &str) -> Result<bool>;

    /// Excludes other writers of `key` (threads, and processes where the store can) until the guard is dropped.
    /// `lock_key` is the array's metadata document, which the local store uses to place operating-system locks.
    fn lock<'a>(&'a self, lock_key: &str, key: &str) -> Result<Box<dyn Guard + 'a>>;
}

/// Held while one writer reads, merges and writes back; dropping it releases the lock.
pub trait Guard {}

/// One version of one value: every read through one reader sees the same bytes where the store can promise it
/// (an open file, a shared buffer). Each read answers `false` when a lazy store finds that the key is missing.
pub trait Reader: Send + Sync {
    /// Length in bytes, when known without another request.
    fn len(&self) -> Option<u64>;

    /// The value itself, when it lies in memory already.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }

    /// Fills `buffer` from `offset`; a value that ends before is a [`crate::error::Kind::Codec`] error (truncated).
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool>;

    /// Fills `buffer` with the last bytes of the value.
    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool>;

    /// Puts the whole value into `buffer` (cleared first), refusing more than `limit` bytes before reading them.
    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool>;

    /// Several ranges at once; stores with costly requests answer them in one.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> Result<bool> {
        for (offset, buffer) in ranges {
            if !self.read_at(*offset, buffer)? {
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

//! Errors that carry their place: store key, codec, direction, cause.

use std::fmt;

/// What the catcher will do about it; each kind becomes one Python exception class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stored data is damaged: a codec could not decode it, or its size is wrong.
    Codec,
    /// A checksum does not match the bytes it covers.
    Checksum,
    /// A shard's index is damaged or points outside the shard.
    ShardIndex,
    /// The store failed (I/O, permission); `errno` says how.
    Store,
    /// The store does not offer this operation, or is read-only.
    Unsupported,
    /// A key or name that may not be used.
    Path,
    /// The value was replaced while it was read in several requests: to be read again from the beginning.
    Conflict,
    /// More memory than the cap, or than there is.
    Limit,
    /// The request does not fit the array: indices, shapes, buffers.
    Request,
    /// Elements are wanted that the array has no longer.
    OutOfBounds,
    /// A foreign (Python) codec or store raised; the payload holds what it raised.
    Foreign,
    /// A bug of ours: a panic, or a plan that does not add up.
    Internal,
}

/// Which way the bytes went when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Decode,
    Encode,
}

/// An error with its place. `reason` says what was expected and what was found, without the place.
pub struct Error {
    pub kind: Kind,
    pub reason: String,
    pub key: Option<Box<str>>,
    /// Place of the chunk in its array's grid.
    pub chunk: Option<Box<[i64]>>,
    /// Place of the inner chunk within its shard; of nested shards, the innermost.
    pub inner: Option<Box<[i64]>>,
    pub codec: Option<&'static str>,
    pub direction: Option<Direction>,
    pub errno: Option<i32>,
    /// What foreign code raised, for the border to re-raise as the cause; or where a panic was (see `location`).
    pub payload: Option<Box<dyn std::any::Any + Send + Sync>>,
}

pub type Result<T> = std::result::Result<T, Error>;

/// The `errno` of what the system said.
#[cfg(not(windows))]
fn number(cause: &std::io::Error) -> Option<i32> {
    cause.raw_os_error()
}

/// Windows has numbers of its own, and among them some that mean something else as an `errno`.
#[cfg(windows)]
fn number(cause: &std::io::Error) -> Option<i32> {
    use std::io::ErrorKind;

    match cause.kind() {
        ErrorKind::NotFound => Some(libc::ENOENT),
        ErrorKind::PermissionDenied => Some(libc::EACCES),
        ErrorKind::AlreadyExists => Some(libc::EEXIST),
        ErrorKind::NotADirectory => Some(libc::ENOTDIR),
        ErrorKind::IsADirectory => Some(libc::EISDIR),
        ErrorKind::DirectoryNotEmpty => Some(libc::ENOTEMPTY),
        ErrorKind::StorageFull => Some(libc::ENOSPC),
        _ => None,
    }
}

impl Error {
    pub fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Error {
            kind,
            reason: reason.into(),
            key: None,
            chunk: None,
            inner: None,
            codec: None,
            direction: None,
            errno: None,
            payload: None,
        }
    }

    /// A codec that could not decode: `reason` like "data ended after 137 of 4,096 bytes".
    pub fn decode(codec: &'static str, reason: impl Into<String>) -> Self {
        let mut error = Error::new(Kind::Codec, reason);
        error.codec = Some(codec);
        error.direction = Some(Direction::Decode);
        error
    }

    /// A codec that could not encode.
    pub fn encode(codec: &'static str, reason: impl Into<String>) -> Self {
        let mut error = Error::decode(codec, reason);
        error.direction = Some(Direction::Encode);
        error
    }

    /// An I/O failure on `key`; keeps errno.
    pub fn io(key: &str, what: &str, cause: &std::io::Error) -> Self {
        let said = cause.to_string();
        // The number is kept as `errno`.
        let said = said.split(" (os error").next().unwrap_or_default();
        let mut error = Error::new(Kind::Store, format!("cannot {what}: {said}"));
        error.key = Some(key.into());
        error.errno = number(cause);
        error
    }

    /// Of a panic: where in the source.
    pub fn location(&self) -> Option<&str> {
        self.payload.as_ref()?.downcast_ref::<crate::panics::Place>().map(|location| &*location.0)
    }

    /// Whether stored bytes are not what they should be.
    pub fn is_damage(&self) -> bool {
        let decoding = self.direction != Some(Direction::Encode);
        matches!(self.kind, Kind::Codec | Kind::Checksum | Kind::ShardIndex) && decoding
    }

    /// Whether it ends an operation that goes on after other errors: a stop that was asked for, a bug of ours, or that what
    /// is left would be of another version.
    pub fn is_stop(&self) -> bool {
        matches!(self.kind, Kind::Request | Kind::OutOfBounds | Kind::Internal | Kind::Conflict)
    }

    /// Names the codec that was to decode bytes which already the store found to be too many or too few.
    pub fn in_codec(mut self, codec: &'static str) -> Self {
        if self.kind == Kind::Codec && self.codec.is_none() {
            self.codec = Some(codec);
            self.direction = Some(Direction::Decode);
        }
        self
    }

    /// Names the inner chunk of a shard, unless a deeper place already did.
    pub fn in_inner_chunk(mut self, indices: &[i64]) -> Self {
        if self.inner.is_none() {
            self.inner = Some(indices.into());
        }
        self
    }

    /// Names the chunk and its key, unless a deeper place already did.
    pub fn at_chunk(mut self, key: &str, indices: &[i64]) -> Self {
        self.chunk.get_or_insert_with(|| indices.into());
        self.at_key(key)
    }

    /// Names the key, unless a deeper place already did.
    pub fn at_key(mut self, key: &str) -> Self {
        if self.key.is_none() {
            self.key = Some(key.into());
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        if let Some(codec) = self.codec {
            write!(f, "{codec}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)
    }
}

impl std::error::Error for Error {}

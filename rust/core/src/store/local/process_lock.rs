//! Locks that processes exclude each other by: on a byte of an open file, dropped by the system when their holder dies.
//!
//! They belong to the open file (`F_OFD_SETLK`), not to the process, so that nothing else that closes the same file
//! releases them. They are tried for, again and again, rather than waited for: a system call that waits cannot be told to
//! stop (Ctrl-C may come just before it), and other threads than the main one are not told at all.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::super::exclusion::{Document, Scope};
use super::super::version::Version;
use super::place::{Access, Place};
use super::times::Times;
use crate::error::Result;
use crate::fork;
use crate::interrupt::{Interrupt, Patience};

/// A document kept open for locking. All locks through it belong to this one open file: threads that share it exclude
/// each other by [`super::super::exclusion::HeldInProcess`] alone.
pub struct OpenDocument {
    file: ManuallyDrop<File>,
    /// Has the file closed in forked children, which would keep its locks alive if this process were killed.
    registered: Option<usize>,
    generation: u64,
}

impl OpenDocument {
    pub fn open(place: Place<'_>) -> io::Result<(Self, Document)> {
        let (file, identity) = open(place)?;
        let generation = fork::generation();
        let registered = system::register(&file);
        Ok((OpenDocument { file: ManuallyDrop::new(file), registered, generation }, identity))
    }
}

impl Drop for OpenDocument {
    fn drop(&mut self) {
        // In a forked child the descriptor is closed already, and its number may be another file's by now. (One that
        // found no slot stays open there: rather a leak than a wrong file closed.)
        if self.generation == fork::generation() {
            // Before the descriptor is closed and may be given to somebody else.
            if let Some(slot) = self.registered {
                fork::unregister(slot);
            }
            // SAFETY: taken once, here, and not used afterwards.
            drop(unsafe { ManuallyDrop::take(&mut self.file) });
        }
    }
}

/// A lock of the system; it lasts until it is released or until nobody has its file open any more.
pub struct ProcessLock {
    document: Arc<OpenDocument>,
    range: (i64, i64),
}

impl ProcessLock {
    /// `Ok(Err(cause))` is what the system said.
    pub fn acquire(
        document: Arc<OpenDocument>,
        scope: Scope,
        interrupt: Interrupt<'_>,
    ) -> Result<std::result::Result<Self, io::Error>> {
        let range = match scope {
            Scope::Part(part) => (1 + (part & ((1 << 62) - 1)) as i64, 1),
            Scope::Whole => (0, 0), // a length of 0 means: without end
        };
        let mut patience: Option<Patience> = None;
        loop {
            match system::lock(&document.file, range) {
                Ok(()) => return Ok(Ok(ProcessLock { document, range })),
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => interrupt()?,
                Err(cause) if is_held(&cause) => {
                    interrupt()?;
                    patience.get_or_insert_default().nap();
                }
                Err(cause) => return Ok(Err(cause)),
            }
        }
    }
}

impl ProcessLock {
    /// Whether the locked file is these bytes; `None` where the system cannot say without moving in it.
    pub fn holds(&self, expected: &[u8]) -> Option<io::Result<bool>> {
        #[cfg(unix)]
        return Some(is_exactly(&self.document.file, expected));
        #[cfg(not(unix))]
        {
            let _ = expected;
            None
        }
    }
}

#[cfg(unix)]
fn is_exactly(file: &File, expected: &[u8]) -> io::Result<bool> {
    use std::os::unix::fs::FileExt;

    // A byte more, which tells what is longer.
    let mut found = vec![0; expected.len() + 1];
    let mut filled = 0;
    while filled < found.len() {
        match file.read_at(&mut found[filled..], filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(&found[..filled] == expected)
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // In a forked child the descriptor is closed already.
        if self.document.generation == fork::generation() {
            // Closing alone would not release what a forked child has open too.
            system::unlock(&self.document.file, self.range);
        }
    }
}

/// Whether somebody else has it.
#[cfg(unix)]
fn is_held(cause: &io::Error) -> bool {
    matches!(cause.raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

#[cfg(not(unix))]
fn is_held(_cause: &io::Error) -> bool {
    false
}

/// Whether this says that the file system has no locks, rather than that one of them failed.
#[cfg(unix)]
pub fn is_unsupported(cause: &io::Error) -> bool {
    // NFS without its lock service; FUSE and Lustre without theirs (which of these, differs); systems without such locks.
    let Some(number) = cause.raw_os_error() else { return false };
    [libc::ENOLCK, libc::ENOTSUP, libc::EOPNOTSUPP, libc::ENOSYS, libc::EINVAL].contains(&number)
}

#[cfg(not(unix))]
pub fn is_unsupported(_cause: &io::Error) -> bool {
    false
}

#[cfg(unix)]
fn open(place: Place<'_>) -> io::Result<(File, Document)> {
    use std::os::unix::fs::MetadataExt;

    let file = place.open(Access::ReadWrite)?;
    let metadata = file.metadata()?;
    Ok((file, (metadata.dev(), metadata.ino())))
}

/// Which document is there now, and in which version.
#[cfg(unix)]
pub fn look_up(place: Place<'_>) -> io::Result<(Document, Option<Version>)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = place.metadata()?;
    Ok(((metadata.dev(), metadata.ino()), Times::new(&metadata).version(metadata.len())))
}

#[cfg(not(unix))]
fn open(place: Place<'_>) -> io::Result<(File, Document)> {
    Ok((place.open(Access::ReadWrite)?, look_up(place)?.0))
}

#[cfg(not(unix))]
pub fn look_up(place: Place<'_>) -> io::Result<(Document, Option<Version>)> {
    use std::hash::{DefaultHasher, Hash, Hasher};

    // Within one process a path is as good as an inode; two that collide merely wait for each other.
    let mut hasher = DefaultHasher::new();
    place.entry(|path| std::fs::canonicalize(path))?.hash(&mut hasher);
    let metadata = place.metadata()?;
    Ok(((0, hasher.finish()), Times::new(&metadata).version(metadata.len())))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod system {
    use super::{fork, io, File};
    use std::os::fd::AsRawFd;

    #[cfg(target_vendor = "apple")]
    type Flock = libc::flock;
    #[cfg(not(target_vendor = "apple"))]
    type Flock = libc::flock64;

    pub fn lock(file: &File, range: (i64, i64)) -> io::Result<()> {
        control(file, libc::F_WRLCK, range)
    }

    pub fn unlock(file: &File, range: (i64, i64)) {
        // It cannot fail where locking did not; and what could be done about it?
        let _ = control(file, libc::F_UNLCK, range);
    }

    pub fn register(file: &File) -> Option<usize> {
        fork::register(file.as_raw_fd())
    }

    fn control<K: Into<libc::c_int>>(file: &File, kind: K, range: (i64, i64)) -> io::Result<()> {
        // SAFETY: `flock` is plain numbers, for which zeros are a value; open file description locks require a zero pid.
        let mut lock: Flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind.into() as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        (lock.l_start, lock.l_len) = range;
        // SAFETY: the descriptor is open, and this command only reads the structure that is passed to it.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// This system has no locks that belong to an open file: only threads exclude each other.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use super::{io, File};

    pub fn lock(_file: &File, _range: (i64, i64)) -> io::Result<()> {
        Ok(())
    }

    pub fn unlock(_file: &File, _range: (i64, i64)) {}

    pub fn register(_file: &File) -> Option<usize> {
        None
    }
}

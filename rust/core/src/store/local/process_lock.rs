//! Locks that processes exclude each other by: on a byte of an open file, dropped by the system when their holder dies.
//!
//! They belong to the open file (`F_OFD_SETLK`; on Windows `LockFileEx`), not to the process, so that nothing else that
//! closes the same file releases them. They are tried for, again and again, rather than waited for: a system call that
//! waits cannot be told to stop (Ctrl-C may come just before it), and other threads than the main one are not told at
//! all. Who goes first is decided in [`fairness`].

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;

use super::super::exclusion::{Document, Scope};
use super::super::version::Version;
use super::fairness::{self, ByteLocks, Range};
use super::place::{Access, Place};
use super::times::Times;
use crate::error::Result;
use crate::fork;
use crate::interrupt::Interrupt;

/// A document kept open for locking. All locks through it belong to this one open file: threads that share it exclude
/// each other by [`super::super::exclusion::HeldInProcess`] alone.
pub struct OpenDocument {
    file: ManuallyDrop<File>,
    /// Has the file closed in forked children, which would keep its locks alive if this process were killed.
    registered: Option<usize>,
    generation: u64,
    /// How many locks there are through it.
    locks: AtomicUsize,
    opened: Instant,
    /// When others were given way last, in microseconds since then; 0: not yet.
    gave_way: AtomicU64,
}

/// Looking for others before each of many small chunks would cost a few percent.
const GIVES_WAY_EVERY_MICROSECONDS: u64 = 1000;

impl OpenDocument {
    pub fn open(place: Place<'_>) -> io::Result<(Self, Document)> {
        let (file, identity) = open(place)?;
        let generation = fork::generation();
        let registered = system::register(&file);
        let (locks, opened, gave_way) = (AtomicUsize::new(0), Instant::now(), AtomicU64::new(0));
        Ok((OpenDocument { file: ManuallyDrop::new(file), registered, generation, locks, opened, gave_way }, identity))
    }

    /// Whether it is time to give way again.
    fn is_to_give_way(&self) -> bool {
        let (now, before) = (self.opened.elapsed().as_micros() as u64, self.gave_way.load(Ordering::Relaxed));
        let due = before == 0 || now >= before + GIVES_WAY_EVERY_MICROSECONDS;
        if due {
            self.gave_way.store(now.max(1), Ordering::Relaxed);
        }
        due
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

impl ByteLocks for OpenDocument {
    fn try_exclusive(&self, range: Range) -> io::Result<()> {
        system::lock_exclusive(&self.file, range)
    }

    fn try_shared(&self, range: Range) -> io::Result<()> {
        system::lock_shared(&self.file, range)
    }

    fn unlock(&self, range: Range) {
        // In a forked child the descriptor is closed already.
        if self.generation == fork::generation() {
            system::unlock(&self.file, range);
        }
    }

    fn held_by_others(&self, range: Range) -> Option<Range> {
        system::held_by_others(&self.file, range)
    }

    fn holds_parts(&self) -> bool {
        self.locks.load(Ordering::Relaxed) > 0
    }
}

/// A lock of the system; it lasts until it is released or until nobody has its file open any more.
pub struct ProcessLock {
    document: Arc<OpenDocument>,
    range: Range,
}

impl ProcessLock {
    /// `Ok(Err(cause))` is what the system said; see [`fairness::acquire`].
    pub fn acquire(
        document: Arc<OpenDocument>,
        scope: Scope,
        gives_way: bool,
        interrupt: Interrupt<'_>,
    ) -> Result<io::Result<Self>> {
        let gives_way = gives_way && document.is_to_give_way();
        Ok(fairness::acquire(document.as_ref(), scope, gives_way, interrupt)?.map(|()| {
            document.locks.fetch_add(1, Ordering::Relaxed);
            ProcessLock { document, range: fairness::range(scope) }
        }))
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
    let mut content = vec![0; expected.len() + 1];
    let mut filled = 0;
    while filled < content.len() {
        match file.read_at(&mut content[filled..], filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(&content[..filled] == expected)
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        // Closing alone would not release what a forked child has open too.
        self.document.unlock(self.range);
        self.document.locks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether this says that the file system has no locks, rather than that one of them failed.
#[cfg(unix)]
pub fn is_unsupported(cause: &io::Error) -> bool {
    // NFS without its lock service; FUSE and Lustre without theirs (which of these, differs); systems without such locks.
    let Some(number) = cause.raw_os_error() else { return false };
    [libc::ENOLCK, libc::ENOTSUP, libc::EOPNOTSUPP, libc::ENOSYS, libc::EINVAL].contains(&number)
}

#[cfg(windows)]
pub use system::is_unsupported;

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

#[cfg(windows)]
fn open(place: Place<'_>) -> io::Result<(File, Document)> {
    let file = place.open(Access::ReadWrite)?;
    let identity = system::identity(&file)?;
    Ok((file, identity))
}

#[cfg(windows)]
pub fn look_up(place: Place<'_>) -> io::Result<(Document, Option<Version>)> {
    let file = place.open(Access::Read)?;
    let metadata = file.metadata()?;
    Ok((system::identity(&file)?, Times::new(&metadata).version(metadata.len())))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod system {
    use super::{fork, io, File, Range};
    use std::os::fd::AsRawFd;

    #[cfg(target_vendor = "apple")]
    type Flock = libc::flock;
    #[cfg(not(target_vendor = "apple"))]
    type Flock = libc::flock64;

    pub fn lock_exclusive(file: &File, range: Range) -> io::Result<()> {
        control(file, libc::F_OFD_SETLK, libc::F_WRLCK, range).map(drop)
    }

    pub fn lock_shared(file: &File, range: Range) -> io::Result<()> {
        control(file, libc::F_OFD_SETLK, libc::F_RDLCK, range).map(drop)
    }

    pub fn unlock(file: &File, range: Range) {
        // It cannot fail where locking did not; and what could be done about it?
        let _ = control(file, libc::F_OFD_SETLK, libc::F_UNLCK, range);
    }

    /// Only ever asked for fairness, so a file system that cannot say has nobody.
    pub fn held_by_others(file: &File, range: Range) -> Option<Range> {
        // What would stand in the way of an exclusive lock.
        let lock = control(file, libc::F_OFD_GETLK, libc::F_WRLCK, range).ok()?;
        (lock.l_type != libc::F_UNLCK as libc::c_short).then_some((lock.l_start, lock.l_len))
    }

    pub fn register(file: &File) -> Option<usize> {
        fork::register(file.as_raw_fd())
    }

    fn control<K: Into<libc::c_int>>(file: &File, command: libc::c_int, kind: K, range: Range) -> io::Result<Flock> {
        // SAFETY: `flock` is plain numbers, for which zeros are a value; open file description locks require a zero pid.
        let mut lock: Flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind.into() as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        (lock.l_start, lock.l_len) = range;
        // SAFETY: the descriptor is open, and these commands only read or write the structure that is passed to them.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, &mut lock) } {
            0 => Ok(lock),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(windows)]
use super::by_handle as system;

/// This system has no locks that belong to an open file: only threads exclude each other.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows)))]
mod system {
    use super::{io, File, Range};

    pub fn lock_exclusive(_file: &File, _range: Range) -> io::Result<()> {
        Ok(())
    }

    pub fn lock_shared(_file: &File, _range: Range) -> io::Result<()> {
        Ok(())
    }

    pub fn unlock(_file: &File, _range: Range) {}

    pub fn held_by_others(_file: &File, _range: Range) -> Option<Range> {
        None
    }

    pub fn register(_file: &File) -> Option<usize> {
        None
    }
}

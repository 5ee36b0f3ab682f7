//! One writer per chunk, among the threads of a process and, on Linux, among processes.
//!
//! # Protocol
//!
//! A partial write reads a chunk, merges and writes it back; two at once would lose one of them. Each array has one
//! file that always exists and that its writers know: its metadata document (`lock_key`). Its bytes stand for chunks:
//! whoever merges into a chunk holds an exclusive *open file description* lock on byte `1 + hash(chunk) mod 2^62` of
//! that file (see [`exclusion::part`] for the hash). Nothing is written there. The system drops such locks when their
//! holder dies, however it dies, so nothing is left behind and nothing has to be judged stale.
//!
//! 1. Open the document for reading and writing (a lock that excludes needs that) and note its device and inode.
//! 2. Take the same lock among the threads of this process ([`Exclusion`]), which is cheaper to wait for.
//! 3. Take the lock of the system. It is waited for without limit; signals do not break it off.
//! 4. Look up the document's path again. Another inode than the one locked means that the document was replaced while we
//!    waited: release everything and start over. No document means that the array was deleted: an error.
//!
//! Who replaces or deletes a document holds *all* its bytes meanwhile ([`Scope::Whole`]). So at that moment nobody holds
//! a chunk by the old inode; those who wait for it find out in step 4; and those who come by the new inode come after.
//! Without this rule, one writer could hold a chunk by the old inode and another the same chunk by the new one.
//!
//! A document that is missing, or that this process may not write, and a file system without locks, are errors that say
//! so: a write that might lose another's work is not made. Reads need no lock and no document.
//!
//! On other systems than Linux only threads of one process exclude each other.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::exclusion::{self, Document, Exclusion, HeldInProcess, Scope};
use super::super::{key, Guard, Locker};
use crate::error::{Error, Result};
use crate::fork::PerProcess;

/// All LocalStores of this process: two at one root, or at a group and an array in it, must exclude each other.
static THREADS: PerProcess<Exclusion> = PerProcess::new(Exclusion::default);

/// Locks chunks by way of one document, which stays open between them.
pub struct DocumentLocker<'a> {
    lock_key: &'a str,
    path: PathBuf,
    document: Mutex<Arc<OpenDocument>>,
}

impl<'a> DocumentLocker<'a> {
    pub fn open(lock_key: &'a str, path: &Path) -> Result<Self> {
        let document = OpenDocument::open(path).map_err(|cause| failed(lock_key, &cause))?;
        Ok(DocumentLocker { lock_key, path: path.to_owned(), document: Mutex::new(Arc::new(document)) })
    }

    pub fn acquire(&self, scope: Scope) -> Result<DocumentLock> {
        loop {
            let document = self.current();
            let threads = HeldInProcess::acquire(&THREADS, document.identity, scope);
            let processes = system::ProcessLock::acquire(Arc::clone(&document), scope)
                .map_err(|cause| failed(self.lock_key, &cause))?;
            match identity(&self.path) {
                Ok(identity) if identity == document.identity => {
                    return Ok(DocumentLock { _processes: processes, _threads: threads });
                }
                Ok(_) => {}
                Err(cause) => return Err(failed(self.lock_key, &cause)),
            }
            drop((processes, threads));
            let reopened = OpenDocument::open(&self.path).map_err(|cause| failed(self.lock_key, &cause))?;
            *self.document.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(reopened);
        }
    }

    fn current(&self) -> Arc<OpenDocument> {
        Arc::clone(&self.document.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Locker for DocumentLocker<'_> {
    fn lock<'a>(&'a self, key: &str) -> Result<Box<dyn Guard + 'a>> {
        key::check(key)?;
        Ok(Box::new(self.acquire(Scope::Part(exclusion::part(self.lock_key, key)))?))
    }
}

fn failed(lock_key: &str, cause: &io::Error) -> Error {
    Error::io(lock_key, "lock the metadata document (writes lock it, so that none undoes another)", cause)
}

/// A document kept open for locking. All locks through it belong to this one open file: threads that share it exclude
/// each other by [`HeldInProcess`] alone.
pub struct OpenDocument {
    file: ManuallyDrop<File>,
    identity: Document,
    /// Has the file closed in forked children, which would keep its locks alive if this process were killed.
    registered: Option<usize>,
    generation: u64,
}

impl OpenDocument {
    fn open(path: &Path) -> io::Result<Self> {
        let (file, identity) = open(path)?;
        let generation = crate::fork::generation();
        let registered = system::register(&file);
        Ok(OpenDocument { file: ManuallyDrop::new(file), identity, registered, generation })
    }
}

impl Drop for OpenDocument {
    fn drop(&mut self) {
        // In a forked child the descriptor is closed already, and its number may be another file's by now. (One that
        // found no slot stays open there: rather a leak than a wrong file closed.)
        if self.generation == crate::fork::generation() {
            // Before the descriptor is closed and may be given to somebody else.
            if let Some(slot) = self.registered {
                crate::fork::unregister(slot);
            }
            // SAFETY: taken once, here, and not used afterwards.
            drop(unsafe { ManuallyDrop::take(&mut self.file) });
        }
    }
}

/// A lock on one chunk or on the whole array, by way of its document. Fields are released in this order.
pub struct DocumentLock {
    _processes: system::ProcessLock,
    _threads: HeldInProcess,
}

impl Guard for DocumentLock {}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<(File, Document)> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let metadata = file.metadata()?;
    Ok((file, (metadata.dev(), metadata.ino())))
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Document> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<(File, Document)> {
    Ok((OpenOptions::new().read(true).write(true).open(path)?, identity(path)?))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Document> {
    use std::hash::{DefaultHasher, Hash, Hasher};

    // Within one process a path is as good as an inode; two that collide merely wait for each other.
    let mut hasher = DefaultHasher::new();
    std::fs::canonicalize(path)?.hash(&mut hasher);
    Ok((0, hasher.finish()))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use super::{io, Arc, File, OpenDocument, Scope};
    use crate::fork;
    use std::os::fd::AsRawFd;

    /// A lock of the system; it lasts until it is released or until nobody has its file open any more.
    pub struct ProcessLock {
        document: Arc<OpenDocument>,
        range: (i64, i64),
    }

    impl ProcessLock {
        pub fn acquire(document: Arc<OpenDocument>, scope: Scope) -> io::Result<Self> {
            let range = match scope {
                Scope::Part(part) => (1 + (part & ((1 << 62) - 1)) as i64, 1),
                Scope::Whole => (0, 0), // a length of 0 means: without end
            };
            loop {
                match control(&document.file, libc::F_OFD_SETLKW, libc::F_WRLCK, range) {
                    Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                    Err(cause) => return Err(cause),
                    Ok(()) => return Ok(ProcessLock { document, range }),
                }
            }
        }
    }

    impl Drop for ProcessLock {
        fn drop(&mut self) {
            // In a forked child the descriptor is closed already.
            if self.document.generation == fork::generation() {
                // Closing alone would not release what a forked child has open too.
                let _ = control(&self.document.file, libc::F_OFD_SETLK, libc::F_UNLCK, self.range);
            }
        }
    }

    pub fn register(file: &File) -> Option<usize> {
        fork::register(file.as_raw_fd())
    }

    fn control(file: &File, command: libc::c_int, kind: libc::c_int, range: (i64, i64)) -> io::Result<()> {
        // SAFETY: `flock` is plain numbers, for which zeros are a value; open file description locks require a zero pid.
        let mut lock: libc::flock64 = unsafe { std::mem::zeroed() };
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        (lock.l_start, lock.l_len) = range;
        // SAFETY: the descriptor is open, and these commands only read the structure that is passed to them.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, &lock) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use super::{io, Arc, File, OpenDocument, Scope};

    /// This system has no locks that belong to an open file: only threads exclude each other.
    pub struct ProcessLock;

    impl ProcessLock {
        pub fn acquire(_document: Arc<OpenDocument>, _scope: Scope) -> io::Result<Self> {
            Ok(ProcessLock)
        }
    }

    pub fn register(_file: &File) -> Option<usize> {
        None
    }
}

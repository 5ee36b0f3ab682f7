//! One writer per chunk, among the threads of a process and among processes.
//!
//! # Protocol
//!
//! A partial write reads a chunk, merges and writes it back; two at once would lose one of them. Each array has one
//! file that always exists and that its writers know: its metadata document (`lock_key`). Its bytes stand for chunks:
//! whoever merges into a chunk holds an exclusive *open file description* lock on byte `1 + hash(chunk) mod 2^62` of
//! that file (see [`exclusion::part`] for the hash; on Windows, of the bytes far behind it). Nothing is written there.
//! The system drops such locks when their holder dies, however it dies, so nothing is left behind and nothing has to be
//! judged stale.
//!
//! 1. Open the document for reading and writing (a lock that excludes needs that) and note its device and inode.
//! 2. Take the same lock among the threads of this process ([`Exclusion`]), which is cheaper to wait for.
//! 3. Take the lock of the system. It is waited for without limit, but not past an interrupt; who goes first is decided in
//!    [`super::fairness`].
//! 4. Look up the document's path again. Another inode than the one locked means that the document was replaced while we
//!    waited: release everything and start over. No document means that the array was deleted: an error.
//!
//! Who replaces or deletes a document holds the bytes of *all* chunks meanwhile ([`Scope::Whole`]). So at that moment nobody holds
//! a chunk by the old inode; those who wait for it find out in step 4; and those who come by the new inode come after.
//! Without this rule, one writer could hold a chunk by the old inode and another the same chunk by the new one.
//!
//! A document that is missing, or that this process may not write, and a file system without locks, are errors that say
//! so: a write that might lose another's work is not made. Reads need no lock and no document. Who knows that no other
//! process writes says so ([`Locking::Threads`]): then steps 1 and 3 only look where the document is.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::exclusion::{self, Document, Exclusion, HeldInProcess, Scope};
use super::super::version::Version;
use super::super::{key, Guard, Locker};
use super::place::{OwnedPlace, Place};
use super::process_lock::{is_unsupported, look_up, OpenDocument, ProcessLock};
use crate::error::{Error, Kind, Result};
use crate::fork::PerProcess;
use crate::interrupt::Interrupt;
use crate::notices::Waiting;

/// All LocalStores of this process: two at one root, or at a group and an array in it, must exclude each other.
static THREADS: PerProcess<Exclusion> = PerProcess::new(Exclusion::default);

/// Who excludes whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// Everybody on this machine, and on others where the file system says so; it must have locks.
    #[default]
    Required,
    /// The threads of this process: the caller knows that no other process writes.
    Threads,
}

/// Locks chunks by way of one document, which stays open between them.
pub struct DocumentLocker<'a> {
    lock_key: &'a str,
    place: OwnedPlace,
    locking: Locking,
    interrupt: Interrupt<'a>,
    document: Mutex<NamedDocument>,
}

/// The document that the path named, open if the system is to lock it.
#[derive(Clone)]
struct NamedDocument {
    identity: Document,
    open: Option<Arc<OpenDocument>>,
}

impl NamedDocument {
    fn look_up(place: Place<'_>, locking: Locking) -> io::Result<Self> {
        match locking {
            Locking::Required => {
                OpenDocument::open(place).map(|(open, identity)| NamedDocument { identity, open: Some(Arc::new(open)) })
            }
            Locking::Threads => look_up(place).map(|(identity, _)| NamedDocument { identity, open: None }),
        }
    }
}

impl<'a> DocumentLocker<'a> {
    pub fn open(lock_key: &'a str, place: Place<'_>, locking: Locking, interrupt: Interrupt<'a>) -> Result<Self> {
        let document = NamedDocument::look_up(place, locking).map_err(|cause| failed(lock_key, &cause))?;
        Ok(DocumentLocker { lock_key, place: place.owned(), locking, interrupt, document: Mutex::new(document) })
    }

    pub fn acquire(&self, scope: Scope) -> Result<DocumentLock> {
        let waiting = Waiting::default();
        let name = || match scope {
            Scope::Part(_) => format!("the lock of a chunk below {}", self.lock_key),
            Scope::Whole => format!("the lock of {}", self.lock_key),
        };
        let interrupt = || waiting.ask(&name, self.interrupt);
        let lock = self.acquire_asking(scope, &interrupt)?;
        waiting.end(&name);
        Ok(lock)
    }

    fn acquire_asking(&self, scope: Scope, interrupt: Interrupt<'_>) -> Result<DocumentLock> {
        let place = self.place.as_place();
        let gone = |cause| place.explained(failed(self.lock_key, &cause));
        for turn in 0..TURNS {
            let NamedDocument { identity: document, open } = self.current();
            let threads = HeldInProcess::acquire(&THREADS, document, scope, interrupt)?;
            let processes = match open {
                Some(open) => {
                    // Whoever waits would wait for what this thread holds. And once is enough: others may replace the
                    // document again and again.
                    let gives_way = turn == 0 && !threads.is_nested();
                    Some(
                        ProcessLock::acquire(open, scope, gives_way, interrupt)?
                            .map_err(|cause| failed_to_lock(self.lock_key, &cause))?,
                    )
                }
                None => None,
            };
            match look_up(place) {
                Ok((identity, version)) if identity == document => {
                    return Ok(DocumentLock { processes, _threads: threads, version });
                }
                Ok(_) => {}
                Err(cause) => return Err(gone(cause)),
            }
            drop((processes, threads));
            let named = NamedDocument::look_up(place, self.locking).map_err(gone)?;
            *self.document.lock().unwrap_or_else(PoisonError::into_inner) = named;
        }
        let reason = format!("cannot lock the metadata document: it was another file each of {TURNS} times; {SAY_SO}");
        Err(Error::new(Kind::Store, reason).at_key(self.lock_key))
    }

    /// Which document it was when it was looked up last.
    pub fn identity(&self) -> Document {
        self.current().identity
    }

    fn current(&self) -> NamedDocument {
        self.document.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Locker for DocumentLocker<'_> {
    fn lock<'a>(&'a self, key: &str) -> Result<Box<dyn Guard + 'a>> {
        key::check(key)?;
        Ok(Box::new(self.acquire(Scope::Part(exclusion::part(self.lock_key, key)))?))
    }

    fn tells_document(&self) -> bool {
        true
    }
}

/// A file system without lasting numbers of files has another one each time.
const TURNS: usize = 10_000;

/// What a user can do about it.
const SAY_SO: &str = "If no other process writes here, say so: LocalStore(root, locking='threads')";

fn failed(lock_key: &str, cause: &io::Error) -> Error {
    let mut error =
        Error::io(lock_key, "lock the metadata document (writes lock it, so that none undoes another)", cause);
    let advice = match cause.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("you may not write this document, and so perhaps nothing beside it: to read, open with mode='r'. {SAY_SO}")
        }
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written there".to_owned(),
        _ => return error,
    };
    error.reason = format!("{}: {advice}", error.reason);
    error
}

fn failed_to_lock(lock_key: &str, cause: &io::Error) -> Error {
    let mut error = failed(lock_key, cause);
    if is_unsupported(cause) {
        let why = "this file system cannot lock files, so processes that write might undo each other's work";
        error.reason = format!("{}: {why}. {SAY_SO}", error.reason);
    }
    error
}

/// A lock on one chunk or on the whole array, by way of its document. Fields are released in this order.
pub struct DocumentLock {
    processes: Option<ProcessLock>,
    _threads: HeldInProcess,
    /// That of the document when its path was looked up last. As long as it is open, no other file gets its inode.
    version: Option<Version>,
}

impl Guard for DocumentLock {
    fn document(&self) -> Option<Version> {
        self.version
    }

    fn holds_document(&self, expected: &[u8]) -> Option<io::Result<bool>> {
        self.processes.as_ref().and_then(|lock| lock.holds(expected))
    }
}

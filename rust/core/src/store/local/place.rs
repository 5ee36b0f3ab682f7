//! Where something is: by its path, following links as every program does, or beneath a root that nothing leads out of.
//!
//! Whoever opens, looks up or changes a file asks its place for it, and so does not know which of the two it is.

use std::cell::RefCell;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
pub use super::beneath::Beneath;
#[cfg(not(target_os = "linux"))]
pub use super::nowhere::Beneath;
use crate::error::Error;
use crate::interrupt::Patience;
use crate::pool;
use crate::store::durability;

/// For how long it is waited that another process gives back a lease; the system takes it away after 45 s.
pub const LEASE: Duration = Duration::from_secs(60);

/// For how long a file may be another one than the file server knows.
const STALE: Duration = Duration::from_secs(1);

/// For how long a directory is not looked at again.
const A_MOMENT: Duration = Duration::from_millis(1);

/// What a file is opened for. A FIFO, socket or device is not waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read it; a link at the end is not followed, but is the error that [`is_link`] knows.
    ReadItself,
    Read,
    ReadWrite,
}

impl Access {
    #[cfg(unix)]
    fn flags(self) -> libc::c_int {
        let not_followed = if self == Access::ReadItself { libc::O_NOFOLLOW } else { 0 };
        libc::O_NONBLOCK | libc::O_NOCTTY | not_followed
    }
}

/// Whether this is what the system says of a link that was not to be followed.
pub fn is_link(cause: &io::Error) -> bool {
    cfg!(unix) && cause.raw_os_error() == Some(libc::ELOOP)
}

#[derive(Clone, Copy)]
pub struct Place<'a> {
    within: Option<&'a Arc<Beneath>>,
    /// Whole, or relative to the root that it is within.
    path: &'a Path,
}

/// What was above a chunk when it was looked at: a directory that was there, and the one below it, if that was missing.
struct Ancestors {
    there: PathBuf,
    missing: Option<PathBuf>,
    when: Instant,
    /// The loop in which that was, by [`pool::number`].
    number: u64,
}

impl Ancestors {
    fn have(&self, path: &Path) -> bool {
        path == self.there || self.missing.as_ref().is_some_and(|missing| path.starts_with(missing))
    }
}

/// A place to be come back to.
pub struct OwnedPlace {
    within: Option<Arc<Beneath>>,
    path: PathBuf,
}

impl OwnedPlace {
    pub fn as_place(&self) -> Place<'_> {
        Place { within: self.within.as_ref(), path: &self.path }
    }
}

impl<'a> Place<'a> {
    /// By its path.
    pub fn of(path: &'a Path) -> Self {
        Place { within: None, path }
    }

    /// By its path relative to the root that it is within; the root by the empty path.
    pub fn within(root: &'a Arc<Beneath>, path: &'a Path) -> Self {
        Place { within: Some(root), path }
    }

    pub fn owned(self) -> OwnedPlace {
        OwnedPlace { within: self.within.cloned(), path: self.path.to_owned() }
    }

    /// The directory that this is in.
    pub fn parent(self) -> Self {
        Place { path: self.path.parent().unwrap_or(self.path), ..self }
    }

    pub fn child(self, name: impl AsRef<Path>) -> OwnedPlace {
        OwnedPlace { within: self.within.cloned(), path: self.path.join(name) }
    }

    /// Whether this is a directory below `root`, where it is not beneath one anyway.
    pub fn is_below(self, root: &Path) -> bool {
        match self.within {
            Some(_) => !self.path.as_os_str().is_empty(),
            None => self.path != root && self.path.starts_with(root),
        }
    }

    /// Opens the file or directory; does not wait for the other end of a pipe.
    pub fn open(self, access: Access) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        if let Some(root) = self.within {
            let mode = access.flags() | if access == Access::ReadWrite { libc::O_RDWR } else { libc::O_RDONLY };
            return root.open(self.path, mode | libc::O_LARGEFILE);
        }
        let mut options = OpenOptions::new();
        options.read(true).write(access == Access::ReadWrite);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(access.flags());
        }
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt;
            // Otherwise a directory is "access denied", as what may not be read is.
            options.custom_flags(windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS);
        }
        let mut patience = Patience::new();
        loop {
            match options.open(self.path) {
                // Another process holds a lease (a file server, for one of its clients), which it has now been told to
                // give back. Without `O_NONBLOCK` the system would wait here, but for a pipe's other end, too.
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock && patience.waited() < LEASE => patience.nap(),
                // A server, or what stands for one, has been told of another file by that name, and is asked again.
                Err(cause) if cause.kind() == io::ErrorKind::StaleNetworkFileHandle && patience.waited() < STALE => {
                    patience.nap()
                }
                outcome => return outcome,
            }
        }
    }

    /// What is there, behind links.
    pub fn metadata(self) -> io::Result<Metadata> {
        #[cfg(target_os = "linux")]
        if let Some(root) = self.within {
            return root.open(self.path, libc::O_PATH)?.metadata();
        }
        fs::metadata(self.path)
    }

    /// Whether this is a link to nothing; `None` when there is no such name.
    pub fn is_broken_link(self) -> io::Result<Option<bool>> {
        match self.entry(|path| fs::symlink_metadata(path)) {
            Ok(found) if found.is_symlink() => {
                Ok(Some(self.metadata().is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound)))
            }
            Ok(_) => Ok(Some(false)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(cause),
        }
    }

    /// Whether this directory is missing because it is a link to nothing, or in one, as where a disk is not mounted.
    /// Within a loop the answer may be a millisecond old, so that it costs little where many chunks are missing.
    pub fn is_behind_broken_link(self) -> bool {
        thread_local!(static KNOWN: RefCell<Option<Ancestors>> = const { RefCell::new(None) });
        let number = if self.within.is_none() { pool::number() } else { 0 };
        let known = KNOWN.take().filter(|known| known.number == number && known.when.elapsed() < A_MOMENT);
        let is_known = |path: &Path| known.as_ref().filter(|known| known.have(path)).map(|known| known.when);
        if is_known(self.path).is_some() {
            KNOWN.set(known);
            return false;
        }
        let (mut place, mut missing) = (self, None);
        let when = loop {
            if let Some(when) = is_known(place.path) {
                break when;
            }
            match (place.is_broken_link(), place.path.parent()) {
                (Ok(None), Some(_)) => (missing, place) = (Some(place.path.to_owned()), place.parent()),
                (Ok(Some(true)), _) => return true,
                _ => break Instant::now(),
            }
        };
        KNOWN.set((number != 0).then(|| Ancestors { there: place.path.to_owned(), missing, when, number }));
        false
    }

    /// Calls `act` with a path by which the entry itself can be made, renamed or removed; it must not follow it.
    pub fn entry<T>(self, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        match self.within {
            #[cfg(target_os = "linux")]
            Some(root) => root.entry(self.path, act),
            _ => act(self.path),
        }
    }

    /// The names in the directory. The paths of the entries are not to be used: ask for [`Place::child`].
    pub fn read_dir(self) -> io::Result<fs::ReadDir> {
        match self.within {
            #[cfg(target_os = "linux")]
            Some(root) => root.read_dir(self.path),
            _ => fs::read_dir(self.path),
        }
    }

    /// Makes the directory and those above it.
    pub fn make_directory(self) -> io::Result<()> {
        match self.within {
            #[cfg(target_os = "linux")]
            Some(root) => root.make(self.path),
            _ => super::publish::make_directory(self.path),
        }
    }

    /// Waits until the directory's entries are on the device.
    pub fn sync(self) -> io::Result<()> {
        match self.within {
            #[cfg(target_os = "linux")]
            Some(root) => durability::Directories::sync(&**root, self.path),
            _ => durability::sync_directory(self.path),
        }
    }

    /// Has the directory synchronised at the end of the call.
    pub fn note(self) {
        match self.within {
            #[cfg(target_os = "linux")]
            Some(root) => durability::note_in(root.clone(), self.path),
            _ => durability::note(self.path),
        }
    }

    /// The same for the directory and those above it, to the one that the root is in.
    pub fn note_all(self, root: &Path) {
        let mut directory = self;
        directory.note();
        while directory.is_below(root) {
            directory = directory.parent();
            directory.note();
        }
        durability::note(root.parent().unwrap_or(root));
    }

    /// Whether this is what the system says of what would leave the root.
    pub fn is_out(self, cause: &io::Error) -> bool {
        #[cfg(target_os = "linux")]
        if self.within.is_some() {
            return super::beneath::leads_out(cause);
        }
        let _ = cause;
        false
    }

    /// Says in an error about this place which link it was that would have led out of the root.
    pub fn explained(self, error: Error) -> Error {
        #[cfg(target_os = "linux")]
        if let Some(root) = self.within.filter(|_| error.errno == Some(libc::EXDEV)) {
            return super::outside::explained(error, root, self.path);
        }
        error
    }
}

/// Opens an entry, but not what it links to.
pub fn open_entry(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options.open(path)
}

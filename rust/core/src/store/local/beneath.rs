//! A root that nothing leads out of: everything is opened relative to a handle of the root, and the system refuses, in the
//! same step, links and `..` that would leave it (`openat2` with `RESOLVE_BENEATH`, Linux 5.6).
//!
//! No path is looked at first and used afterwards, so that nobody who may write below the root can have a name mean
//! something else in between. What acts on a name rather than on a file (rename, remove, link, make) is given the handle of
//! its directory, as `/proc/self/fd/N/name`; none of these calls follows a link of that name.
//!
//! The handle of the root is opened for each operation, by a path that has no links, so that a root which somebody
//! has moved away and made anew is the new one here as everywhere.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::path::file_in_the_way;
use super::place::LEASE;
use crate::error::{Error, Kind, Result};
use crate::interrupt::Patience;
use crate::store::durability::{self, Directories};

/// What is opened only to be the place of something else.
pub const DIRECTORY: libc::c_int = libc::O_PATH | libc::O_DIRECTORY;

/// The directory that nothing leaves.
#[derive(Debug)]
pub struct Beneath {
    /// Absolute and, where it exists, without links.
    root: PathBuf,
}

impl Beneath {
    /// Fails where the system cannot keep to a directory.
    pub fn new(root: &Path) -> Result<Self> {
        let beneath = Beneath { root: resolved(root) };
        // Any directory shows whether the system has the call, and whether open files have paths.
        match beneath.try_out() {
            Ok(()) => Ok(beneath),
            // That this process has too much open, or too little memory, says nothing about the system.
            Err(cause) if matches!(cause.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EINTR)) => {
                Err(Error { key: None, ..Error::io("", "open the root", &cause) })
            }
            Err(cause) => Err(Error::new(
                Kind::Unsupported,
                format!(
                    "links=\"within-root\" needs the system call openat2 (Linux 5.6 or newer, not forbidden by a sandbox) \
                     and /proc, found: {cause}. Nothing else keeps a store within its root"
                ),
            )),
        }
    }

    fn try_out(&self) -> io::Result<()> {
        let top = open(libc::AT_FDCWD, Path::new("/"), DIRECTORY, libc::RESOLVE_NO_SYMLINKS)?;
        open(top.as_raw_fd(), Path::new("."), DIRECTORY, libc::RESOLVE_BENEATH)?;
        fs::metadata(path_of(&top)).map(drop)
    }

    /// Opens what is at `path`, relative to the root; links on the way and at the end are followed as far as they stay.
    pub fn open(&self, path: &Path, flags: libc::c_int) -> io::Result<File> {
        let root = self.handle(&self.root)?;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        open(root.as_raw_fd(), path, flags, libc::RESOLVE_BENEATH | libc::RESOLVE_NO_MAGICLINKS)
    }

    /// A directory that may be the root or above it, never by a link that somebody has put there since.
    fn handle(&self, directory: &Path) -> io::Result<File> {
        open(libc::AT_FDCWD, directory, DIRECTORY, libc::RESOLVE_NO_SYMLINKS)
    }

    /// Calls `act` with a path by which the entry itself can be made, renamed or removed; not to be followed.
    pub fn entry<T>(&self, path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
        let directory = self.open(path.parent().unwrap_or(Path::new("")), DIRECTORY)?;
        act(&path_of(&directory).join(name))
    }

    /// The names in a directory.
    pub fn read_dir(&self, path: &Path) -> io::Result<fs::ReadDir> {
        fs::read_dir(path_of(&self.open(path, DIRECTORY)?))
    }

    /// Makes a directory and those above it, the root too. `Ok` also when somebody removes one of them meanwhile.
    pub fn make(&self, directory: &Path) -> io::Result<()> {
        let above: Vec<&Path> = self.root.ancestors().collect();
        make_each(&above, |path| self.handle(path), |_| false)?;
        let below: Vec<&Path> = directory.ancestors().collect();
        make_each(&below, |path| self.open(path, DIRECTORY), |path| self.is_link(path))
    }

    fn is_link(&self, path: &Path) -> bool {
        let opened = self.open(path, libc::O_PATH | libc::O_NOFOLLOW);
        opened.and_then(|link| link.metadata()).is_ok_and(|metadata| metadata.is_symlink())
    }

    /// The first name on the way to `path` that leads out, and where to.
    pub fn link_out(&self, path: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        let out =
            above.into_iter().find(|above| self.open(above, libc::O_PATH).is_err_and(|cause| leads_out(&cause)))?;
        let target = self.entry(out, |link| fs::read_link(link)).ok()?;
        Some((out.to_owned(), target))
    }
}

impl Directories for Beneath {
    fn root(&self) -> &Path {
        &self.root
    }

    fn sync(&self, directory: &Path) -> io::Result<()> {
        durability::sync_opened(self.open(directory, libc::O_RDONLY | libc::O_DIRECTORY))
    }
}

/// Whether this is what the system says of what would leave the root.
pub fn leads_out(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(libc::EXDEV)
}

/// Makes those directories that are missing, from the last given, which is there, to the first.
fn make_each(
    directories: &[&Path],
    open: impl Fn(&Path) -> io::Result<File>,
    is_link: impl Fn(&Path) -> bool,
) -> io::Result<()> {
    for pair in directories.windows(2).rev() {
        let [directory, above] = pair else { continue };
        match open(directory) {
            Ok(_) => continue,
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) if cause.kind() == ErrorKind::NotADirectory => return Err(file_in_the_way()),
            Err(cause) => return Err(cause),
        }
        let Some(name) = directory.file_name() else { continue };
        match open(above).and_then(|above| fs::create_dir(path_of(&above).join(name))) {
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists && is_link(directory) => {
                return Err(file_in_the_way()); // a link to nowhere
            }
            // Somebody has made or removed one of them meanwhile; the caller comes back.
            Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
            outcome => outcome?,
        }
    }
    Ok(())
}

/// The path without links, as far as it exists.
fn resolved(root: &Path) -> PathBuf {
    for above in root.ancestors() {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(above), root.strip_prefix(above)) {
            // Joined with nothing it would end with a separator.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    root.to_owned()
}

/// By which an open file can be named.
fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn open(directory: RawFd, path: &Path, flags: libc::c_int, resolve: u64) -> io::Result<File> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `open_how` is plain numbers, for which zeros are a value.
    let mut how: libc::open_how = unsafe { MaybeUninit::zeroed().assume_init() };
    how.flags = (flags | libc::O_CLOEXEC) as u64;
    how.resolve = resolve;
    let mut patience = Patience::new();
    loop {
        // SAFETY: the path ends with NUL, `how` is as large as is said, and both outlive the call.
        let opened = unsafe {
            libc::syscall(libc::SYS_openat2, directory, path.as_ptr(), &raw const how, size_of::<libc::open_how>())
        };
        if opened >= 0 {
            // SAFETY: the system has just opened it, for nobody else.
            return Ok(unsafe { File::from_raw_fd(opened as RawFd) });
        }
        let cause = io::Error::last_os_error();
        match cause.raw_os_error() {
            Some(libc::EINTR) => {}
            // Something was renamed while the system followed a `..`, or another process holds a lease (see `Place::open`).
            Some(libc::EAGAIN) if patience.waited() < LEASE => patience.nap(),
            _ => return Err(cause),
        }
    }
}

//! The path of a key's file: root, separator, key.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Longer paths are put together on the heap.
#[cfg(unix)]
const SHORT: usize = 512;

/// Calls `act` with `root` joined with `key`, which must have been checked.
#[cfg(unix)]
pub fn with<T>(root: &Path, key: &str, act: impl FnOnce(&Path) -> T) -> T {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let root = root.as_os_str().as_bytes();
    let length = root.len() + 1 + key.len();
    if length > SHORT {
        return act(&Path::new(OsStr::from_bytes(root)).join(key));
    }
    let mut buffer = [0; SHORT];
    buffer[..root.len()].copy_from_slice(root);
    buffer[root.len()] = b'/';
    buffer[root.len() + 1..length].copy_from_slice(key.as_bytes());
    act(Path::new(OsStr::from_bytes(&buffer[..length])))
}

#[cfg(not(unix))]
pub fn with<T>(root: &Path, key: &str, act: impl FnOnce(&Path) -> T) -> T {
    let mut path = root.to_path_buf();
    path.extend(key.split('/'));
    act(&path)
}

/// The path without links, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}

/// What the system says when a file is where a directory should be.
#[cfg(unix)]
const FILE_IN_THE_WAY: i32 = libc::ENOTDIR;
#[cfg(not(unix))]
const FILE_IN_THE_WAY: i32 = 267;

pub fn file_in_the_way() -> io::Error {
    io::Error::from_raw_os_error(FILE_IN_THE_WAY)
}

/// Whether there is nothing below this path: it does not exist, or a file is there.
pub fn has_nothing_below(cause: &io::Error) -> bool {
    cause.kind() == ErrorKind::NotFound || cause.raw_os_error() == Some(FILE_IN_THE_WAY)
}

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

/// What a path is called, with slashes between directories; no two have one name, also of those that are no text.
pub fn name(path: &Path) -> String {
    match path.to_str() {
        Some(name) if cfg!(windows) => name.replace('\\', "/"),
        Some(name) => name.to_owned(),
        None => {
            let bytes = path.as_os_str().as_encoded_bytes();
            let shown = bytes.iter().map(|&byte| if byte == b'/' { "/".to_owned() } else { format!("{byte:02x}") });
            // No text has this in front, as no path does.
            std::iter::once("\0".to_owned()).chain(shown).collect()
        }
    }
}

/// What the system says when a file is where a directory should be.
#[cfg(unix)]
const FILE_IN_THE_WAY: i32 = libc::ENOTDIR;
#[cfg(not(unix))]
const FILE_IN_THE_WAY: i32 = 267;
/// What Windows may say instead, of a name with a star in it: those of keys have none.
#[cfg(not(unix))]
const INVALID_NAME: i32 = 123;

pub fn file_in_the_way() -> io::Error {
    io::Error::from_raw_os_error(FILE_IN_THE_WAY)
}

/// Whether there is nothing below this path: it does not exist, or a file is there.
pub fn has_nothing_below(cause: &io::Error) -> bool {
    #[cfg(not(unix))]
    if cause.raw_os_error() == Some(INVALID_NAME) {
        return true;
    }
    cause.kind() == ErrorKind::NotFound || cause.raw_os_error() == Some(FILE_IN_THE_WAY)
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_of_different_paths_differ() {
        let named = |bytes: &[u8]| name(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(named(b"/a/\xc3\xa4"), "/a/\u{e4}");
        assert_ne!(named(b"/a/\xfe"), named(b"/a/\xff"));
        assert_ne!(named(b"/a/\xef\xbf\xbd"), named(b"/a/\xff"), "what stands for bytes that are no text");
        assert_eq!(named(b"/a/\xff/b").matches('/').count(), 3);
    }

    #[test]
    fn real_paths_have_no_links_as_far_as_they_exist() {
        let scratch = std::env::temp_dir().join(format!("blizzarr-real-{}", std::process::id()));
        std::fs::create_dir_all(scratch.join("there")).expect("made");
        std::os::unix::fs::symlink(scratch.join("there"), scratch.join("link")).expect("linked");
        let there = scratch.join("there").canonicalize().expect("there");
        assert_eq!(real(&scratch.join("link")), there);
        assert_eq!(real(&scratch.join("link/not/yet")), there.join("not/yet"));
        std::fs::remove_dir_all(&scratch).expect("removed");
    }
}

//! Temporary names: who has one holds a lock on its file, so that what a dead writer has left can be told from what a
//! living one is about to rename. So it is for directories that are about to be emptied. The system drops such a lock with its holder, however that ends.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::super::key::RESERVED;
use super::place::{open_entry, Place};
use super::{failed, list};
use crate::error::Result;

/// What becomes of leftovers that are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    Remove,
}

/// Says that the file's writer lives, for as long as this open file lives. Where the file system has no such locks
/// nothing is ever taken for a leftover.
pub fn mark_alive(file: &File) {
    let _ = lock(file);
}

/// Opens and locks a file or directory, which says the same; an error if somebody else has said so.
pub fn lock_entry(path: &Path) -> io::Result<File> {
    #[cfg(windows)]
    if path.is_dir() {
        return super::by_handle::open_directory_alone(path);
    }
    let entry = open_entry(path)?;
    lock(&entry).map(|()| entry)
}

/// Relative to the root, the temporary files and directories below `prefix`, which is this place, whose writers are dead.
pub fn leftovers(place: Place<'_>, prefix: &str, then: Then) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    collect(place, prefix, then, &mut keys)?;
    keys.sort_unstable();
    Ok(keys)
}

fn collect(directory: Place<'_>, prefix: &str, then: Then, keys: &mut Vec<String>) -> Result<()> {
    let reading = match directory.read_dir() {
        Ok(reading) => reading,
        Err(cause) => return list::missing_is_empty(directory, prefix, &cause),
    };
    for entry in reading {
        let entry = entry.map_err(|cause| failed(prefix, "list", &cause))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        // Not through links: what is behind them is not ours to sweep.
        let Ok(kind) = entry.file_type() else { continue };
        let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        if !name.starts_with(RESERVED) {
            if kind.is_dir() {
                collect(directory.child(name).as_place(), &key, then, keys)?;
            }
            continue;
        }
        if !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        let child = directory.child(name);
        let place = child.as_place();
        // Held until it is removed: nobody else sweeps it meanwhile, and no writer can revive it.
        let Ok(_locked) = place.entry(lock_entry) else { continue };
        if then == Then::Remove {
            let removed =
                place.entry(|path| if kind.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
            match removed {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
                outcome => outcome.map_err(|cause| failed(&key, "remove what a dead writer has left", &cause))?,
            }
        }
        keys.push(key);
    }
    Ok(())
}

/// Takes the lock of an open file without waiting; it goes when the file is closed.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    // SAFETY: the descriptor is open.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(windows)]
fn lock(file: &File) -> io::Result<()> {
    super::by_handle::lock_exclusive(file, (0, 1))
}

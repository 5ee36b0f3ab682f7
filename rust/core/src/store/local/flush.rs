//! Waiting until everything is on the device.

use std::io;
use std::path::Path;

use super::failed;
use super::place::Place;
use crate::error::Result;

/// Waits until all that anybody has written to the file system of the root would survive a power cut.
pub fn flush(root: Place<'_>) -> Result<()> {
    match synchronise_at(root) {
        // Nothing was ever stored.
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome.map_err(|cause| failed("", "write everything to the device", &cause)),
    }
}

/// The whole file system of `root`.
pub fn synchronise(root: &Path) -> io::Result<()> {
    synchronise_at(Place::of(root))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn synchronise_at(root: Place<'_>) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    let root = root.open(super::place::Access::Read)?;
    // SAFETY: the descriptor is open.
    match unsafe { libc::syncfs(root.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Other systems have no such call for one file system: the entries of all directories, and all files.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn synchronise_at(directory: Place<'_>) -> io::Result<()> {
    for entry in directory.read_dir()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            synchronise_at(directory.child(entry.file_name()).as_place())?;
        } else if kind.is_file() {
            // Windows wants permission to write.
            std::fs::OpenOptions::new().read(true).write(cfg!(windows)).open(entry.path())?.sync_all()?;
        }
    }
    directory.sync()
}

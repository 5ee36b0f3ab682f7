//! Files without a name (`O_TMPFILE`) that are linked to their name when they are complete.

use std::ffi::{CStr, CString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::publish::{directory_of, temporary_beside, Content, Existing};
use super::rights::keep_rights;
use super::temporary;

/// Before Linux 6.10 only privileged processes may link by descriptor alone; the others go through `/proc`.
static THROUGH_PROC: AtomicBool = AtomicBool::new(false);

/// What became of a file and its name.
pub enum Published {
    /// Nothing had the name.
    New,
    /// It has replaced what had the name, if anything.
    Over,
    /// What was there, if anything, has been kept.
    Kept,
}

/// As [`super::publish::publish_named`]; `None` when this file system has no such files or cannot link them.
pub fn publish(
    path: &Path,
    content: &mut Content<'_>,
    existing: Existing,
    sync: bool,
) -> io::Result<Option<Published>> {
    let mut file = match OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(directory_of(path)) {
        Err(cause) if is_unsupported(&cause) => return Ok(None),
        opened => opened?,
    };
    if !content.write(&mut file)? {
        return Ok(Some(Published::Kept));
    }
    if sync {
        file.sync_data()?;
    }
    let linked = match existing {
        Existing::ReplaceSeen => return rename_over(&file, path),
        Existing::Replace | Existing::Keep => link(&file, path),
    };
    match linked {
        Ok(()) => Ok(Some(Published::New)),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => match existing {
            Existing::Keep => Ok(Some(Published::Kept)),
            Existing::Replace | Existing::ReplaceSeen => rename_over(&file, path),
        },
        Err(cause) if is_unsupported(&cause) => Ok(None),
        Err(cause) => Err(cause),
    }
}

/// Gives the file a temporary name and renames it over what is at `path`; `None` as for [`publish`].
fn rename_over(file: &File, path: &Path) -> io::Result<Option<Published>> {
    temporary::mark_alive(file);
    keep_rights(file, path)?;
    let temporary = loop {
        let temporary = temporary_beside(path);
        match link(file, &temporary) {
            Ok(()) => break temporary,
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) if is_unsupported(&cause) => return Ok(None),
            Err(cause) => return Err(cause),
        }
    };
    fs::rename(&temporary, path).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    Ok(Some(Published::Over))
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    with_c_string(path, |target| {
        if !THROUGH_PROC.load(Ordering::Relaxed) {
            match link_descriptor(file, target) {
                Err(cause) if cause.kind() == ErrorKind::NotFound => {} // not permitted, or really no such directory
                outcome => return outcome,
            }
        }
        link_through_proc(file, target).inspect(|()| THROUGH_PROC.store(true, Ordering::Relaxed))
    })
}

fn link_descriptor(file: &File, target: &CStr) -> io::Result<()> {
    // SAFETY: both strings end with NUL and outlive the call; the descriptor is open.
    let outcome =
        unsafe { libc::linkat(file.as_raw_fd(), c"".as_ptr(), libc::AT_FDCWD, target.as_ptr(), libc::AT_EMPTY_PATH) };
    succeeded(outcome)
}

fn link_through_proc(file: &File, target: &CStr) -> io::Result<()> {
    let source = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // SAFETY: both strings end with NUL and outlive the call.
    let outcome = unsafe {
        libc::linkat(libc::AT_FDCWD, source.as_ptr(), libc::AT_FDCWD, target.as_ptr(), libc::AT_SYMLINK_FOLLOW)
    };
    succeeded(outcome)
}

fn succeeded(outcome: libc::c_int) -> io::Result<()> {
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Whether the file system cannot do this, rather than that it went wrong.
fn is_unsupported(cause: &io::Error) -> bool {
    // EISDIR: a kernel that takes the request for one to open the directory. EPERM: no hard links here.
    // EINVAL and ENOSYS: file systems in user space that do not know the flag or the call.
    matches!(
        cause.raw_os_error(),
        Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL | libc::ENOSYS | libc::EPERM | libc::EMLINK | libc::EXDEV)
    )
}

/// Calls `act` with the path as the system wants it, from the stack where it is not too long.
fn with_c_string<T>(path: &Path, act: impl FnOnce(&CStr) -> io::Result<T>) -> io::Result<T> {
    let bytes = path.as_os_str().as_bytes();
    let mut buffer = [0; 512];
    if bytes.len() >= buffer.len() {
        return act(&CString::new(bytes)?);
    }
    buffer[..bytes.len()].copy_from_slice(bytes);
    act(CStr::from_bytes_with_nul(&buffer[..=bytes.len()]).map_err(|_| ErrorKind::InvalidInput)?)
}

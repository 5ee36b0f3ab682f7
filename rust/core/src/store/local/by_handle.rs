//! What Windows says of an open file: which one it is, and locks on its bytes (`LockFileEx`).
//!
//! Such locks belong to the handle, are gone with it or with its process, and keep others from reading the locked bytes. So
//! what stands for chunks lies far behind the last byte of any document, from [`BEHIND`] on.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Foundation::{
    ERROR_INVALID_FUNCTION, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED,
};
use windows_sys::Win32::Storage::FileSystem::{
    GetFileInformationByHandle, LockFileEx, UnlockFileEx, BY_HANDLE_FILE_INFORMATION, FILE_ADD_FILE,
    FILE_FLAG_BACKUP_SEMANTICS, FILE_SHARE_DELETE, FILE_SHARE_READ, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::fairness::Range;
use crate::store::exclusion::Document;

const BEHIND: u64 = 1 << 61;

/// The volume and the number of the file on it.
pub fn identity(file: &File) -> io::Result<Document> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and there is room for what the system writes.
    succeeded(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut found) })?;
    let number = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Ok((u64::from(found.dwVolumeSerialNumber), number))
}

/// Opens a directory that nobody else opens like this meanwhile, as `python/blizzarr/stores/windows.py` does. There are no
/// locks on directories, but who has one open to add files by its handle need not share that; paths add them as ever.
pub fn open_directory_alone(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(FILE_ADD_FILE)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_DELETE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
}

pub fn lock_exclusive(file: &File, range: Range) -> io::Result<()> {
    lock(file, LOCKFILE_EXCLUSIVE_LOCK, range)
}

pub fn lock_shared(file: &File, range: Range) -> io::Result<()> {
    lock(file, 0, range)
}

pub fn unlock(file: &File, range: Range) {
    let (mut place, low, high) = bytes(range);
    // SAFETY: the handle is open, and the structure outlives the call, which does not wait.
    // It cannot fail where locking did not; and what could be done about it?
    let _ = unsafe { UnlockFileEx(file.as_raw_handle(), 0, low, high, &mut place) };
}

/// The system does not tell who has what, but what can be locked is free. (Who looks for the same at this moment seems to
/// have it; that costs a nap.) What this file itself has locked counts as well.
pub fn held_by_others(file: &File, range: Range) -> Option<Range> {
    if is_free(file, range) {
        return None;
    }
    // The first byte tells who has the whole.
    let first = (range.0, 1);
    Some(if range.1 == 1 || !is_free(file, first) { range } else { (range.0 + 1, 1) })
}

fn is_free(file: &File, range: Range) -> bool {
    let free = lock_exclusive(file, range).is_ok();
    if free {
        unlock(file, range);
    }
    free
}

/// Nothing forks here.
pub fn register(_file: &File) -> Option<usize> {
    None
}

/// Whether somebody else has it.
pub fn is_held(cause: &io::Error) -> bool {
    is_any(cause, [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING])
}

/// Whether the file system has no locks.
pub fn is_unsupported(cause: &io::Error) -> bool {
    is_any(cause, [ERROR_NOT_SUPPORTED, ERROR_INVALID_FUNCTION])
}

fn is_any(cause: &io::Error, numbers: [u32; 2]) -> bool {
    cause.raw_os_error().is_some_and(|found| numbers.contains(&(found as u32)))
}

fn lock(file: &File, kind: u32, range: Range) -> io::Result<()> {
    let (mut place, low, high) = bytes(range);
    // SAFETY: the handle is open, and the structure outlives the call, which does not wait.
    succeeded(unsafe { LockFileEx(file.as_raw_handle(), kind | LOCKFILE_FAIL_IMMEDIATELY, 0, low, high, &mut place) })
}

/// Where the locked bytes begin, and the lower and upper half of their number.
fn bytes((first, length): Range) -> (OVERLAPPED, u32, u32) {
    let offset = BEHIND + first as u64;
    let length = if length == 0 { i64::MAX as u64 - offset } else { length as u64 };
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = offset as u32;
    place.Anonymous.Anonymous.OffsetHigh = (offset >> 32) as u32;
    (place, length as u32, (length >> 32) as u32)
}

fn succeeded(outcome: i32) -> io::Result<()> {
    if outcome == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

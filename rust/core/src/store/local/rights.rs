//! Who may read and write: a document that replaces another one is for the same people.
//!
//! Chunks have the rights of new files, as to look at each would take a tenth of the time that a small one takes.

use std::fs::File;
use std::io;
use std::path::Path;

/// Gives a file the rights of the document that it will replace, if there is one.
#[cfg(unix)]
pub fn keep_rights(file: &File, path: &Path) -> io::Result<()> {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{fchown, MetadataExt, PermissionsExt};

    if !path.file_name().and_then(|name| name.to_str()).is_some_and(super::publish::is_document) {
        return Ok(());
    }
    let Some(old) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) else { return Ok(()) };
    let new = file.metadata()?;
    if old.uid() != new.uid() {
        // Only the superuser may, by whom the owner would else be locked out; for others the file is their own.
        let _ = fchown(file, Some(old.uid()), None);
    }
    let has_group = old.gid() == new.gid() || fchown(file, None, Some(old.gid())).is_ok();
    let mut mode = old.permissions().mode() & 0o777;
    if !has_group || !keep_list(file, path) {
        // The group is another one, or its rights are those of the list: it gets the rights of all others.
        mode = (mode & !0o070) | ((mode & 0o007) << 3);
    }
    // Not from `new`: the list has changed it.
    if mode != file.metadata()?.permissions().mode() & 0o777 {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn keep_rights(_file: &File, _path: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives a file the access control list of another one; `false` if that has one which could not be given.
#[cfg(target_os = "linux")]
fn keep_list(file: &File, path: &Path) -> bool {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    const NAME: &std::ffi::CStr = c"system.posix_acl_access";
    /// The most that Linux keeps in an attribute.
    const LONGEST: usize = 64 << 10;
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both strings end with NUL and outlive the call, which writes nothing for a length of 0.
    let length = unsafe { libc::lgetxattr(path.as_ptr(), NAME.as_ptr(), std::ptr::null_mut(), 0) };
    if length < 0 {
        let cause = io::Error::last_os_error().raw_os_error();
        return matches!(cause, Some(libc::ENODATA | libc::EOPNOTSUPP | libc::ENOSYS));
    }
    let mut list = vec![0_u8; LONGEST];
    // SAFETY: as above; there is room for as many bytes as the call may write.
    let length = unsafe { libc::lgetxattr(path.as_ptr(), NAME.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    let Ok(length) = usize::try_from(length) else { return false };
    // SAFETY: the descriptor is open, the name ends with NUL, and the call reads bytes that the list has.
    unsafe { libc::fsetxattr(file.as_raw_fd(), NAME.as_ptr(), list.as_ptr().cast(), length, 0) == 0 }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn keep_list(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{chown, MetadataExt, PermissionsExt};

    use super::*;
    use crate::store::tests::Scratch;
    use crate::store::Store;

    fn rights_after_a_change(prepare: impl FnOnce(&Path)) -> (u32, u32, Vec<u8>) {
        let scratch = Scratch::new();
        let store = scratch.store();
        store.set("zarr.json", &[b"{}"]).expect("set");
        let path = scratch.0.join("zarr.json");
        prepare(&path);
        store.set("zarr.json", &[b"{ }"]).expect("set");
        let found = fs::metadata(&path).expect("there");
        (found.gid(), found.permissions().mode() & 0o777, list_of(&File::open(&path).expect("opened")))
    }

    fn list_of(file: &File) -> Vec<u8> {
        let mut list = vec![0; 1000];
        let name = c"system.posix_acl_access".as_ptr();
        // SAFETY: the descriptor is open, the name ends with NUL, and there is room for what is written.
        let length = unsafe { libc::fgetxattr(file.as_raw_fd(), name, list.as_mut_ptr().cast(), list.len()) };
        list.truncate(length.max(0) as usize);
        list
    }

    #[test]
    fn a_document_stays_with_its_group() {
        let prepare = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o640)).expect("set");
        assert_eq!(rights_after_a_change(prepare).1, 0o640);
        let into_group = |path: &Path| {
            prepare(path);
            chown(path, None, Some(4321)).expect("given");
        };
        // SAFETY: asks only who runs this.
        if unsafe { libc::geteuid() } == 0 {
            assert_eq!(rights_after_a_change(into_group), (4321, 0o640, vec![]));
        }
    }

    #[test]
    fn a_document_keeps_its_access_list() {
        // The owner, user 1000, the group, the mask, and all others.
        let entries: [(u16, u16, u32); 5] =
            [(1, 6, u32::MAX), (2, 4, 1000), (4, 0, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            list.extend([&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat());
        }
        let mut is_supported = false;
        let (_, mode, found) = rights_after_a_change(|path| {
            let file = File::open(path).expect("opened");
            let name = c"system.posix_acl_access".as_ptr();
            // SAFETY: the descriptor is open, the name ends with NUL, and the list has as many bytes.
            let outcome = unsafe { libc::fsetxattr(file.as_raw_fd(), name, list.as_ptr().cast(), list.len(), 0) };
            is_supported = outcome == 0;
        });
        if is_supported {
            assert_eq!((mode, found), (0o640, list));
        }
    }
}

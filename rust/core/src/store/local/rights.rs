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
    let is_for_group = match keep_list(file, path, has_group) {
        // In the mode, the rights of the group are then the most that the list gives anybody.
        Ok(true) => true,
        Ok(false) => has_group,
        Err(_) => false,
    };
    if !is_for_group {
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

/// Gives a file the access control list of another one, or none if that has none; whether there is one. The group of the file
/// gets the rights of all others in it, unless it is the same group.
#[cfg(target_os = "linux")]
fn keep_list(file: &File, path: &Path, has_group: bool) -> io::Result<bool> {
    use std::ffi::{CStr, CString};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    const NAME: &CStr = c"system.posix_acl_access";
    /// The most that Linux keeps in an attribute.
    const LONGEST: usize = 64 << 10;
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: both strings end with NUL and outlive the call, which writes nothing for a length of 0.
    let length = unsafe { libc::lgetxattr(path.as_ptr(), NAME.as_ptr(), std::ptr::null_mut(), 0) };
    if length < 0 {
        let cause = io::Error::last_os_error();
        return match cause.raw_os_error() {
            Some(libc::ENODATA) => without_list(file, NAME).map(|()| false),
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => Ok(false),
            _ => Err(cause),
        };
    }
    let mut list = vec![0_u8; LONGEST];
    // SAFETY: as above; there is room for as many bytes as the call may write.
    let length = unsafe { libc::lgetxattr(path.as_ptr(), NAME.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    list.truncate(usize::try_from(length).map_err(|_| io::Error::last_os_error())?);
    if !has_group {
        give_group_the_rights_of_others(&mut list);
    }
    // SAFETY: the descriptor is open, the name ends with NUL, and the call reads bytes that the list has.
    match unsafe { libc::fsetxattr(file.as_raw_fd(), NAME.as_ptr(), list.as_ptr().cast(), list.len(), 0) } {
        0 => Ok(true),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes from a file the list that its directory has for new ones: its mode would be the most that this list gives.
#[cfg(target_os = "linux")]
fn without_list(file: &File, name: &std::ffi::CStr) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    // SAFETY: the descriptor is open, and the name ends with NUL; nothing is written for a length of 0.
    if unsafe { libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), std::ptr::null_mut(), 0) } < 0 {
        return Ok(());
    }
    // SAFETY: the descriptor is open, and the name ends with NUL.
    match unsafe { libc::fremovexattr(file.as_raw_fd(), name.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// In an access control list as Linux keeps it: a version, and entries of a tag, rights and an identity.
#[cfg(target_os = "linux")]
fn give_group_the_rights_of_others(list: &mut [u8]) {
    const VERSION: usize = 4;
    const ENTRY: usize = 8;
    const GROUP: [u8; 2] = 4_u16.to_le_bytes();
    const OTHERS: [u8; 2] = 32_u16.to_le_bytes();
    let Some(entries) = list.get_mut(VERSION..) else { return };
    let others =
        entries.chunks_exact(ENTRY).find(|entry| entry[..2] == OTHERS).map_or([0; 2], |entry| [entry[2], entry[3]]);
    for entry in entries.chunks_exact_mut(ENTRY).filter(|entry| entry[..2] == GROUP) {
        entry[2..4].copy_from_slice(&others);
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn keep_list(_file: &File, _path: &Path, _has_group: bool) -> io::Result<bool> {
    Ok(false)
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

    /// The rights of the owner, user 1000, the group, the mask, and all others.
    fn list_with(rights: [u16; 5]) -> Vec<u8> {
        let entries: [(u16, u32); 5] = [(1, u32::MAX), (2, 1000), (4, u32::MAX), (16, u32::MAX), (32, u32::MAX)];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for ((tag, id), rights) in entries.into_iter().zip(rights) {
            list.extend([&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat());
        }
        list
    }

    /// Whether the file system has such lists.
    fn set_list(file: &File, name: &std::ffi::CStr, list: &[u8]) -> bool {
        // SAFETY: the descriptor is open, the name ends with NUL, and the list has as many bytes.
        unsafe { libc::fsetxattr(file.as_raw_fd(), name.as_ptr(), list.as_ptr().cast(), list.len(), 0) == 0 }
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
    fn a_document_without_a_list_gets_none_of_its_directory() {
        let list = list_with([6, 6, 0, 6, 0]);
        let (_, mode, found) = rights_after_a_change(|path| {
            set_list(
                &File::open(path.parent().expect("a parent")).expect("opened"),
                c"system.posix_acl_default",
                &list,
            );
            fs::set_permissions(path, Permissions::from_mode(0o640)).expect("set");
        });
        assert_eq!((mode, found), (0o640, vec![]));
    }

    #[test]
    fn of_another_group_in_a_list_are_the_rights_of_others() {
        let mut list = list_with([6, 6, 7, 6, 4]);
        give_group_the_rights_of_others(&mut list);
        assert_eq!(list, list_with([6, 6, 4, 6, 4]));
        give_group_the_rights_of_others(&mut []);
    }

    #[test]
    fn a_document_keeps_its_access_list() {
        let list = list_with([6, 4, 0, 4, 0]);
        let mut is_supported = false;
        let (_, mode, found) = rights_after_a_change(|path| {
            is_supported = set_list(&File::open(path).expect("opened"), c"system.posix_acl_access", &list);
        });
        if is_supported {
            assert_eq!((mode, found), (0o640, list));
        }
    }
}

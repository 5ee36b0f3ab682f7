//! What callers look at by themselves, that are not content with keys: a directory, and what a name leads to.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Component, Path};

use super::super::key;
use super::super::version::Version;
use super::path::has_nothing_below;
use super::place::{Access, Place};
use super::times::Times;
use super::{failed, LocalStore};
use crate::error::{Error, Kind, Result};

impl LocalStore {
    /// The directory under a prefix, to be read or locked; `None` when there is none.
    pub fn open_directory(&self, prefix: &str) -> Result<Option<File>> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| match place.open(Access::Read) {
            Ok(opened) => Ok(Some(opened)),
            Err(cause) if has_nothing_below(&cause) => Ok(None),
            Err(cause) => Err(failed(prefix, "open the directory", &cause)),
        })
    }

    /// Whether something else is in place of the root, or of a directory above it.
    pub fn is_blocked(&self) -> bool {
        match std::fs::metadata(&self.root) {
            Ok(metadata) => !metadata.is_dir(),
            Err(cause) => cause.kind() == ErrorKind::NotADirectory,
        }
    }

    /// The version of the directory under a prefix, which another one follows when a name appears in it, goes, or is given
    /// to another file; `None` when there is no directory.
    pub fn directory_version(&self, prefix: &str) -> Result<Option<Version>> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| match place.metadata() {
            Ok(metadata) => Ok(Times::new(&metadata).version(metadata.len()).filter(|_| metadata.is_dir())),
            Err(cause) if has_nothing_below(&cause) => Ok(None),
            Err(cause) => Err(failed(prefix, "look up the directory", &cause)),
        })
    }

    /// What a name below the root leads to, which need not be a key; `None` when it leads nowhere.
    pub fn kind(&self, name: &Path) -> Result<Option<&'static str>> {
        let shown = name.to_string_lossy();
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Error::new(Kind::Path, format!("expected a name below the root, found {shown:?}")));
        }
        let child = self.top().child(name);
        let place: Place<'_> = child.as_place();
        Ok(match place.metadata() {
            Ok(metadata) if metadata.is_file() => Some("file"),
            Ok(metadata) if metadata.is_dir() => Some("directory"),
            Ok(_) => Some("other"),
            Err(cause) if place.is_out(&cause) => Some("out"),
            Err(cause) if cause.kind() == ErrorKind::NotFound || cause.kind() == ErrorKind::NotADirectory => None,
            #[cfg(unix)]
            Err(cause) if cause.raw_os_error() == Some(libc::ELOOP) => None,
            Err(cause) => return Err(failed(&shown, "look up", &cause)),
        })
    }
}

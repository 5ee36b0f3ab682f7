//! Deleting: one value, or all under a prefix; links go, never what they point to.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::super::durability::{self, Level};
use super::path::has_nothing_below;
use super::publish::{directory_of, temporary_beside};
use super::{failed, temporary, LocalStore};
use crate::error::{Error, Result};

impl LocalStore {
    /// Removes the file and the directories that are empty without it; `false` when there was none.
    pub(super) fn remove(&self, key: &str, path: &Path) -> Result<bool> {
        let outgoing = self.outgoing(path);
        match fs::remove_file(path).and_then(|()| outgoing.release(path)) {
            Ok(()) => {
                self.forget(path);
                Ok(true)
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(Error::io(key, "delete", &cause)),
        }
    }

    /// After the entry `path` has gone: so do the directories that are empty without it, for good if that is asked for.
    fn forget(&self, path: &Path) {
        let left = self.remove_empty_directories(path);
        if self.level() == Level::Full {
            durability::note(left);
        }
    }

    /// From the directory of `path` upwards, below the root, as long as they are empty. Only `rmdir` decides whether
    /// one is empty; a writer that was about to use it makes it again. Gives the first that stays.
    pub(super) fn remove_empty_directories<'p>(&self, path: &'p Path) -> &'p Path {
        let mut directory = directory_of(path);
        while directory != self.root && directory.starts_with(&self.root) && fs::remove_dir(directory).is_ok() {
            directory = directory_of(directory);
        }
        directory
    }

    /// Removes what is under `prefix` at once as far as others can see: the directory loses its name first.
    pub(super) fn remove_tree(&self, prefix: &str, path: &Path) -> Result<()> {
        let outcome = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.remove_directory(path),
            Ok(metadata) if metadata.is_symlink() && path.is_dir() => remove_link(path),
            Ok(_) => return Ok(()), // a value, not a prefix
            Err(cause) => Err(cause),
        };
        match outcome {
            Ok(()) => self.forget(path),
            Err(cause) if has_nothing_below(&cause) => {}
            Err(cause) => return Err(Error::io(prefix, "delete", &cause)),
        }
        Ok(())
    }

    /// Removes what is in the root, not the root itself.
    pub(super) fn remove_everything(&self) -> Result<()> {
        let outcome = fs::read_dir(&self.root).and_then(|entries| {
            for entry in entries {
                let entry = entry?;
                let path = entry.path();
                let removed = match entry.file_type()? {
                    kind if kind.is_dir() => self.remove_directory(&path),
                    kind if kind.is_symlink() => remove_link(&path),
                    _ => fs::remove_file(&path),
                };
                match removed {
                    Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(cause),
                    _ => {}
                }
            }
            Ok(())
        });
        match outcome {
            Err(cause) if !has_nothing_below(&cause) => Err(failed("", "delete everything", &cause)),
            _ => {
                if self.level() == Level::Full {
                    durability::note(&self.root);
                }
                Ok(())
            }
        }
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let doomed = temporary_beside(path);
        // Until it is gone, so that nobody takes it for what a dead writer has left.
        let _alive = temporary::mark_directory_alive(path);
        let outgoing = self.outgoing(path);
        match fs::rename(path, &doomed).and_then(|()| outgoing.release(path)) {
            // What cannot be removed gets its name back, so that it can be seen.
            Ok(()) => fs::remove_dir_all(&doomed).inspect_err(|_| {
                let _ = fs::rename(&doomed, path);
            }),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Err(cause),
            // A mount point, or a parent that may not be changed: empty it where it is.
            Err(_) => fs::remove_dir_all(path),
        }
    }
}

fn remove_link(path: &Path) -> io::Result<()> {
    #[cfg(windows)]
    if path.is_dir() {
        return fs::remove_dir(path);
    }
    fs::remove_file(path)
}

//! Deleting: one value, or all under a prefix; links go, never what they point to, and documents go before chunks.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::super::durability::Level;
use super::super::Guard;
use super::path::has_nothing_below;
use super::place::{OwnedPlace, Place};
use super::publish::{is_document, temporary_beside};
use super::unsteady::is_left_open;
use super::{failed, temporary, LocalStore};
use crate::error::{Error, Result};
use crate::fork::PerProcess;

impl LocalStore {
    /// Removes the file and the directories that are empty without it; `false` when there was none.
    pub(super) fn remove(&self, key: &str, place: Place<'_>) -> Result<bool> {
        let outgoing = self.outgoing(place);
        match place.entry(|path| fs::remove_file(path)).and_then(|()| outgoing.release(place)) {
            Ok(()) => {
                self.forget(place);
                Ok(true)
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(Error::io(key, "delete", &cause)),
        }
    }

    /// After the entry at a place has gone: so do the directories that are empty without it, for good if that is asked for.
    fn forget(&self, place: Place<'_>) {
        let left = self.remove_empty_directories(place);
        if self.level() == Level::Full {
            left.note();
        }
    }

    /// From the directory of a place upwards, below the root, as long as they are empty, or were not made. Only `rmdir`
    /// decides whether one is empty; a writer that was about to use it makes it again. Gives the first that stays.
    pub(super) fn remove_empty_directories<'p>(&self, place: Place<'p>) -> Place<'p> {
        let mut directory = place.parent();
        while directory.is_below(&self.root) {
            match directory.entry(|path| fs::remove_dir(path)) {
                Err(cause) if cause.kind() != ErrorKind::NotFound => break,
                _ => directory = directory.parent(),
            }
        }
        directory
    }

    /// Removes what is under `prefix` at once as far as others can see: the directory loses its name first.
    pub(super) fn remove_tree(&self, prefix: &str, place: Place<'_>) -> Result<()> {
        let outcome = match place.entry(|path| fs::symlink_metadata(path)) {
            Ok(metadata) if metadata.is_dir() => self.remove_directory(place),
            Ok(metadata) if metadata.is_symlink() && is_directory(place) => place.entry(remove_link),
            Ok(_) => return Ok(()), // a value, not a prefix
            Err(cause) => Err(cause),
        };
        match outcome {
            Ok(()) => self.forget(place),
            Err(cause) if has_nothing_below(&cause) => {}
            Err(cause) => return Err(Error::io(prefix, "delete", &cause)),
        }
        Ok(())
    }

    /// Removes what is in the root, not the root itself.
    pub(super) fn remove_everything(&self) -> Result<()> {
        let root = self.top();
        let outcome = remove_documents(root).and_then(|()| {
            for entry in root.read_dir()? {
                let entry = entry?;
                let child = root.child(entry.file_name());
                let place = child.as_place();
                let removed = match entry.file_type()? {
                    kind if kind.is_dir() => self.remove_directory(place),
                    kind if kind.is_symlink() => place.entry(remove_link),
                    _ => place.entry(|path| fs::remove_file(path)),
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
                    root.note();
                }
                Ok(())
            }
        }
    }

    fn remove_directory(&self, place: Place<'_>) -> io::Result<()> {
        let outgoing = self.outgoing(place);
        // Until it is gone, so that nobody takes it for what a dead writer has left.
        let _alive = place.entry(temporary::lock_entry);
        let renamed = place.entry(|path| {
            let doomed = temporary_beside(path);
            fs::rename(path, &doomed).map(|()| doomed)
        });
        let name = match renamed {
            Ok(doomed) => doomed.file_name().map(OsString::from).unwrap_or_default(),
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Err(cause),
            // A mount point, or a parent that may not be changed: empty it where it is.
            Err(_) => return empty(place),
        };
        let doomed = place.parent().child(&name);
        let doomed = doomed.as_place();
        let gone = outgoing.release(place).and_then(|()| {
            remove_documents(doomed)?;
            // What somebody has open stays, under another name, until it is closed; nobody finds it by that.
            if doomed.entry(|path| fs::remove_dir_all(path)).is_err() && remove_closed(doomed)? {
                LEFT.get().lock().unwrap_or_else(PoisonError::into_inner).push(doomed.owned());
            }
            Ok(())
        });
        // What cannot be removed gets its name back, so that it can be seen.
        gone.inspect_err(|_| {
            let _ = place.entry(|path| fs::rename(path.with_file_name(&name), path));
        })
    }
}

/// Directories that had files which somebody had open when they were removed.
static LEFT: PerProcess<Mutex<Vec<OwnedPlace>>> = PerProcess::new(Mutex::default);

/// Once the documents of what is removed are not locked any more, and so not open here: removes what was left for that.
pub(super) struct RemoveLeft;

impl Guard for RemoveLeft {}

impl Drop for RemoveLeft {
    fn drop(&mut self) {
        let mut left = LEFT.get().lock().unwrap_or_else(PoisonError::into_inner);
        // Those that others have open are tried again after the next removal; who looks for leftovers finds the last ones.
        left.retain(|place| remove_closed(place.as_place()).is_ok_and(|are_open| are_open));
    }
}

/// Removes what is below a directory, but for files that somebody has open where those keep a name; whether some have.
pub(super) fn remove_closed(directory: Place<'_>) -> io::Result<bool> {
    let mut are_open = false;
    for entry in directory.read_dir()? {
        let entry = entry?;
        let child = directory.child(entry.file_name());
        if entry.file_name().to_str().is_some_and(is_left_open) {
            are_open = true;
        } else if entry.file_type()?.is_dir() {
            are_open |= remove_closed(child.as_place())?;
        } else {
            child.as_place().entry(remove_link)?;
        }
    }
    if !are_open {
        directory.entry(|path| fs::remove_dir(path))?;
    }
    Ok(are_open)
}

/// Removes what is in a directory; the directory, too, unless it cannot be.
fn empty(place: Place<'_>) -> io::Result<()> {
    remove_documents(place)?;
    match place.entry(|path| fs::remove_dir_all(path)) {
        Err(_) if place.read_dir().is_ok_and(|mut left| left.next().is_none()) => Ok(()),
        outcome => outcome,
    }
}

/// Removes all documents below a directory, and nothing else. They go first: if there is something that cannot be removed,
/// an array is still there with all its chunks, or is not there at all; it is never one whose chunks are missing.
fn remove_documents(directory: Place<'_>) -> io::Result<()> {
    let mut documents = Vec::new();
    let entries = match directory.read_dir() {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let child = directory.child(entry.file_name());
        // Not through links, of which only the names go.
        match entry.file_type()? {
            kind if kind.is_dir() => remove_documents(child.as_place())?,
            _ if entry.file_name().to_str().is_some_and(is_document) => documents.push(child),
            _ => {}
        }
    }
    // After those below, so that none of these is out of reach while it is there.
    for document in documents {
        match document.as_place().entry(|path| fs::remove_file(path)) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => {} // somebody else was faster
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Whether there is a directory, or something that may be one: what is outside is not looked at.
fn is_directory(place: Place<'_>) -> bool {
    match place.metadata() {
        Ok(metadata) => metadata.is_dir(),
        Err(cause) => place.is_out(&cause),
    }
}

fn remove_link(path: &Path) -> io::Result<()> {
    #[cfg(windows)]
    if path.is_dir() {
        return fs::remove_dir(path);
    }
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    /// Where the system refused the last of several new directories, those above it go, too.
    #[test]
    fn directories_above_one_that_was_not_made_are_removed() {
        let scratch = Scratch::new();
        let store = scratch.store();
        fs::create_dir_all(scratch.0.join("a/b")).expect("directories");
        let path = scratch.0.join("a/b/c/d/0");
        store.remove_empty_directories(Place::of(&path));
        assert!(scratch.0.is_dir() && !scratch.0.join("a").exists());
    }
}

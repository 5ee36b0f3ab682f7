//! Values that are replaced or deleted where a file system gives their blocks to other files at once.
//!
//! ext4 mounted with `data=writeback` does so before it is on record that the old file has gone: after a power cut its
//! name is back, and its blocks hold what was written next. There the old file is held open, which keeps its blocks,
//! until its directory has been synchronised. That costs a sync for each replaced value, on such file systems only.

use std::fs::File;
use std::io;

use super::super::durability::Level;
use super::place::{Access, Place};
use super::LocalStore;

/// What was under a name, held until it is on record that it no longer is.
#[must_use]
pub struct Outgoing(Option<File>);

impl LocalStore {
    /// To be asked for before the name is given to another value, or taken away.
    pub(super) fn outgoing(&self, place: Place<'_>) -> Outgoing {
        if self.level() < Level::Ordered || !self.reuses_blocks(place.parent()) {
            return Outgoing(None);
        }
        // What is not there, or may not be read, is not held; the latter is replaced without this care.
        Outgoing(place.open(Access::Read).ok())
    }

    fn reuses_blocks(&self, directory: Place<'_>) -> bool {
        match self.reuses_blocks.get() {
            Some(&known) => known,
            // Not before there is a directory to ask about.
            None => reuses_blocks(directory).is_some_and(|reuses| *self.reuses_blocks.get_or_init(|| reuses)),
        }
    }
}

impl Outgoing {
    /// The name at this place has changed: waits until that is on record, if somebody must.
    pub fn release(self, place: Place<'_>) -> io::Result<()> {
        match self.0 {
            Some(_) => place.parent().sync(),
            None => Ok(()),
        }
    }
}

#[cfg(target_os = "linux")]
fn reuses_blocks(directory: Place<'_>) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;

    super::mounts::reuses_blocks(directory.metadata().ok()?.dev())
}

#[cfg(not(target_os = "linux"))]
fn reuses_blocks(_directory: Place<'_>) -> Option<bool> {
    Some(false)
}

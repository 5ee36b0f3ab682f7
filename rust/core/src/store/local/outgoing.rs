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

    let device = directory.metadata().ok()?.dev();
    let device = format!("{}:{}", libc::major(device), libc::minor(device));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    Some(mounts.lines().any(|mount| is_writeback(mount, &device)))
}

#[cfg(not(target_os = "linux"))]
fn reuses_blocks(_directory: Place<'_>) -> Option<bool> {
    Some(false)
}

/// Whether a line of `mountinfo` is about this device and says that it does not order its data.
#[cfg(target_os = "linux")]
fn is_writeback(mount: &str, device: &str) -> bool {
    let Some((before, after)) = mount.split_once(" - ") else { return false };
    before.split(' ').nth(2) == Some(device)
        && after
            .split(' ')
            .next_back()
            .is_some_and(|options| options.split(',').any(|option| option == "data=writeback"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_writeback;

    #[test]
    fn a_mount_says_how_it_treats_data() {
        let mount = "36 35 7:1 / /mnt rw,noatime shared:1 - ext4 /dev/loop1 rw,data=writeback";
        assert!(is_writeback(mount, "7:1"));
        assert!(!is_writeback(mount, "7:11"));
        assert!(!is_writeback("36 35 7:1 / /mnt rw - ext4 /dev/loop1 rw,data=ordered", "7:1"));
        assert!(!is_writeback("36 35 7:1 / /data=writeback rw - ext4 /dev/loop1 rw", "7:1"));
        assert!(!is_writeback("", "7:1"));
    }
}

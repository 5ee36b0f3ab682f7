//! What Linux tells of the file systems that are mounted.

use std::sync::atomic::{AtomicU64, Ordering};

/// File systems that take the times of files from this machine's clock.
const WITH_OUR_CLOCK: [&str; 8] = ["ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"];

/// Whether the file system of this device takes the times of its files from this machine's clock.
pub fn has_our_clock(device: u64) -> bool {
    /// Devices by their remainder, each shifted by one bit for the answer; 0 is none.
    static KNOWN: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
    let slot = &KNOWN[(device % 16) as usize];
    let known = slot.load(Ordering::Relaxed);
    if known != 0 && known >> 1 == device {
        return known & 1 == 1;
    }
    let answer = with_mounts_of(device, |mounts| mounts.iter().any(|mount| WITH_OUR_CLOCK.contains(&mount.kind)));
    let answer = answer.unwrap_or(false);
    slot.store(device << 1 | u64::from(answer), Ordering::Relaxed);
    answer
}

/// Whether the file system of this device gives blocks to other files before it is on record that the old one has gone;
/// `None` where the system does not tell.
pub fn reuses_blocks(device: u64) -> Option<bool> {
    with_mounts_of(device, |mounts| mounts.iter().any(|mount| mount.options().any(|option| option == "data=writeback")))
}

/// One line of `mountinfo`.
struct Mount<'a> {
    device: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        Some(Mount { device: before.split(' ').nth(2)?, kind: after.next()?, options: after.next_back()? })
    }

    fn options(&self) -> impl Iterator<Item = &'a str> {
        self.options.split(',')
    }
}

fn with_mounts_of<T>(device: u64, ask: impl FnOnce(&[Mount<'_>]) -> T) -> Option<T> {
    let device = format!("{}:{}", libc::major(device), libc::minor(device));
    let lines = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mounts: Vec<Mount<'_>> = lines.lines().filter_map(Mount::of).filter(|mount| mount.device == device).collect();
    Some(ask(&mounts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_tells_its_device_its_kind_and_how_it_treats_data() {
        let mount =
            Mount::of("36 35 7:1 / /mnt rw,noatime shared:1 - ext4 /dev/loop1 rw,data=writeback").expect("whole");
        assert_eq!((mount.device, mount.kind), ("7:1", "ext4"));
        assert!(mount.options().eq(["rw", "data=writeback"]));
        assert!(Mount::of("36 35 7:1 / /mnt rw").is_none() && Mount::of("").is_none());
    }

    #[test]
    fn processes_are_on_no_clock_of_ours() {
        use std::os::unix::fs::MetadataExt;

        let processes = std::fs::metadata("/proc").expect("mounted").dev();
        assert!(!has_our_clock(processes) && !has_our_clock(processes) && !has_our_clock(u64::MAX));
        assert_eq!(reuses_blocks(processes), Some(false));
    }
}

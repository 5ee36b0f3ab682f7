//! What Linux tells of the file systems that are mounted.

use std::sync::atomic::{AtomicU64, Ordering};

/// File systems that take the times of files from this machine's clock.
const WITH_OUR_CLOCK: [&str; 6] = ["ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"];

/// The clock that such file systems ask, in nanoseconds since the epoch; it stands still for some milliseconds at a time.
pub fn now() -> i128 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for what the system writes.
    if unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &mut time) } != 0 {
        return i128::MIN;
    }
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// Whether the file system of this device takes the times of its files from this machine's clock; asked at the time `now`.
pub fn has_our_clock(device: u64, now: i128) -> bool {
    /// By remainder: the number of a device, the answer, and the second of it, after which another file system may have the
    /// number; 0 is none.
    static KNOWN: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
    let (major, minor) = (u64::from(libc::major(device)), u64::from(libc::minor(device)));
    if major >> 12 != 0 || minor >> 20 != 0 {
        return false;
    }
    let number = major << 20 | minor;
    let asked = number << 32 | (now / 1_000_000_000) as u64 & (u64::MAX >> 33);
    let slot = &KNOWN[(number % 16) as usize];
    let known = slot.load(Ordering::Relaxed);
    const YES: u64 = 1 << 31;
    if known & !YES == asked && known != 0 {
        return known & YES != 0;
    }
    let answer = with_mounts_of(device, |mounts| mounts.iter().any(|mount| WITH_OUR_CLOCK.contains(&mount.kind)));
    let answer = answer.unwrap_or(false);
    slot.store(if answer { asked | YES } else { asked }, Ordering::Relaxed);
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
    let lines = std::fs::read("/proc/self/mountinfo").ok()?;
    let lines = String::from_utf8_lossy(&lines);
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
        for device in [processes, processes, u64::MAX] {
            assert!(!has_our_clock(device, now()));
        }
        assert_eq!(reuses_blocks(processes), Some(false));
    }
}

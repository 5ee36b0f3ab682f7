//! Which version of a value a file is: the file and its times, as the system tells them.
//!
//! Where there is a time of the last change of whatever kind (`ctime`), it tells versions apart, as nobody can set it. But
//! it comes from a clock that stands still for some milliseconds at a time, on some file systems for two seconds: a file
//! that is replaced, or written into, twice within that time may have the same time and even the same inode. So the version of
//! a file that has changed [`SETTLING`] ago or less is not settled: nobody takes what he read of it for what is there
//! later, and by then it is. Small files on this machine's own file systems settle sooner: [`SETTLING_HERE`].

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use super::super::version::Version;
#[cfg(target_os = "linux")]
use super::mounts;

/// Longer than the coarsest clock of a file system stands still (FAT), and some way for clocks of file servers.
const SETTLING: Duration = Duration::from_secs(2);

/// The same for file systems that take their times from this machine's clock, if that is asked for the time, too: however
/// long it stands still, nothing settles meanwhile.
#[cfg(target_os = "linux")]
const SETTLING_HERE: Duration = Duration::from_millis(200);

/// What is longer than a page may be written in steps: its time is that of the first step, and the last may come late.
#[cfg(target_os = "linux")]
const PAGE: u64 = 4096;

/// A file's identity and times.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    device: u64,
    file: u64,
    /// In nanoseconds since the epoch.
    written: i128,
    changed: i128,
}

impl Times {
    #[cfg(target_os = "linux")]
    pub fn of(status: &libc::stat64) -> Self {
        Times {
            device: status.st_dev,
            file: status.st_ino,
            written: nanoseconds(status.st_mtime, status.st_mtime_nsec),
            changed: nanoseconds(status.st_ctime, status.st_ctime_nsec),
        }
    }

    #[cfg(unix)]
    pub fn new(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Times {
            device: metadata.dev(),
            file: metadata.ino(),
            written: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Elsewhere a file that is replaced is another one by the time at which it was made.
    #[cfg(not(unix))]
    pub fn new(metadata: &Metadata) -> Self {
        let since = |time: std::io::Result<SystemTime>| {
            let time = time.ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some(time.as_nanos() as i128)
        };
        let written = since(metadata.modified()).unwrap_or(i128::MAX);
        Times { device: 0, file: since(metadata.created()).unwrap_or(0) as u64, written, changed: written }
    }

    /// The version that a file of this size is.
    pub fn version(&self, size: u64) -> Option<Version> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos() as i128;
        // No time at all is what some file systems in user space tell.
        let is_old = self.changed.saturating_add(SETTLING.as_nanos() as i128) < now;
        let settled = self.changed > 0 && (is_old || self.has_settled_sooner(size));
        let (written, changed) = (self.written as u64, self.changed as u64);
        Some(Version::new([self.device, self.file, size, written, changed, 0], settled))
    }

    #[cfg(target_os = "linux")]
    fn has_settled_sooner(&self, size: u64) -> bool {
        // Whole milliseconds come from another clock.
        if size > PAGE || self.changed % 1_000_000 == 0 {
            return false;
        }
        let now = mounts::now();
        let is_old = self.changed.saturating_add(SETTLING_HERE.as_nanos() as i128) < now;
        is_old && mounts::has_our_clock(self.device, now)
    }

    #[cfg(not(target_os = "linux"))]
    fn has_settled_sooner(&self, _size: u64) -> bool {
        false
    }
}

#[cfg(unix)]
fn nanoseconds(seconds: impl Into<i64>, rest: impl Into<i64>) -> i128 {
    i128::from(seconds.into()) * 1_000_000_000 + i128::from(rest.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    /// Times of a file in a directory of tests, as if it had changed so long ago.
    fn changed_ago(ago: Duration, rest: i128) -> Times {
        let scratch = Scratch::new();
        std::fs::create_dir(&scratch.0).expect("a directory");
        let times = Times::new(&std::fs::metadata(&scratch.0).expect("there"));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_nanos() as i128;
        let changed = (now - ago.as_nanos() as i128) / 1_000_000 * 1_000_000 + rest;
        Times { changed, ..times }
    }

    #[test]
    fn small_files_settle_sooner_where_the_clock_is_known() {
        let is_settled = |times: Times, size| times.version(size).expect("a version").is_settled();
        let second = Duration::from_secs(1);
        let times = changed_ago(second, 123);
        assert_eq!(is_settled(times, PAGE), mounts::has_our_clock(times.device, mounts::now()));
        assert!(!is_settled(times, PAGE + 1) && !is_settled(changed_ago(second, 0), PAGE));
        assert!(!is_settled(changed_ago(second / 10, 123), PAGE) && !is_settled(Times { device: 0, ..times }, PAGE));
        assert!(is_settled(changed_ago(3 * second, 0), PAGE + 1));
    }
}

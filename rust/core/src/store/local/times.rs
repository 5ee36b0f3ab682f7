//! Which version of a value a file is: the file and its times, as the system tells them.
//!
//! Where there is a time of the last change of whatever kind (`ctime`), it tells versions apart, as nobody can set it. But
//! it comes from a clock that stands still for some milliseconds at a time, on some file systems for two seconds: a file
//! that is replaced, or written into, twice within that time may have the same time and even the same inode. So the version of
//! a file that has changed [`SETTLING`] ago or less is not settled: nobody takes what he read of it for what is there
//! later, and by then it is.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use super::super::version::Version;

/// Longer than the coarsest clock of a file system stands still (FAT), and some way for clocks of file servers.
const SETTLING: Duration = Duration::from_secs(2);

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
        let settled = self.changed > 0 && self.changed.saturating_add(SETTLING.as_nanos() as i128) < now;
        let (written, changed) = (self.written as u64, self.changed as u64);
        Some(Version::new([self.device, self.file, size, written, changed, 0], settled))
    }
}

#[cfg(unix)]
fn nanoseconds(seconds: impl Into<i64>, rest: impl Into<i64>) -> i128 {
    i128::from(seconds.into()) * 1_000_000_000 + i128::from(rest.into())
}

//! File systems in user space and of servers, where a file that somebody has open cannot give its name to another one in
//! one step, nor be removed: it gets a name like `.nfs…` or `.fuse_hidden…` first, until nobody has it open any more. Between
//! that and the moment in which the new file gets the name, nothing has it.

use std::time::{Duration, SystemTime};

use super::place::Place;
use super::LocalStore;

/// A name is being taken or given only where the directory has changed so lately; the clock of a server may be behind by less.
const LATELY: Duration = Duration::from_secs(3);

impl LocalStore {
    /// Whether the value that was just not found at a place may be there, as it is being replaced.
    pub(super) fn may_be_replacing_at(&self, place: Place<'_>) -> bool {
        let is_unsteady = match self.unsteady.get() {
            Some(&known) => known,
            // Not before there is a directory to ask about.
            None => is_unsteady(self.top()).is_some_and(|found| *self.unsteady.get_or_init(|| found)),
        };
        is_unsteady && changed_lately(place.parent())
    }
}

fn changed_lately(directory: Place<'_>) -> bool {
    let changed = directory.metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| !SystemTime::now().duration_since(changed).is_ok_and(|ago| ago > LATELY))
}

#[cfg(target_os = "linux")]
fn is_unsteady(directory: Place<'_>) -> Option<bool> {
    use std::mem::MaybeUninit;
    use std::os::fd::AsRawFd;

    use super::place::Access;

    /// FUSE, NFS, two of SMB, and 9p.
    const KINDS: [u32; 5] = [0x6573_5546, 0x6969, 0xFE53_4D42, 0xFF53_4D42, 0x0102_1997];
    let directory = directory.open(Access::Read).ok()?;
    let mut status = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the descriptor is open, and there is room for what the system writes.
    if unsafe { libc::fstatfs(directory.as_raw_fd(), status.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the system has filled it.
    let status = unsafe { status.assume_init() };
    Some(KINDS.contains(&(status.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_unsteady(_directory: Place<'_>) -> Option<bool> {
    Some(false)
}

/// Whether this is the name that a removed file has as long as somebody has it open.
pub fn is_left_open(name: &str) -> bool {
    let number = name.strip_prefix(".nfs").or_else(|| name.strip_prefix(".fuse_hidden"));
    // On macOS and FreeBSD, like `.nfs.20051001.0004`.
    let is_of_number = |byte: u8| byte.is_ascii_hexdigit() || byte == b'.';
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(is_of_number))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::thread;

    use super::super::tests::names;
    use super::*;
    use crate::interrupt::never;
    use crate::store::local::remove;
    use crate::store::tests::Scratch;
    use crate::store::{open_to_read, ListableStore, Store};

    #[test]
    fn names_of_files_that_are_open_elsewhere() {
        assert!(is_left_open(".nfs00000000000a1b2c00000001") && is_left_open(".fuse_hidden0000020700000030"));
        assert!(is_left_open(".nfs.20051001.0004"));
        assert!(!is_left_open(".nfs") && !is_left_open(".nfsx") && !is_left_open("nfs01") && !is_left_open(".zarray"));
    }

    #[test]
    fn what_somebody_has_open_is_left_of_a_directory_and_nothing_else() {
        let scratch = Scratch::new();
        let store = scratch.store();
        for key in ["x/a/.nfs00a1", "x/a/c/0", "x/b/.fuse_hidden02", "x/c/0"] {
            let path = scratch.0.join(key);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, b"value").expect("written");
        }
        assert_eq!(store.list("x").expect("listed"), ["x/a/c/0", "x/c/0"]);
        assert!(store.others("x", 9).expect("listed").is_empty());
        let place = Place::of(&scratch.0);
        assert!(remove::remove_closed(place.child("x").as_place()).expect("removed"));
        assert_eq!(names(&scratch.0.join("x")), ["a", "b"]);
        assert_eq!(names(&scratch.0.join("x/a")), [".nfs00a1"]);
        fs::remove_file(scratch.0.join("x/a/.nfs00a1")).expect("closed");
        fs::remove_file(scratch.0.join("x/b/.fuse_hidden02")).expect("closed");
        assert!(!remove::remove_closed(place.child("x").as_place()).expect("removed"));
        assert!(!scratch.0.join("x").exists());
    }

    #[test]
    fn a_value_that_is_being_replaced_is_missing_only_where_that_may_not_be() {
        let scratch = Scratch::new();
        let writer = scratch.store();
        for is_unsteady in [false, true] {
            writer.set("zarr.json", &[b"{}"]).expect("set");
            writer.set("c/0", &[b"old"]).expect("set");
            let reader = scratch.store();
            reader.unsteady.set(is_unsteady).expect("not known yet");
            let finds = |key| open_to_read(&reader, "zarr.json", key, &never).expect("read").is_some();
            let locker = writer.locker("zarr.json", &never).expect("a locker");
            let guard = locker.lock("c/0").expect("a lock");
            fs::rename(scratch.0.join("c/0"), scratch.0.join("c/.fuse_hidden01")).expect("hidden");
            let found = thread::scope(|threads| {
                let waiting = is_unsteady.then(|| threads.spawn(|| finds("c/0")));
                match &waiting {
                    Some(waiting) => {
                        thread::sleep(Duration::from_millis(60));
                        assert!(!waiting.is_finished());
                    }
                    None => assert!(!finds("c/0")),
                }
                fs::write(scratch.0.join("c/0"), b"new").expect("written");
                drop(guard);
                waiting.is_none_or(|waiting| waiting.join().expect("read"))
            });
            assert!(found);
            assert!(!finds("c/1"));
        }
        // Who may not lock waits for a while.
        fs::remove_file(scratch.0.join("zarr.json")).expect("removed");
        fs::rename(scratch.0.join("c/0"), scratch.0.join("c/.fuse_hidden01")).expect("hidden");
        let reader = scratch.store();
        reader.unsteady.set(true).expect("not known yet");
        let began = std::time::Instant::now();
        assert!(open_to_read(&reader, "zarr.json", "c/0", &never).expect("read").is_none());
        assert!(began.elapsed() >= Duration::from_millis(5));
    }
}

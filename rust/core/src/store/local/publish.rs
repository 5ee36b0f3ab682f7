//! Setting a value: written to a file that has no name yet, which then gets its name in one step.
//!
//! On Linux the file is unnamed (`O_TMPFILE`) and linked to its key: nothing is left behind by a process that dies. Where
//! the key has a value already, the link gets a temporary name first and is renamed over it, as `link` never replaces. On other
//! systems, on file systems without unnamed files (NFS), and for small values that replace others, the file has a temporary
//! name from the start: without the link, that takes a fifth less time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::durability::Level;
use super::super::key::RESERVED;
use super::place::Place;
use super::rights::keep_rights;
#[cfg(target_os = "linux")]
use super::unnamed;
use super::{temporary, LocalStore};
use crate::error::{Error, Result};
use crate::fork::PerProcess;
use crate::progress::{self, Count};

/// What to do with a value that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Replace,
    /// The same, by somebody who has seen a value there: trying to put the file where nothing is would be in vain.
    ReplaceSeen,
    Keep,
}

/// What a file gets.
pub enum Content<'c> {
    Parts(&'c [&'c [u8]]),
    /// Writes it, perhaps several times; `false` if it is not to be stored after all.
    Steps(&'c mut dyn FnMut(&File) -> io::Result<bool>),
}

impl Content<'_> {
    /// Its length in bytes; of steps, which are counted one by one, nothing is known before.
    fn length(&self) -> Option<usize> {
        match self {
            Content::Parts(parts) => Some(parts.iter().map(|part| part.len()).sum()),
            Content::Steps(_) => None,
        }
    }

    pub(super) fn write(&mut self, file: &mut File) -> io::Result<bool> {
        match self {
            Content::Parts(parts) => write_parts(file, parts).map(|()| true),
            Content::Steps(write) => write(file),
        }
    }
}

/// Deleting a key also removes its emptied directory, perhaps just before a file is to be put there: then again.
const ATTEMPTS: usize = 100;

/// Up to this length in bytes, what is written takes less time than a link.
#[cfg(target_os = "linux")]
const SMALL: usize = 64 << 10;

/// After one value has replaced another, so many less one are assumed to do the same before one is looked for again: to look
/// takes a twentieth of the time that it takes to store a small value.
#[cfg(target_os = "linux")]
pub(super) const ASSUMED: u8 = 16;

#[cfg(windows)]
const ACCESS_DENIED: i32 = 5;
#[cfg(windows)]
const SHARING_VIOLATION: i32 = 32;
/// How long others may have a value open that is to be replaced.
#[cfg(windows)]
const SHARED: std::time::Duration = std::time::Duration::from_secs(2);

/// Where `/proc` is missing and links by descriptor are not permitted, a link fails as if the directory were missing.
#[cfg(target_os = "linux")]
const ATTEMPTS_UNNAMED: usize = 3;

impl LocalStore {
    /// Puts a value at a place; `false` when [`Existing::Keep`] found one there, or the content is not to be stored.
    pub(super) fn publish(
        &self,
        key: &str,
        place: Place<'_>,
        mut content: Content<'_>,
        existing: Existing,
    ) -> Result<bool> {
        let level = self.level();
        let mut made_directories = false;
        let mut has_cleared = false;
        // Without its document an array is lost, and there are few of them.
        let sync = level >= Level::Ordered || is_document(key);
        let mut attempt = 0;
        let outgoing = self.outgoing(place);
        let outcome = loop {
            attempt += 1;
            match place.entry(|path| self.try_publish(path, &mut content, existing, attempt, sync)) {
                Err(cause) if cause.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {
                    made_directories = true;
                    if let Err(cause) = place.parent().make_directory() {
                        break Err(cause);
                    }
                }
                // Directories without a value are no keys, and may be what writers that died have left.
                Err(cause) if cause.kind() == ErrorKind::IsADirectory && !has_cleared => {
                    has_cleared = true;
                    if place.entry(remove_empty).is_err() {
                        break Err(cause);
                    }
                }
                outcome => break outcome,
            }
        };
        let outcome = outcome.and_then(|set| outgoing.release(place).map(|()| set));
        progress::add(Count::FileWrites, 1);
        if let Ok(true) = outcome {
            progress::add(Count::FileBytesWritten, content.length().unwrap_or(0));
        }
        if level == Level::Full && outcome.is_ok() {
            match made_directories {
                // Those above have another entry, too.
                true => place.parent().note_all(&self.root),
                false => place.parent().note(),
            }
        }
        if made_directories && !matches!(outcome, Ok(true)) {
            self.remove_empty_directories(place);
        }
        outcome.map_err(|cause| Error::io(key, "write", &cause))
    }

    fn try_publish(
        &self,
        path: &Path,
        content: &mut Content<'_>,
        existing: Existing,
        attempt: usize,
        sync: bool,
    ) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        if attempt <= ATTEMPTS_UNNAMED
            && !self.named_only.load(Ordering::Relaxed)
            && !self.replaces(path, content, existing)
        {
            match unnamed::publish(path, content, existing, sync)? {
                Some(unnamed::Published::New) => return Ok(true),
                Some(unnamed::Published::Over) => {
                    self.replacing.store(1, Ordering::Relaxed);
                    return Ok(true);
                }
                Some(unnamed::Published::Kept) => return Ok(false),
                None => self.named_only.store(true, Ordering::Relaxed),
            }
        }
        #[cfg(target_os = "linux")]
        if attempt > ATTEMPTS_UNNAMED {
            self.named_only.store(true, Ordering::Relaxed);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = attempt;
        publish_named(path, content, existing, sync)
    }

    /// Whether a small value is to replace another one, as far as that is known: a file with a temporary name may also get a
    /// new one.
    #[cfg(target_os = "linux")]
    fn replaces(&self, path: &Path, content: &Content<'_>, existing: Existing) -> bool {
        if content.length().is_none_or(|length| length > SMALL) {
            return false;
        }
        match existing {
            Existing::ReplaceSeen => true,
            Existing::Keep => false,
            Existing::Replace => match self.replacing.load(Ordering::Relaxed) {
                // To look there first would be in vain for most values of a new array.
                0 => false,
                1 => {
                    let exists = fs::symlink_metadata(path).is_ok();
                    self.replacing.store(if exists { ASSUMED } else { 0 }, Ordering::Relaxed);
                    exists
                }
                left => {
                    self.replacing.store(left - 1, Ordering::Relaxed);
                    true
                }
            },
        }
    }
}

/// The way of all systems: a temporary name from the start, removed when anything fails.
pub(super) fn publish_named(
    path: &Path,
    content: &mut Content<'_>,
    existing: Existing,
    sync: bool,
) -> io::Result<bool> {
    let (temporary, mut file) = loop {
        let temporary = temporary_beside(path);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => break (temporary, file),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    };
    temporary::mark_alive(&file);
    let written = keep_rights(&file, path).and_then(|()| content.write(&mut file));
    let written = written.and_then(|wanted| if wanted && sync { file.sync_data().map(|()| true) } else { Ok(wanted) });
    let written = written.and_then(|wanted| close(file).map(|()| wanted));
    let outcome = written.and_then(|wanted| match existing {
        _ if !wanted => fs::remove_file(&temporary).map(|()| false),
        Existing::Replace | Existing::ReplaceSeen => rename(&temporary, path).map(|()| true),
        Existing::Keep => match fs::hard_link(&temporary, path) {
            // It has its name; a leftover of ours, if this fails, is swept later.
            Ok(()) => {
                let _ = fs::remove_file(&temporary);
                Ok(true)
            }
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
                // A file server whose answer was lost finds its own link when it is asked again.
                let is_own = is_same(&temporary, path);
                fs::remove_file(&temporary).map(|()| is_own)
            }
            Err(cause) if lacks_links(&cause) => name_without_link(&temporary, path),
            Err(cause) => Err(cause),
        },
    });
    if outcome.is_err() {
        // The first failure is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    outcome
}

/// Removes a directory that has nothing but directories in it, and all of these; an error if there is anything else.
fn remove_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        remove_empty(&entry.path())?;
    }
    fs::remove_dir(directory)
}

/// Whether two names are of one file.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| fs::symlink_metadata(path).map(|found| (found.dev(), found.ino())).ok();
        identity(one).is_some_and(|identity_of_one| Some(identity_of_one) == identity(other))
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        false
    }
}

/// Whether a link failed because the file system has none, as FAT and some in user space.
fn lacks_links(cause: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, InvalidInput, PermissionDenied, TooManyLinks, Unsupported};
    matches!(cause.kind(), PermissionDenied | Unsupported | TooManyLinks | InvalidInput | CrossesDevices)
}

/// Gives a file its name unless that is taken, without a link: an empty file takes the name first, which then nobody else
/// can. Who dies in between leaves that empty file.
pub(super) fn name_without_link(temporary: &Path, path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => rename(temporary, path).map(|()| true).inspect_err(|_| {
            // The first failure is the one to report.
            let _ = fs::remove_file(path);
        }),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => fs::remove_file(temporary).map(|()| false),
        Err(cause) => Err(cause),
    }
}

/// On Windows, programs that keep others from replacing what they have open (as Python's `open` does) are waited for.
fn rename(temporary: &Path, path: &Path) -> io::Result<()> {
    #[cfg(windows)]
    {
        let mut patience = crate::interrupt::Patience::new();
        while patience.waited() < SHARED {
            match fs::rename(temporary, path) {
                Err(cause) if matches!(cause.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION)) => patience.nap(),
                outcome => return outcome,
            }
        }
    }
    fs::rename(temporary, path)
}

/// Network file systems may report only now that a write has failed.
fn close(file: File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::IntoRawFd;
        // SAFETY: `into_raw_fd` gave up ownership, so this closes the descriptor exactly once.
        if unsafe { libc::close(file.into_raw_fd()) } != 0 {
            let cause = io::Error::last_os_error();
            // An interrupted close has closed (on Linux always); what was written stands.
            if cause.kind() != ErrorKind::Interrupted {
                return Err(cause);
            }
        }
    }
    #[cfg(not(unix))]
    drop(file);
    Ok(())
}

fn write_parts(file: &mut File, parts: &[&[u8]]) -> io::Result<()> {
    if let [part] = parts {
        return file.write_all(part);
    }
    let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut rest = &mut slices[..];
    IoSlice::advance_slices(&mut rest, 0); // past empty parts
    while !rest.is_empty() {
        match file.write_vectored(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}

/// Makes a directory and those above it.
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    match fs::create_dir_all(directory) {
        // A file in its place is what went wrong, not that it exists.
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists && is_blocked(directory) => {
            Err(super::path::file_in_the_way())
        }
        // Somebody removed one of them meanwhile, perhaps after it was found to exist; the caller comes back.
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => Ok(()),
        outcome => outcome,
    }
}

/// Whether something other than a directory has the name of this directory or of one above it.
fn is_blocked(directory: &Path) -> bool {
    directory.ancestors().any(|path| match fs::metadata(path) {
        Ok(metadata) => !metadata.is_dir(),
        Err(_) => fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()), // to nothing
    })
}

/// Whether this is the name of a node's metadata, in any format; chunks have no such names.
pub(super) fn is_document(key: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.ends_with(".json") || name.starts_with(".z") || matches!(name, "meta" | "attrs")
}

pub(super) fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// A name in the same directory that nobody has used or will use: random per process, counted within it.
pub(super) fn temporary_beside(path: &Path) -> PathBuf {
    use std::hash::{BuildHasher, RandomState};

    // Forked siblings, which share the random state, differ in their number.
    static OWNER: PerProcess<u64> = PerProcess::new(|| RandomState::new().hash_one(std::process::id()));
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    directory_of(path).join(format!("{RESERVED}{:016x}-{count:x}", OWNER.get()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;
    use crate::store::{ListableStore, Store};

    #[test]
    fn documents_are_known_by_their_names() {
        for key in ["zarr.json", "a/b/zarr.json", "a/.zarray", ".zattrs", "meta/root/a.array.json", "a/meta", "attrs"] {
            assert!(is_document(key), "{key}");
        }
        for key in ["c/0/0", "a/0.0", "data/root/a/c0", "c", "meta/0.0", "a.json/0"] {
            assert!(!is_document(key), "{key}");
        }
    }

    #[test]
    fn without_links_a_name_that_is_taken_is_kept() {
        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).expect("a directory");
        let path = scratch.0.join("a");
        for (value, is_mine) in [(b"first", true), (b"other", false)] {
            let temporary = temporary_beside(&path);
            fs::write(&temporary, value).expect("written");
            assert_eq!(name_without_link(&temporary, &path).expect("named"), is_mine);
            assert!(!temporary.exists());
            assert_eq!(fs::read(&path).expect("read"), b"first");
        }
    }

    #[test]
    fn directories_without_a_value_make_way_for_one() {
        let scratch = Scratch::new();
        let store = scratch.store();
        for (key, is_kept) in [("a/c/0", false), ("b/c/0", true)] {
            fs::create_dir_all(scratch.0.join(key).join("1/2")).expect("made");
            fs::create_dir_all(scratch.0.join(key).join("3")).expect("made");
            if is_kept {
                store.set(&format!("{key}/1/2/3"), &[b"other"]).expect("set");
            }
            for value in [b"first", b"again"] {
                let outcome = store.set(key, &[value]);
                assert_eq!(outcome.is_err(), is_kept, "{key}");
            }
        }
        assert_eq!(store.get("a/c/0").expect("read").as_deref(), Some(&b"again"[..]));
        assert_eq!(store.list("").expect("listed"), ["a/c/0", "b/c/0/1/2/3"]);
    }
}

//! What survives a power cut, and when.
//!
//! A level is chosen for a process, for a store, or for what one thread calls; the last of these that is said counts.
//! [`pool`](crate::pool) hands a thread's choice on to those that help it.
//!
//! At [`Level::Full`] names have to reach the device too. Directories whose entries have changed are noted, and
//! [`commit`] synchronises each of them once, at the end of a call however many chunks that has stored.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::fork::PerProcess;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// A process may die at any moment; after a power cut, what was written last may be lost, empty or torn.
    None,
    /// A value is on the device before it gets its name: after a power cut each is the old or the new one.
    Ordered,
    /// What a call has stored and deleted is so for good when it returns.
    Full,
}

impl Level {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Level::None),
            "ordered" => Some(Level::Ordered),
            "full" => Some(Level::Full),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Ordered => "ordered",
            Level::Full => "full",
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Level::None, Level::Ordered, Level::Full].into_iter().find(|&level| level as u8 == number)
    }
}

static PROCESS: AtomicU8 = AtomicU8::new(Level::None as u8);

/// Sets the level of stores and calls that do not say.
pub fn set_level(level: Level) {
    PROCESS.store(level as u8, Ordering::Relaxed);
}

/// What one thread has chosen for what it calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choice {
    pub level: Option<Level>,
    /// Somebody commits later, for several calls together.
    pub gathers: bool,
}

thread_local! {
    static CHOICE: Cell<Choice> = const { Cell::new(Choice { level: None, gathers: false }) };
}

/// This thread's choice.
pub fn choice() -> Choice {
    CHOICE.get()
}

/// Changes this thread's choice; gives the one before.
pub fn choose(choice: Choice) -> Choice {
    CHOICE.replace(choice)
}

/// The level that counts here and now for a store that has its own, or has none.
pub fn effective(store: Option<Level>) -> Level {
    let process = || Level::from_number(PROCESS.load(Ordering::Relaxed)).unwrap_or(Level::Full);
    choice().level.or(store).unwrap_or_else(process)
}

/// Directories that are not opened by their whole paths.
pub trait Directories: Send + Sync {
    /// Where they are.
    fn root(&self) -> &Path;

    /// [`sync_directory`] of one, by its path below the root.
    fn sync(&self, directory: &Path) -> io::Result<()>;
}

/// Some directories.
#[derive(Default)]
struct Noted {
    by_path: BTreeSet<PathBuf>,
    /// By their roots.
    below: BTreeMap<PathBuf, (Arc<dyn Directories>, BTreeSet<PathBuf>)>,
}

/// Directories whose entries are not known to be on the device.
#[derive(Default)]
struct Pending {
    directories: Mutex<Noted>,
    any: AtomicBool,
    /// Held while directories are synchronised, so that nobody returns before what another has taken over is done.
    busy: Mutex<()>,
    failures: AtomicU64,
}

static PENDING: PerProcess<Pending> = PerProcess::new(Pending::default);

/// Has the directory synchronised by the next [`commit`].
pub fn note(directory: &Path) {
    let pending = PENDING.get();
    let mut noted = pending.directories.lock().unwrap_or_else(PoisonError::into_inner);
    if !noted.by_path.contains(directory) {
        noted.by_path.insert(directory.to_owned());
    }
    pending.any.store(true, Ordering::Release);
}

/// The same for a directory below `root`.
pub fn note_in(root: Arc<dyn Directories>, directory: &Path) {
    let pending = PENDING.get();
    let mut noted = pending.directories.lock().unwrap_or_else(PoisonError::into_inner);
    let place = root.root().to_owned();
    noted.below.entry(place).or_insert_with(|| (root, BTreeSet::new())).1.insert(directory.to_owned());
    pending.any.store(true, Ordering::Release);
}

/// At the end of a call: [`commit`], unless this thread gathers.
pub fn end_call() -> Result<()> {
    if !PENDING.get().any.load(Ordering::Acquire) || choice().gathers {
        return Ok(());
    }
    commit()
}

/// Synchronises all directories that were noted.
pub fn commit() -> Result<()> {
    let pending = PENDING.get();
    let failures = pending.failures.load(Ordering::Acquire);
    let _busy = pending.busy.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = {
        let mut directories = pending.directories.lock().unwrap_or_else(PoisonError::into_inner);
        pending.any.store(false, Ordering::Release);
        std::mem::take(&mut *directories)
    };
    let mut outcome = Ok(());
    let below = taken.below.into_values().flat_map(|(root, directories)| {
        directories.into_iter().map(move |directory| (root.root().join(&directory), root.sync(&directory)))
    });
    for (directory, synchronised) in synchronise(taken.by_path).into_iter().chain(below) {
        if let Err(cause) = synchronised {
            pending.failures.fetch_add(1, Ordering::Release);
            outcome = outcome.and(Err(failed(&directory, &cause)));
        }
    }
    // Whoever waited here may have had its directories synchronised, or not, by the one before.
    if outcome.is_ok() && pending.failures.load(Ordering::Acquire) != failures {
        return Err(failed(Path::new("the store"), &io::Error::from_raw_os_error(libc::EIO)));
    }
    outcome
}

/// Directories of one file system from which on all of it is synchronised instead.
///
/// That writes what others have left to be written, too, but is one commit of its journal, and not as many as directories.
const MANY: usize = 256;

/// Synchronises directories; gives those for which it was tried, and how that went.
fn synchronise(directories: BTreeSet<PathBuf>) -> Vec<(PathBuf, io::Result<()>)> {
    if directories.len() < MANY {
        return each(directories);
    }
    let mut devices: BTreeMap<Option<u64>, BTreeSet<PathBuf>> = BTreeMap::new();
    for directory in directories {
        devices.entry(device(&directory)).or_default().insert(directory);
    }
    let mut outcomes = Vec::new();
    for (device, directories) in devices {
        let at_once = device.is_some() && directories.len() >= MANY;
        // What cannot be synchronised as a whole is, one by one.
        if !(at_once && directories.first().is_some_and(|first| super::local::synchronise(first).is_ok())) {
            outcomes.extend(each(directories));
        }
    }
    outcomes
}

fn each(directories: BTreeSet<PathBuf>) -> Vec<(PathBuf, io::Result<()>)> {
    directories
        .into_iter()
        .map(|directory| {
            let outcome = sync_directory(&directory);
            (directory, outcome)
        })
        .collect()
}

/// The file system of a directory, where all of it can be synchronised at once.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn device(directory: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;

    std::fs::metadata(directory).ok().map(|found| found.dev())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn device(_directory: &Path) -> Option<u64> {
    None
}

fn failed(directory: &Path, cause: &io::Error) -> Error {
    let what = format!("make sure that the entries of {} survive a power cut", directory.display());
    let mut error = Error::io("", &what, cause);
    error.key = None;
    error
}

#[cfg(unix)]
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    sync_opened(std::fs::File::open(directory))
}

/// [`sync_directory`] of one that was to be opened.
#[cfg(unix)]
pub fn sync_opened(opened: io::Result<std::fs::File>) -> io::Result<()> {
    match opened {
        Ok(opened) => match opened.sync_all() {
            // File systems that have nothing to synchronise in a directory say so.
            Err(cause) if matches!(cause.raw_os_error(), Some(libc::EINVAL | libc::EBADF | libc::EOPNOTSUPP)) => Ok(()),
            outcome => outcome,
        },
        // Removed since: the directory above it was noted, too.
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(cause),
    }
}

#[cfg(not(unix))]
pub fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(()) // names are written through
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_choice_counts() {
        assert_eq!(effective(Some(Level::Ordered)), Level::Ordered);
        let before = choose(Choice { level: Some(Level::Full), gathers: true });
        assert_eq!(before, Choice::default());
        assert_eq!(effective(Some(Level::Ordered)), Level::Full);
        assert_eq!(choose(before).level, Some(Level::Full));
        assert_eq!(effective(Some(Level::None)), Level::None);
    }

    #[test]
    fn helpers_have_the_choice_of_their_caller() {
        let mine = Choice { level: Some(Level::Ordered), gathers: false };
        let before = choose(mine);
        crate::pool::run(4, 100, &crate::interrupt::never, |_, _| {
            std::thread::sleep(std::time::Duration::from_micros(50));
            assert_eq!(choice(), mine);
            Ok(())
        })
        .expect("all have it");
        choose(before);
        crate::pool::run(4, 100, &crate::interrupt::never, |_, _| {
            assert_eq!(choice(), Choice::default());
            Ok(())
        })
        .expect("none keeps it");
    }

    #[test]
    fn names_are_levels() {
        for (name, level) in [("none", Level::None), ("ordered", Level::Ordered), ("full", Level::Full)] {
            assert_eq!((Level::named(name), level.name()), (Some(level), name));
            assert_eq!(Level::from_number(level as u8), Some(level));
        }
        assert_eq!(Level::named("fully"), None);
    }

    #[cfg(unix)]
    #[test]
    fn many_directories_are_synchronised_at_once() {
        let root = std::env::temp_dir().join(format!("blizzarr-many-{}", std::process::id()));
        let all: BTreeSet<PathBuf> = (0..MANY).map(|number| root.join(number.to_string())).collect();
        for directory in &all {
            std::fs::create_dir_all(directory).expect("there is room");
        }
        let few = all.iter().take(3).cloned().collect();
        let tried: Vec<PathBuf> = synchronise(few).into_iter().map(|(directory, _)| directory).collect();
        assert_eq!(tried, all.iter().take(3).cloned().collect::<Vec<_>>());
        assert!(synchronise(all).into_iter().all(|(_, outcome)| outcome.is_ok()));
        std::fs::remove_dir_all(&root).expect("they are there");
    }

    #[cfg(unix)]
    #[test]
    fn directories_that_are_gone_are_no_failure() {
        note(Path::new("/nonexistent/directory"));
        commit().expect("nothing to do");
    }
}

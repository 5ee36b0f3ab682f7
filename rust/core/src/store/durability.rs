//! What survives a power cut, and when.
//!
//! A level is chosen for a process, for a store, or for what one thread calls; the last of these that is said counts.
//! [`pool`](crate::pool) hands a thread's choice on to those that help it.
//!
//! At [`Level::Full`] names have to reach the device too. Directories whose entries have changed are noted, and
//! [`commit`] synchronises each of them once, at the end of a [`call`] however many chunks that has stored. Calls at the
//! same time share their directories: one synchronises for all, and none returns before that is done.

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
    /// Whether this thread, or one that helped it, has noted a directory since its last call ended.
    static NOTED: Cell<bool> = const { Cell::new(false) };
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

impl Noted {
    fn insert(&mut self, root: Arc<dyn Directories>, directory: &Path) {
        let place = root.root().to_owned();
        self.below.entry(place).or_insert_with(|| (root, BTreeSet::new())).1.insert(directory.to_owned());
    }

    fn is_empty(&self) -> bool {
        self.by_path.is_empty() && self.below.is_empty()
    }
}

/// Directories whose entries are not known to be on the device.
#[derive(Default)]
struct Pending {
    directories: Mutex<Noted>,
    /// There are directories, or somebody has taken them and is not done.
    any: AtomicBool,
    /// Held while directories are synchronised, so that nobody returns before what another has taken over is done.
    busy: Mutex<()>,
    /// How often a directory could not be synchronised.
    failures: AtomicU64,
}

static PENDING: PerProcess<Pending> = PerProcess::new(Pending::default);

impl Pending {
    fn note(&self, add: impl FnOnce(&mut Noted)) {
        let mut noted = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        add(&mut noted);
        self.any.store(true, Ordering::Release);
        set_noted(true);
    }

    fn call<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let begun = self.failures.load(Ordering::Acquire);
        // A store or codec written in Python may call from within a call.
        let outer = set_noted(false);
        let outcome = work();
        let noted = set_noted(outer);
        if choice().gathers || !noted {
            return outcome;
        }
        self.commit(begun).and(outcome)
    }

    fn commit(&self, begun: u64) -> Result<()> {
        let mut outcome = Ok(());
        if self.any.load(Ordering::Acquire) {
            let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
            let directories = || self.directories.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = std::mem::take(&mut *directories());
            let below = taken.below.into_values().flat_map(|(root, directories)| {
                directories.into_iter().map(move |directory| (root.root().join(&directory), root.sync(&directory)))
            });
            for (directory, synchronised) in synchronise(taken.by_path).into_iter().chain(below) {
                if let Err(cause) = synchronised {
                    self.failures.fetch_add(1, Ordering::Release);
                    outcome = outcome.and(Err(failed(&directory, &cause)));
                }
            }
            // Not before: whoever finds nothing pending returns.
            let noted = directories();
            self.any.store(!noted.is_empty(), Ordering::Release);
        }
        if outcome.is_ok() && self.failures.load(Ordering::Acquire) != begun {
            return Err(failed(Path::new("the store"), &io::Error::from_raw_os_error(libc::EIO)));
        }
        outcome
    }
}

/// Has the directory synchronised by the next [`commit`].
pub fn note(directory: &Path) {
    PENDING.get().note(|noted| {
        if !noted.by_path.contains(directory) {
            noted.by_path.insert(directory.to_owned());
        }
    });
}

/// The same for a directory below `root`.
pub fn note_in(root: Arc<dyn Directories>, directory: &Path) {
    PENDING.get().note(|noted| noted.insert(root, directory));
}

/// Says whether this thread has noted a directory since its call began; gives what was said before.
pub fn set_noted(noted: bool) -> bool {
    NOTED.replace(noted)
}

/// Runs one call: what it has stored and deleted is as durable as it was asked to be before this returns, unless this
/// thread gathers.
pub fn call<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    PENDING.get().call(work)
}

/// How many directories could not be synchronised so far; [`commit`] asks for this number of the time before the first
/// of its directories was noted.
pub fn failures() -> u64 {
    PENDING.get().failures.load(Ordering::Acquire)
}

/// Synchronises all directories that were noted.
///
/// An error too if one failed since `begun`: another thread may have taken over what was noted here, and only that one
/// knows which directory it was.
pub fn commit(begun: u64) -> Result<()> {
    PENDING.get().commit(begun)
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

    std::fs::metadata(directory).ok().map(|metadata| metadata.dev())
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

    /// Directories whose synchronisation takes a while, and may fail.
    struct Slow {
        fails: bool,
        begun: AtomicU64,
        done: AtomicU64,
    }

    impl Directories for Slow {
        fn root(&self) -> &Path {
            Path::new("/slow")
        }

        fn sync(&self, _directory: &Path) -> io::Result<()> {
            self.begun.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(20));
            self.done.fetch_add(1, Ordering::SeqCst);
            if self.fails {
                return Err(io::Error::from_raw_os_error(libc::EIO));
            }
            Ok(())
        }
    }

    /// One call takes over the directory that another has noted; how both end, and how many were done when the other did.
    fn taken_over(fails: bool) -> (Result<()>, Result<()>, u64) {
        let slow = Arc::new(Slow { fails, begun: AtomicU64::new(0), done: AtomicU64::new(0) });
        let pending = Pending::default();
        let noted = AtomicBool::new(false);
        let note = |name: &str| pending.note(|noted| noted.insert(slow.clone(), Path::new(name)));
        let wait = |until: &dyn Fn() -> bool| {
            while !until() {
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let outcome = pending.call(|| {
                    note("other");
                    noted.store(true, Ordering::SeqCst);
                    // The first of both directories is on its way.
                    wait(&|| slow.begun.load(Ordering::SeqCst) > 0);
                    Ok(())
                });
                (outcome, slow.done.load(Ordering::SeqCst))
            });
            let mine = pending.call(|| {
                wait(&|| noted.load(Ordering::SeqCst));
                note("mine");
                Ok(())
            });
            let (other, done) = other.join().expect("it does not panic");
            (mine, other, done)
        })
    }

    #[test]
    fn no_call_returns_before_another_has_synchronised_for_it() {
        let (mine, other, done) = taken_over(false);
        mine.expect("synchronised");
        other.expect("synchronised");
        assert_eq!(done, 2);
    }

    #[test]
    fn a_failure_is_told_to_all_whose_directories_were_taken_over() {
        let (mine, other, _) = taken_over(true);
        assert!(mine.is_err());
        assert!(other.is_err());
    }

    #[test]
    fn a_call_that_stores_nothing_waits_for_nobody() {
        let pending = Pending::default();
        pending.failures.store(7, Ordering::SeqCst);
        let _busy = pending.busy.lock().expect("nobody panicked");
        pending.any.store(true, Ordering::SeqCst);
        pending.call(|| Ok(())).expect("nothing to do");
    }

    #[test]
    fn what_helpers_note_is_noted_for_their_caller() {
        let slow = Arc::new(Slow { fails: false, begun: AtomicU64::new(0), done: AtomicU64::new(0) });
        let pending = Pending::default();
        let outer = set_noted(false);
        let mine = std::thread::current().id();
        let helped = AtomicBool::new(false);
        pending
            .call(|| {
                crate::pool::run(4, 100, &crate::interrupt::never, |_, _| {
                    if std::thread::current().id() == mine {
                        while !helped.load(Ordering::SeqCst) {
                            std::thread::yield_now();
                        }
                    } else {
                        pending.note(|noted| noted.insert(slow.clone(), Path::new("helper")));
                        helped.store(true, Ordering::SeqCst);
                    }
                    Ok(())
                })
            })
            .expect("synchronised");
        assert_eq!(slow.done.load(Ordering::SeqCst), 1);
        set_noted(outer);
    }

    #[cfg(unix)]
    #[test]
    fn directories_that_are_gone_are_no_failure() {
        note(Path::new("/nonexistent/directory"));
        commit(failures()).expect("nothing to do");
    }
}

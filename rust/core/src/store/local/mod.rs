//! A folder of small files: one file per value, its path below the root is its key.
//!
//! Every operation names its file by its whole path, or (see [`Links::WithinRoot`]) by its path relative to a handle of the
//! root that lives as long as the operation. Handles of the root or of directories, kept open, save nothing that could be
//! measured against what a chunk costs (2 to 5 % of an open), and they go on naming a directory that somebody has renamed
//! or replaced since, which would put data into a backup copy.
//!
//! - `path`: keys to paths, without allocation;
//! - `place`: what a path is relative to: nothing, or a root that is kept within;
//! - `beneath` and `outside`: such a root, where the system has it, and what is said of links that lead out of it;
//! - `read`: one version of a value through one open file;
//! - `publish` and `unnamed`: a value appears under its key at once, or not at all; `steps`: while it is being made;
//! - `rights`: who may read and write a document that replaces another one;
//! - `remove`: deletion, of one value or of a tree;
//! - `link`: a second name for a value, without copying it;
//! - `outgoing`: values that are held until it is on record that they have gone;
//! - `temporary`: what writers that died have left;
//! - `times`: which version of a value a file is, by what `mounts` tells of the clock;
//! - `unsteady`: file systems that keep files which are replaced or removed while they are open;
//! - `list`: which keys there are;
//! - `look`: what callers look at by themselves;
//! - `lock`: one writer per chunk, among threads and processes, by way of `process_lock` and, on Windows, `by_handle`.
//!
//! Symbolic links are followed where they are directories on the way; a value that is a link is read through it, but
//! replaced and deleted as a link. Names that are not keys (temporary ones, other encodings) are not listed.

#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
mod beneath;
#[cfg(windows)]
mod by_handle;
mod fairness;
mod flush;
mod link;
mod list;
mod lock;
mod look;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(not(target_os = "linux"))]
mod nowhere;
mod outgoing;
#[cfg(target_os = "linux")]
mod outside;
mod path;
mod place;
mod process_lock;
mod publish;
pub mod read;
mod remove;
mod rights;
mod steps;
mod temporary;
mod times;
#[cfg(target_os = "linux")]
mod unnamed;
mod unsteady;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, OnceLock};

pub(super) use self::flush::synchronise;
pub use self::lock::Locking;
use self::place::{Beneath, Place};
use self::publish::Content;
use super::durability::{self, Level};
use super::version::Status;
use super::{key, Guard, ListableStore, Listing, Locker, Reader, Stepwise, Store};
use crate::cache::changes;
use crate::error::{Error, Kind, Result};
use crate::fork;
use crate::interrupt::Interrupt;
use crate::progress::{self, Count};

/// How values are kept in a directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalOptions {
    /// What survives a power cut; `None`: what the process says.
    pub durability: Option<Level>,
    /// Who excludes whom.
    pub locking: Locking,
    /// Where links may lead.
    pub links: Links,
}

/// Where links below the root may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Links {
    /// Anywhere: whoever may write below the root is trusted.
    #[default]
    Follow,
    /// Not out of the root, whatever others do there meanwhile.
    WithinRoot,
}

/// Values below one directory, which need not exist before the first is set.
#[derive(Debug)]
pub struct LocalStore {
    /// Absolute, so that it does not move with the process's working directory.
    root: PathBuf,
    /// What survives a power cut, where it is not said for the call; `None`: what the process says.
    durability: Option<Level>,
    /// This file system has no unnamed temporary files: use named ones.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    named_only: AtomicBool,
    /// For how many small values more it is to be assumed that they replace others, as the last ones have: 0 for none, and 1
    /// for one that is looked for.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    replacing: AtomicU8,
    /// What is replaced must be held until its directory is on the device; asked when it first matters.
    reuses_blocks: OnceLock<bool>,
    /// A value may be missing while it is replaced; asked when it first matters.
    unsteady: OnceLock<bool>,
    locking: Locking,
    /// The root, if nothing may lead out of it.
    within: Option<Arc<Beneath>>,
    /// Its name without links, for those of values; found out when one is first needed.
    real_root: OnceLock<String>,
}

impl LocalStore {
    pub fn new(root: impl AsRef<Path>) -> Result<Self> {
        Self::with(root, LocalOptions::default())
    }

    pub fn with(root: impl AsRef<Path>, options: LocalOptions) -> Result<Self> {
        let root = std::path::absolute(root).map_err(|cause| failed("", "find the store's root", &cause))?;
        let LocalOptions { durability, locking, links } = options;
        let within = match links {
            Links::Follow => None,
            Links::WithinRoot => Some(Arc::new(Beneath::new(&root)?)),
        };
        let (named_only, replacing) = (AtomicBool::new(false), AtomicU8::new(0));
        let (reuses_blocks, unsteady, real_root) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(LocalStore { root, durability, named_only, replacing, reuses_blocks, unsteady, locking, within, real_root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn replace_by(&self, key: &str, parts: &[&[u8]], existing: publish::Existing) -> Result<()> {
        let outcome = self.at(key, |place| self.publish(key, place, Content::Parts(parts), existing));
        changes::value(|| self.full_name(key));
        outcome.map(drop)
    }

    /// Locks a document for whoever replaces it.
    fn lock_whole(&self, key: &str, interrupt: Interrupt<'_>) -> Result<lock::DocumentLock> {
        self.at(key, |place| {
            lock::DocumentLocker::open(key, place, self.locking, interrupt)?.acquire(super::exclusion::Scope::Whole)
        })
    }

    /// What survives a power cut of what is stored here and now.
    fn level(&self) -> Level {
        durability::effective(self.durability)
    }

    /// Calls `act` with the place of the value's file.
    fn at<T>(&self, key: &str, act: impl FnOnce(Place<'_>) -> Result<T>) -> Result<T> {
        key::check(key)?;
        #[cfg(windows)]
        key::check_windows(key)?;
        match &self.within {
            None => path::with(&self.root, key, |path| act(Place::of(path))),
            Some(root) => {
                let place = Place::within(root, Path::new(key));
                act(place).map_err(|error| place.explained(error))
            }
        }
    }

    /// The same for a prefix, which is checked already and may be that of the root.
    fn at_prefix<T>(&self, prefix: &str, act: impl FnOnce(Place<'_>) -> Result<T>) -> Result<T> {
        if prefix.is_empty() {
            act(self.top())
        } else {
            self.at(prefix, act)
        }
    }

    /// The root.
    fn top(&self) -> Place<'_> {
        match &self.within {
            None => Place::of(&self.root),
            Some(root) => Place::within(root, Path::new("")),
        }
    }
}

/// An error about a prefix, which has no key to name when it is the root.
fn failed(prefix: &str, what: &str, cause: &std::io::Error) -> Error {
    let mut error = Error::io(prefix, what, cause);
    error.key = error.key.filter(|key| !key.is_empty());
    error
}

impl Store for LocalStore {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        self.open_as(key, key)
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.replace_by(key, parts, publish::Existing::Replace)
    }

    fn set_over(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.replace_by(key, parts, publish::Existing::ReplaceSeen)
    }

    fn stepwise(&self) -> Option<&dyn Stepwise> {
        Some(self)
    }

    fn delete(&self, key: &str) -> Result<bool> {
        let outcome = self.at(key, |place| self.remove(key, place));
        progress::add(Count::FileWrites, 1);
        changes::value(|| self.full_name(key));
        outcome
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.at(lock_key, |place| {
            let locker = lock::DocumentLocker::open(lock_key, place, self.locking, interrupt)?;
            Ok(Box::new(locker) as Box<dyn Locker>)
        })
    }

    fn may_be_replacing(&self, key: &str) -> bool {
        // Most file systems are of other kinds, and most missing chunks were never there.
        self.unsteady.get() != Some(&false)
            && self.at(key, |place| Ok(self.may_be_replacing_at(place))).unwrap_or(false)
    }

    fn waits(&self) -> bool {
        self.level() >= Level::Ordered
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.at(key, |place| read::size(key, place))
    }

    fn has(&self, key: &str) -> Result<bool> {
        self.at(key, |place| read::has(key, place))
    }

    fn full_name(&self, key: &str) -> Option<String> {
        // Two roots may be one directory, or one within the other, by way of links.
        let root = match self.real_root.get() {
            Some(root) => root,
            None => {
                let name = path::name(&path::real(&self.root));
                // A child forked in the middle of this would wait for ever.
                let _inside = fork::enter();
                self.real_root.get_or_init(|| name)
            }
        };
        Some(format!("{root}/{key}"))
    }

    fn status(&self, key: &str) -> Result<Status> {
        self.at(key, |place| read::status(key, place))
    }

    fn tells_versions(&self) -> bool {
        true
    }

    fn way(&self) -> u64 {
        // What lies behind links is there for some and an error for others.
        u64::from(self.within.is_some())
    }
}

impl ListableStore for LocalStore {
    fn open_as<'a>(&'a self, key: &'a str, stored: &str) -> Result<Option<Box<dyn Reader + 'a>>> {
        let opened = self.at(stored, |place| read::OpenFile::open(key, place))?;
        Ok(opened.map(|file| Box::new(file) as Box<dyn Reader + 'a>))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| list::list(place, prefix))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| list::list_dir(place, prefix))
    }

    fn others(&self, prefix: &str, limit: usize) -> Result<Vec<String>> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| list::others(place, prefix, limit))
    }

    fn leftovers(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| temporary::leftovers(place, prefix, temporary::Then::Keep))
    }

    fn sweep(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = key::check_prefix(prefix)?;
        self.at_prefix(prefix, |place| temporary::leftovers(place, prefix, temporary::Then::Remove))
    }

    fn flush(&self) -> Result<()> {
        durability::commit(durability::failures())?;
        flush::flush(self.top())
    }

    fn delete_prefix(&self, prefix: &str) -> Result<()> {
        let prefix = key::check_prefix(prefix)?;
        let outcome = match prefix {
            "" => self.remove_everything(),
            prefix => self.at(prefix, |place| self.remove_tree(prefix, place)),
        };
        progress::add(Count::FileRangesDeleted, 1);
        changes::prefix(|| self.full_name(prefix).map(|name| name.trim_end_matches('/').to_owned()));
        outcome
    }

    fn link_many(&self, pairs: &[(String, String)], interrupt: Interrupt<'_>) -> Result<Vec<bool>> {
        self.link_each(pairs, interrupt)
    }

    fn lock_document<'a>(&'a self, lock_key: &str, interrupt: Interrupt<'_>) -> Result<Box<dyn Guard + 'a>> {
        Ok(Box::new(self.lock_whole(lock_key, interrupt)?))
    }

    fn replace(
        &self,
        key: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
        interrupt: Interrupt<'_>,
    ) -> Result<bool> {
        let (expected, value) = match (expected, value) {
            (Some(expected), value) => (expected, value),
            (None, Some(value)) => {
                let outcome =
                    self.at(key, |place| self.publish(key, place, Content::Parts(&[value]), publish::Existing::Keep));
                changes::value(|| self.full_name(key));
                return outcome;
            }
            (None, None) => return Ok(!self.has(key)?),
        };
        let guard = match self.lock_whole(key, interrupt) {
            Ok(guard) => guard,
            // There is none, or somebody has deleted it just now.
            Err(_) if self.size(key)?.is_none() => return Ok(false),
            Err(error) => return Err(error),
        };
        // Through the file that is locked, which is the one that has the name.
        let same = match guard.holds_document(expected) {
            Some(same) => same.map_err(|cause| Error::io(key, "read", &cause))?,
            None => self.get(key)?.as_deref() == Some(expected),
        };
        if !same {
            return Ok(false);
        }
        match value {
            Some(value) => {
                self.set_over(key, &[value])?;
            }
            None => drop(self.delete(key)?),
        }
        Ok(true)
    }

    fn lock_for_deletion(&self, keys: &[&str], interrupt: Interrupt<'_>) -> Result<Vec<Box<dyn Guard + Send>>> {
        let mut lockers = Vec::with_capacity(keys.len());
        for &key in keys {
            match self.at(key, |place| lock::DocumentLocker::open(key, place, self.locking, interrupt)) {
                Ok(locker) => lockers.push(locker),
                // It is gone already, or nobody like us can have locked it, or deleting it says what is wrong.
                Err(error) if error.kind == Kind::Store => {}
                Err(error) => return Err(error),
            }
        }
        // In one order, so that two who delete the same do not wait for each other; and none twice by two names.
        lockers.sort_by_key(lock::DocumentLocker::identity);
        lockers.dedup_by_key(|locker| locker.identity());
        let mut guards: Vec<Box<dyn Guard + Send>> = Vec::with_capacity(lockers.len());
        for locker in lockers {
            match locker.acquire(super::exclusion::Scope::Whole) {
                Ok(guard) => guards.push(Box::new(guard)),
                Err(error) if error.kind == Kind::Store => {}
                Err(error) => return Err(error),
            }
        }
        if !guards.is_empty() {
            guards.push(Box::new(remove::RemoveLeft));
        }
        Ok(guards)
    }
}

#[cfg(all(test, unix))]
mod figures;
#[cfg(test)]
mod links_tests;
#[cfg(test)]
mod tests;

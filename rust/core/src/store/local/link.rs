//! A second name for a value's file: as no value is ever changed in place, the two are as good as copies.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::durability::Level;
use super::super::key;
use super::path;
use super::place::Place;
use super::LocalStore;
use crate::cache::changes;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::store::many;
use crate::store::Store;

/// So many files are made sure of with all else that the file system has to write: one wait, and not as many.
const MANY: usize = 256;
/// Directories may be removed by others as often as this between the making and the using of them.
const ATTEMPTS: usize = 8;

impl LocalStore {
    /// For each `(key, other)` whether `other` is a name of the same file now. Where it is not (this file system has no
    /// such links, the store keeps within its root, something else has that name or nothing the first) the value can be
    /// copied, which says what is wrong.
    pub(super) fn link_each(&self, pairs: &[(String, String)], interrupt: Interrupt<'_>) -> Result<Vec<bool>> {
        for (key, other) in pairs {
            key::check(key)?;
            key::check(other)?;
        }
        if self.within.is_some() {
            return Ok(vec![false; pairs.len()]);
        }
        let level = self.level();
        let synchronise = level >= Level::Ordered;
        let one_by_one = synchronise && !(pairs.len() >= MANY && super::synchronise(&self.root).is_ok());
        let threads = if one_by_one { many::threads(self, pairs.len()) } else { pool::threads() };
        let linked: Vec<_> = pairs.iter().map(|_| AtomicBool::new(false)).collect();
        pool::run(threads, pairs.len(), interrupt, |number, _| {
            let (key, other) = &pairs[number];
            let outcome = path::with(&self.root, key, |old| {
                path::with(&self.root, other, |new| self.link(old, new, level, one_by_one))
            });
            changes::value(|| self.full_name(other));
            linked[number].store(outcome.unwrap_or(false), Ordering::Relaxed);
            Ok(())
        })?;
        Ok(linked.into_iter().map(AtomicBool::into_inner).collect())
    }

    fn link(&self, old: &Path, new: &Path, level: Level, synchronise: bool) -> io::Result<bool> {
        // Another name of a symbolic link may lead elsewhere.
        if !fs::symlink_metadata(old)?.is_file() {
            return Ok(false);
        }
        if synchronise {
            fs::File::open(old)?.sync_all()?;
        }
        let directory = Place::of(new).parent();
        let mut made_directories = false;
        let mut attempt = 0;
        loop {
            attempt += 1;
            match fs::hard_link(old, new) {
                Ok(()) => break,
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists && is_same(old, new)? => break,
                Err(cause) if cause.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {
                    made_directories = true;
                    directory.make_directory()?;
                }
                Err(cause) => {
                    if made_directories {
                        self.remove_empty_directories(Place::of(new));
                    }
                    return Err(cause);
                }
            }
        }
        if level == Level::Full {
            // An earlier attempt may have made them, and died.
            directory.note_all(&self.root);
        }
        Ok(true)
    }
}

#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let (one, other) = (fs::symlink_metadata(one)?, fs::symlink_metadata(other)?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Not known: then it is copied.
#[cfg(not(unix))]
fn is_same(_one: &Path, _other: &Path) -> io::Result<bool> {
    Ok(false)
}

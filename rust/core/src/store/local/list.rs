//! Which keys there are. Directories are followed through symbolic links, but never into themselves: a link to a directory
//! that it is in is not listed.
//!
//! Not listed are names that are not keys, and those of removed files that somebody has open. A directory counts as a prefix even when no key is below it. A FIFO, socket or
//! device, and a link that leads nowhere, or out of a root which is kept within, count as keys: opening them is an error.
//! Were they left out, a chunk would be missing, and not an error, for whoever goes by the list.

use std::fs;
use std::io::{self, ErrorKind};

use super::super::{key, Listing};
use super::place::Place;
use super::read::check_directory;
use super::unsteady::is_left_open;
use super::{failed, path};
use crate::error::{Error, Result};

pub fn list(directory: Place<'_>, prefix: &str) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    let mut within = Vec::new();
    walk(directory, prefix, &mut within, &mut keys)?;
    keys.sort_unstable();
    Ok(keys)
}

pub fn list_dir(directory: Place<'_>, prefix: &str) -> Result<Listing> {
    let mut above = None;
    // A link to a directory that it is in: who descends would come here again and again, by ever longer names.
    let is_loop = |identity: &Identity| above.get_or_insert_with(|| identities(directory, prefix)).contains(identity);
    let mut listing = entries(directory, prefix, is_loop)?;
    listing.keys.sort_unstable();
    for prefix in &mut listing.prefixes {
        prefix.push('/');
    }
    listing.prefixes.sort_unstable();
    Ok(listing)
}

/// Which directories lead to the one of this prefix, and which it is itself.
fn identities(directory: Place<'_>, prefix: &str) -> Vec<Identity> {
    let levels = if prefix.is_empty() { 0 } else { prefix.split('/').count() };
    let mut place = directory;
    let mut identities = Vec::with_capacity(levels + 1);
    for _ in 0..=levels {
        // One that is gone by now leads nowhere.
        identities.extend(identity(place));
        place = place.parent();
    }
    identities
}

/// At most `limit` names under the prefix that are no keys and that no listing shows, so that nobody removes them with
/// the directories they are in, such as names of other encodings. Values that are being written are none of these.
/// Directories are not entered through links.
pub fn others(directory: Place<'_>, prefix: &str, limit: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    collect_others(directory, prefix, limit, &mut names)?;
    Ok(names)
}

fn collect_others(directory: Place<'_>, prefix: &str, limit: usize, names: &mut Vec<String>) -> Result<()> {
    let reading = match directory.read_dir() {
        Ok(reading) => reading,
        Err(cause) => return missing_is_empty(directory, prefix, &cause),
    };
    for entry in reading {
        let entry = entry.map_err(|cause| failed(prefix, "list", &cause))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if names.len() == limit {
            return Ok(());
        }
        if name.starts_with(key::RESERVED) || is_left_open(&name) {
            continue;
        }
        let path = if prefix.is_empty() { name.to_string() } else { format!("{prefix}/{name}") };
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_listed = entry.file_name().to_str().is_some_and(|name| key::check(name).is_ok())
            && self::is_directory(directory, &entry).is_ok();
        if !is_listed {
            names.push(path);
        } else if is_directory {
            collect_others(directory.child(entry.file_name()).as_place(), &path, limit, names)?;
        }
    }
    Ok(())
}

/// Adds the keys under `directory`, whose key is `prefix`; `within` holds the directories that lead here.
fn walk(directory: Place<'_>, prefix: &str, within: &mut Vec<Identity>, keys: &mut Vec<String>) -> Result<()> {
    let identity = match identity(directory) {
        Ok(identity) if within.contains(&identity) => return Ok(()), // a link upwards: all its keys are listed already
        Ok(identity) => identity,
        Err(cause) => return missing_is_empty(directory, prefix, &cause),
    };
    within.push(identity);
    let listing = entries(directory, prefix, |_| false)?; // it looks at what it enters
    keys.extend(listing.keys);
    for inner in listing.prefixes {
        let name = inner.rsplit('/').next().unwrap_or(&inner);
        walk(directory.child(name).as_place(), &inner, within, keys)?;
    }
    within.pop();
    Ok(())
}

/// What is in one directory, without the links to directories that `is_loop` says; prefixes still without their final `/`.
fn entries(directory: Place<'_>, prefix: &str, mut is_loop: impl FnMut(&Identity) -> bool) -> Result<Listing> {
    let mut listing = Listing::default();
    let reading = match directory.read_dir() {
        Ok(reading) => reading,
        Err(cause) => return missing_is_empty(directory, prefix, &cause),
    };
    for entry in reading {
        let entry = entry.map_err(|cause| failed(prefix, "list", &cause))?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| key::check(name).is_ok() && !is_left_open(name)) else { continue };
        let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let is_directory = match is_directory(directory, &entry) {
            Ok(found) => found,
            Err(cause) if cause.kind() == ErrorKind::NotFound => continue, // deleted meanwhile
            Err(cause) => return Err(Error::io(&key, "list", &cause)),
        };
        if is_directory {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link && identity(directory.child(name).as_place()).is_ok_and(|identity| is_loop(&identity)) {
                continue;
            }
            listing.prefixes.push(key);
        } else {
            listing.keys.push(key);
        }
    }
    Ok(listing)
}

/// Whether it is a directory, which the directory above tells unless it is a link.
fn is_directory(directory: Place<'_>, entry: &fs::DirEntry) -> io::Result<bool> {
    let kind = entry.file_type()?;
    if !kind.is_symlink() {
        return Ok(kind.is_dir());
    }
    match directory.child(entry.file_name()).as_place().metadata() {
        Ok(target) => Ok(target.is_dir()),
        Err(cause) if directory.is_out(&cause) || leads_nowhere(&cause) => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Whether this is what the system says of a link to nothing or to itself.
fn leads_nowhere(cause: &io::Error) -> bool {
    #[cfg(unix)]
    if cause.raw_os_error() == Some(libc::ELOOP) {
        return true;
    }
    cause.kind() == ErrorKind::NotFound
}

pub fn missing_is_empty<T: Default>(directory: Place<'_>, prefix: &str, cause: &io::Error) -> Result<T> {
    if path::has_nothing_below(cause) {
        check_directory(prefix, directory)?;
        return Ok(T::default());
    }
    Err(failed(prefix, "list", cause))
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(directory: Place<'_>) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    directory.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
type Identity = std::path::PathBuf;

#[cfg(not(unix))]
fn identity(directory: Place<'_>) -> io::Result<Identity> {
    directory.entry(|path| fs::canonicalize(path))
}

//! A store in memory: for tests, scratch data and values on their way somewhere else.
//!
//! A value is shared, never changed: a reader keeps the version it opened, and setting a key swaps one pointer.
//! A forked child finds the values as they were: see [`fork::enter`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::exclusion::{self, Exclusion, HeldInProcess, Scope};
use super::version::{Status, Version};
use super::{key, ranges, Guard, ListableStore, Listing, Locker, Reader, Store};
use crate::cache::changes;
use crate::error::{Error, Kind, Result};
use crate::fork::{self, PerProcess};
use crate::interrupt::Interrupt;

type Values = BTreeMap<String, Arc<Value>>;

/// One version of one value.
struct Value {
    bytes: Vec<u8>,
    /// Tells it from all others of this process.
    version: u64,
}

impl Value {
    fn of(parts: &[&[u8]]) -> Result<Arc<Self>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let bytes = concatenated(parts)?;
        Ok(Arc::new(Value { bytes, version: NEXT.fetch_add(1, Ordering::Relaxed) }))
    }

    fn version(&self) -> Version {
        Version::new([self.version, 0, 0, 0, 0, 0], true)
    }
}

/// Who writes which chunk of which store.
static WRITERS: PerProcess<Exclusion> = PerProcess::new(Exclusion::default);

/// Keys and values of this process.
pub struct MemoryStore {
    values: RwLock<Values>,
    /// Tells it from others.
    number: u64,
}

/// Access to the values, during which nobody forks. Fields are released in this order.
struct Access<G> {
    values: G,
    _inside: fork::Inside,
}

impl<G: Deref> Deref for Access<G> {
    type Target = G::Target;

    fn deref(&self) -> &G::Target {
        &self.values
    }
}

impl<G: DerefMut> DerefMut for Access<G> {
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.values
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        MemoryStore { values: RwLock::default(), number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    fn read(&self) -> Access<RwLockReadGuard<'_, Values>> {
        let _inside = fork::enter();
        Access { values: self.values.read().unwrap_or_else(PoisonError::into_inner), _inside }
    }

    fn write(&self) -> Access<RwLockWriteGuard<'_, Values>> {
        let _inside = fork::enter();
        Access { values: self.values.write().unwrap_or_else(PoisonError::into_inner), _inside }
    }

    /// As somebody does whose changes nobody in this process is told of.
    #[cfg(test)]
    pub fn set_silently(&self, key: &str, value: &[u8]) {
        let value = Value::of(&[value]).expect("memory");
        self.write().insert(key.to_owned(), value);
    }

    #[cfg(test)]
    pub fn delete_silently(&self, key: &str) {
        self.write().remove(key);
    }

    /// Makes all these changes (`None`: delete) in one step, if all these values are of the versions that are expected
    /// (`None`: missing); else none of them, and says which value is another. With these go the values that another store
    /// has under some keys, which are not copied; those that it has not are deleted.
    pub fn exchange(
        &self,
        expected: &[(String, Option<Vec<u8>>)],
        changes: &[(String, Option<&[u8]>)],
        taken: (&MemoryStore, &[String]),
    ) -> Result<Option<String>> {
        let mut fresh = Vec::with_capacity(changes.len() + taken.1.len());
        for (name, value) in changes {
            key::check(name)?;
            let value = value.map(|value| Value::of(&[value]).map_err(|error| error.at_key(name))).transpose()?;
            fresh.push((name, value));
        }
        {
            let others = taken.0.read();
            for name in taken.1 {
                key::check(name)?;
                fresh.push((name, others.get(name).cloned()));
            }
        }
        let names: Vec<_> = fresh.iter().map(|(name, _)| *name).collect();
        let mut values = self.write();
        for (name, version) in expected {
            let now = values.get(name).map(|value| value.version().name());
            if now != *version {
                return Ok(Some(name.clone()));
            }
        }
        let replaced: Vec<_> = fresh
            .into_iter()
            .map(|(name, value)| match value {
                Some(value) => values.insert(name.clone(), value),
                None => values.remove(name),
            })
            .collect();
        drop(values);
        drop(replaced); // may be large: not while others wait
        for name in names {
            changes::value(|| self.full_name(name));
        }
        Ok(None)
    }

    fn hold(&self, lock_key: &str, scope: Scope, interrupt: Interrupt<'_>) -> Result<HeldInProcess> {
        key::check(lock_key)?;
        let (_, name) = exclusion::document(lock_key);
        HeldInProcess::acquire(&WRITERS, (self.number, name), scope, interrupt)
    }
}

impl Store for MemoryStore {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        self.open_as(key, key)
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        key::check(key)?;
        let value = Value::of(parts).map_err(|error| error.at_key(key))?;
        let mut values = self.write();
        let old = match values.get_mut(key) {
            Some(slot) => Some(std::mem::replace(slot, value)),
            None => values.insert(key.to_owned(), value),
        };
        drop(values);
        drop(old); // may be large: not while others wait
        changes::value(|| self.full_name(key));
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<bool> {
        key::check(key)?;
        let old = self.write().remove(key);
        changes::value(|| self.full_name(key));
        Ok(old.is_some())
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        key::check(lock_key)?;
        Ok(Box::new(MemoryLocker { store: self, lock_key, interrupt }))
    }

    fn full_name(&self, key: &str) -> Option<String> {
        Some(format!("memory:{}/{key}", self.number))
    }

    fn status(&self, key: &str) -> Result<Status> {
        key::check(key)?;
        Ok(self.read().get(key).map_or(Status::Missing, |value| Status::Is(value.version())))
    }

    fn tells_versions(&self) -> bool {
        true
    }
}

struct MemoryLocker<'a> {
    store: &'a MemoryStore,
    lock_key: &'a str,
    interrupt: Interrupt<'a>,
}

struct MemoryGuard {
    document: Version,
    _held: HeldInProcess,
}

impl Guard for MemoryGuard {
    fn document(&self) -> Option<Version> {
        Some(self.document)
    }
}

impl Locker for MemoryLocker<'_> {
    fn lock<'a>(&'a self, key: &str) -> Result<Box<dyn Guard + 'a>> {
        key::check(key)?;
        let part = Scope::Part(exclusion::part(self.lock_key, key));
        let held = self.store.hold(self.lock_key, part, self.interrupt)?;
        let Some(document) = self.store.read().get(self.lock_key).map(|value| value.version()) else {
            let reason = "cannot lock the metadata document: it is gone, somebody has deleted the array";
            let gone = Error { errno: Some(libc::ENOENT), ..Error::new(Kind::Store, reason) };
            return Err(gone.at_key(self.lock_key));
        };
        Ok(Box::new(MemoryGuard { document, _held: held }))
    }

    fn tells_document(&self) -> bool {
        true
    }
}

impl ListableStore for MemoryStore {
    fn open_as<'a>(&'a self, key: &'a str, stored: &str) -> Result<Option<Box<dyn Reader + 'a>>> {
        key::check(stored)?;
        let value = self.read().get(stored).cloned();
        Ok(value.map(|value| Box::new(Shared { key, value }) as Box<dyn Reader + 'a>))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let start = directory(key::check_prefix(prefix)?);
        let values = self.read();
        Ok(from(&values, &start).take_while(|key| key.starts_with(&start)).cloned().collect())
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        let start = directory(key::check_prefix(prefix)?);
        let values = self.read();
        let mut listing = Listing::default();
        let mut at = start.clone();
        while let Some(key) = from(&values, &at).next().filter(|key| key.starts_with(&start)) {
            match key[start.len()..].find('/') {
                None => {
                    at = format!("{key}\0"); // the smallest key after this one
                    listing.keys.push(key.clone());
                }
                Some(slash) => {
                    let inner = &key[..start.len() + slash];
                    at = format!("{inner}0"); // '0' follows '/': past everything under this prefix
                    listing.prefixes.push(format!("{inner}/"));
                }
            }
        }
        Ok(listing)
    }

    fn delete_prefix(&self, prefix: &str) -> Result<()> {
        let start = directory(key::check_prefix(prefix)?);
        let mut values = self.write();
        let doomed: Vec<String> = from(&values, &start).take_while(|key| key.starts_with(&start)).cloned().collect();
        let removed: Vec<_> = doomed.iter().filter_map(|key| values.remove(key)).collect();
        drop(values);
        drop(removed);
        changes::prefix(|| self.full_name(start.trim_end_matches('/')).map(trimmed));
        Ok(())
    }

    fn lock_document<'a>(&'a self, lock_key: &str, interrupt: Interrupt<'_>) -> Result<Box<dyn Guard + 'a>> {
        Ok(Box::new(self.hold(lock_key, Scope::Whole, interrupt)?))
    }

    fn replace(
        &self,
        key: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
        interrupt: Interrupt<'_>,
    ) -> Result<bool> {
        key::check(key)?;
        let fresh = value.map(|value| Value::of(&[value]).map_err(|error| error.at_key(key))).transpose()?;
        // Only a deletion has to wait for who writes chunks: nobody locks them by a certain version of the document.
        let _guard = fresh.is_none().then(|| self.hold(key, Scope::Whole, interrupt)).transpose()?;
        let mut values = self.write();
        if values.get(key).map(|value| value.bytes.as_slice()) != expected {
            return Ok(false);
        }
        match fresh {
            Some(fresh) => values.insert(key.to_owned(), fresh),
            None => values.remove(key),
        };
        drop(values);
        changes::value(|| self.full_name(key));
        Ok(true)
    }

    fn lock_for_deletion(&self, keys: &[&str], interrupt: Interrupt<'_>) -> Result<Vec<Box<dyn Guard + Send>>> {
        // In one order, so that two who delete the same do not wait for each other; and none twice.
        let keys: BTreeSet<&str> = keys.iter().copied().collect();
        let hold = |key| Ok(Box::new(self.hold(key, Scope::Whole, interrupt)?) as Box<dyn Guard + Send>);
        keys.into_iter().map(hold).collect()
    }
}

/// The name of a prefix, which may be that of everything.
fn trimmed(name: String) -> String {
    name.trim_end_matches('/').to_owned()
}

/// What all keys under the prefix begin with.
fn directory(bare_prefix: &str) -> String {
    if bare_prefix.is_empty() {
        String::new()
    } else {
        format!("{bare_prefix}/")
    }
}

fn from<'a>(values: &'a Values, start: &str) -> impl Iterator<Item = &'a String> {
    values.range::<str, _>((Bound::Included(start), Bound::Unbounded)).map(|(key, _)| key)
}

fn concatenated(parts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut value = ranges::with_room(parts.iter().map(|part| part.len() as u64).sum())?;
    for part in parts {
        value.extend_from_slice(part);
    }
    Ok(value)
}

/// One version of one value, for who knows it by this key.
struct Shared<'a> {
    key: &'a str,
    value: Arc<Value>,
}

impl Reader for Shared<'_> {
    fn len(&self) -> Option<u64> {
        Some(self.value.bytes.len() as u64)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.value.bytes)
    }

    fn version(&self) -> Option<Version> {
        Some(self.value.version())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        let part = usize::try_from(offset).ok().and_then(|start| {
            let end = start.checked_add(buffer.len())?;
            self.value.bytes.get(start..end)
        });
        let Some(part) = part else {
            return Err(ranges::truncated(offset, buffer.len(), self.value.bytes.len() as u64).at_key(self.key));
        };
        buffer.copy_from_slice(part);
        Ok(true)
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        match self.value.bytes.len().checked_sub(buffer.len()) {
            Some(start) => buffer.copy_from_slice(&self.value.bytes[start..]),
            None => return Err(ranges::too_short(buffer.len(), self.value.bytes.len() as u64).at_key(self.key)),
        }
        Ok(true)
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        let size = self.value.bytes.len() as u64;
        if size > limit {
            return Err(ranges::too_long(size, limit).at_key(self.key));
        }
        ranges::reserve(buffer, size).map_err(|error| error.at_key(self.key))?;
        buffer.extend_from_slice(&self.value.bytes);
        Ok(true)
    }
}

//! A store whose values lie under other keys in another store: storage transformers that change nothing but keys.
//!
//! Chunks are locked by the keys that the array knows them by, so all who rename alike exclude each other.

use std::sync::Arc;

use super::version::Status;
use super::{ListableStore, Locker, Reader, Store};
use crate::error::Result;
use crate::interrupt::Interrupt;

/// `rename` says where the value of a key lies.
pub struct RenamedStore<F> {
    store: Arc<dyn ListableStore>,
    rename: F,
}

impl<F: Fn(&str) -> Result<String> + Send + Sync> RenamedStore<F> {
    pub fn new(store: Arc<dyn ListableStore>, rename: F) -> Self {
        RenamedStore { store, rename }
    }
}

impl<F: Fn(&str) -> Result<String> + Send + Sync> Store for RenamedStore<F> {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        self.store.open_as(key, &(self.rename)(key)?)
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.store.set(&(self.rename)(key)?, parts)
    }

    fn set_over(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.store.set_over(&(self.rename)(key)?, parts)
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.store.delete(&(self.rename)(key)?)
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.store.locker(lock_key, interrupt)
    }

    fn may_be_replacing(&self, key: &str) -> bool {
        (self.rename)(key).is_ok_and(|stored| self.store.may_be_replacing(&stored))
    }

    fn waits(&self) -> bool {
        self.store.waits()
    }

    fn remote(&self) -> bool {
        self.store.remote()
    }

    fn requests(&self) -> usize {
        self.store.requests()
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.store.size(&(self.rename)(key)?)
    }

    fn full_name(&self, key: &str) -> Option<String> {
        self.store.full_name(&(self.rename)(key).ok()?)
    }

    fn status(&self, key: &str) -> Result<Status> {
        self.store.status(&(self.rename)(key)?)
    }

    fn tells_versions(&self) -> bool {
        self.store.tells_versions()
    }

    fn way(&self) -> u64 {
        self.store.way()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Kind};
    use crate::store::memory::MemoryStore;

    #[test]
    fn values_lie_under_other_keys() {
        let inner = Arc::new(MemoryStore::new());
        let store = RenamedStore::new(inner.clone(), |key| Ok(format!("there/{key}")));
        store.set("a", &[b"va", b"lue"]).expect("set");
        assert_eq!(inner.list("").expect("listed"), ["there/a"]);
        assert_eq!(store.get("a").expect("read"), Some(b"value".to_vec()));
        assert_eq!(store.size("a").expect("sized"), Some(5));
        assert!(store.open("there/a").expect("opened").is_none());
        assert!(store.delete("a").expect("deleted"));
        assert_eq!(inner.get("there/a").expect("read"), None);
    }

    #[test]
    fn errors_name_the_key_that_was_asked_for() {
        let inner = Arc::new(MemoryStore::new());
        inner.set("there/a", &[b"value"]).expect("set");
        let store = RenamedStore::new(inner, |key| Ok(format!("there/{key}")));
        let reader = store.open("a").expect("opened").expect("there");
        let error = reader.read_at(3, &mut [0; 4]).expect_err("too short");
        assert_eq!(error.key.as_deref(), Some("a"));
    }

    #[test]
    fn what_cannot_be_renamed_is_an_error() {
        let refuse = |key: &str| Err(Error::new(Kind::Store, "no such place").at_key(key));
        let store = RenamedStore::new(Arc::new(MemoryStore::new()), refuse);
        assert!(store.open("a").is_err());
        assert!(store.set("a", &[]).is_err());
        assert!(store.delete("a").is_err());
    }
}

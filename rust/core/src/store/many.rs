//! Many values at once, in no particular order.

use std::sync::{Mutex, PoisonError};

use super::Store;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::scratch;

/// Fewer than this are left to the calling thread.
const FEW: usize = 32;
/// So many have what they change written by the device together.
const WAITING: usize = 32;

/// Threads that change `count` values: more where each waits for a device most of the time.
pub fn threads(store: &dyn Store, count: usize) -> usize {
    if store.waits() {
        WAITING.max(pool::threads()).min(count)
    } else {
        busy(count)
    }
}

/// Threads for what does not wait.
fn busy(count: usize) -> usize {
    if count < FEW {
        1
    } else {
        pool::threads()
    }
}

/// [`Store::get`] of each.
pub fn get(store: &dyn Store, keys: &[String], interrupt: Interrupt<'_>) -> Result<Vec<Option<Vec<u8>>>> {
    let slots: Vec<Mutex<Option<Vec<u8>>>> = scratch::listed(keys.iter().map(|_| Mutex::new(None)))?;
    pool::run(busy(keys.len()), keys.len(), interrupt, |number, _| {
        *slots[number].lock().unwrap_or_else(PoisonError::into_inner) = store.get(&keys[number])?;
        Ok(())
    })?;
    scratch::listed(slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// [`Store::set`] of each. After a failure some are set and some are not.
pub fn set(store: &dyn Store, values: &[(&str, &[u8])], interrupt: Interrupt<'_>) -> Result<()> {
    pool::run(threads(store, values.len()), values.len(), interrupt, |number, _| {
        let (key, value) = values[number];
        store.set(key, &[value])
    })
}

/// [`Store::delete`] of each.
pub fn delete(store: &dyn Store, keys: &[String], interrupt: Interrupt<'_>) -> Result<()> {
    // Names are made sure of for many at once, at the end: nothing here waits.
    pool::run(busy(keys.len()), keys.len(), interrupt, |number, _| store.delete(&keys[number]).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::never;
    use crate::store::memory::MemoryStore;
    use crate::store::ListableStore;

    #[test]
    fn all_are_set_and_told_and_deleted() {
        let store = MemoryStore::new();
        let keys: Vec<String> = (0..100).map(|number| format!("k/{number:02}")).collect();
        let values: Vec<(&str, &[u8])> = keys.iter().map(|key| (key.as_str(), &key.as_bytes()[2..])).collect();
        set(&store, &values, &never).expect("memory");
        assert_eq!(store.list("").expect("memory"), keys);
        let mut wanted = keys.clone();
        wanted.insert(18, "nothing".to_owned());
        let values = get(&store, &wanted, &never).expect("memory");
        assert_eq!((values.len(), &values[17], &values[18]), (101, &Some(b"17".to_vec()), &None));
        assert_eq!(values[100].as_deref(), Some(&b"99"[..]));
        delete(&store, &keys[1..], &never).expect("memory");
        assert_eq!(store.list("").expect("memory"), keys[..1]);
    }
}

//! Many values at once, in no particular order.

use super::Store;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pool;

/// Fewer than this are left to the calling thread.
const FEW: usize = 32;
/// So many have what they change written by the device together.
const WAITING: usize = 32;

/// Threads that change `count` values: more where each waits for a device most of the time.
pub fn threads(store: &dyn Store, count: usize) -> usize {
    match (store.waits(), count < FEW) {
        (true, _) => WAITING.max(pool::threads()).min(count),
        (false, true) => 1,
        (false, false) => pool::threads(),
    }
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
    let threads = if keys.len() < FEW { 1 } else { pool::threads() };
    pool::run(threads, keys.len(), interrupt, |number, _| store.delete(&keys[number]).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::never;
    use crate::store::memory::MemoryStore;
    use crate::store::ListableStore;

    #[test]
    fn all_are_set_and_deleted() {
        let store = MemoryStore::new();
        let keys: Vec<String> = (0..100).map(|number| format!("k/{number:02}")).collect();
        let values: Vec<(&str, &[u8])> = keys.iter().map(|key| (key.as_str(), &key.as_bytes()[2..])).collect();
        set(&store, &values, &never).expect("memory");
        assert_eq!(store.list("").expect("memory"), keys);
        assert_eq!(store.get("k/17").expect("memory").as_deref(), Some(&b"17"[..]));
        delete(&store, &keys[1..], &never).expect("memory");
        assert_eq!(store.list("").expect("memory"), keys[..1]);
    }
}

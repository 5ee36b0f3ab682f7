//! A store that is far away: how many requests are made at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::keys;
use crate::array::{Array, Options, REQUESTED_BYTES};
use crate::chain::{Chain, Elements, Serializer};
use crate::check::{check, Depth};
use crate::codec::element::Swap;
use crate::error::{Error, Kind, Result};
use crate::interrupt::{never, Interrupt};
use crate::memory::{Origin, Target};
use crate::read::read;
use crate::region::{c_strides, Region};
use crate::store::memory::MemoryStore;
use crate::store::{Locker, Reader, Requested, Requests, Store};
use crate::write::write;

/// Whatever it is asked takes a while.
struct Distant {
    store: MemoryStore,
    remote: bool,
    /// Whether one thread can have several requests under way.
    ahead: bool,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Distant {
    fn request<R>(&self, work: impl FnOnce() -> R) -> R {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        let done = work();
        self.now.fetch_sub(1, Ordering::SeqCst);
        done
    }
}

impl Store for Distant {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        self.request(|| self.store.open(key))
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.request(|| self.store.set(key, parts))
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.request(|| self.store.delete(key))
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.store.locker(lock_key, interrupt)
    }

    fn remote(&self) -> bool {
        self.remote
    }

    fn whole_values<'a>(&'a self) -> Result<Option<Box<dyn Requests + 'a>>> {
        Ok(self.ahead.then(|| Box::new(LastFirst { store: self, begun: Mutex::default() }) as Box<dyn Requests>))
    }
}

/// Requests of which the last is answered first.
struct LastFirst<'a> {
    store: &'a Distant,
    begun: Mutex<Vec<(usize, String, u64)>>,
}

impl Requests for LastFirst<'_> {
    fn begin(&self, number: usize, key: &str, limit: u64, _room: Vec<u8>) -> Result<()> {
        let mut begun = self.begun.lock().unwrap();
        begun.push((number, key.to_owned(), limit));
        self.store.most.fetch_max(begun.len(), Ordering::SeqCst);
        Ok(())
    }

    fn under_way(&self) -> usize {
        self.begun.lock().unwrap().len()
    }

    fn next(&self) -> Result<Option<(usize, Requested)>> {
        let Some((number, key, limit)) = self.begun.lock().unwrap().pop() else { return Ok(None) };
        // Others get their share of the work.
        std::thread::sleep(Duration::from_millis(1));
        let value = self.store.store.get(&key).and_then(|value| match value {
            Some(value) if value.len() as u64 > limit => Err(Error::new(Kind::Codec, "too long").at_key(&key)),
            value => Ok(value),
        });
        Ok(Some((number, value)))
    }
}

/// 64 chunks of a byte each, and what counts requests for them.
fn tiny(remote: bool, ahead: bool) -> (Arc<Distant>, Array) {
    let store = MemoryStore::new();
    store.set("a/zarr.json", &[b"{}"]).unwrap();
    let store = Arc::new(Distant { store, remote, ahead, now: AtomicUsize::new(0), most: AtomicUsize::new(0) });
    let elements = Elements { itemsize: 1, swap: Swap::None, boolean: false };
    let chain = Chain::new(vec![1], elements, vec![0], None, Serializer::Elements, vec![]).unwrap();
    let far = Arc::clone(&store) as Arc<dyn Store>;
    let array = Array::new(far, keys(usize::MAX), "a/zarr.json".into(), vec![64], Arc::new(chain)).unwrap();
    (store, array)
}

#[test]
fn chunks_of_a_store_that_is_far_away_are_worked_on_many_at_once() {
    for (remote, threads, requests) in [(true, 1, 8), (true, 2, 8), (false, 1, 0), (false, 8, 0)] {
        let (store, array) = tiny(remote, false);
        let options = Options { threads, requests, write_empty: false, interrupted: &never };
        let region = Region::whole(&[64], &c_strides(&[64], 1));
        let values: Vec<u8> = (1..=64).collect();
        // So few bytes are not worth waking a thread for where nothing waits.
        let most = requests.max(1);
        write(&array, &region, &Origin::of(&values), &options).unwrap();
        assert_eq!(store.most.swap(0, Ordering::SeqCst), most);
        let mut elements = vec![0; 64];
        read(&array, &region, &Target::of(&mut elements), &options).unwrap();
        assert_eq!((store.most.swap(0, Ordering::SeqCst), elements), (most, values));
        let places: Vec<i64> = (0..64).collect();
        let checked = check(&array, &places, Depth::Everything, &options).unwrap();
        assert_eq!((store.most.swap(0, Ordering::SeqCst), checked.objects), (most, 64));
        write(&array, &region, &Origin::of(&[0; 64]), &options).unwrap();
        assert_eq!(store.most.swap(0, Ordering::SeqCst), most);
    }
}

#[test]
fn whole_chunks_are_requested_ahead_and_read_in_the_order_of_their_answers() {
    let (store, array) = tiny(true, true);
    for key in 0..64u8 {
        // One in four is not stored.
        if key % 4 > 0 {
            store.store.set(&format!("a/c/{key}"), &[&[key]]).unwrap();
        }
    }
    for (threads, requests) in [(1, 8), (2, 8), (4, 3), (3, 200)] {
        let options = Options { threads, requests, write_empty: false, interrupted: &never };
        let mut elements = vec![99; 40];
        read(&array, &Region::whole(&[40], &c_strides(&[40], 1)), &Target::of(&mut elements), &options).unwrap();
        let values: Vec<u8> = (0..40).map(|key| if key % 4 > 0 { key } else { 0 }).collect();
        assert_eq!(elements, values);
        // Threads may begin one each when one more may be under way.
        let most = store.most.swap(0, Ordering::SeqCst);
        assert!(requests.min(40) <= most && most < requests + threads, "{most} of {requests}");
    }
    // A chunk that is too long ends the read, whatever is under way.
    store.store.set("a/c/9", &[&[1, 2]]).unwrap();
    let options = Options { threads: 2, requests: 8, write_empty: false, interrupted: &never };
    let mut elements = vec![0; 64];
    let whole = Region::whole(&[64], &c_strides(&[64], 1));
    let error = read(&array, &whole, &Target::of(&mut elements), &options).unwrap_err();
    assert_eq!(
        (error.kind, error.key.as_deref(), error.chunk.as_deref()),
        (Kind::Codec, Some("a/c/9"), Some(&[9][..]))
    );
}

#[test]
fn requests_are_as_many_as_may_be_and_their_chunks_fit_into_memory() {
    let far = Options { threads: 2, requests: 32, write_empty: false, interrupted: &never };
    assert_eq!(far.requesters_for(100, 1), 32);
    assert_eq!(far.requesters_for(100, REQUESTED_BYTES / 4), 4);
    assert_eq!(far.requesters_for(100, 8 * REQUESTED_BYTES), 2);
    // Shared out to what is done at once.
    for (at_once, requests, within) in [(1, 32, 32), (3, 10, 10), (32, 1, 1), (100, 1, 1)] {
        let inside = far.inside(100, at_once);
        assert_eq!((inside.requests, inside.requesters_for(50, 1)), (requests, within));
    }
    let near = Options { requests: 0, ..far };
    assert_eq!((near.requesters_for(100, 1), near.requesters_for(100, 1 << 20)), (1, 2));
    assert_eq!(near.inside(3, 3).requests, 0);
    let (_, array) = tiny(true, false);
    assert_eq!((array.requests(1), array.requests(50), tiny(false, false).1.requests(50)), (32, 50, 0));
}

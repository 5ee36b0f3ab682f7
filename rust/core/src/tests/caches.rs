//! Reading by way of a pool: how often something is decoded, asked and opened, and what is seen of changes.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::counting::{single, Kinds, Setting, Tells, COMMON, OPTIONS};
use crate::array::Array;
use crate::cache::pool::CachePool;
use crate::cache::Recheck;
use crate::error::Kind;
use crate::memory::{Origin, Target};
use crate::read::{read, read_asked};
use crate::read_element::element;
use crate::store::Store;
use crate::write::write;

#[test]
fn what_is_kept_is_neither_opened_nor_decoded_again() {
    for sharded in [false, true] {
        for lazy in [false, true] {
            let setting = Setting::new(Kinds { sharded, lazy, ..COMMON });
            let expected: Vec<u8> = (1..=16).collect();
            assert_eq!(setting.one([0, 1]), 2);
            let (opened, _, decoded) = setting.counts.take();
            assert_eq!((opened, decoded), (1, 1));
            assert_eq!(setting.one([1, 0]), 5);
            assert_eq!(setting.counts.take(), (0, 0, 0));
            assert_eq!(setting.all(), expected);
            let (opened, _, decoded) = setting.counts.take();
            assert_eq!((opened, decoded), (if sharded { 1 } else { 3 }, 3));
            assert_eq!(setting.all(), expected);
            assert_eq!(setting.counts.take(), (0, 0, 0));
            assert_eq!(element(&setting.array, &[3, 2], |bytes| bytes.to_vec()), Some(vec![15]));
        }
    }
}

#[test]
fn what_is_checked_each_time_is_asked_for_once_and_not_decoded() {
    for sharded in [false, true] {
        let setting = Setting::new(Kinds { sharded, recheck: Recheck::Always, ..COMMON });
        setting.all();
        setting.counts.take();
        setting.all();
        assert_eq!(setting.counts.take(), (0, if sharded { 1 } else { 4 }, 0));
        // Checked too long ago for this.
        assert_eq!(element(&setting.array, &[3, 2], |_| ()), None);
    }
}

/// What was stored when a read was asked for is new enough for it, however late the read is done; so several that were
/// asked for before the first is done need no look at the store.
#[test]
fn a_read_is_as_new_as_the_moment_it_was_asked_for() {
    for sharded in [false, true] {
        let setting = Setting::new(Kinds { sharded, recheck: Recheck::Always, ..COMMON });
        let one = |asked| {
            let mut element = [0];
            read_asked(&setting.array, &single([0, 1]), &Target::of(&mut element), &OPTIONS, Some(asked)).unwrap();
            element[0]
        };
        let before = setting.pool.now();
        assert_eq!(one(before), 2);
        setting.counts.take();
        setting.change_outside("a/c/0/0", |value| {
            value[1] = 77;
            let sum = ::crc32c::crc32c(&value[..4]).to_le_bytes();
            value[4..8].copy_from_slice(&sum);
        });
        assert_eq!((one(before), setting.counts.take()), (2, (0, 0, 0)));
        assert_eq!(one(setting.pool.now()), 77);
        // What this process changes is seen in any case.
        let asked = setting.pool.now();
        write(&setting.plain, &single([0, 1]), &Origin::of(&[50]), &OPTIONS).unwrap();
        assert_eq!(one(asked), 50);
    }
}

/// Row 124: a change by others is seen when the bound says that it must be; before that, only perhaps.
#[test]
fn changes_outside_are_seen_when_they_must_be() {
    for sharded in [false, true] {
        for lazy in [false, true] {
            let kinds = Kinds { sharded, lazy, ..COMMON };
            let crc = |value: &mut Vec<u8>| {
                // The first inner chunk, or the only one; its checksum behind it.
                value[0] = 77;
                let sum = ::crc32c::crc32c(&value[..4]).to_le_bytes();
                value[4..8].copy_from_slice(&sum);
            };
            let seen = |recheck: Recheck| {
                let setting = Setting::new(Kinds { recheck, ..kinds });
                assert_eq!(setting.one([0, 0]), 1);
                setting.change_outside("a/c/0/0", crc);
                setting.one([0, 0])
            };
            assert_eq!(seen(Recheck::Always), 77);
            assert_eq!(seen(Recheck::Never), 1);
            assert_eq!(seen(Recheck::Age(3_600_000_000_000)), 1);
            assert_eq!(seen(Recheck::Since(0)), 1);
            assert_eq!(seen(Recheck::Since(u64::MAX)), 77);
            let setting = Setting::new(Kinds { recheck: Recheck::Age(5_000_000), ..kinds });
            assert_eq!(setting.one([0, 0]), 1);
            setting.change_outside("a/c/0/0", crc);
            std::thread::sleep(Duration::from_millis(6));
            assert_eq!(setting.one([0, 0]), 77);
        }
    }
}

#[test]
fn a_value_that_goes_or_comes_is_seen() {
    for sharded in [false, true] {
        let setting = Setting::new(Kinds { sharded, recheck: Recheck::Always, ..COMMON });
        setting.all();
        let value = setting.memory.get("a/c/0/0").unwrap().unwrap();
        setting.memory.delete_silently("a/c/0/0");
        assert_eq!(setting.one([0, 0]), 0);
        setting.counts.take();
        assert_eq!(setting.one([0, 0]), 0);
        // That there is nothing is kept, too.
        assert_eq!(setting.counts.take(), (0, 1, 0));
        setting.memory.set_silently("a/c/0/0", &value);
        assert_eq!(setting.one([0, 0]), 1);
    }
}

#[test]
fn writes_of_this_process_are_seen_at_once_whatever_is_asked_for() {
    for sharded in [false, true] {
        let setting = Setting::new(Kinds { sharded, ..COMMON });
        setting.all();
        for (number, array) in [&setting.array, &setting.plain].into_iter().enumerate() {
            let value = 50 + number as u8;
            write(array, &single([0, 1]), &Origin::of(&[value]), &OPTIONS).unwrap();
            assert_eq!(element(&setting.array, &[0, 1], |_| ()), None);
            assert_eq!(setting.one([0, 1]), value);
            assert_eq!(element(&setting.array, &[0, 1], |bytes| bytes[0]), Some(value));
        }
        crate::store::ListableStore::delete_prefix(setting.memory.as_ref(), "a/c").unwrap();
        assert_eq!(setting.all(), [0; 16]);
    }
}

/// Row 124: what is merged into is read from the store, however stale the cache may be.
#[test]
fn partial_writes_never_build_on_what_is_kept() {
    for sharded in [false, true] {
        let setting = Setting::new(Kinds { sharded, ..COMMON });
        setting.all();
        setting.change_outside("a/c/0/0", |value| {
            value[0] = 77;
            let sum = ::crc32c::crc32c(&value[..4]).to_le_bytes();
            value[4..8].copy_from_slice(&sum);
        });
        assert_eq!(setting.one([0, 0]), 1);
        write(&setting.array, &single([0, 1]), &Origin::of(&[99]), &OPTIONS).unwrap();
        assert_eq!((setting.one([0, 0]), setting.one([0, 1])), (77, 99));
    }
}

#[test]
fn a_version_that_is_not_settled_is_read_again() {
    let setting = Setting::new(Kinds { tells: Tells::Unsettled, recheck: Recheck::Always, ..COMMON });
    setting.all();
    setting.counts.take();
    setting.all();
    let (opened, _, decoded) = setting.counts.take();
    assert_eq!((opened, decoded), (4, 4));
    assert_eq!(setting.pool.hasty(), 8);
    let settled = Setting::new(COMMON);
    settled.all();
    assert_eq!(settled.pool.hasty(), 0);
}

#[test]
fn without_versions_nothing_is_kept_for_who_checks_each_time() {
    let setting = Setting::new(Kinds { tells: Tells::Nothing, recheck: Recheck::Always, ..COMMON });
    assert!(setting.array.cache.is_none());
    for (lazy, sharded) in [(false, false), (true, false), (true, true)] {
        let setting = Setting::new(Kinds { tells: Tells::Nothing, lazy, sharded, ..COMMON });
        setting.all();
        setting.counts.take();
        assert_eq!(setting.all(), (1..=16).collect::<Vec<u8>>());
        assert_eq!(setting.counts.take(), (0, 0, 0));
    }
}

/// A shard that was replaced between its index and an inner chunk: all is read of the new one.
#[test]
fn inner_chunks_are_of_the_version_of_the_index() {
    for (lazy, tells) in [(false, Tells::Settled), (true, Tells::Settled), (true, Tells::Nothing)] {
        let setting = Setting::new(Kinds { sharded: true, lazy, tells, ..COMMON });
        assert_eq!(setting.one([0, 0]), 1);
        let other = Setting::new(Kinds { sharded: true, ..COMMON });
        write(&other.plain, &super::counting::whole(), &Origin::of(&[5; 16]), &OPTIONS).unwrap();
        setting.memory.set_silently("a/c/0/0", &other.memory.get("a/c/0/0").unwrap().unwrap());
        let elements = setting.all();
        if tells == Tells::Nothing {
            // Of a shard with the very same index nobody can tell.
            assert_eq!(elements[..6], [1, 2, 5, 5, 5, 6]);
        } else {
            assert_eq!(elements, [5; 16]);
        }
        // One that is laid out otherwise is seen in any case.
        write(&other.plain, &single([0, 0]), &Origin::of(&[0]), &OPTIONS).unwrap();
        write(&other.plain, &single([0, 1]), &Origin::of(&[0]), &OPTIONS).unwrap();
        write(&other.plain, &single([1, 0]), &Origin::of(&[0]), &OPTIONS).unwrap();
        write(&other.plain, &single([1, 1]), &Origin::of(&[0]), &OPTIONS).unwrap();
        let setting = Setting::new(Kinds { sharded: true, lazy, tells, ..COMMON });
        assert_eq!(setting.one([0, 0]), 1);
        setting.memory.set_silently("a/c/0/0", &other.memory.get("a/c/0/0").unwrap().unwrap());
        assert_eq!((setting.one([3, 3]), setting.one([0, 0])), (5, 0));
    }
}

#[test]
fn of_several_who_miss_the_same_one_decodes() {
    for (sharded, recheck) in [(false, Recheck::Never), (true, Recheck::Never), (false, Recheck::Always)] {
        let setting = Setting::new(Kinds { sharded, recheck, slow: 30, ..COMMON });
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    assert_eq!(setting.one([0, 1]), 2);
                });
            }
        });
        assert_eq!(setting.counts.take().2, 1);
        assert_eq!(setting.pool.info().misses, if sharded { 2 } else { 1 });
    }
}

/// Two who want the same inner chunks in another order, each having claimed some of them, do not wait for each other.
#[test]
fn nobody_waits_for_who_waits_for_him() {
    for _ in 0..20 {
        let setting = Setting::new(Kinds { sharded: true, slow: 1, ..COMMON });
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(setting.all(), (1..=16).collect::<Vec<u8>>()));
            }
        });
        assert_eq!(setting.counts.take().2, 4);
    }
}

#[test]
fn damage_is_an_error_each_time_and_is_not_kept() {
    for sharded in [false, true] {
        let setting = Setting::new(Kinds { sharded, recheck: Recheck::Always, ..COMMON });
        let good = setting.memory.get("a/c/0/0").unwrap().unwrap();
        setting.change_outside("a/c/0/0", |value| value[0] ^= 1);
        for _ in 0..2 {
            let error = read(&setting.array, &single([0, 0]), &Target::of(&mut [0]), &OPTIONS).unwrap_err();
            assert_eq!((error.kind, error.chunk.as_deref()), (Kind::Checksum, Some(&[0i64, 0][..])));
            assert_eq!(error.inner.as_deref(), sharded.then_some(&[0i64, 0][..]));
        }
        setting.memory.set_silently("a/c/0/0", &good);
        assert_eq!(setting.one([0, 0]), 1);
    }
}

#[test]
fn what_does_not_fit_is_read_without_the_pool() {
    for limit in [1, 400] {
        let setting = Setting::with(COMMON, Arc::new(CachePool::new(limit)));
        assert!(setting.array.cache.is_none());
        assert_eq!(setting.all(), (1..=16).collect::<Vec<u8>>());
    }
    // Only one entry at a time.
    let setting = Setting::with(COMMON, Arc::new(CachePool::new(900)));
    for _ in 0..2 {
        assert_eq!(setting.all(), (1..=16).collect::<Vec<u8>>());
        assert_eq!(setting.pool.info().entries, 1);
    }
    assert_eq!(setting.counts.take().2, 8);
}

/// Arrays of one place and chain share what they read; those of another store do not, whatever its chunks are called.
#[test]
fn handles_of_one_array_share() {
    let pool = Arc::new(CachePool::new(1 << 20));
    let one = Setting::with(COMMON, Arc::clone(&pool));
    let other = Setting::with(COMMON, Arc::clone(&pool));
    one.all();
    other.counts.take();
    other.all();
    assert_eq!(other.counts.take().2, 4);
    let again = Array::new(
        Arc::clone(&one.array.store),
        one.array.keys.clone(),
        "a/zarr.json".into(),
        vec![4, 4],
        Arc::clone(&one.array.chain),
    );
    let again = again.unwrap().cached(&pool, Recheck::Age(u64::MAX), 0);
    assert_eq!(element(&again, &[3, 3], |bytes| bytes[0]), Some(16));
    assert_eq!(pool.info().entries, 8);
}

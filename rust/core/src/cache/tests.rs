//! The pool by itself: what goes first, and that its limit is one.

use std::sync::Arc;

use super::pool::{CachePool, Claim};
use super::{Content, Id, Object};
use crate::interrupt::never;
use crate::tests::random::Random;

fn object(length: usize) -> Object {
    Object { content: Content::Elements(vec![1; length]), version: None, pinned: None, number: length as u64 }
}

/// Any history leaves what a plain list of all uses would leave, and counts it to the byte.
#[test]
fn what_was_not_used_for_longest_goes_first() {
    for seed in 0..if cfg!(miri) { 3 } else { 60 } {
        let mut random = Random::new(seed);
        let limit = random.range(1000, 30_000);
        let pool = CachePool::new(limit);
        // Numbers and lengths, the last used last.
        let mut model: Vec<(Id, usize)> = Vec::new();
        let cost = |length: usize| object(length).cost(None);
        for _ in 0..random.range(1, 400) {
            let id = pool.id([random.range(0, 40) as u64].into_iter());
            let known = model.iter().position(|&(other, _)| other == id);
            if random.chance(3) {
                let length = random.range(0, 3000);
                pool.keep(id, object(length), pool.now(), None);
                let mut used: usize = model.iter().map(|&(_, length)| cost(length)).sum();
                if cost(length) > limit {
                    model.retain(|&(other, _)| other != id);
                    continue;
                }
                // Room is made before the one that it replaces goes.
                while used + cost(length) > limit {
                    used -= cost(model.remove(0).1);
                }
                model.retain(|&(other, _)| other != id);
                model.push((id, length));
            } else {
                let number = pool.get(id, 0).map(|(object, _)| object.number as usize);
                assert_eq!(number, known.map(|position| model[position].1), "seed {seed}");
                if let Some(position) = known {
                    let used = model.remove(position);
                    model.push(used);
                }
            }
            let info = pool.info();
            assert_eq!(info.entries, model.len(), "seed {seed}");
            assert_eq!(info.used, model.iter().map(|&(_, length)| cost(length)).sum::<usize>(), "seed {seed}");
            assert!(info.used <= limit);
        }
        pool.clear();
        assert_eq!((pool.info().used, pool.info().entries), (0, 0));
    }
}

#[test]
fn the_limit_holds_whatever_threads_do() {
    let pool = CachePool::new(20_000);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let pool = &pool;
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
                    let id = pool.id([random.range(0, 100) as u64].into_iter());
                    match random.range(0, 9) {
                        0 => pool.clear(),
                        1..=4 => drop(pool.keep(id, object(random.range(0, 2000)), pool.now(), None)),
                        _ => drop(pool.get(id, 0)),
                    }
                    assert!(pool.info().used <= pool.limit());
                }
            });
        }
    });
    let before = pool.info();
    assert!(before.used >= before.entries * object(0).cost(None));
    pool.clear();
    assert_eq!(pool.info().used, 0, "what was counted and what was there are the same");
}

#[test]
fn what_was_kept_as_many_small_entries_is_given_back() {
    let pool = CachePool::new(1 << 30);
    let ids: Vec<Id> = (0..20_000u64).map(|number| pool.id([number].into_iter())).collect();
    for &id in &ids {
        pool.keep(id, object(1), 1, None);
    }
    assert_eq!(pool.info().entries, 20_000);
    let large = CachePool::new(3 << 20);
    for &id in &ids {
        large.keep(id, object(1), 1, None);
    }
    large.keep(1, object(2 << 20), 1, None);
    let left = large.info();
    assert!(left.used <= 3 << 20 && left.entries < 4000);
    // Those that are left are those that came last, and can still be found.
    let kept = ids.iter().rev().take(left.entries - 1).filter(|&&id| large.get(id, 0).is_some()).count();
    assert_eq!(kept, left.entries - 1);
}

#[test]
fn entries_are_fresh_from_the_moment_of_their_check_on() {
    let pool = CachePool::new(10_000);
    let kept = pool.keep(7, object(3), 50, None);
    let fresh = |since| pool.get(7, since).map(|(_, fresh)| fresh);
    assert_eq!((fresh(0), fresh(50), fresh(51)), (Some(true), Some(true), Some(false)));
    pool.confirm(7, &kept, 60, None);
    assert_eq!((fresh(60), fresh(61)), (Some(true), Some(false)));
    // Not by who has looked before.
    pool.confirm(7, &kept, 55, None);
    assert_eq!(fresh(60), Some(true));
    // Nor what was there before it was replaced.
    pool.keep(7, object(4), 70, None);
    pool.confirm(7, &kept, 99, None);
    assert_eq!((fresh(70), fresh(71)), (Some(true), Some(false)));
}

#[test]
fn one_claims_and_others_wait_until_he_has_done() {
    let pool = Arc::new(CachePool::new(10_000));
    let Claim::Mine(landing) = pool.claim(7) else { panic!("nobody else") };
    let Claim::Theirs(flight) = pool.claim(7) else { panic!("somebody else") };
    assert!(matches!(pool.claim(8), Claim::Mine(_)));
    let waiting = std::thread::spawn(move || flight.wait(&never).map_err(|error| error.reason));
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert!(!waiting.is_finished());
    drop(landing);
    assert_eq!(waiting.join().expect("no panic"), Ok(()));
    assert!(matches!(pool.claim(7), Claim::Mine(_)));
}

#[test]
fn moments_of_the_clock_are_moments_of_the_pool() {
    let pool = CachePool::new(1);
    let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after").as_secs_f64();
    let moment = pool.moment(clock() + 5.0);
    assert!((4_900_000_000..5_100_000_000).contains(&(moment - pool.now())));
    assert_eq!(pool.moment(clock() - 100.0), 0);
    assert_eq!(pool.moment(f64::INFINITY), u64::MAX);
    assert_eq!(pool.moment(0.0), 0);
    assert!(pool.now() > 0);
}

//! Schedules of threads that exclude each other, tried out by Shuttle: `make model`.
//!
//! A wait never ends by itself there, so whoever is not woken waits for ever, which Shuttle reports as a deadlock.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::Arc;

use shuttle::rand::{thread_rng, Rng};
use shuttle::thread;

use super::{Document, Exclusion, Held, Scope};
use crate::error::{Error, Kind, Result};
use crate::interrupt::never;

const ARRAY: Document = (1, 1);
const PARTS: usize = 3;

/// Who is where, kept without anything that Shuttle schedules: what is between two steps of it happens at once.
#[derive(Default)]
struct Inside {
    parts: [AtomicU32; PARTS],
    whole: AtomicU32,
}

impl Inside {
    /// Enters, lets others run, and leaves; nobody may be in who must not be.
    fn visit(&self, scope: Scope, _held: &Held<'_>) {
        let mine = match scope {
            Scope::Part(part) => &self.parts[part as usize],
            Scope::Whole => &self.whole,
        };
        assert_eq!(mine.fetch_add(1, Ordering::Relaxed), 0, "two hold {scope:?}");
        for _ in 0..2 {
            let parts: u32 = self.parts.iter().map(|part| part.load(Ordering::Relaxed)).sum();
            let whole = self.whole.load(Ordering::Relaxed);
            assert!(whole == 0 || parts == 0, "{parts} parts are held beside the whole");
            thread::yield_now();
        }
        mine.fetch_sub(1, Ordering::Relaxed);
    }
}

fn any_scope() -> Scope {
    match thread_rng().gen_range(0..=PARTS as u64) {
        0 => Scope::Whole,
        part => Scope::Part(part - 1),
    }
}

/// Threads that take parts and the whole of one array; with `stops` some give up when they are asked.
fn history(threads: usize, times: usize, stops: bool) {
    let exclusion = Arc::new(Exclusion::default());
    let inside = Arc::new(Inside::default());
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let (exclusion, inside) = (exclusion.clone(), inside.clone());
            thread::spawn(move || {
                for _ in 0..times {
                    let (scope, patience) = (any_scope(), thread_rng().gen_range(0..4));
                    let asked = AtomicUsize::new(0);
                    let interrupt = || -> Result<()> {
                        match stops && asked.fetch_add(1, Ordering::Relaxed) >= patience {
                            true => Err(Error::new(Kind::Request, "stop")),
                            false => never(),
                        }
                    };
                    match exclusion.acquire(ARRAY, scope, &interrupt) {
                        Ok(held) => inside.visit(scope, &held),
                        Err(error) => assert!(stops, "{error:?}"),
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().expect("it ends");
    }
    assert!(exclusion.shards.iter().all(|shard| shard.lock().is_empty()), "somebody is still noted");
}

/// As many schedules as `BLIZZARR_SCHEDULES` says.
fn schedules() -> usize {
    std::env::var("BLIZZARR_SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

#[test]
fn holders_of_one_part_or_of_the_whole_never_meet_and_all_are_woken() {
    shuttle::check_random(|| history(3, 3, false), schedules());
}

#[test]
fn with_few_changes_of_thread_at_the_worst_moments() {
    shuttle::check_pct(|| history(4, 2, false), schedules(), 3);
}

#[test]
fn who_gives_up_waiting_leaves_nothing_behind() {
    shuttle::check_random(|| history(3, 3, true), schedules());
    shuttle::check_pct(|| history(4, 2, true), schedules(), 3);
}

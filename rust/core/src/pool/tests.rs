use super::*;
use std::collections::HashSet;
use std::sync::atomic::AtomicU64;

const MANY: usize = if cfg!(miri) { 20 } else { 2_000 };

#[test]
fn every_index_is_visited_once_whatever_the_number_of_threads() {
    for threads in [0, 1, 2, 3, 8] {
        for count in [0, 1, 2, 7, 100] {
            let visits: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            run(threads, count, &never, |index, _| {
                visits[index].fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .expect("no failure");
            assert!(
                visits.iter().all(|visits| visits.load(Ordering::Relaxed) == 1),
                "{threads} threads, {count} indices"
            );
        }
    }
}

#[test]
fn seats_are_below_threads_and_never_shared() {
    for _ in 0..MANY / 20 {
        let seats: [AtomicBool; 4] = std::array::from_fn(|_| AtomicBool::new(false));
        run(4, 50, &never, |_, seat| {
            assert!(!seats[seat].swap(true, Ordering::Acquire), "seat {seat} is taken twice");
            thread::yield_now();
            seats[seat].store(false, Ordering::Release);
            Ok(())
        })
        .expect("no failure");
    }
}

/// One thread has waited for a disk: the others then come, although only two were asked for.
#[test]
#[cfg_attr(miri, ignore = "takes many threads")]
fn a_loop_that_waits_for_a_disk_has_more_threads() {
    let (inside, most_inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
    run_waiting(2, 6, 1000, &never, |_, seat| {
        assert!(seat < 6, "seat {seat} of 6");
        let work = INNERMOST.with_borrow(Option::clone).expect("this loop");
        if work.seats.load(Ordering::Relaxed) < 6 {
            POOL.get().widen(&work);
        }
        most_inside.fetch_max(inside.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let begun = Instant::now();
        while most_inside.load(Ordering::Relaxed) < 6 && begun.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        inside.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    })
    .expect("no failure");
    assert_eq!(most_inside.load(Ordering::Relaxed), 6);
}

#[test]
#[cfg_attr(miri, ignore = "takes many threads")]
fn whoever_fell_asleep_last_is_woken_first() {
    let pool: &'static Pool = Box::leak(Box::default());
    pool.grow(9);
    let all_sleep = || {
        while pool.state().sleepers.len() < 8 {
            thread::yield_now();
        }
    };
    let helpers = Mutex::new(HashSet::new());
    for _ in 0..20 {
        all_sleep();
        let both = std::sync::Barrier::new(2);
        let body = |_, seat| {
            both.wait();
            if seat > 0 {
                helpers.lock().expect("no panic").insert(thread::current().id());
            }
            Ok(())
        };
        let work = Arc::new(Loop::new(&body, 2, 2, 2));
        pool.list(&work, 2);
        taking_part(&work, 0, &never);
        pool.unlist(&work);
        work.wait_for_helpers(SPIN, &never);
    }
    assert_eq!(helpers.into_inner().expect("no panic").len(), 1);
}

#[test]
fn bodies_may_borrow_and_are_not_used_after_the_loop() {
    for round in 0..MANY {
        let sum = AtomicU64::new(0);
        let local: Vec<u64> = (0..8).map(|index| index + round as u64).collect();
        run(4, local.len(), &never, |index, _| {
            sum.fetch_add(local[index], Ordering::Relaxed);
            Ok(())
        })
        .expect("no failure");
        assert_eq!(sum.load(Ordering::Relaxed), local.iter().sum());
    }
}

#[test]
fn the_first_failure_wins_and_stops_the_loop() {
    let begun = AtomicUsize::new(0);
    let error = run(3, 1_000_000, &never, |index, _| {
        begun.fetch_add(1, Ordering::Relaxed);
        match index {
            5 => Err(Error::new(Kind::Store, "index 5")),
            _ => Ok(()),
        }
    })
    .expect_err("index 5 fails");
    assert_eq!((error.kind, error.reason.as_str()), (Kind::Store, "index 5"));
    assert!(begun.load(Ordering::Relaxed) < 1_000_000);
}

#[test]
fn a_caller_that_waits_for_helpers_can_be_interrupted() {
    let stopped = AtomicBool::new(false);
    let helping = AtomicBool::new(false);
    let begun = Instant::now();
    let interrupt = || {
        if helping.load(Ordering::Relaxed) && begun.elapsed() > TICK {
            stopped.store(true, Ordering::Relaxed);
            return Err(Error::new(Kind::Request, "stop"));
        }
        Ok(())
    };
    // The helper has something that takes until it is told to stop, as if it waited for a lock.
    let error = run(2, 2, &interrupt, |_, seat| {
        while seat == 1 && !stopped.load(Ordering::Relaxed) {
            helping.store(true, Ordering::Relaxed);
            thread::yield_now();
        }
        while seat == 0 && !helping.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        Ok(())
    });
    assert_eq!(error.expect_err("interrupted").reason, "stop");
}

#[test]
fn a_panic_becomes_an_error_and_the_pool_lives_on() {
    for threads in [1, 3] {
        let error = run(threads, 10, &never, |index, _| if index == 3 { panic!("at {index}") } else { Ok(()) })
            .expect_err("panic");
        assert_eq!(error.kind, Kind::Internal);
        assert_eq!(error.reason, "at 3");
        assert!(error.location().expect("a place").contains("tests.rs:"));
        run(threads, 10, &never, |_, _| Ok(())).expect("the pool still works");
    }
}

#[test]
fn loops_nest_and_failures_come_out_of_the_inner_one() {
    let visits = AtomicUsize::new(0);
    run(4, 6, &never, |_, _| {
        run(4, 6, &never, |_, _| {
            run(2, 3, &never, |_, _| {
                visits.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
        })
    })
    .expect("no failure");
    assert_eq!(visits.load(Ordering::Relaxed), 6 * 6 * 3);
    let error = run(4, 4, &never, |_, _| {
        run(4, 4, &never, |index, _| if index == 2 { Err(Error::new(Kind::Limit, "inner")) } else { Ok(()) })
    });
    assert_eq!(error.expect_err("inner").reason, "inner");
}

#[test]
fn many_callers_at_once() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..MANY / 10 {
                    let visits = AtomicUsize::new(0);
                    run(3, 9, &never, |_, _| {
                        visits.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    })
                    .expect("no failure");
                    assert_eq!(visits.load(Ordering::Relaxed), 9);
                }
            });
        }
    });
}

#[test]
fn helpers_have_names_and_idle_ones_are_woken() {
    // Both indices wait for each other: this ends only if a worker takes one of them.
    for pause in [0, 1, 5] {
        thread::sleep(Duration::from_millis(pause));
        let names = Mutex::new(HashSet::new());
        let barrier = std::sync::Barrier::new(2);
        run(2, 2, &never, |_, seat| {
            barrier.wait();
            let name = thread::current().name().unwrap_or_default().to_owned();
            names.lock().expect("names").insert((seat, name.starts_with("blizzarr-")));
            Ok(())
        })
        .expect("no failure");
        assert_eq!(*names.lock().expect("names"), HashSet::from([(0, false), (1, true)]));
    }
}

#[test]
fn the_number_of_threads_can_be_set_and_reset() {
    // The only test that sets it; the others say how many threads they want, or do not care.
    set_threads(3);
    assert_eq!(threads(), 3);
    set_threads(0);
    assert_eq!(threads(), thread::available_parallelism().expect("known").get());
}

#[test]
#[cfg(all(unix, not(miri)))]
fn fault_108_a_forked_child_has_a_working_pool() {
    let parallel = || {
        let barrier = std::sync::Barrier::new(2);
        run(2, 2, &never, |_, _| {
            barrier.wait();
            Ok(())
        })
        .is_ok()
    };
    assert!(parallel());
    for _ in 0..20 {
        // SAFETY: the child only uses the pool (whose state is made anew) and leaves by `_exit`; glibc's allocator may be
        // used in a child of a threaded process.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: ends the child without running the parent's exit handlers. The alarm ends it if it hangs.
            unsafe {
                libc::alarm(10);
                libc::_exit(if parallel() { 0 } else { 1 });
            }
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child failed or hung");
    }
    assert!(parallel());
}

#[test]
#[ignore = "prints figures; run with --release -- --ignored --nocapture"]
fn figures() {
    let time = |label: &str, rounds: u32, body: &dyn Fn()| {
        body();
        let start = Instant::now();
        (0..rounds).for_each(|_| body());
        println!("{label}: {:.2} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    };
    let empty = |threads, count| move || run(threads, count, &never, |_, _| Ok(())).expect("no failure");
    time("empty loop, alone", 100_000, &empty(1, 2));
    time("empty loop, 2 threads, 2 indices, back to back", 100_000, &empty(2, 2));
    time("empty loop, 2 threads, 1000 indices", 10_000, &empty(2, 1000));
    time("empty loop, 2 threads, after 1 ms of sleep (1 ms included)", 500, &|| {
        thread::sleep(Duration::from_millis(1));
        empty(2, 2)();
    });
    time("sleep of 1 ms alone", 500, &|| thread::sleep(Duration::from_millis(1)));
    let spin = |_: usize, _: usize| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(20) {
            std::hint::spin_loop();
        }
        Ok(())
    };
    time("64 bodies of 20 us, alone", 200, &|| run(1, 64, &never, spin).expect("no failure"));
    time("64 bodies of 20 us, 2 threads", 200, &|| run(2, 64, &never, spin).expect("no failure"));
}

/// A body that waits for something else than the pool learns that a loop has failed, also one around its own.
#[test]
fn bodies_learn_that_they_are_given_up() {
    for kind in [Kind::Store, Kind::Request] {
        assert!(!is_given_up(false));
        let inside = AtomicBool::new(false);
        let outcome = run(2, 2, &never, |index, _| {
            if index == 0 {
                while !inside.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                return Err(Error::new(kind, "over"));
            }
            run(2, 2, &never, |_, _| {
                inside.store(true, Ordering::Release);
                while !is_given_up(kind == Kind::Request) {
                    thread::yield_now();
                }
                assert!(kind == Kind::Request || !is_given_up(true));
                Ok(())
            })
        });
        assert_eq!(outcome.expect_err("one has failed").kind, kind);
        assert!(!is_given_up(false));
    }
}

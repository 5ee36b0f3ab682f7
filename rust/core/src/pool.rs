//! Parallel loops on threads that stay.
//!
//! [`run`] calls a body for every index below a count. The caller takes part; idle workers help. A loop may be started
//! from within a body: its caller works on it, so it ends even when no worker is idle, and workers that are help with the
//! newest loop first. While it waits for the last helpers a caller takes up nothing else, so whatever it holds (a chunk's
//! lock) cannot meet itself.
//!
//! # How a loop runs
//!
//! 1. The caller lists its loop, wakes one worker and begins to work. Indices are drawn from a counter, one by one.
//! 2. A worker joins a listed loop that has a free seat and indices left; under the pool's mutex it takes the seat and
//!    counts as *running*. If there is more to do it wakes the next worker, so that the caller does not pay for all.
//! 3. Who finds no more indices, or a failure, leaves; running falls by one.
//! 4. The caller, out of indices, unlists the loop (nobody joins any more) and waits until nobody is running.
//!
//! Workers start when they are first needed, spin for a moment when they run out of work, then sleep. A forked child has
//! none of them; it makes a pool of its own.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};
use crate::fork::{self, PerProcess};
use crate::interrupt::{self, ending, never, Interrupt, Patience, LAST_PATIENCE, TICK};
use crate::panics;
use crate::scratch;
use crate::store::durability::{self, Choice};

mod device;
mod limits;
#[cfg(test)]
mod tests;

pub use limits::{most_requests, requests, set_requests, set_threads, threads};

/// How long an idle thread looks for work before it sleeps: about what waking it would cost at least.
const SPIN: Duration = Duration::from_micros(if cfg!(miri) { 0 } else { 15 });
/// The same for one that has worked for long enough: what waking it often costs in a virtual machine.
const LONG_SPIN: Duration = Duration::from_micros(if cfg!(miri) { 0 } else { 50 });

static POOL: PerProcess<Pool> = PerProcess::new(Pool::default);

/// Makes sure that there are workers for as many requests as may be made at once. A loop sees to workers for its own seats
/// only, of which several loops within another one may have few each.
pub fn await_requests() {
    if !ending() {
        POOL.get().grow(requests());
    }
}

/// Calls `body(index, seat)` for every index below `count`, on at most `threads` threads (0: [`threads`]).
///
/// Each thread keeps one seat below `threads` for the whole loop, and no two threads share one; the caller's is 0. The
/// first failure ends the loop, leaving out indices that nobody has begun; a panic counts as a failure, and so does an
/// error of `interrupt`, which the caller asks before each index, and while it waits for the last helpers.
pub fn run<F>(threads: usize, count: usize, interrupt: Interrupt<'_>, body: F) -> Result<()>
where
    F: Fn(usize, usize) -> Result<()> + Sync,
{
    run_waiting(threads, 0, count, interrupt, body)
}

/// The same, but on up to `most` threads, each with a seat, once one of them has waited for a disk: the others give the disk
/// more to do meanwhile.
pub fn run_waiting<F>(threads: usize, most: usize, count: usize, interrupt: Interrupt<'_>, body: F) -> Result<()>
where
    F: Fn(usize, usize) -> Result<()> + Sync,
{
    let seats = if threads == 0 { self::threads() } else { threads }.min(count);
    if seats <= 1 || ending() {
        let alone = || {
            (0..count).try_for_each(|index| {
                // Not for a few: it would be a part of what they take.
                if index % LONGEST_BLOCK == LONGEST_BLOCK - 1 {
                    scratch::spare()?;
                }
                interrupt()?;
                body(index, 0)
            })
        };
        return numbered(|| panics::catch(alone)).unwrap_or_else(Err);
    }

    let pool = POOL.get();
    let begun = Instant::now();
    let work = Arc::new(Loop::new(&body, count, seats, most.min(count)));
    pool.list(&work, seats);
    // From here to `leave` nothing may return or unwind; `take_part` catches what the body does.
    taking_part(&work, 0, interrupt);
    pool.unlist(&work);
    work.wait_for_helpers(spin_after(begun), interrupt);
    if work.noted.load(Ordering::Relaxed) {
        durability::set_noted(true);
    }

    let failure = work.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    failure.map_or(Ok(()), Err)
}

thread_local! {
    /// The loop that this thread takes part in; a loop within a loop is the inner one.
    static INNERMOST: RefCell<Option<Arc<Loop>>> = const { RefCell::new(None) };
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// A number for the part that this thread takes in a loop, which no other part has; 0 outside of loops. What is remembered
/// from index to index must not be used in the next loop, which may be another call.
pub fn number() -> u64 {
    NUMBER.get()
}

/// Gives what `act` does a number. It must not unwind.
fn numbered<T>(act: impl FnOnce() -> T) -> T {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let outer = NUMBER.replace(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    let result = act();
    NUMBER.set(outer);
    result
}

/// Whether what this thread does is in vain: the loop that it takes part in, or one around that, has failed, or (with
/// `by_signal`) was ended by a signal. For bodies that wait for something else than the pool.
pub fn is_given_up(by_signal: bool) -> bool {
    let mut work = INNERMOST.with_borrow(Option::clone);
    while let Some(inner) = work {
        if if by_signal { &inner.interrupted } else { &inner.failed }.load(Ordering::Relaxed) {
            return true;
        }
        work = inner.outer.clone();
    }
    false
}

fn taking_part(work: &Arc<Loop>, seat: usize, interrupt: Interrupt<'_>) {
    let outer = INNERMOST.replace(Some(Arc::clone(work)));
    // It catches panics.
    numbered(|| work.take_part(seat, interrupt));
    INNERMOST.set(outer);
}

/// What bodies may need (the Python interpreter) is ending: workers finish what they have begun and never begin again, since
/// they are strangers there, whom it does not wait for and must not meet. Waits for them, but not for ever.
pub fn end() {
    interrupt::end();
    let pool = POOL.get();
    // Who takes a seat from now on knows.
    drop(pool.state());
    let begun = Instant::now();
    let mut patience = Patience::new();
    while pool.helping.load(Ordering::Acquire) > 0 && begun.elapsed() < LAST_PATIENCE {
        patience.nap();
    }
}

/// A block of indices is a share of what is left, as if each thread were to come back this many times.
const SHARES: usize = 8;
const LONGEST_BLOCK: usize = 64;

/// One call of [`run`], shared with the workers that help.
struct Loop {
    /// Points to the caller's body, whose type only `call` knows.
    body: *const (),
    call: unsafe fn(*const (), usize, usize) -> Result<()>,
    count: usize,
    seats: AtomicUsize,
    /// As many seats as there are once a thread has waited for a disk.
    most: usize,
    next: AtomicUsize,
    /// Helpers that may be inside the body.
    running: AtomicUsize,
    failed: AtomicBool,
    /// A signal has ended it.
    interrupted: AtomicBool,
    failure: Mutex<Option<Error>>,
    /// The loop that the caller takes part in.
    outer: Option<Arc<Loop>>,
    caller: Thread,
    durability: Choice,
    /// A helper has noted a directory, for the caller.
    noted: AtomicBool,
    generation: u64,
}

// SAFETY: all fields but `body` are `Send` and `Sync` themselves. `body` points to an `F: Sync` (see `Loop::new`) and is
// used only as `&F`. That it points to a living `F` whenever it is used:
// - `take_part`, the only user, is called by the caller inside `run`, while `run` borrows the body, and by workers between
//   `join`, which adds to `running`, and `leave`, which takes that away again as their last step.
// - `join` happens under the pool's mutex and only for listed loops. `run` unlists the loop under the same mutex before it
//   waits. So every join happens before the unlisting, none comes later, and `wait_for_helpers` sees all their additions.
// - `wait_for_helpers` returns when `running` is 0 (acquire, with the releases of `leave`): all uses happen before that.
//   In a forked child it returns at once, and there are no other threads that could use the body.
// - `run` neither returns nor unwinds between `list` and the end of `wait_for_helpers`: `take_part` catches panics, and
//   the other steps do not panic (locks ignore poisoning).
// What outlives `run` in a worker is the `Arc<Loop>` with a dangling `body`, which nobody uses: a raw pointer may dangle.
unsafe impl Send for Loop {}
// SAFETY: as above.
unsafe impl Sync for Loop {}

impl Loop {
    fn new<F>(body: &F, count: usize, seats: usize, most: usize) -> Self
    where
        F: Fn(usize, usize) -> Result<()> + Sync,
    {
        /// # Safety
        ///
        /// `body` must point to a living `F`.
        unsafe fn call<F: Fn(usize, usize) -> Result<()>>(body: *const (), index: usize, seat: usize) -> Result<()> {
            // SAFETY: the caller's promise.
            let body = unsafe { &*body.cast::<F>() };
            body(index, seat)
        }
        Loop {
            body: std::ptr::from_ref(body).cast(),
            call: call::<F>,
            count,
            seats: AtomicUsize::new(seats),
            most,
            next: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            failure: Mutex::new(None),
            outer: INNERMOST.with_borrow(Option::clone),
            caller: thread::current(),
            durability: durability::choice(),
            noted: AtomicBool::new(false),
            generation: fork::generation(),
        }
    }

    fn has_work(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.count && !self.failed.load(Ordering::Relaxed)
    }

    /// The next indices of one thread: many while many are left, single ones at the end, so that all finish together.
    ///
    /// Neighbouring indices are neighbouring chunks: in one directory, and in the same cache lines of the result. Two
    /// threads that took them in turn would wait for each other in both places.
    fn draw_block(&self) -> Option<Range<usize>> {
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            let left = self.count.checked_sub(first).filter(|&left| left > 0)?;
            let length = (left / (self.seats.load(Ordering::Relaxed) * SHARES)).clamp(1, LONGEST_BLOCK);
            match self.next.compare_exchange_weak(first, first + length, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(first..first + length),
                Err(now) => first = now,
            }
        }
    }

    /// Draws indices and calls the body until there are none left or somebody fails.
    fn take_part(&self, seat: usize, interrupt: Interrupt<'_>) {
        let may_widen = || self.seats.load(Ordering::Relaxed) < self.most;
        let draw = || {
            let before = if may_widen() { device::blocks_read() } else { 0 };
            // Helpers draw no more in the end; the caller does the rest.
            while let Some(block) = if seat > 0 && ending() { None } else { self.draw_block() } {
                scratch::spare()?;
                let first = block.start;
                for index in block {
                    if self.failed.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    interrupt()?;
                    // SAFETY: see `Send for Loop`: the body lives while somebody takes part.
                    unsafe { (self.call)(self.body, index, seat) }?;
                    // Once per block: a system call for each small chunk would count.
                    if index == first && may_widen() && device::blocks_read() != before {
                        POOL.get().widen(self);
                    }
                }
            }
            Ok(())
        };
        self.note(draw);
    }

    /// Does something of which the first failure is that of the whole loop.
    fn note(&self, act: impl FnOnce() -> Result<()>) {
        let outcome = panics::catch(act).unwrap_or_else(Err);
        if let Err(error) = outcome {
            if error.kind == Kind::Request {
                self.interrupted.store(true, Ordering::Relaxed);
            }
            if !self.failed.swap(true, Ordering::Relaxed) {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    }

    /// A helper's last step.
    fn leave(&self) {
        if self.running.fetch_sub(1, Ordering::Release) == 1 {
            self.caller.unpark();
        }
    }

    /// Helpers may be waiting themselves, for a lock that another process holds: so a signal is looked for meanwhile.
    fn wait_for_helpers(&self, spin: Duration, interrupt: Interrupt<'_>) {
        let done = || self.running.load(Ordering::Acquire) == 0 || self.generation != fork::generation();
        if spin_until(spin, done) {
            return;
        }
        while !done() {
            thread::park_timeout(TICK);
            if !done() && !self.failed.load(Ordering::Relaxed) {
                self.note(interrupt);
            }
        }
    }
}

/// How long to spin after work that began then: not more than an eighth of what it took, beyond what every thread may.
fn spin_after(begun: Instant) -> Duration {
    (begun.elapsed() / 8).clamp(SPIN, LONG_SPIN)
}

/// Whether `done` came true within this time.
fn spin_until(spin: Duration, done: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..8 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() >= spin {
            return false;
        }
    }
}

/// The workers of one process and the loops they may join.
#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    /// Changes whenever a loop is listed: what a spinning worker looks at.
    listings: AtomicUsize,
    spinning: AtomicUsize,
    /// Workers that have a seat.
    helping: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// The newest last.
    loops: Vec<Listed>,
    workers: usize,
    /// The workers that sleep. Who fell asleep last is woken first, because its buffers have their memory already.
    sleepers: Vec<Thread>,
}

impl State {
    /// Counts the workers that are missing for so many seats, which are then to be started.
    fn hire(&mut self, seats: usize) -> Range<usize> {
        let missing = self.workers + 1..seats;
        // Each must be able to sleep.
        if self.sleepers.try_reserve((self.workers + missing.len()).saturating_sub(self.sleepers.len())).is_err() {
            return 0..0;
        }
        self.workers += missing.len();
        missing
    }

    fn wake(&mut self) {
        self.sleepers.pop().iter().for_each(Thread::unpark);
    }
}

struct Listed {
    work: Arc<Loop>,
    seats: usize,
    taken: usize,
}

impl Listed {
    fn wants_help(&self) -> bool {
        self.taken < self.seats && self.work.has_work()
    }
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offers the loop to workers, after making sure that there are as many as it has seats for.
    fn list(&'static self, work: &Arc<Loop>, seats: usize) {
        let mut state = self.state();
        state.loops.push(Listed { work: Arc::clone(work), seats, taken: 1 });
        self.listings.fetch_add(1, Ordering::Release);
        // A spinning worker needs no waking, and will wake others. One that stops spinning looks at the list again
        // under the mutex before it sleeps, so it cannot miss this loop.
        if self.spinning.load(Ordering::Relaxed) == 0 {
            state.wake();
        }
        let missing = state.hire(seats);
        drop(state);
        self.start(missing);
    }

    /// Gives a listed loop all the seats that it may have.
    fn widen(&'static self, work: &Loop) {
        let mut state = self.state();
        let Some(listed) = state.loops.iter_mut().rfind(|listed| std::ptr::eq(&*listed.work, work)) else { return };
        listed.seats = work.most;
        work.seats.store(work.most, Ordering::Relaxed);
        let missing = state.hire(work.most);
        state.wake();
        drop(state);
        self.start(missing);
    }

    /// Makes sure that there are workers for so many seats, that of a caller apart.
    fn grow(&'static self, seats: usize) {
        let missing = self.state().hire(seats);
        self.start(missing);
    }

    fn start(&'static self, workers: Range<usize>) {
        for number in workers {
            let builder = thread::Builder::new().name(format!("blizzarr-{number}"));
            if builder.spawn(move || self.serve()).is_err() {
                // Out of threads: slower, not wrong. The next loop tries again.
                self.state().workers -= 1;
            }
        }
    }

    fn unlist(&self, work: &Arc<Loop>) {
        self.state().loops.retain(|listed| !Arc::ptr_eq(&listed.work, work));
    }

    /// What a worker does all its life.
    fn serve(&self) {
        let mut joined = self.join(&mut self.state());
        let mut spin = SPIN;
        loop {
            let (work, seat) = joined.unwrap_or_else(|| self.wait_for_work(spin));
            let begun = Instant::now();
            let mine = durability::choose(work.durability);
            taking_part(&work, seat, &never);
            durability::choose(mine);
            if durability::set_noted(false) {
                work.noted.store(true, Ordering::Relaxed);
            }
            work.leave();
            drop(work);
            self.helping.fetch_sub(1, Ordering::Release);
            // More than there are processors have waited for requests or a disk: they would keep others from working.
            spin = if seat < threads() { spin_after(begun) } else { Duration::ZERO };
            joined = self.join(&mut self.state());
        }
    }

    fn wait_for_work(&self, spin: Duration) -> (Arc<Loop>, usize) {
        let listings = self.listings.load(Ordering::Acquire);
        // One is enough, who wakes the others.
        let is_first = self.spinning.fetch_add(1, Ordering::Relaxed) == 0;
        spin_until(if is_first { spin } else { spin.min(SPIN) }, || self.listings.load(Ordering::Acquire) != listings);
        self.spinning.fetch_sub(1, Ordering::Relaxed);
        let mut state = self.state();
        loop {
            if let Some(joined) = self.join(&mut state) {
                return joined;
            }
            let (me, place) = (thread::current(), state.sleepers.len());
            state.sleepers.push(me.clone());
            // Whoever wakes it takes it out of the list.
            while state.sleepers.get(place).is_some_and(|sleeper| sleeper.id() == me.id()) {
                drop(state);
                thread::park();
                state = self.state();
            }
        }
    }

    /// Takes a seat in the newest loop that wants help.
    fn join(&self, state: &mut State) -> Option<(Arc<Loop>, usize)> {
        let listed = state.loops.iter_mut().rfind(|listed| listed.wants_help() && !ending())?;
        let seat = listed.taken;
        listed.taken += 1;
        let work = Arc::clone(&listed.work);
        // Both ordered by the mutex.
        work.running.fetch_add(1, Ordering::Relaxed);
        self.helping.fetch_add(1, Ordering::Relaxed);
        if state.loops.iter().any(Listed::wants_help) {
            state.wake();
        }
        Some((work, seat))
    }
}

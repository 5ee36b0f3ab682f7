//! What a forked child must forget: locks whose holders, and threads, that exist only in the parent.
//!
//! Only the forking thread lives on in a child. A mutex that another thread held stays locked for ever, worker threads
//! are gone, and file descriptors of operating-system locks are shared with the parent. So process-wide state lives in
//! a [`PerProcess`], which a child makes anew, and lock descriptors are registered here, to be closed in the child. What a
//! child is to find as it was, values in memory, is changed only between [`enter`] and the drop of what that answers: a fork
//! waits until nobody is inside.

#![allow(unsafe_code)]
// Only Linux has locks to register, and only Unix forks.
#![cfg_attr(not(any(target_os = "linux", target_os = "android")), allow(dead_code))]

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::interrupt::Patience;

static GENERATION: AtomicU64 = AtomicU64::new(0);
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// How many locks at once are closed in a forked child; more than that keep the lock alive as long as the child.
const SLOTS: usize = 256;
const FREE: i32 = -1;
static LOCK_DESCRIPTORS: [AtomicI32; SLOTS] = [const { AtomicI32::new(FREE) }; SLOTS];

/// Whether this is the process's first thread, or the one that has forked it: there Python handles signals, and it is the
/// last that Python lets go on.
pub fn is_first_thread() -> bool {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    // SAFETY: both only return numbers.
    return unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) };
    #[cfg(any(not(any(target_os = "linux", target_os = "android")), miri))]
    true
}

/// Counts the forks between the first process and this one; differs between a process and its forked children.
pub fn generation() -> u64 {
    // A `Once` would block for ever in a child forked while another thread was inside it.
    if !REGISTERED.load(Ordering::Relaxed) && !REGISTERED.swap(true, Ordering::Relaxed) {
        #[cfg(all(unix, not(miri)))]
        // SAFETY: the handlers are `extern "C"` functions that live as long as this library. The one in the child does only
        // what is allowed between fork and exec: atomic stores and `close`. Out of memory leaves them out, which `fork`
        // survives.
        unsafe {
            libc::pthread_atfork(Some(close_gate), Some(open_gate), Some(forget));
        }
    }
    GENERATION.load(Ordering::Acquire)
}

#[cfg(all(unix, not(miri)))]
extern "C" fn forget() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
    // Whoever else was about to fork, or looked whether somebody does, is not here.
    FORKING.store(0, Ordering::SeqCst);
    for crowd in &CROWDS {
        crowd.inside.store(0, Ordering::SeqCst);
    }
    for slot in &LOCK_DESCRIPTORS {
        let descriptor = slot.swap(FREE, Ordering::Relaxed);
        if descriptor != FREE {
            // SAFETY: a registered descriptor is open until `unregister`, and its owner, a guard that remembers an
            // older generation, never touches it in the child. Closing the child's copy leaves the parent's lock.
            unsafe {
                libc::close(descriptor);
            }
        }
    }
}

/// How many threads are about to fork.
static FORKING: AtomicUsize = AtomicUsize::new(0);
static CROWDS: [Crowd; 16] = [const { Crowd { inside: AtomicUsize::new(0) } }; 16];

/// How many of some threads are inside, on a cache line of their own.
#[repr(align(128))]
struct Crowd {
    inside: AtomicUsize,
}

/// Nobody forks until this is dropped.
pub struct Inside(&'static Crowd);

/// Waits while somebody forks. To be held for moments only, and never while waiting for anything else.
pub fn enter() -> Inside {
    thread_local! {
        static NUMBER: usize = {
            static NEXT: AtomicUsize = AtomicUsize::new(0);
            NEXT.fetch_add(1, Ordering::Relaxed)
        };
    }
    // A thread that is ending has no number any more.
    let crowd = &CROWDS[NUMBER.try_with(|number| *number).unwrap_or(0) % CROWDS.len()];
    generation(); // has the handlers registered
    loop {
        crowd.inside.fetch_add(1, Ordering::SeqCst);
        if FORKING.load(Ordering::SeqCst) == 0 {
            return Inside(crowd);
        }
        crowd.inside.fetch_sub(1, Ordering::SeqCst);
        wait_until(|| FORKING.load(Ordering::SeqCst) == 0);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Release);
    }
}

fn wait_until(done: impl Fn() -> bool) {
    let mut patience = Patience::new();
    while !done() {
        patience.nap();
    }
}

#[cfg(all(unix, not(miri)))]
extern "C" fn close_gate() {
    FORKING.fetch_add(1, Ordering::SeqCst);
    wait_until(|| CROWDS.iter().all(|crowd| crowd.inside.load(Ordering::SeqCst) == 0));
}

#[cfg(all(unix, not(miri)))]
extern "C" fn open_gate() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

/// Has `descriptor` closed in children forked from now on; `None` when too many are registered already.
pub fn register(descriptor: i32) -> Option<usize> {
    LOCK_DESCRIPTORS
        .iter()
        .position(|slot| slot.compare_exchange(FREE, descriptor, Ordering::Relaxed, Ordering::Relaxed).is_ok())
}

/// Takes back what [`register`] answered; to be called before the descriptor is closed.
pub fn unregister(slot: usize) {
    LOCK_DESCRIPTORS[slot].store(FREE, Ordering::Relaxed);
}

/// A value made at first use in each process; a forked child makes its own and leaves the parent's alone.
pub struct PerProcess<T: 'static> {
    current: AtomicPtr<Stamped<T>>,
    make: fn() -> T,
}

struct Stamped<T> {
    generation: u64,
    value: T,
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    pub const fn new(make: fn() -> T) -> Self {
        PerProcess { current: AtomicPtr::new(std::ptr::null_mut()), make }
    }

    pub fn get(&self) -> &'static T {
        let generation = generation();
        loop {
            let current = self.current.load(Ordering::Acquire);
            // SAFETY: every pointer stored here came from `Box::into_raw` and is never freed, so it is null or valid
            // for ever; it is only shared from here on, and `T` is `Sync`.
            if let Some(stamped) = unsafe { current.as_ref() } {
                if stamped.generation == generation {
                    return &stamped.value;
                }
            }
            let fresh = Box::into_raw(Box::new(Stamped { generation, value: (self.make)() }));
            match self.current.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: just made, now published, never freed.
                Ok(_) => return unsafe { &(*fresh).value },
                // SAFETY: another thread was first, so nobody else has seen this pointer.
                Err(_) => drop(unsafe { Box::from_raw(fresh) }),
            }
        }
    }
}

//! Tasks by number, taken by every thread in turn. The threads stay from call to call: only work is to be timed.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex, OnceLock};
use std::thread;

use crate::codec::Scratch;

/// What a thread is sent: a call, and where to say that it is done.
struct Call {
    work: &'static (dyn Fn() + Sync),
    done: mpsc::Sender<()>,
}

/// Run `task` for every index below `count` on `threads` threads, this one among them; return the index of a task that
/// failed, or -1.
pub fn run(count: usize, threads: usize, task: impl Fn(&mut Scratch, usize) -> bool + Sync) -> i64 {
    let next = AtomicUsize::new(0);
    let failed = AtomicI64::new(-1);
    let work = || {
        Scratch::with(|scratch| loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if !task(scratch, index) {
                failed.store(index as i64, Ordering::Relaxed);
                return;
            }
        });
    };
    on_threads(threads.min(count).saturating_sub(1), &work);
    failed.into_inner()
}

/// Call `work` here and on `others` more threads, and return when all have ended.
fn on_threads(others: usize, work: &(dyn Fn() + Sync)) {
    let (done, ends) = mpsc::channel();
    // SAFETY: the loop below waits for every thread, so that none uses the call after it is gone.
    let work: &'static (dyn Fn() + Sync) = unsafe { std::mem::transmute(work) };
    let sent = helpers(others).iter().filter(|helper| helper.send(Call { work, done: done.clone() }).is_ok()).count();
    work();
    for _ in 0..sent {
        let _ = ends.recv();
    }
}

/// Return the first `count` helpers, after starting those that are not there yet.
fn helpers(count: usize) -> Vec<mpsc::Sender<Call>> {
    static HELPERS: OnceLock<Mutex<Vec<mpsc::Sender<Call>>>> = OnceLock::new();
    let mut helpers = HELPERS.get_or_init(Mutex::default).lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while helpers.len() < count {
        let (sender, calls) = mpsc::channel::<Call>();
        thread::spawn(move || {
            for call in calls {
                (call.work)();
                let _ = call.done.send(());
            }
        });
        helpers.push(sender);
    }
    helpers[..count].to_vec()
}

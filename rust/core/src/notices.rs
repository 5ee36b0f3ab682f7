//! What people look for when something is slow: requests that were repeated, locks that were waited for. Notices are kept
//! until whoever has called the engine takes them, and writes them to a log. Where nothing happens, nothing is done.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::interrupt::Interrupt;

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Requests to servers that were repeated.
    Requests,
    /// Locks that were waited for.
    Locks,
    /// Values that others replaced while they were being replaced.
    Conflicts,
}

impl Topic {
    pub fn name(self) -> &'static str {
        match self {
            Topic::Requests => "requests",
            Topic::Locks => "locks",
            Topic::Conflicts => "conflicts",
        }
    }
}

/// Nobody may take them for long.
const MOST: usize = 1000;
/// Waiting for less is not worth a word.
const LONG: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 1 });

static KEPT: Mutex<VecDeque<(Topic, String)>> = Mutex::new(VecDeque::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Keeps a notice; the oldest go when there are too many. In a forked child whose parent was just doing so, there are none.
pub fn tell(topic: Topic, text: String) {
    if let Ok(mut kept) = KEPT.try_lock() {
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back((topic, text));
        COUNT.store(kept.len(), Ordering::Relaxed);
    }
}

/// Whether there is a notice.
pub fn any() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// Takes all notices.
pub fn take() -> VecDeque<(Topic, String)> {
    COUNT.store(0, Ordering::Relaxed);
    KEPT.try_lock().map_or_else(|_| VecDeque::new(), |mut kept| std::mem::take(&mut *kept))
}

/// Somebody who may have to wait for a lock, and says so once he has waited for long.
#[derive(Default)]
pub struct Waiting {
    since: OnceLock<Instant>,
    told: AtomicBool,
}

impl Waiting {
    /// Asks `interrupt`, as he does while he waits.
    pub fn ask(&self, lock: &dyn Fn() -> String, interrupt: Interrupt<'_>) -> Result<()> {
        let waited = self.since.get_or_init(Instant::now).elapsed();
        if waited >= LONG && !self.told.swap(true, Ordering::Relaxed) {
            tell(Topic::Locks, format!("waiting for {}, which another thread or process holds", lock()));
        }
        interrupt()
    }

    /// He has it.
    pub fn end(&self, lock: &dyn Fn() -> String) {
        if let (true, Some(since)) = (self.told.load(Ordering::Relaxed), self.since.get()) {
            tell(Topic::Locks, format!("took {} after {:.1} s", lock(), since.elapsed().as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::never;

    #[test]
    fn who_waits_says_so_once_and_when_it_is_over() {
        let (waiting, lock) = (Waiting::default(), || "the lock of a".to_owned());
        waiting.end(&lock);
        for _ in 0..3 {
            waiting.ask(&lock, &never).expect("no interrupt");
        }
        waiting.end(&lock);
        let mine: Vec<_> = take().into_iter().filter(|(_, text)| text.contains("the lock of a")).collect();
        assert_eq!(mine.len(), 2, "{mine:?}");
        assert_eq!(
            mine[0],
            (Topic::Locks, "waiting for the lock of a, which another thread or process holds".to_owned())
        );
        assert!(mine[1].1.starts_with("took the lock of a after 0.0 s"));
    }
}

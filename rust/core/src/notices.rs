//! What people look for when something is slow: requests that were repeated, locks that were waited for. Notices are kept
//! until the call of the engine that is next to end takes them, and writes them to a log.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::fork::PerProcess;
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

/// The most notices that are kept, if nobody takes them.
const MOST: usize = 1000;
/// The shortest time of waiting that is worth a notice.
const LONG: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 1 });

/// A forked child begins without notices: its parent writes those that it has.
static NOTICES: PerProcess<Notices> = PerProcess::new(Notices::default);

#[derive(Default)]
struct Notices {
    list: Mutex<VecDeque<(Topic, String)>>,
    /// The length of the list, without its lock.
    count: AtomicUsize,
}

impl Notices {
    fn change<R>(&self, work: impl FnOnce(&mut VecDeque<(Topic, String)>) -> R) -> R {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut list);
        self.count.store(list.len(), Ordering::Relaxed);
        result
    }
}

/// Adds a notice; the oldest one goes when there are too many.
pub fn add(topic: Topic, text: String) {
    NOTICES.get().change(|list| {
        if list.len() == MOST {
            list.pop_front();
        }
        list.push_back((topic, text));
    });
}

/// Whether there is a notice.
pub fn any() -> bool {
    NOTICES.get().count.load(Ordering::Relaxed) > 0
}

/// Takes all notices.
pub fn take() -> VecDeque<(Topic, String)> {
    NOTICES.get().change(std::mem::take)
}

/// One wait for a lock, of which there are notices once it has been long.
#[derive(Default)]
pub struct Waiting {
    since: OnceLock<Instant>,
    is_noted: AtomicBool,
}

impl Waiting {
    /// Asks `interrupt`; to be called now and then while the lock is waited for.
    pub fn ask(&self, lock: &dyn Fn() -> String, interrupt: Interrupt<'_>) -> Result<()> {
        let waited = self.since.get_or_init(Instant::now).elapsed();
        if waited >= LONG && !self.is_noted.swap(true, Ordering::Relaxed) {
            add(Topic::Locks, format!("waiting for {}, which another thread or process holds", lock()));
        }
        interrupt()
    }

    /// To be called when the lock was taken.
    pub fn end(&self, lock: &dyn Fn() -> String) {
        if let (true, Some(since)) = (self.is_noted.load(Ordering::Relaxed), self.since.get()) {
            add(Topic::Locks, format!("took {} after {:.1} s", lock(), since.elapsed().as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::never;

    #[test]
    fn a_long_wait_is_noted_once_and_when_it_is_over() {
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

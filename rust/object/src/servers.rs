//! What was learnt of servers, for all stores of this process on them: how many requests they answer well, and how
//! quickly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blizzarr_core::fork::PerProcess;

use crate::limiter::Limiter;

/// How many servers are remembered: those that were met last.
const KEPT: usize = 64;
/// Where there are many, ranges that are so many bytes apart are requested as one before anything is known of a server, and
/// the bounds of that.
const GAP: u64 = 256 << 10;
const GAPS: (u64, u64) = (64 << 10, 1 << 20);
/// Bodies from this length on tell how fast bytes come.
const TELLING: u64 = 64 << 10;

type Named = (String, Arc<Server>);

/// A forked child learns anew.
static SERVERS: PerProcess<Mutex<Vec<Named>>> = PerProcess::new(Mutex::default);

/// What was learnt of one server; of one bucket, where there are buckets.
pub struct Server {
    pub limiter: Limiter,
    pub pace: Pace,
}

impl Server {
    /// The server of this name, which is a new one if the name is.
    pub fn named(name: String) -> Arc<Server> {
        let mut servers = SERVERS.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = servers.iter().find(|(of, _)| *of == name) {
            return Arc::clone(found);
        }
        if servers.len() >= KEPT {
            servers.remove(0);
        }
        // Some servers that are meant for one machine have no room for many connections.
        let limiter = if name.starts_with("http://") { Limiter::careful() } else { Limiter::default() };
        servers.push((name, Arc::new(Server { limiter, pace: Pace::default() })));
        Arc::clone(&servers[servers.len() - 1].1)
    }
}

/// How quickly a server answers, from what it has answered lately.
#[derive(Default)]
pub struct Pace {
    /// In nanoseconds; 0: unknown.
    latency: AtomicU64,
    /// In bytes per second; 0: unknown.
    bandwidth: AtomicU64,
}

impl Pace {
    pub fn note(&self, latency: Duration, rest: Duration, length: u64) {
        mix(&self.latency, latency.as_nanos() as u64);
        if length >= TELLING && !rest.is_zero() {
            mix(&self.bandwidth, (length as f64 / rest.as_secs_f64()) as u64);
        }
    }

    /// So many bytes that nobody wants take less time than another request.
    pub fn gap(&self) -> u64 {
        match (self.latency.load(Ordering::Relaxed), self.bandwidth.load(Ordering::Relaxed)) {
            (0, _) | (_, 0) => GAP,
            (latency, bandwidth) => ((latency as f64 * 1e-9 * bandwidth as f64) as u64).clamp(GAPS.0, GAPS.1),
        }
    }
}

/// Moves a mean towards a new value. What is lost when two threads do so at once does not matter.
fn mix(mean: &AtomicU64, value: u64) {
    let before = mean.load(Ordering::Relaxed);
    let after = if before == 0 { value } else { before - before / 8 + value / 8 };
    mean.store(after.max(1), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_of_one_server_share_what_was_learnt() {
        let name = || "https://shared.example".to_owned();
        assert!(Arc::ptr_eq(&Server::named(name()), &Server::named(name())));
        let first = Server::named(name());
        (0..KEPT).for_each(|number| drop(Server::named(format!("https://{number}.example"))));
        assert!(!Arc::ptr_eq(&first, &Server::named(name())), "the oldest is forgotten");
    }

    #[test]
    fn gaps_are_what_comes_in_the_time_of_a_request() {
        let pace = Pace::default();
        assert_eq!(pace.gap(), GAP, "nothing is known");
        pace.note(Duration::from_millis(50), Duration::from_millis(10), 100_000);
        assert_eq!(pace.gap(), 500_000, "50 ms at 10 MB/s");
        let near = Pace::default();
        near.note(Duration::from_micros(100), Duration::from_millis(10), 100_000);
        assert_eq!(near.gap(), GAPS.0);
    }
}

//! How many requests are in flight: as many as a store answers well.
//!
//! 1. Each answer in good time allows two more requests, so that there are three times as many from round to round.
//! 2. That ends when a round's answers take so much longer than those of the best round that twice as many requests bring
//!    nothing, and one in four is taken back. From then on the number grows by one a round, as long as that helps.
//! 3. A server that asks for fewer (429, 503) has half as many.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// Requests in flight before anything is known of a store.
const FIRST: f64 = 64.0;
/// How many more each answer allows, as long as nothing is busy.
const MORE: f64 = 2.0;
const LEAST: f64 = 4.0;
/// Answers that take so many times as long as those of the best round show that the store, or the way to it, is busy.
const BUSY: f64 = 1.8;
/// What is added to that, for the noise of quick answers.
const NOISE: Duration = Duration::from_millis(20);
/// Servers that have asked for fewer requests are not asked whether they meant it before so long.
const CALM: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Limiter(Mutex<State>);

#[derive(Debug)]
struct State {
    limit: f64,
    /// The most that whoever asked last may have in flight.
    ceiling: usize,
    in_flight: usize,
    waiting: VecDeque<oneshot::Sender<()>>,
    /// Whether nothing was ever busy.
    triples: bool,
    /// Uploads, whose latency is mostly the time that their bytes take, and others.
    rounds: [Round; 2],
    halved: Option<Instant>,
}

/// Answers to requests of one kind, round by round.
#[derive(Debug)]
struct Round {
    /// The mean latency of the best round, in seconds.
    best: Option<f64>,
    /// Answers of this round, the sum of their latencies in seconds, and how many of them make a round.
    answers: f64,
    latencies: f64,
    length: f64,
}

/// What a request is allowed by, until it is dropped.
pub struct Permit<'a> {
    limiter: &'a Limiter,
}

/// How a request was answered.
#[derive(Debug, Clone, Copy)]
pub enum Outcome {
    /// After this time; and whether it was an upload.
    Answered(Duration, bool),
    /// The server asked for fewer requests.
    Throttled,
}

impl Default for Limiter {
    fn default() -> Self {
        Limiter(Mutex::new(State {
            limit: FIRST,
            ceiling: usize::MAX,
            in_flight: 0,
            waiting: VecDeque::new(),
            triples: true,
            rounds: [(), ()].map(|()| Round { best: None, answers: 0.0, latencies: 0.0, length: FIRST }),
            halved: None,
        }))
    }
}

impl Limiter {
    /// Waits until another request may be in flight, of `ceiling` at most.
    pub async fn acquire(&self, ceiling: usize) -> Permit<'_> {
        loop {
            let turn = {
                let mut state = self.state();
                state.ceiling = ceiling;
                if state.in_flight < state.most(ceiling) {
                    state.in_flight += 1;
                    return Permit { limiter: self };
                }
                let (sender, turn) = oneshot::channel();
                state.waiting.push_back(sender);
                turn
            };
            // Whoever is woken asks again, or wakes another if it is dropped before it does; a sender is never dropped unused.
            let handing_on = HandingOn(self);
            let _ = turn.await;
            std::mem::forget(handing_on);
        }
    }

    /// Takes note of an answer, or of its being refused.
    pub fn note(&self, outcome: Outcome) {
        let mut state = self.state();
        match outcome {
            Outcome::Answered(latency, is_upload) => state.answered(latency.as_secs_f64(), is_upload),
            Outcome::Throttled => state.throttled(),
        }
        state.wake();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits, and may have been woken when it is dropped.
struct HandingOn<'a>(&'a Limiter);

impl Drop for HandingOn<'_> {
    fn drop(&mut self) {
        self.0.state().wake();
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        state.in_flight -= 1;
        state.wake();
    }
}

impl State {
    fn most(&self, ceiling: usize) -> usize {
        (self.limit as usize).clamp(1, ceiling.max(1))
    }

    /// Wakes as many as may be allowed; those that are not go to the end of the line again.
    fn wake(&mut self) {
        let mut room = (self.limit as usize).saturating_sub(self.in_flight).max(1);
        while room > 0 {
            let Some(turn) = self.waiting.pop_front() else { break };
            // Some do not wait any more.
            room -= usize::from(turn.send(()).is_ok());
        }
    }

    fn answered(&mut self, latency: f64, is_upload: bool) {
        // What is not used says nothing of whether more would help.
        let used = self.in_flight as f64 >= 0.7 * self.limit;
        if used && self.limit < self.ceiling as f64 {
            self.limit += if self.triples { MORE } else { 1.0 / self.limit };
        }
        let round = &mut self.rounds[usize::from(is_upload)];
        round.answers += 1.0;
        round.latencies += latency;
        if round.answers < round.length {
            return;
        }
        let mean = round.latencies / round.answers;
        let best = round.best.map_or(mean, |best| best.min(mean));
        if used && mean > BUSY * best + NOISE.as_secs_f64() {
            self.triples = false;
            self.limit = (0.75 * self.limit).max(LEAST);
        }
        // The way to a store may become longer for good.
        round.best = Some(1.01 * best);
        (round.answers, round.latencies, round.length) = (0.0, 0.0, self.limit.max(LEAST));
    }

    fn throttled(&mut self) {
        self.triples = false;
        if self.halved.is_none_or(|halved| halved.elapsed() > CALM) {
            self.limit = (0.5 * self.limit).max(LEAST);
            self.halved = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers as a store does that works on `capacity` requests at once: each takes longer if there were more when it was
    /// sent.
    fn after(requests: usize, capacity: f64) -> usize {
        let limiter = Limiter::default();
        let mut sent: VecDeque<f64> = VecDeque::new();
        limiter.state().ceiling = 256;
        for _ in 0..requests {
            let mut state = limiter.state();
            while sent.len() < state.most(256) {
                sent.push_back(state.most(256) as f64);
            }
            state.in_flight = sent.len();
            let others = sent.pop_front().unwrap_or_default();
            state.answered(0.05 * (others / capacity).max(1.0), false);
        }
        let limit = limiter.state().most(256);
        limit
    }

    #[test]
    fn requests_triple_where_the_store_keeps_up() {
        assert_eq!(after(64, 1e9), 192);
        assert_eq!(after(500, 1e9), 256, "the ceiling");
    }

    #[test]
    fn they_stay_near_what_a_store_can_do() {
        for capacity in [16.0, 64.0, 150.0] {
            let limit = after(5000, capacity) as f64;
            assert!(limit < 4.0 * f64::max(capacity, FIRST), "{limit} of {capacity}");
            assert!(limit > 0.7 * capacity, "{limit} of {capacity}");
        }
    }

    #[test]
    fn uploads_take_longer_although_nothing_is_busy() {
        let limiter = Limiter::default();
        for number in 0..2000 {
            let mut state = limiter.state();
            state.in_flight = state.limit as usize;
            let is_upload = number % 300 > 200;
            state.answered(if is_upload { 1.0 } else { 0.02 }, is_upload);
        }
        assert!(limiter.state().triples, "no round was slower than the best of its kind");
    }

    #[test]
    fn a_server_that_asks_for_fewer_has_half_as_many() {
        let limiter = Limiter::default();
        limiter.note(Outcome::Throttled);
        limiter.note(Outcome::Throttled);
        assert_eq!(limiter.state().most(256), FIRST as usize / 2, "once for all that were on their way");
        assert!(!limiter.state().triples);
    }

    #[test]
    fn permits_are_handed_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let limiter = Limiter::default();
            let first = limiter.acquire(1).await;
            let second = limiter.acquire(1);
            let third = limiter.acquire(1);
            let both = async { tokio::join!(async { drop(second.await) }, async { drop(third.await) }) };
            tokio::join!(both, async { drop(first) });
            assert_eq!(limiter.state().in_flight, 0);
        });
    }

    #[test]
    fn whoever_is_woken_and_dropped_wakes_another() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let limiter = Limiter::default();
            limiter.state().limit = 1.0;
            let first = limiter.acquire(1).await;
            let (mut second, mut third) = (Box::pin(limiter.acquire(1)), Box::pin(limiter.acquire(1)));
            for waiting in [&mut second, &mut third] {
                assert!(tokio::time::timeout(Duration::from_millis(1), waiting).await.is_err());
            }
            drop(first);
            drop(second);
            tokio::time::timeout(Duration::from_secs(5), third).await.expect("the third has its turn");
        });
    }
}

//! How many requests are in flight: as many as a store answers well.
//!
//! 1. Each answer in good time allows two more requests, so that there are three times as many from round to round.
//! 2. That ends when a round's answers take so much longer than those of the best round that twice as many requests bring
//!    nothing, and one in four is taken back. From then on the number grows by one a round, or by half where a round's answers
//!    take hardly longer than those of the best: then something else was busy for a while, perhaps this machine.
//! 3. A server that asks for fewer (429, 503) has half as many.
//! 4. A server whose answers end their connections (HTTP/1.0, `Connection: close`) has few: each request connects anew, and
//!    what the server's queue of connections has no room for is lost, and repeated by the system after 1, 3, 7 seconds.
//!    There are more, by one a round, only where all answers take so long that they help. Answers that are late by such a
//!    repetition, and requests without an answer, count as asking for fewer.
//! 5. A server that is near, in this machine or beside it, answers as much with 32 requests as with more, each of which would
//!    open a connection.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// Requests in flight before anything is known of a store.
const FIRST: f64 = 64.0;
/// Requests in flight to a server whose answers end their connections: `http.server` of Python lets six connections wait.
const FEW: f64 = 4.0;
/// The system repeats a lost request for a connection after a second; an answer that takes longer, and so many times as long
/// as the quickest, was late for that.
const REPEATED: f64 = 1.0;
const LATE: f64 = 8.0;
/// How many more each answer allows, as long as nothing is busy.
const MORE: f64 = 2.0;
const LEAST: f64 = 4.0;
/// Servers are near whose quickest answer took less than this, and the most requests in flight to them.
const NEAR: Duration = Duration::from_millis(3);
const MOST_NEAR: usize = 32;
/// Something near has answered for a server that is far if the others take longer than this; a busy server may take less.
const FAR: Duration = Duration::from_millis(40);
/// Answers that take so many times as long as those of the best round show that the store, or the way to it, is busy.
const BUSY: f64 = 1.8;
/// Answers that take so many times as long show that neither is.
const EASY: f64 = 1.3;
/// How many more each answer allows then, once there were too many.
const SOME_MORE: f64 = 0.5;
/// What is added to these times, for the noise of quick answers.
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
    growth: Growth,
    /// Whether the last round's answers took hardly longer than those of the best.
    is_easy: bool,
    /// Uploads, whose latency is mostly the time that their bytes take, and others.
    rounds: [Round; 2],
    halved: Option<Instant>,
    /// Whether connections are used for more than one request; `None`: unknown.
    keeps: Option<bool>,
    /// The shortest latency, in seconds.
    shortest: f64,
    /// The mean latency of the last round that was not of uploads, in seconds; 0 at first.
    mean: f64,
}

/// How the limit grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Growth {
    /// Threefold from round to round: nothing was ever busy.
    Threefold,
    /// By half where a round is easy, or else by one: something was busy.
    Regaining,
    /// By one: the server has asked for fewer, or ends its connections.
    Slow,
}

/// Answers to requests of one kind, round by round.
#[derive(Debug)]
struct Round {
    /// The mean latency of the best round, in seconds.
    best: Option<f64>,
    /// Answers of this round, the sum of one by their latencies in seconds, and how many of them make a round. So a few that
    /// stalled count for little: their mean would be far from what most have taken.
    answers: f64,
    rates: f64,
    length: f64,
}

/// What a request is allowed by, until it is dropped.
pub struct Permit<'a> {
    limiter: &'a Limiter,
}

/// How a request was answered.
#[derive(Debug, Clone, Copy)]
pub enum Outcome {
    /// After this time; whether it was an upload, and whether the answer ends its connection.
    Answered(Duration, bool, bool),
    /// The server asked for fewer requests.
    Throttled,
    /// There was no answer.
    Lost,
}

impl Default for Limiter {
    fn default() -> Self {
        Limiter(Mutex::new(State {
            limit: FIRST,
            ceiling: usize::MAX,
            in_flight: 0,
            waiting: VecDeque::new(),
            growth: Growth::Threefold,
            is_easy: false,
            rounds: [(), ()].map(|()| Round { best: None, answers: 0.0, rates: 0.0, length: FIRST }),
            halved: None,
            keeps: None,
            shortest: f64::INFINITY,
            mean: 0.0,
        }))
    }
}

impl Limiter {
    /// A limiter for a server that ends each connection, until one of its answers does not.
    pub fn careful() -> Self {
        let limiter = Limiter::default();
        limiter.state().ends(true);
        limiter
    }

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

    /// How many more requests may be in flight at once, of `ceiling` at most.
    pub fn room(&self, ceiling: usize) -> usize {
        let state = self.state();
        state.most(ceiling).saturating_sub(state.in_flight + state.waiting.len())
    }

    /// Takes note of an answer, or of its being refused.
    pub fn note(&self, outcome: Outcome) {
        let mut state = self.state();
        match outcome {
            Outcome::Answered(latency, is_upload, is_end) => {
                state.ends(is_end);
                state.answered(latency.as_secs_f64(), is_upload);
            }
            Outcome::Throttled => state.throttled(),
            // A connection that is kept may end while it is not used.
            Outcome::Lost if state.keeps == Some(false) => state.throttled(),
            Outcome::Lost => {}
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
        (self.limit as usize).clamp(1, self.bound(ceiling).max(1))
    }

    /// The most that the limit may grow to.
    fn bound(&self, ceiling: usize) -> usize {
        let least = Duration::from_secs_f64(self.shortest.min(1.0));
        if self.keeps == Some(false) && least < NOISE {
            ceiling.min(FEW as usize)
        } else if least < NEAR && self.mean < FAR.as_secs_f64() {
            ceiling.min(MOST_NEAR)
        } else {
            ceiling
        }
    }

    fn least(&self) -> f64 {
        if self.keeps == Some(false) {
            1.0
        } else {
            LEAST
        }
    }

    /// Takes note of whether an answer ends its connection. Where one does not, others do now and then, as after a hundred
    /// requests or with an error.
    fn ends(&mut self, is_end: bool) {
        if self.keeps.is_none() || (self.keeps == Some(false) && !is_end) {
            self.keeps = Some(!is_end);
            (self.limit, self.growth) = if is_end { (FEW, Growth::Slow) } else { (FIRST, Growth::Threefold) };
        }
    }

    /// Wakes as many as may be allowed; those that are not go to the end of the line again.
    fn wake(&mut self) {
        let mut room = self.most(self.ceiling).saturating_sub(self.in_flight).max(1);
        while room > 0 {
            let Some(turn) = self.waiting.pop_front() else { break };
            // Some do not wait any more.
            room -= usize::from(turn.send(()).is_ok());
        }
    }

    fn answered(&mut self, latency: f64, is_upload: bool) {
        self.shortest = self.shortest.min(latency);
        if self.keeps == Some(false) && latency > f64::max(REPEATED, LATE * self.shortest) {
            return self.throttled();
        }
        // What is not used says nothing of whether more would help.
        let used = self.in_flight as f64 >= 0.7 * self.limit.floor();
        if used && self.limit < self.bound(self.ceiling) as f64 {
            self.limit += match self.growth {
                Growth::Threefold => MORE,
                Growth::Regaining if self.is_easy => SOME_MORE,
                Growth::Regaining | Growth::Slow => 1.0 / self.limit,
            };
        }
        let least = self.least();
        let round = &mut self.rounds[usize::from(is_upload)];
        round.answers += 1.0;
        round.rates += 1.0 / latency.max(1e-6);
        if round.answers < round.length {
            return;
        }
        let mean = round.answers / round.rates;
        if !is_upload {
            self.mean = mean;
        }
        let best = round.best.map_or(mean, |best| best.min(mean));
        self.is_easy = mean < EASY * best + 0.5 * NOISE.as_secs_f64();
        if used && mean > BUSY * best + NOISE.as_secs_f64() {
            self.growth = self.growth.max(Growth::Regaining);
            self.limit = (0.75 * self.limit).max(least);
        }
        // The way to a store may become longer for good.
        round.best = Some(1.01 * best);
        (round.answers, round.rates, round.length) = (0.0, 0.0, self.limit.max(LEAST));
    }

    fn throttled(&mut self) {
        self.growth = Growth::Slow;
        if self.halved.is_none_or(|halved| halved.elapsed() > CALM) {
            self.limit = (0.5 * self.limit).max(self.least());
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
        assert_eq!(limiter.state().growth, Growth::Threefold, "no round was slower than the best of its kind");
    }

    #[test]
    fn a_server_that_asks_for_fewer_has_half_as_many() {
        let limiter = Limiter::default();
        limiter.note(Outcome::Throttled);
        limiter.note(Outcome::Throttled);
        assert_eq!(limiter.state().most(256), FIRST as usize / 2, "once for all that were on their way");
        assert_eq!(limiter.state().growth, Growth::Slow);
    }

    /// The limit after rounds of such latencies, in milliseconds, which fill it.
    fn after_rounds(limiter: &Limiter, latencies: impl IntoIterator<Item = f64>) -> usize {
        for latency in latencies {
            let answers = limiter.state().rounds[0].length.ceil() as usize;
            for _ in 0..answers {
                let mut state = limiter.state();
                (state.ceiling, state.in_flight) = (256, state.most(256));
                state.answered(latency / 1000.0, false);
            }
        }
        let limit = limiter.state().most(256);
        limit
    }

    #[test]
    fn what_was_taken_back_for_nothing_returns_soon() {
        let limiter = Limiter::default();
        assert_eq!(after_rounds(&limiter, [50.0; 5]), 256);
        assert!(after_rounds(&limiter, [200.0; 3]) < 120, "this machine is busy");
        assert_eq!(after_rounds(&limiter, [50.0; 4]), 256, "and is not any more");
        limiter.note(Outcome::Throttled);
        let asked = after_rounds(&limiter, [50.0; 4]);
        assert!((128..140).contains(&asked), "{asked}: the server has asked for fewer");
    }

    #[test]
    fn a_few_answers_that_stalled_are_no_sign() {
        let limiter = Limiter::default();
        assert_eq!(after_rounds(&limiter, [50.0; 5]), 256);
        for number in 0..2000 {
            let mut state = limiter.state();
            state.in_flight = state.most(256);
            state.answered(if number % 10 == 0 { 2.0 } else { 0.05 }, false);
        }
        assert_eq!(limiter.state().most(256), 256);
    }

    /// The limit after so many answers of a server that ends its connections.
    fn of_ends(limiter: &Limiter, answers: usize, seconds: f64) -> usize {
        for _ in 0..answers {
            let most = limiter.state().most(256);
            limiter.state().in_flight = most;
            limiter.note(Outcome::Answered(Duration::from_secs_f64(seconds), false, true));
        }
        let limit = limiter.state().most(256);
        limit
    }

    #[test]
    fn a_server_that_ends_each_connection_has_few() {
        let (unknown, near, far) = (Limiter::default(), Limiter::careful(), Limiter::careful());
        assert_eq!((unknown.state().most(256), near.state().most(256)), (64, 4));
        assert_eq!((of_ends(&unknown, 1, 0.001), of_ends(&near, 500, 0.001)), (4, 4));
        assert_eq!(of_ends(&far, 100, 0.05), 14, "one more from round to round");
        near.note(Outcome::Lost);
        assert_eq!(near.state().most(256), 2);
        assert_eq!(of_ends(&unknown, 1, 1.1), 2, "an answer that is late");
        assert_eq!(of_ends(&unknown, 50, 0.001), 4);
    }

    #[test]
    fn a_server_that_keeps_one_connection_may_end_others() {
        let limiter = Limiter::careful();
        limiter.note(Outcome::Answered(Duration::from_millis(1), false, true));
        limiter.note(Outcome::Answered(Duration::from_millis(1), false, false));
        limiter.note(Outcome::Answered(Duration::from_millis(1), false, true));
        limiter.note(Outcome::Lost);
        assert_eq!(limiter.state().limit, FIRST);
    }

    #[test]
    fn a_server_that_is_near_has_no_more_than_it_needs() {
        let limiter = Limiter::default();
        assert_eq!(after_rounds(&limiter, [0.5; 9]), MOST_NEAR);
        let cached = Limiter::default();
        cached.state().shortest = 0.0005;
        assert_eq!(after_rounds(&cached, [50.0; 9]), 256, "something near has answered for a server that is far");
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
            tokio::join!(both, async {
                assert_eq!((limiter.room(1), limiter.room(9)), (0, 6), "one is in flight, and two wait");
                drop(first);
            });
            assert_eq!((limiter.room(1), limiter.state().in_flight), (1, 0));
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

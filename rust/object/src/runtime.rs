//! The threads that make requests, and those that wait for them.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::fork::PerProcess;
use blizzarr_core::pool;
use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

/// Whether a thread that waits for an answer is to go on waiting; its error ends the request.
pub type GoOn<'a> = &'a dyn Fn() -> Result<()>;

/// How long a write that is to end may still take: one that is dropped may be carried out all the same.
pub const GRACE: Duration = Duration::from_millis(150);

/// How often that is asked.
const TICK: Duration = Duration::from_millis(100);
/// For so many processors there is a thread that sends requests and takes answers, up to so many threads. They decode nothing,
/// but for encryption; two on two processors take longer to wake each other than to do all the work alone.
const PROCESSORS: usize = 4;
const WORKERS: usize = 4;

/// A forked child has none of its parent's threads, and makes its own.
static RUNTIME: PerProcess<std::io::Result<Runtime>> = PerProcess::new(|| {
    let workers = (pool::threads() / PROCESSORS).clamp(1, WORKERS);
    Builder::new_multi_thread().worker_threads(workers).thread_name("blizzarr-requests").enable_all().build()
});

/// Makes sure that HTTP clients find what encrypts.
pub fn provide_encryption() {
    // Another provider that was installed before will do as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn runtime() -> Result<&'static Runtime> {
    let started = RUNTIME.get().as_ref();
    started.map_err(|error| Error::new(Kind::Store, format!("the system has no threads for requests: {error}")))
}

/// What a future answers. The calling thread waits, and the future runs on the runtime's threads. One that is to end has
/// the time `grace` for it.
pub fn wait<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
    go_on: GoOn<'_>,
    grace: Duration,
) -> Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let task = runtime()?.spawn(async move {
        // Nobody may be waiting any more.
        let _ = sender.send(future.await);
    });
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) => go_on().inspect_err(|_| {
                let _ = receiver.recv_timeout(grace);
                task.abort();
            })?,
            Err(RecvTimeoutError::Disconnected) => return Err(unanswered()),
        }
    }
}

fn unanswered() -> Error {
    Error::new(Kind::Internal, "a request ended without an answer")
}

/// Futures of which several threads take those that have ended; the others are ended when this is dropped.
pub struct UnderWay<'a, T> {
    answers: Arc<Answers<T>>,
    tasks: Mutex<HashMap<usize, AbortHandle>>,
    go_on: &'a (dyn Fn() -> Result<()> + Sync),
}

struct Answers<T> {
    ended: Mutex<VecDeque<(usize, Result<T>)>>,
    arrived: Condvar,
}

impl<'a, T: Send + 'static> UnderWay<'a, T> {
    pub fn new(go_on: &'a (dyn Fn() -> Result<()> + Sync)) -> Self {
        let answers = Arc::new(Answers { ended: Mutex::default(), arrived: Condvar::new() });
        UnderWay { answers, tasks: Mutex::default(), go_on }
    }

    pub fn begin(&self, number: usize, future: impl Future<Output = Result<T>> + Send + 'static) -> Result<()> {
        let answers = Arc::clone(&self.answers);
        let caught = AssertUnwindSafe(future).catch_unwind();
        // It ends no sooner than it is listed.
        let mut tasks = lock(&self.tasks);
        let task = runtime()?.spawn(async move {
            let answer = caught.await.unwrap_or_else(|_| Err(unanswered()));
            lock(&answers.ended).push_back((number, answer));
            answers.arrived.notify_one();
        });
        tasks.insert(number, task.abort_handle());
        Ok(())
    }

    /// How many were begun that nobody has taken.
    pub fn count(&self) -> usize {
        lock(&self.tasks).len()
    }

    /// The number of one that has ended, and what it answers; `None` if another thread has taken the last one.
    pub fn answer(&self) -> Result<Option<(usize, Result<T>)>> {
        let mut ended = lock(&self.answers.ended);
        loop {
            if let Some((number, answer)) = ended.pop_front() {
                let mut tasks = lock(&self.tasks);
                tasks.remove(&number);
                if tasks.is_empty() {
                    self.answers.arrived.notify_all();
                }
                return Ok(Some((number, answer)));
            }
            if lock(&self.tasks).is_empty() {
                return Ok(None);
            }
            let waited = self.answers.arrived.wait_timeout(ended, TICK).unwrap_or_else(PoisonError::into_inner);
            ended = waited.0;
            if waited.1.timed_out() {
                drop(ended);
                (self.go_on)()?;
                ended = lock(&self.answers.ended);
            }
        }
    }
}

impl<T> Drop for UnderWay<'_, T> {
    fn drop(&mut self) {
        lock(&self.tasks).values().for_each(AbortHandle::abort);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

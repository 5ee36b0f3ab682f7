//! The threads that make requests, and those that wait for them.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
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
    next(&receiver, go_on).inspect_err(|_| {
        let _ = receiver.recv_timeout(grace);
        task.abort();
    })?
}

/// The next answer that comes; the error is that of `go_on`.
fn next<T>(receiver: &Receiver<T>, go_on: GoOn<'_>) -> Result<T> {
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => go_on()?,
            Err(RecvTimeoutError::Disconnected) => return Err(unanswered()),
        }
    }
}

fn unanswered() -> Error {
    Error::new(Kind::Internal, "a request ended without an answer")
}

/// Futures of which one thread waits for whichever ends first; those that are left are ended when this is dropped.
pub struct UnderWay<'a, T> {
    tasks: HashMap<usize, AbortHandle>,
    sender: Sender<(usize, Result<T>)>,
    answers: Receiver<(usize, Result<T>)>,
    go_on: GoOn<'a>,
}

impl<'a, T: Send + 'static> UnderWay<'a, T> {
    pub fn new(go_on: GoOn<'a>) -> Self {
        let (sender, answers) = mpsc::channel();
        UnderWay { tasks: HashMap::new(), sender, answers, go_on }
    }

    pub fn begin(&mut self, number: usize, future: impl Future<Output = Result<T>> + Send + 'static) -> Result<()> {
        let sender = self.sender.clone();
        // Nobody would miss a sender that a panic has dropped, because there are others.
        let caught = AssertUnwindSafe(future).catch_unwind();
        let task = runtime()?.spawn(async move {
            let _ = sender.send((number, caught.await.unwrap_or_else(|_| Err(unanswered()))));
        });
        self.tasks.insert(number, task.abort_handle());
        Ok(())
    }

    /// The number of one that has ended, and what it answers.
    pub fn answer(&mut self) -> Result<(usize, Result<T>)> {
        let (number, answer) = next(&self.answers, self.go_on)?;
        self.tasks.remove(&number);
        Ok((number, answer))
    }
}

impl<T> Drop for UnderWay<'_, T> {
    fn drop(&mut self) {
        self.tasks.values().for_each(AbortHandle::abort);
    }
}

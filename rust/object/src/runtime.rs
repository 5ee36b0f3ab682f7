//! The threads that make requests, and those that wait for them.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::fork::PerProcess;
use tokio::runtime::{Builder, Runtime};

/// Whether a thread that waits for an answer is to go on waiting; its error ends the request.
pub type GoOn<'a> = &'a dyn Fn() -> Result<()>;

/// How long a write that is to end may still take: one that is dropped may be carried out all the same.
pub const GRACE: Duration = Duration::from_millis(150);

/// How often that is asked.
const TICK: Duration = Duration::from_millis(100);
/// Threads that send requests and take answers. They decode nothing, but for encryption.
const WORKERS: usize = 2;

/// A forked child has none of its parent's threads, and makes its own.
static RUNTIME: PerProcess<std::io::Result<Runtime>> = PerProcess::new(|| {
    Builder::new_multi_thread().worker_threads(WORKERS).thread_name("blizzarr-requests").enable_all().build()
});

/// Makes sure that HTTP clients find what encrypts.
pub fn provide_encryption() {
    // Another provider that was installed before will do as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// What a future answers. The calling thread waits, and the future runs on the runtime's threads. One that is to end has
/// the time `grace` for it.
pub fn wait<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
    go_on: GoOn<'_>,
    grace: Duration,
) -> Result<T> {
    let runtime = RUNTIME
        .get()
        .as_ref()
        .map_err(|error| Error::new(Kind::Store, format!("the system has no threads for requests: {error}")))?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let task = runtime.spawn(async move {
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
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new(Kind::Internal, "a request ended without an answer"));
            }
        }
    }
}

//! The requests that can be made to one store.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::store::ranges;
use blizzarr_core::{fork, pool, scratch};
use futures_util::future::try_join_all;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Error as StoreError, GetOptions, GetRange, ObjectMeta, RetryConfig};

use crate::exchange::{broken_body, innermost, keep_at_most, requests_so_far, Exchange, Log};
use crate::failure::{Cause, Failure};
use crate::limiter::Outcome;
use crate::runtime::{provide_encryption, wait, GoOn};
use crate::servers::Server;
use crate::settings::{self, Opened, Settings};
use crate::spans::{requests_for, Span, Wanted};
use crate::traffic::{self, Count, Protocol};

/// How often a range may be beyond the end of a value that has it a moment later, before all of the value is asked for.
const CHANGES: usize = 3;
/// How often several parts of a value are requested, at most, until they are of one version; or, after some attempts, until
/// the time is over.
const ATTEMPTS: usize = 20;
const AT_LEAST: usize = 3;
const PATIENCE: Duration = Duration::from_secs(4);
/// So many bytes of what an answer announces have their place before they come.
const TRUSTED: u64 = 64 << 20;

/// A store, for any thread of this process and of its forked children.
pub struct Client {
    settings: Settings,
    connected: Mutex<Option<(u64, Arc<Connected>)>>,
}

/// A store with connections, which a forked child cannot use.
pub(crate) struct Connected {
    pub opened: Opened,
    pub protocol: Protocol,
    pub prefix: String,
    /// The server and the bucket, if that is a server for S3's protocol other than the vendor's own.
    pub server: Option<String>,
    pub total: (Duration, String),
    retry: RetryConfig,
    learnt: Arc<Server>,
    /// Whether an answer has shown that the bucket exists, which cannot be removed before it is empty.
    has_bucket: AtomicBool,
}

/// What a value, or a part of it, was found to be.
pub struct Answer {
    pub body: Vec<u8>,
    pub version: Arc<str>,
    /// How long the whole value is.
    pub size: u64,
}

/// Parts of one version of a value.
pub struct Parts {
    spans: Vec<Span>,
    answers: Vec<Answer>,
    pub version: Arc<str>,
}

impl Parts {
    /// The length of the whole value.
    pub fn size(&self) -> u64 {
        self.answers[0].size
    }

    /// Hands each range its bytes, by the number of the range.
    pub fn each<E>(
        &self,
        wanted: &[Wanted],
        mut take: impl FnMut(usize, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for (span, answer) in self.spans.iter().zip(&self.answers) {
            for &member in &span.members {
                take(member, &answer.body[span.part(wanted[member], answer.body.len())])?;
            }
        }
        Ok(())
    }
}

impl Client {
    /// Opens a store, which makes no requests yet; an error says which option is wrong.
    pub fn new(settings: Settings) -> std::result::Result<Self, StoreError> {
        let client = Client { settings, connected: Mutex::new(None) };
        client.connect()?;
        Ok(client)
    }

    /// The server, if that is another one than the vendor's own, and the account of Azure.
    pub fn server(&self) -> std::result::Result<(Option<String>, Option<String>), StoreError> {
        let connected = self.connect()?;
        Ok((connected.opened.endpoint.clone(), connected.opened.account.clone()))
    }

    fn connect(&self) -> std::result::Result<Arc<Connected>, StoreError> {
        let generation = fork::generation();
        let kept = |keep: Option<Arc<Connected>>| {
            // No fork comes in between, so that no child finds this locked.
            let _inside = fork::enter();
            let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((of, client)) = &*connected {
                if *of == generation {
                    return Some(Arc::clone(client));
                }
            }
            let fresh = keep?;
            // What the parent had is not dropped: it would take leave of threads that are not here.
            std::mem::forget(connected.replace((generation, Arc::clone(&fresh))));
            Some(fresh)
        };
        if let Some(client) = kept(None) {
            return Ok(client);
        }
        provide_encryption();
        let Settings { protocol, bucket, prefix, retry, .. } = &self.settings;
        let total = self.settings.total()?;
        let opened = settings::open(&self.settings)?;
        let name = self.settings.server(&opened);
        let server = opened.endpoint.as_ref().filter(|_| *protocol == Protocol::S3);
        let fresh = Arc::new(Connected {
            server: server.map(|endpoint| format!("{endpoint} {bucket}")),
            opened,
            protocol: *protocol,
            prefix: prefix.clone(),
            total,
            retry: retry.clone(),
            learnt: Server::named(name),
            has_bucket: AtomicBool::new(false),
        });
        Ok(kept(Some(Arc::clone(&fresh))).unwrap_or(fresh))
    }

    /// Runs a request on the threads for them; one that is to end has the time `grace` for it.
    pub(crate) fn run<T: Send + 'static, F>(
        &self,
        key: &str,
        go_on: GoOn<'_>,
        grace: Duration,
        work: impl FnOnce(Arc<Connected>, String) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let connected = self.connected().map_err(|error| error.at_key(key))?;
        wait(work(connected, key.to_owned()), go_on, grace)
    }

    pub(crate) fn connected(&self) -> Result<Arc<Connected>> {
        self.connect().map_err(|error| Error::new(Kind::Store, innermost(&error)))
    }

    /// A whole value, in `room`, the memory of a former one; `None` if there is none. One of more than `limit` bytes is
    /// answered without them.
    pub fn get(&self, key: &str, limit: u64, room: Vec<u8>, go_on: GoOn<'_>) -> Result<Option<Answer>> {
        self.run(key, go_on, Duration::ZERO, move |store, key| async move {
            store.get(&key, &Span::WHOLE, limit, room).await
        })
    }

    /// Many whole values, of requests that are made at once; `None` for each that there is not.
    pub fn get_many(&self, keys: Vec<String>, go_on: GoOn<'_>) -> Result<Vec<Option<Answer>>> {
        self.run("", go_on, Duration::ZERO, move |store, _| async move {
            let whole = Span::WHOLE;
            try_join_all(keys.iter().map(|key| store.get(key, &whole, u64::MAX, Vec::new()))).await
        })
    }

    /// Parts of one version of a value, `version` if that is given; `None` if there is no value.
    pub fn get_ranges(
        &self,
        key: &str,
        wanted: &[Wanted],
        version: Option<Arc<str>>,
        go_on: GoOn<'_>,
    ) -> Result<Option<Parts>> {
        let wanted = wanted.to_vec();
        self.run(
            key,
            go_on,
            Duration::ZERO,
            move |store, key| async move { store.get_ranges(&key, &wanted, version).await },
        )
    }

    /// The length of a value in bytes, and its version; `None` if there is none.
    pub fn head(&self, key: &str, go_on: GoOn<'_>) -> Result<Option<(u64, Arc<str>)>> {
        self.run(key, go_on, Duration::ZERO, move |store, key| async move { store.head(&key).await })
    }
}

impl Connected {
    pub(crate) fn path(&self, key: &str) -> Result<Path> {
        let name = if self.prefix.is_empty() { key.to_owned() } else { format!("{}/{key}", self.prefix) };
        Path::parse(name).map_err(|error| Error::new(Kind::Path, innermost(&error)).at_key(key))
    }

    /// Makes a request, with all its repetitions; it is begun anew where a server says that the credentials have expired.
    pub(crate) async fn request<T, F>(&self, work: impl Fn() -> F) -> std::result::Result<(T, Log), Failure>
    where
        F: Future<Output = std::result::Result<T, StoreError>>,
    {
        let _permit = self.learnt.limiter.acquire(pool::most_requests()).await;
        let exchange = Arc::new(Exchange::default());
        let begun = Instant::now();
        let (total, limit) = &self.total;
        let both = async {
            let mut is_first = true;
            loop {
                if let Some(signed) = &self.opened.signed {
                    signed().await.map_err(Cause::Credentials)?;
                }
                let used = self.opened.renewals.given();
                let done = work().await;
                let is_expired = done.is_err() && is_first && exchange.log().tells_of_expiry();
                if !(is_expired && self.opened.renewals.expire(used)) {
                    break done.map_err(Cause::Store);
                }
                is_first = false;
            }
        };
        let outcome = tokio::time::timeout(*total, exchange.noting(both)).await;
        let log = exchange.log();
        if log.lost {
            self.learnt.limiter.note(Outcome::Lost);
        }
        if log.throttled {
            self.learnt.limiter.note(Outcome::Throttled);
        } else if log.status.is_some() {
            self.learnt.limiter.note(Outcome::Answered(log.latency, log.is_upload, log.is_end));
        }
        let cause = match outcome {
            Ok(Ok(answer)) => return Ok((answer, log)),
            Ok(Err(cause)) => cause,
            Err(_) => Cause::Late(limit.clone()),
        };
        Err(Failure { cause, log, waited: begun.elapsed(), protocol: self.protocol })
    }

    pub(crate) async fn get(&self, key: &str, span: &Span, limit: u64, mut room: Vec<u8>) -> Result<Option<Answer>> {
        if span.length == Some(0) {
            // An empty range is not valid; only whether there is a value, and its version, are asked for.
            let head = self.head(key).await?;
            return Ok(head.map(|(size, version)| Answer { body: Vec::new(), version, size }));
        }
        let path = self.path(key)?;
        for left in (0..CHANGES).rev() {
            let failure = match self.ask(&path, span.range(), limit, std::mem::take(&mut room)).await {
                Ok(answer) => return answer.map(Some).map_err(|error| error.at_key(key)),
                Err(failure) if failure.is_missing() => {
                    self.has_bucket.fetch_or(self.protocol != Protocol::Http, Ordering::Relaxed);
                    return Ok(None);
                }
                Err(failure) => failure,
            };
            let Some(range) = span.range() else { return Err(failure.at(key)) };
            let lacks_suffixes =
                span.start < 0 && matches!(failure.cause, Cause::Store(StoreError::NotSupported { .. }));
            let is_whole = failure.log.status == Some(200) || failure.log.is_of_unknown;
            if is_whole && failure.log.failure.is_none() {
                // A server without ranges sends the whole value; of a part, one has not said what the whole is; and what is
                // compressed has no parts.
                return self.part_of_whole(key, &range).await;
            }
            if failure.log.status != Some(416) && !lacks_suffixes {
                return Err(failure.at(key));
            }
            let Some((size, version, is_told)) = self.measure(key).await? else { return Ok(None) };
            if lacks_suffixes && size > 0 {
                // Azure has no ranges that are counted from the end.
                let start = size.saturating_sub(span.start.unsigned_abs());
                let span = Span { start: start as i64, length: Some(size - start), members: Vec::new() };
                return Box::pin(self.get(key, &span, limit, Vec::new())).await;
            }
            if size == 0 || u64::try_from(span.start).is_ok_and(|start| start >= size) {
                return Ok(Some(Answer { body: Vec::new(), version, size }));
            }
            // The value has the range by now, or only when it is decompressed.
            if left == 0 || !is_told {
                return self.part_of_whole(key, &range).await;
            }
        }
        unreachable!("the last attempt returns")
    }

    /// A part of a value, all of which is asked for.
    async fn part_of_whole(&self, key: &str, range: &GetRange) -> Result<Option<Answer>> {
        let whole = Box::pin(self.get(key, &Span::WHOLE, u64::MAX, Vec::new())).await?;
        Ok(whole.map(|whole| cut(whole, range)))
    }

    /// Asks for bytes of an object; answers that break off are asked for again, as often as other requests that fail.
    async fn ask(
        &self,
        path: &Path,
        range: Option<GetRange>,
        limit: u64,
        room: Vec<u8>,
    ) -> std::result::Result<Result<Answer>, Failure> {
        let (begun, room) = (Instant::now(), Mutex::new(room));
        let (answer, log) = self
            .request(|| async {
                keep_at_most(limit);
                let mut room = std::mem::take(&mut *room.lock().unwrap_or_else(PoisonError::into_inner));
                let mut pause = self.retry.backoff.init_backoff;
                loop {
                    let options = GetOptions { range: range.clone(), ..GetOptions::default() };
                    let answer = self.opened.store.get_opts(path, options).await?;
                    let (meta, length) = (answer.meta.clone(), answer.range.end - answer.range.start);
                    let (version, size) = (version_of(&meta), meta.size);
                    if length > limit {
                        return Ok(Ok(Answer { body: Vec::new(), version, size }));
                    }
                    match receive(answer, length, &mut room).await {
                        Ok(received) => {
                            return Ok(received.map(|()| Answer { body: std::mem::take(&mut room), version, size }))
                        }
                        // Where there are ETags, the rest of an answer was asked for, too.
                        Err(error)
                            if requests_so_far() > self.retry.max_retries
                                || begun.elapsed() > self.retry.retry_timeout =>
                        {
                            return Err(error);
                        }
                        Err(_) => tokio::time::sleep(pause).await,
                    }
                    pause = pause.mul_f64(self.retry.backoff.base.max(1.0)).min(self.retry.backoff.max_backoff);
                }
            })
            .await?;
        self.has_bucket.fetch_or(self.protocol != Protocol::Http, Ordering::Relaxed);
        traffic::add(self.protocol, Count::Read, 1);
        let length = answer.as_ref().map_or(0, |answer| answer.body.len() as u64);
        traffic::add(self.protocol, Count::BytesRead, length);
        self.learnt.pace.note(log.latency, begun.elapsed().saturating_sub(log.latency), length);
        Ok(answer)
    }

    pub(crate) async fn head(&self, key: &str) -> Result<Option<(u64, Arc<str>)>> {
        Ok(self.measure(key).await?.map(|(size, version, _)| (size, version)))
    }

    /// The length of a value, its version, and whether the server told the length, so that the value did not have to be read.
    async fn measure(&self, key: &str) -> Result<Option<(u64, Arc<str>, bool)>> {
        let path = self.path(key)?;
        let options = GetOptions { head: true, ..GetOptions::default() };
        match self.request(|| self.opened.store.get_opts(&path, options.clone())).await {
            Ok((found, _)) => Ok(Some((found.meta.size, version_of(&found.meta), true))),
            Err(failure) if !failure.is_missing() && !failure.log.is_of_unknown => Err(failure.at(key)),
            Err(failure)
                if failure.is_missing() && failure.log.is_of_store && self.has_bucket.load(Ordering::Relaxed) =>
            {
                Ok(None)
            }
            // Such an answer has no text that says what is missing, or who sends it; and some servers know only GET. Of a
            // compressed object, it does not tell the length.
            Err(_) => {
                let whole = Box::pin(self.get(key, &Span::WHOLE, 0, Vec::new())).await?;
                Ok(whole.map(|whole| (whole.size, whole.version, false)))
            }
        }
    }

    async fn get_ranges(&self, key: &str, wanted: &[Wanted], version: Option<Arc<str>>) -> Result<Option<Parts>> {
        let room = self.learnt.limiter.room(pool::most_requests());
        let mut spans = requests_for(wanted, room, self.learnt.pace.gap());
        if spans.is_empty() {
            spans.push(Span { start: 0, length: Some(0), members: Vec::new() });
        }
        let begun = Instant::now();
        for done in 1..=ATTEMPTS {
            let answers = try_join_all(spans.iter().map(|span| self.get(key, span, u64::MAX, Vec::new()))).await?;
            let Some(answers) = answers.into_iter().collect::<Option<Vec<Answer>>>() else { return Ok(None) };
            let now = Arc::clone(&answers[0].version);
            let is_one = answers.iter().all(|answer| answer.version == now);
            if is_one && version.as_ref().is_none_or(|version| *version == now) {
                return Ok(Some(Parts { spans, answers, version: now }));
            }
            if version.is_some() || (done >= AT_LEAST && begun.elapsed() > PATIENCE) {
                break;
            }
        }
        let reason =
            "the object was replaced while parts of it were read, or the server gives each answer another ETag";
        Err(Error::new(Kind::Conflict, reason).at_key(key))
    }
}

/// Takes the bytes of an answer into `body`; the inner error is that there is no memory for them.
///
/// Each piece is copied and let go of when it comes: so the connection has the same memory for the next one.
async fn receive(
    answer: object_store::GetResult,
    length: u64,
    body: &mut Vec<u8>,
) -> std::result::Result<Result<()>, StoreError> {
    if let Err(error) = ranges::reserve(body, length.min(TRUSTED)) {
        return Ok(Err(error));
    }
    let mut stream = answer.into_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.inspect_err(|error| broken_body(innermost(error)))?;
        if (body.len() + piece.len()) as u64 > length {
            return Err(of_another_length(format!("more than {length} bytes came")));
        }
        if let Err(error) = scratch::reserve(body, piece.len()) {
            return Ok(Err(error));
        }
        body.extend_from_slice(&piece);
    }
    if body.len() as u64 == length {
        return Ok(Ok(()));
    }
    Err(of_another_length(format!("{} of {length} bytes came", body.len())))
}

/// The error of a body that has another length than its answer says.
fn of_another_length(reason: String) -> StoreError {
    broken_body(reason.clone());
    StoreError::Generic { store: "answer", source: reason.into() }
}

/// The part of a whole value that a request for a range would have been answered with.
fn cut(mut whole: Answer, range: &GetRange) -> Answer {
    let clip = |position: u64| usize::try_from(position).unwrap_or(usize::MAX).min(whole.body.len());
    let kept = match range {
        GetRange::Bounded(range) => clip(range.start)..clip(range.end),
        GetRange::Offset(start) => clip(*start)..whole.body.len(),
        GetRange::Suffix(length) => whole.body.len() - clip(*length)..whole.body.len(),
    };
    whole.body.truncate(kept.end);
    whole.body.drain(..kept.start);
    whole
}

/// The name of an object's version; where there are none, when it was written and how long it is.
pub fn version_of(meta: &ObjectMeta) -> Arc<str> {
    // What S3 calls the versions in buckets that keep only one.
    let number = meta.version.as_deref().filter(|number| *number != "null");
    match (meta.e_tag.as_deref(), number) {
        (tag, Some(number)) => format!("{}\n{number}", tag.unwrap_or_default()).into(),
        (Some(tag), None) => tag.into(),
        (None, None) => format!("at {} {}", meta.last_modified.to_rfc3339(), meta.size).into(),
    }
}

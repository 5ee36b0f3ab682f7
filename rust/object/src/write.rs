//! Requests that change what is stored.
//!
//! A conditional write is made only if the object is of a certain version. When it is refused, it was not made, unless
//! a request before it got no answer, and may have been carried out. Then the object is looked at: it is as it was before, it
//! holds what was to be written (by us, or by somebody who wrote the same), or nobody knows.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::fork::PerProcess;
use bytes::Bytes;
use futures_util::{stream, StreamExt};
use object_store::path::Path;
use object_store::{Error as StoreError, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion};

use crate::client::{Client, Connected};
use crate::failure::{Cause, Failure};
use crate::runtime::{GoOn, GRACE};
use crate::spans::Span;
use crate::traffic::{self, Count};

/// How often a server may answer that another request for the object is under way.
const CONFLICTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(20);
/// The pauses grow up to this one where the answer says that waiting helps.
const LONGEST: Duration = Duration::from_secs(1);
/// How often a server may answer that there is no object of a version, although it shows one.
const DENIALS: u32 = 5;
/// How often a conditional write is made that got no answer and has changed nothing.
const UNANSWERED: u32 = 3;
/// Keys whose removal has the time of one request.
const DELETED: usize = 1000;
/// Values from this length on are not written a second time to find out whether a server heeds conditions.
const SMALL: usize = 1 << 20;
/// The tag of no object.
const NO_TAG: &str = "\"00000000000000000000000000000000\"";
const ADVICE: &str = "without which changes of several writers would be lost; if nobody else writes there, pass \
                      ObjectStore.from_url(url, unsafe_shared_writes=True)";

/// What became of a conditional write.
#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    /// It was made, and this is the version of what was written.
    Done(Arc<str>),
    /// It was not made.
    Refused,
    /// It may have been made. If the object holds what was to be written, this is its version.
    Unknown(Option<Arc<str>>),
}

/// Servers that were found to heed conditions.
static HEEDING: PerProcess<Mutex<HashSet<String>>> = PerProcess::new(Mutex::default);

fn heeding<R>(use_it: impl FnOnce(&mut HashSet<String>) -> R) -> R {
    use_it(&mut HEEDING.get().lock().unwrap_or_else(PoisonError::into_inner))
}

impl Client {
    /// Replaces a value by the concatenation of parts; gives the version of what was written.
    pub fn put(&self, key: &str, parts: Vec<Bytes>, go_on: GoOn<'_>) -> Result<Arc<str>> {
        self.run(
            key,
            go_on,
            GRACE,
            move |store, key| async move { store.put(&key, PutPayload::from_iter(parts)).await },
        )
    }

    /// The same only if the object is of this version (`None`: if there is none).
    pub fn put_if(&self, key: &str, parts: Vec<Bytes>, version: Option<&str>, go_on: GoOn<'_>) -> Result<Written> {
        let version = version.map(str::to_owned);
        self.run(key, go_on, GRACE, move |store, key| async move {
            store.put_if(&key, PutPayload::from_iter(parts), version.as_deref()).await
        })
    }

    /// Removes the values that there are.
    pub fn delete(&self, keys: Vec<String>, go_on: GoOn<'_>) -> Result<()> {
        let named = keys.first().cloned().unwrap_or_default();
        self.run(&named, go_on, GRACE, move |store, _| async move { store.delete(&keys).await })
    }
}

impl Connected {
    async fn put(&self, key: &str, payload: PutPayload) -> Result<Arc<str>> {
        let (path, begun) = (self.path(key)?, Instant::now());
        for tried in 1.. {
            match self.request(|| self.opened.store.put_opts(&path, payload.clone(), PutOptions::default())).await {
                Ok((made, _)) => return Ok(self.written(&made, &payload)),
                // Another request for the object is under way.
                Err(failure) if is_conflict(&failure) && self.allows(tried, begun) => pause(tried, &failure).await,
                Err(failure) => return Err(failure.at(key)),
            }
        }
        unreachable!("the last failure is returned")
    }

    fn allows(&self, tried: u32, begun: Instant) -> bool {
        tried < CONFLICTS && begun.elapsed() < self.total.0
    }

    fn written(&self, made: &PutResult, payload: &PutPayload) -> Arc<str> {
        traffic::add(self.protocol, Count::Write, 1);
        traffic::add(self.protocol, Count::BytesWritten, payload.content_length() as u64);
        let tag = made.e_tag.as_deref().unwrap_or_default();
        match made.version.as_deref().filter(|number| *number != "null") {
            Some(number) => format!("{tag}\n{number}").into(),
            None => tag.into(),
        }
    }

    async fn put_if(&self, key: &str, payload: PutPayload, version: Option<&str>) -> Result<Written> {
        let mode = match version {
            None => PutMode::Create,
            Some(version) => PutMode::Update(condition_of(version).map_err(|error| error.at_key(key))?),
        };
        let (path, begun) = (self.path(key)?, Instant::now());
        let is_unknown = self.server.as_ref().is_some_and(|server| !heeding(|known| known.contains(server)));
        let is_there = match version {
            Some(_) => is_unknown && !self.heeds(key, version).await?,
            // An answer to HEAD would not say whether it is the bucket that is missing.
            None => is_unknown && self.look(key).await?.is_some(),
        };
        if is_there {
            return Ok(Written::Refused);
        }
        // Whether a request before this one may have been carried out.
        let (mut doubt, mut unanswered) = (false, 0);
        for tried in 1.. {
            let options = || PutOptions { mode: mode.clone(), ..PutOptions::default() };
            let failure = match self.request(|| self.opened.store.put_opts(&path, payload.clone(), options())).await {
                Ok((made, _)) => {
                    if is_unknown && version.is_none() && payload.content_length() <= SMALL {
                        // That this request fails says nothing of the one before it.
                        if let Ok(Err(ignores)) = self.refuses(&path, payload.clone()).await {
                            return Err(ignores.at_key(key));
                        }
                    }
                    return Ok(Written::Done(self.written(&made, &payload)));
                }
                Err(failure) => failure,
            };
            if is_unsupported(&failure) {
                let reason = format!("this store has no conditional writes, {ADVICE}");
                return Err(Error::new(Kind::Unsupported, reason).at_key(key));
            }
            doubt |= failure.log.uncertain_before || failure.log.uncertain;
            let mut refused = is_refusal(&failure, version);
            if is_conflict(&failure) {
                // So some servers say that there is an object already.
                refused = version.is_none() && !is_known_conflict(&failure) && self.head(key).await?.is_some();
                if !refused && self.allows(tried, begun) {
                    pause(tried, &failure).await;
                    continue;
                }
            }
            if refused
                && failure.log.status == Some(404)
                && self.head(key).await?.is_some_and(|(_, now)| Some(&*now) == version)
            {
                if tried < DENIALS {
                    pause(tried, &failure).await;
                    continue;
                }
                return Err(failure.at(key));
            }
            unanswered += u32::from(!refused);
            if !doubt {
                return if refused { Ok(Written::Refused) } else { Err(failure.at(key)) };
            }
            let stored = match self.look(key).await {
                Ok(stored) => stored,
                // The failure of the write is the one to tell of.
                Err(_) if refused => return Ok(Written::Unknown(None)),
                Err(_) => return Err(failure.at(key)),
            };
            let now = stored.as_ref().map(|(_, now)| &**now);
            if now == version {
                // It was not made, and no request that is still on its way can be made any more once this one is.
                match refused {
                    true => return Ok(Written::Refused),
                    // The request that is under way may be one of ours.
                    false if is_known_conflict(&failure) => return Ok(Written::Unknown(None)),
                    false if unanswered < UNANSWERED && self.allows(tried, begun) => continue,
                    false => return Err(failure.at(key)),
                }
            }
            let same = stored.filter(|(value, _)| *value == *Bytes::from(payload));
            return Ok(Written::Unknown(same.map(|(_, now)| now)));
        }
        unreachable!("the last failure is returned")
    }

    /// What is stored, and its version.
    async fn look(&self, key: &str) -> Result<Option<(Vec<u8>, Arc<str>)>> {
        let answer = self.get(key, &Span::WHOLE, u64::MAX, Vec::new()).await?;
        Ok(answer.map(|answer| (answer.body, answer.version)))
    }

    /// Makes sure that a server that is not the vendor's own heeds conditions, before an object is replaced; whether the
    /// object is of this version.
    async fn heeds(&self, key: &str, version: Option<&str>) -> Result<bool> {
        let Some((value, now)) = self.look(key).await? else { return Ok(version.is_none()) };
        if Some(&*now) != version {
            return Ok(false);
        }
        match self.refuses(&self.path(key)?, PutPayload::from(value)).await {
            Ok(heeds) => heeds.map(|()| true).map_err(|ignores| ignores.at_key(key)),
            Err(failure) => Err(failure.at(key)),
        }
    }

    /// Writes an object as it is, on the condition that it does not exist, and on the condition that it has a tag that
    /// nothing has: a server that heeds these changes nothing, and is known from then on.
    async fn refuses(&self, path: &Path, value: PutPayload) -> std::result::Result<Result<()>, Failure> {
        let nothing = UpdateVersion { e_tag: Some(NO_TAG.to_owned()), version: Some(i64::MAX.to_string()) };
        let conditions =
            [("If-None-Match", PutMode::Create, None), ("If-Match", PutMode::Update(nothing), Some(NO_TAG))];
        for (name, mode, version) in conditions {
            let options = || PutOptions { mode: mode.clone(), ..PutOptions::default() };
            let does = match self.request(|| self.opened.store.put_opts(path, value.clone(), options())).await {
                // Whoever takes the request for a bad one has not made it.
                Err(failure) if failure.log.status == Some(400) && !failure.log.tells_of_expiry() => continue,
                Err(failure) if is_refusal(&failure, version) || is_conflict(&failure) => continue,
                Err(failure) if is_unsupported(&failure) => "has no",
                Err(failure) => return Err(failure),
                Ok(_) => "ignores",
            };
            let reason = format!("this server {does} conditions of writes ({name}), {ADVICE}");
            return Ok(Err(Error::new(Kind::Unsupported, reason)));
        }
        heeding(|known| known.extend(self.server.clone()));
        Ok(Ok(()))
    }

    async fn delete(&self, keys: &[String]) -> Result<()> {
        for batch in keys.chunks(DELETED) {
            let paths = batch.iter().map(|key| self.path(key)).collect::<Result<Vec<_>>>()?;
            let count = paths.len() as u64;
            let named = batch.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            let work = || async {
                let mut failed = None;
                let mut done = self.opened.store.delete_stream(stream::iter(paths.clone()).map(Ok).boxed());
                while let Some(one) = done.next().await {
                    match one {
                        Ok(_) => {}
                        // Nothing was there; without a bucket, all say so.
                        Err(error @ StoreError::NotFound { .. }) => failed = Some(error),
                        Err(error) => return Err(error),
                    }
                }
                Ok(failed)
            };
            let (failed, log) = match self.request(work).await {
                Ok(done) => done,
                Err(failure) => return Err(failure.at(&named)),
            };
            if let Some(error) = failed {
                let failure =
                    Failure { cause: Cause::Store(error), log, waited: Duration::ZERO, protocol: self.protocol };
                if !failure.is_missing() {
                    return Err(failure.at(&named));
                }
            }
            traffic::add(self.protocol, Count::Write, count);
        }
        Ok(())
    }
}

/// Before the next attempt after a conflict.
async fn pause(tried: u32, failure: &Failure) {
    let longer = if is_known_conflict(failure) { 1.5_f64.powi(tried as i32) } else { 1.0 };
    tokio::time::sleep(PAUSE.mul_f64(f64::from(tried % 4) * 0.5 * longer).min(LONGEST)).await;
}

/// Whether the answer may say that another request for the object is under way.
fn is_conflict(failure: &Failure) -> bool {
    failure.log.status == Some(409) && !is_refusal(failure, None)
}

/// Whether it says so for certain.
fn is_known_conflict(failure: &Failure) -> bool {
    failure.log.status == Some(409)
        && matches!(failure.log.code.as_deref(), Some("ConditionalRequestConflict" | "OperationAborted"))
}

/// Whether the answer says that the object is not of the version.
fn is_refusal(failure: &Failure, version: Option<&str>) -> bool {
    let code = failure.log.code.as_deref();
    matches!(failure.cause, Cause::Store(_))
        && match failure.log.status {
            // Azure has one code for each state of a lease, which other versions do not end.
            Some(412) => !code.is_some_and(|code| code.starts_with("Lease")),
            Some(304) => true,
            // That is Azure's.
            Some(409) => code == Some("BlobAlreadyExists"),
            // There is nothing any more that could be of the version.
            Some(404) => version.is_some() && failure.is_missing(),
            _ => false,
        }
}

fn is_unsupported(failure: &Failure) -> bool {
    let none =
        matches!(&failure.cause, Cause::Store(StoreError::NotSupported { .. } | StoreError::NotImplemented { .. }));
    none || failure.log.status == Some(501)
}

/// The condition for a version, which must be one that nothing else has.
fn condition_of(version: &str) -> Result<UpdateVersion> {
    let (tag, number) = version.split_once('\n').map_or((version, None), |(tag, number)| (tag, Some(number)));
    if number.is_none() && (tag.is_empty() || tag.starts_with("W/") || tag.starts_with("at ")) {
        let named = if tag.is_empty() { "none" } else { tag };
        let reason = format!("expected a strong ETag from the server, found {named:?}, {ADVICE}");
        return Err(Error::new(Kind::Unsupported, reason));
    }
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Ok(UpdateVersion { e_tag: some(tag), version: number.and_then(some) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_nothing_can_be_compared_with_are_refused() {
        for version in ["", "W/\"1\"", "at 2026-11-22T00:00:00+00:00 3"] {
            let error = condition_of(version).expect_err(version);
            assert_eq!(error.kind, Kind::Unsupported);
            assert!(error.reason.contains("ETag"), "{error}");
        }
        let of = |version| condition_of(version).map(|condition| (condition.e_tag, condition.version)).expect(version);
        assert_eq!(of("\"1\""), (Some("\"1\"".to_owned()), None));
        assert_eq!(of("\"1\"\n7"), (Some("\"1\"".to_owned()), Some("7".to_owned())));
        assert_eq!(of("\n7"), (None, Some("7".to_owned())));
    }
}

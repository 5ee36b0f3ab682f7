//! What a failed request means: an error of the engine, from what was answered.

use std::time::Duration;

use blizzarr_core::error::{Error, Kind};
use object_store::client::HttpErrorKind;

use crate::exchange::{innermost, Log};
use crate::traffic::Protocol;

/// Why there is no answer that could be used.
#[derive(Debug)]
pub enum Cause {
    Store(object_store::Error),
    /// All attempts together took too long; this says which limit that was.
    Late(String),
    /// Whoever asks has none, or their provider failed.
    Credentials(object_store::Error),
}

/// A request that failed, with its repetitions.
#[derive(Debug)]
pub struct Failure {
    pub cause: Cause,
    pub log: Log,
    pub waited: Duration,
    pub protocol: Protocol,
}

/// The codes that stores have for a missing object. Azure's `ResourceNotFound` also stands for what may not be read.
const MISSING: [&str; 8] =
    ["NoSuchKey", "BlobNotFound", "PathNotFound", "ObjectNotFound", "NoSuchObject", "KeyNotFound", "NotFound", "404"];
/// Errors say how long was waited for them, from here on.
const LONG: Duration = Duration::from_millis(300);
const ADVICE: &str = "pass credentials, or skip_signature=True for public data (see ObjectStore.from_url)";

impl Failure {
    /// There is no such object, but there is a bucket in which it could be.
    ///
    /// A 404 may also be that of a proxy, or be about something else. Stores say in XML what is missing; behind HTTP, and
    /// in an answer without a text, nothing tells.
    pub fn is_missing(&self) -> bool {
        let is_told = match &self.cause {
            // `object_store` takes the 405 of a web server for a missing object.
            Cause::Store(object_store::Error::NotFound { .. }) => self.log.status != Some(405),
            Cause::Store(object_store::Error::Precondition { .. }) => self.log.status == Some(404),
            _ => false,
        };
        is_told && !self.is_without_bucket() && (self.protocol == Protocol::Http || self.tells_of_object())
    }

    fn tells_of_object(&self) -> bool {
        let is_of_many = self.log.status == Some(404) && self.log.asked.starts_with("POST ");
        let is_code = self.log.code.as_deref().is_none_or(|code| MISSING.contains(&code));
        !is_of_many && is_code && self.log.foreign.is_none()
    }

    /// A missing bucket has the same status as a missing object, but is no fill value.
    fn is_without_bucket(&self) -> bool {
        matches!(self.log.code.as_deref(), Some("NoSuchBucket" | "ContainerNotFound"))
    }

    /// The error of the engine about a key.
    pub fn at(self, key: &str) -> Error {
        let mut error = Error::new(Kind::Store, self.reason());
        error.errno = self.errno();
        error.at_key(key)
    }

    fn errno(&self) -> Option<i32> {
        match (&self.cause, self.log.status, &self.log.failure) {
            (Cause::Credentials(_), ..) | (_, Some(401 | 403), None) => Some(libc::EACCES),
            (Cause::Late(_), ..) | (_, _, Some((HttpErrorKind::Timeout, _))) => Some(libc::ETIMEDOUT),
            _ if self.is_without_bucket() => Some(libc::ENOENT),
            _ => None,
        }
    }

    fn reason(&self) -> String {
        if self.is_without_bucket() {
            return "there is no such bucket".to_owned();
        }
        let mut reason = match &self.cause {
            // What a provider raised, or gave.
            Cause::Credentials(object_store::Error::Generic { store: "credentials", source }) => source.to_string(),
            Cause::Credentials(error) => format!(
                "no credentials were found: set AWS_ACCESS_KEY_ID and its like, pass them, or skip_signature=True for \
                 public data (AWS_SKIP_SIGNATURE=true in the environment); see ObjectStore.from_url. {}",
                self.log.failure.as_ref().map_or_else(|| innermost(error), |(_, text)| self.unanswered(text))
            ),
            Cause::Late(limit) => format!("no answer within {limit}"),
            Cause::Store(error) => self.answer(error),
        };
        if self.log.requests > 1 {
            let plural = if self.log.requests > 2 { "ies" } else { "y" };
            reason += &format!(", after {} retr{plural}", self.log.requests - 1);
        }
        if self.log.malformed && self.log.asked.contains(" http://") {
            reason += "; for an endpoint that begins with http://, pass client_options={'allow_http': True}";
        }
        if self.waited >= LONG {
            reason += &format!(" (after {:.1} s)", self.waited.as_secs_f64());
        }
        let is_refused = matches!((self.log.status, &self.log.failure), (Some(401 | 403), None));
        if is_refused && !matches!(self.cause, Cause::Credentials(_)) {
            reason += &format!("; {ADVICE}");
        }
        reason
    }

    fn unanswered(&self, text: &str) -> String {
        format!("{}: {text}", self.log.asked)
    }

    fn answer(&self, error: &object_store::Error) -> String {
        if let Some((kind, text)) = &self.log.failure {
            let what = match (kind, self.log.status) {
                (HttpErrorKind::Timeout, None) => "no answer in time".to_owned(),
                (HttpErrorKind::Timeout, Some(_)) => "the answer did not end in time".to_owned(),
                (HttpErrorKind::Connect, _) => format!("no connection: {text}"),
                (_, None) => format!("no answer: {text}"),
                (_, Some(_)) => format!("the answer broke off: {text}"),
            };
            return self.unanswered(&what);
        }
        match self.log.status {
            Some(status) if status >= 300 => {
                let told = match (&self.log.message, &self.log.code, &self.log.foreign) {
                    (Some(message), Some(code), _) => format!(": {message} ({code})"),
                    (Some(text), None, _) | (None, Some(text), _) => format!(": {text}"),
                    (None, None, Some(text)) => format!(": {text}, which is no answer of a store"),
                    (None, None, None) => String::new(),
                };
                self.unanswered(&format!("the server answered {status}{told}"))
            }
            Some(_) => self.unanswered(&format!("an answer that cannot be used: {}", innermost(error))),
            None => innermost(error),
        }
    }
}

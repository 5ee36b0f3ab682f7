//! What was asked and answered in the course of one request with its repetitions.

use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use blizzarr_core::notices::{self, Topic};
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use tokio::time::Instant;
use tower_http::follow_redirect::RequestUri;

use crate::encoding::{is_compressed, is_gzipped, unpacked, values_of};
use crate::xml::{element, possible};

tokio::task_local! {
    static EXCHANGE: Arc<Exchange>;
}

/// Notes of one request with its repetitions, which outlive a request that is ended from outside.
#[derive(Debug, Default)]
pub struct Exchange(Mutex<Log>);

/// What was noted. The status, code and message are those of the last answer.
#[derive(Debug, Default, Clone)]
pub struct Log {
    pub requests: u32,
    /// `GET https://example.org/a`, without what may be credentials.
    pub asked: String,
    pub status: Option<u16>,
    /// The `Code` of an error in XML, as S3, Google Cloud and Azure send it.
    pub code: Option<String>,
    pub message: Option<String>,
    /// What happened instead of the last answer.
    pub failure: Option<(HttpErrorKind, String)>,
    /// The last request may have been carried out although no answer says so.
    pub uncertain: bool,
    /// So may one before it.
    pub uncertain_before: bool,
    /// The request could not be made, as something about it is wrong.
    pub malformed: bool,
    /// A server asked for fewer requests (429, 503).
    pub throttled: bool,
    /// A request had no answer.
    pub lost: bool,
    /// The last answer ends its connection.
    pub is_end: bool,
    /// How long the last answer took to begin.
    pub latency: Duration,
    /// The last request sent so many bytes that its latency is mostly the time that these take.
    pub is_upload: bool,
    /// What the text of the last answer is, if it is an error that no store sends, but a proxy or a gateway may.
    pub foreign: Option<String>,
    /// The last answer has a header by which a store's vendor finds a request again.
    pub is_of_store: bool,
    /// Names in a listing that no key can have, which were taken out of it.
    pub impossible: Vec<String>,
    /// So many bytes of a body are wanted at most, where they have to be counted.
    pub most: u64,
    /// The last answer does not say how long the whole is that it is a part of, or only how long that is compressed.
    pub is_of_unknown: bool,
}

/// Headers by which Amazon, Azure and Google find a request again, which others with their protocols send, too.
const REQUEST_IDS: [&str; 3] = ["x-amz-request-id", "x-ms-request-id", "x-guploader-uploadid"];
/// The codes that stores have for credentials that may be too old: of S3, and of others with its protocol; of Azure; of Google.
const EXPIRED: [&str; 8] = [
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidToken",
    "TokenRefreshRequired",
    "InvalidAccessKeyId",
    "InvalidAuthenticationInfo",
    "AuthenticationFailed",
    "AuthenticationRequired",
];
/// Why an answer is none: it may be the page to which a proxy sends those who have to log in.
const PAGE: &str = "it is a page of HTML, which is no answer of a store";
/// How many characters of a text are shown.
const EXCERPT: usize = 100;
/// Requests that send more bytes are uploads.
const SMALL: usize = 64 << 10;

impl Log {
    /// Whether the last answer says that the credentials have expired. An answer to HEAD has no text that could say so.
    pub fn tells_of_expiry(&self) -> bool {
        match (self.status, self.code.as_deref()) {
            (Some(400 | 401 | 403), Some(code)) => EXPIRED.contains(&code),
            (Some(400), None) => self.asked.starts_with("HEAD "),
            (status, None) => status == Some(401),
            _ => false,
        }
    }

    /// Why a request after this one is its repetition; other requests may belong to the same exchange.
    fn why_again(&self) -> Option<String> {
        match (&self.failure, self.status) {
            (Some((_, text)), _) => Some(text.clone()),
            (None, Some(status)) if status >= 500 || matches!(status, 408 | 429) => Some(format!("status {status}")),
            _ => None,
        }
    }
}

impl Exchange {
    /// Runs `work`, whose requests are noted here.
    pub async fn noting<R>(self: &Arc<Self>, work: impl Future<Output = R>) -> R {
        EXCHANGE.scope(Arc::clone(self), work).await
    }

    pub fn log(&self) -> Log {
        self.note(|log| log.clone())
    }

    /// An answer with the stored value for its body, and the length of that, which a server need not say where the protocol
    /// marks the end.
    async fn measured(&self, response: HttpResponse, asked: &http::Uri) -> Result<HttpResponse, HttpError> {
        let is_packed = is_gzipped(&response);
        let (mut parts, mut body) = response.into_parts();
        let note_break = |error: &HttpError| self.note(|log| log.failure = Some((error.kind(), innermost(error))));
        let part = parts.headers.get(http::header::CONTENT_RANGE).and_then(|range| part_of(range.to_str().ok()?));
        self.note(|log| log.is_of_unknown = part.is_some_and(|(_, is_of_unknown)| is_of_unknown));
        if is_packed {
            let packed = body.bytes().await.inspect_err(note_break)?;
            let value = unpacked(&packed, self.note(|log| log.most)).map_err(unusable)?;
            parts.headers.remove(http::header::CONTENT_ENCODING);
            parts.headers.insert(http::header::CONTENT_LENGTH, value.len().into());
            return Ok(HttpResponse::from_parts(parts, Bytes::from(value).into()));
        }
        let kind = parts.headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if part.is_none() && kind.is_some_and(|kind| kind.starts_with("text/html")) && !is_of_page(asked) {
            // Some servers call all values that; so it is the beginning that counts.
            let whole = body.bytes().await.inspect_err(note_break)?;
            if is_page(&String::from_utf8_lossy(&whole[..whole.len().min(EXCERPT)])) {
                return Err(unusable(PAGE.to_owned()));
            }
            body = whole.into();
        }
        // Before HTTP/2, a body that is in no chunks ends where the connection does, as one that breaks off does.
        let has_end =
            parts.version >= http::Version::HTTP_2 || parts.headers.contains_key(http::header::TRANSFER_ENCODING);
        if has_end && !parts.headers.contains_key(http::header::CONTENT_LENGTH) {
            let length = match part {
                Some((length, _)) => length,
                None => {
                    let most = self.note(|log| log.most);
                    let (pieces, length) = counted(body, most).await.inspect_err(note_break)?;
                    body = Bytes::from(pieces).into();
                    length
                }
            };
            parts.headers.insert(http::header::CONTENT_LENGTH, length.into());
        }
        Ok(HttpResponse::from_parts(parts, body))
    }

    fn note<R>(&self, change: impl FnOnce(&mut Log) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An HTTP client whose requests are noted.
#[derive(Debug)]
pub struct Noted(pub HttpClient);

#[async_trait]
impl HttpService for Noted {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Ok(exchange) = EXCHANGE.try_with(Arc::clone) else { return self.0.execute(request).await };
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let asked = format!("{method} {}", without_secrets(&uri));
        exchange.note(|log| {
            let (requests, throttled, lost, most) = (log.requests + 1, log.throttled, log.lost, log.most);
            if let Some(why) = log.why_again() {
                notices::add(Topic::Requests, format!("{asked} is repeated (request {requests}): {why}"));
            }
            let uncertain_before = log.uncertain_before || log.uncertain;
            // Until it is answered.
            *log = Log { requests, throttled, lost, most, asked, uncertain: true, uncertain_before, ..Log::default() };
        });
        // S3 and Google Cloud, and Azure.
        let is_listing = method == http::Method::GET
            && uri
                .query()
                .is_some_and(|query| query.split('&').any(|part| matches!(part, "list-type=2" | "comp=list")));
        let is_change = !matches!(method, http::Method::GET | http::Method::HEAD);
        let is_of_part = request.headers().contains_key(http::header::RANGE);
        let is_upload = request.body().content_length() > SMALL;
        let begun = Instant::now();
        let answered = self.0.execute(request).await;
        let latency = begun.elapsed();
        let response = match answered {
            Ok(response) => response,
            Err(error) => {
                exchange.note(|log| {
                    let cause =
                        std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<reqwest::Error>());
                    log.malformed = cause.is_some_and(reqwest::Error::is_builder);
                    // What was never sent was not carried out.
                    log.uncertain = !log.malformed && error.kind() != HttpErrorKind::Connect;
                    log.lost |= !log.malformed;
                    log.failure = Some((error.kind(), innermost(&error)));
                });
                return Err(match is_deletion_of_many(&method, &uri) {
                    // What is gone may be removed again, but the `object_store` crate repeats no POST that may have arrived.
                    true => HttpError::new(HttpErrorKind::Connect, error),
                    false => error,
                });
            }
        };
        let status = response.status();
        exchange.note(|log| {
            (log.latency, log.is_upload) = (latency, is_upload);
            log.is_end = is_end(&response);
            log.status = Some(status.as_u16());
            log.throttled |= matches!(status.as_u16(), 429 | 503);
            // What goes wrong within a server, or behind a proxy, may have gone wrong after the fact.
            log.uncertain = matches!(status.as_u16(), 408 | 500 | 502 | 504);
            log.is_of_store = REQUEST_IDS.iter().any(|name| response.headers().contains_key(*name));
        });
        let is_error = status.is_client_error() || status.is_server_error();
        if !(is_error || (is_listing || is_change) && status.is_success()) {
            if is_gzipped(&response) && (method == http::Method::HEAD || status == http::StatusCode::PARTIAL_CONTENT) {
                exchange.note(|log| log.is_of_unknown = true);
                return Err(unusable("it counts bytes that are compressed (Content-Encoding: gzip)".to_owned()));
            }
            let unfit = (method == http::Method::GET).then(|| unfit(&response, is_of_part)).flatten();
            return match unfit {
                Some(reason) => Err(unusable(reason)),
                None if method == http::Method::GET => exchange.measured(response, &uri).await,
                None => Ok(response),
            };
        }
        let (mut parts, body) = response.into_parts();
        let body = match body.bytes().await {
            Ok(body) => body,
            // These say enough without their text; of others, the text tells what is missing or refused.
            Err(_) if status.is_server_error() || matches!(status.as_u16(), 412 | 429) => Bytes::new(),
            Err(error) => {
                exchange.note(|log| log.failure = Some((error.kind(), innermost(&error))));
                return Err(error);
            }
        };
        let text = String::from_utf8_lossy(&body);
        if !is_error {
            let wrong = if is_change { unconfirmed(&method, &uri, &parts, &text) } else { wrong_listing(&text) };
            if let Some(wrong) = wrong {
                exchange.note(|log| log.uncertain = is_change);
                return Err(unusable(wrong));
            }
            if is_change {
                return Ok(HttpResponse::from_parts(parts, body.into()));
            }
            let (kept, impossible) = possible(&text);
            if kept.len() == text.len() {
                return Ok(HttpResponse::from_parts(parts, body.into()));
            }
            exchange.note(|log| log.impossible = impossible);
            return Ok(HttpResponse::from_parts(parts, Bytes::from(kept).into()));
        }
        exchange.note(|log| {
            log.code = element(&text, "Code");
            log.message = element(&text, "Message");
            log.foreign = foreign(&text, status.canonical_reason());
            // A store that has too much to do says so; a proxy may have lost the store's answer.
            log.uncertain |= status == http::StatusCode::SERVICE_UNAVAILABLE && log.code.is_none();
        });
        if is_change && status == http::StatusCode::CONFLICT {
            // The `object_store` crate would repeat some of these for a minute, whatever the conflict is.
            parts.status = http::StatusCode::BAD_REQUEST;
        }
        if exchange.note(|log| log.code.as_deref() == Some("RequestTimeout")) {
            // S3 has 400 for it: a body came too slowly. This status is one that the crate repeats a request for.
            parts.status = http::StatusCode::REQUEST_TIMEOUT;
        }
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
}

/// Whether an answer ends its connection, as HTTP/1.0 does unless it says otherwise.
fn is_end(response: &HttpResponse) -> bool {
    let mut options = values_of(response, http::header::CONNECTION);
    match response.version() {
        http::Version::HTTP_11 => options.any(|option| option.eq_ignore_ascii_case("close")),
        version => version < http::Version::HTTP_11 && !options.any(|option| option.eq_ignore_ascii_case("keep-alive")),
    }
}

/// Has no more than so many bytes kept of bodies whose length no server says.
pub fn keep_at_most(bytes: u64) {
    let _ = EXCHANGE.try_with(|exchange| exchange.note(|log| log.most = bytes));
}

/// The bytes of a body, none if there are more than `most`, and how many there are.
async fn counted(body: HttpResponseBody, most: u64) -> Result<(Vec<u8>, u64), HttpError> {
    let (mut stream, mut kept, mut length) = (body.bytes_stream(), Vec::new(), 0);
    while let Some(piece) = stream.next().await {
        let piece = piece?;
        length += piece.len() as u64;
        if length > most {
            kept = Vec::new();
        } else {
            kept.extend_from_slice(&piece);
        }
    }
    Ok((kept, length))
}

/// The length of the part that `bytes 4-7/10` is, and whether the length of the whole is left open, as in `bytes 4-7/*`.
fn part_of(range: &str) -> Option<(u64, bool)> {
    let (part, whole) = range.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = part.split_once('-')?;
    let length = last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)?;
    Some((length, whole == "*"))
}

/// How many requests were made so far in the course of the one that is being made.
pub fn requests_so_far() -> usize {
    EXCHANGE.try_with(|exchange| exchange.note(|log| log.requests as usize)).unwrap_or(0)
}

/// Notes that the body of an answer broke off.
pub fn broken_body(reason: String) {
    let _ = EXCHANGE.try_with(|exchange| {
        exchange.note(|log| log.failure = Some((HttpErrorKind::Interrupted, reason)));
    });
}

/// The text of the cause at the bottom, which says what the system or the protocol has found.
pub fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let (mut below, depth) = (error, Cell::new(0));
    while let Some(source) = below.source().filter(|_| depth.replace(depth.get() + 1) < 16) {
        below = source;
    }
    let text = below.to_string();
    // The number is that of the system's error.
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Why the answer to a request for a listing is none: a listing is read leniently, and a page of a proxy, say, as an empty one.
fn wrong_listing(text: &str) -> Option<String> {
    if !["<ListBucketResult", "<EnumerationResults"].iter().any(|root| text.contains(root)) {
        let told = element(text, "Code").map_or_else(String::new, |code| format!(", but {code}"));
        return Some(format!("it is no listing{told}"));
    }
    let goes_on = element(text, "IsTruncated").as_deref() == Some("true");
    (goes_on && element(text, "NextContinuationToken").is_none())
        .then(|| "the listing goes on, but does not say where".to_owned())
}

/// A URI without what may be credentials.
fn without_secrets(uri: &http::Uri) -> String {
    let host = uri.authority().map_or("", |authority| authority.as_str().rsplit('@').next().unwrap_or(""));
    // A signature behind the path may have been taken for a part of it.
    let (path, rest) = match uri.path().find("%3F") {
        Some(end) => (&uri.path()[..end], "?..."),
        None => (uri.path(), ""),
    };
    format!("{}://{host}{path}{rest}", uri.scheme_str().unwrap_or("http"))
}

fn unusable(reason: String) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, std::io::Error::other(reason))
}

/// Why the body of an answer to a GET, although it is no error, is not what is stored.
fn unfit(response: &HttpResponse, is_of_part: bool) -> Option<String> {
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    let (kind, encoding) = (header(http::header::CONTENT_TYPE), header(http::header::CONTENT_ENCODING));
    match response.status().as_u16() {
        206 if !is_of_part => Some("it is a part (206), although all was requested".to_owned()),
        _ if is_compressed(response) => {
            Some(format!("its body is compressed (Content-Encoding: {encoding}), which no request has asked for"))
        }
        _ if kind.starts_with("multipart/byteranges") => Some("it has several parts in one body".to_owned()),
        // Redirects are errors without us.
        status @ (201 | 202 | 204 | 205 | 207..=299) => Some(format!("the status {status} is none of a read")),
        _ => None,
    }
}

/// Why an answer, although it is no error, does not say that a change was made.
fn unconfirmed(method: &http::Method, asked: &http::Uri, parts: &http::response::Parts, text: &str) -> Option<String> {
    let sent = reqwest::Url::parse(&asked.to_string()).ok().and_then(|url| url.as_str().parse().ok());
    let answered = parts.extensions.get::<RequestUri>().map(|uri| &uri.0);
    if answered != sent.as_ref() {
        // Most redirects of a change make a GET of it.
        let origin = answered.map_or_else(|| "another place".to_owned(), without_secrets);
        return Some(format!("it comes from {origin}, where the server has sent the request, and confirms nothing"));
    }
    // The page to which a proxy sends those who have to log in, say.
    let is_read = !text.is_empty() && parts.headers.contains_key(http::header::LAST_MODIFIED);
    let lists_deleted = !is_deletion_of_many(method, asked) || text.contains("<DeleteResult");
    let error = element(text, "Code").filter(|_| method == http::Method::PUT && text.contains("<Error"));
    match () {
        () if is_page(text) => Some(PAGE.to_owned()),
        () if is_read => Some("it is that of a read, as after a redirect to the same place".to_owned()),
        () if !lists_deleted => Some("it does not say what was deleted".to_owned()),
        () => error.map(|code| format!("it is the error {code}")),
    }
}

/// Whether a request names many objects that S3 is to delete.
fn is_deletion_of_many(method: &http::Method, asked: &http::Uri) -> bool {
    method == http::Method::POST && asked.query() == Some("delete")
}

/// Whether a request is for what its name says is a page.
fn is_of_page(asked: &http::Uri) -> bool {
    asked.path().ends_with(".html") || asked.path().ends_with(".htm")
}

/// What the text of an error is, if no store sends such a text.
fn foreign(text: &str, reason: Option<&str>) -> Option<String> {
    let text = text.trim();
    if is_page(text) {
        return Some("a page of HTML".to_owned());
    }
    // A text that repeats the status says no more than none.
    let is_empty = text.is_empty() || reason.is_some_and(|reason| text.eq_ignore_ascii_case(reason));
    let begin: String = text.chars().take(EXCERPT).collect();
    (!is_empty && !text.starts_with('<')).then(|| format!("{begin:?}"))
}

/// Whether a text is a page of HTML.
fn is_page(text: &str) -> bool {
    let begin = text.trim_start().get(..14).unwrap_or(text.trim_start()).to_ascii_lowercase();
    begin.starts_with("<!doctype html") || begin.starts_with("<html")
}

#[cfg(test)]
mod tests {
    use super::is_page;

    #[test]
    fn a_page_is_no_error_of_a_store() {
        assert!(is_page("\n<!DOCTYPE html><html>") && is_page("<HTML><body>"));
        assert!(!is_page("<?xml version=\"1.0\"?><Error>") && !is_page("") && !is_page("not found: ü"));
    }
}

//! What was asked and answered in the course of one request with its repetitions.

use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use blizzarr_core::notices::{self, Topic};
use bytes::Bytes;
use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService};
use object_store::path::Path;
use tokio::time::Instant;

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
    /// How long the last answer took to begin.
    pub latency: Duration,
    /// The last request sent so many bytes that its latency is mostly the time that these take.
    pub is_upload: bool,
    /// The last answer is an error with a page for people to read, as proxies send it, not the store.
    pub is_page: bool,
    /// Names in a listing that no key can have, which were taken out of it.
    pub impossible: Vec<String>,
}

/// Requests that send more bytes are uploads.
const SMALL: usize = 64 << 10;

impl Log {
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
        let uri = request.uri();
        let host = uri.authority().map_or("", |authority| authority.as_str().rsplit('@').next().unwrap_or(""));
        // A signature behind the path may have been taken for a part of it.
        let (path, rest) = match uri.path().find("%3F") {
            Some(end) => (&uri.path()[..end], "?..."),
            None => (uri.path(), ""),
        };
        let asked = format!("{} {}://{host}{path}{rest}", request.method(), uri.scheme_str().unwrap_or("http"));
        exchange.note(|log| {
            let (requests, throttled) = (log.requests + 1, log.throttled);
            if let Some(why) = log.why_again() {
                notices::tell(Topic::Requests, format!("{asked} is repeated (request {requests}): {why}"));
            }
            let uncertain_before = log.uncertain_before || log.uncertain;
            // Until it is answered.
            *log = Log { requests, throttled, asked, uncertain: true, uncertain_before, ..Log::default() };
        });
        // S3 and Google Cloud, and Azure.
        let is_listing = request.method() == http::Method::GET
            && uri
                .query()
                .is_some_and(|query| query.split('&').any(|part| matches!(part, "list-type=2" | "comp=list")));
        let is_change = !matches!(*request.method(), http::Method::GET | http::Method::HEAD);
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
                    log.failure = Some((error.kind(), innermost(&error)));
                });
                return Err(error);
            }
        };
        let status = response.status();
        exchange.note(|log| {
            (log.latency, log.is_upload) = (latency, is_upload);
            log.status = Some(status.as_u16());
            log.throttled |= matches!(status.as_u16(), 429 | 503);
            // What goes wrong within a server, or behind a proxy, may have gone wrong after the fact.
            log.uncertain = matches!(status.as_u16(), 408 | 500 | 502 | 504);
        });
        let is_error = status.is_client_error() || status.is_server_error();
        if !(is_error || (is_listing || is_change) && status.is_success()) {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
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
            let wrong = match is_change {
                // The page to which a proxy sends those who have to log in, say: nothing was changed.
                true => is_page(&text).then(|| "it is a page of HTML, which is no answer of a store".to_owned()),
                false => wrong_listing(&text),
            };
            if let Some(wrong) = wrong {
                return Err(HttpError::new(HttpErrorKind::Decode, std::io::Error::other(wrong)));
            }
            if is_change {
                return Ok(HttpResponse::from_parts(parts, body.into()));
            }
            let (kept, impossible) = possible(&text);
            if impossible.is_empty() {
                return Ok(HttpResponse::from_parts(parts, body.into()));
            }
            exchange.note(|log| log.impossible = impossible);
            return Ok(HttpResponse::from_parts(parts, Bytes::from(kept).into()));
        }
        exchange.note(|log| {
            log.code = element(&text, "Code");
            log.message = element(&text, "Message");
            log.is_page = is_page(&text);
        });
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
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

/// Whether a text is a page of HTML.
fn is_page(text: &str) -> bool {
    let begin = text.trim_start().get(..14).unwrap_or(text.trim_start()).to_ascii_lowercase();
    begin.starts_with("<!doctype html") || begin.starts_with("<html")
}

/// A listing without the entries whose names no key can have, like `a//b`, and these names. The `object_store` crate would
/// refuse the whole listing.
fn possible(listing: &str) -> (String, Vec<String>) {
    // S3 and Google Cloud, and Azure.
    const ENTRIES: [(&str, &str); 4] =
        [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];
    let (mut cuts, mut impossible) = (Vec::new(), Vec::new());
    for (entry, name) in ENTRIES {
        let (open, close, named) = (format!("<{entry}>"), format!("</{entry}>"), format!("<{name}>"));
        let mut end = 0;
        while let Some(start) = listing[end..].find(&open).map(|start| end + start) {
            let Some(length) = listing[start..].find(&close) else { break };
            end = start + length + close.len();
            let text = listing[start..end].split_once(&named).and_then(|(_, rest)| rest.split_once('<'));
            let found = text.map(|(name, _)| unescaped(name)).unwrap_or_default();
            if Path::parse(&found).is_err() {
                cuts.push(start..end);
                impossible.push(found);
            }
        }
    }
    cuts.sort_by_key(|cut| cut.start);
    let (mut kept, mut end) = (String::new(), 0);
    for cut in cuts {
        kept.push_str(&listing[end..cut.start]);
        end = cut.end;
    }
    kept.push_str(&listing[end..]);
    (kept, impossible)
}

/// A text of XML with the characters that its references stand for.
fn unescaped(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut found = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(';').unwrap_or(("", piece));
        let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        });
        let named = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\'')];
        let known = named.into_iter().find(|(known, _)| *known == name).map(|(_, character)| character);
        match number.and_then(char::from_u32).or(known) {
            Some(character) => found.push(character),
            None => {
                found.push('&');
                found.push_str(name);
            }
        }
        found.push_str(rest);
    }
    found
}

/// The text within an element of an error in XML.
fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    let inside = inside.trim().trim_end_matches('.');
    (!inside.is_empty()).then(|| inside.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{element, is_page, possible};

    #[test]
    fn a_page_is_no_error_of_a_store() {
        assert!(is_page("\n<!DOCTYPE html><html>") && is_page("<HTML><body>"));
        assert!(!is_page("<?xml version=\"1.0\"?><Error>") && !is_page("") && !is_page("not found: ü"));
    }

    #[test]
    fn names_that_no_key_can_have_are_taken_out_of_a_listing() {
        let entry = |name: &str| format!("<Contents><Key>{name}</Key><Size>1</Size></Contents>");
        let listing = |entries: &[&str]| {
            let inside: String = entries.iter().map(|name| entry(name)).collect();
            format!("<ListBucketResult><Prefix>a//</Prefix>{inside}</ListBucketResult>")
        };
        let (kept, impossible) = possible(&listing(&["a/b", "a//b", "c", "d&#10;e&amp;", "f/&lt;/.."]));
        assert_eq!(kept, listing(&["a/b", "c"]));
        assert_eq!(impossible, ["a//b", "d\ne&", "f/</.."]);
        let azure = "<Blobs><Blob><Name>a</Name><P/></Blob><BlobPrefix><Name>b//</Name></BlobPrefix></Blobs>";
        assert_eq!(
            possible(azure),
            ("<Blobs><Blob><Name>a</Name><P/></Blob></Blobs>".to_owned(), vec!["b//".to_owned()])
        );
    }

    #[test]
    fn the_code_and_the_message_of_an_error() {
        let text = "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>Gone.</Message></Error>";
        assert_eq!(element(text, "Code").as_deref(), Some("NoSuchKey"));
        assert_eq!(element(text, "Message").as_deref(), Some("Gone"));
        assert_eq!(element("<html>", "Code"), None);
        assert_eq!(element("<Code></Code>", "Code"), None);
    }
}

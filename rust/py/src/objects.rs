//! `_native.ObjectClient`: requests to object stores and to servers of HTTP, for Python and for the engine.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use blizzarr_core::cache::changes;
use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::interrupt::{ending, Interrupt};
use blizzarr_core::store::version::{Status, Version};
use blizzarr_core::store::{Conditional, Locker, Reader, Requests, Store};
use blizzarr_core::{fork, pool};
use blizzarr_object::client::{Answer, Client};
use blizzarr_object::reader::{ObjectReader, ObjectRequests};
use blizzarr_object::settings::{Provided, Provider, Settings};
use blizzarr_object::spans::Wanted;
use blizzarr_object::traffic::{self, PROTOCOLS};
use blizzarr_object::write::Written;
use bytes::Bytes;
use object_store::{BackoffConfig, RetryConfig};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::buffer::Buffer;
use crate::ending::{self, call};
use crate::errors::{entry, foreign, handed, of_signal, raise};
use crate::foreign::PythonStore;

/// A store of objects, reached without Python.
#[pyclass(name = "ObjectClient", module = "blizzarr._native", frozen)]
pub struct ObjectClient {
    pub client: Arc<Client>,
    /// The server, if that is another one than the vendor's own.
    #[pyo3(get)]
    endpoint: Option<String>,
    /// The account of Azure.
    #[pyo3(get)]
    account: Option<String>,
    /// Called while Python waits for an answer; what it raises ends the request.
    go_on: Py<PyAny>,
}

type Pairs = Vec<(String, String)>;
type Retry = (Option<usize>, Option<f64>, Option<f64>, Option<f64>, Option<f64>);
/// Keys with the lengths of their values, and prefixes.
type Listing = (Vec<(String, u64)>, Vec<String>);

#[pymethods]
impl ObjectClient {
    /// `retry` is how often a request is made again, in how many seconds at most, the first and the longest pause before that,
    /// and by what factor one is longer than that before it. An option that does not exist is a `KeyError`.
    #[new]
    #[pyo3(signature = (protocol, bucket, prefix, *, options, headers, retry, go_on, provider=None))]
    #[allow(clippy::too_many_arguments)] // what a user configures; Python names each
    fn new(
        py: Python<'_>,
        protocol: &str,
        bucket: String,
        prefix: String,
        options: Pairs,
        headers: Pairs,
        retry: Retry,
        go_on: Py<PyAny>,
        provider: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        entry(py, "open a store", None, || {
            let known = PROTOCOLS.into_iter().find(|(_, name)| *name == protocol);
            let (protocol, _) =
                known.ok_or_else(|| PyValueError::new_err(format!("there is no protocol {protocol:?}")))?;
            let retry = retries(retry)?;
            let provider = provider.map(credentials_of);
            let settings = Settings { protocol, bucket, prefix, options, headers, retry, provider };
            let opened = Client::new(settings).map_err(wrong)?;
            let (endpoint, account) = opened.server().map_err(wrong)?;
            Ok(ObjectClient { client: Arc::new(opened), endpoint, account, go_on })
        })
    }

    /// The value and its version; `None` if there is none.
    fn get<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<(Bound<'py, PyBytes>, String)>> {
        self.run(
            py,
            false,
            |go_on| self.client.get(key, u64::MAX, Vec::new(), go_on),
            |py, answer| Ok((handed(py, &answer.body)?, answer.version.to_string())),
        )
    }

    /// Many values and their versions, requested at once; `None` for each that there is not.
    fn get_many<'py>(&self, py: Python<'py>, keys: Vec<String>) -> PyResult<Bound<'py, PyList>> {
        let found = self.run(
            py,
            false,
            |go_on| self.client.get_many(keys, go_on).map(Some),
            |py, answers| {
                let one = |answer: &Answer| Ok((handed(py, &answer.body)?, answer.version.to_string()));
                let values = answers.iter().map(|answer| answer.as_ref().map(one).transpose());
                PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
            },
        )?;
        found.ok_or_else(|| PyValueError::new_err("many requests have an answer"))
    }

    /// Parts of one version of the value, `version` if that is given, and the version; `None` if there is no value.
    #[pyo3(signature = (key, ranges, version=None))]
    fn get_ranges<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        ranges: Vec<Wanted>,
        version: Option<String>,
    ) -> PyResult<Option<(Bound<'py, PyList>, String)>> {
        let version: Option<Arc<str>> = version.map(Into::into);
        self.run(
            py,
            false,
            |go_on| self.client.get_ranges(key, &ranges, version, go_on),
            |py, parts| {
                let mut values: Vec<Option<Bound<'py, PyBytes>>> = ranges.iter().map(|_| None).collect();
                parts.each(&ranges, |number, bytes| -> PyResult<()> {
                    values[number] = Some(handed(py, bytes)?);
                    Ok(())
                })?;
                Ok((PyList::new(py, values)?, parts.version.to_string()))
            },
        )
    }

    /// The length of the value in bytes, and its version; `None` if there is none.
    fn head(&self, py: Python<'_>, key: &str) -> PyResult<Option<(u64, String)>> {
        self.run(py, false, |go_on| self.client.head(key, go_on), |_, (size, version)| Ok((size, version.to_string())))
    }

    /// All keys under a prefix, or what is directly under it: keys with the lengths of their values, and prefixes.
    fn list(&self, py: Python<'_>, prefix: &str, direct: bool) -> PyResult<Listing> {
        let listed = self.run(
            py,
            false,
            |go_on| self.client.list(prefix, direct, go_on).map(Some),
            |_, listed| Ok((listed.objects, listed.prefixes)),
        )?;
        Ok(listed.unwrap_or_default())
    }

    /// Replaces the value; gives the version of what was written.
    fn put(&self, py: Python<'_>, key: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
        let value = vec![bytes_of(value)?];
        self.change(py, |go_on| self.client.put(key, value, go_on)).map(|made| made.to_string())
    }

    /// Replaces the value if it is of this version (`None`: if there is none): `("done", version)`, `("refused", None)`,
    /// or `("unknown", version)`, where the version is there if what is stored is what was to be written.
    fn put_if(
        &self,
        py: Python<'_>,
        key: &str,
        value: &Bound<'_, PyAny>,
        version: Option<&str>,
    ) -> PyResult<(&'static str, Option<String>)> {
        let value = vec![bytes_of(value)?];
        Ok(match self.change(py, |go_on| self.client.put_if(key, value, version, go_on))? {
            Written::Done(made) => ("done", Some(made.to_string())),
            Written::Refused => ("refused", None),
            Written::Unknown(same) => ("unknown", same.map(|same| same.to_string())),
        })
    }

    /// Removes the values that there are.
    fn delete(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<()> {
        self.change(py, |go_on| self.client.delete(keys, go_on))
    }
}

/// What is wrong with what a user has configured.
fn wrong(error: object_store::Error) -> PyErr {
    match error {
        object_store::Error::UnknownConfigurationKey { key, .. } => PyKeyError::new_err(key),
        error => PyValueError::new_err(error.to_string()),
    }
}

fn retries((max_retries, retry_timeout, init_backoff, max_backoff, base): Retry) -> PyResult<RetryConfig> {
    let seconds = |given: Option<f64>, otherwise: Duration| match given {
        Some(number) => Duration::try_from_secs_f64(number).map_err(|error| PyValueError::new_err(error.to_string())),
        None => Ok(otherwise),
    };
    let usual = RetryConfig::default();
    let backoff = BackoffConfig {
        init_backoff: seconds(init_backoff, usual.backoff.init_backoff)?,
        max_backoff: seconds(max_backoff, usual.backoff.max_backoff)?,
        base: base.unwrap_or(usual.backoff.base),
    };
    let retry_timeout = seconds(retry_timeout, usual.retry_timeout)?;
    Ok(RetryConfig { backoff, max_retries: max_retries.unwrap_or(usual.max_retries), retry_timeout })
}

/// The bytes of a value, which is copied: it is sent from other threads.
fn bytes_of(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    Ok(Bytes::copy_from_slice(Buffer::reading(value)?.bytes()?))
}

impl ObjectClient {
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Fn() -> Result<()>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = self.run(py, true, |go_on| work(go_on).map(Some), |_, done| Ok(done))?;
        done.ok_or_else(|| PyValueError::new_err("a change has an answer"))
    }

    fn run<'py, T: Send, R>(
        &self,
        py: Python<'py>,
        is_write: bool,
        ask: impl FnOnce(&dyn Fn() -> Result<()>) -> Result<Option<T>> + Send,
        answer: impl FnOnce(Python<'py>, T) -> PyResult<R>,
    ) -> PyResult<Option<R>> {
        entry(py, "ask a store", None, || {
            let waiting = &self.go_on;
            let go_on = || {
                check_end()?;
                ending::attach(|py| {
                    py.check_signals().map_err(of_signal)?;
                    call(waiting.bind(py), (is_write,), None).map(drop).map_err(|raised| foreign(py, raised))
                })
            };
            let outcome = py.detach(|| ask(&go_on)).map_err(|error| raise(py, error, None))?;
            outcome.map(|outcome| answer(py, outcome)).transpose()
        })
    }
}

fn check_end() -> Result<()> {
    if ending() && !fork::is_first_thread() {
        return Err(Error::new(Kind::Store, "the interpreter is ending"));
    }
    Ok(())
}

/// Asked while the engine waits for an answer: a write is ended only by an interrupt.
fn go_on(is_write: bool) -> Result<()> {
    check_end()?;
    if pool::is_given_up(is_write) {
        return Err(Error::new(
            Kind::Store,
            "given up, as another part of the operation has failed or was interrupted",
        ));
    }
    if !fork::is_first_thread() {
        return Ok(());
    }
    ending::attach(|py| py.check_signals().map_err(of_signal))
}

fn reading() -> Result<()> {
    go_on(false)
}

fn writing() -> Result<()> {
    go_on(true)
}

/// A function of the user that gives credentials: a mapping with `expires_at`, a time or `None`.
fn credentials_of(function: Py<PyAny>) -> Provider {
    Arc::new(move || {
        ending::attach(|py| {
            let ask = || -> PyResult<Provided> {
                let answer = call(function.bind(py), (), None)?;
                let mut members = HashMap::new();
                for name in ["access_key_id", "secret_access_key", "token", "access_key", "sas_token"] {
                    let value = answer.call_method1(intern!(py, "get"), (name,))?;
                    if !value.is_none() {
                        members.insert(name.to_owned(), value.extract()?);
                    }
                }
                let expires = answer.call_method1(intern!(py, "get"), ("expires_at",))?;
                let expires = match expires.is_none() {
                    true => None,
                    false => {
                        let stamp: f64 = expires.call_method0(intern!(py, "timestamp"))?.extract()?;
                        // What the clock never shows is never.
                        let since = Duration::try_from_secs_f64(stamp.max(0.0)).ok();
                        since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since))
                    }
                };
                Ok((members, expires))
            };
            ask().map_err(|raised| format!("the credential provider failed: {raised}"))
        })
    })
}

/// What this process has asked of object stores and sent to them: `(protocol, what, sum)`.
#[pyfunction]
pub fn object_traffic() -> Vec<(&'static str, &'static str, u64)> {
    traffic::sums().collect()
}

/// A store of objects, whose requests are made without Python.
pub struct RemoteStore {
    client: Arc<Client>,
    /// The store in Python, which has the locks of writers in this process, and the errors of one that is read-only.
    python: PythonStore,
    writable: bool,
}

impl RemoteStore {
    pub fn new(client: Arc<Client>, python: PythonStore, writable: bool) -> Self {
        RemoteStore { client, python, writable }
    }

    fn reader<'a>(&'a self, key: &'a str, version: Option<Arc<str>>) -> Box<dyn Reader + 'a> {
        Box::new(ObjectReader::new(&self.client, key, version, &reading))
    }

    /// Tells caches, whatever became of a change.
    fn noting<R>(&self, key: &str, done: Result<R>) -> Result<R> {
        changes::value(|| self.python.full_name(key));
        done
    }
}

/// The parts of a value, which are copied: they are sent from other threads.
fn copied(parts: &[&[u8]]) -> Vec<Bytes> {
    parts.iter().map(|part| Bytes::copy_from_slice(part)).collect()
}

impl Store for RemoteStore {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        Ok(Some(self.reader(key, None)))
    }

    fn open_pinned<'a>(&'a self, key: &'a str, version: Arc<str>) -> Result<Option<Box<dyn Reader + 'a>>> {
        Ok(Some(self.reader(key, Some(version))))
    }

    fn whole_values<'a>(&'a self) -> Result<Option<Box<dyn Requests + 'a>>> {
        Ok(Some(Box::new(ObjectRequests::new(&self.client, &reading)?)))
    }

    fn conditional(&self) -> Option<&dyn Conditional> {
        match self.writable {
            true => self.python.conditional().map(|_| self as &dyn Conditional),
            false => self.python.conditional(),
        }
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        if !self.writable {
            return self.python.set(key, parts);
        }
        self.noting(key, self.client.put(key, copied(parts), &writing).map(drop))
    }

    fn delete(&self, key: &str) -> Result<bool> {
        if !self.writable {
            return self.python.delete(key);
        }
        if self.client.head(key, &reading)?.is_none() {
            return Ok(false);
        }
        self.noting(key, self.client.delete(vec![key.to_owned()], &writing).map(|()| true))
    }

    fn full_name(&self, key: &str) -> Option<String> {
        self.python.full_name(key)
    }

    fn status(&self, key: &str) -> Result<Status> {
        let head = self.client.head(key, &reading)?;
        Ok(head.map_or(Status::Missing, |(_, version)| Status::Is(Version::named(version.as_bytes()))))
    }

    fn remote(&self) -> bool {
        true
    }

    fn requests(&self) -> usize {
        pool::most_requests()
    }

    fn tells_versions(&self) -> bool {
        true
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.client.head(key, &reading)?.map(|(size, _)| size))
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        self.python.locker(lock_key, interrupt)
    }
}

impl Conditional for RemoteStore {
    fn get_with_version(&self, key: &str) -> Result<Option<(Vec<u8>, String)>> {
        let found = self.client.get(key, u64::MAX, Vec::new(), &reading)?;
        Ok(found.map(|value| (value.body, value.version.to_string())))
    }

    fn set_if_version(&self, key: &str, parts: &[&[u8]], version: Option<&str>) -> Result<bool> {
        // Where nobody knows, what is stored now is merged with what is to be written again, which changes nothing if that is
        // in it already.
        let written = self.noting(key, self.client.put_if(key, copied(parts), version, &writing))?;
        Ok(matches!(written, Written::Done(_) | Written::Unknown(Some(_))))
    }
}

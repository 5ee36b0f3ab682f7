//! Engine errors become the exceptions of `blizzarr.errors`, with their place as fields.

use std::cell::Cell;

use blizzarr_core::error::{Direction, Error, Kind};
use blizzarr_core::panics;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::buffer::to_python;
use crate::ending::call;

static ERRORS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

thread_local! {
    /// What this thread was asked for.
    static OPERATION: Cell<&'static str> = const { Cell::new("") };
}

/// Where an array is, as errors tell it.
pub struct Place {
    /// Its path within the store.
    pub array: String,
    /// The store, whose text is made when there is an error.
    pub store: Option<Py<PyAny>>,
}

impl Place {
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Place { array: self.array.clone(), store: self.store.as_ref().map(|store| store.clone_ref(py)) }
    }
}

/// What the handler of a signal raised. Whatever it is, it goes to the caller as it is: it says nothing of a store.
struct OfSignal(PyErr);

/// Runs the body of one entry of the border. A panic in it, a bug of ours, is an `InternalError`: what pyo3 would make of
/// it is no `Exception`, and passes by whoever handles errors.
pub fn entry<R>(
    py: Python<'_>,
    operation: &'static str,
    place: Option<&Place>,
    body: impl FnOnce() -> PyResult<R>,
) -> PyResult<R> {
    let outer = OPERATION.replace(operation);
    let outcome = panics::catch(body).unwrap_or_else(|error| Err(raise(py, error, place)));
    OPERATION.set(outer);
    outcome
}

/// A value on its way to Python.
pub fn handed<'py>(py: Python<'py>, value: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    to_python(py, value).map_err(|error| raise(py, error, None))
}

/// The module of our exceptions.
pub fn classes(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    Ok(ERRORS.get_or_try_init(py, || py.import("blizzarr.errors").map(|module| module.into_any().unbind()))?.bind(py))
}

/// The exception for `error`, which happened to the array at `place`.
pub fn raise(py: Python<'_>, error: Error, place: Option<&Place>) -> PyErr {
    build(py, error, place).unwrap_or_else(|failure| failure)
}

fn build(py: Python<'_>, mut error: Error, place: Option<&Place>) -> PyResult<PyErr> {
    let location = error.location().map(str::to_owned);
    let payload = match error.payload.take().map(|payload| payload.downcast::<OfSignal>()) {
        Some(Ok(raised)) => return Ok(raised.0),
        Some(Err(payload)) => payload.downcast::<PyErr>().ok(),
        None => None,
    };
    let module = classes(py)?;
    if let Some(raised) = &payload {
        // Ours already, or not for us to wrap (KeyboardInterrupt, SystemExit).
        let ours = raised.is_instance(py, &module.getattr("BlizzarrError")?);
        if ours || !raised.is_instance_of::<PyException>(py) {
            return Ok(raised.clone_ref(py));
        }
    }
    let class = match error.kind {
        Kind::Codec => "CodecError",
        Kind::Checksum => "ChecksumError",
        Kind::ShardIndex => "ShardIndexError",
        Kind::Store => "StoreError",
        Kind::Unsupported => "UnsupportedOperationError",
        Kind::Path => "PathError",
        Kind::Conflict => "ConflictError",
        Kind::Limit => "LimitError",
        Kind::Request => "SelectionError",
        Kind::OutOfBounds => "OutOfBoundsError",
        Kind::Internal => "InternalError",
        Kind::Foreign if error.codec.is_some() => "CodecError",
        Kind::Foreign => "StoreError",
    };
    let fields = PyDict::new(py);
    if let Some(place) = place {
        fields.set_item("array", &place.array)?;
        // A store that cannot say where it is must not hide what happened.
        if let Some(Ok(store)) = place.store.as_ref().map(|store| store.bind(py).str()) {
            fields.set_item("store", store)?;
        }
    }
    if let Some(key) = &error.key {
        fields.set_item("key", &**key)?;
    }
    if let Some(chunk) = error.chunk {
        let chunk = chunk.iter().chain(error.inner.iter().flatten()).copied().collect::<Vec<i64>>();
        fields.set_item("chunk", PyTuple::new(py, chunk)?)?;
    }
    if let Some(codec) = error.codec {
        fields.set_item("codec", codec)?;
    }
    if let Some(direction) = error.direction {
        fields.set_item("direction", if direction == Direction::Decode { "decode" } else { "encode" })?;
    }
    if let (Some(errno), Kind::Store) = (error.errno, error.kind) {
        fields.set_item("errno", errno)?;
    }
    if error.kind == Kind::Internal {
        fields.set_item("operation", OPERATION.get())?;
        fields.set_item("version", env!("CARGO_PKG_VERSION"))?;
        fields.set_item("location", location.as_deref())?;
    }
    let exception = call(&module.getattr(class)?, (error.reason,), Some(&fields))?;
    let raised = PyErr::from_value(exception);
    if let Some(cause) = payload {
        raised.set_cause(py, Some(*cause));
    }
    Ok(raised)
}

/// What a codec in Python raised. Ours say what was found, and the place is added where they are made again; others
/// become the cause of ours.
pub fn of_codec(py: Python<'_>, raised: PyErr) -> Error {
    if let Ok(Some((kind, reason))) = kind_of(py, &raised) {
        return Error::new(kind, reason);
    }
    let error = foreign(py, raised);
    // Short memory, KeyboardInterrupt and the like are no damage.
    Error { kind: if error.kind == Kind::Foreign { Kind::Codec } else { error.kind }, ..error }
}

/// The kind and the reason of an exception that codecs of ours raise.
fn kind_of(py: Python<'_>, raised: &PyErr) -> PyResult<Option<(Kind, String)>> {
    let module = classes(py)?;
    for (class, kind) in [("ChecksumError", Kind::Checksum), ("CodecError", Kind::Codec), ("LimitError", Kind::Limit)] {
        if raised.is_instance(py, &module.getattr(class)?) {
            return Ok(Some((kind, raised.value(py).getattr("reason")?.extract()?)));
        }
    }
    Ok(None)
}

/// What the handler of a signal raised, on its way through the engine.
pub fn of_signal(raised: PyErr) -> Error {
    let mut error = Error::new(Kind::Request, "the handler of a signal raised an exception");
    error.payload = Some(Box::new(OfSignal(raised)));
    error
}

/// What a store raised that was asked for a certain version of a value.
pub fn of_other_version(py: Python<'_>, raised: PyErr) -> Error {
    let class = classes(py).and_then(|module| module.getattr("ConflictError"));
    match class.and_then(|class| raised.value(py).is_instance(&class)) {
        Ok(true) => Error { kind: Kind::Conflict, ..foreign(py, raised) },
        _ => foreign(py, raised),
    }
}

/// What foreign (Python) code raised, on its way through the engine.
pub fn foreign(py: Python<'_>, raised: PyErr) -> Error {
    // See `blizzarr.stores.failures`: a store that waits in Python is where signals are handled, also before its first line.
    let value = raised.clone_ref(py).into_value(py).into_bound(py); // with its traceback
    let is_of_signal = || py.import("blizzarr.interrupts")?.call_method1("is_of_signal", (&value,))?.is_truthy();
    if value.hasattr(intern!(py, "_blizzarr_of_signal")).unwrap_or(false) || is_of_signal().unwrap_or(false) {
        return of_signal(raised);
    }
    let mut reason = value.to_string();
    if reason.is_empty() {
        // Better than nothing: EOFError and the like often say no more than their name.
        reason = raised.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    }
    let kind = match () {
        _ if raised.is_instance_of::<PyMemoryError>(py) => Kind::Limit,
        _ if raised.is_instance_of::<PyException>(py) => Kind::Foreign,
        // KeyboardInterrupt and the like ask to stop.
        _ => Kind::Request,
    };
    let mut error = Error::new(kind, reason);
    if raised.is_instance_of::<PyOSError>(py) {
        error.errno = raised.value(py).getattr("errno").ok().and_then(|errno| errno.extract().ok());
    }
    error.payload = Some(Box::new(raised));
    error
}

//! `_native.LocalStore`, `_native.MemoryStore` and `_native.RenamedStore`: the engine's own stores, for Python.

use std::sync::{Arc, Mutex, PoisonError};

use blizzarr_core::cache::changes;
use blizzarr_core::error::{Error, Result};
use blizzarr_core::interrupt::never;
use blizzarr_core::store::durability::{self, Level};
use blizzarr_core::store::local::{Links, LocalOptions, LocalStore, Locking};
use blizzarr_core::store::memory::MemoryStore;
use blizzarr_core::store::renamed::RenamedStore;
use blizzarr_core::store::version::{Status, Version};
use blizzarr_core::store::{hashed, many, Guard, ListableStore, Store};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
#[cfg(feature = "remote")]
use pyo3::types::PyBool;
use pyo3::types::{PyBytes, PyList};

use crate::buffer::Buffer;
use crate::ending::{self, call};
use crate::errors::{entry, foreign, handed, raise};
use crate::foreign::PythonStore;
#[cfg(feature = "remote")]
use crate::objects::{ObjectClient, RemoteStore};
use crate::signals::watching_signals;

/// A store that the engine reaches without Python.
#[pyclass(name = "NativeStore", module = "blizzarr._native", subclass, frozen)]
pub struct NativeStore {
    store: Arc<dyn ListableStore>,
    /// Where it is, for errors; `None` for memory, of which nobody knows more than that.
    root: Option<String>,
}

/// A directory; see `blizzarr.stores.LocalStore`.
#[pyclass(name = "LocalStore", module = "blizzarr._native", extends = NativeStore, frozen)]
pub struct PyLocalStore {
    local: Arc<LocalStore>,
    /// Whether there was a file in place of the directory, or of one above it, when the store was made.
    #[pyo3(get)]
    is_blocked: bool,
}

/// Values in memory; see `blizzarr.stores.MemoryStore`.
#[pyclass(name = "MemoryStore", module = "blizzarr._native", extends = NativeStore, frozen)]
pub struct PyMemoryStore {
    memory: Arc<MemoryStore>,
}

/// Held by whoever deletes documents.
#[pyclass(module = "blizzarr._native", frozen)]
pub struct DocumentLocks {
    held: Mutex<Vec<Box<dyn Guard + Send>>>,
}

#[pymethods]
impl DocumentLocks {
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        entry(py, "release locks", None, || {
            let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
            py.detach(|| drop(held));
            Ok(())
        })
    }
}

#[pymethods]
impl PyLocalStore {
    #[new]
    #[pyo3(signature = (root, durability=None, locking="required", links="follow"))]
    fn new(
        py: Python<'_>,
        root: &str,
        durability: Option<&str>,
        locking: &str,
        links: &str,
    ) -> PyResult<PyClassInitializer<Self>> {
        entry(py, "open a store", None, || {
            let locking = match locking {
                "required" => Locking::Required,
                "threads" => Locking::Threads,
                other => {
                    return Err(PyValueError::new_err(format!("expected 'required' or 'threads', found {other:?}")))
                }
            };
            let links = match links {
                "follow" => Links::Follow,
                "within-root" => Links::WithinRoot,
                other => {
                    return Err(PyValueError::new_err(format!("expected 'follow' or 'within-root', found {other:?}")))
                }
            };
            let options = LocalOptions { durability: durability.map(level).transpose()?, locking, links };
            let found =
                py.detach(|| LocalStore::with(root, options).map(|local| (local.is_blocked(), Arc::new(local))));
            let (is_blocked, local) = found.map_err(|error| raise(py, error, None))?;
            let native = NativeStore { store: local.clone(), root: Some(root.to_owned()) };
            Ok(PyClassInitializer::from(native).add_subclass(PyLocalStore { local, is_blocked }))
        })
    }

    /// A descriptor of the directory under a prefix (empty: the root), for the caller to close; `None` when there is none.
    #[cfg(unix)]
    fn open_directory(&self, py: Python<'_>, prefix: &str) -> PyResult<Option<std::os::fd::RawFd>> {
        use std::os::fd::IntoRawFd;

        entry(py, "open a directory", None, || {
            let local = &*self.local;
            let opened = py.detach(|| local.open_directory(prefix)).map_err(|error| raise(py, error, None))?;
            Ok(opened.map(IntoRawFd::into_raw_fd))
        })
    }

    /// Bytes that differ between two versions of the directory under a prefix, of which another one follows when a name
    /// appears in it or goes; `None` when there is none, or it is so new that another one may have the same bytes.
    fn directory_version<'py>(&self, py: Python<'py>, prefix: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        entry(py, "look up a directory", None, || {
            let local = &*self.local;
            let version = py.detach(|| local.directory_version(prefix)).map_err(|error| raise(py, error, None))?;
            Ok(version.filter(Version::is_settled).map(|version| PyBytes::new(py, &version.name())))
        })
    }

    /// What a name leads to, which need not be a key: `"file"`, `"directory"`, `"other"`, `"out"` of the root that is kept
    /// within, or `None` when it leads nowhere.
    fn kind(&self, py: Python<'_>, name: std::path::PathBuf) -> PyResult<Option<&'static str>> {
        entry(py, "look up a name", None, || {
            let local = &*self.local;
            py.detach(|| local.kind(&name)).map_err(|error| raise(py, error, None))
        })
    }
}

#[pymethods]
impl PyMemoryStore {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        let memory = Arc::new(MemoryStore::new());
        PyClassInitializer::from(NativeStore { store: memory.clone(), root: None })
            .add_subclass(PyMemoryStore { memory })
    }

    /// Makes many changes (`None`: delete) in one step, if all values that are expected are of these versions (`None`:
    /// missing); else none of them, and the answer is the key of a value that is another. With these go the values of some
    /// keys of another store, which are not copied, or deleted where it has none.
    #[pyo3(signature = (expected, changes, other=None, taken=Vec::new()))]
    fn exchange(
        &self,
        py: Python<'_>,
        expected: Vec<(String, Option<Vec<u8>>)>,
        changes: Vec<(String, Option<Bound<'_, PyBytes>>)>,
        other: Option<PyRef<'_, PyMemoryStore>>,
        taken: Vec<String>,
    ) -> PyResult<Option<String>> {
        entry(py, "exchange values", None, || {
            let changes: Vec<_> = changes
                .iter()
                .map(|(key, value)| (key.clone(), value.as_ref().map(|value| value.as_bytes())))
                .collect();
            let memory = &*self.memory;
            let other = other.as_ref().map_or(memory, |other| &*other.memory);
            py.detach(|| memory.exchange(&expected, &changes, (other, &taken))).map_err(|error| raise(py, error, None))
        })
    }
}

#[pymethods]
impl NativeStore {
    fn get<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        entry(py, "get a value", None, || {
            let value = self.run(py, |store| store.get(key))?;
            value.map(|value| handed(py, &value)).transpose()
        })
    }

    /// Values of many keys, `None` where there is none.
    fn get_many<'py>(&self, py: Python<'py>, keys: Vec<String>) -> PyResult<Bound<'py, PyList>> {
        entry(py, "get values", None, || {
            let values = self.run(py, |store| many::get(store, &keys, &never))?.into_iter();
            let values = values.map(|value| value.map(|value| handed(py, &value)).transpose());
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
        })
    }

    /// Parts of one value: `(start, length)` each, where a negative start counts from the end and `None` reads on to it.
    fn get_ranges<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        ranges: Vec<(i64, Option<u64>)>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        entry(py, "get parts of a value", None, || {
            let answer = self.run(py, |store| store.get_ranges(key, &ranges))?;
            let Some(parts) = answer else { return Ok(None) };
            let parts = parts.iter().map(|part| handed(py, part)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, parts).map(Some)
        })
    }

    fn set(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        entry(value.py(), "set a value", None, || {
            let buffer = Buffer::reading(value)?;
            let bytes = buffer.bytes()?;
            self.change(value.py(), |store| store.set(key, &[bytes]))
        })
    }

    /// `set` of many, in no particular order.
    fn set_many(&self, py: Python<'_>, values: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        entry(py, "set values", None, || {
            let values = values.iter().map(|(key, value)| Ok((key, Buffer::reading(value)?)));
            let values: Vec<(&String, Buffer)> = values.collect::<PyResult<_>>()?;
            let values = values.iter().map(|(key, value)| Ok((key.as_str(), value.bytes()?)));
            let values: Vec<(&str, &[u8])> = values.collect::<PyResult<_>>()?;
            self.change(py, |store| watching_signals(|interrupt| many::set(store, &values, interrupt)))
        })
    }

    /// Replaces the value (`None`: deletes it) only if it is still `expected` (`None`: only if there is none); `False` when
    /// it is not.
    fn replace(&self, py: Python<'_>, key: &str, expected: Option<&[u8]>, value: Option<&[u8]>) -> PyResult<bool> {
        self.change(py, |store| watching_signals(|interrupt| store.replace(key, expected, value, interrupt)))
    }

    fn delete(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        self.change(py, |store| store.delete(key))
    }

    /// `delete` of many, in no particular order.
    fn delete_many(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<()> {
        self.change(py, |store| watching_signals(|interrupt| many::delete(store, &keys, interrupt)))
    }

    /// Gives values second keys without copying them; says for which of the pairs that was done.
    fn link_many(&self, py: Python<'_>, pairs: Vec<(String, String)>) -> PyResult<Vec<bool>> {
        self.change(py, |store| watching_signals(|interrupt| store.link_many(&pairs, interrupt)))
    }

    fn delete_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
        self.change(py, |store| store.delete_prefix(prefix))
    }

    /// For whoever is about to delete these documents: once nobody writes chunks of their arrays, and as long as the
    /// answer is not released.
    fn lock_for_deletion(&self, py: Python<'_>, documents: Vec<String>) -> PyResult<DocumentLocks> {
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        let held =
            self.run(py, |store| watching_signals(|interrupt| store.lock_for_deletion(&documents, interrupt)))?;
        Ok(DocumentLocks { held: Mutex::new(held) })
    }

    #[pyo3(signature = (prefix=""))]
    fn list(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        self.run(py, |store| store.list(prefix))
    }

    /// Keys and prefixes directly below `prefix`.
    #[pyo3(signature = (prefix=""))]
    fn list_dir(&self, py: Python<'_>, prefix: &str) -> PyResult<(Vec<String>, Vec<String>)> {
        let listing = self.run(py, |store| store.list_dir(prefix))?;
        Ok((listing.keys, listing.prefixes))
    }

    /// What writers that died have left below `prefix`.
    #[pyo3(signature = (prefix=""))]
    fn leftovers(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        self.run(py, |store| store.leftovers(prefix))
    }

    /// Removes that; says what it was.
    #[pyo3(signature = (prefix=""))]
    fn sweep(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        self.change(py, |store| store.sweep(prefix))
    }

    /// Waits until everything that was stored would survive a power cut.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |store| store.flush())
    }

    /// Names below `prefix` that are no keys, though something is there; not more than `limit`.
    fn others(&self, py: Python<'_>, prefix: &str, limit: usize) -> PyResult<Vec<String>> {
        self.run(py, |store| store.others(prefix, limit))
    }

    /// Tells caches that what is called this, or everything below it, may have been changed by others than this store.
    #[pyo3(signature = (key, below=false))]
    fn changed(&self, py: Python<'_>, key: &str, below: bool) -> PyResult<()> {
        entry(py, "tell caches of a change", None, || {
            let name = || self.store.full_name(key.trim_end_matches('/'));
            if below {
                changes::prefix(|| name().map(|name| name.trim_end_matches('/').to_owned()));
            } else {
                changes::value(name);
            }
            Ok(())
        })
    }

    /// What differs between two versions of a value; `None` when there is none.
    fn version<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        entry(py, "look up a version", None, || {
            let name = match self.run(py, |store| store.status(key))? {
                Status::Missing => return Ok(None),
                Status::Is(version) => version.name(),
                Status::Unknown => Version::unlike_any(),
            };
            handed(py, &name).map(Some)
        })
    }

    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        self.run(py, |store| store.size(key))
    }

    /// Those of the keys that have a value, without reading any.
    fn present(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<Vec<String>> {
        self.run(py, |store| {
            let mut present = Vec::new();
            for key in keys {
                if store.has(&key)? {
                    present.push(key);
                }
            }
            Ok(present)
        })
    }
}

impl NativeStore {
    /// As `run`, and what it changes is as durable as it was asked to be before this returns.
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn ListableStore) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.run(py, |store| durability::call(|| work(store)))
    }

    fn run<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&dyn ListableStore) -> Result<R> + Send) -> PyResult<R> {
        let store = self.store.as_ref();
        let done = || py.detach(|| work(store)).map_err(|error| self.failed(py, error));
        entry(py, "ask a store", None, done)
    }

    /// The exception, which names this store.
    fn failed(&self, py: Python<'_>, error: Error) -> PyErr {
        let raised = raise(py, error, None);
        if let Some(root) = &self.root {
            let value = raised.value(py);
            if value.getattr("store").is_ok_and(|store| store.is_none()) {
                // What cannot be told must not hide what happened.
                let _ = value.setattr("store", root);
            }
        }
        raised
    }
}

/// A native store whose values lie under other keys: `rename(key)` says which, and is all that is called back.
#[pyclass(name = "RenamedStore", module = "blizzarr._native", frozen)]
pub struct PyRenamedStore {
    store: Arc<dyn Store>,
}

#[pymethods]
impl PyRenamedStore {
    #[new]
    fn new(native: PyRef<'_, NativeStore>, rename: Py<PyAny>) -> Self {
        let rename = move |key: &str| {
            ending::attach(|py| {
                let renamed = call(rename.bind(py), (key,), None).and_then(|found| found.extract());
                renamed.map_err(|raised| foreign(py, raised).at_key(key))
            })
        };
        PyRenamedStore { store: Arc::new(RenamedStore::new(native.store.clone(), rename)) }
    }

    /// One whose values lie in directories by the hash of their names, which needs no calling back.
    #[staticmethod]
    fn hashed(native: PyRef<'_, NativeStore>, prefix: String, levels: usize, width: usize) -> PyResult<Self> {
        entry(native.py(), "rename a store's values", None, || {
            if levels.saturating_mul(width) > hashed::DIGITS {
                return Err(PyValueError::new_err(format!("expected at most {} digits of a hash", hashed::DIGITS)));
            }
            let rename = hashed::directories(prefix, levels, width);
            Ok(PyRenamedStore { store: Arc::new(RenamedStore::new(native.store.clone(), rename)) })
        })
    }
}

/// The engine's view of a store: a native handle as it is, anything else called back. Of the latter `place` says which
/// are handles of one place, and `locks` is the native store underneath, if there is one, that writers exclude each
/// other by.
pub fn store_of(
    object: &Bound<'_, PyAny>,
    place: String,
    locks: Option<&Bound<'_, PyAny>>,
) -> PyResult<Arc<dyn Store>> {
    if let Some(native) = native(object) {
        return Ok(native);
    }
    let locks = match locks {
        None => None,
        Some(given) => Some(native(given).ok_or_else(|| PyTypeError::new_err("expected a native store as locks"))?),
    };
    let python = PythonStore::new(object, place, locks);
    // Of other libraries' stores an attribute of this name is something else.
    #[cfg(feature = "remote")]
    if let Some(client) = object.getattr_opt("object_client").ok().flatten() {
        if let Ok(found) = client.cast::<ObjectClient>() {
            let writable = object.getattr("read_only").is_ok_and(|only| only.is(PyBool::new(object.py(), false)));
            return Ok(Arc::new(RemoteStore::new(found.get().client.clone(), python, writable)));
        }
    }
    Ok(Arc::new(python))
}

fn native(object: &Bound<'_, PyAny>) -> Option<Arc<dyn Store>> {
    if let Ok(native) = object.cast::<NativeStore>() {
        let store: Arc<dyn Store> = native.get().store.clone();
        return Some(store);
    }
    object.cast::<PyRenamedStore>().ok().map(|renamed| renamed.get().store.clone())
}

/// The level that has this name.
pub fn level(name: &str) -> PyResult<Level> {
    Level::named(name).ok_or_else(|| {
        PyValueError::new_err(format!("expected a durability of \"none\", \"ordered\" or \"full\", found {name:?}"))
    })
}

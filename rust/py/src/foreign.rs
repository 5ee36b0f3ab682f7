//! Stores and codecs written in Python, as steps of the engine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use blizzarr_core::cache::changes;
use blizzarr_core::codec::foreign::{ForeignCodec, Length, Take};
use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::fork::PerProcess;
use blizzarr_core::interrupt::Interrupt;
use blizzarr_core::source::Slice;
use blizzarr_core::store::exclusion::{self, Exclusion, HeldInProcess, Scope};
use blizzarr_core::store::version::{Status, Version};
use blizzarr_core::store::{ranges, Conditional, Guard, Locker, Reader, Store};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyBytes};

use crate::archive::{Archive, OpenFile};
use crate::buffer::Buffer;
use crate::ending::{self, call, call_method};
use crate::errors::{foreign, handed, of_codec, of_other_version, raise};

/// Any object with the methods of `blizzarr.stores.Store`.
pub struct PythonStore {
    object: Py<PyAny>,
    /// What all handles of one place have in common: writers exclude each other by it.
    place: String,
    /// The store underneath whose locks writers exclude each other by instead, other processes too.
    locks: Option<Arc<dyn Store>>,
    /// Whether its requests take long.
    remote: bool,
    /// Whether it has `get_with_version` and `set_if_version`.
    conditional: bool,
    /// Whether it has `get_ranges_of_version`.
    of_versions: bool,
    /// Whether it has `get_up_to`: it expands what is stored, and stops when that is more than is asked for.
    up_to: bool,
    /// Whether its `get` returns bytes that lie in memory already.
    in_memory: bool,
    /// Whether it has `native_file`, from which the engine reads values without asking it; the file, once there is one.
    in_file: bool,
    archive: OnceLock<Weak<Archive>>,
}

/// What a value of a store written in Python is called in the whole process.
pub fn full_name(place: &str, key: &str) -> String {
    format!("{place}/{key}")
}

/// Who writes which chunk of a Python store, in the whole process.
static WRITERS: PerProcess<Exclusion> = PerProcess::new(Exclusion::default);

impl PythonStore {
    pub fn new(object: &Bound<'_, PyAny>, place: String, locks: Option<Arc<dyn Store>>) -> Self {
        // Nothing but `True`: an attribute of that name may be about something else.
        let is = |name: &str| object.getattr(name).is_ok_and(|value| value.is(PyBool::new(object.py(), true)));
        let (remote, in_memory) = (is("remote"), is("in_memory"));
        let has = |name: &str| object.getattr(name).is_ok_and(|method| method.is_callable());
        let conditional = has("get_with_version") && has("set_if_version");
        let of_versions = has("get_ranges_of_version");
        let (up_to, in_file) = (has("get_up_to"), has("native_file"));
        PythonStore {
            object: object.clone().unbind(),
            place,
            locks,
            remote,
            conditional,
            of_versions,
            up_to,
            in_memory,
            in_file,
            archive: OnceLock::new(),
        }
    }

    /// A reader of whatever the store answers to the requests to come, each of which may be costly.
    fn reader<'a>(&'a self, key: &'a str, version: Option<Arc<str>>) -> Box<dyn Reader + 'a> {
        Box::new(PythonReader { store: self, key, pinned: Mutex::new(version) })
    }

    /// Tells caches that the value may be another one.
    fn note(&self, key: &str) {
        changes::value(|| self.full_name(key));
    }

    fn call<R>(&self, key: &str, work: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<R>) -> Result<R> {
        ending::attach(|py| work(py, self.object.bind(py)).map_err(|raised| foreign(py, raised).at_key(key)))
    }
}

impl Store for PythonStore {
    fn open<'a>(&'a self, key: &'a str) -> Result<Option<Box<dyn Reader + 'a>>> {
        if self.in_memory {
            let value = self.call(key, |_, object| {
                let value: Option<Bound<'_, PyBytes>> = call_method(object, "get", (key,))?.extract()?;
                Ok(value.map(PyBackedBytes::from))
            })?;
            return Ok(value.map(|value| Box::new(Slice(value)) as Box<dyn Reader>));
        }
        let reader = || self.reader(key, None);
        if !self.in_file {
            return Ok(Some(reader()));
        }
        if self.archive.get().is_none() {
            self.call(key, |_, object| {
                let file = call(&object.getattr("native_file")?, (), None)?;
                if let Ok(file) = file.cast::<OpenFile>() {
                    let _ = self.archive.set(Arc::downgrade(&file.get().0));
                }
                Ok(())
            })?;
        }
        let archive = self.archive.get().and_then(Weak::upgrade);
        Ok(Some(archive.and_then(|archive| archive.open(key, reader)).unwrap_or_else(reader)))
    }

    fn open_pinned<'a>(&'a self, key: &'a str, version: Arc<str>) -> Result<Option<Box<dyn Reader + 'a>>> {
        Ok(Some(self.reader(key, Some(version))))
    }

    fn conditional(&self) -> Option<&dyn Conditional> {
        self.conditional.then_some(self)
    }

    fn set(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.call(key, |py, object| call_method(object, "set", (key, joined(py, parts)?)).map(drop))
            .inspect(|()| self.note(key))
            .inspect_err(|_| self.note(key))
    }

    fn delete(&self, key: &str) -> Result<bool> {
        // Stores need not say whether there was something, and some cannot delete: a missing key is not their problem.
        self.call(key, |py, object| {
            // Not all of its bytes, which may be many and far away.
            let there = if let Some(size) = object.getattr_opt(intern!(py, "size"))? {
                call(&size, (key,), None)?
            } else if object.hasattr(intern!(py, "get_ranges"))? {
                call_method(object, "get_ranges", (key, [(0, 1)]))?
            } else {
                call_method(object, "get", (key,))?
            };
            if there.is_none() {
                return Ok(false);
            }
            call_method(object, "delete", (key,)).map(|_| true)
        })
        .inspect(|_| self.note(key))
        .inspect_err(|_| self.note(key))
    }

    fn full_name(&self, key: &str) -> Option<String> {
        match &self.locks {
            Some(store) => store.full_name(key),
            None => Some(full_name(&self.place, key)),
        }
    }

    fn status(&self, key: &str) -> Result<Status> {
        self.call(key, |py, object| match object.getattr_opt(intern!(py, "version"))?.filter(Bound::is_callable) {
            None => Ok(Status::Unknown),
            Some(version) => {
                let version = call(&version, (key,), None)?;
                if version.is_none() {
                    return Ok(Status::Missing);
                }
                if let Ok(name) = version.extract::<&str>() {
                    return Ok(Status::Is(Version::named(name.as_bytes())));
                }
                Ok(Status::Is(Version::named(Buffer::reading(&version)?.bytes()?)))
            }
        })
    }

    fn remote(&self) -> bool {
        self.remote
    }

    fn tells_versions(&self) -> bool {
        ending::attach(|py| {
            let version = self.object.bind(py).getattr(intern!(py, "version"));
            // Not what merely says which version of a program it is.
            version.is_ok_and(|version| version.is_callable())
        })
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.call(key, |py, object| match object.getattr_opt(intern!(py, "size"))? {
            Some(size) => call(&size, (key,), None)?.extract(),
            None => match call_method(object, "get", (key,))? {
                value if value.is_none() => Ok(None),
                value => Ok(Some(Buffer::reading(&value)?.bytes()?.len() as u64)),
            },
        })
    }

    fn locker<'a>(&'a self, lock_key: &'a str, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        match &self.locks {
            Some(store) => store.locker(lock_key, interrupt),
            None => Ok(Box::new(PlaceLocker { place: &self.place, interrupt })),
        }
    }
}

impl Conditional for PythonStore {
    fn get_with_version(&self, key: &str) -> Result<Option<(Vec<u8>, String)>> {
        self.call(key, |py, object| {
            let answer = call_method(object, "get_with_version", (key,))?;
            if answer.is_none() {
                return Ok(None);
            }
            let (value, version): (Bound<'_, PyAny>, String) = answer.extract()?;
            let value = Buffer::reading(&value)?;
            let bytes = value.bytes()?;
            let mut whole = Vec::new();
            ranges::reserve(&mut whole, bytes.len() as u64).map_err(|error| raise(py, error, None))?;
            whole.extend_from_slice(bytes);
            Ok(Some((whole, version)))
        })
    }

    fn set_if_version(&self, key: &str, parts: &[&[u8]], version: Option<&str>) -> Result<bool> {
        self.call(key, |py, object| {
            call_method(object, "set_if_version", (key, joined(py, parts)?, version))?.is_truthy()
        })
        .inspect(|_| self.note(key))
        .inspect_err(|_| self.note(key))
    }
}

/// A value of these parts, on its way to Python.
fn joined<'py>(py: Python<'py>, parts: &[&[u8]]) -> PyResult<Bound<'py, PyBytes>> {
    if let [only] = parts {
        return handed(py, only);
    }
    let mut whole = Vec::new();
    let length = parts.iter().map(|part| part.len()).sum::<usize>() as u64;
    ranges::reserve(&mut whole, length).map_err(|error| raise(py, error, None))?;
    parts.iter().for_each(|part| whole.extend_from_slice(part));
    handed(py, &whole)
}

struct PlaceLocker<'a> {
    place: &'a str,
    interrupt: Interrupt<'a>,
}

impl Locker for PlaceLocker<'_> {
    fn lock<'a>(&'a self, key: &str) -> Result<Box<dyn Guard + 'a>> {
        // The root of one handle may be below that of another: what they share is where the value is.
        let value = exclusion::document(&full_name(self.place, key));
        Ok(Box::new(HeldInProcess::acquire(&WRITERS, value, Scope::Part(0), self.interrupt)?))
    }
}

struct PythonReader<'a> {
    store: &'a PythonStore,
    key: &'a str,
    /// The version that everything is read of, once a request was answered from it.
    pinned: Mutex<Option<Arc<str>>>,
}

impl PythonReader<'_> {
    /// Parts of one version, the first that was found: of another one there are none.
    fn of_version<'py>(&self, py: Python<'py>, ranges: Vec<(i64, Option<usize>)>) -> Result<Option<Bound<'py, PyAny>>> {
        let pinned = self.pinned();
        let asked = (self.key, ranges, pinned.as_deref());
        let answer = call_method(self.store.object.bind(py), "get_ranges_of_version", asked);
        let answer = answer.map_err(|raised| of_other_version(py, raised).at_key(self.key))?;
        if answer.is_none() {
            return if pinned.is_none() { Ok(None) } else { Err(self.replaced()) };
        }
        let (parts, version): (Bound<'_, PyAny>, String) =
            answer.extract().map_err(|raised| foreign(py, raised).at_key(self.key))?;
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        match pinned.as_deref() {
            // Two requests may have been the first.
            Some(first) if first != version => return Err(self.replaced()),
            Some(_) => {}
            None => *pinned = Some(version.into()),
        }
        Ok(Some(parts))
    }

    fn replaced(&self) -> Error {
        Error::new(Kind::Conflict, "the value was replaced while it was being read").at_key(self.key)
    }

    fn ranges(&self, wanted: &[(i64, usize)], take: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<bool> {
        ending::attach(|py| {
            let fail = |raised| foreign(py, raised).at_key(self.key);
            let list: Vec<(i64, Option<usize>)> = wanted.iter().map(|&(start, length)| (start, Some(length))).collect();
            let found = if self.store.of_versions {
                self.of_version(py, list)?
            } else {
                let found = call_method(self.store.object.bind(py), "get_ranges", (self.key, list)).map_err(fail)?;
                Some(found).filter(|found| !found.is_none())
            };
            let Some(found) = found else { return Ok(false) };
            let parts: Vec<Bound<'_, PyAny>> = found.extract().map_err(fail)?;
            if parts.len() != wanted.len() {
                let reason = format!("expected {} ranges from the store, found {}", wanted.len(), parts.len());
                return Err(Error::new(Kind::Store, reason).at_key(self.key));
            }
            for (number, (part, &(start, length))) in parts.iter().zip(wanted).enumerate() {
                let buffer = Buffer::reading(part).map_err(fail)?;
                let bytes = buffer.bytes().map_err(fail)?;
                if bytes.len() != length {
                    let found = bytes.len();
                    let reason = if found < length {
                        format!("data ended after {found} of {length} bytes at offset {start}")
                    } else {
                        format!("expected {length} bytes at offset {start} from the store, found {found}")
                    };
                    return Err(Error::decode("bytes", reason).at_key(self.key));
                }
                take(number, bytes)?;
            }
            Ok(true)
        })
    }
}

impl Reader for PythonReader<'_> {
    fn len(&self) -> Option<u64> {
        None
    }

    fn pinned(&self) -> Option<Arc<str>> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<bool> {
        self.read_ranges(&mut [(offset as i64, buffer)])
    }

    fn read_suffix(&self, buffer: &mut [u8]) -> Result<bool> {
        let length = buffer.len();
        self.ranges(&[(-(length as i64), length)], &mut |_, bytes| {
            buffer.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn read_all(&self, buffer: &mut Vec<u8>, limit: u64) -> Result<bool> {
        ending::attach(|py| {
            let fail = |raised| foreign(py, raised).at_key(self.key);
            // One request for all of it needs no version, unless something was read already.
            let found = if self.pinned().is_some() {
                let parts = self.of_version(py, vec![(0, None)])?;
                parts.map(|parts| parts.get_item(0)).transpose()
            } else {
                let object = self.store.object.bind(py);
                let found = match self.store.up_to {
                    true => call_method(object, "get_up_to", (self.key, limit)),
                    false => call_method(object, "get", (self.key,)),
                };
                found.map(|found| Some(found).filter(|found| !found.is_none()))
            };
            let Some(found) = found.map_err(fail)? else { return Ok(false) };
            let value = Buffer::reading(&found).map_err(fail)?;
            let bytes = value.bytes().map_err(fail)?;
            if bytes.len() as u64 > limit {
                let least = if self.store.up_to { "at least " } else { "" };
                let reason = format!(
                    "a stored value of {least}{} bytes is longer than the {limit} a chunk can need",
                    bytes.len()
                );
                return Err(Error::decode("bytes", reason).at_key(self.key));
            }
            ranges::reserve(buffer, bytes.len() as u64).map_err(|error| error.at_key(self.key))?;
            buffer.extend_from_slice(bytes);
            Ok(true)
        })
    }

    fn read_ranges(&self, ranges: &mut [(i64, &mut [u8])]) -> Result<bool> {
        let wanted: Vec<(i64, usize)> = ranges.iter().map(|(offset, buffer)| (*offset, buffer.len())).collect();
        self.ranges(&wanted, &mut |number, bytes| {
            ranges[number].1.copy_from_slice(bytes);
            Ok(())
        })
    }
}

/// Any object with `encode(bytes) -> bytes` and `decode(bytes, max_size) -> bytes`. It may have `encoded_size(decoded)`
/// too, the most bytes that so many can be encoded to; they are always so many if its `fixed_size` is true.
pub struct PythonCodec {
    pub object: Py<PyAny>,
}

impl PythonCodec {
    fn call(
        &self,
        take: &mut Take<'_>,
        work: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<Py<PyAny>>,
    ) -> Result<()> {
        ending::attach(|py| {
            let fail = |raised| of_codec(py, raised);
            let made = work(py, self.object.bind(py)).map_err(fail)?;
            let buffer = Buffer::reading(made.bind(py)).map_err(fail)?;
            take(buffer.bytes().map_err(fail)?)
        })
    }
}

impl ForeignCodec for PythonCodec {
    fn encode(&self, decoded: &[u8], take: &mut Take<'_>) -> Result<()> {
        self.call(take, |py, object| call_method(object, "encode", (handed(py, decoded)?,)).map(Bound::unbind))
    }

    fn decode(&self, encoded: &[u8], max_size: usize, take: &mut Take<'_>) -> Result<()> {
        self.call(take, |py, object| call_method(object, "decode", (handed(py, encoded)?, max_size)).map(Bound::unbind))
    }

    fn encoded_len(&self, decoded: usize) -> Length {
        ending::attach(|py| {
            let object = self.object.bind(py);
            let size = call_method(object, "encoded_size", (decoded,)).and_then(|size| size.extract());
            let fixed = object.getattr("fixed_size").and_then(|fixed| fixed.extract()).unwrap_or(false);
            match (size, fixed) {
                (Ok(size), true) => Length::Exactly(size),
                (Ok(size), false) => Length::AtMost(size),
                // It does not say.
                (Err(_), _) => Length::Unknown,
            }
        })
    }
}

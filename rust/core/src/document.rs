//! Whether the array at a path is still the one that a handle was opened for.
//!
//! A handle may outlive its array: another program may replace the array, cut it off, upgrade or remove it. What a handle
//! knows of the layout would then put bytes of the old array into the new one, or take those of the new one for its own.
//! So the array's metadata document is compared with what the handle knows:
//!
//! 1. The document has the version that was compared last (one `stat`): nothing has changed.
//! 2. Otherwise its bytes are read: if they are the known ones, nothing has changed, either.
//! 3. Otherwise the caller decodes it. Attributes and the shape may differ, and what is stored now is what is known from
//!    then on; any other difference is an error that names both arrays.
//!
//! *Writes* compare before they store anything: in directories under the lock of each chunk, whose holder looks at the
//! document anyway. Whoever replaces a document has the locks of all chunks, so nothing changes in between. In stores
//! without such locks, they compare once before the first chunk is stored; if they are far away, while the first chunks
//! are read and encoded.
//!
//! *Reads* compare after they have read, so that nothing that was read can be newer than what was compared. Where a
//! comparison is a request ([`Document::is_near`]), they do so only if something is missing or damaged.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::array::Array;
use crate::cache::{changes, Cached};
use crate::error::{Error, Kind, Result};
use crate::fork;
use crate::interrupt::{Interrupt, TICK};
use crate::panics;
use crate::pool;
use crate::region::Region;
use crate::scratch;
use crate::store::version::{Status, Version};
use crate::store::{Guard, Locker, Store};

/// For so long a read that misses something in a store far away relies on the last comparison.
const RELIED_ON: Duration = Duration::from_secs(1);

/// Decodes the stored document, and refuses that of another array.
pub type Decode = Box<dyn Fn() -> Result<Stored> + Send + Sync>;

/// A document that describes chunks of the known layout.
pub struct Stored {
    pub bytes: Arc<[u8]>,
    pub shape: Vec<usize>,
}

/// The metadata document of an array.
pub struct Document {
    store: Arc<dyn Store>,
    key: String,
    decode: Decode,
    /// Whether to compare costs next to nothing, so that every read does.
    near: bool,
    known: Mutex<Known>,
}

/// What a read took from the store.
pub struct Fetched {
    /// Whether it took anything: a pool may have had everything.
    pub any: bool,
    /// Whether something was not there.
    pub missing: bool,
}

struct Known {
    /// The document; `None` before it was decoded first.
    bytes: Option<Arc<[u8]>>,
    shape: Arc<[usize]>,
    /// Whether this is not the document that was known at first.
    is_other: bool,
    /// Its version when it was compared last, if no other one can get the same.
    version: Option<Version>,
    /// When that was: by our clock, and by that of the array's pool.
    compared: Option<(Instant, u64)>,
}

impl Known {
    fn take_over(&mut self, bytes: Arc<[u8]>, shape: Arc<[usize]>) {
        (self.bytes, self.shape, self.is_other, self.version) = (Some(bytes), shape, true, None);
    }
}

impl Document {
    /// The document under `key`, which is known to say `shape`, and to be these `bytes` if they are given.
    pub fn new(
        store: Arc<dyn Store>,
        key: String,
        bytes: Option<&[u8]>,
        shape: Vec<usize>,
        near: bool,
        decode: Decode,
    ) -> Self {
        let bytes = bytes.map(Arc::from);
        let known = Known { bytes, shape: shape.into(), is_other: false, version: None, compared: None };
        Document { store, key, decode, near, known: Mutex::new(known) }
    }

    /// Takes over a document that the caller has decoded or stored.
    pub fn learn(&self, bytes: &[u8], shape: &[usize]) {
        self.change(|known| {
            if known.bytes.as_deref() != Some(bytes) {
                known.take_over(bytes.into(), shape.into());
            }
        });
    }

    /// Whether comparing costs next to nothing.
    pub fn is_near(&self) -> bool {
        self.near
    }

    /// The shape that is stored now. `locked` is the guard of a chunk, where the caller has one.
    pub fn shape(&self, locked: Option<&dyn Guard>) -> Result<Arc<[usize]>> {
        if let Some(shape) = self.shape_if_unchanged(locked)? {
            return Ok(shape);
        }
        let stored = (self.decode)()?;
        let shape: Arc<[usize]> = stored.shape.into();
        self.change(|known| known.take_over(stored.bytes, Arc::clone(&shape)));
        Ok(shape)
    }

    /// The known shape, if the stored document is the known one, byte for byte.
    fn shape_if_unchanged(&self, locked: Option<&dyn Guard>) -> Result<Option<Arc<[usize]>>> {
        let (version, bytes, shape) =
            self.change(|known| (known.version, known.bytes.clone(), Arc::clone(&known.shape)));
        let now = locked.and_then(Guard::document);
        if let Some(version) = version {
            let now = now.map_or_else(|| self.store.status(&self.key), |now| Ok(Status::Is(now)))?;
            if matches!(now, Status::Is(now) if version.still(&now)) {
                return Ok(Some(shape));
            }
        }
        let Some(bytes) = bytes else { return Ok(None) };
        let (is_same, version) = match locked.and_then(|guard| guard.holds_document(&bytes)) {
            Some(is_same) => (is_same.map_err(|cause| Error::io(&self.key, "read", &cause))?, now),
            None => scratch::with_vec(|stored| self.is_still(&bytes, stored))?,
        };
        if !is_same {
            return Ok(None);
        }
        self.change(|known| {
            if known.bytes.as_ref().is_some_and(|known| Arc::ptr_eq(known, &bytes)) {
                known.version = version.filter(Version::is_settled);
            }
        });
        Ok(Some(shape))
    }

    /// Whether the stored document is still the one that was known at first, byte for byte.
    pub fn is_unchanged(&self) -> Result<bool> {
        Ok(self.shape_if_unchanged(None)?.is_some() && !self.change(|known| known.is_other))
    }

    /// Whether these bytes are stored, and in which version.
    fn is_still(&self, bytes: &[u8], stored: &mut Vec<u8>) -> Result<(bool, Option<Version>)> {
        if let Some(conditional) = self.store.conditional() {
            let stored = conditional.get_with_version(&self.key)?;
            let version = stored.as_ref().map(|(_, version)| Version::named(version.as_bytes()));
            return Ok((stored.is_some_and(|(stored, _)| stored == bytes), version));
        }
        let Some(reader) = self.store.open(&self.key)? else { return Ok((false, None)) };
        if reader.len().is_some_and(|length| length != bytes.len() as u64) {
            return Ok((false, None));
        }
        let version = match reader.version() {
            None => match self.store.status(&self.key)? {
                Status::Is(version) => Some(version),
                Status::Missing | Status::Unknown => None,
            },
            version => version,
        };
        Ok((reader.read_all(stored, u64::MAX)? && *stored == bytes, version))
    }

    /// Compares, and refuses regions that reach beyond the shape that is stored now.
    fn compare(&self, array: &Array, regions: &[&Region], locked: Option<&dyn Guard>) -> Result<()> {
        let shape = self.shape(locked)?;
        // Bytes of elements are an axis that the document does not have.
        let is_shorter = shape.iter().zip(&array.shape).any(|(now, known)| now < known);
        let mut refused = regions.iter().filter(|_| is_shorter && !array.beyond);
        refused.try_for_each(|region| within(region.ends(), &shape))
    }

    /// Compares, and refuses if the array does not have all elements of this shape any more.
    pub fn has_all(&self, known: &[usize]) -> Result<()> {
        within(known.iter().copied(), &self.shape(None)?)
    }

    /// What a read has to say in the end; `done` is what became of it.
    pub fn after_read(&self, array: &Array, region: &Region, done: Result<Fetched>) -> Result<()> {
        let compare = match &done {
            // There may be a directory in place of the chunk if the array has another rank by now.
            Err(error) => error.is_damage() || (self.near && error.kind == Kind::Store),
            Ok(fetched) if self.near => fetched.any || self.is_due(array.cache.as_ref()),
            Ok(fetched) => fetched.missing && self.is_due_far_away(),
        };
        if compare {
            let now = array.cache.as_ref().map(|cached| cached.pool.now());
            let same = self.compare(array, &[region], None);
            if same.is_err() && array.cache.is_some() {
                // What was fetched is in the pool as the array's, for all who share the pool.
                changes::prefix(|| {
                    array.store.full_name(&array.keys.prefix).map(|name| name.trim_end_matches('/').into())
                });
            }
            match same {
                Err(error) if error.kind == Kind::Store && done.is_err() => return done.map(drop),
                same => same?,
            }
            if now.is_some() || !self.near {
                self.change(|known| known.compared = Some((Instant::now(), now.unwrap_or(0))));
            }
        }
        done.map(drop)
    }

    /// Whether a pool, if there is one, wants its entries checked that were last checked when this was last compared.
    fn is_due(&self, cached: Option<&Cached>) -> bool {
        let Some(cached) = cached else { return true };
        let since = cached.recheck.since(|| cached.pool.now());
        self.change(|known| known.compared.is_none_or(|(_, compared)| compared < since))
    }

    fn is_due_far_away(&self) -> bool {
        self.change(|known| known.compared.is_none_or(|(compared, _)| compared.elapsed() > RELIED_ON))
    }

    /// The error of a lock on the document: if there is no such document any more, what is there instead.
    pub fn explain(&self, error: Error) -> Error {
        let is_gone = error.errno == Some(libc::ENOENT) || matches!(self.store.has(&self.key), Ok(false));
        if !is_gone {
            return error;
        }
        match (self.decode)() {
            Err(replaced) => replaced,
            // Consolidated metadata may list an array without a document of its own, which nobody can lock.
            Ok(stored) if stored.bytes.is_empty() => error,
            Ok(_) => {
                let reason = "somebody has replaced the array while it was being written; open it again";
                Error::new(Kind::Conflict, reason).at_key(&self.key)
            }
        }
    }

    /// Looks at what is known, or changes it: never for longer than a moment, as forks wait meanwhile.
    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        let _inside = fork::enter();
        let mut known: MutexGuard<'_, Known> = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut known)
    }
}

/// Refuses a region with these ends that reaches beyond the shape.
fn within(ends: impl Iterator<Item = usize>, shape: &[usize]) -> Result<()> {
    match ends.zip(shape).enumerate().find(|(_, (end, &length))| *end > length) {
        None => Ok(()),
        Some((axis, (end, length))) => {
            let index = end - 1;
            let reason = format!(
                "index {index} is out of bounds for axis {axis} with length {length}: the array has become shorter \
                 since it was opened; refresh() it"
            );
            Err(Error::new(Kind::OutOfBounds, reason))
        }
    }
}

/// The comparisons of one write, whose chunks find the same document again and again.
pub struct Comparing<'a> {
    array: &'a Array,
    regions: &'a [&'a Region],
    /// The version that was compared last. A document that this write has open keeps its inode, so that no other can get
    /// this version meanwhile; with [`super::store::local::Locking::Threads`] two replacements within a tick of the clock could.
    compared: Mutex<Option<Version>>,
    /// Whether a store far away is asked while the first chunks are read and encoded.
    aside: bool,
    verdict: Mutex<Verdict>,
    decided: Condvar,
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Same,
    Pending,
    Refused,
}

impl<'a> Comparing<'a> {
    pub fn new(array: &'a Array, regions: &'a [&'a Region]) -> Self {
        let (compared, verdict) = (Mutex::new(None), Mutex::new(Verdict::Same));
        Comparing { array, regions, compared, aside: false, verdict, decided: Condvar::new() }
    }

    /// The same for a caller that calls [`Comparing::decide`] if [`Comparing::is_pending`], and asks
    /// [`Comparing::allows`] before anything is stored.
    pub fn aside(array: &'a Array, regions: &'a [&'a Region]) -> Self {
        Comparing { aside: array.store.remote(), ..Comparing::new(array, regions) }
    }

    /// Compares before any chunk is locked, in stores whose locks tell nothing of the document.
    pub fn before(&self, locker: &dyn Locker) -> Result<()> {
        match &self.array.document {
            Some(_) if locker.tells_document() || self.array.beyond => Ok(()),
            Some(_) if self.aside => {
                self.set(Verdict::Pending);
                Ok(())
            }
            Some(document) => document.compare(self.array, self.regions, None),
            None => Ok(()),
        }
    }

    /// Whether [`Comparing::decide`] is to be called.
    pub fn is_pending(&self) -> bool {
        *self.verdict() == Verdict::Pending
    }

    /// Compares, and lets those go on who wait for that.
    pub fn decide(&self) -> Result<()> {
        let compare = || match &self.array.document {
            Some(document) => document.compare(self.array, self.regions, None),
            None => Ok(()),
        };
        let compared = panics::catch(compare).unwrap_or_else(Err);
        self.set(if compared.is_ok() { Verdict::Same } else { Verdict::Refused });
        compared
    }

    /// Whether chunks may be stored, once that is known; if not, it is [`Comparing::decide`] that says why.
    pub fn allows(&self, interrupt: Interrupt<'_>) -> Result<bool> {
        let mut verdict = self.verdict();
        while *verdict == Verdict::Pending {
            drop(verdict);
            interrupt()?;
            if pool::is_given_up(false) {
                return Ok(false);
            }
            verdict = self.verdict();
            if *verdict == Verdict::Pending {
                verdict = self.decided.wait_timeout(verdict, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        Ok(*verdict == Verdict::Same)
    }

    fn set(&self, verdict: Verdict) {
        *self.verdict() = verdict;
        self.decided.notify_all();
    }

    fn verdict(&self) -> MutexGuard<'_, Verdict> {
        self.verdict.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares for a chunk that is locked.
    pub fn locked(&self, guard: &dyn Guard) -> Result<()> {
        let (Some(document), Some(now)) = (&self.array.document, guard.document()) else { return Ok(()) };
        let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared.is_some_and(|version| version.equals(&now)) {
            return Ok(());
        }
        document.compare(self.array, self.regions, Some(guard))?;
        *compared = Some(now);
        Ok(())
    }
}

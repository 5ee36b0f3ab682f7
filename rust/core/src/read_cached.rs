//! Reading chunks whose decoded elements are kept in a pool: [`crate::cache`] says what is kept, and how long it is valid.
//!
//! 1. The root is looked up. If its last check is too long ago, its version is compared with the one that the store reports.
//! 2. If the root is missing, or of another version, one thread reads and decodes the whole value; other threads wait for
//!    that thread, once.
//! 3. The inner chunks of a shard are looked up in the same way; those that are missing are read in as few requests as
//!    without a pool. They must be of the same version as the index; if the shard has been replaced, the read starts again.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::array::{Array, Options};
use crate::cache::pool::{CachePool, Claim, Landing};
use crate::cache::{Cached, Content, Id, Object};
use crate::chain::{Chain, Serializer, Shard};
use crate::codec::room;
use crate::error::{Error, Kind, Result};
use crate::index::Index;
use crate::memory::Target;
use crate::pool;
use crate::read::read_cell;
use crate::read_shard::{fetch, fetch_lazily, linear, Answer, Job};
use crate::region::Region;
use crate::scratch;
use crate::split::Split;
use crate::store::version::{Status, Version};
use crate::store::{open_to_read, Reader, Store};

/// The number of attempts to read a shard that is being replaced, before it is read without the pool.
const ATTEMPTS: usize = 4;

/// One chunk of an array with a pool, and the moment since which a check of the chunk is recent enough.
pub struct CachedChunk<'a> {
    pub array: &'a Array,
    pub cached: &'a Cached,
    pub key: &'a str,
    pub indices: &'a [i64],
    pub since: u64,
    /// Set when the chunk or its version is requested from the store.
    pub fetched: &'a AtomicBool,
    pub options: &'a Options<'a>,
}

/// A root, and the reader that it came from if it was read just now.
type RootRead<'a> = (Arc<Object>, Option<Box<dyn Reader + 'a>>);

impl<'a> CachedChunk<'a> {
    /// Reads a region of the chunk; `false` if the chunk cannot be read through the pool at the moment.
    pub fn read(&self, region: &Region, target: &Target<'_>) -> Result<bool> {
        let chain = self.array.chain_at(self.indices)?;
        if let (Serializer::Shard(shard), true) = (&chain.serializer, chain.codecs.is_empty()) {
            let permuted = chain.order.as_ref().map(|order| region.permuted(order));
            return self.read_shard(shard, permuted.as_ref().unwrap_or(region), target);
        }
        let decode = |reader: &dyn Reader| decoded(&chain, reader, self.options);
        let (root, _) = self.root(self.since, &decode)?;
        copy(&chain, &root, region, target)?;
        Ok(true)
    }

    /// The root as it was stored at `since` or later; `read` makes the root of the stored value.
    fn root(&self, since: u64, read: &dyn Fn(&dyn Reader) -> Result<Option<Content>>) -> Result<RootRead<'a>> {
        let (pool, store) = (self.pool(), self.store());
        let id = self.cached.id(self.indices, self.array.shape_at(self.indices).as_deref());
        let mut landing = None;
        let mut waited = false;
        loop {
            if let Some(object) = self.known(id, since)? {
                return Ok((object, None));
            }
            // Another thread may have fetched the root between the look-up and the claim, so a second look-up follows the
            // claim. A thread that has waited, and still does not find the root, fetches it without a claim: threads that
            // all need a root that cannot be kept must not fetch it one after the other.
            if landing.is_none() && !waited {
                match pool.claim(id) {
                    Claim::Mine(mine) => landing = Some(mine),
                    Claim::Theirs(flight) => {
                        flight.wait(self.options.interrupted)?;
                        waited = true;
                    }
                }
                continue;
            }
            self.fetched.store(true, Ordering::Relaxed);
            let checked = pool.now();
            let stamp = Cached::stamp(store, self.key);
            let reader = open_to_read(store, &self.array.lock_key, self.key, self.options.interrupted)?;
            // The version is taken before anything is read: a value that is written meanwhile has a later version.
            let version = match &reader {
                Some(reader) => reader.version().map_or_else(|| self.version_told(), |version| Ok(Some(version)))?,
                None => None,
            };
            let content = match &reader {
                Some(reader) => read(reader.as_ref())?,
                None => None,
            };
            let pinned = reader.as_ref().and_then(|reader| reader.pinned());
            let content = content.unwrap_or(Content::Missing);
            let object = Object { content, version, pinned, number: pool.number() };
            return Ok((pool.keep(id, object, checked, stamp), reader));
        }
    }

    fn version_told(&self) -> Result<Option<Version>> {
        if !self.store().tells_versions() {
            return Ok(None);
        }
        Ok(match self.store().status(self.key)? {
            Status::Is(version) => Some(version),
            Status::Missing | Status::Unknown => None,
        })
    }

    /// The root in the pool, if it is up to date.
    fn known(&self, id: Id, since: u64) -> Result<Option<Arc<Object>>> {
        let Some((object, fresh)) = self.pool().get(id, since) else { return Ok(None) };
        if fresh {
            return Ok(Some(object));
        }
        self.fetched.store(true, Ordering::Relaxed);
        let checked = self.pool().now();
        let stamp = Cached::stamp(self.store(), self.key);
        let same = match self.store().status(self.key)? {
            Status::Missing => matches!(object.content, Content::Missing),
            Status::Is(now) => object.version.is_some_and(|version| version.still(&now)),
            Status::Unknown => false,
        };
        if same {
            self.pool().confirm(id, &object, checked, stamp);
        }
        Ok(same.then_some(object))
    }

    fn read_shard(&self, shard: &Shard, region: &Region, target: &Target<'_>) -> Result<bool> {
        let read = |reader: &dyn Reader| {
            Ok(Index::read_encoded(shard, reader)?.map(|(index, encoded)| Content::Index(index, encoded)))
        };
        let mut since = self.since;
        for _ in 0..ATTEMPTS {
            let (root, reader) = self.root(since, &read)?;
            let Content::Index(index, encoded) = &root.content else {
                target.fill(region, &shard.inner.fill, shard.inner.elements.itemsize)?;
                return Ok(true);
            };
            let inner = Inner { chunk: self, shard, root: &root, index, encoded, region, target };
            if inner.read(reader.as_deref())?.is_continue() {
                return Ok(true);
            }
            since = self.pool().now();
        }
        Ok(false)
    }

    fn pool(&self) -> &'a CachePool {
        &self.cached.pool
    }

    fn store(&self) -> &'a dyn Store {
        self.array.store.as_ref()
    }
}

/// The inner chunks of one version of a shard.
struct Inner<'a> {
    chunk: &'a CachedChunk<'a>,
    shard: &'a Shard,
    root: &'a Object,
    index: &'a Index,
    encoded: &'a [u8],
    region: &'a Region,
    target: &'a Target<'a>,
}

/// Whether all was read; broken off when the shard has another version meanwhile.
type Progress = ControlFlow<()>;

impl Inner<'_> {
    /// `reader` is the one that the index came through, if it was read just now.
    fn read(&self, reader: Option<&dyn Reader>) -> Result<Progress> {
        let (pool, options) = (self.chunk.pool(), self.chunk.options);
        let split = Split::new(self.region, &self.shard.inner.shape)?;
        let (mut place, mut part) = (Vec::new(), Region::default());
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for cell in 0..split.count {
            split.cell(cell, &mut place, &mut part);
            let entry = linear(&self.shard.grid, &place);
            let Some(bytes) = self.index.get(entry)? else {
                self.target.fill(&part, &self.shard.inner.fill, self.shard.inner.elements.itemsize)?;
                continue;
            };
            match pool.get(self.id(entry), 0) {
                Some((object, _)) => scratch::push(&mut known, (cell, object))?,
                None => scratch::push(&mut missing, Job { cell, entry, bytes })?,
            }
        }
        let threads = options.threads_for(known.len(), self.shard.inner.length);
        pool::run(threads, known.len(), options.interrupted, |number, _| {
            let (cell, object) = &known[number];
            self.copy(&split, *cell, object)
        })?;
        drop(known);
        if missing.is_empty() {
            return Ok(Progress::Continue(()));
        }
        self.fetch_missing(&split, missing, reader)
    }

    /// Fetches what nobody else fetches; then waits for the others, without anybody waiting for this thread.
    fn fetch_missing(&self, split: &Split, missing: Vec<Job>, reader: Option<&dyn Reader>) -> Result<Progress> {
        let pool = self.chunk.pool();
        let (mut mine, mut landings, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        let mut missing = missing;
        missing.sort_unstable_by_key(|job| job.bytes.start);
        for job in missing {
            scratch::spare()?;
            match pool.claim(self.id(job.entry)) {
                Claim::Mine(landing) => match pool.get(self.id(job.entry), 0) {
                    // It was fetched between the look and the claim.
                    Some((object, _)) => self.copy(split, job.cell, &object)?,
                    None => {
                        scratch::push(&mut landings, Mutex::new(Some(landing)))?;
                        scratch::push(&mut mine, job)?;
                    }
                },
                Claim::Theirs(flight) => scratch::push(&mut theirs, (job, flight))?,
            }
        }
        if self.fetch(split, &mine, &landings, reader)?.is_break() {
            return Ok(Progress::Break(()));
        }
        drop(landings);
        let mut again = Vec::new();
        for (job, flight) in theirs {
            flight.wait(self.chunk.options.interrupted)?;
            match pool.get(self.id(job.entry), 0) {
                Some((object, _)) => self.copy(split, job.cell, &object)?,
                None => scratch::push(&mut again, job)?,
            }
        }
        self.fetch(split, &again, &[], reader)
    }

    fn fetch(
        &self,
        split: &Split,
        jobs: &[Job],
        landings: &[Mutex<Option<Landing<'_>>>],
        reader: Option<&dyn Reader>,
    ) -> Result<Progress> {
        if jobs.is_empty() {
            return Ok(Progress::Continue(()));
        }
        let CachedChunk { options, key, .. } = *self.chunk;
        let opened = match (reader, &self.root.pinned) {
            (Some(_), _) => None,
            (None, Some(version)) => self.chunk.store().open_pinned(key, Arc::clone(version))?,
            (None, None) => self.chunk.store().open(key)?,
        };
        let Some(source) = reader.or(opened.as_deref()) else { return Ok(Progress::Break(())) };
        let each = |number: usize, bytes: &dyn Reader| {
            let outcome = self.decode(split, &jobs[number], bytes);
            if let Some(landing) = landings.get(number) {
                drop(landing.lock().unwrap_or_else(PoisonError::into_inner).take());
            }
            outcome
        };
        let lazy = source.len().is_none();
        // A lazy reader whose store tells no versions has to do with the index being the same.
        if reader.is_none() && source.pinned().is_none() && (!lazy || self.root.version.is_some()) {
            let now = source.version().map_or_else(|| self.chunk.version_told(), |version| Ok(Some(version)))?;
            if !self.root.version.zip(now).is_some_and(|(root, now)| root.still(&now)) {
                return Ok(Progress::Break(()));
            }
        }
        if lazy {
            return match fetch_lazily(self.shard, source, (self.index, self.encoded), jobs, &each, options) {
                Ok(Answer::Read) => Ok(Progress::Continue(())),
                Ok(Answer::Missing | Answer::Replaced) => Ok(Progress::Break(())),
                // A shorter shard may have taken its place; whoever reads past the pool tells whether.
                Err(error) if matches!(error.kind, Kind::ShardIndex | Kind::Conflict) => Ok(Progress::Break(())),
                Err(error) => Err(error),
            };
        }
        fetch(self.shard, source, jobs, &each, options)?;
        Ok(Progress::Continue(()))
    }

    fn decode(&self, split: &Split, job: &Job, bytes: &dyn Reader) -> Result<()> {
        let content = decoded(&self.shard.inner, bytes, self.chunk.options);
        let content = content.map_err(|error| error.in_inner_chunk(&self.index.indices(job.entry)))?;
        let pool = self.chunk.pool();
        let content = content.unwrap_or(Content::Missing);
        let object = Object { content, version: None, pinned: None, number: pool.number() };
        let object = pool.keep(self.id(job.entry), object, pool.now(), None);
        self.copy(split, job.cell, &object)
    }

    fn copy(&self, split: &Split, cell: usize, object: &Object) -> Result<()> {
        let (mut place, mut part) = (Vec::new(), Region::default());
        split.cell(cell, &mut place, &mut part);
        copy(&self.shard.inner, object, &part, self.target)
    }

    fn id(&self, entry: usize) -> Id {
        self.chunk.cached.inner_id(self.root.number, entry)
    }
}

/// All elements of a cell; `None` when a lazy reader finds no value.
fn decoded(chain: &Chain, reader: &dyn Reader, options: &Options<'_>) -> Result<Option<Content>> {
    let mut bytes = room::zeroed(chain.length).ok_or_else(|| scratch::out_of_memory(chain.length))?;
    // It stays: the last of the memory must not go into what is kept.
    scratch::spare()?;
    let region = Region::whole(&chain.shape, &chain.strides);
    let exists = read_cell(chain, reader, &region, &Target::of(&mut bytes), options)?;
    Ok(exists.then_some(Content::Elements(bytes)))
}

/// Copies what is wanted of a cell.
fn copy(chain: &Chain, object: &Object, region: &Region, target: &Target<'_>) -> Result<()> {
    match &object.content {
        Content::Missing => target.fill(region, &chain.fill, chain.elements.itemsize),
        Content::Elements(bytes) => target.scatter(region, bytes, 0, &chain.strides, chain.elements.itemsize),
        Content::Index(..) => Err(Error::new(Kind::Internal, "a cache has the index of a shard in place of elements")),
    }
}

//! What the engine knows of one array: its store, its keys, its shape, its prepared chain.

use std::sync::Arc;

use crate::cache::pool::CachePool;
use crate::cache::{Cached, Recheck};
use crate::chain::Chain;
use crate::chains::{Chains, ChunkChain};
use crate::document::{Comparing, Document};
use crate::error::{Error, Kind, Result};
use crate::grid::Side;
use crate::interrupt::Interrupt;
use crate::region::Region;
use crate::split::Split;
use crate::store::uint64_sharded::ShardedStore;
use crate::store::{Guard, Locker, Store};

/// How the place of a chunk in the grid becomes a store key; plain data, so that every format is expressible.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Everything before the chunk's own part, with its trailing `/`.
    pub prefix: String,
    pub head: String,
    pub separator: String,
    /// The chunk's part when there are no axes.
    pub scalar: String,
    /// How many axes it has at most: those behind them are within elements, of which no chunk has a part.
    pub axes: usize,
    /// How each axis is told.
    pub places: Places,
}

/// What keys tell of the place of a chunk.
#[derive(Clone, Debug, Default)]
pub enum Places {
    /// Its index along each axis.
    #[default]
    Indices,
    /// Where it begins and ends along each axis, as `64-128`: volumes of Neuroglancer.
    Intervals(Vec<Interval>),
    /// One number of sixteen hexadecimal digits, of bits of the indices in turn, as many of each as its axis needs: a
    /// compressed Morton code.
    Morton(Vec<u32>),
}

/// The chunks along one axis: where the first one begins, how long each is, where the last one ends.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub start: i64,
    pub step: i64,
    pub end: i64,
}

impl Keys {
    /// What a key has a part for of the place of a chunk.
    pub fn indices<'a>(&self, indices: &'a [i64]) -> &'a [i64] {
        &indices[..indices.len().min(self.axes)]
    }

    /// The key of the chunk at `indices`, into `key` (cleared first).
    pub fn write(&self, indices: &[i64], key: &mut String) {
        key.clear();
        key.push_str(&self.prefix);
        let indices = self.indices(indices);
        if indices.is_empty() {
            return key.push_str(&self.scalar);
        }
        key.push_str(&self.head);
        match &self.places {
            Places::Indices => {
                for (axis, &index) in indices.iter().enumerate() {
                    if axis > 0 {
                        key.push_str(&self.separator);
                    }
                    push_decimal(index as u64, key);
                }
            }
            Places::Intervals(intervals) => {
                for (axis, (&index, interval)) in indices.iter().zip(intervals).enumerate() {
                    if axis > 0 {
                        key.push_str(&self.separator);
                    }
                    let start = interval.start.saturating_add(interval.step.saturating_mul(index));
                    push_signed(start, key);
                    key.push('-');
                    push_signed(start.saturating_add(interval.step).min(interval.end), key);
                }
            }
            Places::Morton(bits) => key.push_str(&format!("{:016x}", morton(indices, bits))),
        }
    }
}

/// Bits of the indices in turn, the lowest first; an index that has no more is passed over.
pub fn morton(indices: &[i64], bits: &[u32]) -> u64 {
    let most = bits.iter().copied().max().unwrap_or(0);
    let (mut code, mut out) = (0u64, 0);
    for bit in 0..most {
        for (&index, _) in indices.iter().zip(bits).filter(|(_, &bits)| bit < bits) {
            code |= (index as u64 >> bit.min(63) & 1).checked_shl(out).unwrap_or(0);
            out += 1;
        }
    }
    code
}

fn push_signed(number: i64, key: &mut String) {
    if number < 0 {
        key.push('-');
    }
    push_decimal(number.unsigned_abs(), key);
}

fn push_decimal(mut number: u64, key: &mut String) {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    key.extend(digits[first..].iter().map(|&digit| char::from(digit)));
}

/// One array, ready to be read and written.
pub struct Array {
    pub store: Arc<dyn Store>,
    pub keys: Keys,
    /// The metadata document, which places locks between processes.
    pub lock_key: String,
    pub shape: Vec<usize>,
    /// The chain of its chunks; where they have several shapes, that of the largest ones.
    pub chain: Arc<Chain>,
    /// The chains of the other ones.
    pub chains: Option<Arc<Chains>>,
    /// The chunks along each axis, where they are not all of the shape of the chain.
    pub sides: Option<Arc<[Side]>>,
    /// Its store, if that has chunks in shards of Neuroglancer.
    pub shards: Option<Arc<ShardedStore>>,
    /// What is kept of it between reads.
    pub cache: Option<Cached>,
    /// What tells whether it is still what is stored at its path; `None` if that does not matter.
    pub document: Option<Arc<Document>>,
    /// Elements may be written beyond the shape that is stored: they will be shown, or are erased. Where locks tell nothing
    /// of the document, whoever writes there has just compared or replaced it.
    pub beyond: bool,
}

impl Array {
    pub fn new(
        store: Arc<dyn Store>,
        keys: Keys,
        lock_key: String,
        shape: Vec<usize>,
        chain: Arc<Chain>,
    ) -> Result<Self> {
        if shape.len() != chain.shape.len() {
            let reason =
                format!("chunks of shape {:?} do not have the rank of an array of shape {shape:?}", chain.shape);
            return Err(Error::new(Kind::Request, reason));
        }
        if chain.shape.contains(&0) && !shape.contains(&0) {
            let reason = format!("expected chunk lengths of at least 1, found {:?}", chain.shape);
            return Err(Error::new(Kind::Request, reason));
        }
        let (chains, sides, shards, cache, document, beyond) = (None, None, None, None, None, false);
        Ok(Array { store, keys, lock_key, shape, chain, chains, sides, shards, cache, document, beyond })
    }

    /// The same array, whose chunks have several shapes: those between its `sides`, or else the last chunks are no longer
    /// than the array.
    pub fn with_chains(mut self, chains: Arc<Chains>, sides: Option<Arc<[Side]>>) -> Result<Self> {
        if sides.as_ref().is_some_and(|sides| sides.len() != self.shape.len()) {
            return Err(Error::new(Kind::Request, format!("expected chunks along {} axes", self.shape.len())));
        }
        (self.chains, self.sides) = (Some(chains), sides);
        Ok(self)
    }

    /// A region divided along the grid of chunks.
    pub fn split(&self, region: &Region) -> Result<Split> {
        match &self.sides {
            None => Split::new(region, &self.chain.shape),
            Some(sides) => Split::along(region, &**sides),
        }
    }

    /// The shape of that part of the chunk at `indices` that lies inside of the array.
    pub fn inside(&self, indices: &[i64]) -> Vec<usize> {
        let Some(sides) = &self.sides else { return clipped(&self.chain.shape, &self.shape, indices) };
        let bounds = sides.iter().zip(indices).map(|(side, &cell)| side.bounds(cell));
        bounds
            .zip(&self.shape)
            .map(|((start, size), &bound)| bound.saturating_sub(start as usize).min(size as usize))
            .collect()
    }

    /// The same array, whose chunks are in shards.
    pub fn in_shards(mut self, shards: Arc<ShardedStore>) -> Self {
        self.store = shards.clone();
        self.shards = Some(shards);
        self
    }

    /// How many requests to its store are made at once by an operation on so many threads; 0 if it is near.
    pub fn requests(&self, threads: usize) -> usize {
        if self.store.remote() {
            self.store.requests().max(threads)
        } else {
            0
        }
    }

    /// The shape of the chunk at `indices`, where not all of them have that of the chain.
    pub fn shape_at(&self, indices: &[i64]) -> Option<Vec<usize>> {
        self.chains.as_ref()?;
        Some(match &self.sides {
            None => clipped(&self.chain.shape, &self.shape, indices),
            Some(sides) => sides.iter().zip(indices).map(|(side, &cell)| side.bounds(cell).1 as usize).collect(),
        })
    }

    /// The chain of the chunk at `indices`.
    pub fn chain_at(&self, indices: &[i64]) -> Result<ChunkChain<'_>> {
        let (Some(chains), Some(shape)) = (&self.chains, self.shape_at(indices)) else {
            return Ok(ChunkChain::Common(&self.chain));
        };
        if shape == self.chain.shape {
            return Ok(ChunkChain::Common(&self.chain));
        }
        if shape.contains(&0) {
            let reason = format!("expected a chunk of an array of shape {:?}, found {shape:?}", self.shape);
            return Err(Error::new(Kind::Request, reason));
        }
        chains.of(&shape).map(ChunkChain::Own)
    }

    /// Locks a chunk, and makes sure that it belongs to the array that is stored now.
    pub fn lock<'a>(
        &self,
        locker: &'a dyn Locker,
        key: &str,
        comparing: &Comparing<'_>,
    ) -> Result<Box<dyn Guard + 'a>> {
        let guard = locker.lock(key).map_err(|error| self.explain(error))?;
        comparing.locked(guard.as_ref())?;
        Ok(guard)
    }

    /// What locks the chunks for one write, which makes sure first that they belong to the array that is stored now.
    pub fn locker<'a>(&'a self, comparing: &Comparing<'_>, interrupt: Interrupt<'a>) -> Result<Box<dyn Locker + 'a>> {
        let locker = self.store.locker(&self.lock_key, interrupt).map_err(|error| self.explain(error))?;
        comparing.before(locker.as_ref())?;
        Ok(locker)
    }

    fn explain(&self, error: Error) -> Error {
        match &self.document {
            Some(document) if error.kind == Kind::Store => document.explain(error),
            _ => error,
        }
    }

    /// The same array, of which a pool keeps what is read. `lifetime` is a number that differs where stores that exist one
    /// after the other have the same name.
    pub fn cached(mut self, pool: &Arc<CachePool>, recheck: Recheck, lifetime: u64) -> Self {
        self.cache = Cached::new(pool, recheck, self.store.as_ref(), &self.keys, &self.chain, lifetime);
        self
    }
}

/// The shape of that part of the chunk at `indices` that lies inside an array of the shape `bounds`.
fn clipped(cell: &[usize], bounds: &[usize], indices: &[i64]) -> Vec<usize> {
    let sizes = cell.iter().zip(bounds).zip(indices);
    sizes.map(|((&size, &bound), &index)| bound.saturating_sub(size.saturating_mul(index as usize)).min(size)).collect()
}

/// How an operation is to be carried out.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How many threads may work on it, at least 1.
    pub threads: usize,
    /// How many requests to a store that is far away may be made at once; 0 for a store that is near.
    pub requests: usize,
    /// Store chunks that hold nothing but the fill value, too.
    pub write_empty: bool,
    /// Asked now and then by all of them.
    pub interrupted: Interrupt<'a>,
}

/// Work smaller than this many decoded bytes is not worth waking another thread for.
pub const PARALLEL_FROM: usize = 96 << 10;

/// So many writers at once have their data synchronised together.
const WAITING_WRITERS: usize = 16;
/// So many readers at once keep a disk busy.
const WAITING_READERS: usize = 32;
/// What the chunks of additional writers or readers may take up in memory.
const WAITING_BYTES: usize = 16 << 20;
/// What chunks that are requested at once may take up in memory, those of as many as there are threads apart.
pub const REQUESTED_BYTES: usize = 256 << 20;

impl<'a> Options<'a> {
    /// The options for what happens inside each of `count` cells, so many of them at once: with enough cells to keep all
    /// threads busy, nothing inside one of them needs to be split up further. Requests are shared out.
    pub fn inside(&self, count: usize, at_once: usize) -> Options<'a> {
        let threads = if count >= 2 * self.threads { 1 } else { self.threads };
        let requests = match self.requests {
            0 => 0,
            requests => (requests / at_once.clamp(1, count.max(1))).max(1),
        };
        Options { threads, requests, ..*self }
    }

    /// Threads that write `count` cells of `length` bytes each: more where they wait for a device most of the time, as
    /// far as the memory goes that each needs.
    pub fn writers_for(&self, count: usize, length: usize, store: &dyn Store) -> usize {
        let threads = self.requesters_for(count, length);
        if count < 2 || self.threads == 1 || self.requests > 0 || !store.waits() {
            return threads;
        }
        threads.max(WAITING_WRITERS.min(count).min(WAITING_BYTES / length.max(1)))
    }

    /// Threads that read `count` cells of `length` bytes each while they wait for a disk, as far as the memory goes that each
    /// needs; 0 where the store is far away, or a single thread is to read.
    pub fn waiting_readers_for(&self, count: usize, length: usize) -> usize {
        if self.requests > 0 || self.threads_for(count, length) == 1 {
            return 0;
        }
        WAITING_READERS.min(count).min(WAITING_BYTES / length.max(1))
    }

    /// Threads that ask the store for `count` cells of `length` bytes each: if it is far away as many as requests may be
    /// made, however little there is to do, as far as the memory goes that each needs.
    pub fn requesters_for(&self, count: usize, length: usize) -> usize {
        match self.requests {
            0 => self.threads_for(count, length),
            requests => requests.min(self.threads.max(REQUESTED_BYTES / length.max(1))),
        }
    }

    /// Threads for `count` cells of `length` bytes each.
    pub fn threads_for(&self, count: usize, length: usize) -> usize {
        if count < 2 || count.saturating_mul(length) < PARALLEL_FROM {
            1
        } else {
            self.threads
        }
    }
}

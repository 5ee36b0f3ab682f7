//! Reading: every touched chunk decoded once, straight into the caller's memory where it lies there as in the chunk.
//!
//! 1. The region is split along the grid of outermost chunks; each chunk is one job of a parallel loop.
//! 2. A chunk is opened once. Missing means fill value; any other trouble is an error that names the chunk.
//! 3. Elements that are stored each by itself: only the wanted bytes are read ([`crate::read_raw`]). With other codecs: decoded into
//!    the target if the region lies there verbatim, else into a buffer of this thread and copied.
//! 4. A shard: [`crate::read_shard`].
//!
//! Of a store that is far away, whole chunks are requested ahead: [`crate::read_ahead`].
//! An array with a pool keeps what was decoded: [`crate::read_cached`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::array::{Array, Options};
use crate::chain::{Chain, Serializer};
use crate::document::Fetched;
use crate::error::{Error, Kind, Result};
use crate::interrupt::Interrupt;
use crate::memory::{Origin, Target};
use crate::panics;
use crate::pool;
use crate::progress::{self, Count};
use crate::read_ahead::read_ahead;
use crate::read_cached::CachedChunk;
use crate::read_packed::Packed;
use crate::read_raw::read_raw;
use crate::read_shard::read_shard;
use crate::region::Region;
use crate::scratch;
use crate::source::Slice;
use crate::store::{open_to_read, Reader, Requested};
use crate::surplus::noting;

/// How often a value is begun to be read, at most, if somebody replaces it again and again.
const UNDISTURBED: usize = 100;
/// For how long it is begun to be read again then, but for the first times: a server whose answers all have other
/// versions would otherwise take hours, if it is slow as well.
const PATIENCE: Duration = Duration::from_secs(4);
const AT_LEAST: usize = 3;

/// Reads the elements of `region` (of the whole array) into `target`.
pub fn read(array: &Array, region: &Region, target: &Target<'_>, options: &Options<'_>) -> Result<()> {
    read_asked(array, region, target, options, None).map(drop)
}

/// The same for a read that was asked for at this moment of the array's pool: what was stored then is new enough. Gives
/// what is to be told of a chunk that could be read (see [`crate::surplus`]).
pub fn read_asked(
    array: &Array,
    region: &Region,
    target: &Target<'_>,
    options: &Options<'_>,
    asked: Option<u64>,
) -> Result<Option<Error>> {
    if region.is_empty() {
        return Ok(None);
    }
    let split = array.split(region)?;
    let threads = options.requesters_for(split.count, array.chain.length);
    let inside = options.inside(split.count, threads);
    let cached = array
        .cache
        .as_ref()
        .map(|cached| (cached, cached.recheck.since(|| asked.unwrap_or_else(|| cached.pool.now()))));
    let (fetched, missing) = (AtomicBool::new(array.cache.is_none()), AtomicBool::new(false));
    let surplus = Mutex::new(None);
    let waiting = options.waiting_readers_for(split.count, array.chain.length);
    let read_job = |job: usize, mut requested: Option<Requested>| {
        let (mut indices, mut region, mut key) = (Vec::new(), Region::default(), String::new());
        split.cell(job, &mut indices, &mut region);
        array.keys.write(&indices, &mut key);
        // A panic in here is of this chunk, too.
        let decode = || {
            undisturbed(options.interrupted, || {
                if let Some((cached, since)) = cached {
                    let chunk = CachedChunk {
                        array,
                        cached,
                        key: &key,
                        indices: &indices,
                        since,
                        fetched: &fetched,
                        options: &inside,
                    };
                    if chunk.read(&region, target)? {
                        return Ok(());
                    }
                }
                if !read_chunk(array, &key, &indices, &region, target, &inside, requested.take())? {
                    missing.store(true, Ordering::Relaxed);
                }
                Ok(())
            })
        };
        let (done, told) = noting(|| panics::catch(decode).unwrap_or_else(Err));
        if let Some(told) = told {
            let told = told.at_chunk(&key, array.keys.indices(&indices));
            surplus.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(told);
        }
        done.map_err(|error| error.at_chunk(&key, array.keys.indices(&indices)))
    };
    let done = match read_ahead(array, &split, threads, options, &read_job) {
        Some(done) => done,
        None => {
            let read_job = |job, _| read_job(job, None);
            pool::run_waiting(threads, waiting, split.count, options.interrupted, read_job)
        }
    };
    match &array.document {
        Some(document) => {
            let done = done.map(|()| Fetched { any: fetched.into_inner(), missing: missing.into_inner() });
            document.after_read(array, region, done)?;
        }
        None => done?,
    }
    Ok(surplus.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A region, where its elements go, and the moment as in [`read_asked`].
pub type Part<'a, 't> = (Region, Target<'t>, Option<u64>);

/// Reads several regions, several of them at once. Tells of each whether it was read and nothing is to be told of it; any
/// other is to be read by itself, which tells what is wrong.
pub fn read_parts(array: &Array, parts: &[Part<'_, '_>], options: &Options<'_>) -> Result<Vec<bool>> {
    let threads = options.requesters_for(parts.len(), array.chain.length);
    let inside = options.inside(parts.len(), threads);
    let done: Vec<AtomicBool> = parts.iter().map(|_| AtomicBool::new(false)).collect();
    pool::run(threads, parts.len(), options.interrupted, |job, _| {
        let (region, target, asked) = &parts[job];
        let is_read = matches!(read_asked(array, region, target, &inside, *asked), Ok(None));
        done[job].store(is_read, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(done.into_iter().map(AtomicBool::into_inner).collect())
}

/// Reads a value from the beginning again whenever somebody has replaced it meanwhile.
pub fn undisturbed<T>(interrupt: Interrupt<'_>, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    let began = Instant::now();
    for done in 1..UNDISTURBED {
        match read() {
            Err(error) if error.kind == Kind::Conflict && (done < AT_LEAST || began.elapsed() < PATIENCE) => {
                interrupt()?
            }
            other => return other,
        }
    }
    read()
}

/// Reads the region of a chunk, whose value may have been requested; `false` if the chunk is not stored, and so reads as the
/// fill value.
fn read_chunk(
    array: &Array,
    key: &str,
    indices: &[i64],
    region: &Region,
    target: &Target<'_>,
    options: &Options<'_>,
    requested: Option<Requested>,
) -> Result<bool> {
    let read = |reader: &dyn Reader| read_cell(&*array.chain_at(indices)?, reader, region, target, options);
    let is_stored = match requested {
        Some(value) => match value? {
            Some(value) => {
                let is_stored = read(&Slice(&value));
                scratch::give_back(value);
                is_stored?
            }
            None => false,
        },
        None => match open_to_read(&*array.store, &array.lock_key, key, options.interrupted)? {
            Some(reader) => read(reader.as_ref())?,
            None => false,
        },
    };
    if !is_stored {
        target.fill(region, &array.chain.fill, array.chain.elements.itemsize)?;
    }
    Ok(is_stored)
}

/// Reads the region of one encoded cell; `false` when a lazy reader finds that there is no value.
pub fn read_cell(
    chain: &Chain,
    reader: &dyn Reader,
    region: &Region,
    target: &Target<'_>,
    options: &Options<'_>,
) -> Result<bool> {
    if let Serializer::Shard(shard) = &chain.serializer {
        let permuted = chain.order.as_ref().map(|order| region.permuted(order));
        let region = permuted.as_ref().unwrap_or(region);
        if chain.codecs.is_empty() {
            return read_shard(shard, reader, region, target, options);
        }
        return with_encoded(chain, reader, |encoded| {
            scratch::with_vec(|serialized| {
                chain.decode_bounded(encoded, serialized)?;
                read_shard(shard, &Slice(serialized), region, target, options).map(drop)
            })
        });
    }
    let exists = match chain.stored_elements() {
        Some(unit) => read_raw(chain, unit, reader, region, target).map_err(|error| error.in_codec(chain.last_codec())),
        None => {
            let part = Packed::of(chain, region);
            match &part {
                Some(part) if part.read(reader, region, target)? => Ok(true),
                _ => with_encoded(chain, reader, |encoded| {
                    decode_elements(chain, encoded, region, target, part.as_ref())
                }),
            }
        }
    };
    progress::add(Count::Decoded, region.len() * chain.elements.itemsize);
    exists
}

/// Lends `work` the whole encoded value, from memory if it is there.
pub fn with_encoded(chain: &Chain, reader: &dyn Reader, work: impl FnOnce(&[u8]) -> Result<()>) -> Result<bool> {
    if let Some(encoded) = reader.bytes() {
        return work(encoded).map(|()| true);
    }
    scratch::with_vec(|encoded| {
        if !reader.read_all(encoded, chain.max_len() as u64).map_err(|error| error.in_codec(chain.last_codec()))? {
            return Ok(false);
        }
        work(encoded).map(|()| true)
    })
}

fn decode_elements(
    chain: &Chain,
    encoded: &[u8],
    region: &Region,
    target: &Target<'_>,
    part: Option<&Packed<'_>>,
) -> Result<()> {
    let itemsize = chain.elements.itemsize;
    if let Some(bytes) = target.verbatim(region, &chain.shape, &chain.strides, chain.length) {
        chain.decode_exact(encoded, bytes)?;
        chain.elements.decode(bytes);
        return Ok(());
    }
    if let Some(part) = part {
        if part.decode(encoded, region, target)? {
            return Ok(());
        }
    }
    scratch::with_bytes(chain.length, |cell| {
        chain.decode_exact(encoded, cell)?;
        chain.elements.decode(cell);
        keep_wanted(chain, region, cell)?;
        target.scatter(region, cell, 0, &chain.strides, itemsize)
    })
}

/// One element in this many is few.
const FEW: usize = 4;

/// Lets go of what unwanted elements of a decoded cell stand for, where elements stand for something and few are wanted:
/// a column of a wide table needs no more memory than it has elements.
fn keep_wanted(chain: &Chain, region: &Region, cell: &mut [u8]) -> Result<()> {
    let Some(codec) = chain.keeper() else { return Ok(()) };
    let itemsize = chain.elements.itemsize;
    let wanted = region.len() * itemsize;
    if wanted > cell.len() / FEW {
        return Ok(());
    }
    let packed = region.packed(itemsize)?;
    scratch::with_bytes(wanted, |elements| {
        Target::of(elements).scatter(&packed, cell, 0, &chain.strides, itemsize)?;
        codec.keep(elements, cell)?;
        Origin::of(elements).gather(&packed, cell, &chain.strides, itemsize)
    })
}

//! Writing: every touched chunk encoded once and replaced whole.
//!
//! 1. The region is split along the grid of outermost chunks (shards, not inner chunks); each is one job.
//! 2. The chunk's lock is held from before it is read until it is replaced, so that writers of other parts of it wait
//!    instead of undoing each other.
//! 3. A chunk that is covered by the region is not read. Otherwise it is read, merged and written back. Elements beyond
//!    the array's edge belong to the chunk: they may be rows that somebody is about to append, or has appended since.
//!    To a store that can replace a value only if it still is the one that was read, it is written back only then, or
//!    all begins again: [`crate::write_conditionally`].
//! 4. A chunk that holds nothing but the fill value is deleted, unless the caller wants it stored.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::array::{Array, Options};
use crate::chain::{Chain, Serializer};
use crate::codec::element::Swap;
use crate::document::Comparing;
use crate::error::{Error, Kind, Result};
use crate::fill::{is_fill, set_fill};
use crate::interrupt::Interrupt;
use crate::memory::{Origin, Target};
use crate::panics;
use crate::pool;
use crate::progress::{self, Count};
use crate::read::read_cell;
use crate::region::Region;
use crate::scratch;
use crate::source::Slice;
use crate::split_parts::Cells;
use crate::store::{Reader, Steps, Stepwise};
use crate::write_conditionally::persistently;
use crate::write_gathered::write_gathered;
use crate::write_shard::{encode_shard, has_content};

/// What became of a cell.
pub enum Encoded<'a> {
    /// Nothing but the fill value: not to be stored.
    Fill,
    /// Appended to the output.
    Appended,
    /// Stored exactly as it lies in the caller's memory.
    Verbatim(&'a [u8]),
}

/// Elements of an array or of a cell, and the memory that they are in.
pub type Part<'a, 'r> = (&'r Region, &'r Origin<'a>);

/// What is to be written of one cell, and what it is merged into.
#[derive(Clone, Copy)]
pub struct Update<'a, 'r> {
    /// If parts share elements, the last one counts.
    pub parts: &'r [Part<'a, 'r>],
    /// What is stored so far; `None` when it is missing or will not be needed.
    pub existing: Option<&'r dyn Reader>,
    /// Takes a long cell while it is being encoded, of which only the end is in the output then.
    pub steps: Option<&'r dyn Steps>,
    pub options: &'r Options<'r>,
}

impl Update<'_, '_> {
    /// Whether one of the parts is all of a cell.
    pub fn covers(&self, shape: &[usize]) -> bool {
        self.parts.iter().any(|(region, _)| region.covers(shape))
    }
}

/// Writes the elements of `region` (of the whole array) from `origin`.
pub fn write(array: &Array, region: &Region, origin: &Origin<'_>, options: &Options<'_>) -> Result<()> {
    write_parts(array, &[(region, origin)], options)
}

/// The same for callers that others wait for: `false` if another thread has one of the chunks locked for longer than a
/// moment ([`crate::interrupt::TICK`]), or another process has it locked now. Some chunks may have been written then, and
/// all of them are to be written again.
pub fn write_unless_locked(array: &Array, region: &Region, origin: &Origin<'_>, options: &Options<'_>) -> Result<bool> {
    let is_locked = AtomicBool::new(false);
    let gives_up = || {
        is_locked.store(true, Ordering::Relaxed);
        Err(Error::new(Kind::Store, "another writer has the chunk locked"))
    };
    match write_chunks(array, &[(region, origin)], options, &gives_up) {
        // Another error (Ctrl-C, a damaged chunk) came first, or at the same time.
        Err(error) if error.kind == Kind::Store && is_locked.load(Ordering::Relaxed) => Ok(false),
        done => done.map(|()| true),
    }
}

/// Writes chunks, and asks `waiting` whether to go on waiting for those that other writers have locked.
fn write_chunks(array: &Array, parts: &[Part<'_, '_>], options: &Options<'_>, waiting: Interrupt<'_>) -> Result<()> {
    let parts: Vec<Part<'_, '_>> = parts.iter().copied().filter(|(region, _)| !region.is_empty()).collect();
    if parts.is_empty() {
        return Ok(());
    }
    let regions: Vec<&Region> = parts.iter().map(|(region, _)| *region).collect();
    let cells = Cells::new(regions.iter().copied(), |region| array.split(region))?;
    let comparing = Comparing::aside(array, &regions);
    let locker = array.locker(&comparing, waiting)?;
    // The first job compares, so that whoever waits for that waits for a job that has begun.
    let first = usize::from(comparing.is_pending());
    let threads = options.writers_for(cells.count() + first, array.chain.length, array.store.as_ref());
    let inside = options.inside(cells.count(), threads);
    pool::run(threads, cells.count() + first, options.interrupted, |job, _| {
        let Some(job) = job.checked_sub(first) else { return comparing.decide() };
        let (mut indices, mut key) = (Vec::new(), String::new());
        let wanted = cells.cell(job, &mut indices);
        let wanted: Vec<Part<'_, '_>> = wanted.iter().map(|(part, region)| (region, parts[*part].1)).collect();
        array.keys.write(&indices, &mut key);
        // A panic in here is of this chunk, too; unwinding has released its lock.
        let done = panics::catch(|| {
            let _guard = array.lock(locker.as_ref(), &key, &comparing)?;
            write_chunk(array, &key, &indices, &wanted, &inside, &comparing)
        });
        match done.unwrap_or_else(Err) {
            // A signal ends the write at once; what is there may be of the array that has replaced this one.
            Err(error) if error.kind != Kind::Request && !comparing.allows(options.interrupted)? => Ok(()),
            done => done.map_err(|error| error.at_chunk(&key, array.keys.indices(&indices))),
        }
    })
}

/// The same for several regions: each stored value is replaced once, with what all of them have of it. If regions share
/// elements, the last one counts.
pub fn write_parts(array: &Array, parts: &[Part<'_, '_>], options: &Options<'_>) -> Result<()> {
    match &array.shards {
        Some(shards) => write_gathered(array, shards, parts, options),
        None => write_chunks(array, parts, options, options.interrupted),
    }
}

/// Deletes the chunks at `places` of the grid, `rank` numbers each, whatever is in them.
pub fn erase(array: &Array, places: &[i64], rank: usize, options: &Options<'_>) -> Result<()> {
    let comparing = Comparing::new(array, &[]);
    let locker = array.locker(&comparing, options.interrupted)?;
    let count = places.len().checked_div(rank).unwrap_or(0);
    pool::run(options.requesters_for(count, array.chain.length), count, options.interrupted, |job, _| {
        let indices = &places[job * rank..(job + 1) * rank];
        let mut key = String::new();
        array.keys.write(indices, &mut key);
        let erased = array.lock(locker.as_ref(), &key, &comparing).and_then(|_guard| array.store.delete(&key));
        erased.map(drop).map_err(|error| error.at_chunk(&key, array.keys.indices(indices)))
    })
}

/// Writes a chunk whose lock the caller has, if the array is still the one that is stored.
fn write_chunk(
    array: &Array,
    key: &str,
    indices: &[i64],
    parts: &[Part<'_, '_>],
    options: &Options<'_>,
    comparing: &Comparing<'_>,
) -> Result<()> {
    // What overhangs the array's edge is kept, too: the array may have grown since its shape was looked up.
    let chain = array.chain_at(indices)?;
    let new = Update { parts, existing: None, steps: None, options };
    let whole = new.covers(&chain.shape);
    if let Some(store) = array.store.conditional().filter(|_| !whole) {
        return persistently(store, key, options.interrupted, |stored, version| {
            let slice = stored.map(Slice);
            let update = Update { existing: slice.as_ref().map(|slice| slice as &dyn Reader), ..new };
            scratch::with_vec(|out| {
                let encoded = match (encode_chunk(array, indices, &update, out)?, version) {
                    (Encoded::Fill, None) => return Ok(true),
                    (Encoded::Fill, Some(_)) => {
                        // Nothing deletes a value only if it is of a version. So the fill value is stored.
                        let options = Options { write_empty: true, ..*options };
                        encode_chunk(array, indices, &Update { options: &options, ..update }, out)?
                    }
                    (encoded, _) => encoded,
                };
                if !comparing.allows(options.interrupted)? {
                    return Ok(true);
                }
                match encoded {
                    Encoded::Fill => Err(Error::new(Kind::Internal, "a chunk that is to be stored was left out")),
                    Encoded::Appended => store.set_if_version(key, &[out], version),
                    Encoded::Verbatim(bytes) => store.set_if_version(key, &[bytes], version),
                }
            })
        });
    }
    let existing = if whole { None } else { array.store.open(key)? };
    if let Some(store) = array.store.stepwise().filter(|_| existing.is_none() && chain.is_long_shard()) {
        // A shard without an inner chunk is no file.
        if has_content(&chain, &new)? {
            return store_in_steps(array, store, (key, &chain), &new, comparing);
        }
    }
    scratch::with_vec(|out| {
        let exists = existing.is_some();
        let encoded = encode_chunk(array, indices, &Update { existing: existing.as_deref(), ..new }, out)?;
        if !comparing.allows(options.interrupted)? {
            return Ok(());
        }
        if let Encoded::Verbatim(bytes) = encoded {
            return array.store.set(key, &[bytes]);
        }
        let is_fill = matches!(encoded, Encoded::Fill);
        // Some file systems of Windows do not replace or delete what is open.
        drop(existing);
        match exists {
            _ if is_fill => array.store.delete(key).map(drop),
            true => array.store.set_over(key, &[out]),
            false => array.store.set(key, &[out]),
        }
    })
}

/// Stores a shard while it is being encoded.
fn store_in_steps(
    array: &Array,
    store: &dyn Stepwise,
    (key, chain): (&str, &Chain),
    update: &Update<'_, '_>,
    comparing: &Comparing<'_>,
) -> Result<()> {
    let mut is_fill = false;
    store.set_in_steps(key, &mut |steps| {
        scratch::with_vec(|out| {
            out.clear();
            let encoded = encode_cell(chain, &Update { steps: Some(steps), ..*update }, out)?;
            // It had content before: somebody is changing the memory that it is written from.
            is_fill = matches!(encoded, Encoded::Fill);
            if is_fill || !comparing.allows(update.options.interrupted)? {
                return Ok(false);
            }
            let rest = if let Encoded::Verbatim(bytes) = encoded { bytes } else { out };
            steps.append(rest).map(|()| true)
        })
    })?;
    if is_fill && comparing.allows(update.options.interrupted)? {
        array.store.delete(key)?;
    }
    Ok(())
}

/// Encodes a chunk into `out`, also where what exists is damaged and all that can be seen of it is replaced.
fn encode_chunk<'a>(array: &Array, indices: &[i64], update: &Update<'a, '_>, out: &mut Vec<u8>) -> Result<Encoded<'a>> {
    let chain = array.chain_at(indices)?;
    out.clear();
    let encoded = encode_cell(&chain, update, out);
    let damaged = encoded.as_ref().is_err_and(|error| error.is_damage());
    if damaged && update.covers(&array.inside(indices)) {
        out.clear();
        return encode_cell(&chain, &Update { existing: None, ..*update }, out);
    }
    encoded
}

/// Encodes one cell, merged into what exists, to the end of `out`.
pub fn encode_cell<'a>(chain: &Chain, update: &Update<'a, '_>, out: &mut Vec<u8>) -> Result<Encoded<'a>> {
    if let Serializer::Shard(shard) = &chain.serializer {
        return encode_shard(chain, shard, update, out);
    }
    let encoded = encode_elements(chain, update, out);
    let count: usize = update.parts.iter().map(|(region, _)| region.len()).sum();
    progress::add(Count::Encoded, count * chain.elements.itemsize);
    encoded
}

fn encode_elements<'a>(chain: &Chain, update: &Update<'a, '_>, out: &mut Vec<u8>) -> Result<Encoded<'a>> {
    let Update { parts, existing, options, .. } = *update;
    let itemsize = chain.elements.itemsize;
    let as_is = chain.elements.swap == Swap::None && chain.codecs.first().is_none_or(|codec| codec.source_may_change());
    if let Some((region, origin)) = parts.last().filter(|(region, _)| as_is && region.covers(&chain.shape)) {
        if let Some(bytes) = origin.verbatim(region, &chain.shape, &chain.strides, chain.length) {
            if !options.write_empty && is_fill(bytes, &chain.fill) {
                return Ok(Encoded::Fill);
            }
            if chain.codecs.is_empty() {
                return Ok(Encoded::Verbatim(bytes));
            }
            return chain.encode(bytes, out).map(|()| Encoded::Appended);
        }
    }
    let merge = |parts: &[Part<'_, '_>], cell: &mut [u8]| {
        for (region, origin) in parts {
            origin.gather(region, cell, &chain.strides, itemsize)?;
        }
        if !options.write_empty && is_fill(cell, &chain.fill) {
            return Ok(false);
        }
        chain.elements.encode(cell);
        Ok(true)
    };
    let last_whole = parts.iter().rposition(|(region, _)| region.covers(&chain.shape));
    if chain.codecs.is_empty() {
        // The elements are what is stored: they go there at once.
        let before = out.len();
        let (cell, rest) = match last_whole {
            Some(at) => {
                let (region, origin) = parts[at];
                (origin.gather_onto(out, region, &chain.shape, &chain.strides, itemsize)?, &parts[at + 1..])
            }
            None => {
                let decoded = decode_whole(chain, existing, scratch::grow(out, chain.length)?, options);
                decoded.inspect_err(|_| out.truncate(before))?;
                (&mut out[before..], parts)
            }
        };
        if merge(rest, cell)? {
            return Ok(Encoded::Appended);
        }
        out.truncate(before);
        return Ok(Encoded::Fill);
    }
    let encode = |cell: &mut [u8], out: &mut Vec<u8>| {
        if !merge(parts, cell)? {
            return Ok(Encoded::Fill);
        }
        chain.encode(cell, out).map(|()| Encoded::Appended)
    };
    scratch::with_bytes(chain.length, |cell| {
        if last_whole.is_none() {
            decode_whole(chain, existing, cell, options)?;
        }
        let Some(codec) = chain.keeper().filter(|_| last_whole.is_none()) else { return encode(cell, out) };
        // What was decoded belongs to this chunk only, which is done then, also where nothing of it was merged.
        scratch::with_bytes(chain.length, |decoded| {
            decoded.copy_from_slice(cell);
            let encoded = encode(cell, out);
            codec.keep(&mut [], decoded)?;
            encoded
        })
    })
}

/// Decodes the whole cell, or sets it to the fill value when nothing is stored.
fn decode_whole(chain: &Chain, existing: Option<&dyn Reader>, cell: &mut [u8], options: &Options<'_>) -> Result<()> {
    let exists = match existing {
        Some(reader) => {
            let region = Region::whole(&chain.shape, &chain.strides);
            read_cell(chain, reader, &region, &Target::of(cell), options)?
        }
        None => false,
    };
    if !exists {
        set_fill(cell, &chain.fill);
    }
    Ok(())
}

/// Lends `work` the serialized bytes of an existing value behind the bytes-to-bytes codecs of `chain`. A lazy reader is
/// asked once for everything: nearly all of it will be kept, and two requests might see two versions of it.
pub fn with_serialized<R>(
    chain: &Chain,
    existing: Option<&dyn Reader>,
    work: impl FnOnce(Option<&dyn Reader>) -> Result<R>,
) -> Result<R> {
    let Some(reader) = existing.filter(|reader| !chain.codecs.is_empty() || reader.len().is_none()) else {
        return work(existing);
    };
    scratch::with_vec(|serialized| {
        let exists = crate::read::with_encoded(chain, reader, |encoded| chain.decode_bounded(encoded, serialized))?;
        if exists {
            work(Some(&Slice(serialized)))
        } else {
            work(None)
        }
    })
}

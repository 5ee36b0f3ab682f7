//! Checking what is stored: every chunk is decoded and let go of, and all that is wrong is collected.
//!
//! Reading stops at the first error; checking goes on, so that one call tells of all damaged chunks, and within a shard
//! of all damaged inner chunks. Nothing is changed. Memory: what each thread needs to decode one chunk or inner chunk,
//! and the errors, of which no object contributes more than [`MOST_ERRORS`].

use std::sync::{Mutex, PoisonError};

use crate::array::{Array, Options};
use crate::chain::{wrong_length, Chain, Serializer};
use crate::check_shard::check_shard;
use crate::error::{Error, Kind, Result};
use crate::pool;
use crate::read::{undisturbed, with_encoded};
use crate::scratch;
use crate::source::{Sized, Slice};
use crate::store::Reader;
use crate::surplus::noting;

/// Errors of one object that are kept; of the others it is said how many they are.
pub const MOST_ERRORS: usize = 1000;
/// Bytes that are read at a time where they need not be decoded.
const PIECE: usize = 1 << 20;

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Lengths of objects, and the indices of shards.
    Sizes,
    /// Every byte.
    Everything,
}

/// What checking some objects has found.
#[derive(Default)]
pub struct Checked {
    /// Objects that are there, and those that are not (any more).
    pub objects: u64,
    pub missing: u64,
    /// Stored bytes of those that are there.
    pub bytes: u64,
    /// How many objects have zeros behind what is encoded, and what is to be told of one of them.
    pub surplus: u64,
    pub first_surplus: Option<Error>,
    pub findings: Findings,
}

/// What checking one object, or several, has found.
#[derive(Default)]
pub struct Findings {
    /// Chunks looked at: inner chunks where there are shards.
    pub chunks: u64,
    pub errors: Vec<Error>,
    /// Errors that were not kept.
    pub left_out: u64,
    /// Places of shards in which several inner chunks are the same bytes, and how many share another one's.
    pub shared: Vec<(Box<[i64]>, u64)>,
    /// The same within the object that is being looked at.
    pub sharing: u64,
}

impl Findings {
    pub fn add(&mut self, error: Error) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(error);
        } else {
            self.left_out += 1;
        }
    }

    /// Takes over what was found within the inner chunk at `indices`.
    pub fn take_inner(&mut self, inner: Findings, indices: &[i64]) {
        self.chunks += inner.chunks;
        self.left_out += inner.left_out;
        self.sharing += inner.sharing;
        for error in inner.errors {
            self.add(error.in_inner_chunk(indices));
        }
    }
}

/// Checks the objects at `places` of the grid, `rank` numbers each (one object where there are no axes).
pub fn check(array: &Array, places: &[i64], depth: Depth, options: &Options<'_>) -> Result<Checked> {
    let rank = array.shape.len();
    let count = places.len().checked_div(rank).unwrap_or(1);
    let total = Mutex::new(Checked::default());
    let threads = options.requesters_for(count, array.chain.length);
    let inside = options.inside(count, threads);
    pool::run(threads, count, options.interrupted, |job, _| {
        let indices = &places[job * rank..(job + 1) * rank];
        let mut key = String::new();
        array.keys.write(indices, &mut key);
        let mut findings = Findings::default();
        let (checked, told) = noting(|| {
            undisturbed(options.interrupted, || {
                findings = Findings::default();
                check_object(array, &key, indices, depth, &inside, &mut findings)
            })
        });
        let length = match checked {
            Ok(length) => length,
            // A stop that was asked for is no damage.
            Err(error) if error.is_stop() && error.kind != Kind::Conflict => return Err(error),
            Err(error) => {
                findings.add(error);
                Some(0)
            }
        };
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        match length {
            None => total.missing += 1,
            Some(length) => {
                total.objects += 1;
                total.bytes += length;
            }
        }
        if let Some(told) = told {
            total.surplus += 1;
            total.first_surplus.get_or_insert(told.at_chunk(&key, indices));
        }
        total.findings.chunks += findings.chunks;
        total.findings.left_out += findings.left_out;
        total.findings.errors.extend(findings.errors.into_iter().map(|error| error.at_chunk(&key, indices)));
        if findings.sharing > 0 {
            total.findings.shared.push((indices.into(), findings.sharing));
        }
        Ok(())
    })?;
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Checks the object under `key`; its length, or `None` when there is none.
fn check_object(
    array: &Array,
    key: &str,
    indices: &[i64],
    depth: Depth,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Result<Option<u64>> {
    let Some(reader) = array.store.open(key)? else { return Ok(None) };
    let chain = array.chain_at(indices)?;
    if let Some(length) = reader.len() {
        return check_cell(&chain, reader.as_ref(), depth, options, findings).map(|()| Some(length));
    }
    if depth == Depth::Sizes {
        let Some(length) = array.store.size(key)? else { return Ok(None) };
        let sized = Sized { reader: reader.as_ref(), length };
        let checked = check_cell(&chain, &sized, depth, options, findings);
        let wrong = checked.is_err() || !findings.errors.is_empty();
        if wrong && reader.pinned().is_some() {
            // The length may be that of another version. Between two reads of this one it is of this one.
            let again = array.store.size(key)?;
            if !reader.read_at(0, &mut [0])? || again != Some(length) {
                return Err(Error::new(Kind::Conflict, "the object was replaced while it was being checked"));
            }
        }
        return checked.map(|()| Some(length));
    }
    // One request for the whole, so that all of it is of one version.
    let limit = chain.max_len() as u64;
    scratch::with_vec(|whole| {
        if !reader.read_all(whole, limit).map_err(|error| error.in_codec(chain.last_codec()))? {
            return Ok(None);
        }
        let length = whole.len() as u64;
        check_cell(&chain, &Slice(whole), depth, options, findings).map(|()| Some(length))
    })
}

/// Checks one encoded cell: an object, or an inner chunk of a shard.
pub fn check_cell(
    chain: &Chain,
    reader: &dyn Reader,
    depth: Depth,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Result<()> {
    if let Serializer::Shard(shard) = &chain.serializer {
        if chain.codecs.is_empty() {
            return check_shard(shard, reader, depth, options, findings);
        }
        if depth == Depth::Sizes {
            return check_length(chain, reader);
        }
        return there(with_encoded(chain, reader, |encoded| {
            scratch::with_vec(|serialized| {
                chain.decode_bounded(encoded, serialized)?;
                check_shard(shard, &Slice(serialized), depth, options, findings)
            })
        })?);
    }
    findings.chunks += 1;
    check_length(chain, reader)?;
    if depth == Depth::Sizes {
        return Ok(());
    }
    if chain.codecs.is_empty() {
        return read_through(chain.length, reader);
    }
    there(with_encoded(chain, reader, |encoded| {
        scratch::with_bytes(chain.length, |cell| {
            chain.decode_exact(encoded, cell)?;
            // What elements stand for is not needed.
            chain.keeper().map_or(Ok(()), |codec| codec.keep(&mut [], cell))
        })
    })?)
}

/// What the length alone tells.
fn check_length(chain: &Chain, reader: &dyn Reader) -> Result<()> {
    let Some(length) = reader.len() else { return Ok(()) };
    let wrong = |reason: String| Err(Error::decode(chain.last_codec(), reason));
    match chain.fixed_len() {
        Some(expected) if length != expected as u64 => Err(wrong_length(expected, length as usize))
            .map_err(|error| Error { codec: Some(chain.last_codec()), ..error }),
        Some(_) => Ok(()),
        None if length == 0 => wrong("expected an encoded chunk, found nothing: the object is empty".into()),
        None if length > chain.max_len() as u64 => wrong(format!(
            "a stored value of {length} bytes is longer than the {} that a chunk can need",
            chain.max_len()
        )),
        None => Ok(()),
    }
}

/// Reads `length` bytes that mean what they are: only reading them can fail.
fn read_through(length: usize, reader: &dyn Reader) -> Result<()> {
    if reader.bytes().is_some() {
        return Ok(());
    }
    scratch::with_bytes(length.min(PIECE), |piece| {
        for start in (0..length).step_by(PIECE) {
            let wanted = PIECE.min(length - start);
            there(reader.read_at(start as u64, &mut piece[..wanted])?)?;
        }
        Ok(())
    })
}

/// A value that is gone by the time it is read was there when it was opened.
pub fn there(exists: bool) -> Result<()> {
    if exists {
        Ok(())
    } else {
        Err(Error::new(Kind::Store, "the object disappeared while it was being checked"))
    }
}

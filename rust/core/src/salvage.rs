//! Saving what is intact of a damaged object.
//!
//! 1. The chunk's lock is held throughout, so that no writer's work is undone.
//! 2. The object is read as a whole and checked again; if it is right by now, nothing happens.
//! 3. The inner chunks of a shard that can be decoded are laid down anew, with an index of their own, without being
//!    encoded again; shards within shards likewise. The new shard is checked.
//! 4. The damaged bytes are given to the caller, who keeps them. Only when that is done the new shard takes their place.
//!
//! A shard whose index is lost cannot be taken apart. Of one whose index is damaged, only what its certain entries name is
//! saved (`salvage_index.rs`).

use crate::array::{Array, Options};
use crate::chain::{Chain, Serializer, Shard};
use crate::check::{check_cell, Depth, Findings};
use crate::document::Comparing;
use crate::error::{Error, Kind, Result};
use crate::index::Index;
use crate::salvage_index::{certain, without_contradictions};
use crate::scratch::{self, push};
use crate::source::Slice;

/// What became of a damaged object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is not there any more.
    Gone,
    /// Nothing is wrong with it (any more).
    Intact,
    /// Its intact inner chunks are in a new shard.
    Rebuilt,
    /// Nothing of it is intact, and it was removed.
    Removed,
    /// Nothing of it is intact, and it stays.
    Hopeless,
}

pub struct Salvaged {
    pub outcome: Outcome,
    /// Inner chunks that are in the new shard.
    pub kept: u64,
    /// The places of those that are not: in the shard, then in the shard in it, and so on.
    pub lost: Vec<Vec<i64>>,
}

/// What the caller allows.
#[derive(Clone, Copy)]
pub struct Allowed {
    /// Remove what nothing is left of, once it is kept.
    pub remove: bool,
    /// Change nothing, and keep nothing: only find out.
    pub dry_run: bool,
}

/// Saves what is intact of the object at `indices`; `keep` is given its bytes before they are replaced.
pub fn salvage(
    array: &Array,
    indices: &[i64],
    allowed: Allowed,
    keep: &dyn Fn(&[u8]) -> Result<()>,
    options: &Options<'_>,
) -> Result<Salvaged> {
    let mut key = String::new();
    array.keys.write(indices, &mut key);
    locked(array, &key, indices, allowed, keep, options).map_err(|error| error.at_chunk(&key, indices))
}

fn locked(
    array: &Array,
    key: &str,
    indices: &[i64],
    allowed: Allowed,
    keep: &dyn Fn(&[u8]) -> Result<()>,
    options: &Options<'_>,
) -> Result<Salvaged> {
    let comparing = Comparing::new(array, &[]);
    let locker = array.locker(&comparing, options.interrupted)?;
    let _guard = array.lock(locker.as_ref(), key, &comparing)?;
    let chain = array.chain_at(indices)?;
    let Some(damaged) = array.store.get(key)? else { return Ok(nothing(Outcome::Gone)) };
    if intact(&chain, &damaged, options)?.is_some() {
        return Ok(nothing(Outcome::Intact));
    }
    let (mut kept, mut lost, mut new) = (0, Vec::new(), Vec::new());
    if matches!(chain.serializer, Serializer::Shard(_)) {
        kept = match rebuild(&chain, &damaged, &mut Vec::new(), &mut lost, &mut new, options) {
            Err(error) if !error.is_damage() => return Err(error),
            Err(_) => 0,
            Ok(kept) => kept,
        };
    }
    let outcome = match (kept, allowed.remove) {
        (0, false) => Outcome::Hopeless,
        (0, true) => Outcome::Removed,
        _ => Outcome::Rebuilt,
    };
    if outcome == Outcome::Rebuilt && intact(&chain, &new, options)?.is_none() {
        return Err(Error::new(
            Kind::Codec,
            "what was saved of the shard could not be read again; nothing was changed",
        ));
    }
    if outcome != Outcome::Hopeless && !allowed.dry_run {
        keep(&damaged)?;
        match outcome {
            Outcome::Rebuilt => array.store.set(key, &[&new])?,
            _ => drop(array.store.delete(key)?),
        }
    }
    Ok(Salvaged { outcome, kept, lost })
}

fn nothing(outcome: Outcome) -> Salvaged {
    Salvaged { outcome, kept: 0, lost: Vec::new() }
}

/// How many chunks are in a cell that is right; `None` for one that is not.
fn intact(chain: &Chain, encoded: &[u8], options: &Options<'_>) -> Result<Option<u64>> {
    let mut findings = Findings::default();
    match check_cell(chain, &Slice(encoded), Depth::Everything, options, &mut findings) {
        Ok(()) => Ok(findings.errors.is_empty().then_some(findings.chunks)),
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Appends a shard of what is intact in `encoded`, a damaged one, to `out`; how many inner chunks that is. `within` is
/// where the shard lies in others.
fn rebuild(
    chain: &Chain,
    encoded: &[u8],
    within: &mut Vec<i64>,
    lost: &mut Vec<Vec<i64>>,
    out: &mut Vec<u8>,
    options: &Options<'_>,
) -> Result<u64> {
    let Serializer::Shard(shard) = &chain.serializer else {
        return Err(Error::new(Kind::Request, "only of shards a part can be saved"));
    };
    if chain.codecs.is_empty() {
        return lay_down(shard, encoded, within, lost, out, options);
    }
    scratch::with_vec(|serialized| {
        chain.decode_bounded(encoded, serialized)?;
        scratch::with_vec(|new| {
            new.clear();
            let kept = lay_down(shard, serialized, within, lost, new, options)?;
            chain.encode(new, out).map(|()| kept)
        })
    })
}

fn lay_down(
    shard: &Shard,
    damaged: &[u8],
    within: &mut Vec<i64>,
    lost: &mut Vec<Vec<i64>>,
    out: &mut Vec<u8>,
    options: &Options<'_>,
) -> Result<u64> {
    let old = read_index(shard, damaged)?;
    let mut new = Index::empty(shard)?;
    let first = out.len();
    if shard.at_start {
        out.try_reserve(shard.index_len).map_err(|_| scratch::out_of_memory(shard.index_len))?;
        out.resize(first + shard.index_len, 0);
    }
    let mut kept = 0;
    for entry in 0..shard.count() {
        (options.interrupted)()?;
        let indices = old.indices(entry);
        let bytes = match old.get(entry) {
            Ok(None) => continue,
            Ok(Some(bytes)) => damaged.get(bytes.start as usize..bytes.end as usize),
            Err(_) => None,
        };
        let start = (out.len() - first) as u64;
        within.extend_from_slice(&indices);
        kept += match bytes {
            Some(bytes) => save_inner(&shard.inner, bytes, within, lost, out, options)?,
            None => {
                push(lost, within.clone())?;
                0
            }
        };
        within.truncate(within.len() - indices.len());
        let end = (out.len() - first) as u64;
        if end > start {
            new.set(entry, Some(start..end));
        }
    }
    if !shard.at_start {
        new.encode(shard, out)?;
        return Ok(kept);
    }
    scratch::with_vec(|index| {
        index.clear();
        new.encode(shard, index)?;
        out[first..first + index.len()].copy_from_slice(index);
        Ok(kept)
    })
}

/// Appends an inner chunk that is intact, or what is intact of a shard in a shard.
fn save_inner(
    inner: &Chain,
    bytes: &[u8],
    within: &mut Vec<i64>,
    lost: &mut Vec<Vec<i64>>,
    out: &mut Vec<u8>,
    options: &Options<'_>,
) -> Result<u64> {
    if let Some(chunks) = intact(inner, bytes, options)? {
        out.try_reserve(bytes.len()).map_err(|_| scratch::out_of_memory(bytes.len()))?;
        out.extend_from_slice(bytes);
        return Ok(chunks);
    }
    let (start, lost_before) = (out.len(), lost.len());
    if matches!(inner.serializer, Serializer::Shard(_)) {
        match rebuild(inner, bytes, within, lost, out, options) {
            Err(error) if !error.is_damage() => return Err(error),
            Err(_) | Ok(0) => {}
            Ok(kept) => return Ok(kept),
        }
    }
    out.truncate(start);
    lost.truncate(lost_before);
    push(lost, within.clone())?;
    Ok(0)
}

/// The index, in which looking up what is not certain is an error.
fn read_index(shard: &Shard, damaged: &[u8]) -> Result<Index> {
    let gone = || Error::new(Kind::Store, "the object disappeared while it was being repaired");
    match Index::read(shard, &Slice(damaged)) {
        Ok(index) => without_contradictions(shard, index.ok_or_else(gone)?, damaged.len() as u64),
        Err(error) if error.kind == Kind::Checksum => certain(shard, damaged)?.ok_or(error),
        Err(error) => Err(error),
    }
}

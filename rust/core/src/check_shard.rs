//! Checking a shard: its index, then every inner chunk that the index names.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::array::Options;
use crate::chain::{Chain, Serializer, Shard};
use crate::check::{check_cell, there, Depth, Findings};
use crate::error::Result;
use crate::index::Index;
use crate::pool;
use crate::salvage_index::{sharing_is_doubtful, sort, Named};
use crate::scratch::{self, push};
use crate::source::{Slice, Window};
use crate::store::Reader;

/// Inner chunks are read together up to about so many bytes.
const FETCH: u64 = 1 << 20;
/// Longer inner chunks that need no decoding are not held in memory as a whole.
const LONG: usize = 1 << 20;

pub fn check_shard(
    shard: &Shard,
    reader: &dyn Reader,
    depth: Depth,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Result<()> {
    let Some(index) = Index::read(shard, reader)? else { return there(false) };
    let named = named(shard, &index, reader.len(), findings)?;
    if depth == Depth::Sizes && !matches!(shard.inner.serializer, Serializer::Shard(_)) {
        findings.chunks += named.len() as u64;
        return Ok(());
    }
    let fetches = fetches(&named, apart(&shard.inner, reader, depth))?;
    let total = Mutex::new(std::mem::take(findings));
    let threads = match reader.bytes() {
        None => options.requesters_for(fetches.len(), shard.inner.length.max(FETCH as usize)),
        Some(_) => options.threads_for(fetches.len(), shard.inner.length),
    };
    if threads > 1 && options.requests > 0 {
        pool::await_requests();
    }
    let inside = options.inside(fetches.len(), threads);
    let done = pool::run(threads, fetches.len(), options.interrupted, |fetch, _| {
        let mut here = Findings::default();
        let named = &named[fetches[fetch].clone()];
        if let Err(error) = check_fetch(shard, &index, reader, named, depth, &inside, &mut here) {
            if error.is_stop() {
                return Err(error);
            }
            // The bytes could not be read at all.
            here.add(match named.first() {
                Some(first) => error.in_inner_chunk(&index.indices(first.entry)),
                None => error,
            });
        }
        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
        total.chunks += here.chunks;
        total.sharing += here.sharing;
        total.left_out += here.left_out;
        for error in here.errors {
            total.add(error);
        }
        Ok(())
    });
    *findings = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    done
}

/// What the index names, in the order of the bytes; entries that cannot be right are errors in `found`.
fn named(shard: &Shard, index: &Index, length: Option<u64>, findings: &mut Findings) -> Result<Vec<Named>> {
    let mut named: Vec<Named> = Vec::new();
    for entry in 0..shard.count() {
        match index.get(entry) {
            Ok(Some(bytes)) => push(&mut named, Named { bytes, entry })?,
            Ok(None) => {}
            Err(error) => findings.add(error),
        }
    }
    sort(&mut named);
    let doubtful = sharing_is_doubtful(shard, &named, length);
    for pair in named.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        if before.bytes == after.bytes && doubtful {
            let said = format!(
                "names the same bytes as entry {}, others are named by none, and the index has no checksum",
                before.entry
            );
            findings.add(index.wrong(after.entry, &said));
        } else if before.bytes == after.bytes {
            // Equal inner chunks may be stored once.
            findings.sharing += 1;
        } else if after.bytes.start < before.bytes.end {
            findings.add(index.wrong(after.entry, &format!("overlaps that of entry {}", before.entry)));
        }
    }
    Ok(named)
}

/// Whether inner chunks are better read each by itself.
fn apart(inner: &Chain, reader: &dyn Reader, depth: Depth) -> bool {
    let nested = matches!(inner.serializer, Serializer::Shard(_));
    let raw = inner.codecs.is_empty();
    reader.bytes().is_some() || (raw && (nested || inner.length > LONG)) || depth == Depth::Sizes
}

/// Which inner chunks are read together: as many as lie within [`FETCH`] bytes, gaps included, and those that are the
/// same bytes in any case.
fn fetches(named: &[Named], apart: bool) -> Result<Vec<Range<usize>>> {
    let mut fetches: Vec<Range<usize>> = Vec::new();
    for (number, Named { bytes, .. }) in named.iter().enumerate() {
        let same = number > 0 && named[number - 1].bytes == *bytes;
        match fetches.last_mut() {
            Some(fetch) if same || (!apart && bytes.end.saturating_sub(named[fetch.start].bytes.start) <= FETCH) => {
                fetch.end = number + 1;
            }
            _ => push(&mut fetches, number..number + 1)?,
        }
    }
    Ok(fetches)
}

fn check_fetch(
    shard: &Shard,
    index: &Index,
    reader: &dyn Reader,
    named: &[Named],
    depth: Depth,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Result<()> {
    let check = |same: &[Named], reader: &dyn Reader, findings: &mut Findings| {
        check_same(shard, index, same, reader, depth, options, findings)
    };
    if apart(&shard.inner, reader, depth) {
        for same in named.chunk_by(|one, other| one.bytes == other.bytes) {
            let Range { start, end } = same[0].bytes;
            check(same, &Window { whole: reader, offset: start, length: end - start }, findings)?;
        }
        return Ok(());
    }
    let start = named.first().map_or(0, |named| named.bytes.start);
    let end = named.iter().map(|named| named.bytes.end).max().unwrap_or(start);
    scratch::with_bytes((end - start) as usize, |bytes| {
        there(reader.read_at(start, bytes)?)?;
        for same in named.chunk_by(|one, other| one.bytes == other.bytes) {
            let inner = &bytes[(same[0].bytes.start - start) as usize..(same[0].bytes.end - start) as usize];
            check(same, &Slice(inner), findings)?;
        }
        Ok(())
    })
}

/// Checks an inner chunk, for each of the entries that name its bytes.
fn check_same(
    shard: &Shard,
    index: &Index,
    same: &[Named],
    reader: &dyn Reader,
    depth: Depth,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Result<()> {
    for (number, named) in same.iter().enumerate() {
        let mut inner = Findings::default();
        if let Err(error) = check_cell(&shard.inner, reader, depth, options, &mut inner) {
            if error.is_stop() {
                return Err(error);
            }
            inner.add(error);
        }
        let right = inner.errors.is_empty();
        findings.take_inner(inner, &index.indices(named.entry));
        if right {
            // The same bytes are right for the others, too.
            findings.chunks += (same.len() - number - 1) as u64;
            return Ok(());
        }
    }
    Ok(())
}

//! Checking a shard: its index, then every inner chunk that the index names.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::array::Options;
use crate::chain::{Chain, Serializer, Shard};
use crate::check::{check_cell, there, Depth, Found};
use crate::error::{Kind, Result};
use crate::index::Index;
use crate::pool;
use crate::scratch;
use crate::source::{Slice, Window};
use crate::store::Reader;

/// Inner chunks are read together up to about so many bytes.
const FETCH: u64 = 1 << 20;
/// Longer inner chunks that need no decoding are not held in memory as a whole.
const LONG: usize = 1 << 20;

/// Bytes in the shard, and the entries of the index that name them.
pub struct Piece {
    pub bytes: Range<u64>,
    pub entries: Vec<usize>,
}

pub fn check_shard(
    shard: &Shard,
    reader: &dyn Reader,
    depth: Depth,
    options: &Options<'_>,
    found: &mut Found,
) -> Result<()> {
    let Some(index) = Index::read(shard, reader)? else { return there(false) };
    let pieces = pieces(shard, &index, found);
    if depth == Depth::Sizes && !matches!(shard.inner.serializer, Serializer::Shard(_)) {
        found.chunks += pieces.iter().map(|piece| piece.entries.len() as u64).sum::<u64>();
        return Ok(());
    }
    let fetches = fetches(&pieces, apart(&shard.inner, reader, depth));
    let total = Mutex::new(std::mem::take(found));
    let threads = options.threads_for(pieces.len(), shard.inner.length).min(fetches.len());
    let inside = options.inside(fetches.len());
    let done = pool::run(threads, fetches.len(), |fetch, worker| {
        if worker == 0 {
            (options.interrupted)()?;
        }
        let mut here = Found::default();
        let pieces = &pieces[fetches[fetch].clone()];
        let outcome = check_fetch(shard, &index, reader, pieces, depth, &inside, &mut here);
        if let Err(error) = outcome {
            if matches!(error.kind, Kind::Request | Kind::Internal) {
                return Err(error);
            }
            // The bytes could not be read at all.
            here.add(match pieces.first().and_then(|piece| piece.entries.first()) {
                Some(&entry) => error.in_inner_chunk(&index.place(entry)),
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
    *found = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    done
}

/// The bytes that the index names, in their order; entries that cannot be right are errors in `found`.
pub fn pieces(shard: &Shard, index: &Index, found: &mut Found) -> Vec<Piece> {
    let mut named = Vec::new();
    for entry in 0..shard.count() {
        match index.get(entry) {
            Ok(Some(bytes)) => named.push((bytes, entry)),
            Ok(None) => {}
            Err(error) => found.add(error),
        }
    }
    named.sort_unstable_by_key(|(bytes, entry)| (bytes.start, bytes.end, *entry));
    let mut pieces: Vec<Piece> = Vec::new();
    for (bytes, entry) in named {
        match pieces.last_mut() {
            // Equal inner chunks may be stored once.
            Some(last) if last.bytes == bytes => {
                last.entries.push(entry);
                found.sharing += 1;
            }
            last => {
                if let Some(before) = last.filter(|last| bytes.start < last.bytes.end) {
                    found.add(index.wrong(entry, &format!("overlaps that of entry {}", before.entries[0])));
                }
                pieces.push(Piece { bytes, entries: vec![entry] });
            }
        }
    }
    pieces
}

/// Whether inner chunks are better read each by itself.
fn apart(inner: &Chain, reader: &dyn Reader, depth: Depth) -> bool {
    let nested = matches!(inner.serializer, Serializer::Shard(_));
    let raw = inner.codecs.is_empty();
    reader.bytes().is_some() || (raw && (nested || inner.length > LONG)) || depth == Depth::Sizes
}

/// Which pieces are read together: as many as lie within [`FETCH`] bytes, gaps included.
fn fetches(pieces: &[Piece], apart: bool) -> Vec<Range<usize>> {
    let mut fetches: Vec<Range<usize>> = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        match fetches.last_mut() {
            Some(fetch) if !apart && piece.bytes.end.saturating_sub(pieces[fetch.start].bytes.start) <= FETCH => {
                fetch.end = number + 1;
            }
            _ => fetches.push(number..number + 1),
        }
    }
    fetches
}

fn check_fetch(
    shard: &Shard,
    index: &Index,
    reader: &dyn Reader,
    pieces: &[Piece],
    depth: Depth,
    options: &Options<'_>,
    found: &mut Found,
) -> Result<()> {
    if apart(&shard.inner, reader, depth) {
        for piece in pieces {
            let Range { start, end } = piece.bytes;
            let window = Window { whole: reader, offset: start, length: end - start };
            check_piece(shard, index, piece, &window, depth, options, found)?;
        }
        return Ok(());
    }
    let start = pieces.first().map_or(0, |piece| piece.bytes.start);
    let end = pieces.iter().map(|piece| piece.bytes.end).max().unwrap_or(start);
    scratch::with_bytes((end - start) as usize, |bytes| {
        there(reader.read_at(start, bytes)?)?;
        for piece in pieces {
            let inner = &bytes[(piece.bytes.start - start) as usize..(piece.bytes.end - start) as usize];
            check_piece(shard, index, piece, &Slice(inner), depth, options, found)?;
        }
        Ok(())
    })
}

/// Checks one inner chunk, for each of the entries that name it.
fn check_piece(
    shard: &Shard,
    index: &Index,
    piece: &Piece,
    reader: &dyn Reader,
    depth: Depth,
    options: &Options<'_>,
    found: &mut Found,
) -> Result<()> {
    for (number, &entry) in piece.entries.iter().enumerate() {
        let mut inner = Found::default();
        if let Err(error) = check_cell(&shard.inner, reader, depth, options, &mut inner) {
            if matches!(error.kind, Kind::Request | Kind::Internal) {
                return Err(error);
            }
            inner.add(error);
        }
        let right = inner.errors.is_empty();
        found.take_inner(inner, &index.place(entry));
        if right {
            // The same bytes are right for the others, too.
            found.chunks += (piece.entries.len() - number - 1) as u64;
            return Ok(());
        }
    }
    Ok(())
}

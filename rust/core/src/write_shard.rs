//! Encoding a shard: wanted inner chunks are encoded, the others keep their bytes without being decoded.
//!
//! Inner chunks are laid down in one order of the grid, whatever order threads finish in, so that the same data always
//! make the same bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::chain::{Chain, Serializer, Shard};
use crate::codec::room;
use crate::error::{Error, Kind, Result};
use crate::fill::{is_fill, set_fill};
use crate::index::{shares_too_much, Index};
use crate::pool;
use crate::read_shard::linear;
use crate::region::{c_strides, Region};
use crate::scratch;
use crate::source::Window;
use crate::split::Split;
use crate::split_parts::Cells;
use crate::store::{Reader, Steps};
use crate::write::{encode_cell, with_serialized, Encoded, Part, Update};

pub fn encode_shard<'a>(
    chain: &Chain,
    shard: &Shard,
    update: &Update<'a, '_>,
    out: &mut Vec<u8>,
) -> Result<Encoded<'a>> {
    with_stored_axes(chain, update, |stored| {
        with_serialized(chain, stored.existing, |existing| {
            let stored = Update { existing, ..*stored };
            if chain.codecs.is_empty() {
                return serialize(shard, &stored, out);
            }
            // Codecs want the shard as a whole.
            let stored = Update { steps: None, ..stored };
            scratch::with_vec(|body| {
                body.clear();
                match serialize(shard, &stored, body)? {
                    Encoded::Appended => chain.encode(body, out).map(|()| Encoded::Appended),
                    nothing => Ok(nothing),
                }
            })
        })
    })
}

/// Calls `work` with the same update, the axes of whose regions are in stored order.
fn with_stored_axes<'a, R>(
    chain: &Chain,
    update: &Update<'a, '_>,
    work: impl FnOnce(&Update<'a, '_>) -> Result<R>,
) -> Result<R> {
    let Some(order) = &chain.order else { return work(update) };
    let permuted: Vec<Region> = update.parts.iter().map(|(region, _)| region.permuted(order)).collect();
    let parts: Vec<Part<'a, '_>> = permuted.iter().zip(update.parts).map(|(region, part)| (region, part.1)).collect();
    work(&Update { parts: &parts, ..*update })
}

fn inner_cells(shard: &Shard, update: &Update<'_, '_>) -> Result<Cells> {
    Cells::new(update.parts.iter().map(|(region, _)| *region), |region| Split::new(region, &shard.inner.shape))
}

/// Whether anything of a shard is to be stored, of which nothing is stored so far.
pub fn has_content(chain: &Chain, update: &Update<'_, '_>) -> Result<bool> {
    let Serializer::Shard(shard) = &chain.serializer else { return Ok(true) };
    if update.options.write_empty {
        return Ok(true);
    }
    let (inner, itemsize) = (&shard.inner, shard.inner.elements.itemsize);
    let strides = c_strides(&inner.shape, itemsize);
    with_stored_axes(chain, update, |update| {
        let cells = inner_cells(shard, update)?;
        let mut indices = Vec::new();
        for cell in 0..cells.count() {
            (update.options.interrupted)()?;
            let wanted = cells.cell(cell, &mut indices);
            let has_content = scratch::with_bytes(inner.length, |elements| {
                set_fill(elements, &inner.fill);
                for (part, region) in wanted {
                    update.parts[part].1.gather(&region, elements, &strides, itemsize)?;
                }
                Ok(!is_fill(elements, &inner.fill))
            })?;
            if has_content {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// Decoded bytes of the inner chunks that are encoded before any of them is laid down.
const BATCH: usize = if cfg!(test) { 20_000 } else { 16 << 20 };

/// Where few inner chunks are encoded and the others kept, a batch ends after so many.
const ENTRIES: usize = 1 << 16;

/// One inner chunk of a batch.
struct Entry<'a> {
    number: usize,
    piece: Mutex<Piece<'a>>,
}

/// Where the new bytes of one inner chunk come from.
enum Piece<'a> {
    /// From the shard that there was.
    Kept,
    Fill,
    /// In a buffer that another batch will use again.
    Encoded(Vec<u8>),
    Verbatim(&'a [u8]),
}

fn serialize<'a>(shard: &Shard, update: &Update<'a, '_>, out: &mut Vec<u8>) -> Result<Encoded<'a>> {
    let old = match update.existing {
        Some(reader) => Index::read(shard, reader)?,
        None => None,
    };
    let old = match old {
        Some(index) => index,
        None => Index::empty(shard)?,
    };
    let cells = inner_cells(shard, update)?;
    let count = cells.count();
    let mut indices = Vec::new();
    let mut touched: HashMap<usize, usize> = HashMap::new();
    touched.try_reserve(count).map_err(|_| scratch::out_of_memory(count.saturating_mul(16)))?;
    for cell in 0..count {
        cells.cell(cell, &mut indices);
        touched.insert(linear(&shard.grid, &indices), cell);
    }
    let threads = update.options.threads_for(count, shard.inner.length);
    let order = shard.write_order.entries(&shard.grid)?;
    let entries = (0..shard.count()).map(|place| order.as_ref().map_or(place, |order| order[place]));
    let mut writer = Writer::new(shard, update, &old, out)?;
    if threads == 1 {
        for entry in entries {
            (update.options.interrupted)()?;
            match touched.get(&entry) {
                Some(&cell) => writer.encode(entry, |old, out| encode_inner(shard, update, &cells, cell, old, out))?,
                None => writer.keep(entry)?,
            }
        }
        return writer.finish();
    }
    // Batches are encoded by all threads, of which one lays the batch before down meanwhile.
    let most = (BATCH / shard.inner.length.max(1)).max(2 * threads);
    let writer = Mutex::new(writer);
    let spare: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let (mut entries, mut last): (_, Vec<Entry<'a>>) = (entries.peekable(), Vec::new());
    while entries.peek().is_some() || !last.is_empty() {
        let mut next = Vec::new();
        let mut wanted = Vec::new();
        while let Some(number) = entries.next_if(|_| wanted.len() < most && next.len() < most.max(ENTRIES)) {
            if let Some(&cell) = touched.get(&number) {
                scratch::push(&mut wanted, (next.len(), cell))?;
            }
            scratch::push(&mut next, Entry { number, piece: Mutex::new(Piece::Kept) })?;
        }
        pool::run(threads, wanted.len() + 1, update.options.interrupted, |job, _| {
            let Some(job) = job.checked_sub(1) else {
                return lock(&writer).lay_down(&last, &spare);
            };
            let (at, cell) = wanted[job];
            let mut bytes = lock(&spare).pop().unwrap_or_default();
            bytes.clear();
            let encoded = encode_inner(shard, update, &cells, cell, old.get(next[at].number)?, &mut bytes)?;
            *lock(&next[at].piece) = match encoded {
                Encoded::Fill => Piece::Fill,
                Encoded::Appended => Piece::Encoded(bytes),
                Encoded::Verbatim(bytes) => Piece::Verbatim(bytes),
            };
            Ok(())
        })?;
        last = next;
    }
    writer.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn encode_inner<'a>(
    shard: &Shard,
    update: &Update<'a, '_>,
    cells: &Cells,
    cell: usize,
    old: Option<Range<u64>>,
    out: &mut Vec<u8>,
) -> Result<Encoded<'a>> {
    let mut indices = Vec::new();
    let wanted = cells.cell(cell, &mut indices);
    let parts: Vec<Part<'a, '_>> = wanted.iter().map(|(part, region)| (region, update.parts[*part].1)).collect();
    let inner = Update { parts: &parts, steps: None, ..*update };
    let window = update.existing.zip(old).map(|(whole, bytes)| Window {
        whole,
        offset: bytes.start,
        length: bytes.end - bytes.start,
    });
    let is_whole = inner.covers(&shard.inner.shape);
    let existing = window.as_ref().filter(|_| !is_whole).map(|window| window as &dyn Reader);
    let inner = Update { existing, ..inner };
    let before = out.len();
    let encoded = encode_cell(&shard.inner, &inner, out).and_then(|encoded| match encoded {
        // Readers refuse an index entry of length 0.
        Encoded::Appended if out.len() == before => {
            Err(Error::encode(shard.inner.last_codec(), "expected an encoded inner chunk, found no bytes"))
        }
        encoded => Ok(encoded),
    });
    encoded.map_err(|error| error.in_inner_chunk(&indices))
}

/// Lays a shard down: inner chunks one after the other, and the index before or behind them.
struct Writer<'w> {
    shard: &'w Shard,
    existing: Option<&'w dyn Reader>,
    old: &'w Index,
    new: Index,
    out: &'w mut Vec<u8>,
    /// Where the shard begins in `out`.
    first: usize,
    /// Takes what was laid down, so that little of it is in `out`.
    steps: Option<&'w dyn Steps>,
    /// How many bytes were handed on to it.
    handed_on: u64,
    /// Old bytes that will be copied in one piece: kept inner chunks that lay side by side.
    pending: Option<Range<u64>>,
    /// Old bytes kept so far, and how many there can be. Entries may share bytes, which are laid down once for each:
    /// without a bound a small shard could grow to as many times its length as it has entries.
    kept: u64,
    most_kept: u64,
}

/// So many bytes are handed on at once, if they are not in one piece.
const STEP: usize = if cfg!(test) { 3000 } else { 1 << 20 };
/// A piece as long as this is not worth a copy.
const PIECE: usize = if cfg!(test) { 700 } else { 64 << 10 };

impl<'w> Writer<'w> {
    fn new(shard: &'w Shard, update: &Update<'_, 'w>, old: &'w Index, out: &'w mut Vec<u8>) -> Result<Self> {
        let Update { existing, steps, .. } = *update;
        let first = out.len();
        if shard.at_start {
            scratch::reserve(out, shard.index_len)?;
            out.resize(first + shard.index_len, 0);
        }
        let decoded = shard.count().saturating_mul(shard.inner.length);
        let most_kept = existing.and_then(|reader| reader.len()).unwrap_or(0).max(room::generous(decoded) as u64);
        let new = Index::empty(shard)?;
        Ok(Writer { shard, existing, old, new, out, first, steps, handed_on: 0, pending: None, kept: 0, most_kept })
    }

    /// Where the next byte will lie in the shard.
    fn position(&self) -> u64 {
        let there = self.handed_on + (self.out.len() - self.first) as u64;
        there + self.pending.as_ref().map_or(0, |bytes| bytes.end - bytes.start)
    }

    /// Hands on what is in `out` if that is at least as long.
    fn hand_on_from(&mut self, least: usize) -> Result<()> {
        let Some(steps) = self.steps.filter(|_| self.out.len() - self.first >= least) else { return Ok(()) };
        steps.append(&self.out[self.first..])?;
        self.handed_on += (self.out.len() - self.first) as u64;
        self.out.truncate(self.first);
        Ok(())
    }

    /// Lays a batch down, and keeps its buffers for another one.
    fn lay_down(&mut self, batch: &[Entry<'_>], spare: &Mutex<Vec<Vec<u8>>>) -> Result<()> {
        for Entry { number, piece } in batch {
            match std::mem::replace(&mut *lock(piece), Piece::Kept) {
                Piece::Kept => self.keep(*number)?,
                Piece::Fill => self.skip(*number),
                Piece::Verbatim(bytes) => self.push(*number, bytes)?,
                Piece::Encoded(bytes) => {
                    self.push(*number, &bytes)?;
                    lock(spare).push(bytes);
                }
            }
        }
        Ok(())
    }

    /// Keeps the old bytes of an inner chunk.
    fn keep(&mut self, entry: usize) -> Result<()> {
        let Some(bytes) = self.old.get(entry)? else { return Ok(()) };
        self.kept += bytes.end - bytes.start;
        if self.kept > self.most_kept {
            return Err(shares_too_much(self.most_kept));
        }
        let position = self.position();
        self.new.set(entry, Some(position..position + (bytes.end - bytes.start)));
        match &mut self.pending {
            Some(pending) if pending.end == bytes.start => pending.end = bytes.end,
            _ => {
                self.flush()?;
                self.pending = Some(bytes);
            }
        }
        Ok(())
    }

    /// Copies the pending old bytes.
    fn flush(&mut self) -> Result<()> {
        let (Some(bytes), Some(reader)) = (self.pending.take(), self.existing) else { return Ok(()) };
        let length = (bytes.end - bytes.start) as usize;
        let at = self.out.len();
        scratch::reserve(self.out, length)?;
        self.out.resize(at + length, 0);
        if reader.read_at(bytes.start, &mut self.out[at..])? {
            Ok(())
        } else {
            Err(Error::new(Kind::Store, "the shard disappeared while a part of it was being rewritten"))
        }
    }

    fn push(&mut self, entry: usize, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        let position = self.position();
        match self.steps.filter(|_| bytes.len() >= PIECE) {
            Some(steps) => {
                self.hand_on_from(1)?;
                steps.append(bytes)?;
                self.handed_on += bytes.len() as u64;
            }
            None => {
                scratch::reserve(self.out, bytes.len())?;
                self.out.extend_from_slice(bytes);
            }
        }
        self.new.set(entry, Some(position..self.position()));
        self.hand_on_from(STEP)
    }

    fn skip(&mut self, entry: usize) {
        self.new.set(entry, None);
    }

    /// Encodes an inner chunk straight to the end of the shard.
    fn encode<'a>(
        &mut self,
        entry: usize,
        work: impl FnOnce(Option<Range<u64>>, &mut Vec<u8>) -> Result<Encoded<'a>>,
    ) -> Result<()> {
        self.flush()?;
        let position = self.position();
        let old = self.old.get(entry)?;
        match work(old, self.out)? {
            Encoded::Fill => {
                self.skip(entry);
                return Ok(());
            }
            Encoded::Appended => self.new.set(entry, Some(position..self.position())),
            Encoded::Verbatim(bytes) => self.push(entry, bytes)?,
        }
        self.hand_on_from(STEP)
    }

    fn finish<'a>(mut self) -> Result<Encoded<'a>> {
        self.flush()?;
        if self.new.is_all_missing() {
            self.out.truncate(self.first);
            return Ok(Encoded::Fill);
        }
        if self.shard.at_start {
            return scratch::with_vec(|index| {
                index.clear();
                self.new.encode(self.shard, index)?;
                match self.steps.filter(|_| self.handed_on > 0) {
                    Some(steps) => self.hand_on_from(1).and_then(|()| steps.replace_start(index))?,
                    None => self.out[self.first..self.first + index.len()].copy_from_slice(index),
                }
                Ok(Encoded::Appended)
            });
        }
        self.new.encode(self.shard, self.out).map(|()| Encoded::Appended)
    }
}

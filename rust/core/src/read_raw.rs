//! Reading cells whose elements are stored each by itself, in its place: only the wanted bytes are fetched.
//!
//! The elements are plain, or went through codecs that encode every element alone, like `bitround` and `cast_value`, or a
//! few that share bytes, like `packbits`.

use std::ops::Range;

use crate::chain::{wrong_length, Chain, Unit};
use crate::error::Result;
use crate::memory::Target;
use crate::region::{Axis, Region};
use crate::scratch;
use crate::store::Reader;

/// A separate read costs about as much as reading this many more bytes.
const PIECE: usize = 4096;
/// The same of a request to a store with costly ones.
const REQUEST: usize = 128 << 10;
/// A longer piece is read in parts that are not short, so that its buffer is not larger than the caches, nor new each time.
const LONG: usize = 1 << 20;
const NOT_SHORT: usize = 64 << 10;
/// Bytes that are decoded in place of all, as long as they and what they are decoded from are in the second-level cache.
const BLOCK: usize = 128 << 10;

/// Reads the region of a cell with the [`Chain::stored_elements`] in `unit`; `false` when a lazy reader finds no value.
pub fn read_raw(chain: &Chain, unit: Unit, reader: &dyn Reader, region: &Region, target: &Target<'_>) -> Result<bool> {
    let cell = Cell { chain, unit };
    if let Some(bytes) = reader.bytes() {
        cell.check(bytes.len() as u64)?;
        return cell.decode_into(bytes, region, target).map(|()| true);
    }
    let Some(length) = reader.len() else { return cell.read_lazily(reader, region, target) };
    cell.check(length)?;
    if let Some(bytes) = target.verbatim(region, &chain.shape, &chain.strides, chain.length) {
        return cell.read_part(reader, 0..chain.length, bytes);
    }
    let mut exists = true;
    cell.pieces(region, (PIECE, LONG), &mut |region, span| {
        exists = exists && cell.read_piece(reader, region, span, target)?;
        Ok(())
    })?;
    Ok(exists)
}

/// A stored cell, and how it stores its elements.
struct Cell<'a> {
    chain: &'a Chain,
    unit: Unit,
}

impl Cell<'_> {
    fn stored(&self, span: &Range<usize>) -> Range<usize> {
        self.unit.stored(span)
    }

    fn span(&self, region: &Region) -> Option<Range<usize>> {
        self.unit.span(self.chain, region)
    }

    /// The length of the stored cell.
    fn length(&self) -> usize {
        self.stored(&(0..self.chain.length)).end
    }

    fn check(&self, length: u64) -> Result<()> {
        match length == self.length() as u64 {
            true => Ok(()),
            false => Err(wrong_length(self.length(), length as usize)),
        }
    }

    fn decode(&self, encoded: &[u8], bytes: &mut [u8]) -> Result<()> {
        self.chain.decode_exact(encoded, bytes)?;
        self.chain.elements.decode(bytes);
        Ok(())
    }

    fn decode_into(&self, encoded: &[u8], region: &Region, target: &Target<'_>) -> Result<()> {
        let (chain, itemsize) = (self.chain, self.chain.elements.itemsize);
        if chain.stores_elements() && chain.elements.is_native() {
            return target.scatter(region, encoded, 0, &chain.strides, itemsize);
        }
        if let Some(bytes) = target.verbatim(region, &chain.shape, &chain.strides, chain.length) {
            return self.decode(encoded, bytes);
        }
        let Some(span) = self.span(region) else { return Ok(()) };
        scratch::with_bytes(span.len(), |part| {
            self.decode(&encoded[self.stored(&span)], part)?;
            target.scatter(region, part, span.start, &chain.strides, itemsize)
        })
    }

    /// Reads a span of decoded bytes into `bytes`.
    fn read_part(&self, reader: &dyn Reader, span: Range<usize>, bytes: &mut [u8]) -> Result<bool> {
        let start = self.stored(&span).start;
        let is_plain = self.chain.stores_elements() && self.chain.elements.is_native();
        let is_costly = self.chain.codecs.iter().any(|codec| codec.has_costly_calls());
        if is_plain || is_costly || span.len() <= BLOCK || !reader.reads_blocks() {
            return self.read_block(reader, start, bytes);
        }
        let Unit { decoded, stored } = self.unit;
        let length = (BLOCK / decoded).max(1) * decoded;
        for (number, block) in bytes.chunks_mut(length).enumerate() {
            match self.read_block(reader, start + number * (length / decoded * stored), block) {
                Ok(true) => {}
                // Read at once, the error tells where in all of the bytes it is.
                Ok(false) | Err(_) => return self.read_block(reader, start, bytes),
            }
        }
        Ok(true)
    }

    /// The same at once, from this place among the stored bytes.
    fn read_block(&self, reader: &dyn Reader, start: usize, bytes: &mut [u8]) -> Result<bool> {
        if self.chain.stores_elements() {
            let exists = reader.read_at(start as u64, bytes)?;
            self.chain.elements.decode(bytes);
            return Ok(exists);
        }
        scratch::with_bytes(self.stored(&(0..bytes.len())).len(), |encoded| {
            if !reader.read_at(start as u64, encoded)? {
                return Ok(false);
            }
            self.decode(encoded, bytes).map(|()| true)
        })
    }

    fn read_piece(
        &self,
        reader: &dyn Reader,
        region: &Region,
        span: Range<usize>,
        target: &Target<'_>,
    ) -> Result<bool> {
        let (start, itemsize) = (span.start, self.chain.elements.itemsize);
        scratch::with_bytes(span.len(), |bytes| {
            if !self.read_part(reader, span, bytes)? {
                return Ok(false);
            }
            target.scatter(region, bytes, start, &self.chain.strides, itemsize).map(|()| true)
        })
    }

    /// Reads from a store with costly requests: all pieces in one call, or everything where that is hardly more. A value of
    /// the wrong length is an error, also when its pieces are there, wherever the answer tells how long it is.
    fn read_lazily(&self, reader: &dyn Reader, region: &Region, target: &Target<'_>) -> Result<bool> {
        let (chain, itemsize) = (self.chain, self.chain.elements.itemsize);
        let mut pieces: Vec<(Region, Range<usize>)> = Vec::new();
        let mut wanted = 0_usize;
        self.pieces(region, (REQUEST, usize::MAX), &mut |region, span| {
            wanted = wanted.saturating_add(self.stored(&span).len().saturating_add(REQUEST));
            scratch::push(&mut pieces, (region.clone(), span))
        })?;
        if wanted >= self.length() {
            return scratch::with_vec(|encoded| {
                if !reader.read_all(encoded, self.length() as u64)? {
                    return Ok(false);
                }
                self.check(encoded.len() as u64)?;
                self.decode_into(encoded, region, target).map(|()| true)
            });
        }
        let total = pieces.iter().map(|(_, span)| self.stored(span).len()).sum();
        scratch::with_bytes(total, |encoded| {
            let mut ranges: Vec<(i64, &mut [u8])> = scratch::list(pieces.len())?;
            let mut rest = &mut *encoded;
            for (_, span) in &pieces {
                let stored = self.stored(span);
                let (piece, behind) = rest.split_at_mut(stored.len());
                ranges.push((stored.start as i64, piece));
                rest = behind;
            }
            if !reader.read_ranges(&mut ranges)? {
                return Ok(false);
            }
            if let Some(length) = reader.len() {
                self.check(length)?;
            }
            let mut rest = &*encoded;
            for (region, span) in &pieces {
                let (piece, behind) = rest.split_at(self.stored(span).len());
                rest = behind;
                scratch::with_bytes(span.len(), |bytes| {
                    self.decode(piece, bytes)?;
                    target.scatter(region, bytes, span.start, &chain.strides, itemsize)
                })?;
            }
            Ok(true)
        })
    }

    /// Calls `each` with the region and the span between the first and the last wanted byte; or goes through the outermost
    /// factor of the region one position at a time when that fetches so much less that the extra reads pay, each of
    /// which costs about as much as `cost` more bytes, or when the span is longer than `most`.
    fn pieces(
        &self,
        region: &Region,
        (cost, most): (usize, usize),
        each: &mut dyn FnMut(&Region, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let Some(span) = self.span(region) else { return Ok(()) };
        if span.len() > cost {
            if let Some(factor) = outermost(self.chain, region) {
                let count = factor.count(region);
                let part = factor.narrowed(region, 0);
                let part_len = self.span(&part).map_or(0, |span| span.len());
                let is_less = count.saturating_mul(cost + part_len) < span.len();
                let is_no_more = part_len >= NOT_SHORT && count.saturating_mul(part_len) <= span.len() + part_len;
                if is_less || (span.len() > most && is_no_more) {
                    return (0..count)
                        .try_for_each(|position| self.pieces(&factor.narrowed(region, position), (cost, most), each));
                }
            }
        }
        each(region, span)
    }
}

/// What a region is a product of: an evenly spaced axis, or a group of listed ones.
enum Factor {
    Axis(usize),
    Group(usize),
}

/// The evenly spaced axis with the widest stride in the cell; a group of points counts as wider than any.
fn outermost(chain: &Chain, region: &Region) -> Option<Factor> {
    if let Some(group) = region.groups.iter().position(|points| points.range.len() > 1) {
        return Some(Factor::Group(group));
    }
    let plural = |axis: &usize| matches!(region.axes[*axis], Axis::Strided { count, .. } if count > 1);
    (0..region.axes.len()).filter(plural).max_by_key(|&axis| chain.strides[axis].unsigned_abs()).map(Factor::Axis)
}

impl Factor {
    fn count(&self, region: &Region) -> usize {
        match *self {
            Factor::Group(group) => region.groups[group].range.len(),
            Factor::Axis(axis) => match region.axes[axis] {
                Axis::Strided { count, .. } => count,
                Axis::Listed { .. } => 1,
            },
        }
    }

    /// The region with this factor reduced to its position number `position`.
    fn narrowed(&self, region: &Region, position: usize) -> Region {
        let mut part = region.clone();
        match *self {
            Factor::Group(group) => {
                let first = part.groups[group].range.start + position;
                part.groups[group].range = first..first + 1;
            }
            Factor::Axis(axis) => {
                if let Axis::Strided { start, step, stride, .. } = region.axes[axis] {
                    part.base += position as isize * stride;
                    part.axes[axis] = Axis::Strided { start: start + step * position as i64, step, count: 1, stride };
                }
            }
        }
        part
    }
}

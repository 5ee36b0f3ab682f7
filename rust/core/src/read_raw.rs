//! Reading cells of plain elements that no codec compressed: only the wanted bytes are fetched.

use crate::chain::{wrong_length, Chain};
use crate::error::Result;
use crate::memory::Target;
use crate::region::{Axis, Region};
use crate::scratch;
use crate::store::Reader;

/// A separate read costs about as much as reading this many more bytes.
const PIECE: usize = 4096;

pub fn read_raw(chain: &Chain, reader: &dyn Reader, region: &Region, target: &Target<'_>) -> Result<bool> {
    let itemsize = chain.elements.itemsize;
    if let Some(bytes) = reader.bytes() {
        if bytes.len() != chain.length {
            return Err(wrong_length(chain.length, bytes.len()));
        }
        return from_memory(chain, bytes, region, target).map(|()| true);
    }
    let Some(length) = reader.len() else {
        // A lazy reader: one request for everything is what it can check the length of.
        return scratch::with_vec(|bytes| {
            if !reader.read_all(bytes, chain.length as u64)? {
                return Ok(false);
            }
            if bytes.len() != chain.length {
                return Err(wrong_length(chain.length, bytes.len()));
            }
            chain.elements.decode(bytes);
            target.scatter(region, bytes, 0, &chain.strides, itemsize).map(|()| true)
        });
    };
    if length != chain.length as u64 {
        return Err(wrong_length(chain.length, length as usize));
    }
    if let Some(bytes) = target.verbatim(region, &chain.shape, &chain.strides, chain.length) {
        let found = reader.read_at(0, bytes)?;
        chain.elements.decode(bytes);
        return Ok(found);
    }
    read_pieces(chain, reader, region, target)
}

fn from_memory(chain: &Chain, bytes: &[u8], region: &Region, target: &Target<'_>) -> Result<()> {
    let itemsize = chain.elements.itemsize;
    let Some(span) = region.span(&chain.strides, itemsize) else { return Ok(()) };
    if chain.elements.is_native() {
        return target.scatter(region, bytes, 0, &chain.strides, itemsize);
    }
    scratch::with_bytes(span.len(), |part| {
        part.copy_from_slice(&bytes[span.clone()]);
        chain.elements.decode(part);
        target.scatter(region, part, span.start, &chain.strides, itemsize)
    })
}

/// Reads the span between the first and the last wanted byte at once, or goes through the outermost factor of the
/// region one position at a time when that fetches so much less that the extra reads pay.
fn read_pieces(chain: &Chain, reader: &dyn Reader, region: &Region, target: &Target<'_>) -> Result<bool> {
    let itemsize = chain.elements.itemsize;
    let Some(span) = region.span(&chain.strides, itemsize) else { return Ok(true) };
    if span.len() > PIECE {
        if let Some(factor) = outermost(chain, region) {
            let count = factor.count(region);
            let part = factor.narrowed(region, 0);
            let part_len = part.span(&chain.strides, itemsize).map_or(0, |span| span.len());
            if count.saturating_mul(PIECE + part_len) < span.len() {
                for position in 0..count {
                    if !read_pieces(chain, reader, &factor.narrowed(region, position), target)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
        }
    }
    scratch::with_bytes(span.len(), |bytes| {
        if !reader.read_at(span.start as u64, bytes)? {
            return Ok(false);
        }
        chain.elements.decode(bytes);
        target.scatter(region, bytes, span.start, &chain.strides, itemsize).map(|()| true)
    })
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

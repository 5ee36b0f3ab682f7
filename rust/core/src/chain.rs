//! A codec chain, prepared once per array: what is known about every chunk before any is read.
//!
//! In encode order a chain is: transpositions (composed into one), the array-to-bytes step (plain elements, or a
//! shard of inner chunks with a chain of their own), then bytes-to-bytes codecs.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codec::element::{normalise_booleans, Swap};
use crate::codec::BytesToBytes;
use crate::error::{Error, Kind, Result};
use crate::region::{c_strides, Region};
use crate::store::ranges;
use crate::subchunk_order::SubchunkOrder;

/// No decoded chunk, and no shard index, may be larger than this: a size that metadata claims is not a reason to
/// allocate it.
pub const MAX_CHUNK_BYTES: usize = 1 << 40;
pub const MAX_INDEX_BYTES: usize = 1 << 30;

/// How elements lie in stored bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    pub itemsize: usize,
    pub swap: Swap,
    /// Elements are booleans: any stored byte other than 0 means true.
    pub boolean: bool,
}

impl Elements {
    /// Turns stored elements into native ones, in place.
    pub fn decode(&self, bytes: &mut [u8]) {
        self.swap.apply(bytes);
        if self.boolean {
            normalise_booleans(bytes);
        }
    }

    /// Turns native elements into stored ones, in place.
    pub fn encode(&self, bytes: &mut [u8]) {
        self.swap.apply(bytes);
    }

    /// Whether stored bytes are native ones as they are.
    pub fn is_native(&self) -> bool {
        self.swap == Swap::None && !self.boolean
    }
}

/// The array-to-bytes step.
pub enum Serializer {
    Elements,
    Shard(Box<Shard>),
}

/// `sharding_indexed`: inner chunks and an index of where each of them lies.
pub struct Shard {
    pub inner: Chain,
    /// Encodes the index, an array of little-endian (offset, length) pairs of unsigned 64-bit integers.
    pub index: Chain,
    pub at_start: bool,
    /// Inner chunks along each (stored) axis.
    pub grid: Vec<usize>,
    /// Stored length of the index.
    pub index_len: usize,
    /// How writers lay inner chunks down.
    pub write_order: SubchunkOrder,
}

/// A prepared codec chain for cells of one shape.
pub struct Chain {
    /// Shape of a decoded cell, in the order of the array's axes.
    pub shape: Vec<usize>,
    pub elements: Elements,
    /// One element, or those along the last axis, which is last in stored order, too.
    pub fill: Vec<u8>,
    /// Stored axis `i` is array axis `order[i]`; `None` when they are the same.
    pub order: Option<Vec<usize>>,
    pub serializer: Serializer,
    pub codecs: Vec<Box<dyn BytesToBytes>>,
    /// Bytes of a decoded cell.
    pub length: usize,
    /// Per array axis, the distance in bytes between neighbours in a decoded cell.
    pub strides: Vec<isize>,
    /// Upper bounds of the encoded lengths: before the first codec, after it, …
    limits: Vec<usize>,
    /// The exact encoded length, when it does not depend on the values.
    fixed: Option<usize>,
    /// Tells it from all other chains of this process.
    pub number: u64,
}

impl Chain {
    pub fn new(
        shape: Vec<usize>,
        elements: Elements,
        fill: Vec<u8>,
        order: Option<Vec<usize>>,
        serializer: Serializer,
        codecs: Vec<Box<dyn BytesToBytes>>,
    ) -> Result<Self> {
        let row = shape.last().and_then(|&count| count.checked_mul(elements.itemsize));
        let last = shape.len().saturating_sub(1);
        let is_row = row == Some(fill.len()) && order.as_ref().is_none_or(|order| order.last() == Some(&last));
        if fill.len() != elements.itemsize && !is_row {
            return Err(Error::new(
                Kind::Request,
                format!("expected a fill value of {} bytes, found {}", elements.itemsize, fill.len()),
            ));
        }
        let length = shape
            .iter()
            .try_fold(elements.itemsize, |total, &size| total.checked_mul(size))
            .filter(|&length| length <= MAX_CHUNK_BYTES)
            .ok_or_else(|| {
                let reason = format!("a chunk of shape {shape:?} is larger than the {MAX_CHUNK_BYTES} bytes allowed");
                Error::new(Kind::Limit, reason)
            })?;
        let order = order.filter(|order| order.iter().enumerate().any(|(position, &axis)| position != axis));
        let strides = match &order {
            None => c_strides(&shape, elements.itemsize),
            Some(order) => {
                let stored: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
                let mut strides = vec![0; shape.len()];
                for (&axis, stride) in order.iter().zip(c_strides(&stored, elements.itemsize)) {
                    strides[axis] = stride;
                }
                strides
            }
        };
        let has_booleans = codecs.first().is_some_and(|codec| codec.makes_booleans());
        let elements = Elements { boolean: elements.boolean && !has_booleans, ..elements };
        let serialized = match &serializer {
            Serializer::Elements => length,
            Serializer::Shard(shard) => shard.max_len()?,
        };
        let mut limits = vec![serialized];
        for codec in &codecs {
            limits.push(codec.max_encoded_len(limits[limits.len() - 1]));
        }
        let fixed = match serializer {
            Serializer::Elements => codecs.iter().try_fold(length, |length, codec| codec.fixed_encoded_len(length)),
            Serializer::Shard(_) => None,
        };
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Chain { shape, elements, fill, order, serializer, codecs, length, strides, limits, fixed, number })
    }

    /// No encoded cell is longer than this.
    pub fn max_len(&self) -> usize {
        self.limits[self.limits.len() - 1]
    }

    /// The codec that stored bytes meet first.
    pub fn last_codec(&self) -> &'static str {
        match (self.codecs.last(), &self.serializer) {
            (Some(codec), _) => codec.name(),
            (None, Serializer::Elements) => "bytes",
            (None, Serializer::Shard(_)) => "sharding_indexed",
        }
    }

    /// The exact encoded length, when it does not depend on the values.
    pub fn fixed_len(&self) -> Option<usize> {
        self.fixed
    }

    /// The unit of a cell whose elements are stored each by itself, in its place; `None` where they are not.
    pub fn stored_elements(&self) -> Option<Unit> {
        let (unit, codecs) = self.unit();
        (matches!(self.serializer, Serializer::Elements) && codecs == self.codecs.len()).then_some(unit)
    }

    /// How the first codecs store elements, as many of them as encode every element alone, and the number of these codecs.
    pub fn unit(&self) -> (Unit, usize) {
        let mut unit = Unit { decoded: self.elements.itemsize, stored: self.elements.itemsize };
        for (number, codec) in self.codecs.iter().enumerate() {
            let next = codec.encoded_elements(unit.stored).filter(|&(_, stored)| stored > 0);
            let Some((count, stored)) = next else { return (unit, number) };
            let Some(decoded) = unit.decoded.checked_mul(count) else { return (unit, number) };
            unit = Unit { decoded, stored };
        }
        (unit, self.codecs.len())
    }

    /// Whether the stored bytes are those of the elements, in their stored byte order.
    pub fn stores_elements(&self) -> bool {
        self.codecs.iter().all(|codec| codec.decodes_to_itself())
    }

    /// The codec whose decoded elements stand for something that it keeps in memory.
    pub fn keeper(&self) -> Option<&dyn BytesToBytes> {
        self.codecs.first().map(|codec| &**codec).filter(|codec| codec.keeps())
    }

    /// Whether decoded elements stand for something that only one operation knows.
    pub fn has_tokens(&self) -> bool {
        match &self.serializer {
            Serializer::Elements => self.keeper().is_some(),
            Serializer::Shard(shard) => shard.inner.has_tokens(),
        }
    }

    /// Undoes the bytes-to-bytes codecs into exactly `dst`, whose length the serializer knows.
    pub fn decode_exact(&self, encoded: &[u8], dst: &mut [u8]) -> Result<()> {
        decode_exact(&self.codecs, encoded, dst)
    }

    /// Undoes the bytes-to-bytes codecs when the decoded length is not known (a shard).
    pub fn decode_bounded(&self, encoded: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        decode_tail(&self.codecs, encoded, self.limits[0], dst)
    }

    /// Whether a cell is a shard so long that it is stored while it is being encoded.
    pub fn is_long_shard(&self) -> bool {
        const LONG: usize = if cfg!(test) { 4 << 10 } else { 8 << 20 };
        matches!(self.serializer, Serializer::Shard(_)) && self.codecs.is_empty() && self.length >= LONG
    }

    /// Applies the bytes-to-bytes codecs and appends the result to `dst`.
    pub fn encode(&self, serialized: &[u8], dst: &mut Vec<u8>) -> Result<()> {
        fn stages(codecs: &[Box<dyn BytesToBytes>], src: &[u8], dst: &mut Vec<u8>) -> Result<()> {
            match codecs {
                [] => {
                    crate::scratch::reserve(dst, src.len())?;
                    dst.extend_from_slice(src);
                    Ok(())
                }
                [only] => only.encode(src, dst),
                [first, rest @ ..] => crate::scratch::with_vec(|next| {
                    next.clear();
                    first.encode(src, next)?;
                    stages(rest, next, dst)
                }),
            }
        }
        stages(&self.codecs, serialized, dst)
    }
}

/// Undoes codecs into exactly `dst`.
pub fn decode_exact(codecs: &[Box<dyn BytesToBytes>], encoded: &[u8], dst: &mut [u8]) -> Result<()> {
    match codecs {
        [] if encoded.len() == dst.len() => {
            dst.copy_from_slice(encoded);
            Ok(())
        }
        [] => Err(wrong_length(dst.len(), encoded.len())),
        [only] => only.decode_exact(encoded, dst),
        [first, rest @ ..] if first.decodes_to_itself() => decode_exact(rest, encoded, dst),
        [first, rest @ ..] => match rest.last().and_then(|last| last.checksum()) {
            Some(sum) => decode_exact(&codecs[..rest.len()], sum.verify(encoded)?, dst),
            None => crate::scratch::with_vec(|outer| {
                // Of a part of a chunk, fewer elements than its last stored bytes have room for may be wanted.
                decode_tail(rest, encoded, first.max_encoded_len(dst.len()), outer)?;
                first.decode_exact(outer, dst)
            }),
        },
    }
}

/// Undoes the trailing codecs `tail`, last one first, into at most `limit` bytes; every stage is bounded by what its
/// predecessor can make.
fn decode_tail(tail: &[Box<dyn BytesToBytes>], encoded: &[u8], limit: usize, dst: &mut Vec<u8>) -> Result<()> {
    match tail {
        [] => {
            ranges::reserve(dst, encoded.len() as u64)?;
            dst.extend_from_slice(encoded);
            Ok(())
        }
        [codec] => codec.decode_bounded(encoded, limit, dst),
        [codec, rest @ ..] => crate::scratch::with_vec(|outer| {
            decode_tail(rest, encoded, codec.max_encoded_len(limit), outer)?;
            codec.decode_bounded(outer, limit, dst)
        }),
    }
}

impl Shard {
    /// `shape` is the shard's shape in stored order; `inner` and `index` are prepared already.
    pub fn new(shape: &[usize], inner: Chain, index: Chain, at_start: bool) -> Result<Self> {
        let fits =
            shape.len() == inner.shape.len() && shape.iter().zip(&inner.shape).all(|(a, &b)| b > 0 && a % b == 0);
        if !fits {
            let reason = format!("inner chunks of shape {:?} do not divide a shard of shape {shape:?}", inner.shape);
            return Err(Error::new(Kind::Request, reason));
        }
        let grid: Vec<usize> = shape.iter().zip(&inner.shape).map(|(shard, inner)| shard / inner).collect();
        if index.length > MAX_INDEX_BYTES {
            let reason =
                format!("a shard index of {} bytes is larger than the {MAX_INDEX_BYTES} allowed", index.length);
            return Err(Error::new(Kind::Limit, reason));
        }
        let index_len = index.fixed_len().ok_or_else(|| {
            Error::new(Kind::Request, "the codecs of a shard's index must have an output of fixed size")
        })?;
        Ok(Shard { inner, index, at_start, grid, index_len, write_order: SubchunkOrder::default() })
    }

    /// How many inner chunks a shard has.
    pub fn count(&self) -> usize {
        self.grid.iter().product()
    }

    /// No shard is longer than this.
    pub fn max_len(&self) -> Result<usize> {
        // Twice, because other writers may leave gaps and outdated chunks behind.
        let body = self.count().checked_mul(self.inner.max_len()).and_then(|body| body.checked_mul(2));
        body.and_then(|body| body.checked_add(self.index_len))
            .ok_or_else(|| Error::new(Kind::Limit, "a shard of this shape is larger than the address space"))
    }
}

pub fn wrong_length(expected: usize, found: usize) -> Error {
    Error::decode("bytes", format!("expected {expected} bytes, found {found}"))
}

/// The fewest elements that fill whole stored bytes: how many bytes they are, decoded and stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    pub decoded: usize,
    pub stored: usize,
}

impl Unit {
    /// The stored bytes of a span of decoded ones that begins and ends with a unit, or at the end of the cell.
    pub fn stored(self, span: &Range<usize>) -> Range<usize> {
        let rest = (span.end % self.decoded * self.stored).div_ceil(self.decoded);
        span.start / self.decoded * self.stored..span.end / self.decoded * self.stored + rest
    }

    /// The span of decoded bytes between the first and the last wanted element, and what shares stored bytes with them.
    pub fn span(self, chain: &Chain, region: &Region) -> Option<Range<usize>> {
        let span = region.span(&chain.strides, chain.elements.itemsize)?;
        let end = span.end.next_multiple_of(self.decoded).min(chain.length);
        Some(span.start / self.decoded * self.decoded..end)
    }
}

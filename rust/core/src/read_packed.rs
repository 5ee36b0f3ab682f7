//! Reading a part of a cell whose elements one codec packs: no more is decoded than the part needs, and where the codec can
//! tell what that is, no more is read either.
//!
//! Before that codec there may be those that encode every element alone, like `bitround` and `cast_value`; behind it
//! checksums, for which all stored bytes are read.

use std::ops::Range;

use crate::chain::{decode_exact, Chain, Unit};
use crate::codec::BytesToBytes;
use crate::error::Result;
use crate::memory::Target;
use crate::region::Region;
use crate::scratch;
use crate::store::Reader;

/// Fills a slice with packed bytes from an offset on, of as many as the cell has, which is given first; `false` where all of
/// the cell is better decoded.
type DecodePart<'a> = dyn FnMut(usize, usize, &mut [u8]) -> Result<bool> + 'a;

/// Reading less of a shorter value saves less than asking for it costs.
const LONG: u64 = 32 << 10;

/// The span between the first and the last wanted element, in a cell of which that is at most half.
pub struct Packed<'a> {
    chain: &'a Chain,
    codec: &'a dyn BytesToBytes,
    checksums: &'a [Box<dyn BytesToBytes>],
    before: &'a [Box<dyn BytesToBytes>],
    unit: Unit,
    span: Range<usize>,
}

impl<'a> Packed<'a> {
    /// `None` where all of the cell is better decoded.
    pub fn of(chain: &'a Chain, region: &Region) -> Option<Self> {
        let (unit, count) = chain.unit();
        let [codec, checksums @ ..] = chain.codecs.get(count..)? else { return None };
        let span = unit.span(chain, region)?;
        let is_part = span.len() <= chain.length / 2 && checksums.iter().all(|codec| codec.checksum().is_some());
        is_part.then_some(Packed { chain, codec: &**codec, checksums, before: &chain.codecs[..count], unit, span })
    }

    /// `false` where all of the cell is better decoded after all.
    pub fn decode(&self, encoded: &[u8], region: &Region, target: &Target<'_>) -> Result<bool> {
        let mut encoded = encoded;
        for sum in self.checksums.iter().rev().filter_map(|codec| codec.checksum()) {
            encoded = sum.verify(encoded)?;
        }
        self.with(region, target, &mut |packed, offset, part| self.codec.decode_part(encoded, packed, offset, part))
    }

    /// The same, reading no more than is needed; `false` also where all of the cell is better read.
    pub fn read(&self, reader: &dyn Reader, region: &Region, target: &Target<'_>) -> Result<bool> {
        let most = self.chain.max_len() as u64;
        let size = reader.len().filter(|&size| size >= LONG && size <= most && reader.reads_blocks());
        let (Some(size), []) = (size, self.checksums) else { return Ok(false) };
        let fetch = |offset: usize, bytes: &mut [u8]| reader.read_at(offset as u64, bytes);
        scratch::with_bytes(size as usize, |encoded| {
            self.with(region, target, &mut |packed, offset, part| {
                Ok(self.codec.decode_fetched(encoded, packed, offset, part, &fetch))
            })
        })
    }

    /// Has `decode` unpack the stored bytes of the span, undoes the codecs before, and puts the elements in their places.
    fn with(&self, region: &Region, target: &Target<'_>, decode: &mut DecodePart<'_>) -> Result<bool> {
        let (chain, packed) = (self.chain, self.unit.stored(&(0..self.chain.length)).end);
        let Range { start, end } = self.unit.stored(&self.span);
        scratch::with_bytes(self.span.len(), |part| {
            let is_done = match self.before.iter().all(|codec| codec.decodes_to_itself()) {
                true => decode(packed, start, part)?,
                false => scratch::with_bytes(end - start, |bytes| {
                    Ok(decode(packed, start, bytes)? && decode_exact(self.before, bytes, part).map(|()| true)?)
                })?,
            };
            if is_done {
                chain.elements.decode(part);
                target.scatter(region, part, self.span.start, &chain.strides, chain.elements.itemsize)?;
            }
            Ok(is_done)
        })
    }
}

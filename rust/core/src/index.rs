//! A shard's index: where each inner chunk lies, or that it is missing.

use std::ops::Range;

use crate::chain::{Chain, Shard};
use crate::error::{Error, Kind, Result};
use crate::memory::{Origin, Target};
use crate::region::{c_strides, Region};
use crate::store::Reader;

/// Both numbers of a missing inner chunk's entry.
const MISSING: u64 = u64::MAX;
/// Bytes of one entry.
const PAIR: usize = 16;

/// A decoded index; entries are checked when they are looked up.
pub struct Index {
    /// Offset and length of every inner chunk, in C order of the (stored) grid.
    entries: Vec<[u64; 2]>,
    /// Stored length of the index, where it lies, and the shard's length if known: what entries are checked against.
    stored: u64,
    at_start: bool,
    shard_len: Option<u64>,
    /// The length every inner chunk must have, when it is fixed, and what none of them exceeds.
    fixed: Option<u64>,
    longest: u64,
    /// Inner chunks along each (stored) axis, to name one of them.
    grid: Vec<usize>,
}

impl Index {
    /// An index in which everything is missing.
    pub fn empty(shard: &Shard) -> Result<Self> {
        let mut entries = crate::scratch::list(shard.count())?;
        entries.resize(shard.count(), [MISSING; 2]);
        Ok(Self::of(shard, entries, None))
    }

    fn of(shard: &Shard, entries: Vec<[u64; 2]>, shard_len: Option<u64>) -> Self {
        Index {
            entries,
            stored: shard.index_len as u64,
            at_start: shard.at_start,
            shard_len,
            fixed: shard.inner.fixed_len().map(|length| length as u64),
            longest: shard.inner.max_len() as u64,
            grid: shard.grid.clone(),
        }
    }

    /// Reads and decodes the index; `None` when a lazy reader finds no value.
    pub fn read(shard: &Shard, reader: &dyn Reader) -> Result<Option<Self>> {
        crate::scratch::with_bytes(shard.index_len, |encoded| {
            let exists = Self::fetch(shard, reader, encoded)?;
            exists.then(|| Self::decode(shard, encoded, reader.len())).transpose()
        })
    }

    /// The index, and its bytes as they are stored: to see later whether it is still the same.
    pub fn read_encoded(shard: &Shard, reader: &dyn Reader) -> Result<Option<(Self, Vec<u8>)>> {
        crate::scratch::with_bytes(shard.index_len, |encoded| {
            if !Self::fetch(shard, reader, encoded)? {
                return Ok(None);
            }
            let mut kept = crate::scratch::list(encoded.len())?;
            kept.extend_from_slice(encoded);
            Ok(Some((Self::decode(shard, encoded, reader.len())?, kept)))
        })
    }

    /// Bytes that it takes besides its own.
    pub fn size(&self) -> usize {
        self.entries.capacity() * PAIR + self.grid.capacity() * size_of::<usize>()
    }

    /// The index although its checksum is wrong, and the checksum: each entry may be right or wrong. `None` when the index
    /// has other codecs, or more of them.
    pub fn unchecked(shard: &Shard, whole: &[u8]) -> Result<Option<(Self, u32)>> {
        let [checksum] = shard.index.codecs.as_slice() else { return Ok(None) };
        if checksum.name() != "crc32c" || whole.len() < shard.index_len {
            return Ok(None);
        }
        let first = if shard.at_start { 0 } else { whole.len() - shard.index_len };
        let Some((pairs, stored)) = whole[first..first + shard.index_len].split_last_chunk() else { return Ok(None) };
        crate::scratch::with_vec(|again| {
            again.clear();
            checksum.encode(pairs, again)?;
            let index = Self::decode(shard, again, Some(whole.len() as u64))?;
            Ok(Some((index, u32::from_le_bytes(*stored))))
        })
    }

    /// What an index ends with whose codec is `crc32c`.
    pub fn checksum(&self, shard: &Shard) -> Result<u32> {
        crate::scratch::with_vec(|encoded| {
            encoded.clear();
            self.encode(shard, encoded)?;
            Ok(encoded.last_chunk().map_or(0, |last| u32::from_le_bytes(*last)))
        })
    }

    /// Where the index begins in the shard; counted from the end if negative.
    pub fn offset(shard: &Shard) -> i64 {
        if shard.at_start {
            0
        } else {
            -(shard.index_len as i64)
        }
    }

    fn fetch(shard: &Shard, reader: &dyn Reader, encoded: &mut [u8]) -> Result<bool> {
        let stored = encoded.len();
        if let Some(length) = reader.len().filter(|&length| length < stored as u64) {
            return Err(bad(format!("a shard of {length} bytes is shorter than its index of {stored} bytes")));
        }
        let answer = if shard.at_start { reader.read_at(0, encoded) } else { reader.read_suffix(encoded) };
        answer.map_err(as_index_error)
    }

    fn decode(shard: &Shard, encoded: &[u8], shard_len: Option<u64>) -> Result<Self> {
        crate::scratch::with_bytes(shard.index.length, |bytes| {
            decode_pairs(&shard.index, encoded, bytes)?;
            let mut entries = crate::scratch::list(shard.count())?;
            let mut numbers = bytes.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap_or([0; 8])));
            while let (Some(offset), Some(length)) = (numbers.next(), numbers.next()) {
                entries.push([offset, length]);
            }
            Ok(Self::of(shard, entries, shard_len))
        })
        .map_err(|error| if error.kind == Kind::Checksum { error } else { as_index_error(error) })
    }

    /// Bytes of inner chunk number `entry` within the shard; `None` when it is missing.
    pub fn get(&self, entry: usize) -> Result<Option<Range<u64>>> {
        let [offset, length] = self.entries[entry];
        if offset == MISSING && length == MISSING {
            return Ok(None);
        }
        let place = |found: &str| self.wrong(entry, found);
        if offset == MISSING || length == MISSING {
            return Err(place("is half missing"));
        }
        // No value is longer than a signed number can say; some stores take a negative offset for one from the end.
        let end = offset.checked_add(length).filter(|&end| i64::try_from(end).is_ok());
        let end = end.ok_or_else(|| place("overflows 63 bits"))?;
        if self.at_start && offset < self.stored {
            return Err(place("overlaps the index itself"));
        }
        if let Some(shard_len) = self.shard_len {
            if end > shard_len {
                return Err(place(&format!("reaches beyond the shard's {shard_len} bytes")));
            }
            if !self.at_start && end > shard_len.saturating_sub(self.stored) {
                return Err(place("overlaps the index itself"));
            }
        }
        if let Some(expected) = self.fixed.filter(|&expected| expected != length) {
            return Err(place(&format!("must have the length {expected} of every inner chunk of this array")));
        }
        if length == 0 {
            return Err(place("is empty, which no codec produces"));
        }
        if length > self.longest {
            return Err(place(&format!("is longer than the {} bytes that an inner chunk can need", self.longest)));
        }
        Ok(Some(offset..end))
    }

    /// An error about one entry, which names its inner chunk.
    pub fn wrong(&self, entry: usize, found: &str) -> Error {
        let [offset, length] = self.pair(entry);
        bad(format!("index entry {entry} of {} (offset {offset}, length {length}) {found}", self.entries.len()))
            .in_inner_chunk(&self.indices(entry))
    }

    /// Where in the grid the inner chunk of this entry is.
    pub fn indices(&self, entry: usize) -> Vec<i64> {
        let mut rest = entry;
        let mut indices = vec![0; self.grid.len()];
        for (index, size) in indices.iter_mut().zip(&self.grid).rev() {
            *index = (rest % size) as i64;
            rest /= size;
        }
        indices
    }

    pub fn set(&mut self, entry: usize, bytes: Option<Range<u64>>) {
        self.entries[entry] = bytes.map_or([MISSING; 2], |bytes| [bytes.start, bytes.end - bytes.start]);
    }

    /// Makes looking an entry up an error.
    pub fn set_wrong(&mut self, entry: usize) {
        self.set_pair(entry, [0, MISSING]);
    }

    /// An entry as it is stored, whether it is right or wrong.
    pub fn pair(&self, entry: usize) -> [u64; 2] {
        self.entries[entry]
    }

    pub fn set_pair(&mut self, entry: usize, pair: [u64; 2]) {
        self.entries[entry] = pair;
    }

    pub fn is_all_missing(&self) -> bool {
        self.entries.iter().all(|entry| *entry == [MISSING; 2])
    }

    /// Appends the encoded index to `dst`.
    pub fn encode(&self, shard: &Shard, dst: &mut Vec<u8>) -> Result<()> {
        crate::scratch::with_vec(|bytes| {
            bytes.clear();
            crate::scratch::reserve(bytes, self.entries.len() * PAIR)?;
            bytes.extend(self.entries.iter().flatten().flat_map(|number| number.to_ne_bytes()));
            if shard.index.order.is_none() {
                shard.index.elements.encode(bytes);
                return shard.index.encode(bytes, dst);
            }
            let region = Region::whole(&shard.index.shape, &c_strides(&shard.index.shape, PAIR / 2));
            crate::scratch::with_bytes(bytes.len(), |stored| {
                Origin::of(bytes).gather(&region, stored, &shard.index.strides, PAIR / 2)?;
                shard.index.elements.encode(stored);
                shard.index.encode(stored, dst)
            })
        })
    }
}

/// Decodes the index array into C order, whatever its codecs did to its axes.
fn decode_pairs(chain: &Chain, encoded: &[u8], pairs: &mut [u8]) -> Result<()> {
    if chain.order.is_none() {
        chain.decode_exact(encoded, pairs)?;
        chain.elements.decode(pairs);
        return Ok(());
    }
    let region = Region::whole(&chain.shape, &c_strides(&chain.shape, PAIR / 2));
    crate::scratch::with_bytes(chain.length, |stored| {
        chain.decode_exact(encoded, stored)?;
        chain.elements.decode(stored);
        Target::of(pairs).scatter(&region, stored, 0, &chain.strides, PAIR / 2)
    })
}

/// The inner chunks share so many bytes that the shard cannot be written again with each of them by itself.
pub fn shares_too_much(most: u64) -> Error {
    bad(format!(
        "the index has its entries overlap, and apart they would take more than {most} bytes; \
         write the whole shard at once instead"
    ))
}

fn bad(reason: String) -> Error {
    let mut error = Error::decode("sharding_indexed", reason);
    error.kind = Kind::ShardIndex;
    error
}

fn as_index_error(mut error: Error) -> Error {
    if error.kind == Kind::Codec {
        error = error.in_codec("sharding_indexed");
        error.kind = Kind::ShardIndex;
        error.reason = format!("cannot read the shard's index: {}", error.reason);
    }
    error
}

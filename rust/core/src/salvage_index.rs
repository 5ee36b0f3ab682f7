//! Which entries of a damaged shard's index are certain.
//!
//! An entry may name the bytes of another inner chunk, which decode as well as its own. So where the checksum of an index
//! is wrong, its entries are evidence, and only these are followed:
//!
//! 1. All, if all but one tile the shard, that is, lie one behind another with at most one gap, and if the checksum is
//!    right once that one names the gap (or nothing, if there is none). By chance it is right once in 2^32.
//! 2. All, if they tile the shard, and the checksum is one bit from being right: that bit is what is damaged. (Two
//!    entries that changed places tile the shard, too. Their checksum is as close once in 2^27.)
//! 3. Those that follow one another in C order, from the first on or up to the last, without a gap and with none missing,
//!    if they are [`SURE`] together, and if the bytes between them are as many as the others need. This library lays
//!    shards down so, and what is damaged interrupts such a row. A few in C order prove nothing: the Morton order of
//!    2 x 2 is C order with two of them exchanged. Nor does a row where no entry contradicts another and yet some bytes
//!    are named by none: another writer may have left them, and the damaged entry may be the one that names such bytes.
//!
//! Where the checksum is right, or there is none, entries that overlap are doubtful unless the codecs of inner chunks
//! notice what is not an inner chunk. Entries that name the same bytes are right (equal inner chunks may be stored
//! once), unless there is no checksum and other bytes are named by none.

use std::ops::Range;

use crate::chain::{Chain, Shard};
use crate::error::Result;
use crate::index::Index;
use crate::scratch;

/// So many inner chunks in C order are no coincidence, nor the work of a writer with another order.
const SURE: usize = 16;

/// The bytes that an entry names.
pub struct Named {
    pub bytes: Range<u64>,
    pub entry: usize,
}

/// Sorts what entries name by where it lies.
pub fn sort(named: &mut [Named]) {
    named.sort_unstable_by_key(|named| (named.bytes.start, named.bytes.end, named.entry));
}

/// Whether entries that name the same bytes are more likely damaged than meant: no checksum says that they are right, and
/// some of the `length` bytes of the shard are named by none. `named` is sorted.
pub fn sharing_is_doubtful(shard: &Shard, named: &[Named], length: Option<u64>) -> bool {
    let Some(length) = length.filter(|_| shard.index.codecs.is_empty()) else { return false };
    let body = body(shard, length);
    let mut end = body.start;
    let gap = named.iter().any(|named| {
        let gap = named.bytes.start > end;
        end = end.max(named.bytes.end);
        gap
    });
    gap || end < body.end
}

/// Where inner chunks can lie in a shard of this length.
fn body(shard: &Shard, length: u64) -> Range<u64> {
    let index = shard.index_len as u64;
    if shard.at_start {
        index..length
    } else {
        0..length.saturating_sub(index)
    }
}

/// The entries of an index whose checksum is right, or that has none; those that contradict each other are marked as wrong.
pub fn without_contradictions(shard: &Shard, mut index: Index, length: u64) -> Result<Index> {
    let (named, _) = named(shard, &index)?;
    let sharing = sharing_is_doubtful(shard, &named, Some(length));
    let notices = notices(&shard.inner);
    let mut longest: Option<&Named> = None;
    for next in &named {
        if let Some(before) = longest.filter(|before| next.bytes.start < before.bytes.end) {
            let same = before.bytes == next.bytes;
            if (same && sharing) || !(same || notices) {
                index.set_wrong(before.entry);
                index.set_wrong(next.entry);
            }
        }
        if longest.is_none_or(|before| next.bytes.end >= before.bytes.end) {
            longest = Some(next);
        }
    }
    Ok(index)
}

/// Whether bytes that are not an inner chunk, or only a part of one, cannot be decoded.
fn notices(inner: &Chain) -> bool {
    inner.fixed_len().is_none() || inner.codecs.iter().any(|codec| codec.name() == "crc32c")
}

/// The certain entries of an index whose checksum is wrong, the others marked as wrong; `None` when none is certain.
pub fn certain(shard: &Shard, damaged: &[u8]) -> Result<Option<Index>> {
    let Some((mut index, checksum)) = Index::unchecked(shard, damaged)? else { return Ok(None) };
    let body = body(shard, damaged.len() as u64);
    let is_mended = mend(shard, &mut index, &body, checksum)? || keep_rows(shard, &mut index, &body)?;
    Ok(is_mended.then_some(index))
}

/// Corrects the one entry that is damaged, and says whether the index is as it was written.
fn mend(shard: &Shard, index: &mut Index, body: &Range<u64>, checksum: u32) -> Result<bool> {
    let (named, unusable) = named(shard, index)?;
    let breaks = breaks(&named, body, None);
    let suspects: Vec<usize> = match (unusable.as_slice(), breaks.len()) {
        ([], 0) => return Ok((index.checksum(shard)? ^ checksum).count_ones() == 1),
        // A damaged entry breaks the row where it begins, where it ends, and where it is missing.
        ([], 1..=3) => breaks.iter().flat_map(|gap| gap.beside).flatten().collect(),
        ([only], _) => vec![*only],
        _ => return Ok(false),
    };
    for entry in suspects {
        let gap = match self::breaks(&named, body, Some(entry)).as_slice() {
            [] => None,
            [gap] if gap.start < gap.end => Some(gap.start..gap.end),
            _ => continue,
        };
        let damaged = index.pair(entry);
        index.set(entry, gap);
        if index.get(entry).is_ok() && index.checksum(shard)? == checksum {
            return Ok(true);
        }
        index.set_pair(entry, damaged);
    }
    Ok(false)
}

/// Where an entry does not begin where the one before it ends.
struct Break {
    start: u64,
    end: u64,
    /// The entries before and behind it, where it is not at an end of the shard.
    beside: [Option<usize>; 2],
}

/// The first few breaks in the row of sorted entries, one of which may be passed over.
fn breaks(named: &[Named], body: &Range<u64>, without: Option<usize>) -> Vec<Break> {
    let mut breaks = Vec::new();
    let (mut start, mut before) = (body.start, None);
    let row = named.iter().filter(|named| without != Some(named.entry));
    for (next, end, after) in
        row.map(|named| (named.bytes.start, named.bytes.end, Some(named.entry))).chain([(body.end, body.end, None)])
    {
        if next != start {
            breaks.push(Break { start, end: next, beside: [before, after] });
        }
        if breaks.len() > 3 {
            break;
        }
        (start, before) = (end, after);
    }
    breaks
}

/// Marks all entries as wrong but those of the rows in C order at both ends of the shard; whether these are enough.
fn keep_rows(shard: &Shard, index: &mut Index, body: &Range<u64>) -> Result<bool> {
    let (mut first, mut last) = (0, shard.count());
    if (first..last).any(|entry| matches!(index.get(entry), Ok(None))) {
        // One that is missing may have stood before a row, whose inner chunks are then those of other places.
        return Ok(false);
    }
    let (named, unusable) = named(shard, index)?;
    let apart = named.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start);
    if unusable.is_empty() && apart && !breaks(&named, body, None).is_empty() {
        return Ok(false);
    }
    let mut left = body.clone();
    while first < last {
        match index.get(first) {
            Ok(Some(bytes)) if bytes.start == left.start => (left.start, first) = (bytes.end, first + 1),
            _ => break,
        }
    }
    while first < last {
        match index.get(last - 1) {
            Ok(Some(bytes)) if bytes.end == left.end => (left.end, last) = (bytes.start, last - 1),
            _ => break,
        }
    }
    (first..last).for_each(|entry| index.set_wrong(entry));
    // Without bytes that the others could name, inner chunks are missing, too.
    let others = (last - first) as u64;
    let is_room = left.end.checked_sub(left.start).is_some_and(|room| match shard.inner.fixed_len() {
        Some(length) => room == others * length as u64,
        None => (room == 0) == (others == 0),
    });
    Ok(is_room && first + (shard.count() - last) >= SURE)
}

/// What entries name, sorted, and the first two of those that can name nothing.
fn named(shard: &Shard, index: &Index) -> Result<(Vec<Named>, Vec<usize>)> {
    let (mut named, mut unusable) = (Vec::new(), Vec::new());
    for entry in 0..shard.count() {
        match index.get(entry) {
            Ok(Some(bytes)) => scratch::push(&mut named, Named { bytes, entry })?,
            Ok(None) => {}
            Err(_) if unusable.len() < 2 => unusable.push(entry),
            Err(_) => {}
        }
    }
    sort(&mut named);
    Ok((named, unusable))
}

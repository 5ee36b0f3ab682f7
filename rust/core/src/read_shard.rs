//! Reading from a shard: the index once, then only the inner chunks that are wanted, neighbours in one request.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::array::{Options, REQUESTED_BYTES};
use crate::chain::{Chain, Serializer, Shard};
use crate::error::{Error, Kind, Result};
use crate::index::Index;
use crate::memory::Target;
use crate::pool;
use crate::read::read_cell;
use crate::region::Region;
use crate::scratch;
use crate::source::{Slice, Window};
use crate::split::Split;
use crate::store::Reader;

/// Inner chunks this close to each other are fetched in one read, gap included.
const GAP: u64 = 4096;
/// A read that fetches several inner chunks stops growing here, to leave work for other threads.
const FETCH: u64 = 1 << 20;
/// A shard of so many decoded bytes, all of which are wanted, is fetched by one costly request, without its index first.
const AT_ONCE: usize = 4 << 20;
/// How much one request of a store with costly ones asks for, about, where they are made one after the other.
const BATCH: u64 = 64 << 20;
/// How often reading begins anew because the shard was replaced meanwhile, before it is fetched as a whole.
const ATTEMPTS: usize = 4;

/// One wanted inner chunk: its number in the split, and its bytes in the shard.
pub struct Job {
    pub cell: usize,
    pub entry: usize,
    pub bytes: Range<u64>,
}

/// What is done with each of a list of jobs: by its number in the list, with its bytes.
pub type Each<'a> = &'a (dyn Fn(usize, &dyn Reader) -> Result<()> + Sync);

/// Reads the region (in stored axis order) of one shard; `false` when a lazy reader finds no value.
pub fn read_shard(
    shard: &Shard,
    reader: &dyn Reader,
    region: &Region,
    target: &Target<'_>,
    options: &Options<'_>,
) -> Result<bool> {
    if reader.len().is_none() {
        return read_lazily(shard, reader, region, target, options);
    }
    let Some(index) = Index::read(shard, reader)? else { return Ok(false) };
    let split = Split::new(region, &shard.inner.shape)?;
    let mut jobs = jobs(shard, &index, &split, target)?;
    if !in_place(shard, reader) {
        jobs.sort_unstable_by_key(|job| job.bytes.start);
    }
    let each = |job: usize, inner: &dyn Reader| read_inner(shard, &split, jobs[job].cell, inner, target, options);
    fetch(shard, reader, &jobs, &each, options)?;
    Ok(true)
}

/// Whether inner chunks are read where they lie, rather than with their neighbours.
fn in_place(shard: &Shard, reader: &dyn Reader) -> bool {
    reader.bytes().is_some() || reads_parts(&shard.inner)
}

/// Fetches the bytes of the jobs, sorted by where they begin, from a shard whose length is known.
pub fn fetch(shard: &Shard, reader: &dyn Reader, jobs: &[Job], each: Each<'_>, options: &Options<'_>) -> Result<()> {
    let threads = options.threads_for(jobs.len(), shard.inner.length);
    if in_place(shard, reader) {
        return pool::run(threads, jobs.len(), options.interrupted, |job, _| {
            let Range { start, end } = jobs[job].bytes;
            each(job, &Window { whole: reader, offset: start, length: end - start })
        });
    }
    let fetches = fetches(jobs, FETCH)?;
    pool::run(threads.min(fetches.len()), fetches.len(), options.interrupted, |fetch, _| {
        let numbers = fetches[fetch].clone();
        let Range { start, end } = span(&jobs[numbers.clone()]);
        scratch::with_bytes((end - start) as usize, |bytes| {
            there(reader.read_at(start, bytes)?)?;
            for number in numbers {
                let job = &jobs[number].bytes;
                each(number, &Slice(&bytes[(job.start - start) as usize..(job.end - start) as usize]))?;
            }
            Ok(())
        })
    })
}

/// The wanted inner chunks that are there; the target is filled for those that are not.
fn jobs(shard: &Shard, index: &Index, split: &Split, target: &Target<'_>) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    let (mut place, mut part) = (Vec::new(), Region::default());
    for cell in 0..split.count {
        split.cell(cell, &mut place, &mut part);
        let entry = linear(&shard.grid, &place);
        match index.get(entry)? {
            Some(bytes) => scratch::push(&mut jobs, Job { cell, entry, bytes })?,
            None => target.fill(&part, &shard.inner.fill, shard.inner.elements.itemsize)?,
        }
    }
    Ok(jobs)
}

/// The bytes from the first to the last of the jobs, of which the first begins first.
fn span(jobs: &[Job]) -> Range<u64> {
    let start = jobs.first().map_or(0, |job| job.bytes.start);
    start..jobs.iter().map(|job| job.bytes.end).max().unwrap_or(start)
}

/// Reads from a store with costly requests: the index, then everything wanted in as few requests as memory allows.
///
/// Each request is answered from one version of the shard, two of them perhaps from two. If the reader cannot demand one, the
/// index is asked for again with the inner chunks, and if it is not the one they were asked for by, all begins anew.
fn read_lazily(
    shard: &Shard,
    reader: &dyn Reader,
    region: &Region,
    target: &Target<'_>,
    options: &Options<'_>,
) -> Result<bool> {
    let split = Split::new(region, &shard.inner.shape)?;
    let all_of_little = split.count == shard.count() && shard.count().saturating_mul(shard.inner.length) <= AT_ONCE;
    if options.requests > 0 && all_of_little {
        let found = scratch::with_vec(|whole| match reader.read_all(whole, shard.max_len()? as u64) {
            Ok(true) => read_shard(shard, &Slice(whole), region, target, options).map(Some),
            Ok(false) => Ok(Some(false)),
            // It is longer than need be: perhaps there are gaps in it.
            Err(error) if error.kind == Kind::Codec => Ok(None),
            Err(error) => Err(error),
        })?;
        if let Some(found) = found {
            return Ok(found);
        }
    }
    let mut wrong: Option<(Vec<u8>, Error)> = None;
    for _ in 0..ATTEMPTS {
        let Some((index, encoded)) = Index::read_encoded(shard, reader)? else { return Ok(false) };
        let mut jobs = jobs(shard, &index, &split, target)?;
        jobs.sort_unstable_by_key(|job| job.bytes.start);
        let each = |job: usize, inner: &dyn Reader| read_inner(shard, &split, jobs[job].cell, inner, target, options);
        match fetch_lazily(shard, reader, (&index, &encoded), &jobs, &each, options) {
            Ok(Answer::Read) => return Ok(true),
            Ok(Answer::Missing) => return Ok(false),
            Ok(Answer::Replaced) => {}
            // Its index is wrong, or a shorter shard has taken its place since.
            Err(error) if error.kind == Kind::ShardIndex => {
                let again = wrong.as_ref().is_some_and(|(before, _)| *before == encoded);
                wrong = Some((encoded, error));
                if again {
                    break;
                }
            }
            Err(error) => return Err(error),
        }
    }
    // Somebody writes it faster than it can be read in parts, or its index is wrong, which all of it together tells.
    scratch::with_vec(|whole| {
        let found = match (reader.read_all(whole, shard.max_len()? as u64), wrong) {
            (Err(error), Some((_, wrong))) if error.kind == Kind::Codec => return Err(wrong),
            (found, _) => found?,
        };
        Ok(found && read_shard(shard, &Slice(whole), region, target, options)?)
    })
}

/// Fetches the bytes of the jobs, sorted by where they begin, from a store with costly requests, as long as the shard
/// still has the index that they were found by.
pub fn fetch_lazily(
    shard: &Shard,
    reader: &dyn Reader,
    (index, encoded): (&Index, &[u8]),
    jobs: &[Job],
    each: Each<'_>,
    options: &Options<'_>,
) -> Result<Answer> {
    let fetches = fetches(jobs, FETCH)?;
    let mut spans: Vec<Range<u64>> = scratch::list(fetches.len())?;
    spans.extend(fetches.iter().map(|fetch| span(&jobs[fetch.clone()])));
    // Of a version that each request demands the index is the same.
    let again = if reader.pinned().is_some() { &[] } else { encoded };
    let limit = batch_limit(&spans, options);
    let batches = batches(&spans, limit)?;
    let at_once = match options.requests {
        0 => 1,
        _ => options.requesters_for(batches.len(), limit as usize).min(batches.len()),
    };
    if at_once > 1 {
        pool::await_requests();
    }
    let other = Mutex::new(None);
    let others = || other.lock().unwrap_or_else(PoisonError::into_inner);
    pool::run(at_once, batches.len(), options.interrupted, |number, _| {
        if others().is_some() {
            return Ok(());
        }
        let batch = batches[number].clone();
        let numbers = fetches[batch.start].start..fetches[batch.end - 1].end;
        let fetched = Batch { jobs, numbers, fetches: &fetches[batch.clone()], spans: &spans[batch], index: again };
        match fetched.read(shard, reader, each, options) {
            Ok(Answer::Read) => Ok(()),
            Ok(answer) => {
                *others() = Some(answer);
                Ok(())
            }
            Err(error) if error.kind == Kind::Codec && error.inner.is_none() => {
                let last = fetched.numbers.map(|number| &jobs[number]).max_by_key(|job| job.bytes.end);
                Err(last.map_or(error, |job| index.wrong(job.entry, "reaches beyond the end of the shard")))
            }
            Err(error) => Err(error),
        }
    })?;
    Ok(other.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or(Answer::Read))
}

/// How many bytes one request asks for, about: so many that there are requests for all who may make them, if that is worth
/// a request, and together they take up no more memory than they may.
fn batch_limit(spans: &[Range<u64>], options: &Options<'_>) -> u64 {
    if options.requests == 0 {
        return BATCH;
    }
    let total = spans.iter().map(|span| span.end - span.start).fold(0, u64::saturating_add);
    let most = (REQUESTED_BYTES / options.requests) as u64;
    (total / options.requests as u64).min(most).max(FETCH)
}

/// What is asked for in one request.
struct Batch<'a> {
    jobs: &'a [Job],
    /// Which of them.
    numbers: Range<usize>,
    /// Those that lie in each of `spans`.
    fetches: &'a [Range<usize>],
    spans: &'a [Range<u64>],
    /// The index, as it is stored, that these came from; empty if it need not be asked for again.
    index: &'a [u8],
}

pub enum Answer {
    Read,
    Missing,
    /// The index is another one now.
    Replaced,
}

impl Batch<'_> {
    fn read(&self, shard: &Shard, reader: &dyn Reader, each: Each<'_>, options: &Options<'_>) -> Result<Answer> {
        let Batch { jobs, fetches, spans, index, .. } = *self;
        let total = spans.iter().map(|span| span.end - span.start).fold(index.len() as u64, u64::saturating_add);
        let total = usize::try_from(total).map_err(|_| scratch::out_of_memory(usize::MAX))?;
        scratch::with_bytes(total, |bytes| {
            let (now, mut rest) = bytes.split_at_mut(index.len());
            let mut ranges = scratch::list(spans.len() + 1)?;
            let asked = usize::from(!index.is_empty());
            if asked > 0 {
                ranges.push((Index::offset(shard), now));
            }
            for span in spans {
                let (piece, tail) = rest.split_at_mut((span.end - span.start) as usize);
                ranges.push((span.start as i64, piece));
                rest = tail;
            }
            if !reader.read_ranges(&mut ranges)? {
                return Ok(Answer::Missing);
            }
            let (now, pieces) = ranges.split_at(asked);
            if now.iter().any(|(_, now)| **now != *index) {
                return Ok(Answer::Replaced);
            }
            let mut piece_of: Vec<usize> = scratch::list(self.numbers.len())?;
            piece_of.extend(fetches.iter().enumerate().flat_map(|(piece, jobs)| jobs.clone().map(move |_| piece)));
            let threads = options.threads_for(self.numbers.len(), shard.inner.length);
            pool::run(threads, self.numbers.len(), options.interrupted, |position, _| {
                let (number, piece) = (self.numbers.start + position, piece_of[position]);
                let bytes = &jobs[number].bytes;
                let first = (bytes.start - spans[piece].start) as usize;
                each(number, &Slice(&pieces[piece].1[first..first + (bytes.end - bytes.start) as usize]))
            })?;
            Ok(Answer::Read)
        })
    }
}

/// Groups ranges into requests of about `limit` bytes.
fn batches(spans: &[Range<u64>], limit: u64) -> Result<Vec<Range<usize>>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut total = 0u64;
    for (number, span) in spans.iter().enumerate() {
        let length = span.end - span.start;
        match batches.last_mut() {
            Some(batch) if total.saturating_add(length) <= limit => batch.end = number + 1,
            _ => {
                scratch::push(&mut batches, number..number + 1)?;
                total = 0;
            }
        }
        total = total.saturating_add(length);
    }
    Ok(batches)
}

fn read_inner(
    shard: &Shard,
    split: &Split,
    cell: usize,
    reader: &dyn Reader,
    target: &Target<'_>,
    options: &Options<'_>,
) -> Result<()> {
    let (mut place, mut region) = (Vec::new(), Region::default());
    split.cell(cell, &mut place, &mut region);
    let outcome = read_cell(&shard.inner, reader, &region, target, options);
    outcome.and_then(there).map_err(|error| error.in_inner_chunk(&place))
}

/// Inner chunks are read from a value that is there. A reader that finds it gone has left the target as it was, which
/// must not pass for data.
fn there(exists: bool) -> Result<()> {
    if exists {
        Ok(())
    } else {
        Err(Error::new(Kind::Store, "the shard disappeared while it was being read"))
    }
}

/// Whether an inner chunk is better left where it is: without compression, or as a shard of its own, only the
/// wanted bytes of it are read.
fn reads_parts(inner: &Chain) -> bool {
    match inner.serializer {
        Serializer::Shard(_) => inner.codecs.is_empty(),
        Serializer::Elements => inner.length > 64 << 10 && inner.stored_elements().is_some(),
    }
}

/// Position in C order.
pub fn linear(grid: &[usize], indices: &[i64]) -> usize {
    grid.iter().zip(indices).fold(0, |total, (&size, &index)| total * size + index as usize)
}

/// Groups jobs (sorted by offset) into reads of at most `limit` bytes, bridging small gaps.
fn fetches(jobs: &[Job], limit: u64) -> Result<Vec<Range<usize>>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut end = 0u64;
    for (number, job) in jobs.iter().enumerate() {
        if let Some(group) = groups.last_mut() {
            let near = job.bytes.start <= end.saturating_add(GAP);
            if near && job.bytes.end.max(end) - jobs[group.start].bytes.start <= limit {
                group.end = number + 1;
                end = end.max(job.bytes.end);
                continue;
            }
        }
        scratch::push(&mut groups, number..number + 1)?;
        end = job.bytes.end;
    }
    Ok(groups)
}

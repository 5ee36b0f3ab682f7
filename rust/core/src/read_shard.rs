//! Reading from a shard: the index once, then only the inner chunks that are wanted, neighbours in one request.

use std::ops::Range;

use crate::array::Options;
use crate::chain::{Chain, Serializer, Shard};
use crate::error::{Kind, Result};
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

/// One wanted inner chunk: its number in the split, and its bytes in the shard.
struct Job {
    cell: usize,
    entry: usize,
    bytes: Range<u64>,
}

/// Reads the region (in stored axis order) of one shard; `false` when a lazy reader finds no value.
pub fn read_shard(
    shard: &Shard,
    reader: &dyn Reader,
    region: &Region,
    target: &Target<'_>,
    options: &Options<'_>,
) -> Result<bool> {
    let Some(index) = Index::read(shard, reader)? else { return Ok(false) };
    let split = Split::new(region, &shard.inner.shape);
    let mut jobs = Vec::with_capacity(split.count);
    let (mut place, mut part) = (Vec::new(), Region::default());
    for cell in 0..split.count {
        split.cell(cell, &mut place, &mut part);
        let entry = linear(&shard.grid, &place);
        match index.get(entry)? {
            Some(bytes) => jobs.push(Job { cell, entry, bytes }),
            None => target.fill(&part, &shard.inner.fill)?,
        }
    }
    let threads = options.threads_for(jobs.len(), shard.inner.length);
    if reader.bytes().is_some() || reads_parts(&shard.inner) {
        pool::run(threads, jobs.len(), |job, worker| {
            if worker == 0 {
                (options.interrupted)()?;
            }
            let Job { cell, bytes, .. } = &jobs[job];
            let window = Window { whole: reader, offset: bytes.start, length: bytes.end - bytes.start };
            read_inner(shard, &split, *cell, &window, target, options)
        })?;
        return Ok(true);
    }
    jobs.sort_by_key(|job| job.bytes.start);
    let fetches = fetches(&jobs, FETCH);
    if reader.len().is_none() {
        return read_batched(shard, reader, &split, &jobs, &fetches, target, options).map_err(|error| {
            // The store did not say how long the shard is; now that it has ended early, the last one is beyond its end.
            match jobs.iter().max_by_key(|job| job.bytes.end) {
                Some(last) if error.kind == Kind::Codec && error.inner.is_none() => {
                    index.wrong(last.entry, "reaches beyond the end of the shard")
                }
                _ => error,
            }
        });
    }
    pool::run(threads.min(fetches.len()), fetches.len(), |fetch, worker| {
        if worker == 0 {
            (options.interrupted)()?;
        }
        let jobs = &jobs[fetches[fetch].clone()];
        let first = jobs[0].bytes.start;
        let last = jobs.iter().map(|job| job.bytes.end).max().unwrap_or(first);
        scratch::with_bytes((last - first) as usize, |bytes| {
            reader.read_at(first, bytes)?;
            for job in jobs {
                let inner = &bytes[(job.bytes.start - first) as usize..(job.bytes.end - first) as usize];
                read_inner(shard, &split, job.cell, &Slice(inner), target, options)?;
            }
            Ok(())
        })
    })?;
    Ok(true)
}

/// For stores with costly requests: everything wanted of the shard in one of them.
fn read_batched(
    shard: &Shard,
    reader: &dyn Reader,
    split: &Split,
    jobs: &[Job],
    fetches: &[Range<usize>],
    target: &Target<'_>,
    options: &Options<'_>,
) -> Result<bool> {
    let spans: Vec<Range<u64>> = fetches
        .iter()
        .map(|fetch| {
            let jobs = &jobs[fetch.clone()];
            let last = jobs.iter().map(|job| job.bytes.end).max().unwrap_or(jobs[0].bytes.start);
            jobs[0].bytes.start..last
        })
        .collect();
    let total: u64 = spans.iter().map(|span| span.end - span.start).sum();
    let total = usize::try_from(total).map_err(|_| scratch::out_of_memory(usize::MAX))?;
    scratch::with_bytes(total, |bytes| {
        let mut ranges = Vec::with_capacity(spans.len());
        let mut rest = &mut *bytes;
        for span in &spans {
            let (piece, tail) = rest.split_at_mut((span.end - span.start) as usize);
            ranges.push((span.start, piece));
            rest = tail;
        }
        if !reader.read_ranges(&mut ranges)? {
            return Ok(false);
        }
        let mut starts = Vec::with_capacity(spans.len());
        let mut at = 0usize;
        for span in &spans {
            starts.push(at);
            at += (span.end - span.start) as usize;
        }
        let of_job: Vec<usize> =
            fetches.iter().enumerate().flat_map(|(fetch, jobs)| jobs.clone().map(move |_| fetch)).collect();
        let bytes = &*bytes;
        pool::run(options.threads_for(jobs.len(), shard.inner.length), jobs.len(), |job, _worker| {
            let fetch = of_job[job];
            let Job { cell, bytes: span, .. } = &jobs[job];
            let first = starts[fetch] + (span.start - spans[fetch].start) as usize;
            let inner = &bytes[first..first + (span.end - span.start) as usize];
            read_inner(shard, split, *cell, &Slice(inner), target, options)
        })?;
        Ok(true)
    })
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
    read_cell(&shard.inner, reader, &region, target, options).map(drop).map_err(|error| error.in_inner_chunk(&place))
}

/// Whether an inner chunk is better left where it is: without compression, or as a shard of its own, only the
/// wanted bytes of it are read.
fn reads_parts(inner: &Chain) -> bool {
    inner.codecs.is_empty() && (matches!(inner.serializer, Serializer::Shard(_)) || inner.length > 64 << 10)
}

/// Position in C order.
pub fn linear(grid: &[usize], place: &[i64]) -> usize {
    grid.iter().zip(place).fold(0, |total, (&size, &index)| total * size + index as usize)
}

/// Groups jobs (sorted by offset) into reads of at most `limit` bytes, bridging small gaps.
fn fetches(jobs: &[Job], limit: u64) -> Vec<Range<usize>> {
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
        groups.push(number..number + 1);
        end = job.bytes.end;
    }
    groups
}

//! Reading whole chunks of a store that is far away: many are requested by a few threads, and decoded in the order of the
//! answers.
//!
//! A thread for each request, woken by its answer, would take longer than the answers of a quick server, and hundreds of
//! threads would have to be started first.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::array::{Array, Options};
use crate::chain::Serializer;
use crate::error::Result;
use crate::pool;
use crate::region::Region;
use crate::scratch;
use crate::split::Split;
use crate::store::{Requested, Requests};

/// Reading all of so short a value takes no longer than reading a part of it.
const SHORT: usize = 16 << 10;

/// Reads each cell of a region, with its value where that was requested before.
type ReadCell<'a> = &'a (dyn Fn(usize, Option<Requested>) -> Result<()> + Sync);

/// Calls `read` for every cell with its value; so many `requests` are made at once. `None` where each cell is better read by
/// itself.
pub fn read_ahead(
    array: &Array,
    split: &Split,
    requests: usize,
    options: &Options<'_>,
    read: ReadCell<'_>,
) -> Option<Result<()>> {
    if options.requests == 0 || split.count < 2 || array.cache.is_some() || !needs_whole_values(array, split) {
        return None;
    }
    let values = match array.store.whole_values() {
        Ok(values) => values?,
        Err(error) => return Some(Err(error)),
    };
    let ahead = Ahead { array, split, values, requests, begun: AtomicUsize::new(0) };
    let threads = options.threads.clamp(1, split.count);
    Some(pool::run(threads, threads, options.interrupted, |_, _| ahead.read(options, read)))
}

/// Whether values are read whole: not those of shards, nor long ones that have the elements each by itself, if a part of
/// such a chunk is wanted. All chunks of a region are as whole as its first and its last one.
fn needs_whole_values(array: &Array, split: &Split) -> bool {
    let chain = &array.chain;
    if matches!(chain.serializer, Serializer::Shard(_)) {
        return false;
    }
    let is_whole = |job| {
        let (mut indices, mut region) = (Vec::new(), Region::default());
        split.cell(job, &mut indices, &mut region);
        region.len() == array.inside(&indices).iter().product::<usize>()
    };
    chain.stored_elements().is_none() || chain.length <= SHORT || (is_whole(0) && is_whole(split.count - 1))
}

/// What the threads of one read share, each of which requests values that nobody has requested, and reads what is answered.
struct Ahead<'a> {
    array: &'a Array,
    split: &'a Split,
    values: Box<dyn Requests + 'a>,
    /// How many may be under way.
    requests: usize,
    begun: AtomicUsize,
}

impl Ahead<'_> {
    fn read(&self, options: &Options<'_>, read: ReadCell<'_>) -> Result<()> {
        // Another thread may have failed.
        while !pool::is_given_up(false) {
            (options.interrupted)()?;
            scratch::spare()?;
            self.begin()?;
            let Some((cell, value)) = self.values.next()? else { break };
            read(cell, Some(value))?;
        }
        Ok(())
    }

    /// Requests values, up to as many as may be under way.
    fn begin(&self) -> Result<()> {
        let Ahead { array, split, .. } = *self;
        let (mut indices, mut region, mut key) = (Vec::new(), Region::default(), String::new());
        while self.values.under_way() < self.requests {
            let cell = self.begun.fetch_add(1, Ordering::Relaxed);
            if cell >= split.count {
                break;
            }
            split.cell(cell, &mut indices, &mut region);
            array.keys.write(&indices, &mut key);
            let begun = array
                .chain_at(&indices)
                .and_then(|chain| self.values.begin(cell, &key, chain.max_len() as u64, scratch::take()));
            begun.map_err(|error| error.at_chunk(&key, array.keys.indices(&indices)))?;
        }
        Ok(())
    }
}

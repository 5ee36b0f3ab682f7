//! Reading whole chunks of a store that is far away: each thread has several requests under way, and decodes what is
//! answered first.
//!
//! As many requests are made at once as if each had a thread that waits for it. But threads that are woken for each answer
//! take longer than the answers of a quick server, and hundreds of them have to be started first.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::array::{Array, Options};
use crate::chain::Serializer;
use crate::error::Result;
use crate::pool;
use crate::region::Region;
use crate::scratch;
use crate::split::Split;
use crate::store::Requests;

/// Reading all of so short a value takes no longer than reading a part of it.
const SHORT: usize = 16 << 10;

/// What became of a request for a value; `None`: there is none.
pub type Requested = Result<Option<Vec<u8>>>;

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
    // Whether the store can do so.
    match array.store.whole_values() {
        Ok(None) => return None,
        Err(error) => return Some(Err(error)),
        Ok(Some(_)) => {}
    }
    let requests = requests.clamp(1, split.count);
    let threads = options.threads.clamp(1, requests);
    let next = AtomicUsize::new(0);
    Some(pool::run(threads, threads, options.interrupted, |_, _| {
        let Some(mut values) = array.store.whole_values()? else { return Ok(()) };
        read_some(array, split, &next, values.as_mut(), requests.div_ceil(threads), options, read)
    }))
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

/// What one thread does: it requests the values of cells that nobody has begun, up to `at_once`, and reads them.
fn read_some(
    array: &Array,
    split: &Split,
    next: &AtomicUsize,
    values: &mut dyn Requests,
    at_once: usize,
    options: &Options<'_>,
    read: ReadCell<'_>,
) -> Result<()> {
    let (mut indices, mut region, mut key) = (Vec::new(), Region::default(), String::new());
    let mut under_way = 0;
    // Another thread may have failed.
    while !pool::is_given_up(false) {
        (options.interrupted)()?;
        scratch::spare()?;
        while under_way < at_once {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= split.count {
                break;
            }
            split.cell(job, &mut indices, &mut region);
            array.keys.write(&indices, &mut key);
            let begun = array
                .chain_at(&indices)
                .and_then(|chain| values.begin(job, &key, chain.max_len() as u64, scratch::take()));
            begun.map_err(|error| error.at_chunk(&key, array.keys.indices(&indices)))?;
            under_way += 1;
        }
        if under_way == 0 {
            break;
        }
        let (job, value) = values.next()?;
        under_way -= 1;
        read(job, Some(value))?;
    }
    Ok(())
}

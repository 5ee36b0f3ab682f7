//! Which of the smallest inner chunks of a chunk are stored: the indices of its shards tell, without the elements.

use crate::array::Array;
use crate::chain::{Chain, Serializer, Shard};
use crate::error::Result;
use crate::index::Index;
use crate::read::with_encoded;
use crate::scratch;
use crate::source::{Slice, Window};
use crate::store::Reader;

/// One byte for each of the smallest inner chunks of the chunk at `indices`, in C order of the array's axes: 1 if it is
/// stored, else 0. A chunk without inner chunks is one itself.
pub fn stored(array: &Array, indices: &[i64]) -> Result<Vec<u8>> {
    let chain = array.chain_at(indices)?;
    let grid = grid(&chain);
    let mut flags = scratch::filled(0, grid.iter().product())?;
    let mut strides = vec![1; grid.len()];
    for axis in (1..grid.len()).rev() {
        strides[axis - 1] = strides[axis] * grid[axis];
    }
    let mut key = String::new();
    array.keys.write(indices, &mut key);
    if let Some(reader) = array.store.open(&key)? {
        mark(&chain, reader.as_ref(), 0, &strides, &mut flags)?;
    }
    Ok(flags)
}

/// How many of the smallest inner chunks there are along each axis of a decoded cell.
fn grid(chain: &Chain) -> Vec<usize> {
    let Serializer::Shard(shard) = &chain.serializer else { return vec![1; chain.shape.len()] };
    let mut lengths = vec![1; chain.shape.len()];
    for (position, (outer, inner)) in shard.grid.iter().zip(grid(&shard.inner)).enumerate() {
        lengths[axis(chain, position)] = outer * inner;
    }
    lengths
}

/// The axis of a decoded cell that is this one of the stored axes.
fn axis(chain: &Chain, position: usize) -> usize {
    chain.order.as_ref().map_or(position, |order| order[position])
}

/// Marks what is stored of one encoded cell, whose first flag is at `first`, and whose axes have these strides.
fn mark(chain: &Chain, reader: &dyn Reader, first: usize, strides: &[usize], flags: &mut [u8]) -> Result<()> {
    let Serializer::Shard(shard) = &chain.serializer else {
        flags[first] = 1;
        return Ok(());
    };
    let strides: Vec<usize> = (0..strides.len()).map(|position| strides[axis(chain, position)]).collect();
    if chain.codecs.is_empty() {
        return mark_shard(shard, reader, first, &strides, flags);
    }
    let whole = |encoded: &[u8]| {
        scratch::with_vec(|serialized| {
            chain.decode_bounded(encoded, serialized)?;
            mark_shard(shard, &Slice(serialized), first, &strides, flags)
        })
    };
    with_encoded(chain, reader, whole).map(drop)
}

fn mark_shard(shard: &Shard, reader: &dyn Reader, first: usize, strides: &[usize], flags: &mut [u8]) -> Result<()> {
    let Some(index) = Index::read(shard, reader)? else { return Ok(()) };
    let inside = grid(&shard.inner);
    for entry in 0..shard.count() {
        let Some(bytes) = index.get(entry)? else { continue };
        let place = index.indices(entry);
        let steps =
            place.iter().zip(inside.iter().zip(strides)).map(|(&at, (&length, &stride))| at as usize * length * stride);
        let inner = Window { whole: reader, offset: bytes.start, length: bytes.end - bytes.start };
        mark(&shard.inner, &inner, first + steps.sum::<usize>(), strides, flags)?;
    }
    Ok(())
}

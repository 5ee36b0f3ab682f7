//! One element that a pool has: the shortest way there is, for loops that go from element to element.

use crate::array::Array;
use crate::cache::Content;
use crate::chain::{Chain, Serializer};

/// Axes that an array has at most, for whom this way is there.
pub const RANK: usize = 8;

/// Calls `take` with the bytes of one element, if the pool has it and need not check it.
pub fn element<R>(array: &Array, position: &[usize], take: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let cached = array.cache.as_ref()?;
    let chain = &array.chain;
    if chain.fill.len() != chain.elements.itemsize {
        return None;
    }
    let since = cached.recheck.since(|| cached.pool.now());
    let mut cell = [0i64; RANK];
    let cell = cell.get_mut(..position.len())?;
    let mut rest = [0usize; RANK];
    let rest = rest.get_mut(..position.len())?;
    match &array.sides {
        None => {
            for (axis, (&index, &size)) in position.iter().zip(&chain.shape).enumerate() {
                (cell[axis], rest[axis]) = ((index / size) as i64, index % size);
            }
        }
        Some(sides) => {
            for (axis, (&index, side)) in position.iter().zip(sides.iter()).enumerate() {
                cell[axis] = side.cell(index as i64);
                rest[axis] = index - side.bounds(cell[axis]).0 as usize;
            }
        }
    }
    let (root, fresh) = cached.pool.get(cached.id(cell, array.shape_at(cell).as_deref()), since)?;
    if !fresh {
        return None;
    }
    let chain = array.chain_at(cell).ok()?;
    match (&root.content, &chain.serializer) {
        (Content::Missing, _) => Some(take(&chain.fill)),
        (Content::Elements(bytes), _) => one(&chain, bytes, rest).map(take),
        (Content::Index(index, _), Serializer::Shard(shard)) => {
            let inner = &shard.inner;
            let mut entry = 0;
            let mut within = [0usize; RANK];
            for stored in 0..rest.len() {
                let index = rest[chain.order.as_ref().map_or(stored, |order| order[stored])];
                entry = entry * shard.grid[stored] + index / inner.shape[stored];
                within[stored] = index % inner.shape[stored];
            }
            if index.get(entry).ok()?.is_none() {
                return Some(take(&inner.fill));
            }
            let (object, _) = cached.pool.get(cached.inner_id(root.number, entry), 0)?;
            match &object.content {
                Content::Elements(bytes) => one(inner, bytes, &within[..rest.len()]).map(take),
                _ => None,
            }
        }
        _ => None,
    }
}

fn one<'a>(chain: &Chain, bytes: &'a [u8], position: &[usize]) -> Option<&'a [u8]> {
    let offset: usize = position.iter().zip(&chain.strides).map(|(&index, &stride)| index * stride as usize).sum();
    bytes.get(offset..offset + chain.elements.itemsize)
}

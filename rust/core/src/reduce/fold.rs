//! One row of blocks from its rows of elements.

use super::element::{Element, Sum};
use super::sorted::{commonest, middle, middles, most_common};
use super::{Method, Run};
use crate::error::Result;
use crate::scratch;

/// Memory that is used again for the next row.
pub struct Room<T: Element> {
    sums: Vec<T::Sum>,
    long_sums: Vec<T::LongSum>,
    block: Vec<T>,
}

impl<T: Element> Room<T> {
    pub fn new() -> Self {
        Room { sums: Vec::new(), long_sums: Vec::new(), block: Vec::new() }
    }
}

/// Appends the elements of a row of blocks to `made`, which has room for them.
pub fn row<T: Element>(
    method: Method,
    inputs: &[&[u8]],
    runs: &[Run],
    columns: usize,
    made: &mut Vec<T>,
    room: &mut Room<T>,
) -> Result<()> {
    let first = made.len();
    match method {
        Method::Mean => {
            let most = runs.iter().map(|run| run.length).max().unwrap_or(0) * inputs.len();
            if most <= T::FEW {
                means(inputs, runs, columns, made, &mut room.sums)?;
            } else {
                means(inputs, runs, columns, made, &mut room.long_sums)?;
            }
        }
        Method::Min => {
            made.resize(first + columns, T::HIGHEST);
            let least = |found: T, element: T| if element < found { element } else { found };
            fold(inputs, runs, &mut made[first..], least);
        }
        Method::Max => {
            made.resize(first + columns, T::LOWEST);
            let greatest = |found: T, element: T| if element > found { element } else { found };
            fold(inputs, runs, &mut made[first..], greatest);
        }
        Method::Median => each_block(inputs, runs, made, &mut room.block, middle, middles)?,
        Method::Mode => each_block(inputs, runs, made, &mut room.block, commonest, most_common)?,
    }
    Ok(())
}

fn means<T: Element, S: Sum<T>>(
    inputs: &[&[u8]],
    runs: &[Run],
    columns: usize,
    made: &mut Vec<T>,
    sums: &mut Vec<S>,
) -> Result<()> {
    sums.clear();
    scratch::reserve(sums, columns)?;
    sums.resize(columns, S::default());
    fold(inputs, runs, sums, S::plus);
    for run in runs {
        S::means(&sums[run.block..run.block + run.count], run.length * inputs.len(), made);
    }
    Ok(())
}

/// Takes all elements of each block, in order, into what was found of it.
fn fold<T: Element, A: Copy>(inputs: &[&[u8]], runs: &[Run], found: &mut [A], take: impl Fn(A, T) -> A + Copy) {
    for input in inputs {
        for run in runs {
            let own = &mut found[run.block..run.block + run.count];
            let start = run.start * T::SIZE;
            let elements = &input[start..start + run.count * run.length * T::SIZE];
            // The usual lengths are known to the compiler, which then takes many blocks at once.
            match run.length {
                1 => fold_row::<T, A, 1>(elements, own, take),
                2 => fold_row::<T, A, 2>(elements, own, take),
                3 => fold_row::<T, A, 3>(elements, own, take),
                4 => fold_row::<T, A, 4>(elements, own, take),
                length => {
                    for (found, block) in own.iter_mut().zip(elements.chunks_exact(length * T::SIZE)) {
                        *found =
                            block.chunks_exact(T::SIZE).fold(*found, |found, element| take(found, T::load(element)));
                    }
                }
            }
        }
    }
}

fn fold_row<T: Element, A: Copy, const LENGTH: usize>(elements: &[u8], found: &mut [A], take: impl Fn(A, T) -> A) {
    for (found, block) in found.iter_mut().zip(elements.chunks_exact(LENGTH * T::SIZE)) {
        for place in 0..LENGTH {
            *found = take(*found, T::load(&block[place * T::SIZE..(place + 1) * T::SIZE]));
        }
    }
}

/// Blocks of so few elements are put in order side by side, many at once.
const SMALL: usize = 16;
/// How many, so that they stay in the cache.
const AT_ONCE: usize = 512;

fn each_block<T: Element>(
    inputs: &[&[u8]],
    runs: &[Run],
    made: &mut Vec<T>,
    room: &mut Vec<T>,
    one: impl Fn(&mut [T]) -> T,
    many: impl Fn(&mut [T], usize, &mut Vec<T>),
) -> Result<()> {
    for run in runs {
        let size = run.length * inputs.len();
        let at_once = if size <= SMALL { AT_ONCE } else { 1 };
        let mut done = 0;
        while done < run.count {
            let count = at_once.min(run.count - done);
            let start = (run.start + done * run.length) * T::SIZE;
            room.clear();
            scratch::reserve(room, count * size)?;
            for input in inputs {
                let elements = &input[start..start + count * run.length * T::SIZE];
                if at_once == 1 {
                    room.extend(elements.chunks_exact(T::SIZE).map(T::load));
                    continue;
                }
                // The elements at one place of all blocks, then those at the next.
                for place in 0..run.length {
                    let own = &elements[place * T::SIZE..];
                    room.extend(own.chunks(run.length * T::SIZE).map(|block| T::load(&block[..T::SIZE])));
                }
            }
            if at_once == 1 {
                made.push(one(room));
            } else {
                many(room, count, made);
            }
            done += count;
        }
    }
    Ok(())
}

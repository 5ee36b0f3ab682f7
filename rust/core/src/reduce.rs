//! One element for each block of a box: its mean, least, greatest, middle or commonest element.
//!
//! The elements lie in C order, and so do the blocks. Along each axis the *edges* say where blocks begin, and where the
//! last one ends; blocks may have any lengths. One row of blocks at a time is made from its rows of elements, which are
//! taken in C order: so the elements of each block are, too, and sums of floats are rounded as they always are.

use crate::array::Options;
use crate::error::{Error, Kind, Result};
use crate::memory::Target;
use crate::pool;
use crate::region::{Axis, Region};
use crate::scratch;

mod element;
mod fold;
mod sorted;

#[cfg(test)]
mod tests;

use element::{Bool, Element};

/// What is made of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Mean,
    Min,
    Max,
    Median,
    Mode,
}

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// A box of elements, and where its blocks begin.
pub struct Blocks<'a> {
    elements: &'a [u8],
    shape: Vec<usize>,
    edges: Vec<Vec<usize>>,
    itemsize: usize,
}

/// Neighbouring blocks of one length along the last axis.
#[derive(Clone, Copy)]
struct Run {
    /// The first block, how many there are, how long each is, and where the first begins.
    block: usize,
    count: usize,
    length: usize,
    start: usize,
}

/// About so many bytes of elements are a task of one thread.
const TASK: usize = 1 << 18;

impl<'a> Blocks<'a> {
    pub fn new(elements: &'a [u8], shape: Vec<usize>, edges: Vec<Vec<usize>>, itemsize: usize) -> Result<Self> {
        let wrong = || Error::new(Kind::Internal, "the blocks are not those of the elements");
        let size = shape.iter().try_fold(itemsize, |size, &length| size.checked_mul(length)).ok_or_else(wrong)?;
        let rising = |list: &[usize]| list.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = |(list, &length): (&Vec<usize>, &usize)| {
            list.first() == Some(&0) && list.last() == Some(&length) && list.len() > 1 && rising(list)
        };
        if shape.is_empty() || edges.len() != shape.len() || size != elements.len() {
            return Err(wrong());
        }
        if !edges.iter().zip(&shape).all(fits) {
            return Err(wrong());
        }
        Ok(Blocks { elements, shape, edges, itemsize })
    }

    /// Makes an element of each block; `out` has room for them, one after the other.
    pub fn reduce(&self, of: Of, method: Method, out: &Target<'_>, options: &Options<'_>) -> Result<()> {
        match of {
            Of::Bool => self.rows::<Bool>(method, out, options),
            Of::U8 => self.rows::<u8>(method, out, options),
            Of::I8 => self.rows::<i8>(method, out, options),
            Of::U16 => self.rows::<u16>(method, out, options),
            Of::I16 => self.rows::<i16>(method, out, options),
            Of::U32 => self.rows::<u32>(method, out, options),
            Of::I32 => self.rows::<i32>(method, out, options),
            Of::U64 => self.rows::<u64>(method, out, options),
            Of::I64 => self.rows::<i64>(method, out, options),
            Of::F32 => self.rows::<f32>(method, out, options),
            Of::F64 => self.rows::<f64>(method, out, options),
        }
    }

    fn rows<T: Element>(&self, method: Method, out: &Target<'_>, options: &Options<'_>) -> Result<()> {
        if self.itemsize != T::SIZE {
            return Err(Error::new(Kind::Internal, "elements of another length than their type has"));
        }
        let last = self.edges.len() - 1;
        let columns = self.edges[last].len() - 1;
        let count: usize = self.edges[..last].iter().map(|list| list.len() - 1).product();
        let per_task = (count * TASK / self.elements.len().max(1)).clamp(1, count);
        let runs = runs(&self.edges[last])?;
        let threads = if self.elements.len() <= TASK { 1 } else { options.threads };
        pool::run(threads, count.div_ceil(per_task), options.interrupted, |task, _| {
            let rows = task * per_task..count.min((task + 1) * per_task);
            let mut made: Vec<T> = scratch::list(rows.len() * columns)?;
            let mut inputs = Vec::new();
            let mut room = fold::Room::new();
            for row in rows.clone() {
                self.inputs(row, &mut inputs)?;
                fold::row(method, &inputs, &runs, columns, &mut made, &mut room)?;
            }
            let mut bytes: Vec<u8> = scratch::list(made.len() * T::SIZE)?;
            bytes.extend(made.iter().flat_map(|element| element.bytes()));
            let axis = Axis::Strided { start: 0, step: 1, count: bytes.len(), stride: 1 };
            let base = (rows.start * columns * T::SIZE) as isize;
            out.scatter(&Region { base, axes: vec![axis], groups: Vec::new() }, &bytes, 0, &[1], 1)
        })
    }

    /// The rows of elements that a row of blocks is made of, in C order.
    fn inputs(&self, row: usize, inputs: &mut Vec<&'a [u8]>) -> Result<()> {
        inputs.clear();
        let last = self.edges.len() - 1;
        let width = self.shape[last] * self.itemsize;
        let mut rest = row;
        let mut ranges: Vec<(usize, usize)> = Vec::with_capacity(last);
        for list in self.edges[..last].iter().rev() {
            let block = rest % (list.len() - 1);
            rest /= list.len() - 1;
            ranges.push((list[block], list[block + 1]));
        }
        ranges.reverse();
        let count: usize = ranges.iter().map(|(first, end)| end - first).product();
        for number in 0..count {
            // In mixed radix, from the axis that varies fastest on.
            let (mut rest, mut place, mut rows) = (number, 0, 1);
            for (&(first, end), &length) in ranges.iter().zip(&self.shape[..last]).rev() {
                place += (first + rest % (end - first)) * rows;
                rest /= end - first;
                rows *= length;
            }
            scratch::push(inputs, &self.elements[place * width..(place + 1) * width])?;
        }
        Ok(())
    }
}

fn runs(edges: &[usize]) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (block, pair) in edges.windows(2).enumerate() {
        let length = pair[1] - pair[0];
        match runs.last_mut() {
            Some(run) if run.length == length => run.count += 1,
            _ => scratch::push(&mut runs, Run { block, count: 1, length, start: pair[0] })?,
        }
    }
    Ok(runs)
}

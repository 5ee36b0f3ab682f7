//! A shard whose index lies.

use blizzarr_core::chain::{Chain, Elements, Serializer, Shard};
use blizzarr_core::codec::checksum::Checksum;
use blizzarr_core::codec::element::Swap;
use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::Kind;
use blizzarr_core::region::{Axis, Region};

use crate::chunk::{codecs, One};
use crate::input::Input;
use crate::mutation::{field, set};
use crate::store::Face;

const FILL: [u8; 2] = [9, 4];
const MISSING: u64 = u64::MAX;

/// What an entry of the index, by itself, leads to.
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Missing,
    Bytes(usize, usize),
    Wrong,
    /// Bytes of the index, at the end of a shard whose length the reader does not know: the same, or an error.
    Unseen(usize, usize),
}

/// How inner chunks of two-byte elements lie in the shard.
struct Grid {
    rows: usize,
    columns: usize,
    height: usize,
    width: usize,
}

impl Grid {
    fn shape(&self) -> [usize; 2] {
        [self.rows * self.height, self.columns * self.width]
    }

    fn count(&self) -> usize {
        self.rows * self.columns
    }

    /// Bytes of an inner chunk.
    fn cell_len(&self) -> usize {
        2 * self.height * self.width
    }

    fn region(&self, cell: usize) -> Region {
        inside(cell / self.columns, cell % self.columns, self.height, self.width)
    }
}

/// Entries of a shard's index are changed, and its checksum with them: each inner chunk is what its entry leads to, missing
/// only if its entry says so, or an error; writing to some of them leaves the others what they were.
pub fn shard(data: &[u8]) {
    let mut input = Input(data);
    let (rows, columns) = (input.range(1..=3), input.range(1..=2));
    let (height, width) = (input.range(1..=3), input.range(1..=4));
    let grid = Grid { rows, columns, height, width };
    let at_start = input.flag();
    let summed = input.flag();
    let chain = chain(&mut input, &grid, at_start, summed);
    let face = input.pick(&[Face::Memory, Face::File, Face::Far]);
    let one = One::new(face, &grid.shape(), chain);
    let Serializer::Shard(shard) = &one.array.chain.serializer else { unreachable!("a shard") };

    let value = value(&mut input, &grid);
    one.write(&one.whole(), &value).expect("any value can be written");
    let Some(mut stored) = one.store.value() else { return };
    let Some(first) = lie(&mut input, &mut stored, shard, summed) else { return };
    one.store.put(Some(stored.clone()));

    let expected = (0..grid.count()).map(|cell| {
        let entry = entry(shard, &stored, first + 16 * cell, face);
        check_read(&one, shard, &stored, &entry, &grid.region(cell), grid.cell_len())
    });
    let expected: Vec<Option<Vec<u8>>> = expected.collect();
    check_written(&mut input, &one, &grid, &stored, &expected);
}

fn chain(input: &mut Input<'_>, grid: &Grid, at_start: bool, summed: bool) -> Chain {
    let inner_codecs = if input.flag() { codecs(input, 2, true) } else { Vec::new() };
    let inner = plain(vec![grid.height, grid.width], 2, FILL.to_vec(), inner_codecs);
    let sums: Vec<Box<dyn BytesToBytes>> = if summed { vec![Box::new(Checksum::CRC32C)] } else { Vec::new() };
    let index = plain(vec![grid.rows, grid.columns, 2], 8, vec![0xff; 8], sums);
    let shard = Shard::new(&grid.shape(), inner, index, at_start).expect("inner chunks divide it");
    let elements = Elements { itemsize: 2, swap: Swap::None, boolean: false };
    let serializer = Serializer::Shard(Box::new(shard));
    Chain::new(grid.shape().to_vec(), elements, FILL.to_vec(), None, serializer, Vec::new()).expect("small")
}

/// Elements of which some inner chunks hold nothing but the fill value.
fn value(input: &mut Input<'_>, grid: &Grid) -> Vec<u8> {
    let shape = grid.shape();
    let mut value = input.value(2 * shape[0] * shape[1]);
    let empty = input.byte();
    for cell in (0..grid.count()).filter(|cell| empty >> (cell % 8) & 1 == 1) {
        let (row, column) = (cell / grid.columns, cell % grid.columns);
        for y in row * grid.height..(row + 1) * grid.height {
            for x in column * grid.width..(column + 1) * grid.width {
                value[2 * (y * shape[1] + x)..][..2].copy_from_slice(&FILL);
            }
        }
    }
    value
}

/// Changes entries of the index, and its checksum to fit; where the index begins, if there is still room for it.
fn lie(input: &mut Input<'_>, stored: &mut Vec<u8>, shard: &Shard, summed: bool) -> Option<usize> {
    let (index_len, count) = (shard.index_len, shard.count());
    let index_at = |stored: &[u8]| if shard.at_start { 0 } else { stored.len() - index_len };
    for _ in 0..input.range(0..=3) {
        let entry = input.range(0..=count - 1);
        let first = index_at(stored);
        match input.range(0..=5) {
            0 => {
                let other = input.range(0..=count - 1);
                stored.copy_within(first + 16 * other..first + 16 * other + 16, first + 16 * entry);
            }
            1 => stored[first + 16 * entry..][..16].fill(0xff),
            2 if !shard.at_start => drop(stored.splice(..input.range(0..=3), [])),
            _ => {
                let number = 16 * entry + if input.flag() { 8 } else { 0 };
                set(input, stored, field(first + number, 8));
            }
        }
        if stored.len() < index_len {
            return None;
        }
    }
    let first = index_at(stored);
    if summed {
        let sum = crc32c::crc32c(&stored[first..first + 16 * count]);
        stored[first + 16 * count..][..4].copy_from_slice(&sum.to_le_bytes());
    }
    Some(first)
}

/// An inner chunk is what its entry leads to: its elements, or nothing for an error.
fn check_read(
    one: &One,
    shard: &Shard,
    stored: &[u8],
    entry: &Entry,
    region: &Region,
    cell_len: usize,
) -> Option<Vec<u8>> {
    let found = one.read(region, cell_len);
    let expected = match *entry {
        Entry::Missing => Some(FILL.iter().copied().cycle().take(cell_len).collect()),
        Entry::Wrong => None,
        Entry::Bytes(start, end) | Entry::Unseen(start, end) => {
            let mut decoded = vec![0; cell_len];
            shard.inner.decode_exact(&stored[start..end], &mut decoded).ok().map(|()| decoded)
        }
    };
    match (found, &expected) {
        (Ok(found), Some(expected)) => assert!(found == *expected, "{entry:?}"),
        (Err(error), None) => {
            let kind = if *entry == Entry::Wrong { Kind::ShardIndex } else { error.kind };
            assert_eq!(error.kind, kind, "{entry:?}: {error:?}");
            assert!(error.inner.is_some() && error.key.is_some() && error.codec.is_some(), "{error:?}");
        }
        (found, expected) => panic!("{entry:?}: found {found:?}, expected {expected:?}"),
    }
    expected
}

/// One inner chunk is written, all of it or an element: the others are what they were.
fn check_written(input: &mut Input<'_>, one: &One, grid: &Grid, stored: &[u8], before: &[Option<Vec<u8>>]) {
    let cell = input.range(0..=grid.count() - 1);
    let cell_len = grid.cell_len();
    let whole = input.flag() || cell_len == 2;
    let (row, column) = (cell / grid.columns * grid.height, cell % grid.columns * grid.width);
    let region = if whole { grid.region(cell) } else { inside_one(row, column) };
    let new = input.bytes(cell_len);
    let new: Vec<u8> = new.into_iter().chain(std::iter::repeat(1)).take(if whole { cell_len } else { 2 }).collect();
    if let Err(error) = one.write(&region, &new) {
        assert!(error.is_damage(), "{error:?}");
        assert!(one.store.value().as_deref() == Some(stored), "a write that failed changed something");
        return;
    }
    for (other, expected) in before.iter().enumerate() {
        let found = one.read(&grid.region(other), cell_len);
        match expected {
            Some(expected) if other != cell => assert!(found.expect("kept") == *expected, "a neighbour changed"),
            None if other != cell => assert!(found.is_err(), "damage turned into data"),
            _ if whole => assert!(found.expect("written") == new),
            Some(expected) => assert!(found.expect("written") == [&new, &expected[2..]].concat()),
            None => panic!("a part was written into damage"),
        }
    }
}

fn plain(shape: Vec<usize>, itemsize: usize, fill: Vec<u8>, codecs: Vec<Box<dyn BytesToBytes>>) -> Chain {
    let elements = Elements { itemsize, swap: Swap::None, boolean: false };
    Chain::new(shape, elements, fill, None, Serializer::Elements, codecs).expect("small")
}

/// By the specification: both numbers all ones, or bytes of the shard outside its index.
fn entry(shard: &Shard, stored: &[u8], at: usize, face: Face) -> Entry {
    let number = |at: usize| u64::from_le_bytes(stored[at..at + 8].try_into().expect("eight bytes"));
    let (offset, length) = (number(at), number(at + 8));
    if (offset, length) == (MISSING, MISSING) {
        return Entry::Missing;
    }
    let (low, high) =
        if shard.at_start { (shard.index_len, stored.len()) } else { (0, stored.len() - shard.index_len) };
    let (start, end) = (u128::from(offset), u128::from(offset) + u128::from(length));
    let sized = shard.inner.fixed_len().is_none_or(|fixed| u128::from(length) == fixed as u128);
    if start < low as u128
        || end > stored.len() as u128
        || length == 0
        || length > shard.inner.max_len() as u64
        || !sized
    {
        return Entry::Wrong;
    }
    let (start, end) = (start as usize, end as usize);
    match end > high {
        true if face == Face::Far => Entry::Unseen(start, end),
        true => Entry::Wrong,
        false => Entry::Bytes(start, end),
    }
}

/// An inner chunk of the shard, packed in memory.
fn inside(row: usize, column: usize, height: usize, width: usize) -> Region {
    let axis = |start: usize, count, stride| Axis::Strided { start: start as i64, step: 1, count, stride };
    let axes = vec![axis(row * height, height, 2 * width as isize), axis(column * width, width, 2)];
    Region { base: 0, axes, groups: Vec::new() }
}

fn inside_one(row: usize, column: usize) -> Region {
    inside(row, column, 1, 1)
}

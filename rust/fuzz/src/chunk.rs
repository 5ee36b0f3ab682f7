//! A whole chunk: any chain of codecs, any shape, stored bytes that were valid before they were damaged.

use std::sync::Arc;

use blizzarr_core::array::{Array, Keys, Options, Places};
use blizzarr_core::chain::{Chain, Elements, Serializer, Shard};
use blizzarr_core::codec::blosc::Blosc;
use blizzarr_core::codec::checksum::Checksum;
use blizzarr_core::codec::delta::Delta;
use blizzarr_core::codec::element::Swap;
use blizzarr_core::codec::gdeflate::Gdeflate;
use blizzarr_core::codec::gzip::Gzip;
use blizzarr_core::codec::lz4::Lz4;
use blizzarr_core::codec::packbits::Packbits;
use blizzarr_core::codec::scale_offset::ScaleOffset;
use blizzarr_core::codec::shuffle::Shuffle;
use blizzarr_core::codec::zlib::Zlib;
use blizzarr_core::codec::zstd::Zstd;
use blizzarr_core::codec::BytesToBytes;
use blizzarr_core::error::{Error, Kind, Result};
use blizzarr_core::interrupt::never;
use blizzarr_core::memory::{Origin, Target};
use blizzarr_core::read::read;
use blizzarr_core::region::{c_strides, Region};
use blizzarr_core::write::write;

use crate::input::Input;
use crate::model::{at, elements, region};
use crate::mutation::{damage, field, Damage, Field};
use crate::room::Room;
use crate::store::{Face, OneValue};

const OPTIONS: Options<'static> = Options { threads: 1, requests: 0, write_empty: false, interrupted: &never };

/// Shards that may become longer are not encoded as a whole: where a damaged one decodes to all that it might be, tens of
/// megabytes of nested ones, that took a third of all time.
const LONGEST_SHARD: usize = 1 << 20;

/// One chunk of an array, all of it and parts of it: what is written is read, damage is an error that names the chunk or data
/// of the right size, and a part that is written into a damaged chunk changes nothing else.
pub fn chunk(data: &[u8]) {
    let mut input = Input(data);
    let rank = input.range(0..=3);
    let longest = [1, 12, 4, 3][rank];
    let shape: Vec<usize> = (0..rank).map(|_| input.range(1..=longest)).collect();
    let itemsize = input.pick(&[1, 2, 4, 8, 3]);
    let fill: Vec<u8> = if input.flag() { vec![0; itemsize] } else { (9..9 + itemsize as u8).collect() };
    let depth = input.range(0..=2);
    let chain = chain(&mut input, &shape, itemsize, &fill, depth);
    let face = input.pick(&[Face::Memory, Face::File, Face::Far]);
    // The array may end within its only chunk.
    let extent: Vec<usize> =
        shape.iter().map(|&size| if input.one_in(4) { input.range(1..=size) } else { size }).collect();
    let one = One::new(face, &extent, chain);

    let length = extent.iter().product::<usize>() * itemsize;
    let mut value = input.value(length);
    if is_boolean(&one.array.chain) {
        value.iter_mut().for_each(|byte| *byte &= 1);
    }
    one.write(&one.whole(), &value).expect("any value can be written");
    let stored = one.store.value();
    if let Some(stored) = &stored {
        assert!(stored.len() <= one.array.chain.max_len(), "longer than its chain says");
    }
    assert!(one.read(&one.whole(), length).expect("just written") == value, "another value came back");

    let done = match stored {
        Some(mut stored) => {
            let fields = fields(&one.array.chain, &stored);
            let done = damage(&mut input, &mut stored, &fields);
            one.store.put(Some(stored));
            done
        }
        None => Damage::None,
    };
    let before = match one.read(&one.whole(), length) {
        Ok(found) => {
            assert!(done != Damage::None || found == value);
            Some(found)
        }
        Err(error) => {
            assert!(done != Damage::None, "{error:?}");
            placed(&error);
            None
        }
    };
    check_part(&mut input, &one, &extent, itemsize, before.as_deref());
    check_written(&mut input, &one, face, &extent, itemsize, before.as_deref());
}

/// A part of it is that part of the whole.
fn check_part(input: &mut Input<'_>, one: &One, extent: &[usize], itemsize: usize, whole: Option<&[u8]>) {
    let (part, part_len) = region(input, extent, itemsize);
    let found = one.read(&part, part_len);
    match (&found, whole) {
        (Ok(found), Some(whole)) => {
            let mut expected = vec![0xee; part_len];
            for (position, offset) in elements(&part) {
                let (from, to) = (at(&position, &one.strides), offset as usize);
                expected[to..to + itemsize].copy_from_slice(&whole[from..from + itemsize]);
            }
            assert!(*found == expected, "a part is another one");
        }
        (Err(error), Some(_)) => panic!("a part fails where the whole does not: {error:?}"),
        (Err(error), None) => placed(error),
        (Ok(_), None) => {}
    }
}

/// Written into, it keeps what else it holds; or the write fails and changes nothing.
fn check_written(
    input: &mut Input<'_>,
    one: &One,
    face: Face,
    extent: &[usize],
    itemsize: usize,
    whole: Option<&[u8]>,
) {
    let stored = one.store.value();
    let (part, part_len) = region(input, extent, itemsize);
    let mut new = input.value(part_len);
    if is_boolean(&one.array.chain) {
        new.iter_mut().for_each(|byte| *byte &= 1);
    }
    match one.write(&part, &new) {
        Err(error) => {
            placed(&error);
            // A shard with more of other writers' leftovers than chunks is not fetched whole; its parts still are.
            let longest = one.array.chain.max_len();
            let too_long = face == Face::Far && stored.as_ref().is_some_and(|stored| stored.len() > longest);
            let excused = error.kind == Kind::ShardIndex || too_long;
            assert!(whole.is_none() || excused, "what can be read can be written to: {error:?}");
            assert!(one.store.value() == stored, "a write that failed changed something");
        }
        Ok(()) => {
            let after = one.read(&one.whole(), extent.iter().product::<usize>() * itemsize);
            if let Some(whole) = whole {
                let mut expected = whole.to_vec();
                for (position, offset) in elements(&part) {
                    let (from, to) = (offset as usize, at(&position, &one.strides));
                    expected[to..to + itemsize].copy_from_slice(&new[from..from + itemsize]);
                }
                assert!(after.expect("written") == expected, "a write changed its neighbours");
            }
        }
    }
}

fn is_boolean(chain: &Chain) -> bool {
    match &chain.serializer {
        Serializer::Elements => chain.elements.boolean,
        Serializer::Shard(shard) => is_boolean(&shard.inner),
    }
}

fn placed(error: &Error) {
    assert!(matches!(error.kind, Kind::Codec | Kind::Checksum | Kind::ShardIndex | Kind::Limit), "{error:?}");
    assert_eq!(error.key.as_deref(), Some("c"), "{error:?}");
    assert!(error.chunk.is_some(), "{error:?}");
    assert!(error.codec.is_some() || error.kind == Kind::Limit, "{error:?}");
}

/// An array of one chunk.
pub struct One {
    pub store: Arc<OneValue>,
    pub array: Array,
    pub strides: Vec<isize>,
}

impl One {
    pub fn new(face: Face, extent: &[usize], chain: Chain) -> Self {
        let store = Arc::new(OneValue::new(face));
        let strides = c_strides(extent, chain.elements.itemsize);
        // Whatever its place, its key is the same.
        let keys = Keys {
            prefix: String::new(),
            head: String::new(),
            separator: String::new(),
            scalar: "c".into(),
            axes: usize::MAX,
            places: Places::Indices,
        };
        let keys = if extent.is_empty() { keys } else { Keys { prefix: "c".into(), ..keys } };
        let array = Array::new(store.clone(), keys, "zarr.json".into(), extent.to_vec(), Arc::new(chain));
        One { store, array: array.expect("one chunk"), strides }
    }

    pub fn whole(&self) -> Region {
        Region::whole(&self.array.shape, &self.strides)
    }

    pub fn read(&self, region: &Region, length: usize) -> Result<Vec<u8>> {
        let mut found = Room::filled(0xee, length);
        named(read(&self.array, region, &Target::of(&mut found), &OPTIONS)).map(|()| found.to_vec())
    }

    pub fn write(&self, region: &Region, value: &[u8]) -> Result<()> {
        named(write(&self.array, region, &Origin::of(value), &OPTIONS))
    }
}

/// Keys of one chunk differ by their zeros only. What panicked within the engine came here as an error.
fn named(result: Result<()>) -> Result<()> {
    result.map_err(|mut error| {
        assert!(error.kind != Kind::Internal, "{error:?} at {:?}", error.location());
        if error.key.as_ref().is_some_and(|key| key.trim_end_matches('0') == "c") {
            error.key = Some("c".into());
        }
        error
    })
}

/// A chain of some depth: plain elements, a shard, a shard of shards.
pub fn chain(input: &mut Input<'_>, shape: &[usize], itemsize: usize, fill: &[u8], depth: usize) -> Chain {
    let order = input.one_in(3).then(|| input.permutation(shape.len()));
    let boolean = itemsize == 1 && input.one_in(4);
    let made = |order, elements, serializer, codecs| {
        Chain::new(shape.to_vec(), elements, fill.to_vec(), order, serializer, codecs).expect("a small chunk")
    };
    if depth == 0 {
        let swap = Swap::new(if input.flag() && itemsize != 3 { itemsize } else { 0 }).expect("a unit");
        let fill_is_legal = !boolean || fill.iter().all(|&byte| byte < 2);
        let elements = Elements { itemsize, swap, boolean: boolean && fill_is_legal };
        return made(order, elements, Serializer::Elements, codecs(input, itemsize, true));
    }
    let stored: Vec<usize> = match &order {
        Some(order) => order.iter().map(|&axis| shape[axis]).collect(),
        None => shape.to_vec(),
    };
    let inner_shape: Vec<usize> = stored
        .iter()
        .map(|&size| {
            let divisors: Vec<usize> = (1..=size).filter(|divisor| size % divisor == 0).collect();
            input.pick(&divisors)
        })
        .collect();
    let inner = chain(input, &inner_shape, itemsize, fill, depth - 1);
    let shard = shard_of(input, &stored, inner);
    let elements = Elements { itemsize, swap: Swap::None, boolean: false };
    let encoded = input.one_in(3) && shard.max_len().is_ok_and(|most| most <= LONGEST_SHARD);
    let codecs = if encoded { codecs(input, itemsize, false) } else { Vec::new() };
    made(order, elements, Serializer::Shard(Box::new(shard)), codecs)
}

pub fn shard_of(input: &mut Input<'_>, stored: &[usize], inner: Chain) -> Shard {
    let mut grid: Vec<usize> = stored.iter().zip(&inner.shape).map(|(shard, inner)| shard / inner).collect();
    grid.push(2);
    let order = input.one_in(4).then(|| input.permutation(grid.len()));
    let swap = if input.one_in(4) { Swap::Eight } else { Swap::None };
    let pairs = Elements { itemsize: 8, swap, boolean: false };
    let mut sums: Vec<Box<dyn BytesToBytes>> = Vec::new();
    for _ in 0..input.range(0..=2) {
        sums.push(Box::new(Checksum::CRC32C));
    }
    let index = Chain::new(grid, pairs, vec![0xff; 8], order, Serializer::Elements, sums).expect("a small index");
    Shard::new(stored, inner, index, input.flag()).expect("inner chunks divide it")
}

/// Codecs of numbers that lose nothing of any.
fn numbers(input: &mut Input<'_>, itemsize: usize) -> Box<dyn BytesToBytes> {
    let name = format!("{}{}", input.pick(&["int", "uint"]), 8 * itemsize);
    let last = 8 * itemsize as i64 - 1;
    match input.range(0..=2) {
        0 => Box::new(Delta::new(&name, &name).expect("integers")),
        1 => Box::new(Packbits::new(last + 1, 0, last, input.flag(), "first_byte").expect("all bits")),
        _ => Box::new(ScaleOffset::new(&name, "0", "1").expect("a scale")),
    }
}

/// `whole` says that what they encode is whole elements.
pub fn codecs(input: &mut Input<'_>, itemsize: usize, whole: bool) -> Vec<Box<dyn BytesToBytes>> {
    let mut codecs: Vec<Box<dyn BytesToBytes>> = Vec::new();
    for _ in 0..input.pick(&[1, 0, 1, 2, 3]) {
        let first = whole && codecs.is_empty();
        codecs.push(match input.range(0..=7) {
            0 => Box::new(Checksum::CRC32C),
            1 => Box::new(Zstd::new(1, input.flag()).expect("a level")),
            2 => Box::new(Gzip::new(1).expect("a level")),
            3 => {
                let cname = input.pick(&["lz4", "blosclz", "zstd", "zlib", "snappy"]);
                Box::new(Blosc::new(cname, 5, input.range(0..=2) as i64, itemsize as i64, 0).expect("options"))
            }
            4 => Box::new(Lz4::new(1).expect("an acceleration")),
            5 => Box::new(Zlib::new(1).expect("a level")),
            6 => Box::new(Gdeflate::new(1).expect("a level")),
            // Elsewhere the length need not be a multiple of an element's.
            _ if first && itemsize != 3 && input.flag() => numbers(input, itemsize),
            _ if first => Box::new(Shuffle::new(itemsize as i64).expect("a size")),
            _ => Box::new(Checksum::CRC32C),
        });
    }
    codecs
}

/// Where the outermost layer of the stored bytes has its numbers.
fn fields(chain: &Chain, stored: &[u8]) -> Vec<Field> {
    let end = stored.len();
    let mut fields: Vec<Field> = (0..end.min(20)).step_by(4).map(|at| field(at, 4)).collect();
    fields.extend((0..end.min(20)).map(|at| field(at, 1)));
    fields.extend((1..=3).filter_map(|back| Some(field(end.checked_sub(4 * back)?, 4))));
    if let (Serializer::Shard(shard), true) = (&chain.serializer, chain.codecs.is_empty()) {
        let first = if shard.at_start { 0 } else { end.saturating_sub(shard.index_len) };
        for number in 0..2 * shard.count() {
            fields.extend([field(first + 8 * number, 8); 2]);
        }
    }
    fields
}

//! `_native.ArrayHandle`: one array of one store, read and written in one crossing per operation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use blizzarr_core::array::{Array, Interval, Keys, Options, Places};
use blizzarr_core::chain::Chain;
use blizzarr_core::chains::Chains;
use blizzarr_core::check::{check, Checked, Depth};
use blizzarr_core::error::Result;
use blizzarr_core::grid::Side;
use blizzarr_core::memory::Origin;
use blizzarr_core::pool;
use blizzarr_core::region::Region;
use blizzarr_core::salvage::{salvage, Allowed, Outcome, Salvaged};
use blizzarr_core::store::durability;
use blizzarr_core::store::uint64_sharded::{ShardedStore, Sharding};
use blizzarr_core::stored::stored;
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::buffer::{to_python, Buffer};
use crate::caching::{known, with_pool, Given, Scalar};
use crate::chain::PyChain;
use crate::document::PyDocument;
use crate::ending::{self, call};
use crate::errors::{entry, foreign, raise, Place};
use crate::request::{self, region};
use crate::signals::watching_signals;
use crate::stores::store_of;

/// A buffer, the axes that select what goes into it, and the moment at which that was asked for.
type Asked<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>, Option<u64>);
/// Shards in which inner chunks share bytes, and how many do.
type Shared<'py> = Vec<(Bound<'py, PyTuple>, u64)>;
/// How many objects have zeros behind what is encoded, and one of them.
type Surplus = (u64, Option<Py<PyBaseException>>);
/// Objects, missing ones, bytes, chunks, errors, errors left out, and the two above.
type Verified<'py> = (u64, u64, u64, u64, Bound<'py, PyList>, u64, Shared<'py>, Surplus);

#[pyclass(name = "ArrayHandle", module = "blizzarr._native", frozen)]
pub struct ArrayHandle {
    array: Array,
    /// The array's path and store, for error messages.
    place: Place,
    /// How single elements are shown, of an array with a pool.
    scalar: Option<Scalar>,
    /// Whether zeros behind what is encoded were told of.
    warned: Arc<AtomicBool>,
    /// How many threads work at once, at most; 0 for as many as there are.
    #[pyo3(get)]
    threads: usize,
    /// The moment of the array's pool at which reads were asked for, if not when they are done.
    asked: Option<u64>,
}

#[pymethods]
impl ArrayHandle {
    #[new]
    #[pyo3(signature = (store, array, prefix, lock_key, shape, chain, head, separator, scalar_key, place=String::new(), locks=None, cache=None, scalar=None, axes=None, intervals=None, morton=None, chains=None, sides=None, shards=None, named=None, document=None))]
    #[allow(clippy::too_many_arguments)] // One call per open array; each is a plain value.
    fn new(
        store: &Bound<'_, PyAny>,
        array: String,
        prefix: String,
        lock_key: String,
        shape: Vec<usize>,
        chain: &PyChain,
        head: String,
        separator: String,
        scalar_key: String,
        place: String,
        locks: Option<&Bound<'_, PyAny>>,
        cache: Option<Given<'_>>,
        scalar: Option<(String, Py<PyAny>)>,
        axes: Option<usize>,
        intervals: Option<Vec<(i64, i64, i64)>>,
        morton: Option<Vec<u32>>,
        chains: Option<Py<PyAny>>,
        sides: Option<Sides<'_>>,
        shards: Option<Shards>,
        named: Option<Py<PyAny>>,
        document: Option<PyRef<'_, PyDocument>>,
    ) -> PyResult<Self> {
        let py = store.py();
        entry(py, "open an array", None, || {
            let places = match (intervals, morton) {
                (Some(given), _) => {
                    let interval = |(start, step, end)| Interval { start, step, end };
                    Places::Intervals(given.into_iter().map(interval).collect())
                }
                (None, Some(bits)) => Places::Morton(bits),
                (None, None) => Places::Indices,
            };
            let axes = match &places {
                Places::Indices => axes.unwrap_or(usize::MAX),
                Places::Intervals(intervals) => intervals.len(),
                Places::Morton(bits) => bits.len(),
            };
            let keys = Keys { prefix, head, separator, scalar: scalar_key, axes, places };
            let store = store_of(store, place, locks)?;
            let place = Place { array, store: named };
            let made = Array::new(store, keys, lock_key, shape, Arc::clone(&chain.chain));
            let array = made.map_err(|error| raise(py, error, Some(&place)))?;
            let array = match shards {
                None => array,
                Some(given) => sharded(array, given).map_err(|error| raise(py, error, Some(&place)))?,
            };
            let array = match chains {
                None => array,
                Some(prepare) => {
                    let sides = sides.map(|sides| sides_of(py, sides, &array.shape)).transpose()?;
                    let chains = Arc::new(Chains::new(Box::new(move |shape| prepared(&prepare, shape))));
                    array.with_chains(chains, sides).map_err(|error| raise(py, error, Some(&place)))?
                }
            };
            let array = Array { document: document.map(|document| Arc::clone(&document.document)), ..array };
            let array = match cache {
                Some(given) => with_pool(array, given)?,
                None => array,
            };
            let scalar = scalar.filter(|_| array.cache.is_some()).map(|(kind, make)| Scalar::new(&kind, make));
            Ok(ArrayHandle { array, place, scalar, warned: Arc::default(), threads: 0, asked: None })
        })
    }

    /// The element at a key of integers, if the pool has it and need not look at the store; `None` for everything else.
    fn element<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.scalar {
            Some(scalar) => entry(key.py(), "read", Some(&self.place), || known(&self.array, scalar, key)),
            None => Ok(None),
        }
    }

    /// Whether a pool keeps anything of this array.
    #[getter]
    fn caches(&self) -> bool {
        self.array.cache.is_some()
    }

    /// Reads the elements that `axes` select into `out`. Gives an error to warn of, the first time that zeros follow what
    /// is encoded.
    fn read(&self, out: &Bound<'_, PyAny>, axes: &Bound<'_, PyTuple>) -> PyResult<Option<Py<PyBaseException>>> {
        let py = out.py();
        entry(py, "read", Some(&self.place), || {
            let mut buffer = Buffer::writing(out)?;
            let region = self.region(axes, &buffer)?;
            let target = buffer.target();
            let done = py.detach(|| {
                with_options(Some(&self.array), self.threads, false, &|options| {
                    blizzarr_core::read::read_asked(&self.array, &region, &target, options, self.asked)
                })
            });
            let surplus = done.map_err(|error| raise(py, error, Some(&self.place)))?;
            let surplus = surplus.filter(|_| !self.warned.swap(true, Ordering::Relaxed));
            Ok(surplus.map(|error| raise(py, error, Some(&self.place)).into_value(py)))
        })
    }

    /// The same for several buffers, each with its axes and the moment of the pool at which it was asked for, if that is
    /// not now. Gives for each whether it was read; any other is to be read by itself, which raises what is wrong.
    fn read_parts(&self, py: Python<'_>, parts: Vec<Asked<'_>>) -> PyResult<Vec<bool>> {
        entry(py, "read", Some(&self.place), || {
            let buffers = parts.iter().map(|(out, ..)| Buffer::writing(out)).collect::<PyResult<Vec<_>>>()?;
            let regions = parts.iter().zip(&buffers).map(|((_, axes, _), buffer)| self.region(axes, buffer));
            let regions = regions.collect::<PyResult<Vec<_>>>()?;
            let mut buffers = buffers;
            let targets = buffers.iter_mut().map(Buffer::target);
            let moments = parts.iter().map(|(.., asked)| *asked);
            let parts: Vec<_> = regions.into_iter().zip(targets).zip(moments).map(|((a, b), c)| (a, b, c)).collect();
            let done = py.detach(|| {
                with_options(Some(&self.array), self.threads, false, &|options| {
                    blizzarr_core::read::read_parts(&self.array, &parts, options)
                })
            });
            done.map_err(|error| raise(py, error, Some(&self.place)))
        })
    }

    /// Writes the elements of `source` to where `axes` select.
    #[pyo3(signature = (source, axes, write_empty=false))]
    fn write(&self, source: &Bound<'_, PyAny>, axes: &Bound<'_, PyTuple>, write_empty: bool) -> PyResult<()> {
        self.writing(source, axes, write_empty, blizzarr_core::write::write)
    }

    /// The same for callers that others wait for: `False` if another writer has one of the chunks locked for longer than
    /// a moment; then all of it is to be written again.
    #[pyo3(signature = (source, axes, write_empty=false))]
    fn write_unless_locked(
        &self,
        source: &Bound<'_, PyAny>,
        axes: &Bound<'_, PyTuple>,
        write_empty: bool,
    ) -> PyResult<bool> {
        self.writing(source, axes, write_empty, blizzarr_core::write::write_unless_locked)
    }

    /// The same as `write` for several pairs of a source and axes: chunks that are stored together are, with all that is written of
    /// them. If parts share elements, the last one counts.
    #[pyo3(signature = (parts, write_empty=false))]
    fn write_parts(
        &self,
        py: Python<'_>,
        parts: Vec<(Bound<'_, PyAny>, Bound<'_, PyTuple>)>,
        write_empty: bool,
    ) -> PyResult<()> {
        entry(py, "write", Some(&self.place), || {
            let buffers = parts.iter().map(|(source, _)| Buffer::reading(source)).collect::<PyResult<Vec<_>>>()?;
            let regions = parts.iter().zip(&buffers).map(|((_, axes), buffer)| self.region(axes, buffer));
            let regions = regions.collect::<PyResult<Vec<_>>>()?;
            let origins: Vec<_> = buffers.iter().map(Buffer::origin).collect();
            let pairs: Vec<_> = regions.iter().zip(&origins).collect();
            let done = py.detach(|| {
                with_options(Some(&self.array), self.threads, write_empty, &|options| {
                    durability::call(|| blizzarr_core::write::write_parts(&self.array, &pairs, options))
                })
            });
            done.map_err(|error| raise(py, error, Some(&self.place)))
        })
    }

    /// Deletes the chunks at `places` of the grid, which are 64-bit numbers one behind the other, `rank` for each.
    fn erase(&self, places: &Bound<'_, PyAny>, rank: usize) -> PyResult<()> {
        let py = places.py();
        entry(py, "erase", Some(&self.place), || {
            let places = numbers(places)?;
            let done = py.detach(|| {
                with_options(Some(&self.array), 0, false, &|options| {
                    durability::call(|| blizzarr_core::write::erase(&self.array, &places, rank, options))
                })
            });
            done.map_err(|error| raise(py, error, Some(&self.place)))
        })
    }

    /// Checks the objects at `places` of the grid, which are 64-bit numbers one behind the other. Nothing raises: gives
    /// how many objects are there, how many are not, their bytes, how many chunks were looked at, the errors, how many
    /// more there are, in which shards how many inner chunks share bytes, and how many objects have zeros behind them.
    #[pyo3(signature = (places, sizes_only=false, threads=0))]
    fn verify<'py>(&self, places: &Bound<'py, PyAny>, sizes_only: bool, threads: usize) -> PyResult<Verified<'py>> {
        let py = places.py();
        entry(py, "check", Some(&self.place), || {
            let places = numbers(places)?;
            let depth = if sizes_only { Depth::Sizes } else { Depth::Everything };
            let done = py.detach(|| {
                with_options(Some(&self.array), threads, false, &|options| check(&self.array, &places, depth, options))
            });
            let Checked { objects, missing, bytes, surplus, first_surplus, findings } =
                done.map_err(|error| raise(py, error, Some(&self.place)))?;
            let errors = findings.errors.into_iter().map(|error| raise(py, error, Some(&self.place)).into_value(py));
            let errors = PyList::new(py, errors.collect::<Vec<_>>())?;
            let shared = findings.shared.into_iter().map(|(place, count)| Ok((PyTuple::new(py, place.iter())?, count)));
            let shared = shared.collect::<PyResult<Vec<_>>>()?;
            let surplus = (surplus, first_surplus.map(|error| raise(py, error, Some(&self.place)).into_value(py)));
            Ok((objects, missing, bytes, findings.chunks, errors, findings.left_out, shared, surplus))
        })
    }

    /// Which of the smallest inner chunks of the chunk at `indices` are stored: a byte for each, 1 or 0, in C order.
    fn stored<'py>(&self, py: Python<'py>, indices: Vec<i64>) -> PyResult<Bound<'py, PyBytes>> {
        entry(py, "look for inner chunks", Some(&self.place), || {
            if indices.len() != self.array.shape.len() {
                return Err(PyValueError::new_err(format!("expected {} indices", self.array.shape.len())));
            }
            let done = py.detach(|| stored(&self.array, &indices));
            done.and_then(|flags| to_python(py, &flags)).map_err(|error| raise(py, error, Some(&self.place)))
        })
    }

    /// Saves the intact inner chunks of a damaged shard, or removes (if `remove`) what nothing is left of. `keep` is
    /// called with the damaged bytes before they are replaced. Gives what became of it, how many inner chunks are in
    /// the new shard, and the places of those that are not.
    #[pyo3(signature = (indices, keep, remove=false, dry_run=false))]
    fn salvage<'py>(
        &self,
        py: Python<'py>,
        indices: Vec<i64>,
        keep: Py<PyAny>,
        remove: bool,
        dry_run: bool,
    ) -> PyResult<(&'static str, u64, Vec<Bound<'py, PyTuple>>)> {
        entry(py, "repair", Some(&self.place), || {
            if indices.len() != self.array.shape.len() {
                return Err(PyValueError::new_err(format!("expected {} indices", self.array.shape.len())));
            }
            let keep = |bytes: &[u8]| {
                ending::attach(|py| {
                    let kept = call(keep.bind(py), (to_python(py, bytes)?,), None);
                    kept.map(drop).map_err(|raised| foreign(py, raised))
                })
            };
            let allowed = Allowed { remove, dry_run };
            let done = py.detach(|| {
                with_options(Some(&self.array), 1, false, &|options| {
                    durability::call(|| salvage(&self.array, &indices, allowed, &keep, options))
                })
            });
            let Salvaged { outcome, kept, lost } = done.map_err(|error| raise(py, error, Some(&self.place)))?;
            let outcome = match outcome {
                Outcome::Gone => "gone",
                Outcome::Intact => "intact",
                Outcome::Rebuilt => "rebuilt",
                Outcome::Removed => "removed",
                Outcome::Hopeless => "hopeless",
            };
            let lost = lost.iter().map(|indices| PyTuple::new(py, indices)).collect::<PyResult<Vec<_>>>()?;
            Ok((outcome, kept, lost))
        })
    }

    /// The same array without its pool: what is read is what is stored.
    fn without_pool(&self, py: Python<'_>) -> PyResult<Self> {
        entry(py, "read an array without a pool", Some(&self.place), || {
            Ok(self.with_array(py, self.shaped(py, self.array.shape.clone())?, None))
        })
    }

    /// The same array, whose elements may lie beyond the stored shape.
    fn beyond(&self, py: Python<'_>) -> PyResult<Self> {
        entry(py, "look beyond the shape of an array", Some(&self.place), || {
            let mut handle = self.resized(py, self.array.shape.clone(), None)?;
            handle.array.beyond = true;
            Ok(handle)
        })
    }

    /// The same array with another shape, and perhaps with other chunks outside of the old one, sharing everything else.
    #[pyo3(signature = (shape, sides=None))]
    fn resized(&self, py: Python<'_>, shape: Vec<usize>, sides: Option<Sides<'_>>) -> PyResult<Self> {
        entry(py, "resize", Some(&self.place), || {
            let sides = sides.map(|sides| sides_of(py, sides, &shape)).transpose()?;
            let mut array = self.shaped(py, shape)?;
            array.sides = sides.or(array.sides);
            array.cache.clone_from(&self.array.cache);
            let scalar = self.scalar.as_ref().map(|scalar| scalar.clone_ref(py));
            Ok(self.with_array(py, array, scalar))
        })
    }

    /// The same array, with at most so many threads, and for reads that were asked for at this moment of its pool.
    #[pyo3(signature = (threads=None, asked=None))]
    fn with_options(&self, py: Python<'_>, threads: Option<usize>, asked: Option<u64>) -> PyResult<Self> {
        entry(py, "choose the options of an array", Some(&self.place), || {
            let handle = self.resized(py, self.array.shape.clone(), None)?;
            Ok(ArrayHandle { threads: threads.unwrap_or(self.threads), asked: asked.or(self.asked), ..handle })
        })
    }
}

/// The chunks along each axis: their length if they all have one, else lists of the lengths in runs, of the first chunk of
/// each run, and of the first element of that.
type Sides<'py> = Vec<(Option<i64>, Bound<'py, PyTuple>)>;

fn sides_of(py: Python<'_>, given: Sides<'_>, shape: &[usize]) -> PyResult<Arc<[Side]>> {
    let side = |(length, runs): (Option<i64>, Bound<'_, PyTuple>)| {
        if let Some(length) = length.filter(|&length| length > 0) {
            return Ok(Side::Even(length));
        }
        let (sizes, firsts, starts) = runs.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let side = Side::uneven(&numbers(&sizes)?, &numbers(&firsts)?, &numbers(&starts)?);
        side.map_err(|error| raise(py, error, None))
    };
    if given.len() != shape.len() {
        return Err(PyValueError::new_err(format!(
            "expected chunks along {} axes, found {}",
            shape.len(),
            given.len()
        )));
    }
    given.into_iter().map(side).collect()
}

/// The chain for chunks of a shape, from the Python function that makes it.
fn prepared(prepare: &Py<PyAny>, shape: &[usize]) -> Result<Arc<Chain>> {
    ending::attach(|py| {
        let made = PyTuple::new(py, shape).and_then(|shape| call(prepare.bind(py), (shape,), None));
        let chain = made.and_then(|made| Ok(Arc::clone(&made.cast::<PyChain>()?.get().chain)));
        chain.map_err(|raised| foreign(py, raised))
    })
}

/// The bits that are shifted out, those of minishards and of shards, whether numbers are hashed and indices compressed.
type Shards = (u32, u32, u32, bool, bool);

/// The array, whose chunks are in shards.
fn sharded(array: Array, given: Shards) -> Result<Array> {
    let (preshift_bits, minishard_bits, shard_bits, murmur, gzip_index) = given;
    let sharding = Sharding { preshift_bits, minishard_bits, shard_bits, murmur, gzip_index };
    let lengths = array.shape.iter().zip(&array.chain.shape);
    let count = lengths.map(|(&size, &length)| size.div_ceil(length.max(1)) as u64).fold(1, u64::saturating_mul);
    let (store, limit) = (Arc::clone(&array.store), array.chain.max_len() as u64);
    let store = ShardedStore::new(store, array.keys.prefix.clone(), sharding, count, limit)?;
    Ok(array.in_shards(Arc::new(store)))
}

impl ArrayHandle {
    fn with_array(&self, py: Python<'_>, array: Array, scalar: Option<Scalar>) -> Self {
        let (place, warned) = (self.place.clone_ref(py), Arc::clone(&self.warned));
        ArrayHandle { array, place, scalar, warned, threads: self.threads, asked: self.asked }
    }

    /// The chunks of this array under a shape, without a pool.
    fn shaped(&self, py: Python<'_>, shape: Vec<usize>) -> PyResult<Array> {
        let Array { store, keys, lock_key, chain, chains, sides, shards, document, .. } = &self.array;
        let made = Array::new(Arc::clone(store), keys.clone(), lock_key.clone(), shape, Arc::clone(chain));
        let mut array = made.map_err(|error| raise(py, error, Some(&self.place)))?;
        array.chains.clone_from(chains);
        array.sides.clone_from(sides);
        array.shards.clone_from(shards);
        array.document.clone_from(document);
        array.beyond = self.array.beyond;
        Ok(array)
    }

    fn writing<T: Send>(
        &self,
        source: &Bound<'_, PyAny>,
        axes: &Bound<'_, PyTuple>,
        write_empty: bool,
        write: impl Fn(&Array, &Region, &Origin<'_>, &Options<'_>) -> Result<T> + Sync,
    ) -> PyResult<T> {
        let py = source.py();
        entry(py, "write", Some(&self.place), || {
            let buffer = Buffer::reading(source)?;
            let region = self.region(axes, &buffer)?;
            let origin = buffer.origin();
            let done = py.detach(|| {
                with_options(Some(&self.array), self.threads, write_empty, &|options| {
                    durability::call(|| write(&self.array, &region, &origin, options))
                })
            });
            done.map_err(|error| raise(py, error, Some(&self.place)))
        })
    }

    fn region(&self, axes: &Bound<'_, PyTuple>, buffer: &Buffer) -> PyResult<Region> {
        let itemsize = self.array.chain.elements.itemsize;
        if buffer.itemsize != itemsize {
            let reason = format!("expected elements of {itemsize} bytes, found {}", buffer.itemsize);
            return Err(PyValueError::new_err(reason));
        }
        region(axes, &self.array.shape, buffer, &self.place)
    }
}

/// Runs `work`, on an array or on what is in memory, with options that look for signals now and then. Called without the GIL.
pub fn with_options<T>(
    array: Option<&Array>,
    threads: usize,
    write_empty: bool,
    work: &dyn Fn(&Options<'_>) -> Result<T>,
) -> Result<T> {
    let threads = if threads == 0 { pool::threads() } else { threads };
    let requests = array.map_or(0, |array| array.requests(threads));
    watching_signals(|interrupted| work(&Options { threads, requests, write_empty, interrupted }))
}

/// 64-bit numbers that lie one behind the other in a buffer.
pub fn numbers(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let buffer = Buffer::reading(object)?;
    if buffer.itemsize != 8 {
        return Err(PyValueError::new_err("expected 64-bit numbers"));
    }
    request::numbers(buffer.bytes()?).map_err(|error| raise(object.py(), error, None))
}

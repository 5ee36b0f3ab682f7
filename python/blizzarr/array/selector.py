"""Ways to select beyond integers and slices: orthogonal, by points and by chunks; large masks; fields of records.

A mask stands for the coordinates of its true elements. For a large mask, a list of these would need many times the
memory of the result. So masks of the shape of a whole array are divided into slabs along the first axis, which can be
read one after the other, because elements are selected in C order. If many elements of a slab are selected, the whole
slab is read, and the elements are selected in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any, ClassVar, Final, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from blizzarr import indexing
from blizzarr.array.binding import bind, swap_of_bytes
from blizzarr.array.facts import ArrayFacts, binding_of
from blizzarr.errors import SelectionError
from blizzarr.indexing import Lowered
from blizzarr.model import ChunkGrid
from blizzarr.stores import check_writable
from blizzarr.transfer import Binding, as_source, read, write

Lower: TypeAlias = Callable[[Any, tuple[int, ...]], Lowered]
"""A function that lowers a key of its kind, for an array of a shape."""


@contextmanager
def naming(array: ArrayFacts) -> Iterator[None]:
    """A context in which errors about keys name the array."""
    try:
        yield
    except SelectionError as error:
        error.array, error.store = array.name, str(array.store)
        raise


def lowered(array: ArrayFacts, lower: Lower, key: Any) -> Lowered:
    """Return what a key selects, for the engine; errors name the array."""
    with naming(array):
        return lower(key, array.shape)


def read_selection(
    array: ArrayFacts,
    lower: Lower,
    key: Any,
    out: npt.NDArray[Any] | None = None,
    texts: np.dtype[Any] | None = None,
) -> Any:
    """Read the elements that a key selects; for `out` and errors see `Array.get_basic_selection`.

    - `texts`: the data type of new arrays of texts, objects or NumPy's `StringDType`.
    """
    binding = binding_of(array)
    if texts is not None:
        binding = replace(binding, dtype=texts)
    return read(binding, lowered(array, lower, key), out, binding.order)


def write_selection(array: ArrayFacts, lower: Lower, key: Any, value: npt.ArrayLike) -> None:
    """Write to the elements that a key selects; for errors see `Array.__setitem__`."""
    check_writable(array.store, array.path)
    write(binding_of(array), lowered(array, lower, key), value)


class Selector:
    """An array with one way to select: index it to read, or assign to write."""

    __iter__: ClassVar[None] = None

    def __init__(self, array: ArrayFacts, lower: Lower) -> None:
        self._array = array
        self._lower = lower

    def __repr__(self) -> str:
        return f"<Selector of {self._array!r}>"

    def __getitem__(self, key: Any) -> Any:
        """Read the elements that `key` selects; for errors see `Array.__getitem__`."""
        return read_selection(self._array, self._lower, key)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        """Write to the elements that `key` selects; for errors see `Array.__setitem__`."""
        write_selection(self._array, self._lower, key, value)


# Masks of the shape of a whole array.

_LARGE: Final = 1 << 18
"""The number of elements from which on a mask is divided into slabs."""
_SLAB_BYTES: Final = 32 << 20
"""The largest number of bytes in a slab, unless a row of chunks has more."""
_DENSE: Final = 32
"""A slab is read as a whole if at least one in this many of its elements is selected."""
_BOX_BYTES: Final = 64 << 20
"""The largest number of bytes of a slab that is read as a whole."""

Mask = npt.NDArray[np.bool_]


def is_large_mask(key: Any, shape: tuple[int, ...]) -> TypeGuard[Mask]:
    """Return whether a key is a mask of the whole array that should be divided into slabs."""
    return isinstance(key, np.ndarray) and key.dtype == bool and key.shape == shape and key.size >= _LARGE


def read_mask(binding: Binding, mask: Mask, grid: ChunkGrid) -> npt.NDArray[Any]:
    """Read the elements where the mask is true, in C order."""
    elements = np.empty(np.count_nonzero(mask), binding.dtype)
    for start, part, where in _slabs(mask, grid, binding.dtype.itemsize):
        count = where.stop - where.start
        if count * _DENSE >= part.size and part.size * binding.dtype.itemsize <= _BOX_BYTES:
            box = read(binding, indexing.basic(slice(start, start + len(part)), mask.shape))
            elements[where] = box[part]
        else:
            elements[where] = read(binding, indexing.coordinate(_coordinates(part, start), mask.shape))
    return elements


def write_mask(binding: Binding, mask: Mask, grid: ChunkGrid, value: npt.ArrayLike) -> None:
    """Write to the elements where the mask is true; no other elements are written."""
    source = as_source(value, (int(np.count_nonzero(mask)),), binding.dtype)
    for start, part, where in _slabs(mask, grid, binding.dtype.itemsize):
        write(binding, indexing.coordinate(_coordinates(part, start), mask.shape), source[where])


def _slabs(mask: Mask, grid: ChunkGrid, itemsize: int) -> Iterator[tuple[int, Mask, slice]]:
    """Iterate over slabs with true elements: the index where each begins, its mask, and its place in the result."""
    edges, length = grid.edges[0], _SLAB_BYTES // max(prod(mask.shape[1:]) * itemsize, 1)
    done = stop = 0
    while (start := stop) < mask.shape[0]:
        # As many rows of chunks as fit, but at least one.
        stop = max(edges.start(edges.locate(start)[0] + 1), edges.start(edges.locate(start + length)[0]))
        part = mask[start:stop]
        count = int(np.count_nonzero(part))
        if count:
            yield start, part, slice(done, done + count)
            done += count


def _coordinates(part: Mask, start: int) -> tuple[npt.NDArray[np.intp], ...]:
    first, *others = indexing.true_indices(part)
    return first + start, *others


# Fields of records.


def is_fields(key: Any) -> bool:
    """Return whether a key is the name of a field, or a list of names, as for NumPy.

    >>> is_fields("a"), is_fields(["a", "b"]), is_fields([1]), is_fields([])
    (True, True, False, False)
    """
    return isinstance(key, str) or (isinstance(key, list) and bool(key) and all(isinstance(name, str) for name in key))


def take_fields(records: Any, names: str | Sequence[str]) -> Any:
    """Return one field of records, or records of several, in memory of their own.

    Raise `SelectionError` if there is no such field.
    """
    from numpy.lib.recfunctions import repack_fields

    for name in [names] if isinstance(names, str) else names:
        _field(records.dtype, name)
    taken = records[names if isinstance(names, str) else list(names)]
    return taken.copy() if isinstance(names, str) else repack_fields(taken)


def write_field(array: ArrayFacts, lower: Lower, key: Any, name: str, value: npt.ArrayLike) -> None:
    """Write to one field of the records that are selected; the others stay, whoever writes these at the same time.

    Raise `SelectionError` if there is no such field. For other errors see `Array.__setitem__`.
    """
    check_writable(array.store, array.path)
    metadata = array.metadata
    dtype, offset = _field(metadata.dtype.numpy, name)
    shape, axes, _ = lowered(array, lower, key)
    source = np.array(as_source(value, (*shape, *dtype.shape), dtype.base), order="C")
    if swap_of_bytes(metadata):
        source = source.byteswap()
    raw = np.frombuffer(source.tobytes(), np.uint8).reshape(*shape, dtype.itemsize)
    write_empty = binding_of(array).write_empty
    binding = replace(bind(array.store, array.path, metadata, by_bytes=True), write_empty=write_empty)
    write(binding, (raw.shape, (*axes, (len(shape), offset, 1)), False), raw)


def write_fields(array: ArrayFacts, names: str | Sequence[str], value: npt.ArrayLike) -> None:
    """Write to one field of all records, or to several, which take those of the value in their order.

    Raise `SelectionError` if there is no such field. For other errors see `Array.__setitem__`.
    """
    if isinstance(names, str):
        write_field(array, indexing.basic, ..., names, value)
        return
    for name in names:
        _field(array.dtype, name)
    records = as_source(value, array.shape, array.dtype[list(names)])
    for name in names:
        write_field(array, indexing.basic, ..., name, records[name])


def _field(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], int]:
    """Return the data type of a field, and its offset in a record."""
    if dtype.names is None:
        raise SelectionError(
            f"expected integers, slices and arrays as indices, found the name {name!r}; only records "
            f"have fields, and these elements are {dtype}",
            index=name,
        )
    if name not in dtype.names:
        raise SelectionError(
            f"expected the name of a field ({', '.join(map(repr, dtype.names))}), found {name!r:.80}", index=name
        )
    fields = dtype.fields
    assert fields is not None, "as there are names"
    return fields[name][0], fields[name][1]

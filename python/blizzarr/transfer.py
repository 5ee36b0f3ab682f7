"""The only two functions that move the elements of arrays: `read` and `write`.

Both cross into the engine once, with plain data: a buffer, and what the selection was lowered to. What NumPy does
around an assignment (conversion, broadcasting, their errors) is done here, before anything is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NoReturn, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.config import config
from blizzarr.dtypes.elements import as_elements, in_memory, null_count, refuse_nulls, texts_of
from blizzarr.errors import LimitError, OutOfBoundsError, SelectionError, UnsupportedOperationError
from blizzarr.indexing.selection import Axes, Lowered
from blizzarr.lazy_imports import is_instance
from blizzarr.model import ChunkGrid
from blizzarr.model.edges import NativeEdges
from blizzarr.problems import warn

Order: TypeAlias = Literal["C", "F"]
_LARGE: int = _native.ResultMemory.FROM
_HUGE = 1 << 62


class Handle(Protocol):
    """The methods of ``_native.ArrayHandle``, which has the chunks of one array, with its codecs and its store."""

    def read(self, out: Any, axes: Axes, /) -> BaseException | None:
        """Fill the buffer `out` with what the axes pick; return what to warn of once per array, if anything."""

    def write(self, source: Any, axes: Axes, write_empty: bool = False, /) -> None:
        """Put the buffer `source` where the axes point; chunks of nothing but fill are stored if `write_empty`."""

    def write_parts(self, parts: Sequence[tuple[Any, Axes]], write_empty: bool = False, /) -> None:
        """Put each buffer where the axes beside it point; chunks that are stored together are replaced once."""

    def erase(self, places: Any, rank: int, /) -> None:
        """Delete the chunks at these places of the grid, `rank` 64-bit integers for each."""

    def resized(self, shape: tuple[int, ...], sides: list[NativeEdges] | None = None, /) -> Handle:
        """The same chunks under another shape, outside of which there may be others than were known."""

    def beyond(self) -> Handle:
        """The same chunks, where elements may lie beyond the stored shape."""

    def without_pool(self) -> Handle:
        """The same chunks, read from the store whatever a pool has of them."""


@dataclass(frozen=True, slots=True)
class Binding:
    """An array as the engine knows it."""

    handle: Handle
    dtype: np.dtype[Any]
    write_empty: bool | None = None
    """True or False if that decides whether chunks of nothing but fill are stored; None if the settings decide."""
    element: Callable[[Any], Any] | None = None
    """The function that returns the element at a key of integers if a cache has it, else None; None without a cache."""

    lifetime: object = None
    """The objects that must live as long as the array does."""

    document: _native.Document | None = None
    """The document that the engine compares with the stored one."""

    order: Order = "C"
    """The memory order of new arrays that users read into."""

    @property
    def stores_empty(self) -> bool:
        """True if chunks of nothing but fill are stored now."""
        return config.write_empty_chunks if self.write_empty is None else self.write_empty

    def resized(self, shape: tuple[int, ...], grid: ChunkGrid | None = None) -> Binding:
        """The same chunks under another shape; with the `grid` of that if it may have more chunks."""
        sides = None if grid is None else grid.native
        handle = self.handle.resized(shape) if sides is None else self.handle.resized(shape, sides)
        element = None if self.element is None else getattr(handle, "element", None)
        return Binding(handle, self.dtype, self.write_empty, element, self.lifetime, self.document, self.order)

    def beyond(self) -> Binding:
        """The same chunks, where elements may lie beyond the stored shape: they are about to be shown, or erased."""
        return Binding(self.handle.beyond(), self.dtype, self.write_empty, None, self.lifetime, self.document)

    def without_pool(self) -> Binding:
        """The same for reads that decide what is written or erased: a pool may have what others have replaced since."""
        return Binding(self.handle.without_pool(), self.dtype, self.write_empty, document=self.document)

    def compare(self, shape: tuple[int, ...] = ()) -> None:
        """Raise an error if somebody has replaced the array, or if it no longer has all elements of this shape."""
        if self.document is not None:
            self.document.compare(shape)

    def learn(self, document: bytes | None, shape: tuple[int, ...]) -> None:
        """Take over a document of this array that was just read, so that the engine need not decode it."""
        if self.document is not None and document is not None:
            self.document.learn(document, shape)


def read(binding: Binding, lowered: Lowered, out: npt.NDArray[Any] | None = None, order: Order = "C") -> Any:
    """Read a selection: a new array, a scalar where NumPy gives one, or `out` itself when that is given.

    Raise `LimitError` when there is no memory for the result, `SelectionError` when it has too many dimensions for
    NumPy. Raise `OutOfBoundsError` when the array has become shorter since the selection was lowered. Raise
    `ValueError` or `TypeError` when `out` does not fit.

    - `binding`: the array.
    - `lowered`: the selection.
    - `out`: where to put the elements; any strides, but exactly this shape and the array's data type. For elements that
      are texts, NumPy's `StringDType` is another one.
    - `order`: the memory order of a new array.
    """
    shape, axes, scalar = lowered
    if out is None:
        try:
            # Small results, the most frequent, save the call.
            is_small = prod(shape) * binding.dtype.itemsize < _LARGE
            made = np.empty if is_small else empty_result
            result = made(shape, binding.dtype, order)
        except (MemoryError, ValueError) as error:
            _check_rank(shape)
            raise LimitError(
                f"expected memory for a result of shape {shape} and {binding.dtype}, found none ({error}); "
                "read a part at a time"
            ) from error
    else:
        _check_out(out, shape, binding.dtype)
        result, scalar = out, False
    surplus = None
    if axes or not shape:
        if result.size:
            try:
                surplus = binding.handle.read(result, axes)
            except IndexError as error:
                _refuse_cut_off(error)
    elif result.size:
        # The only element of an array without axes, repeated over the selection.
        element = np.empty((), binding.dtype)
        surplus = binding.handle.read(element, axes)
        result[...] = element
    if surplus is not None:
        warn(f"{surplus}; they are ignored, but other readers refuse such chunks")
    return result[()] if scalar else result


def empty_result(shape: tuple[int, ...], dtype: np.dtype[Any], order: Order = "C") -> npt.NDArray[Any]:
    """Return an array whose elements are not set; a large one in memory that is kept for the next result.

    Memory that is used again is not cleared by the operating system.
    """
    length = prod(shape) * dtype.itemsize
    if _LARGE <= length < _HUGE and not dtype.hasobject:
        memory = cast("memoryview[int]", _native.ResultMemory(length))
        return np.ndarray(shape, dtype, memory, order=order)
    return np.empty(shape, dtype, cast("Any", order))


def write(binding: Binding, lowered: Lowered, value: npt.ArrayLike) -> None:
    """Write a value to a selection, converted and broadcast as NumPy does in an assignment.

    Where a selection has an element more than once, the last value counts.

    Raise `OutOfBoundsError` when the array has become shorter since the selection was lowered; nothing is written.
    """
    shape, axes, scalar = lowered
    # An object may be a list or an array itself.
    if scalar and not binding.dtype.hasobject and binding.dtype.names is None and np.ndim(value):
        raise ValueError(f"expected a scalar for a single element, found a value of shape {np.shape(value)}")
    source = as_source(value, shape, binding.dtype)
    if source.size:
        if not axes:
            source = source[(-1,) * source.ndim + (...,)]
        write_empty = binding.stores_empty
        try:
            binding.handle.write(source, axes, write_empty)
        except UnsupportedOperationError:
            if write_empty:
                raise
            # The store cannot delete (zip files): a chunk that is nothing but fill from now on is overwritten.
            binding.handle.write(source, axes, True)
        except IndexError as error:
            _refuse_cut_off(error)


def write_parts(binding: Binding, parts: Sequence[tuple[Lowered, npt.NDArray[Any]]]) -> None:
    """Write several selections, each with elements of its shape and the array's data type.

    Chunks that share a stored value are gathered from all of them, and the value is replaced once. If selections share
    elements, the last one counts.
    """
    pairs = [(as_source(source, shape, binding.dtype), axes) for (shape, axes, _), source in parts]
    try:
        binding.handle.write_parts(pairs, binding.stores_empty)
    except IndexError as error:
        _refuse_cut_off(error)


def _refuse_cut_off(error: IndexError) -> NoReturn:
    """Raise the error of a selection that was inside the array when it was made, and is no longer.

    The engine's own `IndexError` says nothing else; what stores and codecs in Python raise is in errors of ours.
    """
    if type(error) is not IndexError:
        raise error
    raise OutOfBoundsError(f"{error}; the array has become shorter since the elements were selected") from error


def as_source(value: npt.ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The value as an array of this shape and data type, as NumPy makes it in an assignment; repeated by strides of 0.

    >>> as_source([[1.9, 2]], (3, 2), np.dtype("int16"))
    array([[1, 2],
           [1, 2],
           [1, 2]], dtype=int16)
    """
    source = _as_objects(value, shape) if dtype.hasobject else as_elements(value, dtype)
    if source.shape == shape:
        return source
    given = source.shape
    # Dimensions of length 1 in front may be too many, as everywhere in NumPy's assignments.
    extra = source.ndim - len(shape)
    if extra > 0 and all(length == 1 for length in given[:extra]):
        source = source.reshape(given[extra:])
    try:
        return np.broadcast_to(source, shape)
    except ValueError:
        _check_rank(shape)
        raise ValueError(
            f"expected a value that broadcasts to the selection's shape {shape}, found shape {given}"
        ) from None


def _check_rank(shape: tuple[int, ...]) -> None:
    """Raise `SelectionError` if a selection has more dimensions than arrays of NumPy."""
    try:
        np.empty((0,) * len(shape))
    except ValueError as error:
        raise SelectionError(f"expected a selection of fewer dimensions, found {len(shape)} ({error})") from None


def _as_objects(value: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """A value as an array of objects; which lists are sequences of elements and which are elements, the shape tells."""
    value = in_memory(value)
    if is_instance(value, "numpy.ma:MaskedArray") and (count := null_count(value)):
        raise refuse_nulls(count)
    if hasattr(value, "__array__") and not isinstance(value, np.generic) and not getattr(value, "ndim", 1):
        value = np.asarray(value)[()]
    value = value if (texts := texts_of(value)) is None else texts
    if isinstance(value, np.ndarray) and shape:
        # NumPy's texts stay what they are: the engine takes them without making objects.
        are_texts = value.dtype.kind == "T" and not hasattr(value.dtype, "na_object")
        return value if are_texts else value.astype(np.object_, copy=False)
    has_elements = hasattr(value, "__array__") or (hasattr(value, "__len__") and not hasattr(value, "keys"))
    if isinstance(value, str | bytes | np.generic) or not has_elements:
        # Of a group and other mappings NumPy would take the names.
        shape = ()
    made = np.empty(shape, np.object_)
    try:
        made[()] = value
    except ValueError as error:
        raise ValueError(f"expected a value that broadcasts to the selection's shape {shape} ({error})") from None
    return made


def _check_out(out: npt.NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray):
        advice = "; pass its numpy()" if callable(getattr(out, "numpy", None)) else ""
        raise TypeError(f"expected a NumPy array as out=, found {type(out).__name__}{advice}")
    if out.shape != shape:
        raise ValueError(f"expected out= with the selection's shape {shape}, found shape {out.shape}")
    if out.dtype != dtype and not (dtype.hasobject and out.dtype.kind == "T"):
        raise TypeError(
            f"expected out= of data type {dtype}, found {out.dtype}; read without out= and convert with .astype()"
        )
    if not out.flags.writeable:
        raise ValueError("expected out= to be writeable, found a read-only array; pass a copy")
    if not (out.flags.forc or _is_apart(out)):
        raise ValueError(f"expected out= with every element in a place of its own, found strides {out.strides}")


def _is_apart(out: npt.NDArray[Any]) -> bool:
    """Return whether no two elements share memory: every stride steps over all that the smaller strides reach."""
    reach = out.itemsize
    for stride, length in sorted((abs(stride), length) for stride, length in zip(out.strides, out.shape, strict=True)):
        if length > 1:
            if stride < reach:
                return False
            reach = stride * (length - 1) + reach
    return True

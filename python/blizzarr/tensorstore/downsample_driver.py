"""A downsampled view: each of its elements stands for a block, and equals TensorStore's result to the bit.

The engine reduces the numbers that NumPy has (`_NATIVE`). Narrower numbers are converted to such a type and back, and a
complex number is reduced as two. The most frequent of other elements is counted here.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.config import config
from blizzarr.errors import BlizzarrError, NotReadableError, NotWritableError, SpecError, ViewOutOfBoundsError
from blizzarr.indexing.form import ArrayMap, Form, Map, dims_of
from blizzarr.indexing.interval import UNBOUNDED
from blizzarr.indexing.layout import through
from blizzarr.indexing.selection import Axis
from blizzarr.json_values import braces, dump
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.drivers.adapters import DOWNSAMPLE_METHODS, blocks_of_view, downsampled_domain, firsts_of_blocks
from blizzarr.spec.dtype import DType, element_dtype
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import fill_of_view, layout_of_view, units_of_view
from blizzarr.tensorstore.conversion import pieces
from blizzarr.tensorstore.driver import AdaptedDriver, Chunk, Driver, Elements, Shared, put_into, resolved_view
from blizzarr.tensorstore.picking import picked
from blizzarr.transfer import empty_result
from blizzarr.views import IndexDomain, domain_of, transform_of
from blizzarr.views.compose import compose, cut, indices_of

_QUICK = 1 << 16
"""Work on more elements than these is always handed to another thread."""


class _Needed(NamedTuple):
    """The elements that a view of blocks is computed from."""

    part: Form
    edges: list[npt.NDArray[np.int64]] | None
    """Along each dimension the boundaries of the blocks; None if elements are taken as they are."""
    axes: tuple[Axis, ...] | None
    """How the results make up the view; None if they are the view."""


class DownsampleDriver(AdaptedDriver):
    """A driver whose elements are computed from blocks of a view of another driver."""

    name = "downsample"
    writable = False

    def __init__(self, original: Driver, view: Form, factors: tuple[int, ...], method: str) -> None:
        if method not in DOWNSAMPLE_METHODS:
            known = ", ".join(map(dump, DOWNSAMPLE_METHODS))
            raise SpecError(f"Expected one of {known}, but received: {dump(method)}")
        if len(factors) != view.rank:
            raise SpecError(
                f"Number of downsample factors ({len(factors)}) does not match TensorStore rank ({view.rank})"
            )
        if any(factor < 1 for factor in factors):
            raise SpecError(f"Downsample factors {braces(factors)} are not all positive")
        if not original.readable:
            raise NotReadableError("Cannot downsample write-only TensorStore")
        name, is_complex = original.dtype.name, original.dtype.name.startswith("complex")
        if method not in ("stride", "mode") and (name in _NO_NUMBERS or (is_complex and method != "mean")):
            raise SpecError(f'Downsample method "{method}" does not support data type "{name}"')
        super().__init__(original)
        self._view = view
        self._factors = factors
        self._method = method
        self.dtype = original.dtype

    def _current_view(self) -> Form:
        return self.original.current(self._view)

    @property
    def domain(self) -> IndexDomain:
        """The domain of the original, divided by the factors."""
        return downsampled_domain(domain_of(self._current_view()), self._factors, self._method)

    @property
    def schema(self) -> Schema:
        """The schema of the original, as far as chunks consist of whole blocks and all elements have one fill value."""
        base, firsts = self.original.schema, firsts_of_blocks(self._factors)
        layout = layout_of_view(layout_of_view(base.chunk_layout, self._view), firsts)
        units = units_of_view(units_of_view(base.dimension_units or (), self._view), firsts)
        fill = base.fill_value
        fill = None if fill is None else fill_of_view(fill, self._view, self.original.domain)
        fill = None if fill is None or fill.ndim else fill
        return schema_of(self.dtype, self._view.rank, None, layout, units, base.codec, fill)

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        return SpecNode(
            "downsample",
            Schema(dtype=self.dtype, rank=self.rank),
            transform_of(form),
            bases=(self.original.spec_of(self._view, minimal),),
            options={"factors": self._factors, "method": self._method},
        )

    def base(self, form: Form) -> tuple[Driver, Form] | None:
        """The elements of the original that the view stands for; all of it for views with steps or index arrays."""
        whole = self._current_view()
        part = blocks_of_view(form, whole, self._factors)
        return self.original, self._view if part is None else compose(whole, part)

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        if 0 in form.shape:
            return np.empty(form.shape, element_dtype(self.dtype)) if out is None else out
        part, edges, axes = self._needed(form)
        if edges is None:
            return self.original.read(part, out, batch)
        if prod(part.shape) * self.dtype.numpy_dtype.itemsize > config.copy_bytes:
            boxes = list(self._boxes(form))
            if len(boxes) > 1:
                result = np.empty(form.shape, element_dtype(self.dtype)) if out is None else out
                for box in boxes:
                    starts = zip(box.lower, box.upper, form.lower, strict=True)
                    self.read(cut(form, box), result[tuple([slice(a - at, b - at) for a, b, at in starts])], batch)
                return result
        elements = self.original.read(part, None, batch)
        if axes is None:
            return reduce_blocks(elements, edges, self._method, self.dtype, out)
        reduced = reduce_blocks(elements, edges, self._method, self.dtype)
        selected = picked(reduced, (form.shape, axes, False))
        if out is None and not selected.flags.c_contiguous:
            selected = np.ascontiguousarray(selected).reshape(form.shape)
        return put_into(out, selected)

    def _boxes(self, form: Form) -> Iterator[Form]:
        """The domain of a view in boxes that take little memory, each of about the blocks of whole chunks."""
        chunk = layout_of_view(self.original.schema.chunk_layout, self._view).read_chunk.shape or (0,) * self.rank
        lengths = [length and max(1, length // factor) for length, factor in zip(chunk, self._factors, strict=True)]
        layout = layout_of_view(ChunkLayout(write_chunk_shape=lengths), form)
        return pieces(form, self.dtype.numpy_dtype.itemsize * prod(self._factors), layout)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        part = self._part(form) if prod(form.shape) * prod(self._factors) <= _QUICK else None
        return part is not None and self.original.is_quick(part)

    def decoded(self, form: Form) -> set[Chunk]:
        part = self._part(form)
        return set() if part is None else self.original.decoded(part)

    def _part(self, form: Form) -> Form | None:
        """Return the elements of the original that a view needs; None if it needs none, or cannot be read."""
        try:
            return None if 0 in form.shape else self._needed(form).part
        except BlizzarrError:
            # The read that follows raises it again.
            return None

    def _needed(self, form: Form) -> _Needed:
        """Return the elements that a view is computed from."""
        whole = self._current_view()
        # A block of one element is that element, also where it is no number, which is neither larger nor smaller.
        if self._method == "stride" or prod(self._factors) == 1:
            part = form._replace(
                maps=tuple([_times(map_, factor) for map_, factor in zip(form.maps, self._factors, strict=True)])
            )
            simple = not any(isinstance(map_, ArrayMap) for map_ in form.maps)
            return _Needed(through(whole, part.maps, *part[:5]) if simple else compose(whole, part), None, None)
        maps: list[Map] = []
        edges: list[npt.NDArray[np.int64]] = []
        axes: list[Axis] = []
        as_is = form.rank == len(form.maps)
        for dim, (map_, factor) in enumerate(zip(form.maps, self._factors, strict=True)):
            bounds = whole.lower[dim], whole.upper[dim]
            if isinstance(map_, int):
                own: int | ArrayMap
                own, begins = _neighbours(map_, map_, factor, bounds)
                axes.append(0)
            elif isinstance(map_, tuple) and map_[2] in (1, -1):
                along, offset, stride = map_
                one, other = offset + stride * form.lower[along], offset + stride * (form.upper[along] - 1)
                own, begins = _neighbours(min(one, other), max(one, other), factor, bounds)
                axes.append((along, 0, 1) if stride > 0 else (along, abs(other - one), -1))
            else:
                blocks, order = np.unique(indices_of(form, map_), return_inverse=True)
                first, last = int(blocks[0]), int(blocks[-1])
                if 2 * len(blocks) > last - first:
                    # The blocks in between are read, too, which is faster than reading each wanted block alone.
                    own, begins = _neighbours(first, last, factor, bounds)
                    order = (blocks - first)[order]
                else:
                    own, begins = _scattered(blocks, factor, bounds, dim, len(form.maps))
                axes.append((dims_of(map_), order.reshape(-1)))
            as_is = as_is and axes[-1] == (dim, 0, 1)
            edges.append(begins)
            maps.append((dim, own, 1) if isinstance(own, int) else own)
        part = Form.of_shape(tuple([int(begins[-1]) for begins in edges]))
        return _Needed(through(whole, maps, *part[:5]), edges, None if as_is else tuple(axes))

    def write(self, form: Form, source: Elements) -> None:
        raise NotWritableError("Destination does not support writing.")

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        original, view = resolved_view(self.original, self._view, fix_resizable_bounds)
        return self.over(original, _view=view)

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        whole = self._current_view()
        lower, upper = list(whole.lower), list(whole.lower)
        for dim, (map_, factor) in enumerate(zip(form.maps, self._factors, strict=True) if 0 not in form.shape else ()):
            index = indices_of(form, map_)
            lower[dim] = max(int(index.min()) * factor, whole.lower[dim])
            upper[dim] = min((int(index.max()) + 1) * factor, whole.upper[dim])
        part = whole.domain._replace(lower=tuple(lower), upper=tuple(upper))
        return self.original.storage_statistics(cut(self._view, part))


def _times(map_: Map, factor: int) -> Map:
    """Return a map from the numbers of blocks to their first elements."""
    if isinstance(map_, int):
        return map_ * factor
    if isinstance(map_, ArrayMap):
        return ArrayMap(map_.offset * factor, map_.stride * factor, map_.array, map_.dims, map_.bounds)
    return map_[0], map_[1] * factor, map_[2] * factor


def _neighbours(first: int, last: int, factor: int, bounds: tuple[int, int]) -> tuple[int, npt.NDArray[np.int64]]:
    """Return the first element of adjacent blocks, and the boundaries of the blocks counted from there."""
    low, high = max(first * factor, bounds[0]), min((last + 1) * factor, bounds[1])
    if high <= max(low, last * factor) or low >= (first + 1) * factor:
        raise ViewOutOfBoundsError(
            f"OUT_OF_RANGE: Blocks of {factor} from {first} to {last} are outside valid range "
            f"[{bounds[0]}, {bounds[1]})"
        )
    edges = np.arange(first * factor - low, (last + 1) * factor - low + 1, factor, dtype=np.int64)
    edges[0], edges[-1] = 0, high - low
    return low, edges


def _scattered(
    blocks: npt.NDArray[np.int64], factor: int, bounds: tuple[int, int], dim: int, rank: int
) -> tuple[int | ArrayMap, npt.NDArray[np.int64]]:
    """Return the elements of blocks at any ascending positions, and the boundaries of the blocks among them."""
    first, last = np.maximum(blocks * factor, bounds[0]), np.minimum((blocks + 1) * factor, bounds[1])
    edges = np.concatenate([[0], np.cumsum(last - first)])
    if edges[-1] == last[-1] - first[0]:
        return int(first[0]), edges
    # Each element has the same distance from the first of its block as among the elements that are read.
    elements = np.arange(int(edges[-1])) + np.repeat(first - edges[:-1], last - first)
    extent = [1] * rank
    extent[dim] = len(elements)
    return ArrayMap(0, 1, elements.reshape(extent), (dim,), UNBOUNDED), edges


_NATIVE: Final = frozenset(
    ["bool", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
)
"""The data types that the engine downsamples."""

_NO_NUMBERS: Final = ("string", "ustring", "json", "char", "byte")


def reduce_blocks(
    elements: npt.NDArray[Any],
    edges: list[npt.NDArray[np.int64]],
    method: str,
    dtype: DType,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Compute one element for each block, by a method other than ``"stride"``, which computes nothing.

    - `edges`: for each dimension where the blocks begin, and where the last one ends.

    >>> edges = [np.array([0, 1]), np.array([0, 1, 3])]
    >>> reduce_blocks(np.array([[1, 2, 5]]), edges, "mean", DType("int64"))
    array([[1, 4]])
    """
    result = empty_result(tuple([len(ends) - 1 for ends in edges]), elements.dtype) if out is None else out
    if not edges:
        result[...] = elements
    elif dtype.name in _NATIVE:
        by = "mean" if dtype.name == "bool" and method in ("median", "mode") else method
        # The engine writes results side by side only.
        reduced = result if result.flags.c_contiguous else np.empty(result.shape, result.dtype)
        _reduce(elements, edges, by, dtype.name, reduced)
        if reduced is not result:
            result[...] = reduced
    elif elements.dtype.kind == "c" and method == "mean":
        real = elements.real.dtype
        means = np.empty((*result.shape, 2), real)
        _reduce(np.ascontiguousarray(elements)[..., None].view(real), [*edges, np.arange(3)], "mean", real.name, means)
        result[...] = means.view(elements.dtype)[..., 0]
    elif elements.dtype.kind == "c" or dtype.name in _NO_NUMBERS:
        for position in np.ndindex(result.shape):
            block = elements[tuple([slice(*ends[at : at + 2]) for ends, at in zip(edges, position, strict=True)])]
            result[position] = _most_frequent(block)
    else:
        wide = np.dtype(np.int8 if dtype.name.startswith("int") else np.float32)
        reduced = np.empty(result.shape, wide)
        with np.errstate(all="ignore"):
            _reduce(elements.astype(wide), edges, method, wide.name, reduced)
            result[...] = reduced.astype(elements.dtype)
    return result


def _reduce(
    elements: npt.NDArray[Any], edges: list[npt.NDArray[np.int64]], method: str, name: str, result: npt.NDArray[Any]
) -> None:
    """Let the engine reduce blocks of elements of this data type."""
    # Dimensions of one element change nothing; rows of one element would take long.
    kept = [dim for dim, length in enumerate(elements.shape) if length != 1] or [0]
    side_by_side = np.ascontiguousarray(elements).reshape([elements.shape[dim] for dim in kept])
    room = result.reshape([result.shape[dim] for dim in kept])
    _native.reduce(side_by_side, room, [edges[dim] for dim in kept], method, name)


def _most_frequent(block: npt.NDArray[Any]) -> Any:
    """Return the most frequent element; of several, the first in order."""
    if not block.dtype.itemsize:
        return block.flat[0]
    same: dict[Any, list[Any]] = {}
    for element in block.reshape(-1).tolist():
        same.setdefault(_order_of(element), []).append(element)
    most = max(map(len, same.values()))
    return same[min(key for key, elements in same.items() if len(elements) == most)][0]


def _order_of(value: Any) -> tuple[int, Any]:
    """Return the sorting key of an element.

    JSON values are ordered by their kind: null, booleans, numbers, objects, arrays, strings.
    """
    if isinstance(value, complex):
        return 2, (value.real, value.imag)
    if isinstance(value, str | bytes):
        return 5, value
    if isinstance(value, dict | list):
        return (3 if isinstance(value, dict) else 4), dump(value)
    return (0, 0) if value is None else (1 if isinstance(value, bool) else 2, value)

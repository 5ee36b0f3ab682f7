"""The part of an array that a picture shows, read with strides so that a huge array stays cheap.

A region keeps a Python `range` for each axis that is shown and one index for each that is not; slicing a range with a
step gives the range of the samples. Nothing is averaged: a sample is an element of the array.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from blizzarr.display.coordinates import Coordinates, unpacked
from blizzarr.errors import SelectionError
from blizzarr.formats.masked_value import follows_xarray, masked_value
from blizzarr.indexing.dialect import spread
from blizzarr.indexing.keys import as_items, index_in_bounds
from blizzarr.model import ArrayMeta

BUDGET: Final = 16 << 30
"""The most decoded bytes in the chunks of one picture; beyond them, fewer elements are sampled."""
_FEWEST: Final = 16
"""The least number of samples along an axis, whatever they cost."""


class Pictured(Protocol):
    """An array that can be shown: ours or NumPy's."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __getitem__(self, key: Any, /) -> Any: ...


def chunk_lengths(array: Pictured) -> tuple[int, ...] | None:
    """Return the lengths of the largest chunk of an array; None for one that has no chunks."""
    meta = getattr(array, "metadata", None)
    if isinstance(meta, ArrayMeta):
        return meta.read_grid.inside(meta.shape)
    # Arrays of Dask, and those of xarray that have some, list the length of each chunk.
    chunks = getattr(array, "chunks", None)
    return chunks and tuple(max(axis, default=1) if isinstance(axis, tuple) else axis for axis in chunks)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis that is shown: its number in the array, its name, and the indices along it."""

    number: int
    name: str
    indices: range
    coordinates: Coordinates | None = None
    """The coordinates of all indices of the array's axis."""

    def __len__(self) -> int:
        return len(self.indices)


@dataclass(frozen=True, slots=True)
class Region:
    """The axes that are shown, and the indices along the other axes."""

    array: Pictured
    axes: tuple[Axis, ...]
    fixed: tuple[tuple[int, int], ...]
    """Pairs of axis number and index."""
    names: tuple[str, ...]
    """The names of all axes."""
    coordinates: Mapping[int, Coordinates] = field(default_factory=dict)
    """The coordinates by the number of their axis."""

    @classmethod
    def of(
        cls,
        array: Pictured,
        key: Any = ...,
        coordinates: Mapping[int, Coordinates] | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Return the region that a basic key (integers, slices, ``...``) picks.

        >>> region = Region.of(np.zeros((10, 20)), (3, slice(None, None, 2)))
        >>> region.axes, region.fixed
        ((Axis(number=1, name='axis 1', indices=range(0, 20, 2), coordinates=None),), ((0, 3),))
        """
        shape = tuple(array.shape)
        given = names or getattr(array, "dimension_names", None) or [None] * len(shape)
        names = tuple(name or f"axis {number}" for number, name in enumerate(given))
        axes, fixed = [], []
        for number, item in enumerate(spread(as_items(key, len(shape)), len(shape))):
            if isinstance(item, slice):
                beside = None if coordinates is None else coordinates.get(number)
                axes.append(Axis(number, names[number], range(shape[number])[item], beside))
            elif isinstance(item, int):
                fixed.append((number, index_in_bounds(item, shape[number], number)))
            else:
                expected = "expected integers, slices and at most one '...' to choose what is shown"
                raise SelectionError(f"{expected}, found {key!r}", index=key)
        return cls(array, tuple(axes), tuple(fixed), names, coordinates or {})

    def at(self, position: int, index: int) -> Self:
        """Return the region without the axis at `position`, at the `index`-th of its indices."""
        axis = self.axes[position]
        kept = self.axes[:position] + self.axes[position + 1 :]
        return replace(self, axes=kept, fixed=(*self.fixed, (axis.number, axis.indices[index])))

    def narrowed(self, position: int, part: slice) -> Self:
        """Return the region with a part of the axis at `position`."""
        axis = self.axes[position]
        narrow = replace(axis, indices=axis.indices[part])
        return replace(self, axes=(*self.axes[:position], narrow, *self.axes[position + 1 :]))

    def every(self, steps: Sequence[int]) -> Self:
        """Return the region with every n-th index of each axis."""
        taken = [replace(axis, indices=axis.indices[::step]) for axis, step in zip(self.axes, steps, strict=True)]
        return replace(self, axes=tuple(taken))

    def affordable(self, budget: int = BUDGET) -> Self:
        """Return the region with samples far enough apart that the chunks to be read fit the budget."""
        lengths = chunk_lengths(self.array) or (1,) * len(self.names)
        chunk_bytes = math.prod(lengths) * self.array.dtype.itemsize
        region = self
        while True:
            touched = [
                min(len(axis), abs(axis.indices.step) * len(axis) // lengths[axis.number] + 1) for axis in region.axes
            ]
            if math.prod(touched) * chunk_bytes <= budget:
                return region
            open_axes = [number for number, axis in enumerate(region.axes) if len(axis) >= 2 * _FEWEST]
            if not open_axes:
                return region
            most = max(open_axes, key=lambda number: touched[number])
            region = region.every([2 if number == most else 1 for number in range(len(region.axes))])

    def read(self) -> NDArray[Any]:
        """Return the elements, with one dimension for each axis that is shown."""
        key: list[int | slice] = [0] * len(self.names)
        for number, index in self.fixed:
            key[number] = index
        for axis in self.axes:
            first, stop, step = axis.indices.start, axis.indices.stop, axis.indices.step
            # A slice cannot stop before the first element by its number.
            key[axis.number] = slice(first, stop if stop >= 0 else None, step)
        elements = self.array[tuple(key)]
        if self.axes or self.array.dtype != object:
            return np.asarray(elements)
        # A single object may be a list or an array itself.
        alone = np.empty((), np.object_)
        alone[()] = elements
        return alone

    def numbers(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the elements as numbers for a colour map, as xarray decodes them: NaN if missing, and unpacked."""
        meta = getattr(self.array, "metadata", None)
        if not isinstance(meta, ArrayMeta) or not follows_xarray(meta):
            return as_numbers(values)
        numbers = as_numbers(values, masked_value(meta))
        return unpacked(numbers, meta.attributes) if values.dtype.kind in "iuf" else numbers

    def describe_fixed(self, chosen: Collection[tuple[int, int]] | None = None) -> str:
        """Return the chosen indices along axes that are not shown, by default all, as text: ``time = 3, level = 0``."""
        fixed = self.fixed if chosen is None else chosen
        return ", ".join(self.describe(number, index) for number, index in sorted(fixed))

    def describe(self, number: int, index: int) -> str:
        """Return the index along an axis as text: ``level = 0 of 12``, or with coordinates ``time = 2001-01-05``."""
        beside = self.coordinates.get(number)
        text = f"{index} of {self.array.shape[number]}" if beside is None else beside.text(index)
        return f"{self.names[number]} = {text}"


def as_numbers(values: NDArray[Any], missing: Any = None) -> NDArray[np.float64]:
    """Return the values as numbers for a colour map: the magnitude of complex numbers, the count of times.

    Those that are equal to `missing` become NaN, which is not drawn.
    """
    if missing is not None:
        numbers = as_numbers(values)
        return np.where(values == missing, np.nan, numbers)
    kind = values.dtype.kind
    if kind == "c":
        return np.asarray(np.abs(values), np.float64)
    if kind in "mM":
        counts = values.astype(np.int64).astype(np.float64)
        counts[np.isnat(values)] = np.nan
        return counts
    # NumPy takes types of ml_dtypes, like bfloat16, for raw bytes; they are numbers if they can be cast.
    if kind in "biuf" or (kind == "V" and values.dtype.names is None and values.dtype.type is not np.void):
        plain: NDArray[np.float64] = values.astype(np.float64)
        return plain
    found = "objects, such as text" if kind == "O" else f"elements of type {values.dtype}"
    raise ValueError(f"expected numbers to make a picture of, found {found}; blizzarr cat shows them")

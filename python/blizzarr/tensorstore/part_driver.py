"""A field of the elements of a stored array, or their bytes, as a driver.

Both are read and written as bytes of elements, in their chunks: what is written leaves the other fields as they are,
whoever writes these at the same time.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from blizzarr.indexing import Lowered
from blizzarr.indexing.form import Form
from blizzarr.indexing.selection import Axis
from blizzarr.spec.dtype import element_dtype
from blizzarr.spec.metadata.elements import Field
from blizzarr.tensorstore.driver import Bounds, Elements, Shared
from blizzarr.tensorstore.opened_array import OpenedArray
from blizzarr.tensorstore.stored_array import StoredArray
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver
from blizzarr.transactions import Transaction
from blizzarr.transfer import Binding


class PartDriver(StoredArrayDriver):
    """A driver of some of the bytes of each element."""

    by_bytes = True

    def __init__(self, stored: StoredArray, transaction: Transaction | None = None) -> None:
        super().__init__(stored, transaction)
        part = self._part = stored.field
        self._chunk_shape = (*self._chunk_shape, *part.shape)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (*self._array.shape, *self._part.shape)

    def _read(self, lowered: Lowered, out: Elements | None, batch: Shared | None) -> Any:
        selected, shape = of_bytes(lowered, self._part)
        elements = self._part.decode(super()._read(selected, None, batch)).reshape(shape)
        if out is None:
            return elements
        out[...] = elements
        return out

    def _write(self, lowered: Lowered, source: Elements) -> None:
        selected, shape = of_bytes(lowered, self._part)
        super()._write(selected, self._part.encode(np.broadcast_to(source, shape)).reshape(selected[0]))

    def _binding(self, array: OpenedArray) -> Binding:
        return array.binding_by_bytes

    def _new_shape(
        self, form: Form, shape: tuple[int, ...], lower: Bounds, upper: Bounds, modes: frozenset[str]
    ) -> tuple[int, ...]:
        return super()._new_shape(form, (*shape, *self._part.shape), lower, upper, modes)[: len(shape)]

    def _on_grid(self, lowered: Lowered) -> Lowered:
        shape, axes, scalar = lowered
        return shape, axes[: len(axes) - len(self._part.shape)], scalar


class OfBytes(NamedTuple):
    """A selection of an array whose last axis is the bytes of its elements."""

    lowered: Lowered
    shape: tuple[int, ...]
    """The shape of the values that were asked for, whose bytes are adjacent."""


def of_bytes(lowered: Lowered, field: Field) -> OfBytes:
    """Return the bytes of a selection of values, whose last axes are those within elements.

    >>> from blizzarr.spec.dtype import DTYPES
    >>> field = Field("a", DTYPES["int16"], shape=(3,), offset=4)
    >>> of_bytes(((5, 3), ((0, 0, 1), (1, 0, 1)), False), field).lowered
    ((5, 6), ((0, 0, 1), (1, 4, 1)), False)
    >>> of_bytes(((5,), ((0, 0, 1), 2), False), field).lowered
    ((5, 2), ((0, 0, 1), (1, 8, 1)), False)
    """
    shape, axes, _ = lowered
    outer, inner = axes[: len(axes) - len(field.shape)], axes[len(axes) - len(field.shape) :]
    size = element_dtype(field.dtype).itemsize
    strides = [prod(field.shape[number + 1 :]) * size for number in range(len(field.shape))]
    offset = field.offset
    moving: list[tuple[Any, int]] = []
    for axis, stride in zip(inner, strides, strict=True):
        if isinstance(axis, int):
            offset += axis * stride
        else:
            moving.append((axis, stride))
    run = _run(moving, shape, size)
    if run is not None:
        dim = len(shape) - len(moving)
        axes = (*outer, (dim, offset + run, 1))
        return OfBytes(((*shape[:dim], prod(shape[dim:]) * size), axes, False), shape)
    return OfBytes(((*shape, size), _listed(outer, moving, offset, shape, size), False), shape)


def _run(moving: list[tuple[Any, int]], shape: tuple[int, ...], size: int) -> int | None:
    """Return the offset of the first byte if the bytes are contiguous in the order of the last dimensions."""
    offset, step = 0, size
    for dim, (axis, stride) in zip(range(len(shape) - 1, -1, -1), reversed(moving), strict=False):
        if len(axis) != 3 or axis[0] != dim or axis[2] * stride != step:
            return None
        offset += axis[1] * stride
        step *= shape[dim]
    return offset


def _listed(
    outer: tuple[Axis, ...], moving: list[tuple[Any, int]], offset: int, shape: tuple[int, ...], size: int
) -> tuple[Axis, ...]:
    """Return axes that list all bytes; axes of the grid that share index arrays with one of the elements are listed,
    too.
    """
    dims = {dim for axis, _ in moving for dim in (axis[0] if len(axis) == 2 else axis[:1])}
    together = [axis for axis in outer if not isinstance(axis, int) and len(axis) == 2 and not dims.isdisjoint(axis[0])]
    while more := {dim for axis in together for dim in axis[0]} - dims:
        dims |= more
        together = [
            axis for axis in outer if not isinstance(axis, int) and len(axis) == 2 and not dims.isdisjoint(axis[0])
        ]
    order = sorted(dims)
    lengths = [shape[dim] for dim in order]

    def spread(axis: Any) -> Any:
        """Return the indices of an axis over all these dimensions, with a last one for the bytes."""
        if len(axis) == 3:
            indices, own = axis[1] + axis[2] * np.arange(shape[axis[0]]), axis[:1]
        else:
            own, indices = axis
        placed = indices.transpose(np.argsort(own)).reshape([shape[dim] if dim in own else 1 for dim in order] + [1])
        return np.broadcast_to(placed, (*lengths, size))

    at = np.broadcast_to(offset + np.arange(size), (*lengths, size))
    for axis, stride in moving:
        at = at + stride * spread(axis)
    group = (*order, len(shape))
    result = [
        (group, np.ascontiguousarray(spread(axis), np.int64)) if any(axis is other for other in together) else axis
        for axis in outer
    ]
    return (*result, (group, np.ascontiguousarray(at, np.int64)))

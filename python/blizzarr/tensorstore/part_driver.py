"""A field of the elements of a stored array, or their bytes, as a driver.

Both are read and written as bytes of elements, in their chunks: what is written leaves the other fields as they are,
whoever writes these at the same time.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from blizzarr.indexing import Lowered, lower_form
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.interval import INF
from blizzarr.spec.dtype import element_dtype
from blizzarr.spec.metadata.elements import Field
from blizzarr.tensorstore.driver import Bounds, Elements, Shared
from blizzarr.tensorstore.picking import index_arrays
from blizzarr.tensorstore.stored_array import OpenedArray, StoredArray
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
    indices = index_arrays(shape, axes)
    at = sum((stride * along for along, stride in zip(indices[len(outer) :], strides, strict=True)), field.offset)
    at = np.asarray(at)[..., None] + np.arange(size)
    dims = tuple([dim for dim, length in enumerate(at.shape) if length != 1])
    maps: list[Map] = [
        axis if isinstance(axis, int) or len(axis) == 3 else ArrayMap(0, 1, along[..., None], axis[0])
        for axis, along in zip(outer, indices, strict=False)
    ]
    view = Form.of_shape((*shape, size))._replace(maps=(*maps, ArrayMap(0, 1, at, dims)))
    return OfBytes(lower_form(view, (INF + 1,) * len(view.maps)), shape)


def _run(moving: list[tuple[Any, int]], shape: tuple[int, ...], size: int) -> int | None:
    """Return the offset of the first byte if the bytes are contiguous in the order of the last dimensions."""
    offset, step = 0, size
    for dim, (axis, stride) in zip(range(len(shape) - 1, -1, -1), reversed(moving), strict=False):
        if len(axis) != 3 or axis[0] != dim or axis[2] * stride != step:
            return None
        offset += axis[1] * stride
        step *= shape[dim]
    return offset

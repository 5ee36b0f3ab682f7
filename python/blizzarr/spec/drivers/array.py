"""Specs of arrays in memory, which contain the elements, and of chunks that a user's functions make."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_members import Members
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.drivers.driver import Driver
from blizzarr.spec.json_array import array_from_json, array_json
from blizzarr.spec.spec_node import SpecNode
from blizzarr.views import IndexDomain


class ArrayDriver(Driver):
    """The driver of elements in memory."""

    name: ClassVar = "array"
    resources = ("data_copy_concurrency",)

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        dtype, rank = node.schema.dtype, node.schema.rank
        if dtype is None:
            raise SpecError("dtype must be specified")
        array = members.take("array", lambda value: array_from_json(value, dtype, rank))
        schema = node.schema.copy()
        schema.update(rank=array.ndim)
        return node.altered(schema=schema, options={"array": array})

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        dtype = node.schema.dtype
        assert dtype is not None
        return {"array": array_json(node.options["array"], dtype)}

    def fact(self, node: SpecNode, name: str) -> Any:
        """Return what is known of the elements, which are not encoded, and all of which have values."""
        array = node.options["array"]
        if name == "domain":
            return IndexDomain(shape=array.shape)
        if name == "chunk_layout":
            return ChunkLayout(rank=array.ndim, grid_origin=[0] * array.ndim, inner_order=order_of(array))
        return super().fact(node, name) if name == "dimension_units" else None


def order_of(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """The dimensions from the one with the largest stride to the one with the smallest.

    >>> order_of(np.zeros((2, 3), order="F")), order_of(np.zeros((2, 3)))
    ((1, 0), (0, 1))
    """
    strides = [abs(stride) for stride in array.strides]
    if array.flags.c_contiguous:
        # From the shape, as NumPy's strides of empty arrays are arbitrary.
        strides = [prod(array.shape[dim + 1 :]) for dim in range(array.ndim)]
    return tuple(sorted(range(array.ndim), key=lambda dim: -strides[dim]))


ARRAY: Final = ArrayDriver()


class VirtualSpec(Driver):
    """Specs of chunks that functions make, which have no JSON."""

    name: ClassVar = "virtual_chunked"
    resources = ("data_copy_concurrency", "cache_pool")


VIRTUAL: Final = VirtualSpec()

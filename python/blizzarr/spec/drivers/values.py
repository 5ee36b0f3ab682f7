"""Specs of arrays that contain their elements, of one JSON value, and of chunks that a user's functions make."""

from __future__ import annotations

from copy import copy
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_members import Members, Option, options_json
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.drivers.driver import Change, Driver, changed_kvstore, kvstore_members, url_of_kvstore
from blizzarr.spec.dtype import as_dtype
from blizzarr.spec.json_array import array_from_json, array_json
from blizzarr.spec.json_pointer import as_pointer
from blizzarr.spec.open_mode import OpenMode, recheck_from_json
from blizzarr.spec.schema import SCHEMA_ARGUMENTS, Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.urls import encoded
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


_JSON = as_dtype("json")
_FACTS = {"domain": IndexDomain(shape=[]), "chunk_layout": ChunkLayout(rank=0), "codec": None, "fill_value": None}
_OPTIONS = {"json_pointer": Option(as_pointer, ""), "recheck_cached_data": Option(recheck_from_json, "open")}


class JsonValue(Driver):
    """A document, or a part of it that a JSON Pointer means."""

    name: ClassVar = "json"
    scheme: ClassVar = "json"
    # A value is created by writing it.
    opens: ClassVar = True
    resources = ("data_copy_concurrency", "cache_pool")

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        schema = node.schema.copy()
        SCHEMA_ARGUMENTS["dtype"].apply(schema, _JSON)
        SCHEMA_ARGUMENTS["rank"].apply(schema, 0)
        _check(schema)
        kvstore = kvstore_members(members)
        options = {"mode": OpenMode(open=True), **members.take_all(_OPTIONS)}
        return node.altered(kvstore=kvstore, options=options, schema=schema)

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return options_json(node.options, _OPTIONS, include_defaults)

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        options = dict(node.options)
        if change.recheck_cached_data is not None:
            options["recheck_cached_data"] = change.recheck_cached_data
        schema = change.schema.copy()
        SCHEMA_ARGUMENTS["dtype"].apply(schema, _JSON)
        _check(schema)
        # The only constraints are properties that every JSON value has.
        return node.altered(options=options, kvstore=changed_kvstore(node, change))

    def fact(self, node: SpecNode, name: str) -> Any:
        return copy(_FACTS[name]) if name in _FACTS else super().fact(node, name)

    def url(self, node: SpecNode) -> str:
        return f"{url_of_kvstore(node)}|json:{encoded(node.options['json_pointer'])}"


def _check(schema: Schema) -> None:
    for name in ("codec", "fill_value"):
        if getattr(schema, name) is not None:
            raise SpecError(f"{name} not supported by json driver")


JSON: Final = JsonValue()

"""Specs of arrays that contain their elements, of one JSON value, and of chunks that a user's functions make.

JSON Pointers (RFC 6901), by which one value of a document is found and replaced, are here, too.
"""

from __future__ import annotations

from copy import copy
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from blizzarr.errors import ArrayNotFoundError, ConstraintError, OutOfRangeError, SpecError
from blizzarr.json_members import Members, Option, as_text, options_json
from blizzarr.json_values import MISSING, dump, quote
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.drivers.driver import Change, Driver, changed_kvstore, kvstore_members, url_of_kvstore
from blizzarr.spec.dtype import as_dtype
from blizzarr.spec.json_array import array_from_json, array_json
from blizzarr.spec.kvstore_json import encoded
from blizzarr.spec.open_mode import OpenMode, recheck_from_json
from blizzarr.spec.schema import refuse_encoding, set_dtype, set_rank
from blizzarr.spec.spec_node import SpecNode
from blizzarr.views import IndexDomain


class ArraySpec(Driver):
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


ARRAY: Final = ArraySpec()


class VirtualSpec(Driver):
    """Specs of chunks that functions make, which have no JSON."""

    name: ClassVar = "virtual_chunked"
    resources = ("data_copy_concurrency", "cache_pool")


VIRTUAL: Final = VirtualSpec()


def as_pointer(value: Any) -> str:
    """Check that a text is a JSON Pointer."""
    text = as_text(value)
    if text and not text.startswith("/"):
        raise SpecError(f"JSON Pointer does not start with '/': {quote(text)}")
    if any(part[:1] not in ("0", "1") for part in text.split("~")[1:]):
        raise SpecError(f"JSON Pointer requires '~' to be followed by '0' or '1': {quote(text)}")
    return text


def found_at(document: Any, pointer: str) -> Any:
    """Return the value that a pointer refers to.

    >>> found_at({"a": [5, {"~": 6}]}, "/a/1/~0")
    6
    """
    value, parts = document, pointer.split("/")
    for number in range(1, len(parts)):
        key, reached = _key(value, parts, number), parts[: number + 1]
        if isinstance(value, dict) and key not in value:
            raise ArrayNotFoundError(f"JSON Pointer {_shown(reached)} refers to non-existent object member")
        if isinstance(value, list) and key >= len(value):
            if parts[number] == "-":
                raise ConstraintError(f"JSON Pointer {_shown(reached)} refers to non-existent array element")
            raise OutOfRangeError(_beyond(reached, value))
        value = value[key]
    return value


def replaced_at(document: Any, pointer: str, value: Any) -> Any:
    """Return the document with another value where the pointer refers to, which may be a new member or element.

    >>> replaced_at({"a": [5]}, "/a/-", 6), replaced_at(MISSING, "/x/0", 7)
    ({'a': [5, 6]}, {'x': {'0': 7}})
    """
    return _replaced(document, pointer.split("/"), 1, value)


def _replaced(document: Any, parts: list[str], number: int, value: Any) -> Any:
    if number == len(parts):
        return value
    if document is MISSING:
        document = {}
    key = _key(document, parts, number)
    if isinstance(document, dict):
        return {**document, key: _replaced(document.get(key, MISSING), parts, number + 1, value)}
    if key >= len(document) and parts[number] != "-":
        raise ConstraintError(_beyond(parts[: number + 1], document))
    inside = _replaced(document[key] if key < len(document) else MISSING, parts, number + 1, value)
    return [*document[:key], inside, *document[key + 1 :]]


def _key(value: Any, parts: list[str], number: int) -> Any:
    """Return the name of the member, or the position of the element, that a part means; ``-`` is behind the last."""
    name, reached = parts[number].replace("~1", "/").replace("~0", "~"), parts[: number + 1]
    if isinstance(value, dict):
        return name
    if not isinstance(value, list):
        kind = "null" if value is None else "boolean" if isinstance(value, bool) else "number"
        kind = "string" if isinstance(value, str) else kind
        raise ConstraintError(
            f"JSON Pointer reference {_shown(reached)} cannot be applied to {kind} value: {dump(value)}"
        )
    if name == "-":
        return len(value)
    is_number = name.isascii() and name.isdigit() and len(name) <= 20 and (name[0] != "0" or name == "0")
    if not is_number or int(name) >= 1 << 64:
        raise ConstraintError(f"JSON Pointer {_shown(reached)} is invalid for array value")
    return int(name)


def _shown(reached: list[str]) -> str:
    """Format the pointer up to the given part for an error message."""
    return quote("/".join(reached))


def _beyond(reached: list[str], array: list[Any]) -> str:
    return f"JSON Pointer {_shown(reached)} is out-of-range for array of size {len(array)}"


_JSON = as_dtype("json")
_FACTS = {"domain": IndexDomain(shape=[]), "chunk_layout": ChunkLayout(rank=0), "codec": None, "fill_value": None}
_OPTIONS = {"json_pointer": Option(as_pointer, ""), "recheck_cached_data": Option(recheck_from_json, "open")}


class JsonSpec(Driver):
    """A document, or a part of it that a JSON Pointer means."""

    name: ClassVar = "json"
    scheme: ClassVar = "json"
    resources = ("data_copy_concurrency", "cache_pool")

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        schema = node.schema.copy()
        set_dtype(schema, _JSON)
        set_rank(schema, 0)
        refuse_encoding(schema, " by json driver")
        kvstore = kvstore_members(members)
        # A value is created by writing it.
        options = {"mode": OpenMode(open=True), **members.take_all(_OPTIONS)}
        return node.altered(kvstore=kvstore, options=options, schema=schema)

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return options_json(node.options, _OPTIONS, include_defaults)

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        options = dict(node.options)
        if change.recheck_cached_data is not None:
            options["recheck_cached_data"] = change.recheck_cached_data
        schema = change.schema.copy()
        set_dtype(schema, _JSON)
        refuse_encoding(schema, " by json driver")
        # The only constraints are properties that every JSON value has.
        return node.altered(options=options, kvstore=changed_kvstore(node, change))

    def fact(self, node: SpecNode, name: str) -> Any:
        return copy(_FACTS[name]) if name in _FACTS else super().fact(node, name)

    def url(self, node: SpecNode) -> str:
        return f"{url_of_kvstore(node)}|json:{encoded(node.options['json_pointer'])}"


JSON: Final = JsonSpec()

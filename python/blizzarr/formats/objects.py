"""The element type of arrays of objects: documents have only ``|O``, and the first codec determines the type."""

from __future__ import annotations

from typing import Any

from blizzarr.codecs.objects import OBJECT_CODECS
from blizzarr.dtypes import DataType

__all__ = ["element_type"]


def element_type(filters: Any, compressor: Any) -> DataType:
    """Return the data type of an array of objects with these codecs, which need not be valid.

    Examples
    --------
    >>> element_type([{"id": "vlen-utf8"}], {"id": "zlib", "level": 1}), element_type([{"id": "json2"}], None)
    (DataType('string'), DataType('object'))
    """
    first = filters[0] if type(filters) is list and filters else compressor
    name = first.get("id") if type(first) is dict else None
    row = OBJECT_CODECS.get(name) if type(name) is str else None
    return DataType.parse("object" if row is None else row.element_type)

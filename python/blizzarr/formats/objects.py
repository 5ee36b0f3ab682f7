"""Arrays of objects: their element type, of which documents have only ``|O``, and their fill values."""

from __future__ import annotations

from typing import Any

from blizzarr.codecs import CodecChain
from blizzarr.codecs.objects import OBJECT_CODECS
from blizzarr.dtypes import DataType, Kind
from blizzarr.problems import Problems


def element_type(filters: Any, compressor: Any) -> DataType:
    """Return the data type of an array of objects with these codecs, the first of which determines it.

    The codecs need not be valid.
    """
    first = filters[0] if type(filters) is list and filters else compressor
    name = first.get("id") if type(first) is dict else None
    row = OBJECT_CODECS.get(name) if type(name) is str else None
    return DataType.parse("object" if row is None else row.element_type)


def check_fill(dtype: DataType, fill_value: Any, codecs: CodecChain, problems: Problems) -> None:
    """Add a problem if the fill value is a list of which the codec ``vlen-array`` cannot make an array.

    Other codecs can encode all that JSON has, or say so when they are to encode it.
    """
    if dtype.kind is Kind.OBJECT and type(fill_value) is list:
        from blizzarr.codecs.objects import VlenArrayCodec

        codec = codecs.innermost.serializer
        refusal = codec.refuses_fill(fill_value) if isinstance(codec, VlenArrayCodec) else None
        if refusal is not None:
            problems.add("fill_value", refusal[0], fill_value)

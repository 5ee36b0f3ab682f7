"""What a ``.zarray`` says of elements and chunks: data type, fill value, filters, compressor.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#data-type-encoding
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from blizzarr.codecs import CodecChain
from blizzarr.codecs.configs import chain_from_configs
from blizzarr.dtypes import DataType, Kind, fill_typed, fill_user, ml
from blizzarr.dtypes.typestr import Typestr, from_typestr
from blizzarr.formats.objects import element_type
from blizzarr.problems import MISSING, Problems

__all__ = ["decode_codecs", "decode_dtype", "decode_fill"]


def decode_dtype(document: Mapping[str, Any], problems: Problems) -> tuple[DataType | None, str | None]:
    """The data type, `None` when a problem was added, and the byte order in which elements are stored."""
    given = document.get("dtype", MISSING)
    if type(given) is str and given in ml.ROWS:
        # What TensorStore writes of data types that NumPy lacks.
        named = DataType.from_json(given, "dtype", problems)
        return named, "little" if named is not None and named.swap_unit else None
    typed = (_remembered(given) if type(given) is str else None) or from_typestr(given, "dtype", problems)
    if typed is None:
        return None, None
    if typed.dtype.kind is Kind.OBJECT:
        return element_type(document.get("filters"), document.get("compressor")), None
    return typed.dtype, typed.endian


@lru_cache(256)
def _remembered(spelled: str) -> Typestr | None:
    """The data type for a spelling; `None` when something is wrong, to be found out again by who reports it."""
    return from_typestr(spelled, "dtype", Problems())


def decode_fill(dtype: DataType | None, endian: str | None, value: Any, problems: Problems) -> Any:
    """The fill value; zeros, where null leaves it open. `None` where the data type is, or a problem was added."""
    if dtype is None:
        return None
    if value is None:
        return fill_user.zero(dtype)
    return fill_typed.decode(dtype, value, "fill_value", problems, endian)


def decode_codecs(
    document: Mapping[str, Any],
    dtype: DataType | None,
    endian: str | None,
    chunks: tuple[int, ...] | None,
    problems: Problems,
) -> CodecChain | None:
    """The chain that order, filters and compressor mean; `None` when a problem was added."""
    order = document.get("order", MISSING)
    if order not in ("C", "F"):
        problems.add("order", '"C" or "F"', order)
        order = "C"
    for member, expected in (("compressor", "a codec, or null"), ("filters", "a list of codecs, or null")):
        if member not in document:
            problems.add(member, expected, MISSING)
    filters, compressor = document.get("filters"), document.get("compressor")
    if dtype is not None and chunks is not None and (packed := _packed(filters, compressor)):
        # The arrays of a hierarchy mostly have the same codecs.
        chain = _remembered_chain(packed, dtype, endian, order, chunks)
        if chain is not None:
            return chain
    return chain_from_configs(
        filters, compressor, dtype=dtype, endian=endian, order=order, chunk_shape=chunks, problems=problems
    )


def _packed(filters: Any, compressor: Any) -> bytes:
    """Codecs as bytes, which unlike equality tell `true` from 1 and 1 from 1.0; empty when they are too deep."""
    try:
        return marshal.dumps([filters, compressor], 2)
    except ValueError:
        return b""


@lru_cache(256)
def _remembered_chain(
    packed: bytes, dtype: DataType, endian: str | None, order: str, chunks: tuple[int, ...]
) -> CodecChain | None:
    """The chain for such codecs; `None` when something is wrong, to be found out again by who reports it."""
    filters, compressor = marshal.loads(packed)
    problems = Problems()
    chain = chain_from_configs(
        filters, compressor, dtype=dtype, endian=endian, order=order, chunk_shape=chunks, problems=problems
    )
    return None if problems.limits else chain

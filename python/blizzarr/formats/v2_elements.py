"""Decoding data type, fill value, filters and compressor of a ``.zarray``.

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
    """Decode the data type (`None` if a problem was added) and the byte order of stored elements."""
    given = document.get("dtype", MISSING)
    if type(given) is str and given in ml.ROWS:
        # TensorStore writes data types that NumPy lacks by their names.
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
    """Return the data type for a spelling; `None` if it has problems, which the caller finds again."""
    return from_typestr(spelled, "dtype", Problems())


def decode_fill(dtype: DataType | None, endian: str | None, value: Any, problems: Problems) -> Any:
    """Decode the fill value; null means zeros. `None` if the data type is `None`, or a problem was added."""
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
    """Return the codec chain for order, filters and compressor; `None` if a problem was added."""
    order = document.get("order", MISSING)
    if order not in ("C", "F"):
        problems.add("order", '"C" or "F"', order)
        order = "C"
    for member, expected in (("compressor", "a codec, or null"), ("filters", "a list of codecs, or null")):
        if member not in document:
            problems.add(member, expected, MISSING)
    filters, compressor = document.get("filters"), document.get("compressor")
    if dtype is not None and chunks is not None and (packed := _packed(filters, compressor)):
        # The arrays of a hierarchy usually have the same codecs.
        chain = _remembered_chain(packed, dtype, endian, order, chunks)
        if chain is not None:
            return chain
    return chain_from_configs(
        filters, compressor, dtype=dtype, endian=endian, order=order, chunk_shape=chunks, problems=problems
    )


def _packed(filters: Any, compressor: Any) -> bytes:
    """Return codecs as bytes, which distinguish `true`, 1 and 1.0; empty if they are nested too deeply."""
    try:
        return marshal.dumps([filters, compressor], 2)
    except ValueError:
        return b""


@lru_cache(256)
def _remembered_chain(
    packed: bytes, dtype: DataType, endian: str | None, order: str, chunks: tuple[int, ...]
) -> CodecChain | None:
    """Return the codec chain; `None` if there are problems, which the caller finds again."""
    filters, compressor = marshal.loads(packed)
    problems = Problems()
    chain = chain_from_configs(
        filters, compressor, dtype=dtype, endian=endian, order=order, chunk_shape=chunks, problems=problems
    )
    return None if problems.limits else chain

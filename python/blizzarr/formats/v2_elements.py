"""Decoding data type, fill value, filters and compressor of a ``.zarray``.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#data-type-encoding
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from blizzarr.codecs import CodecChain
from blizzarr.codecs.configs import chain_from_configs
from blizzarr.dtypes import DataType, Kind, fill_typed, fill_user, ml
from blizzarr.dtypes.typestr import from_typestr
from blizzarr.formats.objects import element_type
from blizzarr.problems import MISSING, Problems

_INSTANT: Final = re.compile("-?[0-9]{4}[0-9T:.-]*")
_TEXT: Final = re.compile("[<>]U[0-9]{1,9}")
_BYTES: Final = re.compile("[|]S[0-9]{1,10}")


def decode_dtype(document: Mapping[str, Any], problems: Problems) -> tuple[DataType | None, str | None]:
    """Decode the data type (`None` if a problem was added) and the byte order of stored elements."""
    given = document.get("dtype", MISSING)
    filters = document.get("filters")
    if type(given) is str and type(filters) is list and filters and _is_variable(given, filters[0]):
        return element_type(filters, None), None
    if type(given) is str and given in ml.ROWS:
        # TensorStore writes data types that NumPy lacks by their names.
        named = DataType.from_json(given, "dtype", problems)
        return named, "little" if named is not None and named.swap_unit else None
    typed = from_typestr(given, "dtype", problems)
    if typed is None:
        return None, None
    if typed.dtype.kind is Kind.OBJECT:
        return element_type(filters, document.get("compressor")), None
    return typed.dtype, typed.endian


def _is_variable(given: str, first: Any) -> bool:
    """Return whether text or byte strings of a fixed length are stored with variable length by the first filter.

    zarr-python 3.0.0 to 3.0.10 did so; it wrote ``|S0`` for byte strings of any length.
    """
    name = first.get("id") if type(first) is dict else None
    form = {"vlen-utf8": _TEXT, "vlen-bytes": _BYTES}.get(name) if type(name) is str else None
    return form is not None and form.fullmatch(given) is not None


def decode_fill(dtype: DataType | None, endian: str | None, value: Any, problems: Problems) -> Any:
    """Decode the fill value; null means zeros. `None` if the data type is `None`, or a problem was added."""
    if dtype is None:
        return None
    if value is None:
        return fill_user.default(dtype)
    if value == "0" and dtype.kind not in (Kind.TEXT, Kind.OBJECT):
        # N5 for Java's writer of Zarr has this text for all data types.
        value = False if dtype.kind is Kind.BOOL else 0
    if dtype.kind is Kind.TIME and type(value) is str and _INSTANT.fullmatch(value):
        value = _count(dtype.numpy, value)
    return fill_typed.decode(dtype, value, "fill_value", problems, endian)


def _count(dtype: np.dtype[Any], text: str) -> Any:
    """Return the number of units for a time as zarr-python 3.0.10 wrote it; other texts as they are."""
    try:
        time = np.array(text, dtype)[()]
    except (TypeError, ValueError, OverflowError):
        return text
    return int(time.view(np.int64)) if dtype.kind == "M" and str(time) == text else text


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
    if "compressor" not in document:
        problems.add("compressor", "a codec, or null", MISSING)
    # N5 for Java's writer of Zarr left out `filters` until 2021.
    filters, compressor = document.get("filters"), document.get("compressor")
    if dtype is not None and chunks is not None and (packed := _packed(filters, compressor)):
        # The arrays of a hierarchy usually have the same codecs, which are half of the time to decode their documents.
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

"""Filters of big-endian arrays: in v2 they get memory in the array's byte order, in a chain little-endian memory.

If every filter reads elements as what they are, the byte order in memory makes no difference, and the serializer
determines the stored one. If a filter reads big-endian memory as another type, it does make a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.element_type import in_order, order_of
from blizzarr.dtypes import DataType


def to_little(
    filters: Sequence[ArrayFilter], dtype: DataType, endian: str | None
) -> tuple[tuple[ArrayFilter, ...], np.dtype[Any]] | None:
    """Return the filters for little-endian memory, and the type of their output for an array in byte order `endian`.

    Return None if a filter reads elements as another type, and either of the types is big-endian.

    >>> from blizzarr.codecs.numcodecs import DeltaCodec
    >>> to_little([DeltaCodec(">i4", ">i2")], DataType.parse("int32"), "big")
    ((DeltaCodec(dtype='<i4', astype='<i2'),), dtype('>i2'))
    >>> to_little([DeltaCodec("<i4", "<i2")], DataType.parse("int32"), "big") is None
    True
    """
    given = in_order(dtype.numpy, endian) if dtype.swap else dtype.numpy
    for codec in filters:
        taken = codec.decoded_type(given)
        # For NumPy, elements with fields do not have a single byte order.
        big = order_of(given) == ">" or order_of(taken) == ">" or (endian == "big" and given.names is not None)
        if big and (order_of(given), given.itemsize) != (order_of(taken), taken.itemsize):
            return None
        given = codec.encoded_type(taken)
    return tuple(codec.ordered("little") for codec in filters), given


def endian_of(dtype: np.dtype[Any]) -> str | None:
    """Return the byte order of a type: ``"little"``, ``"big"``, or None if it has none."""
    return {"<": "little", ">": "big", None: None}[order_of(dtype)]

"""Filters of big-endian elements: in v2 they work on memory in the array's byte order, in a chain on little-endian.

Where every filter takes elements for what they are, it makes no difference in which byte order they lie while they are
filtered, and the one that they have at the end is the serializer's. Where one takes big-endian memory for something
else, it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from blizzarr.codecs.numcodecs import ArrayFilter
from blizzarr.codecs.numcodecs.element_type import in_order, order_of
from blizzarr.dtypes import DataType

__all__ = ["endian_of", "to_little"]


def to_little(
    filters: Sequence[ArrayFilter], dtype: DataType, endian: str | None
) -> tuple[tuple[ArrayFilter, ...], np.dtype[Any]] | None:
    """The same filters on little-endian memory, and the type of what they make of an array in the byte order `endian`.

    `None` when one takes elements for others and either are big-endian.

    Examples
    --------
    >>> from blizzarr.codecs.numcodecs import DeltaCodec
    >>> to_little([DeltaCodec(">i4", ">i2")], DataType.parse("int32"), "big")
    ((DeltaCodec(dtype='<i4', astype='<i2'),), dtype('>i2'))
    >>> to_little([DeltaCodec("<i4", "<i2")], DataType.parse("int32"), "big") is None
    True
    """
    given = in_order(dtype.numpy, endian)
    for codec in filters:
        taken = codec.decoded_type(given)
        # Elements of several fields have no one byte order for NumPy.
        big = order_of(given) == ">" or order_of(taken) == ">" or (endian == "big" and given.names is not None)
        if big and (order_of(given), given.itemsize) != (order_of(taken), taken.itemsize):
            return None
        given = codec.encoded_type(taken)
    return tuple(codec.ordered("little") for codec in filters), given


def endian_of(dtype: np.dtype[Any]) -> str | None:
    """The byte order of a type: ``"little"``, ``"big"``, or `None` where there is none."""
    return {"<": "little", ">": "big", None: None}[order_of(dtype)]

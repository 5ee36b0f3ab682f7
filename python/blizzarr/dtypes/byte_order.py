"""Byte swapping of single elements, for fill values that documents give as the bytes of an element.

The engine swaps the elements of arrays.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from blizzarr.dtypes.data_type import Swap


def in_order(data: bytes, swap: Swap, endian: str | None) -> bytes:
    """Convert an element between the machine's byte order and `endian` (`None`: the machine's), in either direction.

    >>> in_order(bytes([1, 2, 3, 4, 5, 6]), ((2, 2), (1, 0), (3, 0)), "big" if sys.byteorder == "little" else "little")
    b'\\x02\\x01\\x03\\x04\\x05\\x06'
    """
    if endian is None or endian == sys.byteorder or not data:
        return data
    return _reversed(np.frombuffer(data, np.uint8).reshape(1, -1), swap).tobytes()


def _reversed(rows: npt.NDArray[np.uint8], swap: Swap) -> npt.NDArray[Any]:
    """Return rows of bytes with the bytes of each unit reversed."""
    if isinstance(swap, int):
        return rows.reshape(len(rows), -1, swap)[:, :, ::-1].reshape(rows.shape) if swap > 1 else rows
    done = rows.copy()
    start = 0
    for length, inner in swap:
        part = rows[:, start : start + length]
        # Each repetition within a run becomes a row.
        size = length if isinstance(inner, int) else sum(of for of, _ in inner)
        done[:, start : start + length] = _reversed(part.reshape(-1, size), inner).reshape(part.shape)
        start += length
    return done

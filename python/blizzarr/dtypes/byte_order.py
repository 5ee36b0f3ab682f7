"""The byte order of single elements: of fill values that documents give as the bytes of an element.

The elements of arrays are the engine's.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from blizzarr.dtypes.data_type import Swap

__all__ = ["in_order"]


def in_order(data: bytes, swap: Swap, endian: str | None) -> bytes:
    """An element in memory as it is stored in this byte order, and the reverse; `None` is the machine's.

    Examples
    --------
    >>> in_order(bytes([1, 2, 3, 4, 5, 6]), ((2, 2), (1, 0), (3, 0)), "big" if sys.byteorder == "little" else "little")
    b'\\x02\\x01\\x03\\x04\\x05\\x06'
    """
    if endian is None or endian == sys.byteorder or not data:
        return data
    return _reversed(np.frombuffer(data, np.uint8).reshape(1, -1), swap).tobytes()


def _reversed(rows: npt.NDArray[np.uint8], swap: Swap) -> npt.NDArray[Any]:
    """The same rows of bytes, the units in each row reversed."""
    if isinstance(swap, int):
        return rows.reshape(len(rows), -1, swap)[:, :, ::-1].reshape(rows.shape) if swap > 1 else rows
    done = rows.copy()
    start = 0
    for length, inner in swap:
        part = rows[:, start : start + length]
        # What repeats in a run is a row of its own.
        size = length if isinstance(inner, int) else sum(of for of, _ in inner)
        done[:, start : start + length] = _reversed(part.reshape(-1, size), inner).reshape(part.shape)
        start += length
    return done

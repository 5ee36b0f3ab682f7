"""``numcodecs.packbits`` (array -> array): eight booleans in a byte, behind a byte that says how many are padding.

https://numcodecs.readthedocs.io/en/stable/filter/packbits.html

>>> PackBitsCodec().encoded_count(20)
4
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blizzarr.codecs.codec import Chunk
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.problems import Problems

__all__ = ["PackBitsCodec"]


@dataclass(frozen=True, slots=True)
class PackBitsCodec(ArrayFilter):
    """Booleans, packed."""

    name: ClassVar[str] = "numcodecs.packbits"

    def decoded_type(self, given: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(bool)

    def encoded_type(self, taken: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    def encoded_count(self, count: int) -> int:
        return 1 + -(-count // 8)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        # Of wider elements only whether each byte is zero would be kept.
        if chunk.dtype is None or chunk.dtype.itemsize == 1:
            return True
        problems.add(path, "a filter for such elements; this one is for bool", str(chunk.dtype))
        return False

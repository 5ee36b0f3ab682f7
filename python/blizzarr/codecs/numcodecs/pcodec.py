"""``numcodecs.pcodec`` (array -> bytes): pco, which finds what sequences of numbers have in common.

https://numcodecs.readthedocs.io/en/stable/compression/pcodec.html

>>> PCodecCodec(level=4).config()["level"]
4
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Option, integer, one_of
from blizzarr.codecs.numcodecs.array_serializer import ArraySerializer
from blizzarr.errors import CodecError

__all__ = ["PCodecCodec"]


@dataclass(frozen=True, slots=True)
class PCodecCodec(ArraySerializer):
    """Pco; `level` is from 0 (fast) to 12 (small), the rest says how the numbers are modelled."""

    name: ClassVar[str] = "numcodecs.pcodec"
    package: ClassVar[str] = "pcodec"
    requirement: ClassVar[str] = "numcodecs[pcodec]"
    types: ClassVar[tuple[str, ...]] = ("<u2", "<u4", "<u8", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8")
    options: ClassVar[tuple[Option, ...]] = (
        integer("level", 0, 12, required=False),
        one_of("mode_spec", ("auto", "classic"), required=False),
        one_of("delta_spec", ("auto", "none", "try_consecutive", "try_lookback"), required=False),
        one_of("paging_spec", ("equal_pages_up_to",), required=False),
        integer("delta_encoding_order", 0, 7, required=False),
        integer("equal_pages_up_to", 1, 2**31 - 1, required=False),
    )

    level: int = 8
    mode_spec: str = "auto"
    delta_spec: str = "auto"
    paging_spec: str = "equal_pages_up_to"
    delta_encoding_order: int | None = None
    equal_pages_up_to: int = 262144

    def decode_array(self, encoded: bytes, dtype: np.dtype[Any], chunk: Chunk) -> npt.NDArray[Any]:
        assert chunk.shape is not None
        made = np.empty(prod(chunk.shape), dtype)
        progress = import_module("pcodec").standalone.simple_decompress_into(encoded, made)
        if progress.n_processed != made.size or not progress.finished:
            found = f"{progress.n_processed:,}" if progress.finished else "more"
            raise CodecError(f"expected {made.size:,} numbers, found {found}")
        return made

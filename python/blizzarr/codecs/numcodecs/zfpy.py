"""``numcodecs.zfpy`` (array -> bytes): zfp, which compresses numbers with a loss that is bounded.

https://numcodecs.readthedocs.io/en/stable/compression/zfpy.html

>>> ZFPYCodec(mode=4, tolerance=0.01).config()
{'id': 'zfpy', 'mode': 4, 'tolerance': 0.01, 'rate': -1, 'precision': -1}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Option, integer
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.array_serializer import ArraySerializer
from blizzarr.errors import CodecError
from blizzarr.problems import Problems

__all__ = ["ZFPYCodec"]

_MAX_RANK = 4


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


@dataclass(frozen=True, slots=True)
class ZFPYCodec(ArraySerializer):
    """Zfp; `mode` is 2 (so many bits per number: `rate`), 3 (`precision`) or 4 (accuracy: `tolerance`)."""

    name: ClassVar[str] = "numcodecs.zfpy"
    package: ClassVar[str] = "zfpy"
    requirement: ClassVar[str] = library.ZFPY
    types: ClassVar[tuple[str, ...]] = ("<i4", "<i8", "<f4", "<f8")
    options: ClassVar[tuple[Option, ...]] = (
        integer("mode", 2, 4, required=False),
        Option("tolerance", "a number", _is_number, required=False),
        Option("rate", "a number", _is_number, required=False),
        Option("precision", "a number", _is_number, required=False),
    )

    mode: int = 4
    tolerance: float = -1
    rate: float = -1
    precision: float = -1

    @classmethod
    def read_options(cls, configuration: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
        # numcodecs repeats the option of the mode in an object, and takes no notice of it when it reads.
        given = {name: value for name, value in configuration.items() if name != "compression_kwargs"}
        return super(ZFPYCodec, cls).read_options(given, path, problems)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.shape is not None and not 1 <= len(chunk.shape) <= _MAX_RANK:
            problems.add(path, f"a codec for such chunks; this one is for 1 to {_MAX_RANK} axes", len(chunk.shape))
            return False
        return super(ZFPYCodec, self).fits(chunk, path, problems)

    def decode_array(self, encoded: bytes, dtype: np.dtype[Any], chunk: Chunk) -> npt.NDArray[Any]:
        assert chunk.shape is not None
        zfpy = import_module("zfpy")
        header = zfpy.header(encoded)
        # Before anything is allocated; axes that the data do not have are said to be 0 long.
        claimed = prod(header[axis] or 1 for axis in ("nx", "ny", "nz", "nw"))
        if claimed != prod(chunk.shape) or np.dtype(header["type"]) != dtype:
            expected = f"{prod(chunk.shape):,} numbers of type {dtype.name}"
            raise CodecError(f"expected {expected}, found {claimed:,} of type {np.dtype(header['type']).name}")
        return np.asarray(zfpy.decompress_numpy(encoded))

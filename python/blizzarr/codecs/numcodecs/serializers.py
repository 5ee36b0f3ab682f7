"""Serializers of numcodecs (array -> bytes), each of which needs another package.

https://numcodecs.readthedocs.io/en/stable/compression/
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from math import prod
from typing import Any, ClassVar

import numpy as np

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer, one_of
from blizzarr.codecs.in_numpy import Array, BoundedSerializer, Layout
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.array_filter import memory_type
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.errors import CodecError
from blizzarr.problems import Problems

_BYTES_PER_BYTE = 4
_OVERHEAD = 65536


class ArraySerializer(NumcodecsCodec):
    """The base class of serializers of numcodecs."""

    __slots__ = ()

    stage: ClassVar[Stage] = Stage.SERIALIZER
    types: ClassVar[tuple[str, ...]]
    """The supported types of elements, as NumPy spells them."""

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None or memory_type(chunk.dtype).str in self.types:
            return True
        named = ", ".join(np.dtype(dtype).name for dtype in self.types)
        problems.add(path, f"a codec for such elements; this one is for {named}", str(chunk.dtype))
        return False

    def steps(self, chunk: Chunk) -> list[Step]:
        return [("bytes", 0), ("python", BoundedSerializer(self.name, self, Layout.of(chunk)))]

    def encoded_size(self, decoded: int) -> int:
        """Return the largest encoded size of `decoded` bytes; generous, as other writers may do worse."""
        return decoded * _BYTES_PER_BYTE + _OVERHEAD


@dataclass(frozen=True, slots=True)
class PCodecCodec(ArraySerializer):
    """Pco, which finds what sequences of numbers have in common.

    `level` is from 0 (fast) to 12 (small); the other options say how the numbers are modelled.

    >>> PCodecCodec(level=4).config()["level"]
    4
    """

    name: ClassVar[str] = "numcodecs.pcodec"
    needs: ClassVar[tuple[str, str] | None] = ("pcodec", "blizzarr[codecs]")
    types: ClassVar[tuple[str, ...]] = ("<u2", "<u4", "<u8", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8")
    options: ClassVar[tuple[Option, ...]] = (
        integer("level", 0, 12, required=False),
        one_of("mode_spec", ("auto", "classic"), required=False),
        one_of("delta_spec", ("auto", "no_op", "none", "try_consecutive", "try_lookback"), required=False),
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

    def encode(self, array: Array) -> Any:
        made = self
        if self.delta_spec in ("none", "no_op") and self.delta_encoding_order is None:
            # These are one, and the same as this. numcodecs before 0.17 knows only the first, for which it calls what
            # pcodec 1 does not have.
            made = replace(self, delta_spec="try_consecutive", delta_encoding_order=0)
        return library.make(made.config()).encode(array.reshape(-1))

    def decode(self, encoded: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        made = np.empty(prod(shape), dtype)
        import_module("pcodec")
        # Before version 1 this module is no attribute of it.
        progress = sys.modules["pcodec.standalone"].simple_decompress_into(encoded, made)
        if progress.n_processed != made.size or not progress.finished:
            found = f"{progress.n_processed:,}" if progress.finished else "more"
            raise CodecError(f"expected {made.size:,} numbers, found {found}")
        return made.reshape(shape)


_MAX_RANK = 4


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


@dataclass(frozen=True, slots=True)
class ZFPYCodec(ArraySerializer):
    """Zfp, which compresses numbers with a bounded loss.

    `mode` is 2 (a number of bits per number: `rate`), 3 (`precision`) or 4 (accuracy: `tolerance`).

    >>> ZFPYCodec(mode=4, tolerance=0.01).config()
    {'id': 'zfpy', 'mode': 4, 'tolerance': 0.01, 'rate': -1, 'precision': -1}
    """

    name: ClassVar[str] = "numcodecs.zfpy"
    needs: ClassVar[tuple[str, str] | None] = ("zfpy", "blizzarr[zfp]")
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

    def encode(self, array: Array) -> Any:
        option = {2: "rate", 3: "precision", 4: "tolerance"}[self.mode]
        return import_module("zfpy").compress_numpy(array, **{option: getattr(self, option)})

    def decode(self, encoded: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        zfpy = import_module("zfpy")
        header = zfpy.header(encoded)
        # Before anything is allocated; axes that the data do not have are said to be 0 long.
        claimed = prod(header[axis] or 1 for axis in ("nx", "ny", "nz", "nw"))
        if claimed != prod(shape) or np.dtype(header["type"]) != dtype:
            expected = f"{prod(shape):,} numbers of type {dtype.name}"
            raise CodecError(f"expected {expected}, found {claimed:,} of type {np.dtype(header['type']).name}")
        return np.asarray(zfpy.decompress_numpy(encoded)).reshape(shape)

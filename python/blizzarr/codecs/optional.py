"""``zarrs.optional`` (array -> bytes): elements that may be missing.

A chunk is the lengths of its two parts, 64-bit little-endian, then the parts: which elements there are, as booleans,
and the values of these. Each part has codecs of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np

from blizzarr.codecs import chain as chains
from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step
from blizzarr.codecs.in_numpy import Array, Layout, Serializer
from blizzarr.codecs.inner_chain import codecs_option, decode_chains, decoded, encoded
from blizzarr.dtypes import DataType
from blizzarr.dtypes.optional import NAME
from blizzarr.errors import CodecError
from blizzarr.problems import Problems

_BOOL: Final = DataType.parse("bool")
_LENGTHS: Final = 16
"""The bytes of the two lengths."""


@dataclass(frozen=True, slots=True)
class OptionalCodec(Codec):
    """The codec ``zarrs.optional`` (array -> bytes): stores which elements there are, and the values of these only.

    Specification: https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/optional/

    Parameters
    ----------
    mask_codecs
        The codecs of the booleans, ``packbits`` by default.
    data_codecs
        The codecs of the values, little-endian ``bytes`` by default.

    Examples
    --------
    >>> import blizzarr, numpy as np
    >>> from blizzarr.dtypes import optional
    >>> dtype = {"name": "zarrs.optional", "configuration": {"name": "uint8"}}
    >>> array = blizzarr.create_array({}, shape=3, dtype=dtype)
    >>> array[:2] = np.ma.array([5, 6], mask=[False, True])
    >>> optional.masked(array[:]).tolist()
    [5, None, None]
    """

    name: ClassVar[str] = "zarrs.optional"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    options: ClassVar[tuple[Option, ...]] = (codecs_option("mask_codecs"), codecs_option("data_codecs"))

    mask_codecs: Any = ("packbits",)
    data_codecs: Any = None

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        if not cls(("packbits",), ("bytes",)).fits(chunk, path, problems):
            return None
        inner = None if chunk.dtype is None else chunk.dtype.fields[1].dtype
        types = {"mask_codecs": _BOOL, "data_codecs": inner}
        parts = decode_chains(configuration, types, path, problems, chunk.depth)
        if parts is None:
            return None
        return super(OptionalCodec, cls).from_json({**configuration, **parts}, path, problems, chunk)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None or chunk.dtype.name == NAME:
            return True
        problems.add(path, f"a codec for elements of {chunk.dtype}; this one is for {NAME}", self.name)
        return False

    def resolve(self, chunk: Chunk) -> Self:
        problems = Problems()
        self.fits(chunk, "serializer", problems)
        problems.raise_any()
        assert chunk.dtype is not None
        inner = chunk.dtype.fields[1].dtype
        codecs = ["bytes"] if self.data_codecs is None else self.data_codecs
        return replace(
            self,
            mask_codecs=chains.resolve(self.mask_codecs, Chunk(_BOOL, (1,))),
            data_codecs=chains.resolve(codecs, Chunk(inner, (1,))),
        )

    def steps(self, chunk: Chunk) -> list[Step]:
        return [("bytes", 0), ("python", Serializer(self.name, self, Layout.of(chunk)))]

    def encode(self, array: Array) -> bytes:
        """Return the bytes for a chunk."""
        there, values = array["is_valid"], array["value"]
        mask = encoded(self.mask_codecs, _BOOL, there.tobytes())
        data = encoded(self.data_codecs, DataType.parse(values.dtype), values[there].tobytes())
        return b"".join([len(mask).to_bytes(8, "little"), len(data).to_bytes(8, "little"), mask, data])

    def decode(self, stored: bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return the chunk for its bytes; raise `CodecError` if its parts have other lengths."""
        lengths = [int.from_bytes(stored[start : start + 8], "little") for start in (0, 8)]
        if len(stored) < _LENGTHS or sum(lengths) != len(stored) - _LENGTHS:
            raise CodecError(f"expected parts of {lengths[0]:,} and {lengths[1]:,} bytes, found {len(stored):,} in all")
        records = np.zeros(shape, dtype)
        mask, data = stored[_LENGTHS : _LENGTHS + lengths[0]], stored[_LENGTHS + lengths[0] :]
        there = np.frombuffer(decoded(self.mask_codecs, _BOOL, mask, records.size), "u1").reshape(shape) != 0
        values = decoded(self.data_codecs, DataType.parse(dtype["value"]), data, int(np.count_nonzero(there)))
        records["is_valid"] = there
        records["value"][there] = np.frombuffer(values, dtype["value"])
        return records

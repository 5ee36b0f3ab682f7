"""``zarrs.vlen``, ``zarrs.vlen_v2`` and ``vlen-array`` (array -> bytes): texts and byte strings as zarrs stores them.

``zarrs.vlen_v2`` and ``vlen-array`` store what ``vlen-utf8`` and ``vlen-bytes`` do. ``zarrs.vlen`` has the offsets of
the elements, and after them the elements without gaps, each with codecs of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any, ClassVar, Final, Self

import numpy as np

from blizzarr import _native
from blizzarr.codecs import chain as chains
from blizzarr.codecs.codec import Chunk, Option, one_of
from blizzarr.codecs.inner_chain import codecs_option, decode_chains, decoded, encoded
from blizzarr.codecs.objects.codec import MAX_CHUNK_BYTES, Refusal, Table
from blizzarr.codecs.objects.python_table import PythonObjectCodec
from blizzarr.codecs.objects.vlen import VlenBytesCodec, VlenUtf8Codec
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError, LimitError
from blizzarr.problems import Problems

_KINDS: Final = {"string": VlenUtf8Codec(), "bytes": VlenBytesCodec()}
_BYTE: Final = DataType.parse("uint8")
_OFFSETS: Final = ("uint32", "uint64")
"""The data types that offsets can have."""
_PREFIX: Final = 8
"""The bytes of the length of the offsets."""


class _OfZarrs(PythonObjectCodec):
    """What these codecs share: the type of the elements follows from the array, and is a field of theirs."""

    __slots__ = ()

    kind: str | None

    @property
    def element_type(self) -> str:  # type: ignore[override]
        return self.kind or "string"

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super().from_json(configuration, path, problems, chunk._replace(dtype=None))
        if codec is None or chunk.dtype is None:
            return codec
        codec = replace(codec, kind=chunk.dtype.name)  # type: ignore[type-var]
        return codec if codec.fits(chunk, path, problems) else None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None or chunk.dtype.name in _KINDS:
            return True
        problems.add(path, f"a codec for elements of {chunk.dtype}; this one is for string and bytes", self.name)
        return False

    def resolve(self, chunk: Chunk) -> Self:
        return replace(self, kind=None if chunk.dtype is None else chunk.dtype.name)  # type: ignore[type-var]

    def refuses(self, element: Any) -> Refusal | None:
        return _KINDS[self.element_type].refuses(element)


@dataclass(frozen=True, slots=True)
class VlenV2Codec(_OfZarrs):
    """The codec ``zarrs.vlen_v2`` (array -> bytes): texts or byte strings, each after its length.

    There are no options in documents.

    Specification: https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen_v2/

    Parameters
    ----------
    kind
        The data type of the elements, which that of the array says.

    Examples
    --------
    >>> VlenV2Codec().to_json()
    {'name': 'zarrs.vlen_v2'}
    """

    name: ClassVar[str] = "zarrs.vlen_v2"

    kind: str | None = None

    def table(self, fill: Any) -> Table:  # type: ignore[override]
        return _native.ElementTable(self.name, fill)


@dataclass(frozen=True, slots=True)
class VlenArrayOfZarrsCodec(VlenV2Codec):
    """The codec ``vlen-array`` of v3 (array -> bytes): byte strings, each after its length, as zarrs reads it.

    There are no options in documents.

    Specification: https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen_array/

    Parameters
    ----------
    kind
        The data type of the elements, which that of the array says.

    Examples
    --------
    >>> VlenArrayOfZarrsCodec().to_json()
    {'name': 'vlen-array'}
    """

    name: ClassVar[str] = "vlen-array"


@dataclass(frozen=True, slots=True)
class VlenCodec(_OfZarrs):
    """The codec ``zarrs.vlen`` (array -> bytes): the offsets of texts or byte strings, then all of them without gaps.

    Specification: https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen/

    Parameters
    ----------
    index_codecs
        The codecs of the offsets.
    data_codecs
        The codecs of the bytes of all elements.
    index_data_type
        The data type of the offsets: ``"uint32"`` or ``"uint64"``.
    index_location
        Whether the offsets are at the ``"start"`` of a chunk or at its ``"end"``.
    kind
        The data type of the elements, which that of the array says.

    Examples
    --------
    >>> import blizzarr
    >>> array = blizzarr.create_array({}, data=["a", "bcd"], dtype="string", serializer=VlenCodec())
    >>> array[:].tolist()
    ['a', 'bcd']
    """

    name: ClassVar[str] = "zarrs.vlen"
    options: ClassVar[tuple[Option, ...]] = (
        codecs_option("index_codecs"),
        codecs_option("data_codecs"),
        one_of("index_data_type", _OFFSETS),
        one_of("index_location", ("start", "end"), required=False),
    )

    index_codecs: Any = ({"name": "bytes", "configuration": {"endian": "little"}},)
    data_codecs: Any = ("bytes",)
    index_data_type: str = "uint32"
    index_location: str = "start"
    kind: str | None = None

    @property
    def _offset(self) -> DataType:
        return DataType.parse(self.index_data_type)

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        name = configuration.get("index_data_type")
        offset = DataType.parse(name) if name in _OFFSETS else None
        types = {"index_codecs": offset, "data_codecs": _BYTE}
        parts = decode_chains(configuration, types, path, problems, chunk.depth)
        if parts is None:
            return None
        return super(VlenCodec, cls).from_json({**configuration, **parts}, path, problems, chunk)

    def resolve(self, chunk: Chunk) -> Self:
        index = chains.resolve(self.index_codecs, Chunk(self._offset, (1,)))
        codec = super(VlenCodec, self).resolve(chunk)
        return replace(codec, index_codecs=index, data_codecs=chains.resolve(self.data_codecs, Chunk(_BYTE, (1,))))

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        """Return the bytes for the elements of a chunk; raise `LimitError` if these have more than a chunk may have."""
        parts = [element.encode() for element in elements] if self.element_type == "string" else elements
        offsets = np.cumsum([0, *map(len, parts)], dtype=np.uint64)
        if offsets[-1] > MAX_CHUNK_BYTES:
            raise LimitError(f"{_beyond(offsets[-1])}; use smaller chunks")
        index = encoded(self.index_codecs, self._offset, offsets.astype(self.index_data_type).tobytes())
        data = encoded(self.data_codecs, _BYTE, b"".join(parts))
        length = len(index).to_bytes(_PREFIX, "little")
        return data + index + length if self.index_location == "end" else length + index + data

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        """Return the elements of a chunk; raise `CodecError` if they, or the offsets, are damaged or too long."""
        at_end = self.index_location == "end"
        length = int.from_bytes(encoded[-_PREFIX:] if at_end else encoded[:_PREFIX], "little")
        room = len(encoded) - _PREFIX
        if room < 0 or length > room:
            raise CodecError(f"expected offsets of {length:,} bytes, found {max(room, 0):,} bytes")
        cut = room - length if at_end else _PREFIX + length
        index, data = (encoded[cut:room], encoded[:cut]) if at_end else (encoded[_PREFIX:cut], encoded[cut:])
        offsets = np.frombuffer(decoded(self.index_codecs, self._offset, index, prod(shape) + 1), self.index_data_type)
        if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
            raise CodecError("expected offsets that begin with 0 and do not decrease")
        if offsets[-1] > MAX_CHUNK_BYTES:
            reason = "the offsets are damaged, or the chunk is too large for this library"
            raise CodecError(f"{_beyond(offsets[-1])}: {reason}")
        whole = decoded(self.data_codecs, _BYTE, data, int(offsets[-1]))
        places = offsets.tolist()
        parts = [whole[start:end] for start, end in pairwise(places)]
        if self.element_type != "string":
            return parts
        try:
            return [part.decode() for part in parts]
        except UnicodeDecodeError as error:
            raise CodecError(f"expected text in UTF-8: {error}") from error


def _beyond(length: int) -> str:
    return f"expected at most {MAX_CHUNK_BYTES:,} bytes of elements in a chunk, found {length:,}"

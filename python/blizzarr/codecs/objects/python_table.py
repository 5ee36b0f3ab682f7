"""Tables of objects that are encoded in Python."""

from __future__ import annotations

from copy import deepcopy
from math import prod
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.objects.codec import MAX_CHUNK_BYTES, ObjectCodec
from blizzarr.dtypes.data_type import OBJECT
from blizzarr.errors import CodecError, LimitError

_SHARED = (type(None), bool, int, float, str, bytes)
"""Types with immutable values that are equal if their `repr` is."""


class PythonObjectCodec(ObjectCodec):
    """The base class of codecs that encode lists of objects in Python."""

    __slots__ = ()

    element_type: ClassVar[str] = "object"

    def table(self, fill: Any) -> PythonTable:
        return PythonTable(self, fill)

    def takes(self, elements: list[Any]) -> bool:
        """Return whether all of these objects can be encoded."""
        return all(self.refuses(element) is None for element in elements)

    def same_fill(self, one: Any, other: Any) -> bool:
        identity = OBJECT.fill_identity
        return identity(one) == identity(other) or identity(self._read_back(one)) == identity(self._read_back(other))

    def _read_back(self, element: Any) -> Any:
        return self.decode(self.encode([element], (1,)), (1,))[0]

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        """Return the bytes for the objects of a chunk of this shape, in C order."""
        raise NotImplementedError

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        """Return the objects of a chunk; the caller checks their number."""
        raise NotImplementedError


class PythonTable:
    """The objects of one operation in a list; a token is an index into it."""

    def __init__(self, codec: PythonObjectCodec, fill: Any) -> None:
        self._codec = codec
        self._fill = fill
        # A mutable fill value is copied for each element, because it belongs to the metadata.
        self._copied = type(fill) not in _SHARED
        self._elements = [fill]
        # Several threads decode chunks.
        self._lock = Lock()

    def put(self, elements: npt.NDArray[Any], /) -> bytes:
        listed = elements.tolist()
        if not self._codec.takes(listed):
            raise TypeError(f"expected objects that {self._codec.name} can encode")
        return self.add(listed)

    def add(self, elements: list[Any]) -> bytes:
        """Return the tokens of these objects without checking them."""
        with self._lock:
            first = len(self._elements)
            self._elements.extend(elements)
        tokens = np.arange(first, first + len(elements), dtype=np.int64)
        fill, kind = self._fill, type(self._fill)
        if kind in _SHARED:
            text = repr(fill)
            # By type and text: 0 is not false, and -0.0 not 0.0.
            equal = [token for token, element in enumerate(elements) if type(element) is kind and repr(element) == text]
            tokens[equal] = 0
        return tokens.tobytes()

    def take(self, tokens: Any, out: npt.NDArray[Any], /) -> None:
        # Not `out[:] = list`, because objects may be lists, too.
        out[:] = np.fromiter(self.objects(tokens), out.dtype, out.size)

    def objects(self, tokens: Any) -> list[Any]:
        """Return the objects of these tokens."""
        elements = self._elements
        places = np.frombuffer(tokens, np.int64).tolist()
        if self._copied:
            return [elements[token] if token else deepcopy(self._fill) for token in places]
        return [elements[token] for token in places]

    def engine_codec(self, shape: tuple[int, ...], /) -> Any:
        return _EngineCodec(self, self._codec, shape)


class _EngineCodec:
    """A codec in Python as the engine calls it, for chunks of one shape."""

    fixed_size = False

    def __init__(self, table: PythonTable, codec: PythonObjectCodec, shape: tuple[int, ...]) -> None:
        self.name = codec.name
        self._table = table
        self._codec = codec
        self._shape = shape

    def encoded_size(self, decoded: int) -> int:
        return MAX_CHUNK_BYTES

    def encode(self, tokens: bytes) -> bytes:
        encoded = self._codec.encode(self._table.objects(tokens), self._shape)
        if len(encoded) > MAX_CHUNK_BYTES:
            raise LimitError(f"expected at most {MAX_CHUNK_BYTES:,} bytes in a chunk, found {len(encoded):,}")
        return encoded

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        elements = self._codec.decode(encoded, self._shape)
        if len(elements) != prod(self._shape):
            raise CodecError(f"expected {prod(self._shape):,} elements, found {len(elements):,}")
        return self._table.add(elements)

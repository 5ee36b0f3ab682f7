"""The step of the engine in which all filters of a chain and its serializer run.

For the engine it is a codec from bytes to bytes: from the elements of a chunk, as they are in memory after the
transpositions, to the input of the next compressor. All sizes follow from the size of the chunk and are checked, so
that damaged data is found before a filter gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, memory_type
from blizzarr.codecs.numcodecs.element_type import in_order, order_of
from blizzarr.codecs.numcodecs.serializers import ArraySerializer
from blizzarr.errors import CodecError


class _Stage(NamedTuple):
    """One filter with the types of its input and output."""

    filter: ArrayFilter
    taken: np.dtype[Any]
    made: np.dtype[Any]

    def made_size(self, size: int) -> int:
        """Return the bytes of the output for `size` bytes of input."""
        return self.filter.encoded_count(size // self.taken.itemsize) * self.made.itemsize


class FilterRun:
    """Filters and a serializer, for chunks of one type and shape.

    >>> from blizzarr.codecs.numcodecs import DeltaCodec
    >>> from blizzarr.dtypes import DataType
    >>> run = FilterRun([DeltaCodec("<u2", "|u1")], BytesCodec(None), Chunk(DataType.parse("uint16"), (4,)))
    >>> encoded = bytes(run.encode(np.array([7, 8, 10, 13], "u2").tobytes()))
    >>> encoded.hex()
    '07010203'
    >>> np.frombuffer(run.decode(encoded, 8), "u2")
    array([ 7,  8, 10, 13], dtype=uint16)
    """

    def __init__(self, filters: Sequence[ArrayFilter], serializer: Codec, chunk: Chunk) -> None:
        assert chunk.dtype is not None
        self.name = "+".join(codec.name for codec in filters) or serializer.name
        self._native = chunk.dtype.numpy
        self._given = memory_type(chunk.dtype)
        self._stages: list[_Stage] = []
        dtype = self._given
        for codec in filters:
            taken = codec.decoded_type(dtype)
            dtype = codec.encoded_type(taken)
            self._stages.append(_Stage(codec, taken, dtype))
            chunk = codec.after(chunk)
        self._serializer = serializer
        self._chunk = chunk
        self._made = dtype
        # The type of the stored elements, with the byte order of the codec `bytes`.
        self._stored = dtype
        if isinstance(serializer, BytesCodec) and order_of(dtype):
            self._stored = in_order(dtype, serializer.endian)
        self.fixed_size = serializer.fixed_size
        """True if `encoded_size` is exact."""

    def encoded_size(self, decoded: int) -> int:
        """Return the largest encoded size of a chunk of `decoded` bytes."""
        size = self._sizes(decoded)[-1]
        if isinstance(self._serializer, ArraySerializer):
            return self._serializer.max_encoded_size(size)
        return size

    def _sizes(self, decoded: int) -> list[int]:
        sizes = [decoded]
        for stage in self._stages:
            sizes.append(stage.made_size(sizes[-1]))
        return sizes

    def encode(self, decoded: bytes) -> Any:
        """Encode the elements of a chunk by all filters and the serializer.

        Raise `CodecError` if a filter would lose elements.
        """
        array = np.frombuffer(decoded, self._native).astype(self._given, copy=False)
        for stage in self._stages:
            array = stage.filter.encode(array)
        if isinstance(self._serializer, ArraySerializer):
            return self._serializer.encode_array(array, self._chunk)
        return np.ascontiguousarray(array.astype(self._stored, copy=False)).view(np.uint8)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        """Decode the elements of a chunk of `max_size` bytes.

        Raise `CodecError` if a size is not the one that it must be.
        """
        sizes = self._sizes(max_size)
        array = self._deserialized(encoded, sizes[-1])
        # NumPy warns of overflow where numbers are stored; readers cannot do anything about it.
        with np.errstate(all="ignore"):
            for stage, size in zip(reversed(self._stages), reversed(sizes[:-1]), strict=True):
                array = stage.filter.decode(array.view(stage.made))
                if array.nbytes != size:
                    raise CodecError(f"expected {size:,} bytes from {stage.filter.name}, found {array.nbytes:,}")
        if sys.byteorder == "big":
            array = array.view(self._given).astype(self._native, copy=False)
        return np.ascontiguousarray(array).view(np.uint8)

    def _deserialized(self, encoded: bytes, size: int) -> npt.NDArray[Any]:
        """Return the output of the last filter, which must have `size` bytes."""
        if isinstance(self._serializer, ArraySerializer):
            array = self._serializer.decode_array(encoded, self._made, self._chunk)
            if array.nbytes == size:
                return array.reshape(-1)
            raise CodecError(f"expected {size:,} bytes, found {array.nbytes:,}")
        if len(encoded) != size:
            raise CodecError(f"expected {size:,} bytes, found {len(encoded):,}")
        return np.frombuffer(encoded, self._stored).astype(self._made, copy=False)

"""The steps of a chain whose elements go through filters: from memory, in C order, to the bytes of the serializer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from blizzarr.codecs.codec import Chunk, Codec, Step
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, endian_of, memory_type
from blizzarr.codecs.numcodecs.element_type import in_order
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.errors import CodecError

_TOKEN: Final = np.dtype("u8")


def filtered_steps(filters: Sequence[tuple[Codec, Chunk]], serializer: Codec, last: Chunk) -> list[Step]:
    """Return the steps of filters, each with its input, and of the serializer, whose input is `last`.

    Filters of numcodecs that follow each other get memory as the one before left it, whatever its byte order.
    """
    steps: list[Step] = [("bytes", 0)]
    memory: np.dtype[Any] | None = None
    for codec, chunk in filters:
        if isinstance(codec, ArrayFilter):
            assert chunk.dtype is not None
            if memory is None:
                memory = memory_type(chunk.dtype)
                steps += _swapped(memory, chunk)
            steps += _filter_steps(codec, memory)
            memory = codec.encoded_type(codec.decoded_type(memory))
        elif isinstance(codec, TransposeCodec):
            steps.append(_turned(codec, chunk))
        elif others := codec.steps(chunk):
            steps += [*_swapped(memory, chunk), *others]
            memory = None
    steps += _swapped(memory, last)
    for step in serializer.steps(last):
        if step[0] == "transpose":
            steps.append(_turned(TransposeCodec(step[1]), last))
        elif step[0] != "bytes":
            steps.append(step)
        elif isinstance(step[1], tuple):
            assert last.dtype is not None
            stored = in_order(last.dtype.numpy, getattr(serializer, "endian", None))
            steps.append(("python", _Conversion((-1,), (0,), last.dtype.numpy, stored, "bytes")))
        elif step[1]:
            steps.append(("swap", step[1]))
    return steps


def _filter_steps(codec: ArrayFilter, memory: np.dtype[Any]) -> list[Step]:
    step = codec.engine_step(memory)
    if step is None:
        return [("python", _Filter(codec, memory))]
    taken = codec.decoded_type(memory)
    # The engine knows elements in the machine's byte order only.
    before, after = (
        [] if dtype.isnative else [("swap", dtype.itemsize)] for dtype in (taken, codec.encoded_type(taken))
    )
    return [*before, step, *after]


def _swapped(memory: np.dtype[Any] | None, chunk: Chunk) -> list[Step]:
    """Return the step from the machine's byte order to that of memory, or back, if they differ."""
    is_swapped = memory is not None and endian_of(memory) not in (sys.byteorder, None)
    return [("swap", chunk.dtype.swap)] if is_swapped and chunk.dtype is not None else []


@dataclass(frozen=True, slots=True)
class _Filter:
    """The step of a filter of numcodecs in NumPy.

    All sizes follow from the size of the chunk and are checked, so that damaged data is found before a filter gets it.
    """

    codec: ArrayFilter
    given: np.dtype[Any]
    fixed_size: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.codec.name

    @property
    def element(self) -> tuple[int, int, bool] | None:
        """The bytes of an element, decoded and encoded, and whether decoding changes nothing, for the engine.

        None unless each element is encoded by itself, so that a part can be decoded.
        """
        if not self.codec.elementwise:
            return None
        taken = self.codec.decoded_type(self.given)
        made = self.codec.encoded_type(taken)
        return taken.itemsize, made.itemsize, self.codec.decodes_to_type and made == taken

    def encoded_size(self, decoded: int) -> int:
        taken = self.codec.decoded_type(self.given)
        return self.codec.encoded_count(decoded // taken.itemsize) * self.codec.encoded_type(taken).itemsize

    def encode(self, decoded: bytes) -> Any:
        return np.ascontiguousarray(self.codec.encode(np.frombuffer(decoded, self.given))).view(np.uint8)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        size = self.encoded_size(max_size)
        if len(encoded) != size:
            raise CodecError(f"expected {size:,} bytes, found {len(encoded):,}")
        made = self.codec.encoded_type(self.codec.decoded_type(self.given))
        # NumPy warns of overflow where numbers are stored; readers cannot do anything about it.
        with np.errstate(all="ignore"):
            array = self.codec.decode(np.frombuffer(encoded, made))
        if array.nbytes != max_size:
            raise CodecError(f"expected {max_size:,} bytes from {self.name}, found {array.nbytes:,}")
        return np.ascontiguousarray(array).view(np.uint8)


def _turned(codec: TransposeCodec, chunk: Chunk) -> Step:
    assert chunk.dtype is not None
    assert chunk.shape is not None
    # To the engine, objects are tokens.
    dtype = _TOKEN if chunk.dtype.numpy.hasobject else chunk.dtype.numpy
    return ("python", _Conversion(chunk.shape, codec.order, dtype, dtype, "transpose"))


@dataclass(frozen=True, slots=True)
class _Conversion:
    """Another order of axes or bytes behind a filter that gave chunks another shape, which the engine does not know."""

    shape: tuple[int, ...]
    order: tuple[int, ...]
    taken: np.dtype[Any]
    made: np.dtype[Any]
    name: str
    fixed_size: ClassVar[bool] = True

    def encoded_size(self, decoded: int) -> int:
        return decoded

    def encode(self, decoded: bytes) -> Any:
        turned = np.frombuffer(decoded, self.taken).reshape(self.shape).transpose(self.order)
        return turned.astype(self.made, copy=False).ravel().view(np.uint8)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        turned = np.frombuffer(encoded, self.made).reshape([self.shape[axis] for axis in self.order])
        return turned.transpose(np.argsort(self.order)).astype(self.taken, copy=False).ravel().view(np.uint8)

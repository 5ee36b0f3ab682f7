"""Runs of numcodecs' codecs, as v1 and v2 have them, for chains that cannot be expressed otherwise.

In v1 and v2, each codec gets the output of the one before it, array or bytes, and interprets it as it likes. So a
filter may follow a compressor, read big-endian memory as little-endian, or be a codec that only its user knows. Such
codecs run in one step of the engine, as a codec from arrays to bytes.

>>> from blizzarr.codecs.numcodecs import DeltaCodec, ZlibCodec
>>> NumcodecsRun((ZlibCodec(), DeltaCodec("|u1"))).configuration()["codecs"]
[{'id': 'zlib', 'level': 1}, {'id': 'delta', 'dtype': '|u1'}]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from blizzarr import _native
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.element_type import in_order
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError

_BYTE: Final = DataType.parse("uint8")
_LARGEST: Final = 4
"""The largest output of a codec in the middle of a run, as a multiple of the chunk's size; `_MORE` bytes are added."""
_MORE: Final = 65536


@dataclass(frozen=True, slots=True)
class NumcodecsRun(Codec):
    """Several codecs of numcodecs as one codec, which no v3 document can name.

    `order` and `endian` describe the memory in which the first of them gets a chunk, in its shape.
    """

    name: ClassVar[str] = "numcodecs"
    stage: ClassVar[Stage] = Stage.SERIALIZER

    codecs: tuple[NumcodecsCodec, ...]
    order: Literal["C", "F"] = "C"
    endian: str | None = "little"

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(dtype=_BYTE)

    def resolve(self, chunk: Chunk) -> Self:
        return replace(self, endian=None) if chunk.dtype is not None and not chunk.dtype.swap else self

    def steps(self, chunk: Chunk) -> list[Step]:
        return [BytesCodec(self.endian).step(chunk), ("python", _Running(self, chunk))]

    def configuration(self) -> dict[str, Any]:
        return {"codecs": [codec.config() for codec in self.codecs], "order": self.order, "endian": self.endian}


class _Running:
    """The step of the engine: turns elements in the byte order and axis order of the array into bytes, and back."""

    def __init__(self, run: NumcodecsRun, chunk: Chunk) -> None:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        self.name = "+".join(str(codec.config()["id"]) for codec in run.codecs)
        self._dtype = chunk.dtype.numpy if run.endian is None else in_order(chunk.dtype.numpy, run.endian)
        self._order = run.order
        # The engine has transposed the axes already.
        self._shape = chunk.shape[::-1] if run.order == "F" else chunk.shape
        size = self._dtype.itemsize * int(np.prod(self._shape, dtype=object))
        self._codecs = [_runner(codec, _LARGEST * size + _MORE) for codec in run.codecs]

    def encode(self, decoded: bytes) -> Any:
        """Return the output of the last codec for the elements of a chunk."""
        # A copy, because some codecs in C require writable memory.
        made: Any = np.frombuffer(bytearray(decoded), self._dtype).reshape(self._shape, order=self._order)
        for codec in self._codecs:
            made = codec.encode(made)
        return _bytes(made)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        """Return the elements of a chunk; raise `CodecError` unless they have `max_size` bytes."""
        made: Any = encoded
        # NumPy warns of overflow where numbers are stored; readers cannot do anything about it.
        with np.errstate(all="ignore"):
            for codec in reversed(self._codecs):
                made = codec.decode(made)
        size = made.nbytes if isinstance(made, np.ndarray) else memoryview(made).nbytes
        if size != max_size:
            raise CodecError(f"expected {max_size:,} bytes, found {size:,}")
        if isinstance(made, np.ndarray):
            # Some codecs, as those of images, return an array in the chunk's shape.
            made = np.ascontiguousarray(made).view(self._dtype).reshape(self._shape, order=self._order)
            return made.tobytes(self._order)
        return made


class _Bounded:
    """One of our codecs from bytes to bytes, for any buffer, with an output of at most `bound` bytes."""

    def __init__(self, step: Step, bound: int) -> None:
        self._codec = step[1] if step[0] == "python" else None
        steps = [("bytes", 0)] if self._codec else [("bytes", 0), step]
        self._chain = _native.Chain((bound,), 1, b"\0", False, steps)
        self._bound = bound

    def encode(self, made: Any) -> Any:
        return self._codec.encode(_bytes(made)) if self._codec else self._chain.encode(_bytes(made))

    def decode(self, made: Any) -> Any:
        return self._codec.decode(_bytes(made), self._bound) if self._codec else self._chain.decode(_bytes(made))


def _runner(codec: NumcodecsCodec, bound: int) -> Any:
    """Return the object that encodes and decodes: our codec, or that of numcodecs if it is a user's."""
    if isinstance(codec, ArrayFilter):
        return codec
    if codec.stage is Stage.COMPRESSOR:
        return _Bounded(codec.step(Chunk(_BYTE, (bound,))), bound)
    return library.make(codec.config())


def _bytes(made: Any) -> bytes:
    """Return the bytes of a codec's output, in the order in which they are in memory."""
    if isinstance(made, np.ndarray):
        if made.dtype.hasobject:
            raise CodecError("expected bytes or numbers from a codec, found objects")
        return made.tobytes("A")
    return made if isinstance(made, bytes) else bytes(memoryview(made).cast("B"))

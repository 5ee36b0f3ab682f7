"""The base class of numcodecs' codecs from arrays to arrays, the filters.

A filter reads the memory of an array as elements of `decoded_type`, whatever they were, and makes elements of
`encoded_type`. In memory these have the byte order of the option, or are little-endian if the filter keeps the type
that it is given; the serializer after the last filter converts them to the stored order.

In v2, filters of big-endian arrays get memory in the array's byte order. If every filter reads elements as what they
are, that makes no difference; if one reads big-endian memory as another type, it does (`to_little`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.numcodecs.element_type import element_type, in_order, order_of
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import MetadataError
from blizzarr.problems import Problems


def memory_type(dtype: DataType, is_big: bool = False) -> np.dtype[Any]:
    """Return the type of elements in memory, as a filter reads them; those of an array are little-endian."""
    # Elements with fields of both byte orders are in memory as they are stored.
    return in_order(dtype.numpy, "big" if is_big else "little") if dtype.swap else dtype.numpy


class ArrayFilter(NumcodecsCodec):
    """The base class of filters."""

    __slots__ = ()

    stage: ClassVar[Stage] = Stage.FILTER
    fixed_size: ClassVar[bool] = True
    type_options: ClassVar[tuple[str, ...]] = ()
    """The names of the options that are element types, if any: of the input, and of the output."""
    decodes_to_type: ClassVar[bool] = False
    """True if decoding does no more than to give elements another type."""

    @property
    def is_open(self) -> bool:
        """True if the filter reads memory as elements of a type that is not chosen yet (`resolve`)."""
        return bool(self.type_options) and getattr(self, self.type_options[0]) is None

    def decoded_type(self, given: np.dtype[Any]) -> np.dtype[Any]:
        """Return the type as which the memory of elements of the type `given` is read."""
        return self._type(0) or given

    def encoded_type(self, taken: np.dtype[Any]) -> np.dtype[Any]:
        """Return the type of the output for an input that is read as `taken`."""
        return self._type(1) or taken

    def _type(self, position: int) -> np.dtype[Any] | None:
        spelling = getattr(self, self.type_options[position]) if self.type_options else None
        return None if spelling is None else element_type(spelling)

    def encoded_count(self, count: int) -> int:
        """Return the number of elements in the output for `count` elements in the input."""
        return count

    def encode(self, given: Any) -> npt.NDArray[Any]:
        """Return the output for the memory of an array, or for bytes."""
        memory = self._memory(given)
        taken = self.decoded_type(memory.dtype)
        return self.encoded(memory.view(taken), self.encoded_type(taken))

    def decode(self, stored: Any) -> npt.NDArray[Any]:
        """Return the input for the memory of an output, or for its bytes."""
        memory = self._memory(stored)
        taken = self.decoded_type(memory.dtype)
        return self.decoded(memory.view(self.encoded_type(taken)), taken)

    def _memory(self, given: Any) -> npt.NDArray[Any]:
        array = given if isinstance(given, np.ndarray) else np.frombuffer(given, np.uint8)
        # A codec that a user registered may follow, and needs the shape.
        return array if self.elementwise else array.reshape(-1, order="A")

    def encoded(self, given: npt.NDArray[Any], made: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return elements of the type `made`."""
        raise NotImplementedError

    def decoded(self, stored: npt.NDArray[Any], taken: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return elements of the type `taken`."""
        raise NotImplementedError

    def resolve(self, chunk: Chunk) -> Self:
        if chunk.dtype is None or not self.type_options:
            return self
        # Spelled as in numcodecs, with the byte order: "float32" is "<f4".
        taken = self.decoded_type(memory_type(chunk.dtype, chunk.is_big))
        types = taken.str, self.encoded_type(taken).str
        return replace(self, **dict(zip(self.type_options, types, strict=True)))  # type: ignore[type-var]

    def ordered(self, endian: str) -> Self:
        """Return the filter for elements in this byte order, ``"little"`` or ``"big"``."""
        types = {option: self._type(position) for position, option in enumerate(self.type_options)}
        spelled = {option: in_order(dtype, endian).str for option, dtype in types.items() if dtype is not None}
        return replace(self, **spelled)  # type: ignore[type-var]

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        codec = super().from_json(configuration, path, problems, chunk)
        if codec is None:
            return None
        try:
            return codec.resolve(chunk)
        except MetadataError:
            # Types that NumPy itself does not have, like int4.
            problems.add(path, "elements of a data type of NumPy's own, which numcodecs knows", str(chunk.dtype))
            return None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        given = memory_type(chunk.dtype, chunk.is_big)
        taken = self.decoded_type(given)
        if chunk.shape is not None and given.itemsize != taken.itemsize:
            size = given.itemsize * prod(chunk.shape)
            if self.elementwise or size % taken.itemsize:
                same = f"a type of {given.itemsize} bytes, as {chunk.dtype} has"
                expected = same if self.elementwise else f"a type whose size divides the {size} bytes of a chunk"
                problems.add(f"{path}.configuration.{self.type_options[0]}", expected, taken.str)
                return False
        if _parsed(self.encoded_type(taken)) is None:
            problems.add(path, "a filter that makes elements of a supported data type", self.encoded_type(taken).str)
            return False
        return True

    def after(self, chunk: Chunk) -> Chunk:
        if chunk.dtype is None:
            return chunk
        given = memory_type(chunk.dtype, chunk.is_big)
        taken = self.decoded_type(given)
        made = self.encoded_type(taken)
        dtype = chunk.dtype if made == given else _parsed(made)
        shape = chunk.shape
        if shape is not None and not self.elementwise:
            shape = (self.encoded_count(prod(shape) * given.itemsize // taken.itemsize),)
        optional, is_big = not chunk.dtype.swap, order_of(made) == ">"
        return chunk._replace(dtype=dtype, shape=shape, order_optional=optional, is_big=is_big)

    def engine_step(self, given: np.dtype[Any]) -> Step | None:
        """Return the step of the engine for elements of a type in either byte order; None if it has none."""
        taken = self.decoded_type(given)
        types = taken, self.encoded_type(taken)
        if any(dtype.kind not in "iuf" for dtype in types):
            return None
        return self.native(*(dtype.name for dtype in types))

    def native(self, taken: str, made: str) -> Step | None:
        """Return the step of the engine for types of numbers like ``"int32"``; None if it has none."""
        return None


def _parsed(dtype: np.dtype[Any]) -> DataType | None:
    """Return the data type of a filter's output; None if arrays cannot have it."""
    try:
        return DataType.parse(dtype)
    except MetadataError:
        return None


def to_little(
    filters: Sequence[ArrayFilter], dtype: DataType, endian: str | None
) -> tuple[tuple[ArrayFilter, ...], np.dtype[Any]] | None:
    """Return the filters for little-endian memory, and the type of their output for an array in byte order `endian`.

    Return None if a filter reads elements as another type, and either of the types is big-endian.

    >>> from blizzarr.codecs.numcodecs import DeltaCodec
    >>> to_little([DeltaCodec(">i4", ">i2")], DataType.parse("int32"), "big")
    ((DeltaCodec(dtype='<i4', astype='<i2'),), dtype('>i2'))
    >>> to_little([DeltaCodec("<i4", "<i2")], DataType.parse("int32"), "big") is None
    True
    """
    given = in_order(dtype.numpy, endian) if dtype.swap else dtype.numpy
    for codec in filters:
        taken = codec.decoded_type(given)
        # For NumPy, elements with fields do not have a single byte order.
        big = order_of(given) == ">" or order_of(taken) == ">" or (endian == "big" and given.names is not None)
        if big and (order_of(given), given.itemsize) != (order_of(taken), taken.itemsize):
            return None
        given = codec.encoded_type(taken)
    return tuple(codec.ordered("little") for codec in filters), given


def endian_of(dtype: np.dtype[Any]) -> str | None:
    """Return the byte order of a type: ``"little"``, ``"big"``, or None if it has none."""
    return {"<": "little", ">": "big", None: None}[order_of(dtype)]

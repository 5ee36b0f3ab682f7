"""``vlen-array`` (array -> bytes): arrays of one axis and any length, all of one type.

https://numcodecs.readthedocs.io/en/stable/other/vlen.html

A chunk is laid down like one of byte strings (`vlen`), each of which is the elements of one array.

>>> VlenArrayCodec("<i2").config()
{'id': 'vlen-array', 'dtype': '<i2'}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.codecs.codec import Chunk, Option
from blizzarr.codecs.numcodecs.element_type import element_type, type_option
from blizzarr.codecs.objects.codec import ObjectCodec, Refusal, Table
from blizzarr.problems import Problems


@dataclass(frozen=True, slots=True)
class VlenArrayCodec(ObjectCodec):
    """Arrays of elements of `dtype`, a type as NumPy spells it, like ``"<i2"``."""

    name: ClassVar[str] = "numcodecs.vlen-array"
    element_type: ClassVar[str] = "object"
    options: ClassVar[tuple[Option, ...]] = (type_option("dtype"),)

    dtype: str

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Any:
        if chunk.dtype is None or chunk.dtype.name == cls.element_type:
            return super(VlenArrayCodec, cls).from_json(configuration, path, problems, chunk)
        # In v3, where no data type is for any objects, zarrs has this name for its `vlen-array`.
        from blizzarr.codecs.objects.vlen_of_zarrs import VlenArrayOfZarrsCodec

        return VlenArrayOfZarrsCodec.from_json(configuration, path, problems, chunk)

    @property
    def stored_type(self) -> np.dtype[Any]:
        """The type of what is stored."""
        dtype = element_type(self.dtype)
        assert dtype is not None, "the option is checked"
        return dtype

    def table(self, fill: Any) -> Table:
        return ArrayTable(self, fill)

    def refuses(self, element: Any) -> Refusal | None:
        try:
            self.encoded(element)
        except (TypeError, ValueError, OverflowError) as error:
            return f"an array of one axis and {self.dtype}, or a list", f"{type(element).__name__} ({error})"
        return None

    def refuses_fill(self, fill: Any) -> Refusal | None:
        return self.refuses(fill) if isinstance(fill, list | tuple | np.ndarray) else None

    def same_fill(self, one: Any, other: Any) -> bool:
        return not isinstance(one, list | tuple | np.ndarray) or self.encoded(one) == self.encoded(other)

    def encoded(self, element: Any) -> bytes:
        """Return one array as bytes, converted as NumPy does in an assignment; None stands for an empty one."""
        array = np.asarray(() if element is None else element, self.stored_type)
        if array.ndim != 1:
            raise ValueError(f"it has {array.ndim} axes")
        return array.tobytes()


class ArrayTable:
    """The engine's table of byte strings; they are arrays outside of it."""

    def __init__(self, codec: VlenArrayCodec, fill: Any) -> None:
        self._codec = codec
        self._stored_type = codec.stored_type
        self._memory_type = self._stored_type.newbyteorder("=")
        # Documents have a number, an empty text or nothing where they mean none: no array is equal to those.
        empty = codec.encoded(fill) if isinstance(fill, list | np.ndarray) else b""
        self._native = _native.ElementTable(codec.name, empty, self._stored_type.itemsize)

    def put(self, elements: npt.NDArray[Any], /) -> bytes:
        stored, encoded = self._stored_type, self._codec.encoded
        # Most need no conversion, which takes three times as long.
        return self._native.put(
            [
                one.tobytes() if type(one) is np.ndarray and one.dtype == stored and one.ndim == 1 else encoded(one)
                for one in elements.tolist()
            ]
        )

    def take(self, tokens: Any, out: Any, /) -> None:
        self._native.take(tokens, out)
        # Each array owns its memory: what a user changes in one of them shows nowhere else.
        arrays = (np.frombuffer(element, self._stored_type).astype(self._memory_type) for element in out.tolist())
        out[:] = np.fromiter(arrays, out.dtype, out.size)

    def join(self, tokens: Any, /) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Return the offsets of the arrays of these tokens, and the elements of all of them without gaps."""
        offsets, joined = self._native.join(tokens)
        elements = np.frombuffer(joined, self._stored_type).astype(self._memory_type, copy=False)
        return np.frombuffer(offsets, np.int64) // self._stored_type.itemsize, elements

    def engine_codec(self, shape: tuple[int, ...], /) -> Any:
        return self._native

"""The base class of codecs for elements of variable length (objects), which the engine moves as tokens.

For the engine an array of objects is an array of 64-bit tokens. Each operation has a `Table`, which knows the object of
each token: writing puts the user's objects into it, reading takes objects out of it, and the codec turns a chunk's
bytes into tokens and back. Token 0 is the fill value. So the engine handles selections, partial writes, shards, locks
and chunks of nothing but the fill value as it does for numbers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeAlias

import numpy.typing as npt

from blizzarr import _native
from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.dtypes import Kind
from blizzarr.problems import Problems

MAX_CHUNK_BYTES = 2**31 - 1
"""The most bytes of a chunk of objects before compression; its size does not follow from its shape."""

Refusal = tuple[str, str]
"""The reason why an element is refused: what was expected, and what was found."""


class OwnTable(Protocol):
    """The objects of one operation, by token."""

    def put(self, elements: npt.NDArray[Any], /) -> bytes:
        """Return the tokens of these elements, 64 bits each; a contiguous array of objects or of NumPy's texts.

        Raise `TypeError` or `ValueError` if the codec cannot encode one of them; `ObjectCodec.refuses` says which, and
        why.
        """

    def take(self, tokens: Any, out: Any, /) -> None:
        """Put the elements of these tokens, a contiguous buffer, into `out`, a contiguous array of one axis.

        Its elements are objects or NumPy's texts.
        """

    def engine_codec(self, shape: tuple[int, ...], /) -> Any:
        """Return the object that the engine calls for chunks of this shape, to turn tokens into bytes and back."""


Table: TypeAlias = OwnTable | _native.ElementTable
"""That of the engine decodes and encodes chunks without Python."""


class ObjectCodec(NumcodecsCodec):
    """The base class of codecs for objects; they are serializers of arrays whose NumPy data type is ``object``."""

    __slots__ = ()

    stage: ClassVar[Stage] = Stage.SERIALIZER
    element_type: ClassVar[str]
    """The name of the data type that arrays with this codec have; in v2, all of them are ``|O``."""
    lays_out: ClassVar[bool] = True
    """True if chunks are stored in the order (C or F) of the array; otherwise always in C order, with own axes."""

    def table(self, fill: Any) -> Table:
        """Return a new table, for one operation on an array with this fill value."""
        raise NotImplementedError

    def refuses(self, element: Any) -> Refusal | None:
        """Return why an object cannot be encoded; None if it can."""
        raise NotImplementedError

    def refuses_fill(self, fill: Any) -> Refusal | None:
        """Return why an object cannot be the fill value, which chunks with other elements contain; None if it can."""
        return self.refuses(fill)

    def same_fill(self, one: Any, other: Any) -> bool:
        """Return whether two objects, as fill values, are stored as the same element.

        Raise `NotImplementedError` in this base class; only codecs of any objects need it, whose documents have fill
        values as JSON.
        """
        raise NotImplementedError

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        dtype = chunk.dtype
        if dtype is None or (dtype.kind is Kind.OBJECT and dtype.name == self.element_type):
            return True
        problems.add(path, f"a codec for elements of {dtype}; this one is for {self.element_type}", self.name)
        return False

    def step(self, chunk: Chunk) -> Step:
        # Over which table is known only when an operation begins.
        return ("elements", self, chunk.shape)

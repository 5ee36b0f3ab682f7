"""What the codecs of objects have in common: elements of variable length, which the engine moves as tokens.

For the engine an array of objects is one of 64-bit tokens. Each operation has a `Table`, which knows the object behind
each token: writing puts the user's objects into it, reading takes objects out of it, and between the two a chunk's
bytes become tokens and tokens bytes. Token 0 is the fill value. Selections, chunks of which a part is written, shards,
locks, and the rule that chunks of nothing but the fill value are not stored are therefore the engine's, as for numbers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.dtypes import Kind
from blizzarr.problems import Problems

__all__ = ["MAX_CHUNK_BYTES", "TOKEN_BYTES", "ObjectCodec", "Refusal", "Table"]

TOKEN_BYTES = 8
"""What an element takes in the engine."""
MAX_CHUNK_BYTES = 2**31 - 1
"""No chunk of objects is longer, before compression: its shape says nothing about how long it should be."""

Refusal = tuple[str, str]
"""What was expected of an element, and what was found."""


class Table(Protocol):
    """The objects of one operation, by token."""

    def put(self, elements: list[Any], /) -> bytes:
        """The tokens of these objects, 64 bits each.

        Raises
        ------
        TypeError, ValueError
            When an object is none that the codec can encode; which one, and why, `ObjectCodec.refuses` tells.
        """

    def take(self, tokens: Any, out: Any, /) -> None:
        """Put the objects of these tokens, a contiguous buffer, into `out`, a contiguous array of one axis."""

    def engine_codec(self, shape: tuple[int, ...], /) -> Any:
        """What the engine calls for chunks of this shape: tokens to bytes, and back."""


class ObjectCodec(NumcodecsCodec):
    """The base of codecs of objects; they are the serializers of arrays whose NumPy data type is ``object``."""

    __slots__ = ()

    stage: ClassVar[Stage] = Stage.SERIALIZER
    element_type: ClassVar[str]
    """The name of the data type that arrays with this codec have; in v2, all of them are ``|O``."""
    lays_out: ClassVar[bool] = True
    """Whether chunks lie as the order of the array says. Otherwise what is stored has axes of its own, in C order."""

    def table(self, fill: Any) -> Table:
        """A new table, for one operation on an array with this fill value."""
        raise NotImplementedError

    def refuses(self, element: Any) -> Refusal | None:
        """Why an object cannot be encoded; `None` when it can."""
        raise NotImplementedError

    def refuses_fill(self, fill: Any) -> Refusal | None:
        """Why an object cannot be the fill value; it must be encoded in chunks with other elements."""
        return self.refuses(fill)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        dtype = chunk.dtype
        if dtype is None or (dtype.kind is Kind.OBJECT and dtype.name == self.element_type):
            return True
        problems.add(path, f"a codec for elements of {dtype}; this one is for {self.element_type}", self.name)
        return False

    def step(self, chunk: Chunk) -> Step:
        # Over which table is known only when an operation begins.
        return ("elements", self, chunk.shape)

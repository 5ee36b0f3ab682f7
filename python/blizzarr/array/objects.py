"""`ObjectHandle`: what the engine's handle is for numbers, for elements that are objects of Python.

The engine has tokens in place of objects (see `blizzarr.codecs.objects`). What they stand for is a matter of one
operation: each has a table of its own, and with it a chain and a handle of its own, which take a few microseconds to
make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.codecs import Step
from blizzarr.codecs.objects import ObjectCodec, Table
from blizzarr.dtypes import Kind
from blizzarr.errors import UnknownExtensionError
from blizzarr.indexing import Axes
from blizzarr.model import ArrayMeta
from blizzarr.transfer import Binding, Handle

__all__ = ["FILL_TOKEN", "ObjectHandle", "check_objects"]

FILL_TOKEN = np.int64(0)
"""What stands for the fill value."""

Open = Callable[[_native.Chain, tuple[int, ...]], Handle]
"""Makes the engine's handle for an array with these chunks and this shape."""


@dataclass(frozen=True, slots=True)
class ObjectHandle:
    """The chunks of one array of objects, with its codecs and its store."""

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    """Of what is stored as one object."""
    codec: ObjectCodec
    fill: Any
    steps: tuple[Step, ...]
    open: Open
    path: str
    """Of the array, for errors."""

    @classmethod
    def of(cls, metadata: ArrayMeta, open: Open, path: str) -> Self:
        """The handle for the array at a path; `open` makes those of the engine."""
        shape = metadata.write_shape
        steps = tuple(metadata.codecs.steps(metadata.dtype, shape))
        return cls(metadata.shape, shape, _object_codec(metadata), metadata.fill_value, steps, open, path)

    def read(self, out: npt.NDArray[Any], axes: Axes, /) -> None:
        """Fill `out` with what the axes pick."""
        table = self._table()
        tokens = np.empty(out.shape, FILL_TOKEN.dtype)
        self._handle(table).read(tokens, axes)
        elements = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        table.take(tokens, elements.reshape(-1))
        if elements is not out:
            out[...] = elements

    def write(self, source: npt.NDArray[Any], axes: Axes, write_empty: bool = False, /) -> None:
        """Put `source` where the axes point; chunks of nothing but fill are stored if `write_empty`."""
        table = self._table()
        tokens = _tokens(self.codec, table, source)
        self._handle(table).write(tokens, axes, write_empty)

    def write_parts(self, parts: Sequence[tuple[npt.NDArray[Any], Axes]], write_empty: bool = False, /) -> None:
        """Put each of them where the axes beside it point."""
        for source, axes in parts:
            self.write(source, axes, write_empty)

    def tokens(self) -> Binding:
        """The same array as the engine has it: one of numbers, whose fill value is `FILL_TOKEN`.

        The numbers mean nothing outside of it.
        """
        return Binding(self._handle(self._table()), FILL_TOKEN.dtype)

    def resized(self, shape: tuple[int, ...], /) -> ObjectHandle:
        """The same chunks under another shape."""
        return replace(self, shape=shape)

    def without_pool(self) -> ObjectHandle:
        """The same: pools have nothing of arrays of objects, whose tokens mean nothing a moment later."""
        return self

    def _table(self) -> Table:
        try:
            return self.codec.table(self.fill)
        except UnknownExtensionError as error:
            error.array = f"/{self.path}"
            raise

    def _handle(self, table: Table) -> Handle:
        steps = _over(table, self.steps)
        chain = _native.Chain(self.chunk_shape, FILL_TOKEN.itemsize, FILL_TOKEN.tobytes(), False, steps)
        return self.open(chain, self.shape)


def check_objects(metadata: ArrayMeta, source: npt.NDArray[Any]) -> None:
    """Refuse elements that the array cannot hold, if its elements are objects.

    Raises
    ------
    TypeError
        Naming the first of them.
    """
    if metadata.dtype.kind is Kind.OBJECT:
        codec = _object_codec(metadata)
        _tokens(codec, codec.table(metadata.fill_value), source)


def _object_codec(metadata: ArrayMeta) -> ObjectCodec:
    serializer = metadata.codecs.innermost.serializer
    assert isinstance(serializer, ObjectCodec), "checked when the metadata are made"
    return serializer


def _tokens(codec: ObjectCodec, table: Table, source: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The tokens of elements; one for those that are repeated by strides of 0."""
    once = source[(..., *(slice(1) if stride == 0 else slice(None) for stride in source.strides))]
    elements = once.ravel().tolist()
    try:
        tokens = np.frombuffer(table.put(elements), FILL_TOKEN.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        for position, element in enumerate(elements):
            if (refusal := codec.refuses(element)) is not None:
                index = tuple(map(int, np.unravel_index(position, once.shape)))
                place = f" at index {index}" if once.size > 1 else ""
                raise TypeError(f"expected {refusal[0]}{place}, found {refusal[1]}") from error
        raise
    return np.broadcast_to(tokens.reshape(once.shape), source.shape)


def _over(table: Table, steps: Iterable[Step]) -> list[Step]:
    """The steps of a chain with this table where its codec of objects stands."""
    return [_placed(table, step) for step in steps]


def _placed(table: Table, step: Step) -> Step:
    match step:
        case ("elements", _, shape):
            return ("elements", table.engine_codec(shape))
        case ("shard", shape, steps, *index):
            return ("shard", shape, _over(table, steps), *index)
    return step

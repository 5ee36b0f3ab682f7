"""`ObjectHandle`: the handle of arrays whose elements are Python objects, in place of the engine's.

The engine has tokens in place of objects (see `blizzarr.codecs.objects`). Their meaning is limited to one operation,
which has a table of its own, and so a codec chain and an engine's handle of its own; making them takes a few
microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.codecs import CodecChain, Step
from blizzarr.codecs.objects import ObjectCodec, Table
from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.elements import is_missing
from blizzarr.errors import UnknownExtensionError
from blizzarr.indexing import Axes
from blizzarr.model import ArrayMeta
from blizzarr.model.edges import NativeEdges
from blizzarr.transfer import Binding, Handle

FILL_TOKEN = np.int64(0)
"""The token of the fill value."""

Prepare: TypeAlias = Callable[[tuple[int, ...]], _native.Chain]
"""Prepares the engine's codec chain for chunks of a shape."""

Open: TypeAlias = Callable[..., Handle]
"""Makes the engine's handle for an array with these chains (a `Prepare`) and this shape, and with other edges."""


@dataclass(frozen=True, slots=True)
class ObjectHandle:
    """The chunks of one array of objects, with its codecs and its store."""

    shape: tuple[int, ...]
    dtype: DataType
    codecs: CodecChain
    codec: ObjectCodec
    fill: Any
    open: Open
    path: str
    """The path of the array, for errors."""
    is_beyond: bool = False
    """True if elements may lie beyond the stored shape."""
    sides: list[NativeEdges] | None = None
    """The edges of the chunks; None for those that the array had when it was opened."""

    @classmethod
    def of(cls, metadata: ArrayMeta, open: Open, path: str) -> Self:
        """Return the handle of the array at a path; `open` makes handles of the engine."""
        codec, fill = _object_codec(metadata), metadata.fill_value
        return cls(metadata.shape, metadata.dtype, metadata.codecs, codec, fill, open, path)

    def read(self, out: npt.NDArray[Any], axes: Axes, /) -> BaseException | None:
        """Read the elements that the axes select into `out`, of objects or NumPy's texts; return what to warn of."""
        table = self.new_table()
        tokens = np.empty(out.shape, FILL_TOKEN.dtype)
        surplus = self._handle(table).read(tokens, axes)
        elements = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        table.take(tokens, elements.reshape(-1))
        if elements is not out:
            out[...] = elements
        return surplus

    def write(self, source: npt.NDArray[Any], axes: Axes, write_empty: bool = False, /) -> None:
        """Write `source` to the elements that the axes select; with `write_empty`, chunks of fill values are stored."""
        table = self.new_table()
        tokens = _tokens(self.codec, table, source)
        self._handle(table).write(tokens, axes, write_empty)

    def write_parts(self, parts: Sequence[tuple[npt.NDArray[Any], Axes]], write_empty: bool = False, /) -> None:
        for source, axes in parts:
            self.write(source, axes, write_empty)

    def erase(self, places: Any, rank: int, /) -> None:
        self.tokens().handle.erase(places, rank)

    def tokens(self, table: Table | None = None) -> Binding:
        """Return the array as the engine has it: an array of tokens with the fill value `FILL_TOKEN`.

        Tokens other than that have a meaning only in `table`, a new one of `new_table`.
        """
        return Binding(self._handle(table or self.new_table()), FILL_TOKEN.dtype)

    def resized(self, shape: tuple[int, ...], sides: list[NativeEdges] | None = None, /) -> ObjectHandle:
        """Return the handle for another shape of the array, and perhaps with other edges of its chunks."""
        return replace(self, shape=shape, sides=self.sides if sides is None else sides)

    def beyond(self) -> ObjectHandle:
        return replace(self, is_beyond=True)

    def without_pool(self) -> ObjectHandle:
        """Return the handle itself: pools keep nothing of arrays of objects, whose tokens are only valid once."""
        return self

    def new_table(self) -> Table:
        """Return a table for one operation.

        Raise `UnknownExtensionError` if its codec is not allowed or not there.
        """
        try:
            return self.codec.table(self.fill)
        except UnknownExtensionError as error:
            error.array = f"/{self.path}"
            raise

    def _handle(self, table: Table) -> Handle:
        def prepare(shape: tuple[int, ...]) -> _native.Chain:
            steps = _over(table, _steps(self.codecs, self.dtype, shape))
            return _native.Chain(shape, FILL_TOKEN.itemsize, FILL_TOKEN.tobytes(), False, steps)

        handle = self.open(prepare, self.shape) if self.sides is None else self.open(prepare, self.shape, self.sides)
        return handle.beyond() if self.is_beyond else handle


@lru_cache(256)
def _steps(codecs: CodecChain, dtype: DataType, shape: tuple[int, ...]) -> tuple[Step, ...]:
    return tuple(codecs.steps(dtype, shape))


def check_objects(metadata: ArrayMeta, source: npt.NDArray[Any]) -> None:
    """Raise `TypeError` unless an array of objects can hold these elements; the text names the first that it cannot."""
    if metadata.dtype.kind is Kind.OBJECT:
        codec = _object_codec(metadata)
        _tokens(codec, codec.table(metadata.fill_value), source)


def _object_codec(metadata: ArrayMeta) -> ObjectCodec:
    serializer = metadata.codecs.innermost.serializer
    assert isinstance(serializer, ObjectCodec), "checked when the metadata are made"
    return serializer


def _tokens(codec: ObjectCodec, table: Table, source: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the tokens of elements; those that are repeated by strides of 0 get one token."""
    once = source[(..., *(slice(1) if stride == 0 else slice(None) for stride in source.strides))]
    elements = once.ravel()
    try:
        tokens = np.frombuffer(table.put(elements), FILL_TOKEN.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        for position, element in enumerate(elements.tolist()):
            if (refusal := codec.refuses(element)) is not None:
                index = tuple(map(int, np.unravel_index(position, once.shape)))
                where = f" at index {index}" if once.size > 1 else ""
                lacks_text = refusal[0] == "str" and is_missing(element)
                advice = "; texts in Zarr cannot be missing: write '' in their place" if lacks_text else ""
                raise TypeError(f"expected {refusal[0]}{where}, found {refusal[1]}{advice}") from error
        raise
    return np.broadcast_to(tokens.reshape(once.shape), source.shape)


def _over(table: Table, steps: Iterable[Step]) -> list[Step]:
    """Return the steps of a chain with the codec of objects replaced by this table."""
    return [_placed(table, step) for step in steps]


def _placed(table: Table, step: Step) -> Step:
    match step:
        case ("elements", _, shape):
            return ("elements", table if isinstance(table, _native.ElementTable) else table.engine_codec(shape))
        case ("shard", shape, steps, *index):
            return ("shard", shape, _over(table, steps), *index)
    return step

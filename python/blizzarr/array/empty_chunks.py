"""Arrays that store chunks of nothing but the fill value, or not, whatever the settings of the process say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from blizzarr.array.array import Array
from blizzarr.model import ArrayMeta
from blizzarr.node import copied_as
from blizzarr.transfer import Binding


class WithEmptyChunks(Array):
    """An array with a setting of its own for chunks of nothing but the fill value."""

    __slots__ = ("_write_empty",)

    _write_empty: bool

    @classmethod
    def of(cls, array: Array, write_empty: bool) -> Self:
        """Return the same array with this setting."""
        made = cls(array.store, array.path, array.metadata)
        made._write_empty = write_empty
        copied_as(array, made)
        return made

    def _in(self, store: Any) -> Self:
        return self.of(super()._in(store), self._write_empty)

    def _bound(self, metadata: ArrayMeta) -> Binding:
        bound = super()._bound(metadata)
        # Where the fill value is undefined, chunks are stored in any case.
        return replace(bound, write_empty=bound.write_empty or self._write_empty)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (Array(self._store, self._path, self._metadata), self._write_empty)

"""Other ways to index an array than `array[...]`: ``array.oindex``, ``array.vindex`` and ``array.blocks``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from blizzarr.indexing import Lowered

if TYPE_CHECKING:
    from blizzarr.array.array import Array


class Selector:
    """An array with one way to select: index it to read, or assign to write."""

    __slots__ = ("_array", "_lower")

    __iter__: ClassVar[None] = None

    def __init__(self, array: Array, lower: Callable[[Any, tuple[int, ...]], Lowered]) -> None:
        self._array = array
        self._lower = lower

    def __getitem__(self, key: Any) -> Any:
        """Read the elements that `key` selects; for errors see `Array.__getitem__`."""
        return self._array._get(self._lower, key)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        """Write to the elements that `key` selects; for errors see `Array.__setitem__`."""
        self._array._set(self._lower, key, value)

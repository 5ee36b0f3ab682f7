"""Other ways to index an array than `array[...]`: ``array.oindex``, ``array.vindex`` and ``array.blocks``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy.typing as npt

from blizzarr.array.facts import ArrayFacts, binding_of
from blizzarr.errors import SelectionError
from blizzarr.indexing import Lowered
from blizzarr.stores import check_writable
from blizzarr.transfer import read, write

Lower: TypeAlias = Callable[[Any, tuple[int, ...]], Lowered]
"""A function that lowers a key of its kind, for an array of a shape."""


def lowered(array: ArrayFacts, lower: Lower, key: Any) -> Lowered:
    """Return what a key selects, for the engine; errors name the array."""
    try:
        return lower(key, array.shape)
    except SelectionError as error:
        error.array, error.store = array.name, str(array.store)
        raise


def read_selection(array: ArrayFacts, lower: Lower, key: Any, out: npt.NDArray[Any] | None = None) -> Any:
    """Read the elements that a key selects; for `out` and errors see `Array.get_basic_selection`."""
    binding = binding_of(array)
    return read(binding, lowered(array, lower, key), out, binding.order)


def write_selection(array: ArrayFacts, lower: Lower, key: Any, value: npt.ArrayLike) -> None:
    """Write to the elements that a key selects; for errors see `Array.__setitem__`."""
    check_writable(array.store, array.path)
    write(binding_of(array), lowered(array, lower, key), value)


class Selector:
    """An array with one way to select: index it to read, or assign to write."""

    __slots__ = ("_array", "_lower")

    __iter__: ClassVar[None] = None

    def __init__(self, array: ArrayFacts, lower: Lower) -> None:
        self._array = array
        self._lower = lower

    def __repr__(self) -> str:
        return f"<Selector of {self._array!r}>"

    def __getitem__(self, key: Any) -> Any:
        """Read the elements that `key` selects; for errors see `Array.__getitem__`."""
        return read_selection(self._array, self._lower, key)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        """Write to the elements that `key` selects; for errors see `Array.__setitem__`."""
        write_selection(self._array, self._lower, key, value)

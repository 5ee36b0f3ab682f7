"""What documents were decoded into, by their bytes, for when the same are read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from blizzarr.kept import Kept

__all__ = ["Remembering"]

T = TypeVar("T")

_MOST: Final = 512


class Remembering(Generic[T]):
    """A function of a document with its last results; others that know a result can `put` it.

    Examples
    --------
    >>> lengths = Remembering(len)
    >>> lengths(b"abc")
    3
    >>> lengths.put(b"abc", 4)
    >>> lengths(b"abc")
    4
    """

    __slots__ = ("_decode", "_kept")

    def __init__(self, decode: Callable[[bytes], T]) -> None:
        self._decode = decode
        self._kept: Kept[bytes, T] = Kept(_MOST)

    def __call__(self, raw: bytes) -> T:
        try:
            return self._kept[raw]
        except KeyError:
            found = self._decode(raw)
        self.put(raw, found)
        return found

    def put(self, raw: bytes, found: T) -> None:
        """Say what the result for a document is."""
        self._kept.keep(raw, found)

    def cache_clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()

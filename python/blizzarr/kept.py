"""What was worked out last, kept for as long as there is room for it.

There is no lock, which a child forked at the wrong moment would wait for; each step is one of the dictionary's own.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["Kept"]

K = TypeVar("K")
V = TypeVar("V")


class Kept(dict[K, V]):
    """A dictionary of at most so many results: when it is full, the older half goes.

    Examples
    --------
    >>> kept = Kept(most=4)
    >>> for number in range(5):
    ...     kept.keep(number, str(number))
    >>> kept
    {2: '2', 3: '3', 4: '4'}
    """

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: K, value: V) -> None:
        """Add a result."""
        if len(self) >= self._most:
            for old in list(self)[: self._most // 2]:
                self.pop(old, None)
        self[key] = value

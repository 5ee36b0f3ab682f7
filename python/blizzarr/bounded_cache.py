"""A bounded cache of results.

It has no lock, for which a child forked at the wrong moment would wait forever; each step is one atomic operation of
the dictionary.
"""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """A dictionary of at most `most` results: when it is full, the older half is dropped.

    >>> kept = BoundedCache(most=4)
    >>> for number in range(5):
    ...     kept.keep(number, str(number))
    >>> kept
    {2: '2', 3: '3', 4: '4'}
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: K, value: V) -> None:
        """Add a result, dropping the older half if there are too many."""
        if len(self) >= self._most:
            for old in list(self)[: self._most // 2]:
                self.pop(old, None)
        self[key] = value

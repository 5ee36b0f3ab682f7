"""The lengths of the chunks along one axis."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

_SHOWN: Final = 4


class Edges:
    """The lengths of the chunks along one axis, in order, as runs of equal ones.

    A million chunks of two lengths in turn take a million runs, and as many chunks of one length take a single one.

    Parameters
    ----------
    runs
        Pairs of a length and how many chunks in a row have it; both are at least 1.
    is_open
        True if chunks of the last length follow without end.

    Examples
    --------
    >>> edges = Edges([(10, 3), (5, 1)])
    >>> edges.count(35), edges.count(12), edges.locate(31), edges.start(3), edges.length(3), edges.stop
    (4, 2, (3, 1), 30, 5, 35)
    >>> Edges.even(4).count(10), Edges.even(4).locate(9), Edges.even(4).stop
    (3, (2, 1), None)
    """

    __slots__ = ("_chunks", "_firsts", "_lengths", "_starts", "is_open", "stop")

    def __init__(self, runs: Iterable[tuple[int, int]], *, is_open: bool = False) -> None:
        lengths, firsts, starts = array("q"), array("q"), array("q")
        first = start = latest = 0
        for length, count in runs:
            if length != latest:
                lengths.append(length)
                firsts.append(first)
                starts.append(start)
                latest = length
            first += count
            start += length * count
        self._lengths, self._firsts, self._starts, self._chunks = lengths, firsts, starts, first
        self.is_open = is_open
        self.stop: int | None = None if is_open else start
        """Where the last chunk ends; None if there is no last one."""

    @classmethod
    def even(cls, length: int) -> Edges:
        """Return the edges of chunks of one length, without end."""
        return cls(((length, 1),), is_open=True)

    @property
    def is_even(self) -> bool:
        """True if all chunks have one length, without end."""
        return self.is_open and len(self._lengths) == 1

    @property
    def runs(self) -> Iterator[tuple[int, int]]:
        """The pairs of a length and a number of chunks; with open edges, that of the last one does not count."""
        for run, length in enumerate(self._lengths):
            stop = self._firsts[run + 1] if run + 1 < len(self._firsts) else self._chunks
            yield length, stop - self._firsts[run]

    @property
    def native(self) -> tuple[array[int], array[int], array[int]]:
        """The length of the chunks of each run, its first chunk, and the first element of that, for the engine."""
        return self._lengths, self._firsts, self._starts

    def locate(self, index: int) -> tuple[int, int]:
        """Return the chunk that holds an element, and the position of the element in that chunk."""
        run = max(0, bisect_right(self._starts, index) - 1)
        chunk, offset = divmod(index - self._starts[run], self._lengths[run])
        return self._firsts[run] + chunk, offset

    def start(self, chunk: int) -> int:
        """Return the first element of a chunk; for the number of chunks, where the last one ends."""
        if not self._lengths:
            return 0
        run = max(0, bisect_right(self._firsts, chunk) - 1)
        return self._starts[run] + (chunk - self._firsts[run]) * self._lengths[run]

    def length(self, chunk: int) -> int:
        """Return the stored length of a chunk."""
        return self._lengths[max(0, bisect_right(self._firsts, chunk) - 1)]

    def count(self, size: int) -> int:
        """Return the number of chunks that hold elements of an axis of this size."""
        return self.locate(size - 1)[0] + 1 if size else 0

    def longest(self, size: int) -> int:
        """Return the largest length of the chunks that hold elements of an axis of this size."""
        if self.is_even or not self._lengths:
            return self._lengths[0] if self._lengths else 1
        return max(self._lengths[: max(1, bisect_right(self._starts, size - 1))])

    def within(self, size: int) -> Iterator[int]:
        """Yield the length of each chunk inside an axis of this size; the last one may be cut off.

        >>> list(Edges([(10, 2), (5, 3)]).within(27))
        [10, 10, 5, 2]
        """
        for length in self.lengths:
            if size <= 0:
                return
            yield min(length, size)
            size -= length

    def grown(self, size: int) -> Edges:
        """Return edges that cover an axis of this size: with one more chunk, unless these do.

        >>> Edges([(10, 2)]).grown(27)
        Edges(10, 10, 7)
        """
        if self.stop is None or size <= self.stop:
            return self
        return Edges([*self.runs, (size - self.stop, 1)])

    @property
    def lengths(self) -> Iterator[int]:
        """The length of each chunk, in order; of open edges without end."""
        for length, count in self.runs:
            for _ in range(count):
                yield length
        while self.is_open:
            yield self._lengths[-1]

    @property
    def distinct(self) -> set[int]:
        """Each length that chunks have, once."""
        return set(self._lengths)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Edges):
            return NotImplemented
        return (self.is_open, self._lengths, self._firsts, self.stop) == (
            *(other.is_open, other._lengths, other._firsts),
            other.stop,
        )

    def __hash__(self) -> int:
        return hash((self.is_open, self.stop, self._lengths.tobytes(), self._firsts.tobytes()))

    def __repr__(self) -> str:
        shown = list(map(str, islice(self.lengths, 1 if self.is_even else _SHOWN * 2)))
        if self.is_open or self._chunks > len(shown):
            shown[_SHOWN:] = ["…"]
        return f"Edges({', '.join(shown)})"

"""The lengths of the chunks along one axis."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from blizzarr.errors import LimitError

_SHOWN: Final = 4
_LISTED: Final = 1 << 24

NativeEdges: TypeAlias = tuple[int | None, tuple[()] | tuple["array[int]", "array[int]", "array[int]"]]
"""The length of all chunks; or of the chunks of each run the length, the first chunk, and the first element of that."""


class Edges:
    """The lengths of the chunks along one axis, in order, as runs of equal ones.

    A million chunks of two lengths in turn take a million runs, and as many chunks of one length take a single one.

    - `runs`: pairs of a length and how many chunks in a row have it; both are at least 1.
    - `is_open`: true if chunks of the last length follow without end.

    >>> edges = Edges([(10, 3), (5, 1)])
    >>> edges.count(35), edges.count(12), edges.locate(31), edges.start(3), edges.length(3), edges.stop
    (4, 2, (3, 1), 30, 5, 35)
    >>> Edges.even(4).count(10), Edges.even(4).locate(9), Edges.even(4).stop
    (3, (2, 1), None)
    """

    __slots__ = ("_chunks", "_even", "_firsts", "_lengths", "_starts", "is_open", "stop")

    def __init__(self, runs: Iterable[tuple[int, int]], *, is_open: bool = False) -> None:
        flat = np.fromiter(chain.from_iterable(runs), np.int64)
        lengths, counts = flat[::2], flat[1::2]
        stop = int(np.dot(lengths, counts))
        # Below zero: rounded, as many as the integers just do not have are not more.
        if stop < 0 or np.dot(lengths.astype(float), counts) > 2.0**63:
            raise OverflowError("more elements along an axis than 64 bits count")
        new = np.diff(lengths, prepend=0) != 0
        firsts, starts = np.cumsum(counts) - counts, np.cumsum(lengths * counts) - lengths * counts
        kept = (lengths[new], firsts[new], starts[new])
        parts: list[array[int]] = [array("q", made.tobytes()) for made in kept]
        self._lengths, self._firsts, self._starts = parts
        self._chunks = int(counts.sum())
        self.is_open = is_open
        # For the quick ways of the most frequent kind.
        self._even = self._lengths[0] if is_open and len(self._lengths) == 1 else 0
        self.stop: int | None = None if is_open else stop
        """Where the last chunk ends; None if there is no last one."""

    @staticmethod
    @lru_cache(256)
    def even(length: int) -> Edges:
        """Return the edges of chunks of one length, without end."""
        return Edges(((length, 1),), is_open=True)

    @property
    def is_even(self) -> bool:
        """True if all chunks have one length, without end."""
        return bool(self._even)

    @property
    def runs(self) -> Iterator[tuple[int, int]]:
        """The pairs of a length and a number of chunks; with open edges, that of the last one does not count."""
        for length, (first, stop) in zip(self._lengths, pairwise(chain(self._firsts, (self._chunks,))), strict=True):
            yield length, stop - first

    @property
    def native(self) -> NativeEdges:
        """The edges as the engine takes them."""
        if len(self._lengths) > 1:
            return None, (self._lengths, self._firsts, self._starts)
        return (self._lengths[0] if self._lengths else 1), ()

    def to_json(self) -> Any:
        """Return the edges as documents have them, and `create_array` takes them; they are even, or have an end."""
        if self.is_even:
            return self._lengths[0]
        return [length if count == 1 else [length, count] for length, count in self.runs]

    def locate(self, index: int) -> tuple[int, int]:
        """Return the chunk that holds an element, and the position of the element in that chunk."""
        if self._even:
            return divmod(index, self._even)
        if not self._lengths:
            return 0, index
        run = max(0, bisect_right(self._starts, index) - 1)
        chunk, offset = divmod(index - self._starts[run], self._lengths[run])
        return self._firsts[run] + chunk, offset

    def start(self, chunk: int) -> int:
        """Return the first element of a chunk; for the number of chunks, where the last one ends."""
        if self._even or not self._lengths:
            return chunk * self._even
        run = max(0, bisect_right(self._firsts, chunk) - 1)
        return self._starts[run] + (chunk - self._firsts[run]) * self._lengths[run]

    def has(self, chunk: int) -> bool:
        """Return whether there is a chunk of this number."""
        return self.is_open or chunk < self._chunks

    def length(self, chunk: int) -> int:
        """Return the stored length of a chunk."""
        return self._lengths[max(0, bisect_right(self._firsts, chunk) - 1)]

    def count(self, size: int) -> int:
        """Return the number of chunks that hold elements of an axis of this size."""
        if self._even:
            return -(-size // self._even)
        return self.locate(size - 1)[0] + 1 if size else 0

    def longest(self, size: int) -> int:
        """Return the largest length of the chunks that hold elements of an axis of this size."""
        if self.is_even or not self._lengths:
            return self._lengths[0] if self._lengths else 1
        return max(self._lengths[: max(1, bisect_right(self._starts, size - 1))])

    def touched(self, start: int, stop: int) -> range:
        """Return the chunks that hold elements from `start` to before `stop`."""
        return range(self.locate(start)[0], self.locate(stop - 1)[0] + 1) if start < stop else range(0)

    def visited(self, start: int, step: int, length: int) -> int:
        """Return how many chunks hold one of so many elements, of which the first is `start` and every `step` is one.

        >>> Edges([(10, 2), (2, 3)]).visited(5, 4, 6), Edges.even(3).visited(1, 6, 3), Edges.even(3).visited(1, 2, 4)
        (4, 3, 3)
        """
        if step >= max(self._lengths):
            return length
        first, last = self.locate(start)[0], self.locate(start + step * (length - 1))[0]
        if step <= min(self._lengths):
            return last - first + 1
        # A chunk holds one if the first element at or behind its start is another one than that of the next chunk.
        return len({(self.start(chunk) - start - 1) // step for chunk in range(first + 1, last + 2)})

    def cut(self, part: slice) -> list[slice]:
        """Return the parts of a slice of elements that lie in one chunk each.

        >>> Edges([(10, 1), (5, 2)]).cut(slice(3, 12))
        [slice(3, 10, None), slice(10, 12, None)]
        """
        return [
            slice(max(part.start, self.start(chunk)), min(part.stop, self.start(chunk + 1)))
            for chunk in self.touched(part.start, part.stop)
        ]

    def joined(self, most: int) -> Edges:
        """Return the edges of groups of neighbours that are no longer than `most`, or of a single chunk.

        >>> Edges([(10, 7), (15, 1), (40, 2), (1, 5)]).joined(30)
        Edges(30 x 2, 25, 40 x 2, 5)
        """
        made: list[tuple[int, int]] = []
        room = 0
        for length, count in self.runs:
            here = min(count, room // length)
            if here:
                made[-1] = made[-1][0] + here * length, 1
            room, count = room - here * length, count - here
            if count:
                many = max(1, most // length)
                whole, rest = divmod(count, many)
                made += [(many * length, whole)] * bool(whole) + [(rest * length, 1)] * bool(rest)
                room = max(0, most - made[-1][0])
                if made[-1][1] > 1 and room:
                    made[-1:] = [(made[-1][0], made[-1][1] - 1), (made[-1][0], 1)]
        return Edges(made)

    def multiples(self, of: int) -> Edges:
        """Return the edges with each length rounded up to a multiple of this."""
        return Edges([(-(-length // of) * of, count) for length, count in self.runs], is_open=self.is_open)

    def listed(self, size: int | None = None) -> list[int]:
        """Return the length of each chunk; with a `size`, only as far as it is inside an axis of this size.

        Raise `LimitError` if there are more chunks than are worth listing.

        >>> Edges([(10, 2), (5, 3)]).listed(27), Edges([(10, 2), (5, 3)]).listed()
        ([10, 10, 5, 2], [10, 10, 5, 5, 5])
        """
        chunks = self._chunks if size is None else self.count(size)
        if chunks > _LISTED:
            raise LimitError(f"expected at most {_LISTED:,} chunks along an axis to list, found {chunks:,}")
        lengths = list(islice(self.lengths, chunks))
        if size:
            lengths[-1] = size - self.start(chunks - 1)
        return lengths

    def grown(self, size: int, unit: int = 1) -> Edges:
        """Return edges that cover an axis of this size: with one more chunk in whole units, unless these do.

        >>> Edges([(10, 2)]).grown(27)
        Edges(10 x 2, 7)
        """
        if self.stop is None or size <= self.stop:
            return self
        return Edges(chain(self.runs, [(-(-(size - self.stop) // unit) * unit, 1)]))

    def agrees(self, other: Edges) -> bool:
        """Return whether all chunks that both have are the same ones.

        >>> Edges([(10, 2)]).agrees(Edges([(10, 2), (7, 1)])), Edges([(10, 2)]).agrees(Edges([(10, 1), (7, 1)]))
        (True, False)
        """
        if self.is_open or other.is_open:
            return self == other
        count, chunks = min(len(self._lengths), len(other._lengths)), min(self._chunks, other._chunks)
        return (
            self._lengths[:count] == other._lengths[:count]
            and self._firsts[:count] == other._firsts[:count]
            and self.start(chunks) == other.start(chunks)
        )

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
        return (
            self.is_open == other.is_open
            and self.stop == other.stop
            and self._lengths == other._lengths
            and self._firsts == other._firsts
        )

    def __hash__(self) -> int:
        return hash((self.is_open, self.stop, self._lengths.tobytes(), self._firsts.tobytes()))

    def __str__(self) -> str:
        if self.is_even:
            return str(self._lengths[0])
        shown = [
            str(length) if count == 1 else f"{length} x {count}" for length, count in islice(self.runs, _SHOWN + 1)
        ]
        if len(self._lengths) > _SHOWN:
            shown[_SHOWN - 1 :] = ["…", str(self._lengths[-1])]
        end = ", …" if self.is_open else "," if len(shown) == 1 else ""
        return f"({', '.join(shown)}{end})"

    def __repr__(self) -> str:
        return f"Edges{self}" if not self.is_even else f"Edges.even({self})"

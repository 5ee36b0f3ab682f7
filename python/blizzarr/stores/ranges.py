"""Byte ranges of a value, and few requests for many: ranges that are close to each other are requested as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from blizzarr.stores.protocol import ByteRange, Value


def resolve_range(start: int, length: int | None, size: int) -> tuple[int, int]:
    """Return where a range begins and ends in a value of `size` bytes, clipped to the value.

    Raise `ValueError` if the length is negative.

    >>> resolve_range(2, 4, 10), resolve_range(2, None, 10), resolve_range(-3, None, 10), resolve_range(8, 4, 10)
    ((2, 6), (2, 10), (7, 10), (8, 10))
    """
    check_lengths([(start, length)])
    begin = max(0, size + start) if start < 0 else min(start, size)
    return begin, size if length is None else min(begin + length, size)


def check_lengths(ranges: Sequence[ByteRange]) -> None:
    """Raise `ValueError` if a range has a negative length."""
    for _, length in ranges:
        if length is not None and length < 0:
            raise ValueError(f"a range cannot be {length} bytes long; use None for all bytes to the end")


def slice_ranges(value: Value, ranges: Sequence[ByteRange]) -> list[Value]:
    """Return parts of a value, without copying it."""
    view = memoryview(value).cast("B")
    bounds = (resolve_range(start, length, len(view)) for start, length in ranges)
    return [view[begin:end] for begin, end in bounds]


_FREE: Final = 16 << 10
"""So many bytes that nobody wants cost less than what another request needs besides its answer."""
_GAP: Final = 256 << 10
"""So many take less time than another request that has to wait for others."""
_ATTEMPTS: Final = 3


@dataclass
class Span:
    """One request, and the ranges that are answered by it."""

    start: int
    """Where the request begins; negative: so many bytes before the end of the value."""
    length: int | None
    """How many bytes are requested; None: all to the end."""
    members: list[int] = field(default_factory=list)
    """The numbers of the ranges."""

    def parts(self, value: Value, ranges: Sequence[ByteRange]) -> list[Value]:
        """Return the bytes of each member, from what the request has found."""
        if self.start < 0:
            return slice_ranges(value, [ranges[number] for number in self.members])
        shifted = [(ranges[number][0] - self.start, ranges[number][1]) for number in self.members]
        return slice_ranges(value, shifted)


def spans_of(ranges: Sequence[ByteRange], most: int) -> list[Span]:
    """Return the requests for byte ranges, of which those that are close to each other share one.

    They are farther from each other only if there would be more than `most` requests, which are made at once.

    Raise `ValueError` if a length is negative.

    >>> [(span.start, span.length, span.members) for span in spans_of([(10, 5), (-4, 4), (0, 8), (90_000, 3)], 8)]
    [(0, 15, [2, 0]), (90000, 3, [3]), (-4, None, [1])]
    >>> [len(spans_of([(100_000 * number, 10) for number in range(16)], most)) for most in (16, 15)]
    [16, 1]
    """
    check_lengths(ranges)
    spans = _spans_of(ranges, _FREE)
    return spans if len(spans) <= most else _spans_of(ranges, _GAP)


def _spans_of(ranges: Sequence[ByteRange], gap: int) -> list[Span]:
    spans: list[Span] = []
    suffix: Span | None = None
    for number in sorted(range(len(ranges)), key=lambda number: ranges[number][0]):
        start, length = ranges[number]
        if start < 0:
            # Sorted: the first of them is the longest.
            suffix = suffix or Span(start, None)
            suffix.members.append(number)
            continue
        last = spans[-1] if spans else None
        if last is None or (last.length is not None and start > last.start + last.length + gap):
            spans.append(Span(start, length, [number]))
            continue
        last.members.append(number)
        if last.length is not None:
            end = None if length is None else max(last.start + last.length, start + length)
            last.length = None if end is None else end - last.start
    return spans if suffix is None else [*spans, suffix]


def of_one_version(
    fetch: Callable[[Sequence[Span]], Sequence[Value | None]], spans: Sequence[Span], ranges: Sequence[ByteRange]
) -> list[Value] | None:
    """Return the bytes of each range of a value whose store does not name versions; None if there is no value.

    The first range, in a shard its index, is requested again after the others: it is another one if the value was
    replaced in between. Of one that is replaced again and again, all is requested at once.
    """
    for _ in range(_ATTEMPTS):
        values = fetch(spans)
        there = [value for value in values if value is not None]
        if len(there) < len(values):
            return None
        first = next((number for number, span in enumerate(spans) if 0 in span.members), 0)
        if len(spans) == 1 or fetch([spans[first]]) == [there[first]]:
            return parts_of(spans, there, ranges)
    (whole,) = fetch([Span(0, None)])
    return None if whole is None else slice_ranges(whole, ranges)


def parts_of(spans: Sequence[Span], values: Sequence[Value], ranges: Sequence[ByteRange]) -> list[Value]:
    """Return the bytes of each range, from what the requests have found."""
    parts: list[Value] = [b""] * len(ranges)
    for span, value in zip(spans, values, strict=True):
        for number, part in zip(span.members, span.parts(value, ranges), strict=True):
            parts[number] = part
    return parts

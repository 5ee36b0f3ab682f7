"""Byte ranges of a value whose length is known."""

from __future__ import annotations

from collections.abc import Sequence

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
    """Raise `ValueError` if a range has a negative length.

    >>> check_lengths([(0, 4), (-4, None)])
    """
    for _, length in ranges:
        if length is not None and length < 0:
            raise ValueError(f"a range cannot be {length} bytes long; use None for all bytes to the end")


def slice_ranges(value: Value, ranges: Sequence[ByteRange]) -> list[Value]:
    """Return parts of a value, without copying it.

    >>> [bytes(part) for part in slice_ranges(b"abcdef", [(0, 2), (-1, None)])]
    [b'ab', b'f']
    """
    view = memoryview(value).cast("B")
    bounds = (resolve_range(start, length, len(view)) for start, length in ranges)
    return [view[begin:end] for begin, end in bounds]

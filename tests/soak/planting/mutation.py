"""Stored bytes changed at random: flipped, set, cut, lengthened, mixed with those of another value."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

__all__ = ["mutated"]

MOST = 32
"""Bytes that one step inserts, drops or moves at most."""


def mutated(random: Random, original: bytes, others: Sequence[bytes], *, within: range | None = None) -> bytes:
    """`original`, changed by one to three steps, and no value of `others`; at first only within a range of its bytes.

    Examples
    --------
    >>> changed = mutated(Random(1), bytes(8), [b"abcdefgh"])
    >>> changed != bytes(8)
    True
    """
    while True:
        changed = bytearray(original)
        for _ in range(1 + int(random.random() ** 3 * 3)):
            _step(random, changed, others, within)
        if changed != original and changed not in others:
            return bytes(changed)


def _step(random: Random, value: bytearray, others: Sequence[bytes], within: range | None) -> None:
    length = len(value)
    low, high = (0, length) if within is None else (within.start, min(within.stop, length))
    if low >= high:
        value += random.randbytes(1 + int(random.random() * MOST))
        return
    at = low + int(random.random() * (high - low))
    run = min(1 + int(random.random() * MOST), high - at)
    match int(random.random() * 12):
        case 0 | 1 | 2:
            value[at] ^= 1 << int(random.random() * 8)
        case 3:
            value[at] = int(random.random() * 256)
        case 4:
            number = random.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, length, int(random.random() * 2**32)))
            value[at : at + 4] = number.to_bytes(4, "little")[: min(4, high - at)]
        case 5:
            del value[at:]
        case 6:
            del value[at : at + run]
        case 7:
            value[at:at] = random.randbytes(run)
        case 8:
            value += random.randbytes(run)
        case 9:
            other = random.choice(others)
            start = int(random.random() * len(other))
            value[at : at + run] = other[start : start + run]
        case 10:
            start = low + int(random.random() * (high - low))
            value[at : at + run] = value[start : start + run]
        case _:
            value[at : at + run] = random.choice((b"\0", b"\xff")) * run

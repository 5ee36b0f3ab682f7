"""Sizes in bytes and other counts, as people read them."""

from __future__ import annotations

from typing import Final

_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def bytes_text(count: int) -> str:
    """Return a number of bytes in the largest unit that fits, with at least three digits.

    >>> bytes_text(17), bytes_text(1536), bytes_text(8_675_289)
    ('17 bytes', '1.50 KiB', '8.27 MiB')
    """
    value = float(count)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1024
    if unit == "bytes":
        return "1 byte" if count == 1 else f"{count} bytes"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} {unit}"


def count_text(count: int, noun: str) -> str:
    """Return a number of things, which have the noun with an ``s`` unless there is one.

    >>> count_text(1, "chunk"), count_text(8_675, "chunk")
    ('1 chunk', '8,675 chunks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

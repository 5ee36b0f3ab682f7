"""Lengths of time as texts like ``1m30s``, kept in nanoseconds."""

from __future__ import annotations

import re
from typing import Any

from blizzarr.json_values import expected

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|ms|s|m|h)")
_WHOLE = re.compile(rf"([-+]?)((?:{_PART.pattern})+|0)")


def parse_duration(value: Any) -> int:
    """Parse a text into nanoseconds.

    >>> parse_duration("1m30s") // 10**9
    90
    """
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise expected(value, 'Duration formatted as a string using time units "ns", "us" "ms", "s", "m", or "h".')
    total = 0
    for number, unit in _PART.findall(match[2]):
        whole, _, digits = number.partition(".")
        total += int(whole or 0) * _UNITS[unit]
        total += int(digits or 0) * _UNITS[unit] // 10 ** len(digits)
    return -total if match[1] == "-" else total


def duration_text(nanoseconds: int) -> str:
    """Return the shortest text for this number of nanoseconds.

    >>> duration_text(90 * 10**9), duration_text(1_500_000_000), duration_text(500_000_000), duration_text(0)
    ('1m30s', '1.5s', '500ms', '0')
    """
    sign, left = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if not left:
        return "0"
    if left < _UNITS["s"]:
        unit = next(unit for unit in ("ms", "us", "ns") if left >= _UNITS[unit])
        return f"{sign}{_decimal(left, _UNITS[unit])}{unit}"
    hours, left = divmod(left, _UNITS["h"])
    minutes, left = divmod(left, _UNITS["m"])
    parts = (f"{hours}h" if hours else "", f"{minutes}m" if minutes else "")
    return sign + "".join(parts) + (f"{_decimal(left, _UNITS['s'])}s" if left else "")


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = str(rest).zfill(len(str(unit)) - 1).rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)

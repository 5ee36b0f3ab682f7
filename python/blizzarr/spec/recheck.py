"""The age up to which cached metadata and data are used without looking at the store."""

from __future__ import annotations

import math
import time
from typing import Any, Literal, TypeAlias

from blizzarr.json_values import expected

Recheck: TypeAlias = bool | float | Literal["open"]
"""True: always; False: never; ``"open"``: if it is older than the opening; a number: if older than that, in seconds
since 1970."""


def recheck_from_json(value: Any) -> Recheck:
    """Parse the JSON of such a bound.

    >>> recheck_from_json("open"), recheck_from_json(5)
    ('open', 5.0)
    """
    if isinstance(value, bool) or value == "open":
        bound: Recheck = value
        return bound
    if isinstance(value, int | float):
        return float(value)
    raise expected(value, 'boolean, number, or "open"')


def recheck_argument(name: str, value: Any) -> Recheck:
    """Convert a bound that a user passed under this name."""
    if isinstance(value, bool | int | float) or value == "open":
        return recheck_from_json(value)
    raise TypeError(f"Invalid {name}")


def bound_at_open(bound: Recheck, now: float | None = None) -> float:
    """Return the moment since which something must have been checked to be used without another check.

    >>> bound_at_open(True), bound_at_open(False), bound_at_open("open", now=7.5), bound_at_open(5.0)
    (inf, -inf, 7.5, 5.0)
    """
    if bound is True:
        return math.inf
    if bound is False:
        return -math.inf
    if bound == "open":
        return time.time() if now is None else now
    return float(bound)

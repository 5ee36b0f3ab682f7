"""How long a request to a store of obstore may take, with all its repetitions."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Self

_TIMEOUT: Final = 30.0
"""Seconds, what obstore takes where nothing is given; so are the other numbers."""
_RETRIES: Final = 10
_RETRY_TIMEOUT: Final = timedelta(seconds=180)
_BACKOFF: Final = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=15), "base": 2.0}
_SLACK: Final = 0.25
"""Seconds: where obstore gives up by itself, its message says more than ours."""
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµ]+)")
_FRACTIONS: Final = {"ns": 1e-9, "nano": 1e-9, "us": 1e-6, "µs": 1e-6, "micro": 1e-6, "ms": 1e-3, "milli": 1e-3}
_UNITS: Final = _FRACTIONS | {"s": 1.0, "mo": 2630016.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
"""Seconds by what the names of units begin with; the first that fits counts."""


@dataclass(frozen=True)
class Limits:
    """The limits of one request, from the options of a store.

    Examples
    --------
    >>> import obstore
    >>> options = {"client_options": {"timeout": "2s"}, "retry_config": {"max_retries": 3}}
    >>> limits = Limits.of(obstore.store.HTTPStore.from_url("https://example.org", **options))
    >>> limits.timeout, limits.attempts, round(limits.total, 2)
    (2.0, 4, 8.95)
    """

    timeout: float
    """Seconds that one attempt may take, from connecting to the last byte."""
    attempts: int
    total: float
    """Seconds that all attempts together may take, with the pauses between them."""
    retry: tuple[int, float, float, float, float]
    """How attempts are repeated: how often, in how many seconds at most; the first and the longest pause, and by what
    factor one is longer than that before it."""

    @classmethod
    def of(cls, target: Any) -> Self:
        """Return the limits of a store of obstore."""
        timeout = _seconds((getattr(target, "client_options", None) or {}).get("timeout"))
        retry = getattr(target, "retry_config", None) or {}
        attempts = retry.get("max_retries", _RETRIES) + 1
        backoff = {**_BACKOFF, **(retry.get("backoff") or {})}
        pause, longest = backoff["init_backoff"].total_seconds(), backoff["max_backoff"].total_seconds()
        # No attempt begins after `retry_timeout`.
        last = retry.get("retry_timeout", _RETRY_TIMEOUT).total_seconds()
        rhythm = (attempts - 1, last, pause, longest, float(backoff["base"]))
        total = timeout
        for _ in range(attempts - 1):
            if total >= last + timeout:
                break
            total += timeout + min(pause, longest)
            pause = min(pause * backoff["base"], longest)
        return cls(timeout, attempts, min(total, last + timeout) + _SLACK, rhythm)

    def begin(self, total: float | None = None) -> Until:
        """Return when a request that begins now must have ended; `total` is another limit than that of all attempts."""
        return Until(self, time.monotonic() + (self.total if total is None else total))


@dataclass(frozen=True)
class Until:
    """When a request must have ended."""

    limits: Limits
    deadline: float

    def left(self) -> float:
        """Return how many seconds are left, none or less if it is too late."""
        return self.deadline - time.monotonic()

    def allows_another(self) -> bool:
        """Return whether another attempt could end in time."""
        return self.left() >= self.limits.timeout + _SLACK / 2

    def __str__(self) -> str:
        several = f"{self.limits.attempts} attempts" if self.limits.attempts > 1 else "one attempt"
        return f"{several} of {self.limits.timeout:g} s (timeout=, retry_config={{'max_retries': ...}})"


def _seconds(text: str | None) -> float:
    """Return a duration as obstore spells it, in seconds.

    Examples
    --------
    >>> _seconds("2s"), _seconds("300ms"), _seconds("1m 30s"), _seconds("1 day"), _seconds(None)
    (2.0, 0.3, 90.0, 86400.0, 30.0)
    """
    found = [] if text is None else _PART.findall(text)
    units = [
        (float(number), next((_UNITS[name] for name in _UNITS if unit.startswith(name)), None))
        for number, unit in found
    ]
    if not units or any(unit is None for _, unit in units):
        return _TIMEOUT
    return sum(number * unit for number, unit in units if unit is not None)

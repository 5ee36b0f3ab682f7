"""Work that is done at once if that takes less time than handing it to another thread."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final, TypeVar

from blizzarr.futures.future import Future, failed, resolved
from blizzarr.futures.pool import submit

__all__ = ["Pace", "at_once"]

T = TypeVar("T")

QUICK: Final = 1e-3
"""Up to how many seconds a caller is kept waiting: threads that take turns at Python on a busy machine lose more."""
_LATELY: Final = 8
"""About how many in a row must be slow to be believed: a busy machine makes single ones slow."""


def at_once(work: Callable[..., T], *given: Any) -> Future[T]:
    """The future of work that is done here and now.

    Examples
    --------
    >>> at_once(lambda: 6 * 7).done()
    True
    """
    try:
        return resolved(work(*given))
    except Exception as error:
        return failed(error)


class Pace:
    """A running estimate of how long one kind of work takes, which differs by storage: page cache, disk, network.

    Examples
    --------
    >>> Pace().submit(lambda: 6 * 7).done()
    True
    """

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = 0.0

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """The future of work of this kind: done already, or by another thread where it is known to take long."""

        def timed() -> T:
            start = perf_counter()
            try:
                return work()
            finally:
                taken = perf_counter() - start
                self.seconds = min(taken, self.seconds + (taken - self.seconds) / _LATELY)

        return at_once(timed) if self.seconds < QUICK else submit(timed)

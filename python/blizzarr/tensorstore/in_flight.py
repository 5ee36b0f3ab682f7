"""Reads that are in flight at the same time: chunks that several of them need are decoded once.

Reads of one driver are in flight as long as their futures live, whether they are done or not. A packed chunk that two
of them need is decoded into a pool, which goes with the last of the futures. What is in it is looked at again for each
read, so that each gets what was stored when it was asked for, or later.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final, TypeVar

from blizzarr.caching import CachePool
from blizzarr.futures import Future, at_once, keep_alive, submit
from blizzarr.indexing.form import Form
from blizzarr.tensorstore.driver import Chunk, Driver, Shared

T = TypeVar("T")

KEPT_BYTES: Final = 1 << 26
"""The size of the pool that all reads in flight share."""

_REMEMBERED: Final = 1 << 14
"""The number of recorded chunks above which all of them are forgotten."""


class InFlight:
    """The chunks that the reads of one driver that are in flight need.

    - `driver`, `form`: the driver, and what is read first. Its chunks are listed when there is a second read: most
      reads are alone.
    """

    __slots__ = ("__weakref__", "_driver", "_first", "_needed", "_shared")

    _needed: set[Any]
    """The chunks that the reads have needed."""

    def __init__(self, driver: Driver, form: Form) -> None:
        self._driver = driver
        self._first: Form | None = form
        self._shared: Shared | None = None

    def join(self, form: Form) -> Shared | None:
        """Add a read, and return the state that it shares with others if one of them has needed the same chunk."""
        first = self._first
        if first is not None:
            self._needed = set()
            self._note(first)
            self._first = None
        return self._share() if self._note(form) else None

    def _note(self, form: Form) -> bool:
        """Record the chunks that a read needs, and return whether another one has needed some of them."""
        needed = self._needed
        if len(needed) >= _REMEMBERED:
            needed.clear()
        chunks = kept_chunks(self._driver, form)
        is_shared = not chunks.isdisjoint(needed)
        needed |= chunks
        return is_shared

    def _share(self) -> Shared:
        shared = self._shared
        if shared is None:
            pool: Any = _pool()
            # All at once: other threads find all of it, or nothing.
            shared = self._shared = {"pool": pool, "hasty": pool.native.hasty(), "recheck": True, "arrays": {}}
        return shared

    @property
    def is_hasty(self) -> bool:
        """True if a value was stored so recently that a later one could have the same version.

        Then a look at the store is not enough, and a read that is done at once would have to decode anew.
        """
        shared = self._shared
        return shared is not None and bool(shared["pool"].native.hasty() > shared["hasty"])

    def now(self) -> Shared:
        """Return the shared state for a read that is asked for now and done later: chunks decoded after this moment
        will do.
        """
        shared = self._share()
        return {**shared, "since": shared["pool"].native.now()}


def kept_chunks(driver: Driver, form: Form) -> set[Chunk]:
    """Return the chunks that a read decodes; none if they are too large to be kept."""
    chunks = driver.decoded(form)
    return chunks if sum([length for _, _, length in chunks]) <= KEPT_BYTES else set()


_last: weakref.ref[CachePool] | None = None


def _pool() -> CachePool:
    """Return the pool that all reads in flight share."""
    global _last
    result = None if _last is None else _last()
    if result is None:
        result = CachePool(KEPT_BYTES)
        _last = weakref.ref(result)
    return result


def in_flight(driver: Driver, form: Form, work: Callable[[Shared | None], T]) -> Future[T]:
    """Return the future of a read of a driver that decodes; `work` takes the state that it shares with others."""
    ref = driver.reads
    reads = None if ref is None else ref()
    if reads is None:
        reads = InFlight(driver, form)
        driver.reads = weakref.ref(reads)
        shared = None
    else:
        shared = reads.join(form)
    if driver.is_quick(form) and not (shared is not None and reads.is_hasty):
        future = at_once(work, shared)
    else:
        later = None if shared is None else reads.now()
        future = submit(lambda: work(later))
    keep_alive(future, reads)
    return future

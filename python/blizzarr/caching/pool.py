"""`CachePool`: a limit for the memory that holds decoded chunks."""

from __future__ import annotations

from collections import deque
from numbers import Integral
from os import urandom
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from blizzarr import _native

_MOST = (1 << 63) - 1

_pools: WeakValueDictionary[str, CachePool] = WeakValueDictionary()
"""Pools by name: unpickling a pool that this process has gives that one."""


_arrived: deque[CachePool] = deque(maxlen=4)
"""The last pools that were unpickled: they survive until the next task of a worker, which drops its arrays between
tasks.
"""


class CacheInfo(NamedTuple):
    """The size of a pool, and its hit, miss and eviction counts.

    Chunks, inner chunks, shard indices, and the fact that a chunk does not exist, all count as entries.
    """

    limit: int
    """The limit, in bytes."""
    used: int
    """Bytes that it does hold."""
    entries: int
    """The number of entries."""
    hits: int
    """The number of reads that found an entry that was recent enough."""
    checks: int
    """The number of entries that were found to be up to date by looking at the store without reading the value."""
    misses: int
    """The number of reads that had to read and decode."""
    evictions: int
    """The number of entries that were dropped to make room."""


class CachePool:
    """Memory for decoded chunks and for the indices of shards, shared by all arrays that are given it.

    Whatever has gone unused for longest is dropped first. All entries together, including the tables that they are
    found by, never exceed the limit; a chunk larger than the limit is read as if there were no pool.

    A forked process has a copy of what the pool held. Unpickled in another process, it is the same pool for all arrays
    that arrive with it, empty at first: so all arrays that a Dask worker is sent share one.

    Parameters
    ----------
    limit
        The limit in bytes; 0 keeps nothing.

    Examples
    --------
    >>> import blizzarr
    >>> pool = blizzarr.CachePool(64 << 20)
    >>> z = blizzarr.create_array(None, data=[[1, 2], [3, 4]], chunks=(1, 2)).cached(pool)
    >>> z[0, 0], z[0, 1], z[1, 1]
    (np.int64(1), np.int64(2), np.int64(4))
    >>> info = pool.info()
    >>> info.entries, info.misses, info.checks
    (2, 2, 1)
    """

    __slots__ = ("__weakref__", "_limit", "_name", "native")

    def __init__(self, limit: int) -> None:
        if type(limit) is not int and (isinstance(limit, bool) or not isinstance(limit, Integral)):
            raise TypeError(f"expected a limit in bytes, found {limit!r}")
        limit = int(limit)
        if not 0 <= limit <= _MOST:
            raise ValueError(f"expected a limit of 0 to {_MOST} bytes, found {limit}")
        # A pool that keeps nothing needs no name, as any other is equivalent.
        self._adopt(limit, urandom(16).hex() if limit else "")
        if limit:
            _pools[self._name] = self

    def _adopt(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self.native = _native.CachePool(limit) if limit else None
        """The engine's part; None when nothing is to be kept."""

    @property
    def limit(self) -> int:
        """Bytes that it may hold."""
        return self._limit

    @property
    def used(self) -> int:
        """The size of the entries, in bytes."""
        return self.info().used

    def info(self) -> CacheInfo:
        """The pool's size, and its hit, miss and eviction counts."""
        return CacheInfo(*([0] * 7 if self.native is None else self.native.info()))

    def clear(self) -> None:
        """Drop all entries."""
        if self.native is not None:
            self.native.clear()

    def __repr__(self) -> str:
        return f"<CachePool: {self.used:,} of {self._limit:,} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._limit, self._name)


def _unpickled(limit: int, name: str) -> CachePool:
    if not limit:
        return CachePool(0)
    pool = _pools.get(name)
    if pool is None:
        made = CachePool.__new__(CachePool)
        made._adopt(limit, name)
        pool = _pools.setdefault(name, made)
        _arrived.append(pool)
    return pool

"""`CachePool`: how much memory may be used for what was read."""

from __future__ import annotations

from collections import deque
from os import urandom
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from blizzarr import _native

__all__ = ["CacheInfo", "CachePool"]

_MOST = (1 << 63) - 1

_pools: WeakValueDictionary[str, CachePool] = WeakValueDictionary()
"""By their names: unpickling one that is here already gives that one."""


_arrived: deque[CachePool] = deque(maxlen=4)
"""Those that came from elsewhere, the last of them: a worker drops its arrays after each task."""


class CacheInfo(NamedTuple):
    """What a pool holds, and how it has been used.

    Chunks, inner chunks, shard indices, and the fact that a chunk does not exist, all count as entries.
    """

    limit: int
    """Bytes that it may hold."""
    used: int
    """Bytes that it does hold."""
    entries: int
    """How many entries these are."""
    hits: int
    """How often an entry was there and new enough."""
    checks: int
    """How often one was there and turned out to be what is stored, by a look at the store that did not read it."""
    misses: int
    """How often it had to be read and decoded."""
    evictions: int
    """How often one was dropped to make room for another."""


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
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise TypeError(f"expected a limit in bytes, found {limit!r}")
        if not 0 <= limit <= _MOST:
            raise ValueError(f"expected a limit of 0 to {_MOST} bytes, found {limit}")
        # What keeps nothing needs no name to be found by: another one is as good.
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
        """Bytes that it holds."""
        return self.info().used

    def info(self) -> CacheInfo:
        """What it holds, and what has come of what it was asked for."""
        return CacheInfo(*([0] * 7 if self.native is None else self.native.info()))

    def clear(self) -> None:
        """Drop everything."""
        if self.native is not None:
            self.native.clear()

    def __repr__(self) -> str:
        return f"<CachePool: {self.used:,} of {self._limit:,} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._limit, self._name)


def _unpickled(limit: int, name: str) -> CachePool:
    if not limit:
        return CachePool(0)
    found = _pools.get(name)
    if found is None:
        made = CachePool.__new__(CachePool)
        made._adopt(limit, name)
        found = _pools.setdefault(name, made)
        _arrived.append(found)
    return found

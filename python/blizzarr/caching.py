"""Caches: decoded chunks are kept for the next read, within a limit, as long as they are known to be up to date."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from numbers import Integral
from os import urandom
from typing import Any, Literal, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from blizzarr import _native
from blizzarr.stores import ReadOnlyStore, Replaced, Store, StoreWrapper, Value
from blizzarr.stores.failures import changed
from blizzarr.stores.wrapper import StoreHandle

__all__ = ["CacheInfo", "CachePool", "CachedStore", "Keeping", "Recheck", "Since", "keeping_of"]

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
            raise TypeError(f"expected a limit in bytes, like 256 << 20, found {limit!r}")
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


# Stores whose arrays keep what they read in a pool.


@dataclass(frozen=True, slots=True)
class Since:
    """Use entries without another check if they were checked at this moment or later."""

    seconds: float
    """Seconds since 1970, like `time.time()`."""

    @classmethod
    def now(cls) -> Since:
        """Return the current moment."""
        return cls(time.time())


Recheck: TypeAlias = bool | Literal["open"] | float | Since
"""When to check an entry. True: before each read. False: never. ``"open"``: once after the array was opened. A number:
if the last check is longer ago than so many seconds. `Since`: if the last check was before that moment.
"""


def check_recheck(recheck: Recheck) -> Recheck:
    """Check that a value is a valid `Recheck`."""
    if isinstance(recheck, bool | Since) or recheck == "open":
        return recheck
    if not isinstance(recheck, int | float):
        raise TypeError(f"expected recheck to be True, False, 'open', seconds or Since(...), found {recheck!r}")
    if math.isnan(recheck) or recheck < 0:
        raise ValueError(f"expected recheck to be 0 seconds or more, found {recheck!r}")
    return recheck


def native_recheck(recheck: Recheck) -> tuple[str, float]:
    """Return the argument for the engine, for an array that is opened now.

    >>> native_recheck(2.5), native_recheck(False), native_recheck(Since(12))
    (('age', 2.5), ('never', 0.0), ('since', 12.0))
    """
    if isinstance(recheck, bool):
        return ("always" if recheck else "never"), 0.0
    if recheck == "open":
        return "open", 0.0
    if isinstance(recheck, Since):
        return "since", float(recheck.seconds)
    assert not isinstance(recheck, str), "checked when the store was made"
    return ("age", float(recheck)) if recheck else ("always", 0.0)


class CachedStore(StoreHandle):
    """A wrapper of a store; arrays and groups that are opened from it use the pool.

    Parameters
    ----------
    store
        Where values are. Documents and other values that are asked for by key are not kept, only what arrays decode.
    pool
        What keeps them.
    recheck
        When something that is kept must be checked again before it is used: see `Recheck`.

    Examples
    --------
    >>> import blizzarr
    >>> pool = blizzarr.CachePool(1 << 20)
    >>> store = CachedStore(blizzarr.stores.MemoryStore(), pool, recheck=False)
    >>> group = blizzarr.create_group(store)
    >>> z = group.create_array("z", data=[1, 2, 3])
    >>> z[1], z[2], pool.info().hits
    (np.int64(2), np.int64(3), 1)
    """

    def __init__(self, store: Store, pool: CachePool, recheck: Recheck = True) -> None:
        if not isinstance(pool, CachePool):
            raise TypeError(f"expected a blizzarr.CachePool(limit in bytes), found {type(pool).__name__}")
        if isinstance(store, CachedStore):
            store = store.store
        super().__init__(store)
        self.pool = pool
        self.recheck = check_recheck(recheck)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.store!r}, {self.pool!r}, recheck={self.recheck!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CachedStore):
            return NotImplemented
        return bool(self.store == other.store) and self.pool is other.pool and self.recheck == other.recheck

    def __hash__(self) -> int:
        return hash((id(self.pool), self.recheck))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.store, self.pool, self.recheck)

    def set(self, key: str, value: Value) -> None:
        with self._changing(key):
            self.store.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        with self._changing(key):
            return super().replace(key, expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        with self._changing(key):
            return super().discard(key, expected)

    @property
    def set_if_version(self) -> Callable[[str, Value, str | None], bool]:
        method: Callable[[str, Value, str | None], bool] = self.store.set_if_version  # type: ignore[attr-defined]

        def set_if_version(key: str, value: Value, version: str | None) -> bool:
            with self._changing(key):
                return method(key, value, version)

        return set_if_version

    def delete(self, key: str) -> object:
        with self._changing(key):
            return self.store.delete(key)

    def delete_prefix(self, prefix: str) -> None:
        with self._changing(prefix, is_prefix=True):
            super().delete_prefix(prefix)

    @contextmanager
    def _changing(self, name: str, *, is_prefix: bool = False) -> Iterator[None]:
        try:
            yield
        finally:
            # Stores of the engine tell by themselves.
            if getattr(self.store, "native", None) is None:
                changed(self, name, is_prefix=is_prefix)


# The settings for caching the arrays of a store: found in the wrappers around it, and passed to the engine.


@dataclass(frozen=True, slots=True)
class Keeping:
    """A pool, and the rule for checking its entries."""

    pool: CachePool
    recheck: Recheck
    lifetime: Lifetime | None
    """The object that produces these values, where other handles of the same place may produce others."""

    def native(self) -> tuple[_native.CachePool, str, float, int] | None:
        """Return the arguments for the engine; None when nothing is kept."""
        pool = self.pool.native
        if pool is None:
            return None
        return pool, *native_recheck(self.recheck), 0 if self.lifetime is None else self.lifetime.number


_TRANSPARENT = (CachedStore, ReadOnlyStore, StoreWrapper)
"""Wrappers that return values unchanged; subclasses of them may not."""


def keeping_of(store: Store) -> Keeping | None:
    """Return the settings of the outermost `CachedStore` around a store; None where there is none."""
    outermost = None
    shown_by: Any = None
    while isinstance(store, StoreWrapper):
        if outermost is None and isinstance(store, CachedStore):
            outermost = store
        if shown_by is None and type(store) not in _TRANSPARENT:
            shown_by = store
        store = store.store
    if outermost is None:
        return None
    if shown_by is None and getattr(store, "native", None) is None:
        shown_by = getattr(store, "mapping", getattr(store, "target", store))
    # Only stores of the engine are known by where they are.
    return Keeping(outermost.pool, outermost.recheck, None if shown_by is None else Lifetime.of(shown_by))


_KINDS = {np.dtype(code): code for code in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}


def scalar_of(dtype: np.dtype[Any]) -> tuple[str, Callable[[Any], Any]]:
    """Return how the engine makes a scalar: from a Python number where that holds all bits, else from bytes."""
    kind = _KINDS.get(dtype)
    if kind is not None:
        return kind, dtype.type
    return "", lambda found: np.ndarray((), dtype, bytearray(found))[()]


_numbers = count(1)


class Lifetime:
    """A reference to an object with a number that no other object ever gets."""

    def __init__(self, of: Any) -> None:
        self._of = of
        self.number = next(_numbers)

    @staticmethod
    def of(behind: Any) -> Lifetime:
        """Return the lifetime of an object: a new one, if the object has none."""
        lifetime = _lifetimes.get(id(behind))
        # Two threads at once may get two, which is no more than two caches. A lock might stay held in a forked child.
        return _lifetimes.setdefault(id(behind), Lifetime(behind)) if lifetime is None else lifetime


_lifetimes: WeakValueDictionary[int, Lifetime] = WeakValueDictionary()

"""Metadata as they were when somebody last looked at them, shared by what is opened with one cache.

They last as long as something that was opened with them does, or, where the cache has room, as long as the cache.
"""

from __future__ import annotations

import threading
from collections.abc import MutableMapping
from typing import Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from blizzarr.caching import CachePool
from blizzarr.model import ArrayMeta

__all__ = ["LookedAt", "looked_at"]


class LookedAt:
    """The metadata of one array, and when they were looked at, in seconds since 1970.

    Examples
    --------
    >>> known = LookedAt()
    >>> known.suffices(0.0)
    False
    """

    __slots__ = ("__weakref__", "_known")

    # Looked up once in each method, as another thread may forget it.

    def __init__(self) -> None:
        self._known: tuple[ArrayMeta, float] | None = None

    @property
    def meta(self) -> ArrayMeta | None:
        """The metadata; None if nobody has looked."""
        known = self._known
        return None if known is None else known[0]

    @property
    def moment(self) -> float | None:
        """When that was; None if nobody has looked."""
        known = self._known
        return None if known is None else known[1]

    def suffices(self, since: float) -> bool:
        """Whether somebody has looked since a moment."""
        known = self._known
        return known is not None and known[1] >= since

    def are(self, meta: ArrayMeta, moment: float) -> None:
        """What somebody has found, or made, unless another has done so later."""
        known = self._known
        if known is None or known[1] <= moment:
            self._known = meta, moment

    def forget(self) -> None:
        """Have whoever needs them look."""
        self._known = None


_Key = tuple[str, ...]
_pools: Final[WeakKeyDictionary[CachePool, MutableMapping[_Key, LookedAt]]] = WeakKeyDictionary()
_lock: Final = threading.Lock()


def looked_at(pool: CachePool, key: _Key) -> LookedAt:
    """What is known of the array with this key to those that share the cache."""
    with _lock:
        of_pool = _pools.get(pool)
        if of_pool is None:
            of_pool = _pools[pool] = {} if pool.limit else WeakValueDictionary()
        found = of_pool.get(key)
        if found is None:
            found = of_pool[key] = LookedAt()
        return found

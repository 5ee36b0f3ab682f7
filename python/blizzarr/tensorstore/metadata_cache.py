"""Metadata as they were last read, shared by everything that is opened with one cache.

The metadata last as long as something that was opened with them does, or, where the cache has room, as the cache.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final
from weakref import WeakValueDictionary

from blizzarr.caching import CachePool
from blizzarr.fork import ForkedLock
from blizzarr.model import ArrayMeta
from blizzarr.spec.context import ContextResource, ResourceSpec, shared_by

__all__ = ["KnownMetadata", "known_metadata"]


class KnownMetadata:
    """The metadata of one array, and the moment when they were read, in seconds since 1970.

    Examples
    --------
    >>> known = KnownMetadata()
    >>> known.suffices(0.0)
    False
    """

    __slots__ = ("__weakref__", "_known")

    # Each method reads `_known` only once, as another thread may replace it.

    def __init__(self) -> None:
        self._known: tuple[ArrayMeta, float] | None = None

    @property
    def meta(self) -> ArrayMeta | None:
        """The metadata; None if nobody has read them."""
        known = self._known
        return None if known is None else known[0]

    @property
    def moment(self) -> float | None:
        """The moment when they were read; None if nobody has read them."""
        known = self._known
        return None if known is None else known[1]

    def suffices(self, since: float) -> bool:
        """Return whether they were read at this moment or later."""
        known = self._known
        return known is not None and known[1] >= since

    def keep(self, meta: ArrayMeta, moment: float) -> None:
        """Keep metadata that were read or written at this moment, unless later ones are known."""
        known = self._known
        if known is None or known[1] <= moment:
            self._known = meta, moment

    def forget(self) -> None:
        """Drop the metadata, so that the next user reads them."""
        self._known = None


_SHARING: Final = ForkedLock()


def known_metadata(pool: ContextResource | ResourceSpec, key: tuple[str, ...]) -> KnownMetadata:
    """Return the last known metadata of the array with this key for all that share the cache `pool`."""
    known = shared_by(pool, _no_metadata)
    with _SHARING.lock:
        found = known.get(key)
        if found is None:
            found = known[key] = KnownMetadata()
        return found


def _no_metadata(pool: CachePool) -> MutableMapping[tuple[str, ...], KnownMetadata]:
    return {} if pool.limit else WeakValueDictionary()

"""Metadata as they were last read, shared by everything that is opened with one cache.

The metadata last as long as something that was opened with them does, or, where the cache has room, as the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeAlias
from weakref import ref

from blizzarr.caching import CachePool
from blizzarr.fork import ForkedLock
from blizzarr.model import ArrayMeta
from blizzarr.spec.context import ContextResource, ResourceSpec, shared_by


class KnownMetadata:
    """The metadata of one array, and the moment when they were read, in seconds since 1970.

    Examples
    --------
    >>> known = KnownMetadata()
    >>> known.suffices(0.0)
    False
    """

    # Each method reads `_known` only once, as another thread may replace it.
    _known: tuple[ArrayMeta, float] | None = None

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


_Key: TypeAlias = tuple[str, ...]
_Known: TypeAlias = dict[_Key, Any]
"""Metadata by the identity of an array: of a pool with room they are kept, otherwise there are weak references."""


def known_metadata(resources: Mapping[str, ContextResource | ResourceSpec], key: _Key) -> KnownMetadata:
    """Return the last known metadata of the array with this key for all that share the cache of these resources."""
    pool: CachePool
    known: _Known
    pool, known = shared_by(resources["cache_pool"])
    with _SHARING.lock:
        entry = known.get(key)
        found: KnownMetadata | None = entry() if type(entry) is ref else entry
        if found is None:
            found = KnownMetadata()
            known[key] = ref(found, partial(_forget, known, key)) if pool.native is None else found
        return found


def _forget(known: _Known, key: _Key, reference: ref[KnownMetadata]) -> None:
    with _SHARING.lock:
        if known.get(key) is reference:
            del known[key]

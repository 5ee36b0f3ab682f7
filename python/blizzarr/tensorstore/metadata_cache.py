"""Metadata as they were last read, shared by everything that is opened with one cache.

The metadata last as long as something that was opened with them does, or, where the cache has room, as the cache.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, TypeAlias
from weakref import ref

from blizzarr.fork import ForkedLock
from blizzarr.model import ArrayMeta
from blizzarr.spec.context import BoundResource
from blizzarr.tensorstore.stored_place import StoredPlace
from blizzarr.transactions import StagedStore
from blizzarr.transactions.naming import place_in


class KnownMetadata:
    """The metadata of one array, and the moment when they were read, in seconds since 1970.

    >>> known = KnownMetadata()
    >>> known.recent(0.0) is None
    True
    """

    # Each method reads `_known` only once, as another thread may replace it.
    _known: tuple[ArrayMeta, float] | None = None

    @property
    def meta(self) -> ArrayMeta | None:
        """The metadata; None if nobody has read them."""
        known = self._known
        return None if known is None else known[0]

    def recent(self, since: float) -> ArrayMeta | None:
        """Return the metadata if they were read at this moment or later."""
        known = self._known
        return known[0] if known is not None and known[1] >= since else None

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


def known_metadata(place: StoredPlace) -> KnownMetadata:
    """Return the last known metadata of the array at a place, for all that share the cache of its spec."""
    if type(place.store) is StagedStore:
        # Others must not see the metadata of a transaction.
        return KnownMetadata()
    key = (*place_in(place.store), place.path, place.node.driver, *place.selection)
    resource = place.node.resources["cache_pool"]
    assert isinstance(resource, BoundResource), "the node is bound"
    known: _Known = resource.shared
    with _SHARING.lock:
        entry = known.get(key)
        metadata: KnownMetadata | None = entry() if type(entry) is ref else entry
        if metadata is None:
            metadata = KnownMetadata()
            known[key] = ref(metadata, partial(_forget, known, key)) if resource.value.native is None else metadata
        return metadata


def _forget(known: _Known, key: _Key, reference: ref[KnownMetadata]) -> None:
    with _SHARING.lock:
        if known.get(key) is reference:
            del known[key]

"""Telling caches about changes in stores that are written in Python; those of the engine do it themselves."""

from __future__ import annotations

from blizzarr import _native
from blizzarr.stores.protocol import Store


def value_changed(store: Store, key: str) -> None:
    """Tell caches that the value may have changed; call it after the change, also if that failed."""
    if _native.cache_exists():
        locks = getattr(store, "locks", None)
        if isinstance(locks, _native.NativeStore):
            locks.changed(key)
        else:
            _native.cache_value_changed(_place_of(store), key)


def prefix_changed(store: Store, prefix: str) -> None:
    """Tell caches that everything below the prefix may have been removed."""
    if _native.cache_exists():
        locks = getattr(store, "locks", None)
        if isinstance(locks, _native.NativeStore):
            locks.changed(prefix, True)
        else:
            _native.cache_prefix_changed(_place_of(store), prefix)


def _place_of(store: Store) -> str:
    # Places are told apart by the classes of stores, which import this module.
    from blizzarr.stores.place import place_of

    return place_of(store)

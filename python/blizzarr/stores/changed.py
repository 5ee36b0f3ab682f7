"""Telling caches what is changed in stores that are written in Python; those of the engine tell by themselves."""

from __future__ import annotations

from blizzarr import _native
from blizzarr.stores.place import place_of
from blizzarr.stores.protocol import Store

__all__ = ["prefix_changed", "value_changed"]


def value_changed(store: Store, key: str) -> None:
    """The value may be another one now. To be called afterwards, also if changing it has failed."""
    if _native.cache_exists():
        locks = getattr(store, "locks", None)
        if isinstance(locks, _native.NativeStore):
            locks.changed(key)
        else:
            _native.cache_value_changed(place_of(store), key)


def prefix_changed(store: Store, prefix: str) -> None:
    """Everything below the prefix may be gone."""
    if _native.cache_exists():
        locks = getattr(store, "locks", None)
        if isinstance(locks, _native.NativeStore):
            locks.changed(prefix, True)
        else:
            _native.cache_prefix_changed(place_of(store), prefix)

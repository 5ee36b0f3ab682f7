"""Telling caches about changes in stores that are written in Python; those of the engine do it themselves."""

from __future__ import annotations

from blizzarr import _native
from blizzarr.stores.protocol import Store


def changed(store: Store, name: str, *, is_prefix: bool = False) -> None:
    """Tell caches that a value, or all below a prefix, may have changed; call it afterwards, also if that failed."""
    if not _native.cache_exists():
        return
    locks = getattr(store, "locks", None)
    if isinstance(locks, _native.NativeStore):
        locks.changed(name, is_prefix)
        return
    # Places are told apart by the classes of stores, which import this module.
    from blizzarr.stores.place import place_of

    tell = _native.cache_prefix_changed if is_prefix else _native.cache_value_changed
    tell(place_of(store), name)

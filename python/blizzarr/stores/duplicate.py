"""A value under a second key."""

from __future__ import annotations

from blizzarr.stores.protocol import Store

__all__ = ["duplicate"]


def duplicate(store: Store, key: str, other: str) -> None:
    """Give the value of a key to another key too, in place of what that has; without copying where the store can.

    A key without a value is left alone.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> store = MappingStore({"a": b"value"})
    >>> duplicate(store, "a", "b")
    >>> store.get("b")
    b'value'
    """
    link = getattr(store, "link", None)
    if link is not None and link(key, other):
        return
    value = store.get(key)
    if value is not None:
        store.set(other, value)

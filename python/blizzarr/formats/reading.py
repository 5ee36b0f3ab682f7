"""Reading documents from a store, where their keys may be those of directories, or none that the store can have."""

from __future__ import annotations

from collections.abc import Sequence
from errno import EISDIR, ENOTDIR
from typing import Any, Final

from blizzarr.errors import PathError, StoreError
from blizzarr.formats.document import MAX_BYTES
from blizzarr.stores.protocol import Store
from blizzarr.stores.requests import each

_NO_VALUE: Final = (EISDIR, ENOTDIR)


def get_many(store: Store, keys: Sequence[str]) -> list[Any]:
    """Return the values under many keys, `None` for missing ones, in one request if the store has `get_many`."""
    up_to = getattr(store, "get_up_to", None)
    try:
        if len(keys) == 1 and up_to is None:
            return [store.get(keys[0])]
        at_once = getattr(store, "get_many", None) if len(keys) > 1 else None
        if up_to is not None:
            # A store that expands what is stored stops where a document is too large.
            return [up_to(key, MAX_BYTES) for key in keys]
        return each(store, store.get, keys) if at_once is None else list(at_once(keys))
    except PathError:
        if len(keys) == 1:
            raise
    except StoreError as error:
        if error.errno not in _NO_VALUE:
            raise
    return each(store, lambda key: get_value(store, key), keys)


def get_value(store: Store, key: str) -> Any:
    """Return a value; `None` also if the store cannot have the key.

    A document of one format may have the key of a directory of another, or one below a file, or one that is too long
    for the store.
    """
    try:
        return store.get(key)
    except PathError:
        return None
    except StoreError as error:
        if error.errno in _NO_VALUE:
            return None
        raise

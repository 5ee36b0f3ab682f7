"""The names of values in transactions: their keys, after what tells the stores of one place apart."""

from __future__ import annotations

from blizzarr.json_values import quote
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.place import place_of
from blizzarr.stores.wrapper import unwrapped


def place_in(store: Store) -> tuple[str, str]:
    """Return the place of a store, and the prefix of its keys there; all directories are in one place."""
    bare = store if type(store) is LocalStore else unwrapped(store)
    if isinstance(bare, LocalStore):
        return "file", f"{bare.facts[0]}/".replace("//", "/")
    return place_of(bare), ""


def shown(store: Store, key: str) -> str:
    """A value as errors show it."""
    kind, prefix = place_in(store)
    return f"local file {quote(prefix + key)}" if kind == "file" else quote(key)

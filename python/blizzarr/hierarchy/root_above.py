"""The root of the hierarchy around a path, for nodes without a directory of their own."""

from __future__ import annotations

from blizzarr.errors import BlizzarrError
from blizzarr.formats import FORMATS, find_again, format_of
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.os_paths import engine_path


def root_above(store: Store, path: str) -> tuple[Store, str] | None:
    """Return the store at the root of the hierarchy around a directory, and the path of its node.

    The draft keeps documents and chunks in two trees, so the path of a node is not that of a directory (where an
    upgrade was interrupted, there may be one, without a document). Return None if there is no such hierarchy above, or
    no such node in it.
    """
    from pathlib import Path

    directory = getattr(store, "root", None)
    if not isinstance(store, LocalStore) or not isinstance(directory, Path):
        return None
    if store.links == "within-root":
        return None  # what is above is outside
    entries = {form.entry_key for form in FORMATS.values() if form.entry_key is not None}
    for parent in directory.parents:
        if any((parent / entry).is_file() for entry in entries):
            root = LocalStore(parent, read_only=store.read_only)
            inside = "/".join(filter(None, (engine_path(directory.relative_to(parent).as_posix()), path)))
            try:
                node = find_again(root, inside)
            except BlizzarrError:
                return None
            return (root, inside) if node is not None and format_of(node.meta).entry_key is not None else None
    return None

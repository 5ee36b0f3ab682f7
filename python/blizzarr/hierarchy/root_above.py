"""What is above the directory of a store: the root of a hierarchy around it, or an array."""

from __future__ import annotations

import os
from contextlib import suppress

from blizzarr.errors import BlizzarrError, NodeTypeError
from blizzarr.formats import FORMATS, find_again, format_of
from blizzarr.hierarchy.barrier import directory_behind
from blizzarr.model import ArrayMeta
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


def refuse_below_array(store: Store) -> None:
    """Raise `NodeTypeError` if the directory of a store, which has no node at its root, is directly in an array.

    Nobody would find the nodes of the store from above. Directories that do not exist yet do not count.
    """
    behind = directory_behind(store)
    if behind is None or behind.links == "within-root":
        return  # what is above is outside
    above = os.path.dirname(str(behind))
    while not os.access(above, os.F_OK) and above != os.path.dirname(above):
        above = os.path.dirname(above)
    if not any(os.access(f"{above}/{key}", os.F_OK) for key in ("zarr.json", ".zarray")):
        return
    node = None
    with suppress(BlizzarrError):
        node = find_again(LocalStore(above), "")
    if node is not None and isinstance(node.meta, ArrayMeta):
        below = os.path.relpath(str(behind), above)
        raise NodeTypeError(
            f"expected a group, found an array: nothing can be below it, like {below!r}", array="/", store=above
        )

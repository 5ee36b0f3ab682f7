"""All nodes of one format in a store, whatever else is there."""

from __future__ import annotations

from collections.abc import Sequence

from blizzarr.errors import BlizzarrError
from blizzarr.formats import Format, Found, find_many
from blizzarr.model import GroupMeta
from blizzarr.model.names import join
from blizzarr.stores import Store

__all__ = ["walk"]


def walk(store: Store, form: Format, entry: bytes | None = None) -> dict[str, Found | BlizzarrError]:
    """The nodes by path, groups before what is in them, each with its documents or with why it cannot be read.

    Parameters
    ----------
    entry
        Stands for the document of the hierarchy as a whole, where it has been replaced.
    """
    nodes: dict[str, Found | BlizzarrError] = {}
    level: Sequence[str] = [""]
    implicit: set[str] = set()
    while level:
        below: list[str] = []
        shown: set[str] = set()
        for path, found in zip(level, find_many(store, level, [form], entry=entry), strict=True):
            if found is not None:
                nodes[path] = found
            elif path in implicit or (not path and form.implicit_groups):
                nodes[path] = Found(GroupMeta(format=form.name), {})
            here = nodes.get(path)
            if isinstance(here, Found) and isinstance(here.meta, GroupMeta):
                names, groups = _names(store, form, path)
                if path in implicit and not here.documents and not names:
                    # A prefix below which there are no nodes: nothing makes it a group.
                    del nodes[path]
                below += names
                shown |= groups
        level, implicit = below, shown
    return nodes


def _names(store: Store, form: Format, path: str) -> tuple[list[str], set[str]]:
    """The paths of what may be below a group, and of those that are groups even without a document."""
    prefix = form.listing_prefix(path)
    if prefix is None:
        return [], set()
    keys, prefixes = store.list_dir(prefix)
    paths = [join(path, name) for name in form.child_names(path, keys, prefixes)]
    there = set(prefixes) if form.implicit_groups else set()
    return paths, {child for child in paths if form.listing_prefix(child) in there}

"""All nodes of one format in a store, whatever else is there."""

from __future__ import annotations

from collections.abc import Sequence

from blizzarr.errors import BlizzarrError
from blizzarr.formats import Format, Found, find_many, listed
from blizzarr.model import GroupMeta
from blizzarr.model.names import join
from blizzarr.problems import warn_of
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
                warn_of(found.notices if isinstance(found, Found) else ())
            elif path in implicit or (not path and form.implicit_groups):
                nodes[path] = Found(GroupMeta(format=form.name), {})
            here = nodes.get(path)
            if isinstance(here, Found) and isinstance(here.meta, GroupMeta):
                names, groups = listed(store, path, form, [form])
                if path in implicit and not here.documents and not names:
                    # A prefix below which there are no nodes: nothing makes it a group.
                    del nodes[path]
                below += [join(path, name) for name in names]
                shown |= {join(path, name) for name in groups}
        level, implicit = below, shown
    return nodes

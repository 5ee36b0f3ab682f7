"""Walking all nodes of one format in a store, ignoring documents of other formats."""

from __future__ import annotations

from collections.abc import Sequence

from blizzarr.errors import BlizzarrError
from blizzarr.formats import Format, Found, find_many, listed
from blizzarr.model import GroupMeta
from blizzarr.model.names import join
from blizzarr.problems import warn_of
from blizzarr.stores import Store


def walk(store: Store, form: Format, entry: bytes | None = None) -> dict[str, Found | BlizzarrError]:
    """Return the nodes by path, groups before their members, with the error in place of nodes that cannot be read.

    Parameters
    ----------
    entry
        Used in place of the document of the hierarchy as a whole, if that has been replaced already.
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
                    # A prefix without nodes below it is not a group.
                    del nodes[path]
                below += [join(path, name) for name in names]
                shown |= {join(path, name) for name in groups}
        level, implicit = below, shown
    return nodes

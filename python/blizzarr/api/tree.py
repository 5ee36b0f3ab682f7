"""Showing a hierarchy as text."""

from __future__ import annotations

from blizzarr.api.open import open_group
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords
from blizzarr.stores import StoreLike


@exact_keywords
def tree(group: Group | StoreLike, level: int | None = None) -> object:
    """Return all nodes below a group, down to `level` levels; it prints as a tree. See `Group.tree`.

    Raises
    ------
    NodeNotFoundError
        If there is nothing.
    NodeTypeError
        If an array is there.
    StoreError
        If the store fails, or cannot list.
    """
    node = group if isinstance(group, Group) else open_group(group, mode="r")
    return node.tree(level)

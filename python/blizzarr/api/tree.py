"""Showing a hierarchy as text."""

from __future__ import annotations

from typing import Never

from blizzarr.api.open import open_group
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords, unknown_keywords
from blizzarr.stores import StoreLike


@exact_keywords
def tree(group: Group | StoreLike, level: int | None = None, **unknown: Never) -> object:
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
    if unknown:
        raise unknown_keywords(tree, unknown)
    node = group if isinstance(group, Group) else open_group(group, mode="r")
    return node.tree(level)

"""Copying the metadata of everything below a group into the group's own documents."""

from __future__ import annotations

from functools import partial

from blizzarr.errors import BlizzarrError, ConflictError
from blizzarr.hierarchy.documents import Node, forget_consolidated, revise
from blizzarr.hierarchy.members import read_members
from blizzarr.model import GroupMeta
from blizzarr.model.names import join
from blizzarr.stores import Store

__all__ = ["consolidate"]

_ATTEMPTS = 10


def consolidate(store: Store, path: str, meta: GroupMeta) -> None:
    """Store the metadata of all nodes below a group in the documents of the group.

    Raises
    ------
    BlizzarrError
        If a member cannot be read; nothing is stored then.
    ConflictError
        If others kept changing nodes below the group.
    """
    found = _below(store, path, meta)
    for _ in range(_ATTEMPTS):
        stored = found
        revise(store, path, partial(GroupMeta.with_consolidated, consolidated=stored))
        # Whoever changes a node from now on removes the consolidated metadata; an earlier change may have found none.
        found = _below(store, path, meta)
        if found == stored:
            return
    forget_consolidated(store, join(path, "any"))
    raise ConflictError(
        f"other writers changed nodes below it {_ATTEMPTS} times in a row; try again when they are done",
        array=f"/{path}",
        store=str(store),
    )


def _below(store: Store, path: str, meta: GroupMeta) -> dict[str, Node]:
    """Return the metadata of all nodes below the group, as it is stored now."""
    children = read_members(store, path, meta.with_consolidated(None), None)
    for child in children:
        if child.error is not None:
            raise _named(child.error, child.name)
    nodes = {child.name: child.meta for child in children if child.meta is not None}
    return {name: node.with_consolidated(None) if isinstance(node, GroupMeta) else node for name, node in nodes.items()}


def _named(error: BlizzarrError, name: str) -> BlizzarrError:
    error.add_note(f"member {name!r} cannot be read, so the hierarchy cannot be consolidated")
    return error

"""The metadata of a whole hierarchy in one document."""

from __future__ import annotations

from functools import partial

from blizzarr.api.open import open_group
from blizzarr.errors import BlizzarrError, ConflictError
from blizzarr.group import Group
from blizzarr.hierarchy.documents import forget_consolidated, revise
from blizzarr.hierarchy.members import read_members
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join
from blizzarr.stores import StoreLike

__all__ = ["consolidate_metadata", "tree"]

_ATTEMPTS = 10


def consolidate_metadata(store: StoreLike | Group, *, path: str | None = "") -> Group:
    """Copy the metadata of everything below a group into its document, so that it opens with one request.

    The copies are no longer right once something below changes. Changes made through this library remove them; other
    programs may not. A member that cannot be read is an error, and nothing is stored.

    Examples
    --------
    >>> from blizzarr.api import create_group
    >>> root = create_group(memory := {})
    >>> a = root.create_array("a/x", shape=(2,), dtype="int8")
    >>> list(consolidate_metadata(memory).metadata.consolidated)
    ['a', 'a/x']
    """
    group = store if isinstance(store, Group) else open_group(store, mode="r+", path=path)
    found = _below(group)
    for _ in range(_ATTEMPTS):
        stored = found
        revise(group.store, group.path, partial(GroupMeta.with_consolidated, consolidated=stored))
        # Who makes or changes a node from now on removes them; who did so meanwhile may have seen none to remove.
        found = _below(group)
        if found == stored:
            return Group(group.store, group.path, group.metadata).refresh()
    forget_consolidated(group.store, join(group.path, "any"))
    raise ConflictError(
        f"somebody else changed what is below it {_ATTEMPTS} times in a row; try again when they are done",
        array=group.name,
        store=str(group.store),
    )


def _below(group: Group) -> dict[str, ArrayMeta | GroupMeta]:
    """The metadata of everything below the group, as they are stored now."""
    children = read_members(group.store, group.path, group.metadata.with_consolidated(None), None)
    for child in children:
        if child.error is not None:
            raise _named(child.error, child.name)
    nodes = {child.name: child.meta for child in children if child.meta is not None}
    return {name: node.with_consolidated(None) if isinstance(node, GroupMeta) else node for name, node in nodes.items()}


def tree(group: Group | StoreLike, level: int | None = None) -> object:
    """Everything below a group as text, `level` levels deep; see `Group.tree`."""
    node = group if isinstance(group, Group) else open_group(group, mode="r")
    return node.tree(level)


def _named(error: BlizzarrError, name: str) -> BlizzarrError:
    error.add_note(f"member {name!r} cannot be read, so the hierarchy cannot be consolidated")
    return error

"""Removing the consolidated metadata of the groups above a node, which would be stale after a change of the node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from typing import Any, TypeAlias

from blizzarr.errors import BlizzarrError, ConflictError, StoreError
from blizzarr.formats import Format, StoredNode, encode, find_likely, find_many, mark_of, unmarked
from blizzarr.hierarchy.barrier import directory_behind, from_top, together
from blizzarr.model import GroupMeta
from blizzarr.model.names import ancestors
from blizzarr.stores import Store
from blizzarr.stores.conditional import try_discard, try_replace
from blizzarr.stores.requests import alongside
from blizzarr.stores.wrapper import unwrapped

_ATTEMPTS = 100


NodesAbove: TypeAlias = list[StoredNode | BlizzarrError | None]
"""The nodes at all paths above one, outermost first, as `find_many` returns them."""


@contextmanager
def looking_above(store: Store, path: str, after: NodesAbove, likely: Format | None = None) -> Iterator[None]:
    """Read the nodes above a path that is changed into the list that `changing` yields, while the block runs.

    The change must be stored by then. What the block stores is no metadata, which the groups above could list.
    """
    if not path:
        yield
        return
    groups = ancestors(path)
    with alongside(store, lambda: after.extend(_read(store, groups, likely))):
        yield


@contextmanager
def changing(
    store: Store, path: str, above: NodesAbove | None = None, likely: Format | None = None
) -> Iterator[NodesAbove]:
    """Change the node at a path within the block, so that no group above it ever lists it as it was.

    `above` are the nodes above the path, if they have just been read. The block may put the nodes that it reads after
    its change into the list that is yielded. In each case, one request less is made for each group. `likely` is the
    format that the groups probably have.

    Consolidated metadata is removed before the change: who dies in between leaves none. Consolidation that began before
    the block finds its mark gone, and begins again; in local directories none begins within the block. Elsewhere one
    may, and so what there is of it is removed after the change, too.

    Raise `ConflictError` if others made consolidated metadata anew at every attempt to remove it. Raise `StoreError` if
    the store fails. The node has not been changed then, or the error comes from after the change.
    """
    after: NodesAbove = []
    behind = directory_behind(store)
    if behind is None:
        _withdraw_above(store, path, above, likely)
        try:
            with _changing_around(store, likely):
                yield after
        finally:
            _withdraw_above(store, path, after, likely)
        return
    reaching, node, top = from_top(store, behind, path)
    if not node:
        yield after
        return
    with together(behind, top) as excluded:
        _withdraw_above(reaching, node)
        try:
            yield after
        finally:
            if not excluded:
                _withdraw_above(reaching, node)


@contextmanager
def _changing_around(store: Store, likely: Format | None) -> Iterator[None]:
    """Do the same for the groups around the root of a store that has a part of a bucket or of a file system.

    The block does not wait while they are looked for, so that who dies within it may leave their consolidated metadata.
    """
    outer: Store | None = getattr(unwrapped(store), "store_above", None)
    if outer is None:
        yield
        return
    there_are: list[bool] = []

    def look() -> None:
        # If it fails, or the failure of the block ends it, it is done again after the block.
        with suppress(BlizzarrError):
            there_are.append(_withdraw_around(outer, likely))

    def finish() -> None:
        if there_are != [False]:
            _withdraw_around(outer, likely)

    try:
        with alongside(store, look):
            yield
    except BaseException:
        # What failed first is what the caller hears of.
        with suppress(BlizzarrError):
            finish()
        raise
    finish()


def _withdraw_around(outer: Any, likely: Format | None) -> bool:
    """Remove the consolidated metadata of groups at the root of a store and of those above; return if there is one.

    Who may use a part of a bucket need not be allowed to read or change what is around it: a refusal is passed over.
    """
    is_there = False
    try:
        while outer is not None:
            (node,) = _read(outer, [""], likely)
            if not isinstance(node, StoredNode) or not isinstance(node.meta, GroupMeta):
                break
            is_there = True
            withdraw(outer, [""], [node], likely)
            outer = outer.store_above
    except StoreError as error:
        if error.errno != EACCES:
            raise
    return is_there


def _withdraw_above(store: Store, path: str, nodes: NodesAbove | None = None, likely: Format | None = None) -> None:
    if path:
        withdraw(store, ancestors(path), nodes, likely)


def withdraw(store: Store, groups: list[str], nodes: NodesAbove | None = None, likely: Format | None = None) -> None:
    """Remove the consolidated metadata of groups, and the marks by which others would make it.

    `nodes` are the nodes at the paths of these groups, if they have just been read; `likely` is their probable format.

    Raise `ConflictError` if others made consolidated metadata anew at every attempt.
    """
    for _ in range(_ATTEMPTS):
        # Groups that cannot be read have no consolidated metadata that could be used.
        pairs = zip(groups, nodes or _read(store, groups, likely), strict=True)
        nodes = None
        left = [(group, one) for group, one in pairs if isinstance(one, StoredNode) and _is_consolidated(one)]
        if not left:
            return
        for group, node in left:
            _withdraw(store, group, node)
        groups = [group for group, _ in left]
    raise ConflictError(
        f"others consolidated the metadata of /{groups[0]} {_ATTEMPTS} times while a node below it was to change; try "
        "again",
        array=f"/{groups[0]}",
        store=str(store),
    )


def _read(store: Store, groups: list[str], likely: Format | None) -> NodesAbove:
    return find_many(store, groups) if likely is None else find_likely(store, groups, likely, others=False)


def _is_consolidated(node: StoredNode) -> bool:
    if not isinstance(node.meta, GroupMeta):
        return False
    return node.meta.consolidated is not None or any(map(mark_of, node.documents.values()))


def _withdraw(store: Store, group: str, node: StoredNode) -> None:
    """Remove the consolidated metadata of a group, if its documents are still these."""
    assert isinstance(node.meta, GroupMeta)
    kept = encode(node.meta.with_consolidated(None), group)
    # Marks first: without them, consolidated metadata that others are just storing does not count.
    for key, value in kept.items():
        old = node.documents.get(key)
        if old is not None and unmarked(value) != old and not try_replace(store, key, old, unmarked(value)):
            return
    for key, value in node.documents.items():
        if key in kept:
            continue
        if (unlist := getattr(store, "unlist", None)) is not None:
            # A zip file, which deletes nothing and has a single writer.
            unlist(key)
        else:
            try_discard(store, key, value)

"""The documents of many nodes at once, and changing those of one while others do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from blizzarr.errors import BlizzarrError, ConflictError, NodeNotFoundError
from blizzarr.formats import FORMATS, Found, encode, find_again, find_implied, find_many
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores import Store, check_writable
from blizzarr.stores.conditional import discard_value, replace_value

__all__ = ["Node", "ancestors", "forget_consolidated", "put", "read_many", "revise"]

Node: TypeAlias = ArrayMeta | GroupMeta
N = TypeVar("N", ArrayMeta, GroupMeta)

_ATTEMPTS = 100


def read_many(store: Store, paths: Sequence[str]) -> list[Node | BlizzarrError | None]:
    """For each path the node that its documents make, None where there is none, or why it cannot be read."""
    if not paths:
        return []
    return [found.meta if isinstance(found, Found) else found for found in find_many(store, paths)]


def ancestors(path: str) -> list[str]:
    """The paths above a path, outermost first.

    Examples
    --------
    >>> ancestors("a/b/c"), ancestors("")
    (['', 'a', 'a/b'], [])
    """
    names = path.split("/") if path else []
    return ["/".join(names[:depth]) for depth in range(len(names))]


def revise(store: Store, path: str, change: Callable[[N], N], known: Found | None = None) -> N:
    """Change a node's metadata as they are now, not as they were when somebody opened the node.

    The documents are read, changed and put back only if nobody else has changed them in the meantime, else it is done
    over; so of two changes to different attributes, or of an attribute and the shape, both are kept. Consolidated
    metadata in the groups above, which would now be stale, are removed.

    Parameters
    ----------
    store, path
        The node.
    change
        From the node as it is to the node as it should be. May be called more than once, and may raise: then nothing
        changes.
    known
        The node as somebody has just read it: if it is still so, it need not be read again.

    Returns
    -------
    The node as it was stored.
    """
    check_writable(store, path)
    for _ in range(_ATTEMPTS):
        found, known = known or find_again(store, path) or find_implied(store, path), None
        if found is None:
            raise NodeNotFoundError(
                "it was removed, or replaced by something else, since it was opened", array=f"/{path}", store=str(store)
            )
        # Before, as whoever is killed in between leaves none rather than stale ones; and after, as they may have been
        # made anew meanwhile.
        changed = change(found.meta)  # type: ignore[arg-type]  # who opened an array finds an array, or `change` says so
        new = encode(changed, path)
        forget_consolidated(store, path)
        if put(store, found.documents, new) and discard(store, found.documents, new):
            forget_consolidated(store, path)
            return changed
    raise ConflictError(
        f"somebody else changed its metadata {_ATTEMPTS} times in a row; try again", array=f"/{path}", store=str(store)
    )


def put(store: Store, old: dict[str, bytes], new: dict[str, bytes]) -> bool:
    """Store the documents that differ; False when one of them is no longer what it was, or no longer missing."""
    replace = getattr(store, "replace", None)
    for key, value in new.items():
        if old.get(key) == value:
            continue
        done = replace(key, old.get(key), value) if replace else replace_value(store, key, old.get(key), value)
        if not done:
            return False
    return True


def discard(store: Store, old: dict[str, bytes], new: dict[str, bytes]) -> bool:
    """Remove the documents that are no longer needed; False when somebody has changed one of them meanwhile."""
    if old.keys() <= new.keys():
        return True
    discard = getattr(store, "discard", None)
    gone = [(key, value) for key, value in old.items() if key not in new]
    return all(discard(key, value) if discard else discard_value(store, key, value) for key, value in gone)


@lru_cache
def _keys_above(path: str) -> list[str]:
    """The keys of all documents that there may be in the groups above a node."""
    return [key for group in ancestors(path) for form in FORMATS.values() for key in form.document_keys(group)]


def forget_consolidated(store: Store, path: str) -> None:
    """Remove the consolidated metadata of the groups above a node that has changed: they would show what it was."""
    if not path:
        return
    above = ancestors(path)
    near: Any = store if getattr(store, "native", None) is not None else None
    if near is not None and not near.present(_keys_above(path)):
        return
    for group, node in zip(above, read_many(store, above), strict=True):
        if isinstance(node, GroupMeta) and node.consolidated is not None:
            revise(store, group, lambda meta: meta.with_consolidated(None))

"""Reading the documents of many nodes at once, and changing those of one node while others do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from blizzarr.errors import BlizzarrError, ConflictError, NodeNotFoundError, UnknownOutcomeError
from blizzarr.formats import FORMATS, Found, encode, find_again, find_implied, find_many
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores import Replaced, Store, check_writable
from blizzarr.stores.conditional import discard_value, replace_value

__all__ = ["Node", "ancestors", "forget_consolidated", "put", "read_many", "revise"]

Node: TypeAlias = ArrayMeta | GroupMeta
N = TypeVar("N", ArrayMeta, GroupMeta)

_ATTEMPTS = 100
_UNKNOWN = (
    "the answer to a change of its metadata may have been lost, and others have changed them since, so it is not known "
    "whether this change was stored: refresh(), and look"
)


def read_many(store: Store, paths: Sequence[str]) -> list[Node | BlizzarrError | None]:
    """Return for each path the metadata of its node, None if there is none, or the error if it cannot be read."""
    if not paths:
        return []
    return [found.meta if isinstance(found, Found) else found for found in find_many(store, paths)]


def ancestors(path: str) -> list[str]:
    """Return the paths above a path, outermost first.

    Examples
    --------
    >>> ancestors("a/b/c"), ancestors("")
    (['', 'a', 'a/b'], [])
    """
    names = path.split("/") if path else []
    return ["/".join(names[:depth]) for depth in range(len(names))]


def revise(store: Store, path: str, change: Callable[[N], N], known: Found | None = None) -> N:
    """Change a node's metadata as it is stored now, not as it was when the node was opened.

    The documents are read, changed, and replaced only if nobody else has changed them in the meantime; otherwise all of
    this is repeated. So changes to different attributes, or to an attribute and the shape, are both kept. Consolidated
    metadata in the groups above, which would be stale, is removed.

    Parameters
    ----------
    store, path
        The store, and the path of the node in it.
    change
        Returns the new metadata for the stored one. It may be called more than once; if it raises an error, nothing
        changes.
    known
        The node as it was just read, to save reading it if it has not changed since.

    Returns
    -------
    The new metadata, as it was stored.

    Raises
    ------
    NodeNotFoundError
        If there is no node any more.
    ConflictError
        If others changed the documents at every attempt.
    UnknownOutcomeError
        If it is not known whether the change was stored, as an answer was lost.
    """
    check_writable(store, path)
    doubtful = False
    for _ in range(_ATTEMPTS):
        found, known = known or find_again(store, path) or find_implied(store, path), None
        if found is None:
            raise NodeNotFoundError(
                "it was removed, or replaced by something else, since it was opened", array=f"/{path}", store=str(store)
            )
        # Consolidated metadata is removed before the change, so that a process that dies in between leaves none rather
        # than a stale one; and after it, as others may have made it anew in the meantime.
        try:
            changed = change(found.meta)  # type: ignore[arg-type]  # `change` raises an error for another kind of node
        except (ConflictError, KeyError) as error:
            if doubtful:
                # What is in the way may be this change itself.
                raise UnknownOutcomeError(_UNKNOWN, array=f"/{path}", store=str(store)) from error
            raise
        new = encode(changed, path)
        forget_consolidated(store, path)
        done = put(store, found.documents, new)
        if done and discard(store, found.documents, new):
            forget_consolidated(store, path)
            return changed
        doubtful = doubtful or done is None
    if doubtful:
        raise UnknownOutcomeError(_UNKNOWN, array=f"/{path}", store=str(store))
    raise ConflictError(
        f"other writers changed its metadata {_ATTEMPTS} times in a row; try again", array=f"/{path}", store=str(store)
    )


def put(store: Store, old: dict[str, bytes], new: dict[str, bytes]) -> Replaced:
    """Store the documents that differ; return False if the stored one is no longer that in `old`, or not missing.

    None if that is so, but it may be the new one that was in the way.
    """
    replace = getattr(store, "replace", None)
    for key, value in new.items():
        if old.get(key) == value:
            continue
        done = replace(key, old.get(key), value) if replace else replace_value(store, key, old.get(key), value)
        if not done:
            return None if done is None else False
    return True


def discard(store: Store, old: dict[str, bytes], new: dict[str, bytes]) -> bool:
    """Remove the documents that are not in `new`; return False if the stored one is no longer that in `old`."""
    if old.keys() <= new.keys():
        return True
    discard = getattr(store, "discard", None)
    gone = [(key, value) for key, value in old.items() if key not in new]
    return all(discard(key, value) if discard else discard_value(store, key, value) for key, value in gone)


@lru_cache
def _keys_above(path: str) -> list[str]:
    """Return the keys of all documents that the groups above a node may have."""
    return [key for group in ancestors(path) for form in FORMATS.values() for key in form.document_keys(group)]


def forget_consolidated(store: Store, path: str) -> None:
    """Remove the consolidated metadata of the groups above a node that has changed, as it is out of date."""
    if not path:
        return
    above = ancestors(path)
    near: Any = store if getattr(store, "native", None) is not None else None
    if near is not None and not near.present(_keys_above(path)):
        return
    for group, node in zip(above, read_many(store, above), strict=True):
        if isinstance(node, GroupMeta) and node.consolidated is not None:
            revise(store, group, lambda meta: meta.with_consolidated(None))

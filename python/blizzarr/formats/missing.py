"""The text of the error about a path without a node: what was looked for, and what is there instead."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from blizzarr.errors import BlizzarrError, NodeNotFoundError
from blizzarr.formats.format import Format, Node
from blizzarr.formats.table import FORMATS
from blizzarr.keywords import nearest
from blizzarr.model import ArrayMeta
from blizzarr.stores import LocalStore, MappingStore
from blizzarr.stores.protocol import Store
from blizzarr.stores.requests import is_remote
from blizzarr.stores.urls import ZIP_ENDINGS
from blizzarr.stores.wrapper import unwrapped

_SHOWN: Final = 6


def not_found(
    store: Store, path: str, form: Format | None, detect: Callable[[Any, str], Node | None]
) -> NodeNotFoundError:
    """Return the error of a path without a node, or without one of this format; this may take long in large stores."""
    forms = FORMATS.values() if form is None else (form,)
    sought = tuple(f"{' or '.join(each.node_keys(path))} ({each.name})" for each in forms)
    # Those of all formats would hide what is there; the error has them as a field.
    hint = f"; looked for {sought[0]}" if len(sought) == 1 else ""
    there = (None if form is None else _of_another_format(store, path, detect)) or what_is_there(store, path, detect)
    return NodeNotFoundError(
        f"no array or group here: {there}{hint}", array=f"/{path}", store=str(store), sought=sought
    )


def _of_another_format(store: Store, path: str, detect: Callable[[Any, str], Node | None]) -> str | None:
    """Return a clause about a node of another format at the path, or `None` if there is none."""
    try:
        there = detect(store, path)
    except BlizzarrError:
        return None
    return None if there is None else f"there is one of format {there.format}, which opens if no format is named"


def what_is_there(store: Store, path: str, detect: Callable[[Any, str], Node | None]) -> str:
    """Return a clause that says what is at the path, or what is near it."""
    prefix = f"{path}/" if path else ""
    if is_remote(store) and any(f"{ending}/" in f"{store}/{prefix}" for ending in ZIP_ENDINGS):
        return "zip files are opened in local directories only: download it first"
    try:
        keys, prefixes = store.list_dir(prefix)
    except BlizzarrError:
        return "there is no document of one, like zarr.json or .zarray, and the store cannot list what is there"
    names = [key[len(prefix) :] for key in (*prefixes, *keys)]
    from blizzarr.stores.ocdbt.store import MANIFEST

    if MANIFEST in names:
        return "this is a database of OCDBT, in which arrays have paths of their own: add '|ocdbt:' and the path"
    # The second is that of icechunk 2.
    if "snapshots/" in names and ("refs/" in names or "repo" in names):
        return "this looks like a repository of icechunk: open it with icechunk, and pass the store of a session"
    if not names:
        return f"nothing is at this path; {_nearest(store, path, detect)}" if path else _what_is_empty(store, detect)
    more = "" if len(names) <= _SHOWN else f" and {len(names) - _SHOWN} more"
    folders = (name.rstrip("/") for name in names[:_SHOWN] if name.endswith("/"))
    node = next((name for name in folders if _is_node(store, prefix + name, detect)), None)
    advice = "" if node is None else f"; add the name of what is to be opened to the path, like {node!r}"
    return f"found {', '.join(names[:_SHOWN])}{more}{advice}"


def _is_node(store: Store, path: str, detect: Callable[[Any, str], Node | None]) -> bool:
    try:
        return detect(store, path) is not None
    except BlizzarrError:
        return False


def _what_is_empty(store: Any, detect: Callable[[Any, str], Node | None]) -> str:
    # Read-only stores and stores with a pool wrap the local one.
    store = unwrapped(store)
    others = store.list_all()[1] if isinstance(store, MappingStore) else None
    if others:
        shown = ", ".join(map(repr, others[:_SHOWN]))
        return f"found {shown}, which no key of a store can be; keys look like 'a/zarr.json'"
    if not isinstance(store, LocalStore):
        return "the store is empty"
    if store.root.is_dir():
        return "the directory is empty"
    above = _directory_above(store, detect) or _beside(store)
    return "No such file or directory" if above is None else f"No such file or directory; {above}"


def _beside(store: LocalStore) -> str | None:
    """Return a clause about a directory whose name was probably meant; None if there is none."""
    if store.links == "within-root":
        return None
    try:
        meant = _meant(store.root.name, os.listdir(store.root.parent))
    except OSError:
        return None
    return None if meant is None else f"did you mean {meant!r}?"


def _meant(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, or None; a suffix that both have makes them no more alike.

    >>> _meant("heet.zarr", ["rain.zarr", "heat.zarr"]), _meant("nothing.zarr", ["t.zarr"])
    ('heat.zarr', None)
    >>> _meant("heat.zar", ["t.zarr", "heat.zarr"])
    'heat.zarr'
    """
    stem, suffix = os.path.splitext(name)
    same, others = {}, []
    for other in names:
        beginning, end = os.path.splitext(other)
        if end == suffix:
            same[beginning] = other
        else:
            others.append(other)
    found = nearest(stem, same)
    return nearest(name, others) if found is None else same[found]


def _directory_above(store: LocalStore, detect: Callable[[Any, str], Node | None]) -> str | None:
    """Return a clause about the closest directory that exists above that of a store; None if it is no node."""
    if store.links == "within-root":
        return None  # what is above is outside
    above = next((parent for parent in store.root.parents if os.path.isdir(parent)), None)
    if above is None:
        return None
    missing = store.root.relative_to(above).parts[0]
    return _node_at(LocalStore(above, read_only=True), "", str(above), detect, missing)


def _nearest(store: Store, path: str, detect: Callable[[Any, str], Node | None]) -> str:
    """Return a clause about the closest ancestor that is a node, with its members."""
    parent = path
    while parent:
        parent = parent.rpartition("/")[0]
        missing = path[len(parent) :].strip("/").partition("/")[0]
        clause = _node_at(store, parent, f"/{parent}", detect, missing)
        if clause is not None:
            return clause
    return "there is no group above it either"


def _node_at(store: Store, path: str, name: str, detect: Callable[[Any, str], Node | None], missing: str) -> str | None:
    """Return a clause about the node at a path, under this name, with the members that there are in place of `missing`.

    None if there is no node.
    """
    try:
        node = detect(store, path)
    except BlizzarrError as error:
        return f"{name} cannot be read: {error}"
    if node is None:
        return None
    if isinstance(node, ArrayMeta):
        return f"{name} is an array, which has nothing below it"
    form = FORMATS.get(node.format)
    prefix = None if form is None else form.listing_prefix(path)
    names = [] if form is None or prefix is None else form.child_names(path, *store.list_dir(prefix))
    more = "" if len(names) <= _SHOWN else f" and {len(names) - _SHOWN} more"
    meant = _meant(missing, names)
    has = f"the group {name} has {', '.join(names[:_SHOWN]) or 'no members'}{more}"
    return has if meant is None else f"did you mean {meant!r}? T{has[1:]}"

"""Implicit groups: groups without a document, in formats where nodes below a path make it a group."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeVar

from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats.format import Format, Node, StoredNode
from blizzarr.formats.n5 import N5
from blizzarr.formats.v3 import TAG, V3, V3_IMPLICIT
from blizzarr.model import GroupMeta
from blizzarr.model.names import join
from blizzarr.stores.protocol import Store
from blizzarr.stores.requests import each

F = TypeVar("F", bound=Format)

_IMPLIED: Final[tuple[tuple[Format, Format, str], ...]] = ((V3, V3_IMPLICIT, TAG), (N5, N5, N5.name))
_MOST: Final = 100
"""The most prefixes that are listed where chunks may be among them."""
_AT_ONCE: Final = 8
"""The most documents that are asked for before one of them is looked at."""


def is_implicit(store: Store, form: Format, path: str) -> bool:
    """Return whether there is a document of a node of this format below a path, at any depth; see `implied_by`."""
    return implied_by(store, (form,), path) is not None


def implied_by(store: Store, forms: Sequence[F], path: str) -> F | None:
    """Return the format of the nearest document of a node below a path, at any depth; the first of several.

    Directories without documents are not groups: file systems keep directories after everything in them was removed. In
    a store that cannot list its keys, there are no implicit groups.

    The formats list the same prefixes, and each of these is listed once.
    """
    # Documents in a separate tree show up in its listings; others are requested.
    alone = forms[0].entry_key is None
    forms = [form for form in forms if form.implicit_groups]
    paths = deque([path] if forms else [])
    listed = 0
    while paths and not (alone and listed == _MOST):
        here = paths.popleft()
        prefix = forms[0].listing_prefix(here)
        if prefix is None:
            return None
        try:
            keys, prefixes = store.list_dir(prefix)
        except UnsupportedOperationError:
            return None
        listed += 1
        for form in forms:
            if form.child_names(here, keys, ()):
                return form
            names = form.child_names(here, (), prefixes)[: _MOST if alone else 0]
            wanted = [form.node_keys(join(here, name))[0] for name in names]
            for first in range(0, len(wanted), _AT_ONCE):
                if any(value is not None for value in each(store, store.get, wanted[first : first + _AT_ONCE])):
                    return form
        paths += dict.fromkeys(join(here, name) for form in forms for name in form.child_names(here, (), prefixes))
    return None


def find_implied(store: Store, path: str, form: Format | None = None) -> StoredNode | None:
    """Return the group without a document at a path of N5, or of v3, which has none any more; see `V3_IMPLICIT`."""
    names = {implied: name for wanted, implied, name in _IMPLIED if form in (None, wanted)}
    there = implied_by(store, list(names), path) if names else None
    return None if there is None else StoredNode(GroupMeta(format=names[there]), {})


def is_complete(meta: Node) -> bool:
    """Return whether no document is missing that would make this a group."""
    return meta.format != TAG

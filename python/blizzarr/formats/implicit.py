"""Implicit groups: groups without a document, in formats where nodes below a path make it a group."""

from __future__ import annotations

from collections import deque
from typing import Final

from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats.format import Format, Store
from blizzarr.model.names import join

_MOST: Final = 100
"""The most prefixes that are listed where chunks may be among them."""


def is_implicit(store: Store, form: Format, path: str) -> bool:
    """Return whether there is a document of a node below a path, at any depth.

    Directories without documents are not groups: file systems keep directories after everything in them was removed. In
    a store that cannot list its keys, there are no implicit groups.
    """
    # Documents in a separate tree show up in its listings; others are requested one by one.
    alone = form.entry_key is None
    paths = deque([path] if form.implicit_groups else [])
    listed = 0
    while paths and not (alone and listed == _MOST):
        here = paths.popleft()
        prefix = form.listing_prefix(here)
        if prefix is None:
            return False
        try:
            keys, prefixes = store.list_dir(prefix)
        except UnsupportedOperationError:
            return False
        listed += 1
        inner = [join(here, name) for name in form.child_names(here, (), prefixes)]
        if form.child_names(here, keys, ()):
            return True
        if alone and any(store.get(form.node_keys(child)[0]) is not None for child in inner[:_MOST]):
            return True
        paths += inner
    return False

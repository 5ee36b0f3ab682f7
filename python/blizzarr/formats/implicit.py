"""Groups without a document, in formats that have them: something below them makes them groups."""

from __future__ import annotations

from collections import deque
from typing import Final

from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats.format import Format, Store
from blizzarr.model.names import join

__all__ = ["is_implicit"]

_MOST: Final = 100
"""How many prefixes are listed where chunks and anything else may be among them."""


def is_implicit(store: Store, form: Format, path: str) -> bool:
    """Whether a document of a node is below a path, at whatever depth.

    Directories without any are no groups: file systems keep those from which everything was removed. In a store that
    cannot list nobody can find out, so there they are none either.
    """
    # Documents in a tree of their own show in its listings; others are asked for one by one.
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

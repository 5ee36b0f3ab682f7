"""Groups without a document, in formats that have them: something below them makes them groups."""

from __future__ import annotations

from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats.format import Format, Store

__all__ = ["is_implicit"]


def is_implicit(store: Store, form: Format, path: str) -> bool:
    """Whether a document of a node is below a path, at whatever depth.

    Directories without any are no groups: file systems keep those from which everything was removed. In a store that
    cannot list nobody can find out, so there they are none either.
    """
    prefix = form.listing_prefix(path)
    if not form.implicit_groups or prefix is None:
        return False
    try:
        keys, prefixes = store.list_dir(prefix)
    except UnsupportedOperationError:
        return False
    if form.child_names(path, keys, ()):
        return True
    return any(
        is_implicit(store, form, f"{path}/{name}" if path else name) for name in form.child_names(path, (), prefixes)
    )

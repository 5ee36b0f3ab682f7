"""The top of the hierarchy around a node, also where the node was opened by the path of its own directory."""

from __future__ import annotations

import os

from blizzarr.stores import LocalStore, Store


def top_directory(store: LocalStore, path: str) -> str:
    """Return the directory of the outermost group above a node, or that of the store if no group is above.

    A store that nothing may lead out of ends at its root; others do not, as the node ``a/b`` of ``data.zarr`` is also
    the root of ``data.zarr/a/b``.
    """
    root = str(store)
    directory = os.path.join(root, path) if path else root
    top = None
    while (above := os.path.dirname(directory)) != directory and (len(above) >= len(root) or store.links == "follow"):
        directory = above
        if _exists(f"{directory}/zarr.json") or _exists(f"{directory}/.zgroup"):
            top = directory
        elif len(directory) < len(root):
            break
    return root if top is None or len(top) > len(root) else top


def _exists(path: str) -> bool:
    # Not `os.path.exists`, whose errors take twice as long: each change of a node comes here, and mostly finds nothing.
    return os.access(path, os.F_OK)


def from_top(store: Store, behind: LocalStore, path: str) -> tuple[Store, str, str]:
    """Return a store that reaches the whole hierarchy, the path of the node there, and the directory at the top.

    `behind` is the directory behind the wrappers of `store`.
    """
    top = top_directory(behind, path)
    if len(top) >= len(str(behind)):
        return store, path, top
    node = os.path.relpath(os.path.join(str(behind), path), top).replace(os.sep, "/")
    return LocalStore(top, durability=behind.durability, locking=behind.locking), node, top

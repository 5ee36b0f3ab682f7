"""The group for the first argument of `xarray.open_dataset`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from blizzarr.api import open_array, open_group
from blizzarr.array import Array
from blizzarr.errors import NodeNotFoundError, NodeTypeError
from blizzarr.group import Group
from blizzarr.model.names import join
from blizzarr.stores import Store, resolve
from blizzarr.stores.fsspec_store import with_storage_options


def open_node(
    target: Any,
    group: str | None = None,
    *,
    mode: Literal["r", "r+"] = "r",
    consolidated: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: Any = None,
) -> Group | Array:
    """Open the group that a dataset is read from, or the array that is to be its only variable.

    Raise `NodeNotFoundError` if there is nothing. Raise `MetadataError` if a document does not conform, or there is no
    consolidated metadata although there must be. Raise `StoreError` if the store fails.

    - `target`: anything that `blizzarr.open` takes, or a group or array that is open already.
    - `group`: the path of the group there.
    - `mode`: whether the group is to be written to.
    - `consolidated`: as in `xarray.open_zarr`. The consolidated metadata may be those of a group above.
    - `storage_options`: options of fsspec, which then opens the URL.
    - `zarr_format`: the format that the group must have.
    """
    path = (group or "").strip("/")
    if not may_consolidate(target):
        consolidated = False
    if isinstance(target, Group | Array):
        return _below(target, path, consolidated)
    # Once for all that follows, since a zip file is opened here.
    store, root = resolve(with_storage_options(target, storage_options), mode)
    options: dict[str, Any] = {"mode": mode, "use_consolidated": consolidated, "zarr_format": zarr_format}
    if path and consolidated is not False:
        try:
            above = open_group(store, path=root, **options)
        except (NodeNotFoundError, NodeTypeError):
            if consolidated:
                raise
        else:
            if above.metadata.consolidated is not None:
                return _member(above, path)
    path = join(root, path)
    try:
        return open_group(store, path=path, **options)
    except NodeTypeError:
        return open_array(store, mode=mode, path=path, zarr_format=zarr_format)


def may_consolidate(target: Any) -> bool:
    """Return whether a store may have consolidated metadata; those of icechunk, which are consistent without, do not.

    >>> may_consolidate("a.zarr")
    True
    """
    return bool(getattr(target, "supports_consolidated_metadata", True))


def closing_of(target: Any, store: Store) -> Callable[[], None] | None:
    """Return what closes the store that was opened for a target; None for one that the user has opened."""
    return getattr(store, "close", None) if isinstance(target, str | os.PathLike) else None


@contextmanager
def closed_after(close: Callable[[], None] | None, *, only_errors: bool) -> Iterator[None]:
    """A context that closes what was opened for it: at its end, or only after an error, where it is still needed."""
    try:
        yield
    except BaseException:
        if close is not None:
            close()
        raise
    if close is not None and not only_errors:
        close()


def _below(node: Group | Array, path: str, consolidated: bool | None) -> Group | Array:
    if consolidated is False and isinstance(node, Group):
        node = Group(node.store, node.path, node.metadata.with_consolidated(None))
    if not path:
        return node
    if isinstance(node, Array):
        raise NodeTypeError(
            f"expected a group that has {path!r}, found an array", array=node.name, store=str(node.store)
        )
    return _member(node, path)


def _member(group: Group, path: str) -> Group | Array:
    try:
        return group[path]
    except NodeNotFoundError as error:
        # Here the keyword is called as in xarray.
        error.reason = error.reason.replace("use_consolidated=False", "consolidated=False")
        raise

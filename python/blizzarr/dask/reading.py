"""Reading a stored array as an array of Dask."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final
from uuid import uuid4

import dask.array as da
from dask.base import tokenize

from blizzarr.api import open as open_node
from blizzarr.array import Array
from blizzarr.array.stored import stored_chunks
from blizzarr.errors import NodeTypeError
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords
from blizzarr.stores import LocalStore, MemoryStore
from blizzarr.stores.fsspec_store import with_storage_options
from blizzarr.stores.wrapper import unwrapped


@exact_keywords
def from_zarr(
    target: Any,
    component: str | None = None,
    *,
    chunks: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    name: str | None = None,
    inline_array: bool = False,
) -> da.Array:
    """Return a stored array as an array of Dask, whose chunks are read when they are computed.

    Parameters
    ----------
    target
        An array or group that is open, or anything that `blizzarr.open` takes.
    component
        The path of the array there.
    chunks
        As in `dask.array.from_array`. By default, each chunk of Dask is a stored chunk, or a shard.
    storage_options
        Options of fsspec, which then opens the URL.
    name
        The name of the array in Dask. By default it is the same for the same array as long as nobody writes to it, so
        that Dask does not take results of former elements for those of new ones.
    inline_array
        As in `dask.array.from_array`.

    Raises
    ------
    NodeNotFoundError
        If there is no array.
    NodeTypeError
        If it is a group.
    ValueError
        If the chunks do not fit the shape.
    MetadataError, StoreError
        As for `blizzarr.open_array`.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=[[1, 2, 3], [4, 5, 6]], chunks=(1, 1), shards=(2, 2))
    >>> array = from_zarr(z)
    >>> array.chunks, array.sum().compute().item()
    (((2,), (2, 1)), 21)
    """
    array = _opened(target, component, storage_options)
    stored = array.metadata.chunk_grid.compact_sizes(array.shape)
    normal = da.core.normalize_chunks(
        stored if chunks is None else chunks, array.shape, dtype=array.dtype, previous_chunks=stored
    )
    if name is None:
        name = f"from-zarr-{content_token(array, normal)}"
    return da.from_array(array, normal, name=name, inline_array=inline_array)


def _opened(target: Any, component: str | None, storage_options: Mapping[str, Any] | None) -> Array:
    path = (component or "").strip("/")
    node = target[path] if isinstance(target, Group) and path else target
    if not isinstance(node, Group | Array):
        node = open_node(with_storage_options(target, storage_options), mode="r", path=path)
    if isinstance(node, Group) or (path and node is target):
        is_group = isinstance(node, Group)
        found = "a group; name one of its arrays with component=" if is_group else "an array, which has no component"
        raise NodeTypeError(f"expected an array, found {found}", array=node.name, store=str(node.store))
    return node


_CHUNKS: Final = 10_000
"""The largest number of chunks whose versions are compared: about as long as it takes Dask to make as many tasks."""


def content_token(array: Array, *more: Any) -> str:
    """Return a text that is equal for the same array only as long as nobody writes to it.

    It is made of the version of each stored chunk: in a directory device, inode, time and size of a file. It is never
    equal to another one for large arrays, in the first seconds after a write to a file, whose time may be that of the
    next write, and in stores that do not tell versions without a request for each.
    """
    store, metadata = unwrapped(array.store), array.metadata
    known = isinstance(store, LocalStore | MemoryStore) and not metadata.storage_transformers
    if not known or metadata.chunk_keys.share_values or prod(metadata.chunk_grid.shape(array.shape)) > _CHUNKS:
        return uuid4().hex
    keys = sorted(key for key, _ in stored_chunks(store, array.path, metadata))
    versions = [(key, store.version(key)) for key in keys]
    return str(tokenize(array, versions, *more))

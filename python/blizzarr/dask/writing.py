"""Storing an array of Dask."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any, Literal

import dask.array as da
import numpy as np
from dask import delayed

from blizzarr.api import create_array, open_array
from blizzarr.array import Array
from blizzarr.creation.make import refuse_to_lose
from blizzarr.dask.tasks import check_tasks_share, sources
from blizzarr.errors import NodeTypeError
from blizzarr.group import Group
from blizzarr.lazy_imports import is_instance
from blizzarr.model.names import join
from blizzarr.stores import Store, resolve
from blizzarr.stores.fsspec_store import with_storage_options
from blizzarr.stores.place import keeps_all_parts
from blizzarr.stores.requests import complete, publish


def to_zarr(
    array: da.Array,
    target: Any,
    component: str | None = None,
    *,
    region: Any = None,
    compute: bool = True,
    return_stored: bool = False,
    overwrite: bool = False,
    chunks: Any = None,
    shards: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Store an array of Dask, in a new array or in one that is there.

    The chunks of Dask need not match those that are stored: where several tasks write parts of one chunk or shard, all
    of them are kept (in directories, in object stores with conditional writes, and in memory with Dask's threads). In
    other stores the array is divided anew before, so that each stored chunk is written by one task.

    Parameters
    ----------
    array
        The array of Dask.
    target
        A stored array to write to, or, for a new one, a group or anything that `blizzarr.create_array` takes.
    component
        The path of the array there.
    region
        Slices of the stored array to write to; it must be there then.
    compute
        True: write now. False: return a `dask.delayed.Delayed` that writes; the new array is there already.
    return_stored
        Return the stored array as an array of Dask, which is read again (with `compute`, after writing).
    overwrite
        Replace what is there.
    chunks, shards
        The chunks and shards of a new array, as for `blizzarr.create_array`. By default the chunks are those of Dask,
        if they have one shape.
    storage_options
        Options of fsspec, which then opens the URL.
    **options
        All other options of `blizzarr.create_array`.

    Raises
    ------
    ValueError
        If the lengths of chunks are not known, elements are masked, or the shapes do not fit; with ``overwrite=True``,
        if the tasks read what would be removed.
    NodeExistsError
        If there is a node already, and not ``overwrite=True``.
    NodeNotFoundError
        With a region, if there is no array.
    UnsupportedOperationError
        If Dask works in other processes, and the target is in the memory of this one. With `compute=False` only the
        tasks know it, and raise `ReadOnlyError`.
    TypeError
        If `array` is none of Dask, or options for new arrays are given with an array that is there.
    MetadataError, StoreError
        As for `blizzarr.create_array`.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, shape=(6, 6), chunks=(4, 4), dtype="int64")
    >>> to_zarr(da.ones((6, 6), chunks=(3, 5)), z)
    >>> to_zarr(da.full((2, 2), 5, chunks=1), z, region=(slice(1, 3), slice(3, 5)))
    >>> z[2]
    array([1, 1, 1, 5, 5, 1])
    """
    if not isinstance(array, da.Array):
        raise TypeError(f"expected an array of Dask, found {type(array).__name__}; " + _advice(array, target))
    if isinstance(array._meta, np.ma.MaskedArray):
        raise ValueError(
            "expected an array without a mask, which would be lost, found a masked one; say what stands for what is "
            "masked: dask.array.ma.filled(array, value)"
        )
    if any(isnan(length) for length in array.shape):
        raise ValueError("expected chunks of known lengths, found unknown ones; call compute_chunk_sizes() first")
    if isinstance(target, Array) or region is not None:
        given = sorted({**options, **_given(overwrite=overwrite, chunks=chunks, shards=shards)})
        if given:
            raise TypeError(f"{', '.join(given)} would be for a new array; there is one to write to")
        stored = _existing(target, component, storage_options)
        if compute:
            check_tasks_share(stored.store, array)
    else:
        if chunks is None and shards is None:
            chunks = _common(array)
        options |= {
            "shape": array.shape,
            "dtype": options.get("dtype", array.dtype),
            "chunks": "auto" if chunks is None else chunks,
            "shards": shards,
            "overwrite": overwrite,
        }
        path = (component or "").strip("/")
        if isinstance(target, Group):
            store, node_path = target.store, join(target.path, path)
        else:
            mode: Literal["w", "a"] = "w" if overwrite else "a"
            store, node_path = resolve(with_storage_options(target, storage_options), mode, path)
        if compute:
            check_tasks_share(store, array)
        for source in sources(array) if overwrite else ():
            refuse_to_lose(source, store, node_path)
        stored = (
            target.create_array(path, **options)
            if isinstance(target, Group)
            else create_array(store, name=node_path or None, **options)
        )
    bounds = _bounds(region, stored.shape)
    wanted = tuple(stop - start for start, stop in bounds)
    if array.shape != wanted:
        raise ValueError(f"expected an array of shape {wanted} to write, found shape {array.shape}")
    if not keeps_all_parts(stored.store):
        array = array.rechunk(_aligned(array, stored, bounds))
    regions = None if region is None else tuple(slice(start, stop) for start, stop in bounds)
    with complete(target, stored.store):
        result = da.store(array, stored, lock=False, regions=regions, compute=compute, return_stored=return_stored)
    # A zip file is not there for others before its directory is written, and whoever computes may never close it.
    return result if compute or return_stored else delayed(_published)(result, stored.store)


def _published(writes: Any, store: Store) -> None:
    publish(store)


def _advice(array: Any, target: Any) -> str:
    if isinstance(target, da.Array):
        return "the array comes first, and then the target"
    if is_instance(array, "xarray:DataArray") or is_instance(array, "xarray:Dataset"):
        return "blizzarr.xarray.to_zarr stores it with its coordinates; the .data of an array are its elements alone"
    return "make one with dask.array.asarray(...), or store it without Dask, with blizzarr.create_array(..., data=...)"


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}


def _existing(target: Any, component: str | None, storage_options: Mapping[str, Any] | None) -> Array:
    path = (component or "").strip("/")
    if isinstance(target, Array):
        if path:
            raise ValueError(f"expected no component with an array, found {component!r}")
        return target
    if isinstance(target, Group):
        target, path = target.store, join(target.path, path)
    try:
        return open_array(with_storage_options(target, storage_options), mode="r+", path=path)
    except NodeTypeError as error:
        error.reason = "expected an array, found a group; name one of its arrays with component="
        raise


def _common(array: da.Array) -> tuple[int, ...] | None:
    """Return the chunk shape of an array whose chunks are all alike, but for the last along each axis."""
    if all(len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0] for lengths in array.chunks):
        return tuple(max(1, lengths[0]) for lengths in array.chunks)
    return None


def _bounds(region: Any, shape: tuple[int, ...]) -> list[tuple[int, int]]:
    items = () if region is None else region if isinstance(region, tuple) else (region,)
    if Ellipsis in items:
        at = items.index(Ellipsis)
        items = items[:at] + (slice(None),) * (len(shape) - len(items) + 1) + items[at + 1 :]
    items += (slice(None),) * (len(shape) - len(items))
    if len(items) > len(shape) or not all(isinstance(item, slice) and item.step in (None, 1) for item in items):
        raise ValueError(f"expected a slice with step 1 for each of {len(shape)} axes as region, found {region!r}")
    bounds = [item.indices(length) for item, length in zip(items, shape, strict=True)]
    return [(start, max(start, stop)) for start, stop, _ in bounds]


def _aligned(array: da.Array, stored: Array, bounds: list[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Return chunks of Dask that end where stored objects do, each of about as many elements as there are now."""
    chunks_by_axis = []
    for lengths, edges, (start, stop) in zip(array.chunks, stored.metadata.chunk_grid.edges, bounds, strict=True):
        begins = [start]
        while begins[-1] < stop:
            chunk = edges.locate(begins[-1])[0]
            most = edges.locate(edges.start(chunk) + max(lengths))[0]
            begins.append(min(edges.start(max(chunk + 1, most)), stop))
        ends = begins[1:] or begins
        chunks_by_axis.append(tuple(end - begin for begin, end in zip(begins, ends, strict=False)))
    return tuple(chunks_by_axis)

"""Whole arrays, from memory into a store and back, in one line."""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blizzarr.api.open import open
from blizzarr.array import Array
from blizzarr.array.objects import check_objects
from blizzarr.creation.describe import ZarrFormat, describe_array, describe_group, lengths_of
from blizzarr.creation.elements import as_data, check_told, type_of
from blizzarr.creation.make import choose_format, make_array, refuse_to_lose
from blizzarr.errors import NodeTypeError
from blizzarr.group_members import left_out, members_and_errors
from blizzarr.hierarchy.place import place_node
from blizzarr.keywords import exact_keywords
from blizzarr.model.names import ancestors, check_path, join
from blizzarr.problems import warn
from blizzarr.stores import Store, StoreLike, resolve
from blizzarr.stores.requests import ARRAYS_AT_ONCE, complete, each


def save(store: StoreLike, *arrays: Any, path: str | None = "", zarr_format: ZarrFormat = None, **named: Any) -> None:
    """Store one array, or several in a group, replacing what is there.

    Parameters
    ----------
    store
        A path, URL, store or mapping.
    *arrays
        A single array is stored by itself; several are stored in a group, with the names ``arr_0``, ``arr_1``, ...
    path
        The path of the array or group in the store.
    zarr_format
        As for `create_array`.
    **named
        Arrays for a group, by name.

    Raises
    ------
    TypeError
        If there are no arrays, or elements cannot be stored.
    ValueError
        If two arrays have one name, or an array is in the place that would be replaced.
    NodeExistsError
        If files of other programs would be removed.
    NodeTypeError
        If something would be below an array.
    MetadataError, PathError, ReadOnlyError, StoreError
        As for `create_array`.

    Examples
    --------
    >>> import numpy as np
    >>> memory = {}
    >>> save(memory, x=np.arange(3), y=np.ones(2))
    >>> load(memory)["x"].tolist()
    [0, 1, 2]
    """
    if len(arrays) == 1 and not named:
        save_array(store, arrays[0], path=path, zarr_format=zarr_format)
    else:
        save_group(store, *arrays, path=path, zarr_format=zarr_format, **named)


_OF_OTHERS: Final = {
    ".npy": "numpy.save",
    ".npz": "numpy.savez",
    ".h5": "h5py",
    ".hdf5": "h5py",
    ".nc": "to_netcdf of xarray",
    ".tif": "tifffile",
    ".tiff": "tifffile",
    ".csv": "numpy.savetxt",
}
"""What writes the files that have these suffixes."""


def _warn_of_suffix(store: StoreLike) -> None:
    suffix = os.path.splitext(os.fsdecode(store))[1].lower() if isinstance(store, str | os.PathLike) else ""
    if suffix in _OF_OTHERS:
        writer = _OF_OTHERS[suffix]
        warn(f"what is stored here is Zarr, in spite of the suffix {suffix}; {writer} writes such files")


def save_array(store: StoreLike, data: Any, *, path: str | None = "", **options: Any) -> None:
    """Store one array, replacing what is there; options and errors as for `create_array`."""
    _warn_of_suffix(store)
    shape = options.get("shape")
    values = as_data(data, options.get("dtype"), None if shape is None else lengths_of(shape))
    resolved, node_path = resolve(store, "w", path)
    with complete(store, resolved):
        make_array(resolved, node_path, data=values, overwrite=True, **options)
    _finish(store, resolved)


def save_group(
    store: StoreLike, *arrays: Any, path: str | None = "", zarr_format: ZarrFormat = None, **named: Any
) -> None:
    """Store arrays in a group, replacing what is there; see `save` for the parameters.

    Raises
    ------
    TypeError
        If there are no arrays, or elements cannot be stored.
    ValueError
        If two arrays have one name, or an array is in the place that would be replaced.
    NodeTypeError
        If something would be below an array.
    NodeExistsError, MetadataError, PathError, ReadOnlyError, StoreError
        As for `create_array`.
    """
    if not arrays and not named:
        raise TypeError("expected at least one array to save, found none")
    _warn_of_suffix(store)
    members = {f"arr_{number}": data for number, data in enumerate(arrays)}
    for name in named:
        if name in members:
            raise ValueError(f"expected names other than those of the unnamed arrays, found {name!r}")
        check_path(name)
    for name in named:
        for above in ancestors(name):
            # Far away, both would be made at the same time, and the array would hide what is below it.
            if above in members or above in named:
                raise NodeTypeError(
                    f"expected a group at {above!r}, found an array: nothing can be below it, like {name!r}"
                )
    # All arrays are checked before anything is replaced.
    values = {name: as_data(data) for name, data in (members | named).items()}
    for data in values.values():
        dtype = type_of(data)
        check_told(data, dtype)
        metadata = describe_array(shape=data.shape, dtype=dtype, zarr_format=zarr_format)
        if not isinstance(data, Array):
            check_objects(metadata, np.asarray(data, metadata.dtype.numpy))
    resolved, node_path = resolve(store, "w", path)
    for data in values.values():
        if isinstance(data, Array):
            refuse_to_lose(data, resolved, node_path)
    zarr_format = choose_format(resolved, node_path, zarr_format)
    with complete(store, resolved):
        place_node(resolved, node_path, describe_group(zarr_format=zarr_format), overwrite=True)

        def make(member: tuple[str, Any]) -> None:
            make_array(resolved, join(node_path, member[0]), data=member[1], zarr_format=zarr_format)

        each(resolved, make, values.items(), ARRAYS_AT_ONCE)
    _finish(store, resolved)


@exact_keywords
def load(
    store: StoreLike, *, path: str | None = "", zarr_format: ZarrFormat = None
) -> npt.NDArray[Any] | dict[str, npt.NDArray[Any]]:
    """Read a whole array into memory, or all arrays below a group, by path.

    Parameters
    ----------
    store
        A path, URL, store or mapping.
    path
        The path of the array or group in the store.
    zarr_format
        Read only a node of this format; see `create_array`.

    Raises
    ------
    NodeNotFoundError
        If there is nothing.
    MetadataError
        If a document does not conform, also that of a member of the group.
    CodecError
        If a chunk is damaged.
    LimitError
        If there is not enough memory.
    StoreError
        If the store fails.

    Examples
    --------
    >>> memory = {}
    >>> save(memory, [[1, 2], [3, 4]])
    >>> load(memory).tolist()
    [[1, 2], [3, 4]]
    >>> save(memory, **{"left": 1, "right/inner": 2})
    >>> load(memory)
    {'left': array(1), 'right/inner': array(2)}
    """
    node = open(store, mode="r", path=path, zarr_format=zarr_format)
    try:
        if isinstance(node, Array):
            return np.asarray(node[...])
        members, unreadable = members_and_errors(node, None, warns=True)
        if unreadable:
            hint = "these members cannot be read, so nothing was loaded; open the group to read the others"
            raise left_out(node, unreadable, hint)
        arrays = {name: member for name, member in members if isinstance(member, Array)}
        elements = each(node.store, lambda array: np.asarray(array[...]), arrays.values(), ARRAYS_AT_ONCE)
        return dict(zip(arrays, elements, strict=True))
    finally:
        _finish(store, node.store)


def _finish(given: StoreLike, store: Store) -> None:
    """Flush the store, or close it if it was opened here."""
    if getattr(store, "shows_at_once", False):
        return
    method = getattr(store, "close" if given is not store and isinstance(given, str | os.PathLike) else "flush", None)
    if method is not None:
        method()

"""Creating an array: its metadata, its place in the store, and its elements if there are any."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from blizzarr.array import Array
from blizzarr.array.erase import box
from blizzarr.array.facts import binding_of
from blizzarr.array.lazy import LazyArray
from blizzarr.array.objects import check_objects
from blizzarr.array.stored import stored_chunks
from blizzarr.config import config
from blizzarr.creation.describe import (
    ArrayOptions,
    ShapeLike,
    ZarrFormat,
    check_option_names,
    describe_array,
    lengths_of,
)
from blizzarr.creation.elements import as_data, check_convertible, check_told, type_of
from blizzarr.dtypes.elements import as_elements
from blizzarr.errors import BlizzarrError, ConflictError
from blizzarr.formats import document_keys, find_again, format_named
from blizzarr.hierarchy.place import format_above, place_node
from blizzarr.hierarchy.remove import remove_node
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.stores.place import is_below
from blizzarr.stores.requests import is_remote
from blizzarr.transfer import write


def make_array(
    store: Store,
    path: str,
    *,
    shape: ShapeLike | None = None,
    dtype: Any = None,
    data: Any = None,
    overwrite: bool = False,
    **options: Unpack[ArrayOptions],
) -> Array:
    """Create an array; see `blizzarr.create_array` for the parameters and errors.

    If storing `data` fails, the new array is removed again. If another writer removes or replaces the array meanwhile,
    that is a `ConflictError`.
    """
    given = None if shape is None else lengths_of(shape)
    source = None if data is None else as_data(data, dtype, given)
    if source is not None:
        if given not in (None, source.shape):
            raise ValueError(f"expected shape= to be that of the data, {source.shape}, found {given}")
        shape = source.shape
        if dtype is None:
            dtype = type_of(data if isinstance(data, LazyArray) else source)
            codecs = map(options.get, ("filters", "serializer", "compressors", "codecs"))
            check_told(source, dtype, *(codec for codec in codecs if codec is not None))
    if shape is None or dtype is None:
        # The missing option may be there under a misspelled name.
        check_option_names(options)
        raise TypeError(f"expected shape= and dtype=, or data=, found no {'shape' if shape is None else 'dtype'}")
    options["zarr_format"] = choose_format(store, path, options.get("zarr_format"))
    metadata = describe_array(shape=shape, dtype=dtype, **options)
    # Data that cannot be converted or read is found out before anything is replaced.
    if isinstance(source, Array):
        check_convertible(source.metadata.dtype, metadata.dtype)
        if overwrite:
            refuse_to_lose(source, store, path)
            if source.nbytes <= config.copy_bytes:
                # Read before anything is removed: a source that cannot be read must not cost the old array.
                source = as_elements(source[...], metadata.dtype.numpy)
    elif source is not None:
        source = as_elements(source, metadata.dtype.numpy)
        check_objects(metadata, source)
    if source is None:
        return Array(store, path, place_node(store, path, metadata, overwrite=overwrite))
    made: list[Array] = []

    def fill(stored: ArrayMeta) -> None:
        made.append(Array(store, path, stored))
        _fill(made[0], source)

    try:
        place_node(store, path, metadata, overwrite=overwrite, then=fill)
    except BaseException:
        # The first error matters, not that the array could not be removed either. What others have put in its place in
        # the meantime stays.
        with suppress(BlizzarrError):
            for array in made:
                if _is_in_place(array):
                    _take_back(array)
        raise
    return made[0]


def _fill(array: Array, source: Array | npt.NDArray[Any]) -> None:
    """Store the elements of a new array.

    Raise `ConflictError` if another writer has removed or replaced the array by then.
    """
    from blizzarr.copying.elements import copy_elements

    if isinstance(source, np.ndarray) and is_remote(array.store):
        # Far away, the engine need not compare the document that was just stored.
        whole = box([0] * source.ndim, source.shape)
        write(binding_of(array).beyond(), whole, source)
    else:
        copy_elements(source, array)
    if not _is_in_place(array):
        raise ConflictError(
            "another writer removed or replaced it while its elements were stored; look at what is there, and create "
            "it again if need be",
            array=array.name,
            store=str(array.store),
        )


def _take_back(array: Array) -> None:
    """Remove a new array; a zip file, which deletes nothing, no longer lists it."""
    store, path = array.store, array.path
    unlist = getattr(store, "unlist", None)
    if unlist is None:
        remove_node(store, path)
        return
    chunks = (key for key, _ in stored_chunks(store, path, array.metadata))
    for key in {*chunks, *document_keys(path, array.metadata)}.intersection(store.list()):
        unlist(key)


def _is_in_place(array: Array) -> bool:
    """Return whether the document of an array is still there; its shape and attributes may have changed."""
    from blizzarr.copying.stored import same_layout

    node = find_again(array.store, array.path)
    if node is None or not isinstance(node.meta, ArrayMeta):
        return False
    there, meta = node.meta, array.metadata
    if there.chunk_grid.ends_with_array and there.shape != meta.shape:
        return False
    return len(there.shape) == len(meta.shape) and same_layout(there.with_shape(meta.shape), meta)


def choose_format(store: Store, path: str, zarr_format: ZarrFormat) -> str:
    """Return the name of the format of a new node: the one that is asked for, or that of the groups above."""
    above = format_above(store, path) if zarr_format is None else None
    return (format_named(zarr_format) if above is None else above).name


def refuse_to_lose(source: Array, store: Store, path: str) -> None:
    """Raise an error if a copy of an array would replace the array itself, or a group around it.

    The old node is removed first, so there would be nothing left to copy.

    Raise `ValueError` if the array is at `path` or below it.
    """
    if getattr(store, "supports_delete", True) and is_below(source.store, source.path, store, path):
        raise ValueError(
            f"expected data from another place, found {source.name}, which would be removed before it is copied; "
            "read it into memory first, with array[...], or copy it elsewhere"
        )

"""Creating arrays and groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from blizzarr.api.open import Mode
from blizzarr.array import Array
from blizzarr.creation.describe import (
    DEFAULTS,
    ArrayOptions,
    CreateOptions,
    ShapeLike,
    ZarrFormat,
    check_option_names,
    describe_group,
)
from blizzarr.creation.like import like
from blizzarr.creation.make import choose_format, make_array
from blizzarr.formats import detect
from blizzarr.group import Group
from blizzarr.hierarchy.place import find_or_create, place_node
from blizzarr.keywords import exact_keywords, name_keywords
from blizzarr.model import GroupMeta
from blizzarr.model.names import check_path
from blizzarr.stores import StoreLike, resolve
from blizzarr.stores.requests import complete


@exact_keywords
def create_array(
    store: StoreLike | None = None,
    *,
    name: str | None = None,
    shape: ShapeLike | None = None,
    dtype: Any = None,
    data: Any = None,
    overwrite: bool = False,
    **options: Unpack[ArrayOptions],
) -> Array:
    """Create an array, filled with `data` if given.

    All arguments are checked before anything is stored. Missing groups on the path to `name` are created, too.

    Parameters
    ----------
    store
        The place to create it in: a path, URL, store or mapping, see `open`; None for new memory.
    name
        The path of the array in the store; by default it is at the root.
    shape, dtype
        The shape and the data type, required unless `data` is given, from which they are taken by default. A data type
        is one of NumPy's, or a name; ``str`` and ``bytes`` are text and byte strings of any length. Other Python
        objects need a codec for them, like ``filters=[numcodecs.JSON()]`` with ``zarr_format=2``.
    data
        The elements: a NumPy array, anything that can be made into one, or a blizzarr array, which is copied part by
        part. Lists of text become text of any length.
    chunks
        The shape of a chunk, which is compressed and read as one: a size like ``"8MB"``, one length for all axes, or
        one length per axis, where -1 is the whole axis. A list in the place of a length has the length of each chunk
        along that axis, where ``[length, count]`` stands for several: ``[[10, 20, [5, 6]], 100]``. This makes a
        rectilinear chunk grid, which only v3 has. ``"auto"`` halves the longest axis of the array until a chunk
        has at most `config.chunk_bytes` (1 MiB); if `shards` are lengths, it divides these.
    shards
        The shape of a shard, which holds whole chunks and is stored and written as one object: None for no shards,
        otherwise as for `chunks`. ``"auto"`` doubles the shortest axis of a chunk as long as a shard has at most
        `config.shard_bytes` (64 MiB). ``{"shape": ..., "index_location": "start"}`` puts the index of a shard at its
        start.
    filters, serializer, compressors
        The codecs before, for, and after turning the array into bytes: codec objects, names, JSON objects as in
        metadata documents, or None. By default there are no filters, the serializer is ``bytes``, and the compressor is
        ``zstd``.
    codecs
        The whole codec chain, instead of the three above (and of `shards` and `order`); `chunks` is then the shape of
        a stored object.
    fill_value
        The value of elements that were never written; by default zero (not a time for times). None stands for null in
        formats that have it (v2): xarray masks every element of such an array that is equal to its fill value.
    order
        ``"F"`` stores the elements of each chunk with the first axis varying fastest (with a ``transpose`` codec).
    chunk_key_encoding
        ``"default"`` (keys like ``c/0/1``) or ``"v2"`` (``0.1``), or with a separator, as in ``("v2", "/")``.
    dimension_names
        A name, or None, for each dimension.
    storage_transformers
        Storage transformers between the array and its store: objects, names, or JSON objects as in metadata documents;
        see `blizzarr.transformers`.
    attributes
        Anything that JSON can express.
    overwrite
        Replace what is there. This is refused if files of other programs are among it.
    zarr_format
        3, 2, 1, or the name of a format: ``"v3"``, ``"v2"``, ``"v1"``, ``"n5"``, and for the draft of December 2022
        ``"v3_draft"`` or, as zarr-python spelled it, ``"v3_draft_zarr_python"``. By default the format of the group
        above, or else 3.

    Raises
    ------
    NodeExistsError
        If something is there, and not ``overwrite=True``; or if files of other programs would be removed.
    NodeTypeError
        If an array is above `name`, or a group of another format.
    MetadataError
        If the arguments do not make a valid array; `problems` lists everything. It is an `UnknownExtensionError` if a
        codec or data type is unknown.
    PathError
        If `name` may not be used.
    ReadOnlyError
        If the store was opened for reading.
    TypeError
        If neither `data` nor `shape` and `dtype` are given, an option does not exist, or elements cannot be converted.
    ValueError
        If `shape` is not that of `data`, or `codecs` is given along with what it replaces.
    StoreError
        If the store fails. `UnsupportedOperationError`: it cannot delete what is to be replaced.

    Examples
    --------
    >>> import numpy as np
    >>> a = create_array({}, data=np.arange(12).reshape(3, 4), chunks=(3, 2), dimension_names=["y", "x"])
    >>> a.shape, a.chunks, a[1, ::2].tolist()
    ((3, 4), (3, 2), [4, 6])
    """
    check_option_names(options)
    resolved, path = _place(store, name, overwrite)
    with complete(store, resolved):
        return make_array(resolved, path, shape=shape, dtype=dtype, data=data, overwrite=overwrite, **options)


name_keywords(create_array, DEFAULTS)


@exact_keywords
def create(
    shape: ShapeLike,
    *,
    store: StoreLike | None = None,
    path: str | None = "",
    dtype: Any = None,
    **options: Unpack[CreateOptions],
) -> Array:
    """Create an array, shape first, with float64 as the default data type; options and errors as for `create_array`."""
    return create_array(store, name=path, shape=shape, dtype="float64" if dtype is None else dtype, **options)


@exact_keywords
def create_group(
    store: StoreLike | None = None,
    *,
    path: str | None = "",
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    zarr_format: ZarrFormat = None,
) -> Group:
    """Create a group; missing groups on the path are created, too.

    Parameters
    ----------
    store
        The place to create it in: a path, URL, store or mapping, see `open`; None for new memory.
    path
        The path of the group in the store; by default it is at the root.
    attributes
        Anything that JSON can express.
    overwrite
        Replace what is there. This is refused if files of other programs are among it.
    zarr_format
        The format, see `create_array`.

    Raises
    ------
    NodeExistsError
        If something is there, and not ``overwrite=True``; or if files of other programs would be removed.
    NodeTypeError
        If an array is on the path, or a group of another format.
    MetadataError
        If JSON cannot express the attributes.
    PathError
        If the path may not be used.
    ReadOnlyError
        If the store was opened for reading.
    StoreError
        If the store fails. `UnsupportedOperationError`: it cannot delete what is to be replaced.

    Examples
    --------
    >>> create_group({}, path="a/b", attributes={"title": "brain"}).name
    '/a/b'
    """
    resolved, node_path = _place(store, path, overwrite)
    metadata = describe_group(attributes, choose_format(resolved, node_path, zarr_format))
    return Group(resolved, node_path, place_node(resolved, node_path, metadata, overwrite=overwrite))


@exact_keywords
def group(
    store: StoreLike | None = None,
    *,
    path: str | None = "",
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    zarr_format: ZarrFormat = None,
) -> Group:
    """Open the group that is there, or create one; parameters and errors as for `create_group`.

    `attributes` and `zarr_format` have no effect on a group that is there.
    """
    if overwrite:
        return create_group(store, path=path, attributes=attributes, overwrite=True, zarr_format=zarr_format)
    resolved, node_path = resolve(store, "a", path)

    def find() -> Group | None:
        metadata = detect(resolved, node_path)
        return Group(resolved, node_path, metadata) if isinstance(metadata, GroupMeta) else None

    return find_or_create(
        find, lambda: create_group(resolved, path=node_path, attributes=attributes, zarr_format=zarr_format)
    )


@exact_keywords
def array(data: Any, *, store: StoreLike | None = None, path: str | None = "", **options: Any) -> Array:
    """Create an array from data; options and errors as for `create_array`.

    Examples
    --------
    >>> array([1, 2, 3])[1:].tolist()
    [2, 3]
    """
    return create_array(store, name=path, data=data, **options)


@exact_keywords
def empty(shape: ShapeLike, **options: Any) -> Array:
    """Create an array without setting its elements, which read as the fill value; options as for `create`."""
    return create(shape, **options)


@exact_keywords
def zeros(shape: ShapeLike, **options: Any) -> Array:
    """Create an array of zeros; only its metadata is stored. Options and errors as for `create`.

    Examples
    --------
    >>> zeros((2, 2), dtype="uint8")[...].tolist()
    [[0, 0], [0, 0]]
    """
    return full(shape, 0, **options)


@exact_keywords
def ones(shape: ShapeLike, **options: Any) -> Array:
    """Create an array of ones; only its metadata is stored. Options and errors as for `create`."""
    return full(shape, 1, **options)


@exact_keywords
def full(shape: ShapeLike, fill_value: Any, **options: Any) -> Array:
    """Create an array in which every element is `fill_value`; only its metadata is stored. Options as for `create`."""
    return create(shape, **options, fill_value=fill_value)


@exact_keywords
def empty_like(data: Any, *, store: StoreLike | None = None, path: str | None = "", **options: Any) -> Array:
    """Create an array with the shape, data type and layout of another one, without setting its elements.

    Options that are given, as for `create_array`, take the place of those of the other array. Attributes are not taken
    over.
    """
    return create_array(store, name=path, **like(data, options))


@exact_keywords
def zeros_like(data: Any, **options: Any) -> Array:
    """Create an array of zeros with the shape, data type and layout of another one; see `empty_like`."""
    return full_like(data, 0, **options)


@exact_keywords
def ones_like(data: Any, **options: Any) -> Array:
    """Create an array of ones with the shape, data type and layout of another one; see `empty_like`."""
    return full_like(data, 1, **options)


@exact_keywords
def full_like(data: Any, fill_value: Any, **options: Any) -> Array:
    """Create an array with the shape, data type and layout of another one, and this fill value; see `empty_like`."""
    return empty_like(data, **options, fill_value=fill_value)


def _place(store: StoreLike | None, name: str | None, overwrite: bool) -> tuple[Any, str]:
    mode: Mode = "w" if overwrite else "a"
    store, path = resolve(store, mode, name)
    return store, check_path(path)

"""Creating arrays and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Never

from blizzarr.api.open import Mode
from blizzarr.array import Array
from blizzarr.creation.chunking import ChunksLike, ShardsLike
from blizzarr.creation.describe import ChunkKeysLike, ShapeLike, ZarrFormat, describe_group
from blizzarr.creation.like import like
from blizzarr.creation.make import choose_format, make_array
from blizzarr.formats import detect
from blizzarr.group import Group
from blizzarr.hierarchy.place import place_node
from blizzarr.keywords import exact_keywords, unknown_keywords
from blizzarr.model import GroupMeta
from blizzarr.model.names import check_path
from blizzarr.stores import StoreLike, resolve

__all__ = [
    "array",
    "create",
    "create_array",
    "create_group",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "group",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


@exact_keywords
def create_array(
    store: StoreLike | None = None,
    *,
    name: str | None = None,
    shape: ShapeLike | None = None,
    dtype: Any = None,
    data: Any = None,
    chunks: ChunksLike = "auto",
    shards: ShardsLike = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    codecs: Any = None,
    fill_value: Any = None,
    order: Literal["C", "F"] | None = None,
    chunk_key_encoding: ChunkKeysLike = None,
    dimension_names: Iterable[str | None] | None = None,
    storage_transformers: Any = None,
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    zarr_format: ZarrFormat = None,
    **unknown: Never,
) -> Array:
    """Create an array, filled with `data` if given.

    All arguments are checked before anything is stored. Groups on the way to `name` are created, too.

    Parameters
    ----------
    store
        Where to create it: a path, URL, store or mapping, see `open`; None for new memory.
    name
        The path of the array in the store; by default, the store itself is the array.
    shape, dtype
        Required, unless `data` is given, from which they are then taken. A data type is one of NumPy's, or a name;
        ``str`` and ``bytes`` are text and byte strings of any length. Other Python objects need a codec that says what
        they are, like ``filters=[numcodecs.JSON()]`` with ``zarr_format=2``.
    data
        The elements: a NumPy array, anything that can be made into one, or a blizzarr array, which is copied part by
        part. Lists of text become text of any length.
    chunks
        The shape of a chunk, which is compressed and read as one: ``"auto"`` (about 1 MiB, see
        `blizzarr.creation.chunking`), a size like ``"8MB"``, one length for all axes, or one length per axis, where -1
        is the whole axis.
    shards
        The shape of a shard, which holds whole chunks and is stored and written as one object: None for no shards,
        otherwise as for `chunks` (``"auto"``: about 64 MiB).
    filters, serializer, compressors
        The codecs before, for, and after turning the array into bytes: codec objects, names, JSON objects as in
        metadata documents, or None. By default there are no filters, the serializer is ``bytes``, and the compressor is
        ``zstd``.
    codecs
        The whole codec chain, instead of the three above (and of `shards` and `order`); `chunks` is then what is stored
        as one object.
    fill_value
        The value of elements that were never written; by default zero.
    order
        ``"F"`` stores the elements of each chunk with the first axis varying fastest (with a ``transpose`` codec).
    chunk_key_encoding
        ``"default"`` (keys like ``c/0/1``) or ``"v2"`` (``0.1``), or with a separator, as in ``("v2", "/")``.
    dimension_names
        A name, or None, for each dimension.
    storage_transformers
        What stands between the array and its store: storage transformers, names, or JSON objects as in metadata
        documents; see `blizzarr.transformers`.
    attributes
        Anything that JSON can express.
    overwrite
        Replace what is there. This is refused if files that are not Zarr's lie among it.
    zarr_format
        3, 2, 1, or the name of a format: ``"v3"``, ``"v2"``, ``"v1"``, ``"n5"``, and for the draft of December 2022
        ``"v3_draft"`` or, as zarr-python spelled it, ``"v3_draft_zarr_python"``. By default the format of the group
        above, or else 3.

    Examples
    --------
    >>> import numpy as np
    >>> a = create_array({}, data=np.arange(12).reshape(3, 4), chunks=(3, 2), dimension_names=["y", "x"])
    >>> a.shape, a.chunks, a[1, ::2].tolist()
    ((3, 4), (3, 2), [4, 6])
    """
    if unknown:
        raise unknown_keywords(create_array, unknown)
    found, path = _place(store, name, overwrite)
    return make_array(
        found,
        path,
        shape=shape,
        dtype=dtype,
        data=data,
        chunks=chunks,
        shards=shards,
        filters=filters,
        compressors=compressors,
        serializer=serializer,
        codecs=codecs,
        fill_value=fill_value,
        order=order,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
        storage_transformers=storage_transformers,
        attributes=attributes,
        overwrite=overwrite,
        zarr_format=zarr_format,
    )


def create(shape: ShapeLike, *, store: StoreLike | None = None, path: str | None = "", **options: Any) -> Array:
    """Create an array, shape first; `options` as for `create_array`, with float64 as the default data type."""
    return create_array(store, name=path or None, shape=shape, **{"dtype": "float64", **options})


@exact_keywords
def create_group(
    store: StoreLike | None = None,
    *,
    path: str | None = "",
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    zarr_format: ZarrFormat = None,
    **unknown: Never,
) -> Group:
    """Create a group; groups on the way to it are created, too.

    Examples
    --------
    >>> create_group({}, path="a/b", attributes={"title": "brain"}).name
    '/a/b'
    """
    if unknown:
        raise unknown_keywords(create_group, unknown)
    found, place = _place(store, path or None, overwrite)
    metadata = describe_group(attributes, choose_format(found, place, zarr_format))
    place_node(found, place, metadata, overwrite=overwrite)
    return Group(found, place, metadata)


@exact_keywords
def group(
    store: StoreLike | None = None,
    *,
    path: str | None = "",
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    zarr_format: ZarrFormat = None,
    **unknown: Never,
) -> Group:
    """Open the group that is there, or create one; `options` as for `create_group`."""
    if unknown:
        raise unknown_keywords(group, unknown)
    if not overwrite:
        found, place = resolve(store, "a", path)
        metadata = detect(found, place)
        if isinstance(metadata, GroupMeta):
            return Group(found, place, metadata)
        return create_group(found, path=place, attributes=attributes, zarr_format=zarr_format)
    return create_group(store, path=path, attributes=attributes, overwrite=True, zarr_format=zarr_format)


def array(data: Any, *, store: StoreLike | None = None, path: str | None = "", **options: Any) -> Array:
    """Create an array from data; `options` as for `create_array`.

    Examples
    --------
    >>> array([1, 2, 3])[1:].tolist()
    [2, 3]
    """
    return create_array(store, name=path or None, data=data, **options)


def empty(shape: ShapeLike, **options: Any) -> Array:
    """Create an array without setting its elements; they read as the fill value."""
    return create(shape, **options)


def zeros(shape: ShapeLike, **options: Any) -> Array:
    """Create an array of zeros; nothing is stored but its metadata.

    Examples
    --------
    >>> zeros((2, 2), dtype="uint8")[...].tolist()
    [[0, 0], [0, 0]]
    """
    return full(shape, 0, **options)


def ones(shape: ShapeLike, **options: Any) -> Array:
    """Create an array of ones; nothing is stored but its metadata."""
    return full(shape, 1, **options)


def full(shape: ShapeLike, fill_value: Any, **options: Any) -> Array:
    """Create an array in which every element is `fill_value`; nothing is stored but its metadata."""
    return create(shape, **options, fill_value=fill_value)


def empty_like(data: Any, *, store: StoreLike | None = None, path: str | None = "", **options: Any) -> Array:
    """Create an array with the shape, data type and layout of another one, without setting its elements."""
    return create_array(store, name=path or None, **like(data, options))


def zeros_like(data: Any, **options: Any) -> Array:
    """Create an array of zeros with the shape, data type and layout of another one."""
    return full_like(data, 0, **options)


def ones_like(data: Any, **options: Any) -> Array:
    """Create an array of ones with the shape, data type and layout of another one."""
    return full_like(data, 1, **options)


def full_like(data: Any, fill_value: Any, **options: Any) -> Array:
    """Create an array with the shape, data type and layout of another one, filled with `fill_value`."""
    return empty_like(data, **options, fill_value=fill_value)


def _place(store: StoreLike | None, name: str | None, overwrite: bool) -> tuple[Any, str]:
    if name is not None:
        check_path(name)
    mode: Mode = "w" if overwrite else "a"
    return resolve(store, mode, name or "")

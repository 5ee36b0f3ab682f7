"""An array of zarr-python as the engine knows it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from blizzarr.array.binding import bind
from blizzarr.bounded_cache import BoundedCache
from blizzarr.codecs import CodecChain, ShardingCodec
from blizzarr.codecs.codec import Chunk, Step
from blizzarr.dtypes import Kind
from blizzarr.formats import format_named, lock_key
from blizzarr.model import ArrayMeta
from blizzarr.model.edges import Edges
from blizzarr.stores.replaced import have_replaced_methods
from blizzarr.stores.zarr_python import native_store
from blizzarr.transfer import Binding

_SMALL = 1 << 20
"""The most bytes in a chunk of which a part may be read at once."""
_OBJECTS = {"VariableLengthUTF8": "string", "VariableLengthBytes": "bytes"}
"""zarr-python's data types of elements of variable length, and the data type of ours that has the same elements."""
_TRANSLATED: BoundedCache[Any, ArrayMeta] = BoundedCache(256)
"""Metadata in our terms, by what zarr-python's has."""
_UNBOUNDED = 1 << 62
"""The length that the engine is given: zarr-python has checked indices, and a handle outlives changes of the shape."""


class NotTakenError(Exception):
    """The engine does not take this array, so that zarr-python does what is asked of it; the text says why."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One array in one store."""

    store: Any
    """The store of zarr-python."""
    root: tuple[object, ...]
    """See `root_of`."""
    prefix: str
    """The prefix of the chunk keys, without the head that all keys have."""
    head: str
    separator: str
    document: str
    """The key of the metadata document, which writers lock."""
    binding: Binding
    dtype: np.dtype[Any]
    """The data type of zarr-python's buffers; for texts, NumPy's own, where `binding` has Python objects."""
    edges: tuple[Edges, ...]
    """The lengths along each axis of stored objects: of shards, or of chunks if there are no shards."""
    chunk: tuple[int, ...] | None
    """Their shape; None if they have several."""
    inner: tuple[int, ...] | None
    """The shape of a chunk within a shard; None without shards."""
    reads_quickly: bool
    """Whether to read a few elements may take less time than handing that to another thread."""
    writes_quickly: bool
    """The same for writing them, which replaces what is stored together."""

    def place_of(self, key: str) -> tuple[int, ...]:
        """Return the position of a chunk in the grid."""
        if not self.edges:
            return ()  # of the only chunk, whose key has no position
        return tuple(map(int, key[len(self.prefix) + len(self.head) :].split(self.separator)))

    def knows(self, piece: Any) -> bool:
        """Return whether the chunk of a piece is one of this grid, which another object may have given more chunks."""
        if self.chunk is not None:
            return bool(piece[1].shape == self.chunk)
        places = zip(self.edges, self.place_of(piece[0].path), piece[1].shape, strict=True)
        return all(axis.has(place) and axis.length(place) == length for axis, place, length in places)


def bound(store_path: Any, metadata: Any, spec: Any) -> Bound:
    """Bind the array that has a chunk at this place.

    - `store_path`: a `StorePath` of a chunk.
    - `metadata`: the metadata of the array.
    - `spec`: the specification of a chunk.

    Raise `NotTakenError` if the store, a codec or the data type is none that the engine reads exactly as zarr-python
    does.
    Raise `BlizzarrError` if the metadata do not conform, or name something that is not supported here.
    """
    store = native_store(store_path.store)
    if store is None:
        raise NotTakenError(f"the place of a {type(store_path.store).__qualname__} is not known")
    parts = [*_parts(metadata)]
    for part in parts:
        if type(part).__module__.partition(".")[0] not in ("zarr", "numcodecs"):
            raise NotTakenError(f"{type(part).__qualname__} is no codec or data type of zarr-python itself")
    if have_replaced_methods(parts):
        raise NotTakenError("methods of its codecs or data type have been replaced")
    meta = _translated(metadata)
    keys = meta.chunk_keys
    dtype = spec.dtype.to_native_dtype()
    is_objects = meta.dtype.kind is Kind.OBJECT
    # The byte order in memory may be another one: elements are then converted.
    native = dtype if is_objects else dtype.newbyteorder("=")
    if _OBJECTS.get(type(spec.dtype).__name__) != meta.dtype.name if is_objects else meta.dtype.numpy != native:
        raise NotTakenError(f"elements of {dtype} would be read as {meta.dtype}")
    if dtype.kind in "mM" and not dtype.isnative and np.datetime_data(dtype)[0] == "generic":
        # At least NumPy 2.5 leaves their bytes as they are when it converts them to the other order.
        raise NotTakenError(f"{dtype} has another byte order and no unit")
    grid, largest = meta.chunk_grid, meta.largest
    if 0 in largest:
        raise NotTakenError("it has chunks without elements")
    fill = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
    if not (_same_object(fill, meta) if is_objects else _same_bytes(fill, native, meta)):
        raise NotTakenError(f"its fill value {fill!r} would be read as {meta.fill_value!r}")
    path = _array_path(store_path.path, len(meta.shape), keys.head, keys.separator)
    binding = bind(store, path, meta, watch=False)
    binding = binding.resized((_UNBOUNDED,) * len(meta.shape))
    # How long objects are is not known.
    is_near = not (is_objects or getattr(store, "remote", False))
    return Bound(
        store_path.store,
        root_of(store_path.store),
        f"{path}/" if path else "",
        keys.head,
        keys.separator,
        lock_key(path, meta),
        binding,
        dtype,
        grid.edges,
        grid.chunk_shape if grid.is_even else None,
        meta.chunk_shape if meta.codecs.is_sharded else None,
        is_near and prod(meta.read_grid.inside(meta.shape)) * dtype.itemsize <= _SMALL,
        is_near and prod(largest) * dtype.itemsize <= _SMALL,
    )


def _same_object(fill: Any, meta: ArrayMeta) -> bool:
    return type(fill) is type(meta.fill_value) and fill == meta.fill_value


def _same_bytes(fill: Any, dtype: np.dtype[Any], meta: ArrayMeta) -> bool:
    return not dtype.hasobject and np.asarray(fill, dtype).tobytes() == meta.dtype.fill_bytes(meta.fill_value)


def root_of(store: Any) -> tuple[object, ...]:
    """Return what the place of a store of zarr-python depends on: its root, which can be moved, and if that is a
    relative path, the working directory, from which zarr-python goes whenever it reads or writes.
    """
    root = getattr(store, "root", None)
    if root is None:
        return (getattr(store, "path", None),)
    return (root,) if os.path.isabs(root) else (root, os.getcwd())


def _translated(metadata: Any) -> ArrayMeta:
    """Return the metadata in our terms, which an array that is opened again already has."""
    facts = vars(metadata)
    # Attributes are of no concern, and an empty dictionary has no hash.
    given = tuple([value for name, value in facts.items() if name not in ("attributes", "fill_value") and value != {}])
    fill = facts["fill_value"]
    # To the bit, as 0 equals -0.
    key = type(metadata), given, type(fill), fill.tobytes() if isinstance(fill, np.generic) else repr(fill)
    try:
        known = _TRANSLATED.get(key)
    except TypeError:
        return _decoded(metadata)
    if known is None:
        _TRANSLATED.keep(key, known := _decoded(metadata))
    return known


def _decoded(metadata: Any) -> ArrayMeta:
    """Return the metadata in our terms, through the document that zarr-python would store."""
    form = format_named(metadata.zarr_format)
    key = form.node_keys("")[0]
    # Not by `to_buffer_dict`, as indented JSON takes ten times as long; and attributes are of no concern.
    document = {name: value for name, value in metadata.to_dict().items() if name != "attributes"}
    decoded = form.decode("", {key: json.dumps(document).encode()}, [])
    if not isinstance(decoded, ArrayMeta):
        raise NotTakenError(f"its document {key} is none of an array")
    return replace(decoded, codecs=laid_out_as(decoded.codecs, getattr(metadata, "codecs", ())))


def _parts(metadata: Any) -> Iterator[Any]:
    """Yield the codecs and the data type, whose classes may be a user's."""
    yield metadata.dtype
    codecs = [*getattr(metadata, "codecs", ()), *(getattr(metadata, "filters", None) or ())]
    codecs.append(getattr(metadata, "compressor", None))
    while codecs:
        codec = codecs.pop()
        if codec is not None:
            yield codec
            codecs += [*getattr(codec, "codecs", ()), *getattr(codec, "index_codecs", ())]


def _array_path(key: str, rank: int, head: str, separator: str) -> str:
    """Return the path of the array that has a chunk under this key.

    >>> _array_path("a/b/c/0/1", 2, "c/", "/"), _array_path("a/b/0.1", 2, "", "."), _array_path("c.0", 1, "c.", ".")
    ('a/b', 'a/b', '')
    >>> _array_path("a/b/c", 0, "c/", "/"), _array_path("a/b/0", 0, "", "/")
    ('a/b', 'a/b')
    """
    length = rank + head.count("/") if rank and separator == "/" else 1
    return "/".join(key.split("/")[:-length])


@dataclass(frozen=True, slots=True)
class _Sharding(ShardingCodec):
    """The codec ``sharding_indexed`` of an array of zarr-python, with an order that no document has."""

    subchunk_write_order: str = "morton"
    """The option of zarr-python's codec; before 3.4, which has the option, it had one order."""

    def step(self, chunk: Chunk) -> Step:
        return (*ShardingCodec.step(self, chunk)[:-1], self.subchunk_write_order)


def laid_out_as(chain: CodecChain, theirs: Iterable[Any]) -> CodecChain:
    """Return the codecs of an array with the order that zarr-python's objects for the same codecs have.

    >>> from types import SimpleNamespace
    >>> from blizzarr.dtypes import DataType
    >>> chain = CodecChain.from_list([ShardingCodec((1, 1), ["bytes"])], "uint8", (2, 2))
    >>> theirs = SimpleNamespace(codecs=(), index_codecs=(), subchunk_write_order="colexicographic")
    >>> laid_out_as(chain, [theirs]).steps(DataType.parse("uint8"), (2, 2))[0][-1]
    'colexicographic'
    """
    codec, shards = chain.serializer, next((codec for codec in theirs if hasattr(codec, "index_codecs")), None)
    if shards is None or not isinstance(codec, ShardingCodec):
        return chain
    inner = laid_out_as(codec.inner()[1], shards.codecs)
    order = getattr(shards, "subchunk_write_order", "morton")
    made = _Sharding(codec.chunk_shape, inner, codec.index_codecs, codec.index_location, order)
    return replace(chain, serializer=made)

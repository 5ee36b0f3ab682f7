"""The properties of arrays, under the names that users of NumPy and zarr-python know."""

from __future__ import annotations

import operator
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from blizzarr.array.binding import bind
from blizzarr.array.stored import chunks_inside, stored_bytes
from blizzarr.codecs import Codec, CodecChain
from blizzarr.model import ArrayMeta
from blizzarr.node import Node
from blizzarr.problems import warn
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.os_paths import os_path
from blizzarr.stores.wrapper import unwrapped
from blizzarr.transfer import Binding

if TYPE_CHECKING:
    import numpy.typing as npt

    from blizzarr.array.info import ArrayInfo
    from blizzarr.transformers import StorageTransformer


class LikeNumpy:
    """What arrays and views of them have as NumPy's arrays do; it follows from shape, data type and elements."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]: ...

        @property
        def dtype(self) -> np.dtype[Any]: ...

        def __array__(self) -> npt.NDArray[Any]: ...

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of all elements in memory, in bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("expected an array with an axis, found one without any, which has no len()")
        return self.shape[0]

    def __contains__(self, value: object) -> bool:
        return value in np.asarray(self)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"expected one element, found {self.size}: use array[...].any() or array[...].all()")
        # Of Python's dates all are true.
        return bool(np.asarray(self))

    def __int__(self) -> int:
        return int(self._item())

    def __float__(self) -> float:
        return float(self._item())

    def __complex__(self) -> complex:
        return complex(self._item())

    def __index__(self) -> int:
        if self.shape:
            raise TypeError(f"expected an array without axes to use as an index, found one of shape {self.shape}")
        return operator.index(self._item())

    def _item(self) -> Any:
        if self.size != 1:
            raise TypeError(f"expected one element to convert, found {self.size}")
        return np.asarray(self).item()


class ArrayFacts(LikeNumpy, Node):
    """An array in a store, without access to its elements."""

    __slots__ = ("__weakref__", "_binding", "_metadata", "_shape")

    def __init__(self, store: Store, path: str, metadata: ArrayMeta) -> None:
        self._store = store
        self._path = path
        self._metadata = metadata
        self._shape = metadata.shape
        self._binding: Binding | None = None
        self._adoptions = 0

    def _bind(self) -> Binding:
        metadata = self._metadata
        binding = self._binding = self._bound(metadata)
        if self._metadata is not metadata:
            # Another thread has adopted other metadata meanwhile, which this binding does not fit.
            self._binding = None
        return binding

    def _bound(self, metadata: ArrayMeta) -> Binding:
        return bind(self._store, self._path, metadata)

    # What it is

    @property
    def metadata(self) -> ArrayMeta:
        """The content of the array's metadata document."""
        return self._metadata

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy data type of the elements."""
        return self._metadata.dtype.numpy

    @property
    def itemsize(self) -> int:
        """The size of an element in memory, in bytes."""
        return self._metadata.dtype.itemsize

    @property
    def fill_value(self) -> np.generic | None:
        """The value of elements that were never written; None if the document leaves it open (they read as zeros)."""
        return None if self._metadata.fill_undefined else self._metadata.fill_value

    @property
    def order(self) -> Literal["C", "F"]:
        """``"F"`` if chunks are stored with the first axis varying fastest, otherwise ``"C"``; so are new
        arrays that are read into."""
        return self._metadata.order

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """The names of the axes; None if they have none."""
        return self._metadata.dimension_names

    # How it is stored

    @property
    def chunks(self) -> tuple[Any, ...]:
        """The shape of a chunk, the smallest part that can be read by itself; with shards, that of an inner chunk.

        Along an axis of a rectilinear chunk grid, whose chunks have several lengths, it is a tuple of them all, as
        `create_array` takes them.
        """
        return self._metadata.read_grid.lengths

    @property
    def shards(self) -> tuple[Any, ...] | None:
        """The shape of a shard, which is written as one object; None if chunks are stored one by one.

        Along an axis whose shards have several lengths, it is a tuple of them all.
        """
        return self._metadata.chunk_grid.lengths if self._metadata.codecs.is_sharded else None

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The length of each chunk along each axis, inside of the array, as in Dask; with shards, of inner chunks.

        Examples
        --------
        >>> import blizzarr
        >>> blizzarr.create_array({}, shape=(60, 7), chunks=[[10, 20, 30], 5], dtype="int8").read_chunk_sizes
        ((10, 20, 30), (5, 2))
        """
        return self._metadata.read_grid.sizes(self._shape)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The same of what is written as one object: shards if there are shards, otherwise chunks."""
        return self._metadata.chunk_grid.sizes(self._shape)

    @property
    def storage_transformers(self) -> tuple[StorageTransformer, ...]:
        """The storage transformers between the array and its store; the first is nearest to the array."""
        return self._metadata.storage_transformers

    @property
    def filters(self) -> tuple[Codec, ...]:
        """The codecs that change the elements of a chunk before they become bytes."""
        return self._chunk_codecs.filters

    @property
    def serializer(self) -> Codec:
        """The codec that turns the elements of a chunk into bytes."""
        return self._chunk_codecs.serializer

    @property
    def compressors(self) -> tuple[Codec, ...]:
        """The codecs that the bytes of a chunk go through when it is written, in order."""
        return self._chunk_codecs.compressors

    @property
    def _chunk_codecs(self) -> CodecChain:
        return self._metadata.codecs.innermost

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of chunks along each axis."""
        return self._metadata.read_grid.shape(self._shape)

    @property
    def nchunks(self) -> int:
        """The number of chunks, stored or not."""
        return prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> int:
        """The number of chunks that are stored, found by listing. A stored shard counts as all of its chunks."""
        metadata = self._metadata
        positions = chunks_inside(self._store, self._path, metadata)
        if not metadata.codecs.is_sharded:
            return sum(1 for _ in positions)
        edges, units = metadata.chunk_grid.edges, metadata.read_grid.divisors()
        return sum(
            prod(axis.length(at) // unit for axis, at, unit in zip(edges, position, units, strict=True))
            for position in positions
        )

    def nbytes_stored(self) -> int:
        """Return the number of bytes that the array takes up in its store, with its documents, found by listing."""
        return stored_bytes(self._store, self._path, self._metadata)

    @property
    def info(self) -> ArrayInfo:
        """The facts in the metadata of the array; prints as a table."""
        from blizzarr.array.info import ArrayInfo

        return ArrayInfo.of(self._store, self._path, self._metadata)

    def info_complete(self) -> ArrayInfo:
        """Return the facts of `info` and how much is stored, for which all chunks are listed."""
        from blizzarr.array.info import ArrayInfo

        return ArrayInfo.of(self._store, self._path, self._metadata, complete=True)

    def __repr__(self) -> str:
        # An array with a pool is at the same place, unless its store says something else.
        store, inner = self._store, unwrapped(self._store)
        is_local = isinstance(inner, LocalStore) and str(inner) == str(store)
        local = inner.root.joinpath(os_path(self._path)) if is_local else None
        location = f"{self.name} in {store}" if local is None else str(local)
        meta = self._metadata
        shards = f" shards={meta.shards_text}" if meta.codecs.is_sharded else ""
        return f"<Array {location!r} shape={self._shape} dtype={self.dtype} chunks={meta.chunks_text}{shards}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayFacts):
            # Those of NumPy compare each element.
            if type(other) in (bool, int, float, complex):
                warn("an array of blizzarr equals no number; to compare its elements, read them: array[...]")
            return NotImplemented
        return self._path == other._path and self._store == other._store

    def __hash__(self) -> int:
        return hash((ArrayFacts, self._path))

    if not TYPE_CHECKING:  # type checkers find missing names themselves

        def __getattr__(self, name: str) -> Any:
            shown = f"{type(self).__name__!r} object"
            if name.startswith("_"):  # NumPy and notebooks look for many of them
                raise AttributeError(f"{shown} has no attribute {name!r}", name=name, obj=self)
            from blizzarr.renamed import ARRAY, no_attribute

            instead = ARRAY
            if hasattr(np.ndarray, name):
                instead = {name: f"read elements first, NumPy's arrays have it: array[...].{name}"}
            raise no_attribute(self, shown, name, instead)

    def _repr_html_(self) -> str:
        # Imported late, as only notebooks need it.
        from blizzarr.display.html import array_html

        return array_html(self._store, self._path, self._metadata)


def binding_of(array: ArrayFacts) -> Binding:
    """Return the engine's handle of an array with its layout, made on the first call."""
    return array._binding or array._bind()


def share_binding(array: ArrayFacts, binding: Binding) -> None:
    """Give an array the handle of another one of the same metadata, before it is used."""
    array._binding = binding

"""The class ``zarr.Array``: an array of blizzarr with the interface of zarr-python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr import indexing
from blizzarr.array.empty_chunks import WithEmptyChunks
from blizzarr.array.selector import read_selection, take_fields, write_field, write_selection
from blizzarr.errors import SelectionError
from blizzarr.model import ArrayMeta, ChunkGrid
from blizzarr.zarr.arguments import ArrayConfig
from blizzarr.zarr.awaitable import AsyncArray
from blizzarr.zarr.buffer import check_prototype
from blizzarr.zarr.codecs.named import codec_of_engine
from blizzarr.zarr.dtype import of_engine
from blizzarr.zarr.errors import ArrayNotFoundError, translated
from blizzarr.zarr.info import ArrayInfo
from blizzarr.zarr.keys import (
    check_fields,
    check_items,
    checked_fields,
    is_orthogonal,
    of_way,
    picks_one,
    single_field,
    split_fields,
)
from blizzarr.zarr.metadata import ArrayMetadata, metadata_of
from blizzarr.zarr.node import Node, described
from blizzarr.zarr.storage.store_path import engine_place


def _reader(way: str, what: str) -> Any:
    @translated()
    def read(self: Array, selection: Any = ..., *, out: Any = None, prototype: Any = None, fields: Any = None) -> Any:
        check_prototype(prototype)
        return self._read(way, selection, fields, out)

    return described(read, f"get_{way}_selection", f"Read {what}, into ``out`` if it is given.")


def _writer(way: str, what: str) -> Any:
    @translated()
    def write(self: Array, selection: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        check_prototype(prototype)
        self._write(way, selection, value, fields)

    return described(write, f"set_{way}_selection", f"Write to {what}.")


class Array(Node):
    """An array in a store, with the interface of zarr-python.

    Parameters
    ----------
    engine
        The array of blizzarr, which `Array.engine` returns.
    config
        How elements are read and written.

    Examples
    --------
    >>> import numpy as np
    >>> from blizzarr import zarr
    >>> z = zarr.create_array({}, data=np.arange(6).reshape(2, 3), chunks=(1, 3))
    >>> z[1, 2], z.metadata.zarr_format, z.compressors
    (array(5), 3, (ZstdCodec(level=0, checksum=False),))
    """

    # Without `__slots__`, so that hdmf-zarr can set `__class__` to a class derived from this one.

    passed = frozenset(
        (
            *("__dask_tokenize__", "basename", "cdata_shape", "fill_value", "itemsize"),
            *("name", "nbytes", "nbytes_stored", "nchunks", "nchunks_initialized", "ndim", "path", "read_only"),
            *("read_chunk_sizes", "refresh", "size", "storage_transformers", "write_chunk_sizes"),
        )
    )

    def __init__(self, engine: Any, config: Any = None) -> None:
        if isinstance(engine, AsyncArray):
            engine, config = engine.node.engine, engine.node.config
        self._config = ArrayConfig.of(config)
        self.engine: blizzarr.Array = engine
        if type(engine) is blizzarr.Array:
            # As in zarr-python, the settings are those of when the array was opened.
            self.engine = WithEmptyChunks.of(engine, self._config.write_empty_chunks)

    # Making and opening

    @classmethod
    def create(cls, store: Any, **options: Any) -> Array:
        """Create an array; see ``zarr.create``."""
        from blizzarr.zarr.functions import create

        return create(store=store, **options)

    @classmethod
    @translated(ArrayNotFoundError)
    def open(cls, store: Any, zarr_format: int | None = None, *, config: Any = None) -> Array:
        """Open an array."""
        engine, path = engine_place(store)
        return cls(blizzarr.open_array(engine, mode="r+", path=path, zarr_format=zarr_format), config)

    @classmethod
    def from_dict(cls, store_path: Any, data: Mapping[str, Any]) -> Array:
        """Return the array at a place, with the metadata of a document."""
        return cls.from_parts(data, store_path)

    @classmethod
    def from_parts(cls, metadata: Any, store_path: Any, config: Any = None) -> Array:
        engine, path = engine_place(store_path)
        parsed = metadata_of(metadata) if isinstance(metadata, ArrayMeta) else metadata
        if isinstance(parsed, Mapping):
            parsed = ArrayMetadata.from_dict(parsed)
        return cls(blizzarr.Array(engine, path, parsed.to_engine()), config)

    # What it is

    @property
    def config(self) -> ArrayConfig:
        """How elements are read and written."""
        return self._config

    def with_config(self, config: Any) -> Self:
        """Return the same array with another configuration."""
        given = config.to_dict() if isinstance(config, ArrayConfig) else dict(config)
        engine = blizzarr.Array(self.engine.store, self.engine.path, self.engine.metadata)
        return type(self)(engine, {**self._config.to_dict(), **given})

    @property
    def async_array(self) -> AsyncArray:
        """A view of the array for those who await."""
        return AsyncArray(self)

    _async_array = async_array

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis; setting it resizes the array."""
        return self.engine.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self.resize(value)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the elements that are read."""
        kind = self.engine.metadata.dtype
        return of_engine(kind).to_native_dtype() if kind.name == "string" else kind.numpy

    @property
    def _zdtype(self) -> Any:
        return self.metadata.dtype

    @property
    def order(self) -> str:
        """The order of elements in memory; in v2 the one that is stored."""
        return self.engine.order if self._zarr_format == 2 else self._config.order

    @property
    def filters(self) -> tuple[Any, ...]:
        """The codecs before the serializer; in v2 those of numcodecs."""
        if self._zarr_format == 2:
            return self.metadata.filters or ()
        return tuple(map(codec_of_engine, self.engine.filters))

    @property
    def serializer(self) -> Any:
        """The codec that turns elements into bytes; in v2 there is none."""
        return None if self._zarr_format == 2 else codec_of_engine(self.engine.serializer)

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The codecs behind the serializer; in v2 the compressor of numcodecs."""
        if self._zarr_format == 2:
            compressor = self.metadata.compressor
            return () if compressor is None else (compressor,)
        return tuple(map(codec_of_engine, self.engine.compressors))

    @property
    def compressor(self) -> Any:
        """The compressor of v2.

        Raises
        ------
        TypeError
            In v3, whose arrays may have several.
        """
        if self._zarr_format != 2:
            raise TypeError("`compressor` is not available for Zarr format 3 arrays. See `compressors`.")
        return self.metadata.compressor

    @property
    def info(self) -> ArrayInfo:
        """The facts about the array."""
        return self._info()

    def info_complete(self) -> ArrayInfo:
        """Return the facts about the array with those for which its chunks are listed."""
        facts = self.engine.info_complete()
        return self._info(_count_bytes_stored=facts.bytes_stored, _count_chunks_initialized=facts.chunks_stored)

    def _info(self, **complete: Any) -> ArrayInfo:
        meta = self.engine.metadata
        return ArrayInfo(
            _zarr_format=self._zarr_format,
            _data_type=self._zdtype,
            _fill_value=self.engine.fill_value,
            _shape=self.shape,
            _order=self.order,
            _shard_shape=_shown(meta.chunk_grid) if meta.codecs.is_sharded else None,
            _chunk_shape=_shown(meta.read_grid),
            _read_only=self.engine.read_only,
            _compressors=self.compressors,
            _filters=self.filters,
            _serializer=self.serializer,
            _store_type=type(self.store).__name__,
            _count_bytes=self.engine.nbytes,
            **complete,
        )

    # Reading and writing

    @translated()
    def __getitem__(self, selection: Any) -> Any:
        """Read the elements that are selected; arrays and lists along several axes with slices, orthogonally.

        Names in the selection pick fields of records.
        """
        fields, selection = split_fields(selection)
        elements = self._read(self._usual(selection), selection, fields)
        return self._as_array(elements) if self.engine.ndim and picks_one(selection) else elements

    @translated()
    def __setitem__(self, selection: Any, value: Any) -> None:
        """Write to the elements that are selected, or to the field of them that is named."""
        fields, selection = split_fields(selection)
        self._write(self._usual(selection), selection, value, fields)

    def _usual(self, selection: Any) -> str:
        return "orthogonal" if is_orthogonal(selection, self.engine.ndim) else "numpy_style"

    def _lower(self, way: str) -> Callable[..., Any]:
        lower: Callable[..., Any] = getattr(indexing, way)
        return partial(lower, edges=self.engine.metadata.chunk_grid.edges) if way == "block" else lower

    def _read(self, way: str, selection: Any, fields: Any = None, out: Any = None) -> Any:
        check_items(selection, way)
        if fields is not None:
            check_fields(fields, self.engine.dtype)
        into = out if out is None or isinstance(out, np.ndarray) else getattr(out, "as_numpy_array", lambda: None)()
        if into is None and out is not None:
            raise TypeError(f"expected a NumPy array, or an NDBuffer, as out=, found {type(out).__name__}")
        # Elements that are to be converted are read first.
        dtype = self.dtype
        is_same = into is not None and fields is None and into.dtype == dtype
        try:
            if way == "numpy_style" and not self._is_text:
                elements = self.engine[selection]
            else:
                texts = dtype if self._is_text else None
                elements = read_selection(self.engine, self._lower(way), selection, into if is_same else None, texts)
        except SelectionError as error:
            raise of_way(error, way, selection) from None
        if fields is not None:
            elements = take_fields(elements, checked_fields(fields))
        if into is not None and not is_same:
            if into.shape != np.shape(elements):
                raise ValueError(f"expected out= of shape {np.shape(elements)}, found {into.shape}")
            into[...] = elements
            return into
        if np.ndim(elements):
            # The engine's own order is that of the chunks, which a codec may have transposed.
            ordered = np.asfortranarray if self.order == "F" else np.ascontiguousarray
            return elements if out is not None else ordered(elements)
        if way not in ("basic", "numpy_style"):
            # A point is one of several, but for arrays without axes.
            is_point = way in ("coordinate", "vectorised") and self.engine.ndim
            return self._as_array(elements).reshape((1,) if is_point else ())
        # As in zarr-python, an element is no array.
        return self._as_array(elements)[()] if isinstance(elements, np.ndarray) or not self.engine.ndim else elements

    @property
    def _is_text(self) -> bool:
        return self.engine.metadata.dtype.name == "string"

    def _as_array(self, value: Any) -> npt.NDArray[Any]:
        """Return what may be a scalar as an array; one of text, bytes or objects has the data type of this array."""
        if isinstance(value, np.ndarray) or not (self._is_text or self.engine.dtype.kind in "SUO"):
            return np.asarray(value)
        made = np.empty((), self.dtype)
        made[()] = value
        return made

    def _write(self, way: str, selection: Any, value: Any, fields: Any = None) -> None:
        check_items(selection, way)
        lower, given = self._lower(way), self._given(value)
        items = selection if isinstance(selection, tuple) else (selection,)
        if way in ("coordinate", "vectorised") and np.shape(given) == (1,) and not any(map(np.ndim, items)):
            # A point is one of several, as it is when it is read.
            given = given[0] if isinstance(given, list) else np.reshape(given, ())
        try:
            if fields is None:
                write_selection(self.engine, lower, selection, given)
            else:
                write_field(self.engine, lower, selection, single_field(fields), given)
        except SelectionError as error:
            raise of_way(error, way, selection) from None

    def _given(self, value: Any) -> Any:
        """Return elements as blizzarr takes them: objects in the place of NumPy's texts."""
        if isinstance(value, Array):
            return value.engine[...]
        if self._is_text and not isinstance(value, str | bytes):
            value = np.asarray(value)
            if value.dtype.kind not in "TUS":
                # What is no text becomes one, as the NaN of pandas.
                value = value.astype(self.dtype)
        return value

    get_basic_selection = _reader("basic", "the elements that integers and slices select")
    get_orthogonal_selection = _reader("orthogonal", "as `oindex` does")
    get_coordinate_selection = _reader("coordinate", "points")
    get_block_selection = _reader("block", "whole chunks")
    set_basic_selection = _writer("basic", "the elements that integers and slices select")
    set_orthogonal_selection = _writer("orthogonal", "what `oindex` selects")
    set_coordinate_selection = _writer("coordinate", "points")
    set_block_selection = _writer("block", "whole chunks")

    @translated()
    def get_mask_selection(self, mask: Any, *, out: Any = None, fields: Any = None, prototype: Any = None) -> Any:
        """Read the elements where a mask is true."""
        check_prototype(prototype)
        return self._read("mask", mask, fields, out)

    @translated()
    def set_mask_selection(self, mask: Any, value: Any, *, fields: Any = None, prototype: Any = None) -> None:
        """Write to the elements where a mask is true."""
        check_prototype(prototype)
        self._write("mask", mask, value, fields)

    @property
    def oindex(self) -> Selector:
        """Select orthogonally."""
        return Selector(self, "orthogonal")

    @property
    def vindex(self) -> Selector:
        """Select points, or with a mask."""
        return Selector(self, "vectorised")

    @property
    def blocks(self) -> Selector:
        """Select whole chunks."""
        return Selector(self, "block")

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("`copy=False` is not supported. This method always creates a copy.")
        elements = np.asarray(self[...])
        return elements if dtype is None else elements.astype(dtype, copy=False)

    def __bool__(self) -> bool:
        return True

    # Changing it

    @translated()
    def resize(self, new_shape: Any) -> None:
        """Change the lengths of the axes."""
        self.engine.resize(new_shape)

    @translated()
    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Append elements at the end of an axis, and return the new shape."""
        return self.engine.append(self._given(data), axis)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk. Raise `NotImplementedError` if chunks have several shapes: see `read_chunk_sizes`."""
        return self.engine.metadata.chunk_shape

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of a shard, None without shards. Raise `NotImplementedError`: see `write_chunk_sizes`."""
        return self.engine.metadata.shard_shape

    @property
    def _nshards(self) -> int:
        return int(np.prod(self._shard_grid_shape, dtype=int))

    @property
    def _shard_grid_shape(self) -> tuple[int, ...]:
        return self.engine.metadata.chunk_grid.shape(self.shape)

    @property
    def _chunk_grid_shape(self) -> tuple[int, ...]:
        return self.engine.cdata_shape

    def __repr__(self) -> str:
        return f"<Array {self.store_path} shape={self.shape} dtype={self.dtype}>"

    def __reduce__(self) -> tuple[Any, ...]:
        plain = blizzarr.Array(self.engine.store, self.engine.path, self.engine.metadata)
        return type(self), (plain, self._config)


AsyncArray.view(Array)


def _shown(grid: ChunkGrid) -> tuple[int, ...] | str:
    return grid.chunk_shape if grid.is_even else "<variable>"


class Selector:
    """Selects elements in one of the ways of an array."""

    def __init__(self, array: Array, way: str) -> None:
        self.array, self._way = array, way

    @translated()
    def __getitem__(self, selection: Any) -> Any:
        fields, selection = split_fields(selection)
        return self.array._read(self._way, selection, fields)

    @translated()
    def __setitem__(self, selection: Any, value: Any) -> None:
        fields, selection = split_fields(selection)
        self.array._write(self._way, selection, value, fields)

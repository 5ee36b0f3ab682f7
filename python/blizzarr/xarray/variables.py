"""Arrays as xarray's variables: names of dimensions, attributes, encodings, and elements that are read when needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from xarray import Variable
from xarray.backends import BackendArray
from xarray.core import indexing

from blizzarr.array import Array
from blizzarr.codecs.configs import chain_to_configs
from blizzarr.codecs.numcodecs.library import as_object
from blizzarr.errors import BlizzarrError
from blizzarr.formats import MASKED, format_of, masked_attribute, masks_fill, spells_codecs_as_numcodecs
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems
from blizzarr.stores import Store
from blizzarr.stores.requests import ARRAYS_AT_ONCE, each, is_remote, is_small

_NAMES = "_ARRAY_DIMENSIONS"


class StoredArray(BackendArray):
    """The elements of an array, of which xarray reads what it needs."""

    # Not `array`: some programs read all elements of objects that have this attribute.
    def __init__(self, array: Array) -> None:
        self.ahead: Any = None
        """The elements, if they were read before xarray wants them; None again once xarray has got all of them."""
        self.source = array
        self.shape = array.shape
        self.dtype = array.dtype
        if array.metadata.dtype.name == "string":
            self.dtype = np.dtypes.StringDType()

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        ahead = self.ahead
        if ahead is not None and isinstance(key, indexing.BasicIndexer):
            elements = ahead[(*key.tuple, ...)]
            if elements.shape == self.shape:
                self.ahead = None
            return elements
        select = self.source.__getitem__
        if isinstance(key, indexing.VectorizedIndexer):
            select = self.source.vindex.__getitem__
        elif isinstance(key, indexing.OuterIndexer):
            select = self.source.oindex.__getitem__
        # With an ellipsis, a lone element is an array without axes: it may be a list itself, or shorter than its type.
        return np.asarray(select((*key.tuple, ...)), self.dtype)

    @property
    def is_coordinate(self) -> bool:
        """Whether these are the coordinates of the dimension with the name of the array."""
        return self.source.dimension_names == (self.source.basename,)

    @property
    def is_time(self) -> bool:
        """Whether these are times that are stored as numbers, in at most two chunks: that of the first, of the last."""
        return self.source.nchunks <= 2 and " since " in str(self.source.metadata.attributes.get("units"))

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        return await asyncio.to_thread(self.__getitem__, key)


def read_ahead(store: Store, arrays: Iterable[StoredArray], *, times: bool) -> None:
    """Read at once what xarray would read one after the other when it opens a dataset, if the store is far away.

    Those are the small coordinates of dimensions, and, with `times`, times in one or two chunks, of which xarray wants
    the first and the last element. An array that cannot be read is left out: the error is raised where xarray reads it.
    """
    if not is_remote(store):
        return

    def read(array: StoredArray) -> None:
        with suppress(BlizzarrError):
            array.ahead = array[indexing.BasicIndexer((slice(None),) * len(array.shape))]

    wanted = [one for one in arrays if (one.is_coordinate or (times and one.is_time)) and is_small(one.source.nbytes)]
    each(store, read, wanted, ARRAYS_AT_ONCE)


def variable_of(stored: StoredArray, mask_fill: bool | None = None, by_itself: bool = False) -> Variable:
    """Return an array as a variable whose encoding is that of xarray's own engine for Zarr.

    Codecs are in the encoding as zarr-python and `blizzarr.xarray.to_zarr` take them: those of v1 and v2 as objects of
    numcodecs, those of v3 as JSON.

    Raise `KeyError` if the dimensions have no names.

    - `mask_fill`: whether the fill value is to be masked; by default in v2, and not in v3.
    - `by_itself`: whether the array is in no group: then dimensions without names are called as in xarray, ``dim_0``.
    """
    array = stored.source
    meta = array.metadata
    dimensions = dimensions_of(array, by_itself)
    chunks, stored_sizes = (grid.compact_sizes(array.shape) for grid in (meta.read_grid, meta.chunk_grid))
    encoding: dict[str, Any] = {
        "chunks": chunks,
        "preferred_chunks": dict(zip(dimensions, stored_sizes, strict=True)),
        "shards": stored_sizes if meta.codecs.is_sharded else None,
    }
    if stored.dtype.kind == "T":
        encoding["dtype"] = stored.dtype
    if format_of(meta).zarr_format is not None:
        encoding |= _codecs(meta)
    attributes = attributes_of(array)
    if masks_fill(meta.format) if mask_fill is None else mask_fill:
        if array.fill_value is not None:
            attributes[MASKED] = array.fill_value
    else:
        if "filters" in encoding:
            # What a copy in v3 has for unwritten elements; one in v2 has null, as it would be masked.
            encoding["fill_value"] = array.fill_value
        masked = masked_attribute(meta)
        if masked is not None:
            attributes[MASKED] = masked.item() if isinstance(masked, np.generic) else masked
    return Variable(dimensions, indexing.LazilyIndexedArray(stored), attributes, encoding)


def _codecs(meta: ArrayMeta) -> dict[str, Any]:
    """Return the codecs in the encoding of an array, where there are shards those of the inner chunks."""
    if not spells_codecs_as_numcodecs(meta):
        chain = meta.codecs.innermost
        filters, compressors = (tuple(codec.to_json() for codec in part) for part in (chain.filters, chain.compressors))
        return {"filters": filters, "serializer": chain.serializer.to_json(), "compressors": compressors}
    problems = Problems()
    configs = chain_to_configs(meta.codecs, dtype=meta.dtype, chunk_shape=meta.chunk_shape, problems=problems)
    problems.raise_any()
    assert configs is not None, "as there are no problems"
    last = [] if configs.compressor is None else [configs.compressor]
    return {"filters": tuple(map(as_object, configs.filters or ())), "compressors": tuple(map(as_object, last))}


def dimensions_of(array: Array, by_itself: bool = False) -> tuple[str | None, ...]:
    """Return the names of the dimensions; raise `KeyError` if they have none and the array is not `by_itself`."""
    names = array.dimension_names or _other_names(array)
    if names is None:
        names = tuple(f"dim_{number}" for number in range(array.ndim if by_itself else 0))
    if len(names) != array.ndim:
        where = "`dimension_names` metadata" if _has_names(array) else f"attribute `{_NAMES}`"
        raise KeyError(
            f"array {array.name} is missing the {where}, which is required for xarray to determine "
            "variable dimensions; name it in drop_variables to open the others"
        )
    return names


def _other_names(array: Array) -> tuple[Any, ...] | None:
    """Return names in the attribute that are not text, like 1: xarray writes and reads those in v2."""
    listed = None if _has_names(array) else array.attrs.get(_NAMES)
    return tuple(listed) if type(listed) is list and len(listed) == array.ndim else None


def attributes_of(array: Array) -> dict[str, Any]:
    """Return the attributes, without those that only say how the array is stored."""
    attributes = array.attrs.asdict()
    if _has_names(array):
        return attributes
    return {name: value for name, value in attributes.items() if name != _NAMES and not is_hidden(name)}


def is_hidden(name: str) -> bool:
    """Return whether an attribute is one with which netCDF-C says how it stores a group, or an array before v3."""
    return name.lower().startswith("_nc")


def _has_names(array: Array) -> bool:
    return format_of(array.metadata).has_dimension_names

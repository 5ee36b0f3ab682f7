"""The keywords that make an array like another one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

from blizzarr.zarr.array import Array
from blizzarr.zarr.errors import ZarrUserWarning

NONE_HAS_A_MEANING: Final = ("compressor", "compressors", "filters", "fill_value", "shards")
"""The keywords whose None does not stand for what the other array has."""


def chunks_of(data: Any) -> Any:
    """Return the shape of the chunks of an array, None if it has none; of Dask's, the first along each axis counts.

    >>> from types import SimpleNamespace
    >>> chunks_of(SimpleNamespace(chunks=((5, 5), (4, 4, 2))))
    (5, 4)
    """
    chunks = getattr(data, "chunks", None)
    if not isinstance(chunks, tuple):
        return chunks
    return tuple((axis[0] or 1) if isinstance(axis, tuple) else axis for axis in chunks)


def like_options(data: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of `create` that make an array like another one, except for those that are given."""
    given = {name: value for name, value in options.items() if value is not None or name in NONE_HAS_A_MEANING}
    if not isinstance(data, Array):
        made = {"shape": data.shape, "dtype": data.dtype} if hasattr(data, "shape") else {"shape": len(data)}
        chunks = chunks_of(data)
        return {**made, **({} if chunks is None else {"chunks": chunks}), **given}
    meta = data.metadata
    made = {
        "shape": data.shape,
        "dtype": meta.dtype,
        "chunks": data.engine.metadata.read_grid.lengths,
        "fill_value": data.fill_value,
    }
    target = given.get("zarr_format", meta.zarr_format)
    if target == meta.zarr_format and not {"dtype", "codecs"} & set(given):
        made |= {"filters": data.filters or None, "compressors": data.compressors or None}
        if meta.zarr_format > 2:
            made |= {"serializer": data.serializer, "chunk_key_encoding": meta.chunk_key_encoding}
        else:
            made |= {"dimension_separator": meta.dimension_separator, "order": data.order}
    if target > meta.zarr_format and data.order == "F":
        warnings.warn(
            "The existing order='F' of the source Zarr format 2 array will be ignored.", ZarrUserWarning, stacklevel=4
        )
    if target > 2:
        made |= {"shards": data.engine.shards, "dimension_names": data.engine.dimension_names}
    made["zarr_format"] = target
    if "compressor" in given:
        made.pop("compressors", None)
    return {**made, **given}

"""Writing array documents of the draft.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#array-metadata
"""

from __future__ import annotations

from typing import Any

from blizzarr.codecs.configs import chain_to_configs
from blizzarr.formats.array_encoding import common_shape, original_of, respelled
from blizzarr.formats.dimension_names import with_names
from blizzarr.formats.draft import chunk_grid, codecs, codecs_zarr_python, data_types, fill_values, transformers
from blizzarr.formats.draft.array import chunk_keys, decode
from blizzarr.formats.draft.chunk_grid import Grid
from blizzarr.formats.draft.codecs_zarr_python import FILTERS
from blizzarr.formats.draft.spelling import Spelling
from blizzarr.formats.draft.transformers import Stored
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems


def encode(meta: ArrayMeta, spelling: Spelling, name: str, problems: Problems) -> dict[str, Any]:
    """Encode the document of an array in the format `name`; add a problem for each member that it cannot express.

    If the array came from a document of this format, each member whose meaning has not changed keeps its spelling.
    """
    stored = transformers.unfold(Stored(common_shape(meta, problems), meta.codecs, meta.storage_transformers), problems)
    keys = chunk_keys(meta.chunk_keys.separator, spelling)
    position = (1, 2)[: len(meta.shape)]
    if keys.key(position) != meta.chunk_keys.key(position):
        problems.add("chunk_keys", f'keys like "{keys.key(position)}"', meta.chunk_keys.key(position))
    for member in meta.extra:
        problems.add(member, "no member that is unknown: the draft does not allow any", meta.extra[member])
    configs = chain_to_configs(stored.codecs, dtype=meta.dtype, chunk_shape=stored.shape, problems=problems)
    endian = None if configs is None else configs.endian
    document: dict[str, Any] = {
        "shape": list(meta.shape),
        "data_type": data_types.encode(meta.dtype, endian, spelling, "data_type", problems),
        "chunk_grid": chunk_grid.encode(Grid(stored.shape, keys.separator)),
        "chunk_memory_layout": "C" if configs is None else configs.order,
        "fill_value": _fill_value(meta, endian, spelling, problems),
        "extensions": [],
        "attributes": dict(with_names(meta.attributes, meta.dimension_names, len(meta.shape), problems)),
    }
    if spelling is Spelling.ZARR_PYTHON:
        compressor, filters = (None, None) if configs is None else codecs_zarr_python.encode(configs)
        _add_filters(document["attributes"], filters, problems)
        if compressor is not None:
            document["compressor"] = compressor
    elif configs is not None:
        document["codecs"] = codecs.encode(configs)
    listed = transformers.encode(stored.transformers, spelling, problems)
    if listed:
        document["storage_transformers"] = listed
    original = (
        None if problems.items else original_of(meta, name, lambda source, own: decode(source, spelling, name, own))
    )
    return document if original is None else _respelled(document, original, meta)


def _fill_value(meta: ArrayMeta, endian: str | None, spelling: Spelling, problems: Problems) -> Any:
    if meta.fill_undefined and fill_values.undefined(None, meta.dtype, spelling):
        return None
    return fill_values.encode(meta.fill_value, meta.dtype, endian, spelling, problems)


def _add_filters(attributes: dict[str, Any], filters: list[dict[str, Any]] | None, problems: Problems) -> None:
    if filters is None and codecs_zarr_python.filters_of(attributes) is None:
        return
    if FILTERS in attributes:
        problems.add(f"attributes.{FILTERS}", "no such attribute: zarr-python keeps filters there", attributes[FILTERS])
    elif filters is not None:
        attributes[FILTERS] = filters


def _respelled(document: dict[str, Any], original: ArrayMeta, meta: ArrayMeta) -> dict[str, Any]:
    """Return the same document in the order and spelling of the one from which the array came."""
    source = meta.source
    assert source is not None
    elements = original.dtype == meta.dtype
    fill = elements and meta.dtype.fill_identity(meta.fill_value) == meta.dtype.fill_identity(original.fill_value)
    chunks = elements and original.codecs == meta.codecs and original.chunk_grid == meta.chunk_grid
    keys = original.chunk_keys == meta.chunk_keys
    same = {
        "data_type": chunks,
        "chunk_grid": chunks and keys and _still_right(source["chunk_grid"], meta),
        "chunk_memory_layout": chunks,
        "fill_value": fill and original.fill_undefined == meta.fill_undefined,
        "extensions": True,
        "codecs": chunks,
        "compressor": chunks,
        "dimension_separator": keys,
        "storage_transformers": chunks and original.storage_transformers == meta.storage_transformers,
    }
    if chunks and codecs_zarr_python.filters_of(source["attributes"]) and FILTERS in document["attributes"]:
        document["attributes"][FILTERS] = source["attributes"][FILTERS]
    # Members that were missing, and are still empty, stay missing.
    return respelled(document, source, same, lambda name, value: value == [])


def _still_right(grid: dict[str, Any], meta: ArrayMeta) -> bool:
    """Return whether chunk lengths of 0 are still allowed: only along axes of length 0."""
    return all(length or not size for length, size in zip(grid["chunk_shape"], meta.shape, strict=True))

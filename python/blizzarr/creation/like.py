"""The arguments that make an array like another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from blizzarr.array import Array
from blizzarr.array.lazy import LazyArray
from blizzarr.codecs import CATALOGUE, BytesCodec, CodecChain, ShardingCodec
from blizzarr.creation.chunking import resolve_chunks, resolve_uneven
from blizzarr.creation.describe import lengths_of
from blizzarr.creation.elements import as_data, type_of
from blizzarr.dtypes import DataType, Kind
from blizzarr.formats import MASKED, Format, format_named, with_masked_value, without_blocks
from blizzarr.model import ArrayMeta, RegularGrid
from blizzarr.model.chunk_grid import RegularBoundedGrid

_LAYOUT = frozenset({"chunks", "shards", "filters", "serializer", "compressors", "codecs", "order", "dtype"})


def like(data: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `create_array` for an array like `data`, except for those in `options`.

    As in NumPy, a shape or data type of None is that of `data`.

    Of a blizzarr array everything is taken over but the elements and the attributes, except for the attribute that
    tells xarray which value to mask:

    - with no options about the layout, the layout is the same;
    - with other `chunks` or `shards`, the codecs stay, and shards keep about their size, in whole chunks;
    - with other codecs, chunks and shards stay;
    - with another data type, chunks and shards stay, and codecs and fill value are chosen anew (the value that xarray
      masks stays);
    - with another format, all of this stays that the format has, except for chunk keys, storage transformers and the
      codecs of shard indexes; codecs that no other format has are replaced by usual ones.
    """
    options = {name: value for name, value in options.items() if value is not None or name not in ("shape", "dtype")}
    if not isinstance(data, Array):
        if not (hasattr(data, "shape") and hasattr(data, "dtype")):
            # Only the shape counts, so the elements need not fit the data type.
            wanted = options.get("dtype")
            data = as_data(data, wanted if wanted is not None and DataType.parse(wanted).kind is Kind.OBJECT else None)
        dtype = type_of(data) if isinstance(data, LazyArray | np.ndarray) else data.dtype
        return {"shape": tuple(data.shape), "dtype": dtype, **options}
    meta = replace(data.metadata, codecs=without_blocks(data.metadata.codecs, data.metadata.dtype))
    if options.get("dimension_names", ()) is None:
        # Without names, xarray masks nothing.
        meta = replace(meta, dimension_names=None)
    form = format_named(options.get("zarr_format") or meta.format)
    if form.name != meta.format:
        meta = _with_index(_registered(_one_byte_order(meta), form), form.index_codecs)
    if form.name != meta.format and isinstance(meta.chunk_grid, RegularBoundedGrid):
        # No other format has this grid, and the elements are the same in a plain one.
        meta = replace(meta, chunk_grid=RegularGrid(meta.chunk_grid.chunk_shape))
    filled = with_masked_value(meta, form, DataType.parse(options.get("dtype", meta.dtype)))
    taken: dict[str, Any] = {
        "shape": meta.shape,
        "dtype": meta.dtype,
        "fill_value": None if filled.fill_undefined else filled.fill_value,
        "chunk_key_encoding": meta.chunk_keys,
        "dimension_names": meta.dimension_names,
        "storage_transformers": meta.storage_transformers,
        "zarr_format": meta.format,
    }
    if options.get("zarr_format") not in (None, meta.format):
        # Each format has its own chunk keys.
        del taken["chunk_key_encoding"], taken["storage_transformers"]
    if "shape" in options and len(lengths_of(options["shape"])) != len(meta.shape):
        del taken["dimension_names"]
        taken.pop("storage_transformers", None)
        return taken | dict(options)
    if MASKED in filled.attributes and filled.dimension_names is not None:
        options = {**options, "attributes": {MASKED: filled.attributes[MASKED], **(options.get("attributes") or {})}}
    if _LAYOUT.isdisjoint(options):
        return taken | {"chunks": meta.chunk_grid, "codecs": meta.codecs} | dict(options)
    if "codecs" in options:
        return taken | {"chunks": meta.chunk_grid} | dict(options)
    is_sharded = meta.codecs.is_sharded
    taken |= {"chunks": meta.read_grid, "shards": meta.chunk_grid if is_sharded else None}
    if "dtype" not in options:
        chain = meta.codecs.innermost
        taken |= {"filters": chain.filters, "serializer": chain.serializer, "compressors": chain.compressors}
        if "order" in options:
            del taken["filters"]
    taken |= options
    if "shards" not in options and resolve_uneven(taken["chunks"], lengths_of(taken["shape"]), "chunks") is not None:
        # Chunks of several lengths are not in shards.
        taken["shards"] = None
    elif "shards" not in options and is_sharded:
        # Shards keep about their size: they are the smallest in whole chunks that are at least as large.
        chunks = resolve_chunks(taken["chunks"], meta.shape, meta.dtype.usual_bytes)
        taken |= {"chunks": chunks, "shards": meta.chunk_grid.multiples(chunks)}
    return taken


def _one_byte_order(meta: ArrayMeta) -> ArrayMeta:
    """Return the array with one byte order for all fields of a struct, as some formats require."""
    native = DataType.parse(meta.dtype.numpy) if meta.dtype.fields else meta.dtype
    if native == meta.dtype or not isinstance(meta.codecs.serializer, BytesCodec):
        return meta
    codecs = replace(meta.codecs, serializer=BytesCodec("little"))
    return replace(meta, dtype=native, codecs=codecs, fill_value=native.fill(meta.fill_value.astype(native.numpy)))


def _registered(meta: ArrayMeta, form: Format) -> ArrayMeta:
    """Return the array with usual codecs if only its own format has the serializer, as in Neuroglancer's volumes."""
    chain = meta.codecs
    if CATALOGUE.find(chain.innermost.serializer.name) is not None:
        return meta
    usual = CodecChain.from_user(
        chain.filters, "auto", form.default_compressor, dtype=meta.dtype, chunk_shape=meta.chunk_shape, endian="little"
    )
    return replace(meta, codecs=usual)


def _with_index(meta: ArrayMeta, index_codecs: tuple[str, ...] | None) -> ArrayMeta:
    """Return the array with these codecs for the indexes of its shards; None leaves them as they are."""

    def changed(chain: CodecChain) -> CodecChain:
        sharding = chain.serializer
        if not isinstance(sharding, ShardingCodec):
            return chain
        inner = changed(sharding.inner()[1])
        return replace(chain, serializer=ShardingCodec(sharding.chunk_shape, inner, list(index_codecs or ())))

    if index_codecs is None or not meta.codecs.is_sharded:
        return meta
    return replace(meta, codecs=CodecChain.from_list(changed(meta.codecs).all, meta.dtype, meta.chunk_grid.divisors()))

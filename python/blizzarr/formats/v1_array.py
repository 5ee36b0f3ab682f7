"""Array documents of Zarr v1, ``meta``.

https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html#metadata

**The order of chunks.** By the document, a chunk of an array with ``"order": "F"`` has its first axis fastest.
zarr-python 1 did so with Blosc only: before other compressors it made bytes of a chunk in C order, and read them back
so. Nearly all data of this format are by zarr-python 1, so that is how they are read and written here;
``config.v1_order_as_documented`` goes by the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import numpy as np

from blizzarr.codecs.configs import Configs, chain_from_configs, chain_to_configs
from blizzarr.config import config
from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.fill_typed import decode as decode_fill
from blizzarr.dtypes.fill_typed import encode as encode_fill
from blizzarr.dtypes.typestr import from_typestr, to_typestr
from blizzarr.formats.shapes import array_shape, chunk_shape, without_zeros
from blizzarr.formats.v1_compression import from_v1, to_v1
from blizzarr.formats.v2_group import other_members
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.problems import MISSING, Problems

__all__ = ["decode", "encode"]

_MEMBERS: Final = (
    "zarr_format",
    "shape",
    "chunks",
    "dtype",
    "compression",
    "compression_opts",
    "fill_value",
    "order",
)
_KEYS: Final = ChunkKeys.v2(".")


def decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    """The array that a document describes, without attributes; `None` when a problem was added."""
    before = len(problems.items)
    get = document.get
    for name in _MEMBERS:
        if name not in document:
            problems.add(name, "this member", MISSING)
    shape = array_shape(get("shape"), "shape", problems) if "shape" in document else None
    typed = from_typestr(get("dtype"), "dtype", problems) if "dtype" in document else None
    dtype, endian = (None, None) if typed is None else (typed.dtype, typed.endian)
    if dtype is not None and dtype.kind is Kind.OBJECT:
        problems.add("dtype", "elements of a fixed size", get("dtype"))
        dtype = None
    given = get("fill_value")
    fill_value: Any = (
        None if dtype is None or given is None else decode_fill(dtype, given, "fill_value", problems, endian)
    )
    rank = None if shape is None else len(shape)
    lengths = None
    if "chunks" in document:
        lengths = chunk_shape(without_zeros(get("chunks"), shape), "chunks", rank, dtype, problems)
    order = get("order", "C")
    if order not in ("C", "F"):
        problems.add("order", '"C" or "F"', order)
        order = "C"
    compressor = from_v1(get("compression"), get("compression_opts"), problems)
    codecs = chain_from_configs(
        None,
        compressor,
        dtype=dtype,
        endian=endian,
        order=order if _is_followed(compressor) else "C",
        chunk_shape=lengths,
        compressor_path="compression_opts",
        problems=problems,
    )
    extra = other_members(document, frozenset(_MEMBERS), problems)
    if len(problems.items) > before:
        return None
    if shape is None or dtype is None or lengths is None or codecs is None:
        return None
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(lengths),
        _KEYS,
        _zero(dtype) if given is None else fill_value,
        codecs,
        extra=extra,
        format="v1",
        source=document,
        fill_undefined=given is None,
    )


def _zero(dtype: DataType) -> Any:
    """What elements read as when they were never written, and the document leaves open what they are."""
    return np.zeros((), dtype.numpy)[()]


def _is_followed(compressor: Mapping[str, Any] | None) -> bool:
    """Whether the order in a document is that of the chunks."""
    return config.v1_order_as_documented or (compressor is not None and compressor["id"] == "blosc")


def encode(meta: ArrayMeta, problems: Problems) -> Mapping[str, Any]:
    """The document of an array; a problem is added for each member of it that v1 cannot express.

    Where the array came from a document, its members keep their spelling and order, and what is unknown is kept.
    """
    dtype, chunks = meta.dtype, meta.chunk_grid.chunk_shape
    configs = chain_to_configs(meta.codecs, dtype=dtype, chunk_shape=chunks, problems=problems)
    endian = None if configs is None else configs.endian
    spelled = None if dtype.kind is Kind.OBJECT else to_typestr(dtype, endian)
    if spelled is None:
        problems.add("data_type", "a data type of a fixed size that NumPy has", dtype.to_json())
    if meta.storage_transformers:
        problems.add("storage_transformers", "none: v1 has no storage transformers", len(meta.storage_transformers))
    if meta.chunk_keys != _KEYS:
        problems.add("chunk_key_encoding", 'the encoding v2 with the separator "."', meta.chunk_keys.name)
    compression, options = _compression(configs, problems)
    document = {
        **meta.extra,
        "zarr_format": 1,
        "shape": list(meta.shape),
        "chunks": list(chunks),
        "dtype": spelled,
        "compression": compression,
        "compression_opts": options,
        "fill_value": None if meta.fill_undefined or spelled is None else encode_fill(dtype, meta.fill_value, endian),
        "order": None if configs is None else configs.order,
    }
    if meta.source is None or meta.format != "v1" or problems.items:
        return document
    return _respelled(document, meta)


def _compression(configs: Configs | None, problems: Problems) -> tuple[str | None, Any]:
    if configs is None:
        return None, None
    if configs.filters:
        problems.add("filters", "none: v1 has no filters", [codec["id"] for codec in configs.filters])
    if configs.order == "F" and not _is_followed(configs.compressor):
        expected = "C order, or the compressor blosc: zarr-python 1 reads chunks of other compressors in C order"
        problems.add("order", f"{expected} (config.v1_order_as_documented writes them)", "F")
    return to_v1(configs.compressor, problems)


def _respelled(document: Mapping[str, Any], meta: ArrayMeta) -> Mapping[str, Any]:
    """The same document in the order and the spelling of the one that the array came from."""
    source = meta.source
    assert source is not None
    original = decode(dict(source), Problems())
    if original is None:
        return document
    elements = (original.dtype, original.codecs) == (meta.dtype, meta.codecs)
    filled = original.dtype == meta.dtype and original.fill_undefined == meta.fill_undefined
    same = {
        "shape": original.shape == meta.shape,
        "chunks": original.chunk_grid == meta.chunk_grid and original.shape == meta.shape,
        "dtype": elements,
        "compression": elements,
        "compression_opts": elements,
        "order": elements,
        "fill_value": filled and repr(original.fill_value) == repr(meta.fill_value) and _is_json(source["fill_value"]),
    }
    return {name: source[name] if same.get(name) else document[name] for name in source if name in document}


def _is_json(value: Any) -> bool:
    """Whether a fill value is spelled as JSON has it: not as one of the bare tokens for what is no finite number."""
    parts = value if type(value) is list else [value]
    return all(type(part) is not float or isfinite(part) for part in parts)

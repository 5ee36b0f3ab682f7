"""Datasets of N5, ``attributes.json``.

https://github.com/saalfeldlab/n5#file-system-specification

Four members describe the array, all others are attributes. ``axes`` are dimension names, as in TensorStore; ``units``
and ``resolution`` stay attributes. There is no fill value: elements that are not stored are zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final

import numpy as np

from blizzarr.codecs import CodecChain, N5Codec, TransposeCodec
from blizzarr.dtypes import DataType, fill_user
from blizzarr.dtypes.value_text import value_text
from blizzarr.formats.array_encoding import common_shape, original_of, respelled
from blizzarr.formats.document import check_depth
from blizzarr.formats.n5_compression import from_n5, to_n5
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.model.shapes import array_shape, chunk_shape
from blizzarr.problems import MISSING, Problems, decoder

MEMBERS: Final = ("dimensions", "blockSize", "dataType", "compression")
"""The members of a dataset that are not attributes."""

KEYS: Final = ChunkKeys.v2("/")
"""The keys of blocks: the indices, each a directory."""

_AXES: Final = "axes"
TYPES: Final = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64")
"""The names of the data types."""
_MOST_BYTES: Final = 2**31
"""The size in bytes of the largest block, by the specification."""


def n5_chain(dtype: DataType, rank: int, compressor: Any) -> CodecChain:
    """Return the codec chain of an N5 dataset with this compressor."""
    turned = (TransposeCodec(tuple(reversed(range(rank)))),) if rank > 1 else ()
    return CodecChain(turned, N5Codec(compressor), ())


@decoder
def decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document; `None` if a problem was added."""
    before = len(problems.items)
    get = document.get
    shape = array_shape(get("dimensions", MISSING), "dimensions", problems)
    dtype = _dtype(get("dataType", MISSING), problems)
    chunks = chunk_shape(get("blockSize", MISSING), "blockSize", shape, dtype, problems, zeros=False)
    if chunks is not None and dtype is not None and prod(chunks) * dtype.itemsize > _MOST_BYTES:
        problems.add("blockSize", "blocks of at most 2^31 bytes", list(chunks))
    compressor = from_n5(get("compression", MISSING), dtype, problems)
    attributes = {name: value for name, value in document.items() if name not in MEMBERS}
    check_depth(attributes, "", problems)
    if len(problems.items) > before or shape is None or dtype is None or chunks is None:
        return None
    names = _names(attributes.get(_AXES), len(shape))
    if names is not None:
        del attributes[_AXES]
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(chunks),
        KEYS,
        fill_user.default(dtype),
        n5_chain(dtype, len(shape), compressor),
        attributes=attributes,
        dimension_names=names,
        format="n5",
        source=document,
    )


def _dtype(value: Any, problems: Problems) -> DataType | None:
    if type(value) is str and value in TYPES:
        return DataType.parse(value)
    if value in ("string", "object"):
        problems.unknown("dataType", "data type", value, "blocks of variable length, which N5 for Java reads")
    else:
        problems.add("dataType", f"one of {', '.join(TYPES)}", value)
    return None


def _names(value: Any, rank: int) -> tuple[str | None, ...] | None:
    """Return the dimension names in ``axes``; empty names become `None`, and any other value stays an attribute."""
    if type(value) is list and len(value) == rank and all(type(name) is str for name in value):
        return tuple(name or None for name in value)
    return None


def encode(meta: ArrayMeta, problems: Problems) -> Mapping[str, Any]:
    """Encode the document of an array; add a problem for each member that N5 cannot express.

    If the array came from a document, its members keep their order, and unchanged ones their spelling.
    """
    dtype, chunks = meta.dtype, common_shape(meta, problems)
    if dtype.name not in TYPES:
        problems.add("data_type", f"one of {', '.join(TYPES)}", dtype.to_json())
    elif prod(chunks) * dtype.itemsize > _MOST_BYTES:
        problems.add("chunk_shape", "blocks of at most 2^31 bytes", list(chunks))
    if meta.storage_transformers:
        problems.add("storage_transformers", "none: N5 has no storage transformers", len(meta.storage_transformers))
    if meta.chunk_keys != KEYS:
        problems.add("chunk_key_encoding", 'the encoding v2 with the separator "/"', meta.chunk_keys.name)
    if meta.fill_undefined or np.asarray(meta.fill_value).tobytes().strip(b"\0"):
        problems.add("fill_value", "zero: what N5 does not store is zero", value_text(meta.fill_value))
    compressor = _compressor(meta, problems)
    document: dict[str, Any] = {
        **meta.attributes,
        "dimensions": list(meta.shape),
        "blockSize": list(chunks),
        "dataType": dtype.name,
        "compression": to_n5(compressor, problems),
    }
    for name in MEMBERS:
        if name in meta.attributes:
            problems.add(f"attributes.{name}", "no attribute of this name, which is one of the format", name)
    if meta.dimension_names is not None:
        if _AXES in meta.attributes:
            problems.add(f"attributes.{_AXES}", "the names of the dimensions", meta.attributes[_AXES])
        document[_AXES] = [name or "" for name in meta.dimension_names]
    original = None if problems.items else original_of(meta, "n5", decode)
    if original is None:
        return document
    assert original.source is not None
    return respelled(document, original.source, {"compression": original.codecs == meta.codecs})


def _compressor(meta: ArrayMeta, problems: Problems) -> Any:
    chain = meta.codecs
    compressor = chain.serializer.compressor if isinstance(chain.serializer, N5Codec) else None
    if chain != n5_chain(meta.dtype, len(meta.shape), compressor):
        wanted = "the first axis fastest, big-endian, and at most one compressor"
        if chain.is_sharded:
            wanted = "no shards, as this format has none (shards=None leaves them out)"
        problems.add("codecs", wanted, chain.to_json())
    return compressor

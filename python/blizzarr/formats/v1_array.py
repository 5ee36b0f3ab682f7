"""Array documents of Zarr v1, ``meta``.

https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html#metadata

****The order of chunks.** By the document, a chunk of an array with ``"order": "F"`` has its first axis fastest.
zarr-python 1 did so with Blosc only: with other compressors it wrote and read chunks in C order. Nearly all data of
this format were written by zarr-python 1, so they are read and written like that here;
``config.v1_order_as_documented`` follows the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from blizzarr.codecs.configs import Configs, chain_from_configs, chain_to_configs
from blizzarr.config import config
from blizzarr.dtypes import DataType, Kind, fill_user
from blizzarr.dtypes.typestr import from_typestr, to_typestr
from blizzarr.formats import v1_fill
from blizzarr.formats.respelled import respelled, unchanged
from blizzarr.formats.shapes import array_shape, common_shape
from blizzarr.formats.v1_compression import from_v1, to_v1
from blizzarr.formats.v2_group import other_members
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.model.chunk_shapes import chunk_shape, without_zeros
from blizzarr.problems import MISSING, Problems, decoder

_MEMBERS: Final = frozenset(
    ("zarr_format", "shape", "chunks", "dtype", "compression", "compression_opts", "fill_value", "order")
)
KEYS: Final = ChunkKeys.v2(".")


@decoder
def decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document, without attributes; `None` if a problem was added."""
    before = len(problems.items)
    get = document.get
    number = get("zarr_format", MISSING)
    if type(number) is not int or number != 1:
        problems.add("zarr_format", "1", number)
    shape = array_shape(get("shape", MISSING), "shape", problems)
    dtype, endian = _decode_dtype(get("dtype", MISSING), problems)
    rank = None if shape is None else len(shape)
    chunks = chunk_shape(without_zeros(get("chunks", MISSING), shape), "chunks", rank, dtype, problems)
    order = get("order", MISSING)
    if order not in ("C", "F"):
        problems.add("order", '"C" or "F"', order)
        order = "C"
    compressor = _decode_compressor(document, problems)
    codecs = chain_from_configs(
        None,
        compressor,
        dtype=dtype,
        endian=endian,
        order=order if _is_followed(compressor) else "C",
        chunk_shape=chunks,
        compressor_path="compression_opts",
        problems=problems,
    )
    fill_value = get("fill_value", MISSING)
    fill_undefined = fill_value is None
    if fill_value is MISSING:
        problems.add("fill_value", "a value, or null", MISSING)
    elif dtype is not None:
        # The document leaves elements that were never written undefined; here they are zeros.
        fill_value = (
            fill_user.default(dtype)
            if fill_undefined
            else v1_fill.decode(dtype, fill_value, "fill_value", problems, endian)
        )
    extra = other_members(document, _MEMBERS, problems)
    if len(problems.items) > before:
        return None
    # If one of them is missing, there is a problem, or a limit, which is raised if there are no problems.
    if shape is None or dtype is None or chunks is None or codecs is None:
        return None
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(chunks),
        KEYS,
        fill_value,
        codecs,
        extra=extra,
        format="v1",
        source=document,
        fill_undefined=fill_undefined,
    )


def _decode_dtype(value: Any, problems: Problems) -> tuple[DataType | None, str | None]:
    """Decode the data type and the byte order of the elements."""
    typed = from_typestr(value, "dtype", problems)
    if typed is None:
        return None, None
    if typed.dtype.kind is Kind.OBJECT:
        problems.add("dtype", "elements of a fixed size", value)
        return None, None
    if not _is_of_pairs(value):
        problems.add("dtype", "fields with a name and a data type, and no shape", value)
        return None, None
    return typed.dtype, typed.endian


def _is_of_pairs(spelled: Any) -> bool:
    """Return whether all fields of a struct, also of nested ones, are two-element lists."""
    return type(spelled) is not list or all(len(field) == 2 and _is_of_pairs(field[1]) for field in spelled)


def _decode_compressor(document: Mapping[str, Any], problems: Problems) -> dict[str, Any] | None:
    """Return the configuration of the compressor; `None` for none, or if a problem was added."""
    if "compression" not in document:
        problems.add("compression", "the name of a compressor", MISSING)
    if "compression_opts" not in document:
        problems.add("compression_opts", "the options of the compressor, or null", MISSING)
    if "compression" not in document or "compression_opts" not in document:
        return None
    return from_v1(document["compression"], document["compression_opts"], problems)


def _is_followed(compressor: Mapping[str, Any] | None) -> bool:
    """Return whether chunks are in the order that the document has."""
    return config.v1_order_as_documented or (compressor is not None and compressor["id"] == "blosc")


def encode(meta: ArrayMeta, problems: Problems) -> Mapping[str, Any]:
    """Encode the document of an array; add a problem for each member that v1 cannot express.

    If the array came from a document, its members keep their spelling and order, and unknown members are kept.
    """
    dtype, chunks = meta.dtype, common_shape(meta, problems)
    configs = chain_to_configs(meta.codecs, dtype=dtype, chunk_shape=chunks, problems=problems)
    endian = None if configs is None else configs.endian
    spelled = None if dtype.kind is Kind.OBJECT else to_typestr(dtype, endian)
    if spelled is None:
        problems.add("data_type", "a data type of a fixed size that NumPy has", dtype.to_json())
    elif not _is_of_pairs(spelled):
        problems.add("data_type", "fields with a name and a data type: v1 has none with a shape", spelled)
    if meta.storage_transformers:
        problems.add("storage_transformers", "none: v1 has no storage transformers", len(meta.storage_transformers))
    if meta.chunk_keys != KEYS:
        problems.add("chunk_key_encoding", 'the encoding v2 with the separator "."', meta.chunk_keys.name)
    compression, options = _compression(configs, problems)
    is_null = meta.fill_undefined or spelled is None
    document = {
        **meta.extra,
        "zarr_format": 1,
        "shape": list(meta.shape),
        "chunks": list(chunks),
        "dtype": spelled,
        "compression": compression,
        "compression_opts": options,
        "fill_value": None if is_null else v1_fill.encode(dtype, meta.fill_value, endian, problems),
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
    """Return the same document in the spelling of the one from which the array came; that one if nothing changed."""
    source = meta.source
    assert source is not None
    original = decode(dict(source), Problems())
    if original is None:
        return document
    same = unchanged(original, meta, source, lambda array: array.dtype.fill_bytes(array.fill_value))
    if all(same.values()) and original.extra == meta.extra:
        return source
    same = {name: same.get(name, False) and _is_json(value) for name, value in source.items()}
    return respelled(document, source, same)


def _is_json(value: Any) -> bool:
    """Return whether a value is valid JSON, unlike the bare tokens for non-finite numbers."""
    parts = value if type(value) is list else [value]
    return all(type(part) is not float or isfinite(part) for part in parts)

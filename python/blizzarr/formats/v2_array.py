"""Array documents of Zarr v2, ``.zarray``.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#metadata
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.codecs.configs import chain_to_configs
from blizzarr.dtypes import fill_typed
from blizzarr.dtypes.typestr import to_typestr
from blizzarr.formats.array_encoding import common_shape, is_finite, original_of, respelled, unchanged
from blizzarr.formats.document import check_number, other_members
from blizzarr.formats.objects import check_fill
from blizzarr.formats.v2_elements import decode_codecs, decode_dtype, decode_fill
from blizzarr.formats.v2_separator import lacks_separator
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.model.shapes import array_shape, chunk_shape
from blizzarr.problems import MISSING, Problems

_MEMBERS: Final = frozenset(
    ("zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters", "dimension_separator")
)
_SEPARATORS: Final = {".": ChunkKeys.v2("."), "/": ChunkKeys.v2("/")}


_ORDER_OF_NETCDF: Final = ("zarr_format", "shape", "dtype", "chunks", "fill_value", "order")
"""The first members in documents of NetCDF-C, and of no other known program."""


def _with_shuffles_of_netcdf(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with the text "0", which means the size of the elements, as `elementsize` of shuffle filters.

    NetCDF-C writes the number, too, with which numcodecs shuffles nothing.
    """
    filters = document.get("filters")
    if type(filters) is not list or tuple(document)[: len(_ORDER_OF_NETCDF)] != _ORDER_OF_NETCDF:
        return document
    shuffle = {"id": "shuffle", "elementsize": 0}
    return {**document, "filters": [{**shuffle, "elementsize": "0"} if one == shuffle else one for one in filters]}


def decode(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document, without attributes; `None` if a problem was added."""
    if not check_number(document, "zarr_format", 2, problems):
        return None
    before = len(problems.items)
    get = document.get
    shape = array_shape(get("shape", MISSING), "shape", problems)
    dtype, endian = decode_dtype(document, problems)
    # NetCDF-C 4.8 omitted null fill values, which the specification requires.
    fill_value = decode_fill(dtype, endian, get("fill_value"), problems)
    chunks = chunk_shape(get("chunks", MISSING), "chunks", shape, dtype, problems)
    codecs = decode_codecs(_with_shuffles_of_netcdf(document), dtype, endian, chunks, problems)
    chunk_keys = _chunk_keys(get("dimension_separator", "."), problems)
    extra = other_members(document, _MEMBERS, problems)
    if dtype is not None and codecs is not None:
        check_fill(dtype, fill_value, codecs, problems)
    if len(problems.items) > before:
        return None
    # If one of them is missing, there is a problem, or a limit, which is raised if there are no problems.
    if shape is None or dtype is None or chunks is None or chunk_keys is None or codecs is None:
        return None
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(chunks),
        chunk_keys,
        fill_value,
        codecs,
        extra=extra,
        format="v2",
        source=document,
        # In arrays of arbitrary objects, null is a value.
        fill_undefined=get("fill_value") is None and dtype.name != "object",
    )


def _chunk_keys(separator: Any, problems: Problems) -> ChunkKeys | None:
    if separator is None:
        # zarr-java writes null for a missing separator.
        separator = "."
    if type(separator) is str and (keys := _SEPARATORS.get(separator)) is not None:
        return keys
    problems.add("dimension_separator", '"." or "/"', separator)
    return None


def encode(meta: ArrayMeta, problems: Problems) -> Mapping[str, Any]:
    """Encode the document of an array; add a problem for each member that v2 cannot express.

    If the array came from a document, each member whose meaning has not changed keeps its spelling, and unknown members
    are kept. If nothing changed, that document itself is returned.
    """
    dtype, chunks = meta.dtype, common_shape(meta, problems)
    configs = chain_to_configs(meta.codecs, dtype=dtype, chunk_shape=chunks, problems=problems)
    endian = None if configs is None else configs.endian
    spelled = to_typestr(dtype, endian)
    if spelled is None and meta.source is not None and decode_dtype(meta.source, Problems()) == (dtype, endian):
        # Only TensorStore writes data types that NumPy lacks.
        spelled = meta.source["dtype"]
    if spelled is None:
        problems.add("data_type", "a data type that NumPy has, as all of v2", dtype.to_json())
    if meta.storage_transformers:
        problems.add("storage_transformers", "none: v2 has no storage transformers", len(meta.storage_transformers))
    if meta.chunk_keys not in _SEPARATORS.values():
        problems.add("chunk_key_encoding", "the encoding v2", meta.chunk_keys.name)
    is_null = meta.fill_undefined or spelled is None
    document = {
        **meta.extra,
        "zarr_format": 2,
        "shape": list(meta.shape),
        "chunks": list(chunks),
        "dtype": spelled,
        "compressor": None if configs is None else configs.compressor,
        "fill_value": None if is_null else fill_typed.encode(dtype, meta.fill_value, endian, problems),
        "order": None if configs is None else configs.order,
        "filters": None if configs is None else configs.filters,
        "dimension_separator": meta.chunk_keys.separator,
    }
    original = None if problems.items else original_of(meta, "v2", decode)
    return document if original is None else _respelled(document, original, meta)


def _respelled(document: Mapping[str, Any], original: ArrayMeta, meta: ArrayMeta) -> Mapping[str, Any]:
    """Return the same document in the order and spelling of the one from which the array came."""
    source = meta.source
    assert source is not None
    same = unchanged(original, meta, source, _fill_text)
    same["dimension_separator"] = original.chunk_keys == meta.chunk_keys
    changed = {name for name, is_same in same.items() if not is_same}
    if lacks_separator(meta):
        # A separator inferred from chunks is no reason to change the document, but is written if anything else changes.
        changed.discard("dimension_separator")
    if not changed and original.extra == meta.extra:
        return source
    same = {name: same.get(name, False) and _is_conforming(name, value) for name, value in source.items()}
    return respelled(document, source, same, lambda name, value: (name, value) == ("dimension_separator", "."))


def _fill_text(meta: ArrayMeta) -> str:
    """Return the fill value as text; unlike equality, this distinguishes 1 and 1.0, and NaN equals NaN."""
    return repr(fill_typed.encode(meta.dtype, meta.fill_value))


def _is_conforming(name: str, value: Any) -> bool:
    """Return whether a spelling may also be written, unlike ``[]`` for no filters and the bare token ``NaN``."""
    if name == "filters":
        return bool(value != [])
    if name == "dimension_separator":
        return value is not None
    return name != "fill_value" or is_finite(value)

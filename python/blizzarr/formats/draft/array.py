"""Array documents of the draft.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#array-metadata
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from blizzarr.codecs import CodecChain
from blizzarr.codecs.configs import chain_to_configs
from blizzarr.dtypes import DataType, Kind
from blizzarr.formats.array_encoding import common_shape, original_of, respelled
from blizzarr.formats.dimension_names import names_in, with_names
from blizzarr.formats.draft import codecs, data_types, fill_values, transformers
from blizzarr.formats.draft.codecs import FILTERS, Layout, filters_of
from blizzarr.formats.draft.data_types import Elements
from blizzarr.formats.draft.extension import check_extensions, decode_attributes, extension_point
from blizzarr.formats.draft.keys import DraftKeys, Spelling
from blizzarr.formats.draft.transformers import Stored
from blizzarr.formats.objects import check_fill, element_type
from blizzarr.model import ArrayMeta, RegularGrid
from blizzarr.model.shapes import array_shape, chunk_shape
from blizzarr.problems import MISSING, Problems, unknown_members

_MEMBERS: Final = (
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_memory_layout",
    "fill_value",
    "extensions",
    "attributes",
    "storage_transformers",
)
_OWN: Final = {Spelling.DOCUMENT: ("codecs",), Spelling.ZARR_PYTHON: ("compressor", "dimension_separator")}


def decode(document: dict[str, Any], form: DraftKeys, problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document; `None` if a problem was added."""
    spelling = form.spelling
    before = len(problems.items)
    get = document.get
    shape = array_shape(get("shape", MISSING), "shape", problems)
    listed = get("codecs", MISSING)
    ordered = spelling is Spelling.DOCUMENT and codecs.stated_endian(listed) is not None
    elements = data_types.decode(get("data_type", MISSING), "data_type", problems, ordered=ordered)
    attributes = decode_attributes(document, problems)
    filters = filters_of(attributes) if spelling is Spelling.ZARR_PYTHON else None
    if elements is not None and elements.dtype.kind is Kind.OBJECT:
        elements = Elements(element_type(filters, None), None)
    dtype = None if elements is None else elements.dtype
    fill = _fill(get("fill_value", MISSING), elements, spelling, problems)
    grid = _chunk_grid(get("chunk_grid", MISSING), shape, dtype, problems)
    order = _layout(get("chunk_memory_layout", MISSING), problems)
    if "extensions" in document or spelling is Spelling.DOCUMENT:
        check_extensions(get("extensions", MISSING), problems)
    layout = Layout(
        dtype, None if elements is None else elements.endian, order, None if grid is None else grid.chunk_shape
    )
    chain = _chain(document, layout, filters, spelling, problems)
    rank = None if shape is None else len(shape)
    stacked = transformers.decode(get("storage_transformers", []), rank, spelling, problems)
    unknown_members(document, (*_MEMBERS, *_OWN[spelling]), problems)
    if dtype is not None and fill is not None and chain is not None:
        check_fill(dtype, fill.value, chain, problems)
    if len(problems.items) > before:
        return None
    # If one of them is missing, there is a problem, or a limit, which is raised if there are no problems.
    if shape is None or dtype is None or fill is None or grid is None or chain is None:
        return None
    stored = transformers.fold(stacked, grid.chunk_shape, chain, dtype, problems)
    if stored is None:
        return None
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(stored.shape),
        form.chunk_keys_with(grid.separator),
        fill.value,
        stored.codecs,
        {name: value for name, value in attributes.items() if filters is None or name != FILTERS},
        names_in(attributes, len(shape)),
        stored.transformers,
        {},
        form.name,
        document,
        fill.undefined,
    )


class _Fill(NamedTuple):
    value: Any
    undefined: bool


def _fill(value: Any, elements: Elements | None, spelling: Spelling, problems: Problems) -> _Fill | None:
    """Decode the fill value, and whether it is undefined; `None` if a problem was added."""
    if elements is None or value is MISSING:
        if value is MISSING:
            problems.add("fill_value", "a value of the data type", MISSING)
        return None
    dtype = elements.dtype
    inner = Problems()
    fill_value = fill_values.decode(value, dtype, elements.endian, spelling, inner)
    if not inner.items:
        # In arrays of arbitrary objects, null is a value.
        return _Fill(fill_value, fill_values.undefined(value, dtype, spelling))
    if elements.stands_in:
        # Only the unknown data type could decode it.
        return _Fill(dtype.default_fill, True)
    problems.items += inner.items
    return None


def _layout(value: Any, problems: Problems) -> str:
    """Decode the chunk memory layout, ``"C"`` or ``"F"``; "C" if a problem was added."""
    if type(value) is dict:
        extension_point(value, "chunk_memory_layout", problems, "chunk memory layout")
    elif value not in ("C", "F"):
        problems.add("chunk_memory_layout", '"C" or "F", or an extension', value)
    else:
        return str(value)
    return "C"


class _Grid(NamedTuple):
    chunk_shape: tuple[int, ...]
    separator: str


def _chunk_grid(value: Any, shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems) -> _Grid | None:
    """Decode the chunk grid, which is regular, and the separator of chunk keys; `None` if a problem was added.

    A chunk length of 0 is allowed along axes of length 0; it becomes 1, so that the grid has a shape.
    """
    path = "chunk_grid"
    if type(value) is not dict:
        problems.add(path, "an object with type, chunk_shape and separator", value)
        return None
    if "extension" in value:
        extension_point(value, path, problems, "chunk grid")
        return None
    before = len(problems.items)
    if value.get("type") != "regular":
        problems.add(f"{path}.type", '"regular", or an extension', value.get("type", MISSING))
    separator = value.get("separator", "/")
    if separator not in ("/", "."):
        problems.add(f"{path}.separator", '"/" or "."', separator)
    unknown_members(value, ("type", "chunk_shape", "separator"), problems, path)
    lengths = chunk_shape(value.get("chunk_shape", MISSING), f"{path}.chunk_shape", shape, dtype, problems)
    return _Grid(lengths, separator) if lengths is not None and len(problems.items) == before else None


def _chain(
    document: dict[str, Any], layout: Layout, filters: list[Any] | None, spelling: Spelling, problems: Problems
) -> CodecChain | None:
    if spelling is Spelling.DOCUMENT:
        return codecs.decode(document.get("codecs", []), layout, problems)
    separator = document.get("dimension_separator")
    if separator not in (None, "/", "."):
        problems.add("dimension_separator", '"/" or "."', separator)
    return codecs.decode_zarr_python(document.get("compressor"), filters, layout, problems)


def encode(meta: ArrayMeta, form: DraftKeys, problems: Problems) -> dict[str, Any]:
    """Encode the document of an array; add a problem for each member that it cannot express.

    If the array came from a document of this format, each member whose meaning has not changed keeps its spelling.
    """
    spelling = form.spelling
    stored = transformers.unfold(Stored(common_shape(meta, problems), meta.codecs, meta.storage_transformers), problems)
    keys = form.chunk_keys_with(meta.chunk_keys.separator)
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
        "chunk_grid": {"type": "regular", "chunk_shape": list(stored.shape), "separator": keys.separator},
        "chunk_memory_layout": "C" if configs is None else configs.order,
        "fill_value": _fill_value(meta, endian, spelling, problems),
        "extensions": [],
        "attributes": dict(with_names(meta.attributes, meta.dimension_names, len(meta.shape), problems)),
    }
    if spelling is Spelling.ZARR_PYTHON:
        compressor, filters = (None, None) if configs is None else codecs.encode_zarr_python(configs)
        _add_filters(document["attributes"], filters, problems)
        if compressor is not None:
            document["compressor"] = compressor
    elif configs is not None:
        document["codecs"] = codecs.encode(configs)
    listed = transformers.encode(stored.transformers, spelling, problems)
    if listed:
        document["storage_transformers"] = listed
    original = None if problems.items else original_of(meta, form.name, lambda source, own: decode(source, form, own))
    return document if original is None else _respelled(document, original, meta)


def _fill_value(meta: ArrayMeta, endian: str | None, spelling: Spelling, problems: Problems) -> Any:
    if meta.fill_undefined and fill_values.undefined(None, meta.dtype, spelling):
        return None
    return fill_values.encode(meta.fill_value, meta.dtype, endian, spelling, problems)


def _add_filters(attributes: dict[str, Any], filters: list[dict[str, Any]] | None, problems: Problems) -> None:
    if filters is None and filters_of(attributes) is None:
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
    if chunks and filters_of(source["attributes"]) and FILTERS in document["attributes"]:
        document["attributes"][FILTERS] = source["attributes"][FILTERS]
    # Members that were missing, and are still empty, stay missing.
    return respelled(document, source, same, lambda name, value: value == [])


def _still_right(grid: dict[str, Any], meta: ArrayMeta) -> bool:
    """Return whether chunk lengths of 0 are still allowed: only along axes of length 0."""
    return all(length or not size for length, size in zip(grid["chunk_shape"], meta.shape, strict=True))

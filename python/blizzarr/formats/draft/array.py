"""Array documents of the draft.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#array-metadata
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from blizzarr.codecs import CodecChain
from blizzarr.dtypes import Kind
from blizzarr.formats.dimension_names import names_in
from blizzarr.formats.document import check_depth
from blizzarr.formats.draft import chunk_grid, codecs, codecs_zarr_python, data_types, fill_values, transformers
from blizzarr.formats.draft.codecs import Layout
from blizzarr.formats.draft.codecs_zarr_python import FILTERS
from blizzarr.formats.draft.data_types import Elements
from blizzarr.formats.draft.extension import check_extensions, extension_point, unknown_members
from blizzarr.formats.draft.spelling import Spelling
from blizzarr.formats.objects import check_fill, element_type
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.model.shapes import array_shape
from blizzarr.problems import MISSING, Problems

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


def chunk_keys(separator: str, spelling: Spelling) -> ChunkKeys:
    """Return the chunk key encoding with this separator, the only option."""
    make = ChunkKeys.draft if spelling is Spelling.DOCUMENT else ChunkKeys.draft_zarr_python
    return make(separator)


def decode(document: dict[str, Any], spelling: Spelling, name: str, problems: Problems) -> ArrayMeta | None:
    """Decode the array of a document, of the format `name`; `None` if a problem was added."""
    before = len(problems.items)
    get = document.get
    shape = array_shape(get("shape", MISSING), "shape", problems)
    listed = get("codecs", MISSING)
    ordered = spelling is Spelling.DOCUMENT and codecs.stated_endian(listed) is not None
    elements = data_types.decode(get("data_type", MISSING), "data_type", problems, ordered=ordered)
    attributes = decode_attributes(get("attributes", MISSING), problems)
    filters = codecs_zarr_python.filters_of(attributes) if spelling is Spelling.ZARR_PYTHON else None
    if elements is not None and elements.dtype.kind is Kind.OBJECT:
        elements = Elements(element_type(filters, None), None)
    dtype = None if elements is None else elements.dtype
    fill = _fill(get("fill_value", MISSING), elements, spelling, problems)
    grid = chunk_grid.decode(get("chunk_grid", MISSING), shape, dtype, problems)
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
        chunk_keys(grid.separator, spelling),
        fill.value,
        stored.codecs,
        {name: value for name, value in attributes.items() if filters is None or name != FILTERS},
        names_in(attributes, len(shape)),
        stored.transformers,
        {},
        name,
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


def decode_attributes(value: Any, problems: Problems) -> dict[str, Any]:
    """Decode the attributes of an array or a group."""
    if type(value) is not dict:
        problems.add("attributes", "an object", value)
        return {}
    check_depth(value, "attributes", problems)
    return dict(value)


def _chain(
    document: dict[str, Any], layout: Layout, filters: list[Any] | None, spelling: Spelling, problems: Problems
) -> CodecChain | None:
    if spelling is Spelling.DOCUMENT:
        return codecs.decode(document.get("codecs", MISSING), layout, problems)
    separator = document.get("dimension_separator")
    if separator not in (None, "/", "."):
        problems.add("dimension_separator", '"/" or "."', separator)
    return codecs_zarr_python.decode(document.get("compressor"), filters, layout, problems)

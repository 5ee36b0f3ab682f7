"""Encoding the documents of arrays, for all formats.

Where an array came from a document, members whose meaning did not change keep their order and their spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from blizzarr.model import ArrayMeta, RegularGrid
from blizzarr.problems import Problems


def common_shape(meta: ArrayMeta, problems: Problems) -> tuple[int, ...]:
    """Return the shape of all chunks; add a problem if the grid is not regular, as only v3 has other grids."""
    grid = meta.chunk_grid
    if grid.name != RegularGrid.name:
        expected = "a regular grid of chunks of one shape, as this format has no others; chunks= chooses it"
        problems.add("chunk_grid", expected, grid.name if grid.is_even else grid.text)
    return grid.chunk_shape if grid.is_even else meta.largest


def original_of(
    meta: ArrayMeta, form: str, decode: Callable[[dict[str, Any], Problems], ArrayMeta | None]
) -> ArrayMeta | None:
    """Return the array as the document describes it from which it came; `None` if it came from none of this format."""
    return None if meta.source is None or meta.format != form else decode(dict(meta.source), Problems())


def respelled(
    document: Mapping[str, Any],
    source: Mapping[str, Any],
    same: Mapping[str, bool],
    left_out: Callable[[str, Any], bool] = lambda name, value: False,
) -> dict[str, Any]:
    """Return a document in the order of the members in `source`, and with the spelling there of what is the `same`.

    Members that `source` has not are last; `left_out` tells those that may be missing.

    >>> respelled({"a": 1, "b": 2, "c": None}, {"b": 2.0, "a": 1.0}, {"b": True}, lambda name, value: value is None)
    {'b': 2.0, 'a': 1}
    """
    kept = {
        name: value if same.get(name) else document[name]
        for name, value in source.items()
        if same.get(name) or name in document
    }
    return kept | {name: value for name, value in document.items() if name not in kept and not left_out(name, value)}


def unchanged(
    original: ArrayMeta, meta: ArrayMeta, source: Mapping[str, Any], fill: Callable[[ArrayMeta], object]
) -> dict[str, bool]:
    """Return for each member whether it keeps the spelling that it has in `source`, the document of `original`.

    `fill` returns the fill value of an array in a form that is equal only for equal values.
    """
    elements = (original.dtype, original.codecs) == (meta.dtype, meta.codecs)
    filled = (original.fill_undefined, original.dtype) == (meta.fill_undefined, meta.dtype)
    # A chunk length of 0 in a document stands for the length of the array.
    zeros = 0 in source["chunks"] and original.shape != meta.shape
    return {
        "shape": original.shape == meta.shape,
        "chunks": original.chunk_grid == meta.chunk_grid and not zeros,
        **dict.fromkeys(("dtype", "order", "filters", "compressor", "compression", "compression_opts"), elements),
        "fill_value": filled and fill(original) == fill(meta),
    }


def is_finite(value: Any) -> bool:
    """Return whether a number, or each in a list, is valid JSON, unlike the bare tokens for non-finite ones."""
    parts = value if type(value) is list else [value]
    return all(type(part) is not float or isfinite(part) for part in parts)

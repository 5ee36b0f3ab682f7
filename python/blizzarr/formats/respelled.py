"""Keeping the order and the spelling of the members of a document whose meaning did not change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blizzarr.model import ArrayMeta


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

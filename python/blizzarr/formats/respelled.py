"""Finding members of v1 and v2 documents whose meaning did not change, which keep their original spelling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blizzarr.model import ArrayMeta

__all__ = ["unchanged"]


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

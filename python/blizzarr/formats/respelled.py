"""Members of documents of v1 and v2 that say the same as in the document that an array came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blizzarr.model import ArrayMeta

__all__ = ["unchanged"]


def unchanged(
    original: ArrayMeta, meta: ArrayMeta, source: Mapping[str, Any], fill: Callable[[ArrayMeta], object]
) -> dict[str, bool]:
    """Which members need no other spelling than in `source`, the document of `original`.

    `fill` is the fill value in a form that is equal only if the value is.
    """
    elements = (original.dtype, original.codecs) == (meta.dtype, meta.codecs)
    filled = (original.fill_undefined, original.dtype) == (meta.fill_undefined, meta.dtype)
    # Where a document says 0, the length of a chunk is that of the array.
    zeros = 0 in source["chunks"] and original.shape != meta.shape
    return {
        "shape": original.shape == meta.shape,
        "chunks": original.chunk_grid == meta.chunk_grid and not zeros,
        **dict.fromkeys(("dtype", "order", "filters", "compressor", "compression", "compression_opts"), elements),
        "fill_value": filled and fill(original) == fill(meta),
    }

"""Texts of Arrow, by pyarrow or polars, as NumPy's texts: without a Python object for each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.dtypes.nulls import null_count


def texts_of(value: Any) -> npt.NDArray[Any] | None:
    """Return the texts of an array of Arrow as an array of NumPy's `StringDType`.

    Return None for what has no texts or has nulls among them, for NumPy before 2.0, and for polars without pyarrow.

    >>> texts_of(["a", "b"])
    """
    if type(value).__module__.partition(".")[0] not in ("pyarrow", "polars") or not hasattr(np.dtypes, "StringDType"):
        return None
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError:
        return None
    if null_count(value) or not (hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")):
        return None
    texts = arrow.chunked_array(value if hasattr(value, "__arrow_c_stream__") else [value])
    if texts.type not in (arrow.string(), arrow.large_string(), arrow.string_view()):
        return None
    made = np.empty(len(texts), np.dtypes.StringDType())
    start = 0
    for piece in texts.cast(arrow.large_string()).chunks:
        _, offsets, joined = piece.buffers()
        if len(piece):
            places = np.frombuffer(offsets, np.int64)[piece.offset : piece.offset + len(piece) + 1]
            _native.texts_put(places, joined or b"", made[start : start + len(piece)])
        start += len(piece)
    return made

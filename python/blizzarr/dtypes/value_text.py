"""Values as text, also those of which NumPy makes none."""

from __future__ import annotations

from typing import Any

import numpy as np


def value_text(value: Any) -> str:
    """Return a value as text. NumPy has none for a time without a unit, which is a mere count, nor for records of such.

    >>> value_text(np.datetime64("2001-02-03")), value_text(np.int64(5).view("M8"))
    ('2001-02-03', '5 generic time units')
    >>> value_text(np.array((5, [6, 7]), [("x", "i8"), ("y", "i8", 2)]).view([("x", "M8"), ("y", "M8", 2)]))
    '(5 generic time units, [6 generic time units, 7 generic time units])'
    """
    try:
        return str(value)
    except (ValueError, OverflowError):
        dtype = value.dtype
    if dtype.names is not None:
        return f"({', '.join(value_text(value[name]) for name in dtype.names)})"
    if value.ndim:
        return f"[{', '.join(map(value_text, value))}]"
    # As a duration since the epoch, of which there is always a text.
    return str(value.view(dtype.str.replace("M8", "m8")))


def value_repr(value: Any) -> str:
    """Return the representation of a value, or its text where NumPy has no representation.

    >>> value_repr(np.float32(1)), value_repr(np.int64(5).view("M8")), value_repr(np.bytes_(b"a"))
    ('np.float32(1.0)', '5 generic time units', "b'a'")
    """
    try:
        return repr(value.item() if isinstance(value, np.bytes_ | np.str_) else value)
    except (ValueError, OverflowError):
        return value_text(value)

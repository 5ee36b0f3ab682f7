"""Values as text, where NumPy has none."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["value_text"]


def value_text(value: Any) -> str:
    """Return a value as text. NumPy has none for a time without a unit, which is a mere count.

    Examples
    --------
    >>> value_text(np.datetime64("2001-02-03")), value_text(np.int64(5).view("M8"))
    ('2001-02-03', '5 generic time units')
    """
    if isinstance(value, np.datetime64) and not np.isnat(value) and np.datetime_data(value.dtype)[0] == "generic":
        value = value.view("m8")
    return str(value)

"""Reading elements that somebody has cut off since the array was opened."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError
from blizzarr.indexing import Lowered
from blizzarr.transfer import Binding, read


def read_or_fill(binding: Binding, lowered: Lowered, out: npt.NDArray[Any] | None = None) -> Any:
    """Read a selection as TensorStore does: elements that are not there any more read as the fill value."""
    try:
        return read(binding, lowered, out)
    except OutOfBoundsError:
        return read(binding.beyond(), lowered, out)

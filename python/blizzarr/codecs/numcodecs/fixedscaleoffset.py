"""``numcodecs.fixedscaleoffset`` (array -> array): ``(x - offset) * scale``, rounded, as another type.

https://numcodecs.readthedocs.io/en/stable/filter/fixedscaleoffset.html

>>> FixedScaleOffsetCodec(offset=1000, scale=10, dtype="<f8", astype="|u1").config()
{'id': 'fixedscaleoffset', 'offset': 1000, 'scale': 10, 'dtype': '<f8', 'astype': '|u1'}
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

from blizzarr.codecs.codec import Option
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.element_type import type_option

__all__ = ["FixedScaleOffsetCodec"]


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number; an integer must not be beyond the range of floating point."""
    try:
        return type(value) in (int, float) and isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True, slots=True)
class FixedScaleOffsetCodec(ArrayFilter):
    """Numbers of type `dtype`, shifted and scaled to `astype`; both are the array's own unless they are given."""

    name: ClassVar[str] = "numcodecs.fixedscaleoffset"
    options: ClassVar[tuple[Option, ...]] = (
        Option("offset", "a finite number", _is_number),
        Option("scale", "a finite number other than zero", lambda value: _is_number(value) and value != 0),
        type_option("dtype", required=False),
        type_option("astype", required=False),
    )
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")

    offset: float
    scale: float
    dtype: str | None = None
    astype: str | None = None

"""``numcodecs.delta`` (array -> array): the first element, then the difference of each from the one before.

https://numcodecs.readthedocs.io/en/stable/filter/delta.html

>>> DeltaCodec(dtype="<i4", astype="<i2").config()
{'id': 'delta', 'dtype': '<i4', 'astype': '<i2'}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Option
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.element_type import type_option

__all__ = ["DeltaCodec"]


@dataclass(frozen=True, slots=True)
class DeltaCodec(ArrayFilter):
    """Differences of elements of type `dtype`, kept as `astype`; both are the array's own unless they are given."""

    name: ClassVar[str] = "numcodecs.delta"
    options: ClassVar[tuple[Option, ...]] = (
        type_option("dtype", required=False),
        type_option("astype", required=False),
    )
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")

    dtype: str | None = None
    astype: str | None = None

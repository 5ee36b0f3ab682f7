"""``numcodecs.quantize`` (array -> array): floating-point numbers rounded to so many decimal digits.

https://numcodecs.readthedocs.io/en/stable/filter/quantize.html

>>> QuantizeCodec(digits=2, dtype="<f8").to_json()
{'name': 'numcodecs.quantize', 'configuration': {'digits': 2, 'dtype': '<f8'}}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blizzarr.codecs.codec import Chunk, Option, integer
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, memory_type
from blizzarr.codecs.numcodecs.element_type import type_option
from blizzarr.problems import Problems

__all__ = ["QuantizeCodec"]


@dataclass(frozen=True, slots=True)
class QuantizeCodec(ArrayFilter):
    """Rounded to `digits` behind the point, or before it if negative; of type `dtype`, kept as `astype`."""

    name: ClassVar[str] = "numcodecs.quantize"
    options: ClassVar[tuple[Option, ...]] = (
        integer("digits", -308, 308),
        type_option("dtype", required=False),
        type_option("astype", required=False),
    )
    type_options: ClassVar[tuple[str, ...]] = ("dtype", "astype")
    elementwise: ClassVar[bool] = True

    digits: int
    dtype: str | None = None
    astype: str | None = None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        taken = self.decoded_type(memory_type(chunk.dtype))
        for option, dtype in zip(self.type_options, (taken, self.encoded_type(taken)), strict=True):
            if not np.issubdtype(dtype, np.floating):
                problems.add(f"{path}.configuration.{option}", "a type of floating-point numbers", dtype.str)
                return False
        return super(QuantizeCodec, self).fits(chunk, path, problems)

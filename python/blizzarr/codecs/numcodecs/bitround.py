"""``numcodecs.bitround`` (array -> array): floating-point numbers with fewer bits of mantissa, the others zero.

https://numcodecs.readthedocs.io/en/stable/filter/bitround.html

>>> BitRoundCodec(keepbits=7).config()
{'id': 'bitround', 'keepbits': 7}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from blizzarr.codecs.codec import Chunk, Option, integer
from blizzarr.codecs.numcodecs.array_filter import ArrayFilter, memory_type
from blizzarr.problems import Problems

__all__ = ["BitRoundCodec"]

_MANTISSA: Final = {"<f2": 10, "<f4": 23, "<f8": 52}


@dataclass(frozen=True, slots=True)
class BitRoundCodec(ArrayFilter):
    """Rounded to `keepbits` bits of mantissa."""

    name: ClassVar[str] = "numcodecs.bitround"
    options: ClassVar[tuple[Option, ...]] = (integer("keepbits", 0, 52),)
    elementwise: ClassVar[bool] = True
    in_place: ClassVar[bool] = True

    keepbits: int

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        bits = _MANTISSA.get(memory_type(chunk.dtype).str)
        if bits is None:
            problems.add(
                path, "a filter for such elements; this one is for float16, float32, float64", str(chunk.dtype)
            )
            return False
        if self.keepbits > bits:
            problems.add(f"{path}.configuration.keepbits", f"at most {bits}, as {chunk.dtype} has", self.keepbits)
            return False
        return True

"""``bitround`` (array -> array): numbers with fewer significant bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer
from blizzarr.dtypes import DataType
from blizzarr.problems import Problems

_MANTISSA: Final = {"bfloat16": 7, "float16": 10, "float32": 23, "float64": 52}
"""The bits of the mantissa of each type of floating point."""


@dataclass(frozen=True, slots=True)
class BitroundCodec(Codec):
    """The codec ``bitround`` (array -> array): rounds numbers so that they compress better. What is lost stays lost.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/bitround

    Parameters
    ----------
    keepbits
        The number of bits that are kept: of floating point, of the mantissa; of integers, from the first bit that is
        set.

    Examples
    --------
    >>> import blizzarr
    >>> array = blizzarr.create_array({}, data=[0.1, 1.2, 12.3], filters=BitroundCodec(keepbits=3))
    >>> array[:].tolist()
    [0.1015625, 1.25, 12.0]
    """

    name: ClassVar[str] = "bitround"
    stage: ClassVar[Stage] = Stage.FILTER
    options: ClassVar[tuple[Option, ...]] = (integer("keepbits", 1, 64),)
    fixed_size: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    keepbits: int

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None or _mantissa(chunk.dtype) is not None:
            return True
        problems.add(path, "a codec for such elements; this one is for integers, float16 to float64", str(chunk.dtype))
        return False

    def step(self, chunk: Chunk) -> Step:
        assert chunk.dtype is not None
        return ("bitround", chunk.dtype.part.itemsize, _mantissa(chunk.dtype), self.keepbits)


def _mantissa(dtype: DataType) -> int | None:
    """Return the bits of the mantissa of floating point, 0 for integers and times, None for other types."""
    part = dtype.part
    # NumPy says of some types of ml_dtypes, but not of others, that they are floating point.
    return _MANTISSA.get(part.name, 0 if part.numpy.kind in "iumM" else None)

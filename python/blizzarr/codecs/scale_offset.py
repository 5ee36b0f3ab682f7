"""``scale_offset`` (array -> array): ``(x - offset) * scale``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.codecs.codec import REAL, Chunk, Codec, Option, Stage, Step, bits
from blizzarr.dtypes import Kind
from blizzarr.problems import Problems


def _scalar(name: str) -> Option:
    return Option(name, "a number", lambda value: type(value) in (int, float, str), required=False)


@dataclass(frozen=True, slots=True)
class ScaleOffsetCodec(Codec):
    """The codec ``scale_offset`` (array -> array): subtracts an offset, then multiplies by a factor.

    All is computed in the arithmetic of the data type. An integer that the data type does not have is an error, as is
    one that cannot be divided by `scale` when it is read. To store fewer bytes, `CastValueCodec` comes next.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset

    Parameters
    ----------
    offset
        The number that is subtracted; None for 0. Documents may spell it as a fill value, like ``"0x7fc00000"``.
    scale
        The number to multiply by; None for 1.

    Examples
    --------
    >>> import blizzarr, numpy as np
    >>> filters = [ScaleOffsetCodec(offset=1000), {"name": "cast_value", "configuration": {"data_type": "uint8"}}]
    >>> array = blizzarr.create_array({}, data=np.array([1000, 1255], "u2"), filters=filters, fill_value=1000)
    >>> array[:].tolist()
    [1000, 1255]
    """

    name: ClassVar[str] = "scale_offset"
    stage: ClassVar[Stage] = Stage.FILTER
    options: ClassVar[tuple[Option, ...]] = (_scalar("offset"), _scalar("scale"))
    fixed_size: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    refuses_values: ClassVar[bool] = True

    offset: float | str | None = None
    scale: float | str | None = None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if chunk.dtype is None:
            return True
        if chunk.dtype.kind not in REAL:
            problems.add(path, "a codec for such elements; this one is for real numbers", str(chunk.dtype))
            return False
        before = len(problems.items)
        for option in self.options:
            value: Any = getattr(self, option.name)
            if value is not None:
                chunk.dtype.fill_from_json(value, f"{path}.configuration.{option.name}", problems)
        if self.scale == 0 and chunk.dtype.kind is Kind.INTEGER:
            problems.add(f"{path}.configuration.scale", "a number other than 0", self.scale)
        return len(problems.items) == before

    def step(self, chunk: Chunk) -> Step:
        assert chunk.dtype is not None
        offset, scale = 0 if self.offset is None else self.offset, 1 if self.scale is None else self.scale
        return ("scale_offset", chunk.dtype.name, bits(chunk.dtype, offset), bits(chunk.dtype, scale))

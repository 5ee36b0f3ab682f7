"""`cast_value` in chunks of several blocks: elements become what they become alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError
from support.one_chunk import decoded, encoded


def chain(dtype: DataType, count: int, other: str, **options: Any) -> CodecChain:
    cast = {"name": "cast_value", "configuration": {"data_type": other, **options}}
    return CodecChain.from_list([cast, {"name": "bytes", "configuration": {"endian": "little"}}], dtype, (count,))


def stored(data: npt.NDArray[Any], target: str, **options: Any) -> bytes:
    kind = DataType.parse(data.dtype)
    return encoded(chain(kind, data.size, target, **options), data, kind)


@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "target", ["int2", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_cast_value_to_integers_in_long_chunks(source: str, target: str) -> None:
    """The ends of both types, halves and numbers out of range become what they become alone, in either direction."""
    bits = int(target.strip("uint"))
    least, most = (0, 2**bits - 1) if target[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    numbers = [0.0, -0.0, 5e-324, 0.5, -0.5, 1.5, -2.5, 2.0**22 + 1, 2.0**51, -(2.0**51), 2.0**52 - 0.5, 2.0**53, 1e300]
    numbers += [end + part for end in (least, most) for part in (-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1)]
    with np.errstate(over="ignore"):
        special = np.array([*numbers, np.finfo(source).max, np.finfo(source).min], "f8").astype(source)
        special = np.concatenate([np.nextafter(special, end) for end in (special, -special.max(), special.max())])
    special = special[np.isfinite(special)]
    usual = np.resize(np.array([0, 1, 0.5, most / 2 % 1000], source), 40_000)
    # Whole blocks of usual numbers, among others.
    usual[17_000 :: 1 + 20_000 // special.size][: special.size] = special
    kind = DataType.parse(target)
    whole = [round(value) for value in usual.tolist()]
    clamped = np.array([min(max(value, least), most) for value in whole], "u8" if least == 0 else "i8")
    assert stored(usual, target, out_of_range="clamp") == clamped.astype(kind.numpy).tobytes()
    back = chain(kind, usual.size, source, out_of_range="clamp")
    assert decoded(back, usual.tobytes(), kind, usual.shape).tobytes() == clamped.astype(kind.numpy).tobytes()
    fits = np.array([least <= value <= most for value in whole])
    assert stored(usual[fits], target) == clamped[fits].astype(kind.numpy).tobytes()
    for wrong in (np.nan, np.inf, -np.inf):
        usual[39_000] = wrong
        with pytest.raises(CodecError, match="as element 39,000 of a chunk"):
            stored(usual, target, out_of_range="clamp")

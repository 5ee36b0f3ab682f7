"""Options of v2 at their limits, and null: whatever numcodecs makes of them, we make, or refuse the document."""

from __future__ import annotations

from lzma import LZMAError
from typing import Any

import numcodecs
import numpy as np
import pytest

from blizzarr.codecs.configs import chain_from_configs
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError
from blizzarr.problems import Problems
from support.one_chunk import decoded, encoded

INTEGERS = [None, -(2**31), -1000, -2, -1, 0, 1, 2, 3, 4, 8, 9, 10, 12, 16, 23, 24, 52, 64, 255, 1000, 2**31 - 1, 2**31]
TYPES = [None, "", "|u1", "<i2", "<i4", "<f4", "<f8", ">f8"]
NUMBERS = [*INTEGERS, 1e-300, 1e300, float("inf"), float("nan")]
SCALED = {"id": "fixedscaleoffset", "dtype": "<f4", "astype": "<i4", "offset": 1, "scale": 10}
EXTREMES: list[tuple[dict[str, Any], str, list[Any]]] = [
    ({"id": "shuffle"}, "elementsize", INTEGERS),
    *(({"id": "blosc", "clevel": 1}, option, INTEGERS) for option in ("clevel", "shuffle", "blocksize", "typesize")),
    *(({"id": name}, "level", INTEGERS) for name in ("zlib", "gzip", "bz2", "zstd")),
    ({"id": "lz4"}, "acceleration", INTEGERS),
    *(({"id": "lzma"}, option, INTEGERS) for option in ("format", "check", "preset")),
    ({"id": "lzma"}, "filters", [None, [], [{"id": 33, "preset": 0}], [{"id": 3, "dist": 0}, {"id": 33}]]),
    ({"id": "bitround"}, "keepbits", INTEGERS),
    ({"id": "quantize", "dtype": "<f4"}, "digits", INTEGERS),
    ({"id": "quantize", "digits": 1}, "dtype", TYPES),
    ({"id": "quantize", "digits": 1, "dtype": "<f4"}, "astype", TYPES),
    ({"id": "delta"}, "dtype", TYPES),
    ({"id": "delta", "dtype": "<f4"}, "astype", TYPES),
    ({"id": "astype", "encode_dtype": "<f8"}, "decode_dtype", TYPES),
    ({"id": "astype", "decode_dtype": "<f4"}, "encode_dtype", TYPES),
    (SCALED, "scale", NUMBERS),
    (SCALED, "offset", NUMBERS),
    (SCALED, "dtype", TYPES),
    (SCALED, "astype", TYPES),
    ({"id": "jenkins_lookup3"}, "initval", INTEGERS),
    *(({"id": name}, "location", ["start", "end", None, ""]) for name in ("crc32", "adler32")),
    *(({"id": name}, "x", [0]) for name in ("packbits", "base64", "fletcher32")),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("count", [12, 5])
@pytest.mark.parametrize("dtype", ["<f4", "<i2", ">f8", "|u1"])
@pytest.mark.parametrize(("config", "option", "values"), EXTREMES, ids=lambda one: str(one) if type(one) is str else "")
def test_as_numcodecs_has_it(config: dict[str, Any], option: str, values: list[Any], dtype: str, count: int) -> None:
    data = (np.arange(count) % 5).astype(dtype)
    for value in values:
        chosen = config if option == "x" else {**config, option: value}
        problems = Problems()
        endian: Any = {"<": "little", ">": "big", "|": None}[dtype[0]]
        kind = DataType.parse(dtype)
        chain = chain_from_configs(
            [chosen], None, dtype=kind, endian=endian, order="C", chunk_shape=(count,), problems=problems
        )
        if problems.items or problems.extensions:
            continue
        assert chain is not None
        try:
            codec = numcodecs.get_codec(dict(chosen))
            stored = np.asarray(codec.encode(data)).tobytes()
            expected = np.frombuffer(np.asarray(codec.decode(stored)).tobytes(), dtype).astype(kind.numpy)
        except (ValueError, TypeError, OverflowError, RuntimeError, ArithmeticError, LookupError, LZMAError):
            continue
        if len(expected) == count:
            assert np.array_equal(decoded(chain, stored, kind, (count,)).view("u1"), expected.view("u1")), chosen
            try:
                ours = encoded(chain, data, kind)
            except CodecError:
                # What numcodecs loses is refused. It is more than rounding, how much depends on the processor.
                assert chosen["id"] in ("astype", "delta", "fixedscaleoffset", "packbits")
                assert not np.allclose(expected.astype("f8"), data.astype("f8"), atol=0.5)
                continue
            if chosen["id"] == "quantize" and not np.isfinite(expected.astype("f8")).all():
                # What numcodecs makes NaN has no digits to lose here.
                expected = data
            assert np.asarray(codec.decode(ours)).tobytes() == expected.astype(dtype).tobytes()

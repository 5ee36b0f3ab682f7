"""Any filters and any compressor of v2, in any byte order: NumPy and numcodecs are the judge of what is stored."""

from __future__ import annotations

from typing import Any

import numcodecs
import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from blizzarr.codecs.configs import chain_from_configs, chain_to_configs
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError
from blizzarr.problems import Problems
from support.one_chunk import decoded, encoded

TYPES = ["|i1", "|u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8", "<f4", ">f8"]


@st.composite
def filters(draw: st.DrawFn, itemsize: int) -> list[dict[str, Any]]:
    """Filters one behind the other, each for as many bytes as the one before it makes; bytes may be filtered, too."""
    listed: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["delta", "astype", "shuffle", "checksum", "base64"]))
        if kind in ("delta", "astype"):
            taken = draw(st.sampled_from([dtype for dtype in TYPES if np.dtype(dtype).itemsize == itemsize]))
            made = draw(st.sampled_from([dtype for dtype in TYPES if np.dtype(dtype).kind == np.dtype(taken).kind]))
            names = ("dtype", "astype") if kind == "delta" else ("decode_dtype", "encode_dtype")
            listed.append({"id": kind, names[0]: taken, names[1]: made})
            itemsize = np.dtype(made).itemsize
        elif kind == "shuffle":
            listed.append({"id": kind, "elementsize": draw(st.sampled_from([1, itemsize]))})
            itemsize = 1
        else:
            listed.append({"id": draw(st.sampled_from(["crc32", "fletcher32"])) if kind == "checksum" else kind})
            itemsize = 1
    return listed


COMPRESSORS = [
    None,
    {"id": "adler32", "location": "end"},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0},
    {"id": "bz2", "level": 1},
    {"id": "lz4", "acceleration": 1},
    {"id": "zlib", "level": 1},
]


def as_bytes(made: Any) -> bytes:
    return made.tobytes("A") if isinstance(made, np.ndarray) else bytes(made)


def stored_by_v2(data: npt.NDArray[Any], configs: list[dict[str, Any]]) -> tuple[bytes, bool]:
    """What zarr-python 2 stores for a chunk: what the last codec makes of what the one before it made, and so on.

    And whether each codec by itself gives back what it got.
    """
    made: Any = data
    keeps_all = True
    for config in configs:
        codec, given = numcodecs.get_codec(config), made
        made = codec.encode(given)
        with np.errstate(all="ignore"):
            keeps_all &= as_bytes(codec.decode(made)) == as_bytes(given)
    return as_bytes(made), keeps_all


def read_by_v2(stored: bytes, configs: list[dict[str, Any]], like: npt.NDArray[Any], order: Any) -> npt.NDArray[Any]:
    """What zarr-python 2 reads of it."""
    made: Any = stored
    for config in reversed(configs):
        made = numcodecs.get_codec(config).decode(made)
    flat = made.reshape(-1, order="A") if isinstance(made, np.ndarray) else np.frombuffer(made, np.uint8)
    return flat.view(like.dtype).reshape(like.shape, order=order)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_stored_as_by_v2(data: st.DataObject) -> None:
    """V-1: chunks of v2 are read, ours are the same, and the chain has a spelling in v2."""
    dtype = np.dtype(data.draw(st.sampled_from(TYPES)))
    shape = data.draw(st.sampled_from([(), (5,), (2, 3), (3, 2, 2)]))
    order: Any = data.draw(st.sampled_from("CF"))
    listed = data.draw(filters(dtype.itemsize))
    compressor = data.draw(st.sampled_from(COMPRESSORS))
    elements = np.array(data.draw(st.lists(st.integers(0, 100), min_size=12, max_size=12)))[: int(np.prod(shape))]
    values = np.asarray(elements.reshape(shape), dtype, order=order)
    endian = {"<": "little", ">": "big", "|": None}[dtype.str[0]]

    problems = Problems()
    kind = DataType.parse(dtype)
    given_by = {"dtype": kind, "chunk_shape": shape, "problems": problems}
    chain = chain_from_configs(listed, compressor, endian=endian, order=order, **given_by)
    problems.raise_any()
    assert chain is not None

    configs = [*listed, *([compressor] if compressor else [])]
    try:
        with np.errstate(all="raise"):
            stored, keeps_all = stored_by_v2(values, configs)
        with np.errstate(all="ignore"):
            expected = read_by_v2(stored, configs, values, order)
    except (ArithmeticError, IndexError, RuntimeError, ValueError):
        # Elements that are too large for what a filter makes; checksums and text of which filters lost bits, or all.
        reject()
    found = decoded(chain, stored, kind, shape)
    try:
        ours = encoded(chain, values, kind)
    except CodecError:
        # What a codec loses is refused, even where the sums of an earlier filter wrap around to the elements.
        assert not keeps_all
        return
    assert found.tobytes() == expected.astype(kind.numpy).tobytes()
    assert ours == stored or compressor in COMPRESSORS[2:]
    assert decoded(chain, ours, kind, shape).tobytes() == found.tobytes()

    spelling = chain_to_configs(chain, **given_by)
    problems.raise_any()
    assert spelling is not None
    spelled = {"endian": spelling.endian, "order": spelling.order}
    assert chain_from_configs(spelling.filters, spelling.compressor, **spelled, **given_by) == chain

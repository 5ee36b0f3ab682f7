"""Arrays of every data type, with lossless codecs of every name in any order that is legal, on every grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import blizzarr
from blizzarr.dtypes import DataType, optional
from interop.elements import pack
from interop.names import DATA_TYPES
from support.keys import basic_keys
from support.strategies import edges

SLOW = list(HealthCheck)
FILTERS: list[Any] = [
    {"name": "transpose", "configuration": {"order": [1, 0]}},
    {"name": "reshape", "configuration": {"shape": [-1]}},
    {"name": "scale_offset", "configuration": {"offset": 1}},
    {"name": "cast_value", "configuration": {"data_type": "float64"}},
    {"name": "cast_value", "configuration": {"data_type": "int64", "out_of_range": "wrap"}},
    "zarrs.squeeze",
    *({"name": f"numcodecs.{name}", "configuration": {}} for name in ("delta", "packbits")),
    {"name": "numcodecs.fixedscaleoffset", "configuration": {"offset": 1, "scale": 1}},
]
SERIALIZERS: list[Any] = [
    "auto",
    "packbits",
    {"name": "packbits", "configuration": {"padding_encoding": "first_byte"}},
    {"name": "bytes", "configuration": {"endian": "big"}},
    "n5_default",
    "zarrs.vlen_v2",
    "vlen-array",
    {
        "name": "zarrs.vlen",
        "configuration": {"index_codecs": ["bytes"], "data_codecs": ["bytes", "crc32c"], "index_data_type": "uint64"},
    },
    {"name": "numcodecs.pcodec", "configuration": {"level": 1}},
]
COMPRESSORS: list[Any] = [
    "crc32c",
    {"name": "conditional", "configuration": {"codecs": [{"name": "gzip", "configuration": {"level": 1}}]}},
    {"name": "zstd", "configuration": {"level": 1, "checksum": True}},
    {"name": "zarrs.gdeflate", "configuration": {"level": 1}},
    {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 1, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
    },
    {"name": "numcodecs.shuffle", "configuration": {"elementsize": 1}},
    *(
        {"name": f"numcodecs.{name}", "configuration": {}}
        for name in ("zlib", "lz4", "bz2", "lzma", "crc32", "adler32", "fletcher32", "jenkins_lookup3", "base64")
    ),
]


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    """Draw arguments of `create_array`, some of which form no chain of codecs."""
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=1, max_size=3)))
    chunks = tuple(draw(edges(size))[0] for size in shape)
    return {
        "shape": shape,
        "chunks": chunks if draw(st.booleans()) else tuple(draw(st.integers(1, 4)) for _ in shape),
        "dtype": draw(st.sampled_from(DATA_TYPES)),
        "filters": draw(st.lists(st.sampled_from(FILTERS), max_size=2)),
        "serializer": draw(st.sampled_from([*SERIALIZERS, *["auto"] * 4])),
        "compressors": draw(st.lists(st.sampled_from(COMPRESSORS), max_size=2)),
    }


def some(dtype: DataType, shape: tuple[int, ...], seed: int) -> Any:
    """Elements that every codec above keeps: small integers, texts and their bytes, values of fixed length."""
    random = np.random.default_rng(seed)
    small = random.integers(0, 2, shape)
    if dtype.name in ("string", "bytes"):
        words = np.array(["", "a", "ä\N{SNOWMAN}", "longer than eight bytes"], object)
        words = words if dtype.name == "string" else np.array([word.encode() for word in words], object)
        return np.asarray(words[random.integers(0, 4, shape)], object)
    if dtype.name == optional.NAME:
        return optional.of_masked(np.ma.array(small, mask=random.integers(0, 2, shape)), dtype.numpy)
    if dtype.numpy.kind in "MmSUV" and not dtype.fields and dtype.name.startswith(("r", "numpy", "fixed", "null")):
        return np.frombuffer((b"\1" + bytes(dtype.itemsize - 1)) * small.size, dtype.numpy).reshape(shape)
    made = np.empty(shape, dtype.numpy)
    made[...] = small if dtype.numpy.names != ("real", "imag") else small.astype(dtype.numpy[0])
    return made


def check(layout: dict[str, Any], data: st.DataObject) -> None:
    """What is written, whole and in part, is read, in part and after opening again."""
    store: dict[str, bytes] = {}
    try:
        array = blizzarr.create_array(store, **layout)
    except (blizzarr.errors.MetadataError, blizzarr.errors.UnsupportedOperationError):
        reject()
    dtype, shape = array.metadata.dtype, array.shape
    for codec in array.metadata.codecs.filters:
        # numcodecs loses elements of other types, or cannot compute with them.
        kept = {"numcodecs.packbits": "b", "numcodecs.delta": "iuf", "numcodecs.fixedscaleoffset": "f"}
        if dtype.numpy.kind not in kept.get(codec.name, dtype.numpy.kind):
            reject()
    if [codec.name for codec in array.metadata.codecs.filters].count("numcodecs.packbits") > 1:
        reject()  # the second one would get bytes, of which it keeps 0 and 1
    model = some(dtype, shape, 0)
    array[...] = model
    key = data.draw(basic_keys(shape))
    try:
        part = some(dtype, np.shape(model[key]), data.draw(st.integers(1, 9)))
    except (IndexError, TypeError, ValueError):
        return
    model = model.copy()
    array[key] = part
    model[key] = part if np.shape(part) else part[()]
    again = blizzarr.open_array(store, mode="r")
    assert again.metadata == array.metadata
    assert pack(again[...]) == pack(model)
    found, expected = np.asarray(again[key], dtype.numpy), np.asarray(model[key], dtype.numpy)
    assert pack(found) == pack(expected)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(layout=layouts(), data=st.data())
def test_every_name(layout: dict[str, Any], data: st.DataObject) -> None:
    check(layout, data)


@pytest.mark.thorough
@settings(max_examples=5000, deadline=None, suppress_health_check=SLOW)
@given(layout=layouts(), data=st.data())
def test_every_name_often(layout: dict[str, Any], data: st.DataObject) -> None:
    check(layout, data)

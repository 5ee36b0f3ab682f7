"""The codecs of numcodecs in v3 documents: zarr-python reads what we write, and we what it writes."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

import blizzarr

zarr = pytest.importorskip("zarr", "3.1.3")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from zarr.codecs import TransposeCodec
    from zarr.codecs import numcodecs as theirs
    from zarr.core.buffer import default_buffer_prototype

pytestmark = pytest.mark.filterwarnings("ignore")

REALS = np.linspace(0, 9, 63).reshape(7, 9)
NUMBERS = np.arange(63, dtype="int32").reshape(7, 9) ** 2
FLAGS = NUMBERS % 3 == 0

COMPRESSORS = [
    ("Adler32", {}),
    ("BZ2", {"level": 3}),
    ("Blosc", {"shuffle": -1, "cname": "zstd"}),
    ("CRC32", {"location": "end"}),
    ("CRC32C", {}),
    ("Fletcher32", {}),
    ("GZip", {}),
    ("JenkinsLookup3", {"initval": 3}),
    ("LZ4", {}),
    ("LZMA", {"preset": 1}),
    ("LZMA", {"format": 3, "filters": [{"id": 33, "preset": 1}]}),
    ("Shuffle", {}),
    ("Zlib", {"level": -1}),
    ("Zstd", {"level": 3}),
]
FILTERS: list[tuple[str, dict[str, Any], Any]] = [
    ("AsType", {"encode_dtype": "<f4"}, REALS),
    ("BitRound", {"keepbits": 9}, REALS),
    ("Delta", {"dtype": "int32"}, NUMBERS),
    ("Delta", {"dtype": "<i4", "astype": "<i8"}, NUMBERS),
    ("FixedScaleOffset", {"offset": 1, "scale": 50, "astype": "<i2"}, REALS),
    ("PackBits", {}, FLAGS),
    ("Quantize", {"digits": 2}, REALS),
]


def both_ways(data: Any, **options: Any) -> None:
    """The same array by both; each reads that of the other, and they are equal to the bit."""
    given = {"shape": data.shape, "chunks": (4, 6), "dtype": str(data.dtype), **options}
    values: dict[str, Any] = {}
    zarr.create_array(zarr.storage.MemoryStore(values), **given)[...] = data
    theirs_read = zarr.open_array(zarr.storage.MemoryStore(values), mode="r")[...]
    ours: dict[str, bytes] = {}
    array = blizzarr.create_array(ours, **given)
    array[...] = data
    assert np.array_equal(
        blizzarr.open_array({key: value.to_bytes() for key, value in values.items()})[...], theirs_read
    )
    assert np.array_equal(array[...], theirs_read)
    buffer = default_buffer_prototype().buffer
    store = zarr.storage.MemoryStore({key: buffer.from_bytes(bytes(value)) for key, value in ours.items()})
    assert np.array_equal(zarr.open_array(store, mode="r")[...], theirs_read)


@pytest.mark.parametrize(("name", "options"), COMPRESSORS)
def test_compressors(name: str, options: dict[str, Any]) -> None:
    """Every codec of bytes, with options left out and given."""
    both_ways(NUMBERS, compressors=[getattr(theirs, name)(**options), theirs.Zlib()])


@pytest.mark.parametrize(
    ("name", "options", "data"), FILTERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_filters(name: str, options: dict[str, Any], data: Any) -> None:
    """Every filter, alone and within shards."""
    both_ways(data, filters=[getattr(theirs, name)(**options)], compressors=[theirs.LZ4()])
    both_ways(data, filters=[getattr(theirs, name)(**options)], chunks=(2, 3), shards=(4, 6))


def test_axes_turned_behind_a_filter() -> None:
    """Elementwise filters and transpositions may stand in any order."""
    turned = TransposeCodec(order=(1, 0))
    both_ways(REALS, filters=[theirs.BitRound(keepbits=9), turned])
    both_ways(REALS, filters=[turned, theirs.BitRound(keepbits=9)])


@pytest.mark.parametrize("turned", [[], [{"name": "transpose", "configuration": {"order": [1, 0]}}]])
@pytest.mark.parametrize(
    ("name", "options", "shards"),
    [
        ("quantize", {"digits": 2}, None),
        ("quantize", {"digits": 2}, (4, 6)),
        ("delta", {}, None),
        ("fixedscaleoffset", {"offset": 1, "scale": 50, "astype": "<i2"}, None),
    ],
)
def test_filters_behind_one_that_makes_big_endian_elements(
    name: str, options: dict[str, Any], shards: Any, turned: list[Any]
) -> None:
    """Types that are left out are those of the memory that the filter gets."""
    data = np.round(REALS)
    ours: dict[str, bytes] = {}
    filters = [{"name": "numcodecs.astype", "configuration": {"encode_dtype": ">f4"}}, *turned]
    # zarr-python reads stored elements as the filter makes them, in whatever order they are stored.
    stored = {"name": "bytes", "configuration": {"endian": "little" if "scale" in options else "big"}}
    given: dict[str, Any] = {"chunks": (2, 3), "shards": shards, "serializer": stored, "compressors": None}
    filters.append({"name": f"numcodecs.{name}", "configuration": options})
    array = blizzarr.create_array(ours, data=data, filters=filters, **given)
    np.testing.assert_array_equal(array[...], data)
    buffer = default_buffer_prototype().buffer
    store = zarr.storage.MemoryStore({key: buffer.from_bytes(bytes(value)) for key, value in ours.items()})
    np.testing.assert_array_equal(zarr.open_array(store, mode="r")[...], data)


@pytest.mark.parametrize(("name", "package"), [("PCodec", "pcodec"), ("ZFPY", "zfpy")])
def test_serializers(name: str, package: str) -> None:
    """Those that make bytes of arrays need packages of their own."""
    pytest.importorskip(package)
    both_ways(REALS, serializer=getattr(theirs, name)(), compressors=[theirs.Zlib()])
    both_ways(REALS, filters=[theirs.AsType(encode_dtype="<f4")], serializer=getattr(theirs, name)())


def test_pcodec_is_the_compressor_of_v2_as_of_zarr_python() -> None:
    """Not a filter: other programs look for the compressor there."""
    pytest.importorskip("pcodec")
    both: list[Any] = []
    for library in (zarr, blizzarr):
        values: dict[str, Any] = {}
        place = zarr.storage.MemoryStore(values) if library is zarr else values
        given: dict[str, Any] = {"shape": (7, 9), "chunks": (4, 6), "dtype": "f8", "zarr_format": 2, "filters": None}
        codec = {"id": "pcodec", "level": 4}
        made = library.create_array(place, compressors=zarr_codec(codec) if library is zarr else codec, **given)
        made[...] = REALS
        raw = values[".zarray"]
        both.append(json.loads(raw.to_bytes() if library is zarr else raw))
    assert both[1]["compressor"] == {key: value for key, value in both[0]["compressor"].items() if value is not None}
    assert both[1]["filters"] is None
    again = zarr.open_array(zarr.storage.MemoryStore({key: buffer(value) for key, value in values.items()}), mode="r")
    np.testing.assert_array_equal(again[...], REALS)


def zarr_codec(config: dict[str, Any]) -> Any:
    import numcodecs

    return numcodecs.get_codec(config)


def buffer(value: bytes) -> Any:
    return default_buffer_prototype().buffer.from_bytes(value)

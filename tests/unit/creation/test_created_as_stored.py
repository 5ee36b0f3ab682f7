"""The handle that created an array knows it as every later reader does: `same_chunks` is true for all layouts.

Otherwise `resize` and `append` take the array for another one, which somebody else put in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import tensorstore as ts
from blizzarr.array import Array
from blizzarr.array.document import same_chunks
from blizzarr.codecs import CATALOGUE, BloscCodec, Codec, GzipCodec, Stage
from blizzarr.codecs.numcodecs import LZMACodec
from blizzarr.errors import BlizzarrError
from blizzarr.formats import FORMATS, read_node
from blizzarr.model import ArrayMeta
from blizzarr.stores import MemoryStore

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "BitRoundCodec": [{"keepbits": 5}],
    "BitroundCodec": [{"keepbits": 5}],
    "BloscCodec": [{}, {"cname": "zstd", "shuffle": "bitshuffle"}, {"typesize": 2}, {"shuffle": "noshuffle"}],
    "AsTypeCodec": [{"encode_dtype": "f4"}, {"encode_dtype": "f4", "decode_dtype": "f8"}],
    "CastValueCodec": [{"data_type": "int32"}, {"data_type": "f8", "scalar_map": {"encode": [[1, 2]]}}],
    "CategorizeCodec": [{"labels": ["a", "b"]}],
    "BytesCodec": [{}, {"endian": "big"}, {"endian": "little"}],
    "DeltaCodec": [{}, {"dtype": "i4"}, {"dtype": "<i4", "astype": "i2"}],
    "FixedScaleOffsetCodec": [{"scale": 10, "offset": 1}, {"scale": 2.0, "offset": 0.5, "dtype": "f8", "astype": "i4"}],
    "GzipCodec": [{"level": 5}],
    "JenkinsLookup3Codec": [{}, {"initval": 3}],
    "LZMACodec": [{}, {"preset": 3}, {"format": 1, "check": 4}, {"format": 3, "filters": [{"id": 33, "preset": 1}]}],
    "NumcodecsBlosc": [{}, {"shuffle": -1}, {"shuffle": 2, "blocksize": 256}],
    "ConditionalCodec": [{"codecs": "gzip"}, {"codecs": ["crc32c", "zstd"], "header_bits": 8}],
    "PackbitsCodec": [{}, {"padding_encoding": "last_byte", "first_bit": 0}],
    "QuantizeCodec": [{"digits": 2}, {"digits": 2, "dtype": "f8", "astype": "f4"}],
    "ReshapeCodec": [{"shape": [[0, 1]]}, {"shape": (3, -1)}],
    "ScaleOffsetCodec": [{}, {"offset": 1, "scale": 2}],
    "ShuffleCodec": [{}, {"elementsize": 4}, {"elementsize": 1}],
    "TransposeCodec": [{"order": (1, 0)}, {"order": (0, 1)}],
    "VlenArrayCodec": [{"dtype": "<f8"}],
    "ZFPYCodec": [{"mode": 4, "tolerance": 0.1}],
    "ZlibCodec": [{}, {"level": -1}],
    "ZstdCodec": [{}, {"level": 3, "checksum": True}],
}
"""What codecs are made with: options that have no default, others and none; without an entry, none."""
INSIDE = ["ShardingCodec"]
"""What `shards=` makes."""
TYPES: list[Any] = ["?", "<i4", ">f8", "f4", "M8[ns]", "S3", np.dtype([("a", "<i4"), ("b", "S1")]), "string", "O"]
NAMES = [*FORMATS, "v3_draft:.jsn"]


def codecs() -> Iterator[Codec]:
    """Each codec of the catalogue, with and without options."""
    for cls in dict.fromkeys(CATALOGUE.values()):
        if cls.__name__ not in INSIDE:
            yield from (cls(**options) for options in OPTIONS.get(cls.__name__, [{}]))


def layouts(codec: Codec) -> Iterator[dict[str, Any]]:
    """A codec where users may put it: alone, before others, and as a filter for bytes, as in v2."""
    match codec.stage:
        case Stage.SERIALIZER:
            yield {"serializer": codec}
        case Stage.FILTER:
            yield from ({"filters": codec}, {"filters": [codec], "compressors": None})
        case Stage.COMPRESSOR:
            yield from ({"compressors": codec}, {"filters": codec, "compressors": BloscCodec()})
            yield from ({"filters": codec, "compressors": None}, {"compressors": codec, "shards": (4, 6)})


def as_stored(array: Array) -> bool:
    stored = read_node(array.store, array.path)
    assert isinstance(stored, ArrayMeta)
    return same_chunks(array.metadata, stored) and array.metadata == stored


@pytest.mark.parametrize(
    "zarr_format",
    [name if name in ("v3", "v2", "n5") else pytest.param(name, marks=pytest.mark.thorough) for name in NAMES],
)
def test_all_codecs(zarr_format: str) -> None:
    made: Counter[str] = Counter()
    for codec in codecs():
        for layout in layouts(codec):
            for dtype in TYPES:
                try:
                    array = blizzarr.create_array(
                        MemoryStore(), shape=(4, 6), chunks=(2, 3), dtype=dtype, zarr_format=zarr_format, **layout
                    )
                except (BlizzarrError, ImportError):
                    continue  # such elements, or this format, and such a codec do not go together
                assert as_stored(array), (layout, dtype)
                made[type(codec).__name__] += 1
    assert sum(made.values()) >= (20 if zarr_format in ("v1", "n5") else 500), made


@pytest.mark.parametrize(
    "options",
    [
        {"zarr_format": 2, "filters": {"id": "zlib", "level": 1}, "compressors": BloscCodec()},
        {"zarr_format": 2, "filters": {"id": "crc32"}, "compressors": {"id": "blosc"}},
        {"zarr_format": 2, "filters": {"id": "shuffle", "elementsize": 4}},
        {"zarr_format": 2, "compressors": BloscCodec(typesize=2)},
        {"zarr_format": 2, "compressors": {"name": "numcodecs.gzip", "configuration": {"level": 1}}},
        {"zarr_format": 2, "filters": {"name": "transpose", "configuration": {"order": [0]}}},
        {"zarr_format": "n5", "compressors": LZMACodec()},
        {"zarr_format": "n5", "compressors": LZMACodec(preset=3)},
        {"zarr_format": 1, "compressors": LZMACodec()},
    ],
    ids=str,
)
def test_changed_by_the_handle_that_created_it(options: dict[str, Any]) -> None:
    array = blizzarr.create_array({}, data=np.arange(5, dtype="<i4"), chunks=2, **options)
    assert array.append([7, 8]) == (7,)
    array.resize(6)
    assert array[:].tolist() == [0, 1, 2, 3, 4, 7]
    assert blizzarr.open_array(array.store, mode="r")[:].tolist() == [0, 1, 2, 3, 4, 7]


def test_every_way_to_create() -> None:
    options: dict[str, Any] = {"shape": 5, "dtype": "<i4", "chunks": 2, "compressors": BloscCodec(typesize=2)}
    group = blizzarr.create_group({}, zarr_format=2)
    source = blizzarr.create_array({}, data=np.arange(5, dtype="<i4"), compressors=GzipCodec(1))
    for number, array in enumerate(
        [
            group.create_array("a", **options),
            group.require_array("b", **options),
            blizzarr.open_array(group.store, path="c", mode="w", **options),
            blizzarr.copy(source, group.store, path="d", zarr_format=2, compressors=BloscCodec(typesize=2)),
            blizzarr.save_array(group.store, np.arange(5), path="e", compressors=BloscCodec(typesize=2)),
        ]
    ):
        array = blizzarr.open_array(group.store, path="e", mode="r+") if array is None else array
        assert isinstance(array, Array)
        assert as_stored(array), number
        assert array.append([9]) == (6,), number


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
def test_created_through_tensorstore(driver: str) -> None:
    spec = {"driver": driver, "kvstore": "memory://", "dtype": "int32", "schema": {"domain": {"shape": [5]}}}
    view = ts.open(spec, create=True, context=ts.Context()).result()
    view[...] = np.arange(5, dtype=np.int32)
    assert view.resize(exclusive_max=[3]).result().read().result().tolist() == [0, 1, 2]

"""Codec chains as v1 and v2 spell them, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from blizzarr.codecs import BloscCodec, BytesCodec, CodecChain, GzipCodec, TransposeCodec, ZlibCodec, ZstdCodec
from blizzarr.codecs.configs import Configs, chain_from_configs, chain_to_configs
from blizzarr.dtypes import DataType
from blizzarr.errors import MetadataError
from blizzarr.problems import Problems

BLOSC = {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}


def read(filters: Any, compressor: Any, dtype: str = "<f4", order: str = "C", shape: tuple[int, ...] = (4, 6)) -> Any:
    """The chain for what a document says."""
    problems = Problems()
    endian = {"<": "little", ">": "big"}.get(dtype[0])
    chain = chain_from_configs(
        filters,
        compressor,
        dtype=DataType.parse(dtype),
        endian=endian,
        order=order,
        chunk_shape=shape,
        problems=problems,
    )
    problems.raise_any()
    return chain


def write(chain: CodecChain, dtype: str = "<f4", shape: tuple[int, ...] = (4, 6)) -> Configs:
    """What a document says for a chain."""
    problems = Problems()
    configs = chain_to_configs(chain, dtype=DataType.parse(dtype), chunk_shape=shape, problems=problems)
    problems.raise_any()
    assert configs is not None
    return configs


@pytest.mark.parametrize(
    ("compressor", "codec"),
    [
        (BLOSC, BloscCodec("zstd", 3, "bitshuffle", 4, 0)),
        ({"id": "zlib", "level": 1}, ZlibCodec(1)),
        ({"id": "gzip", "level": 9}, GzipCodec(9)),
        ({"id": "zstd", "level": 5}, ZstdCodec(5, False)),
    ],
)
def test_compressors(compressor: Any, codec: Any) -> None:
    """V-1, V-3: a compressor by its id; gzip and zlib are two codecs. Written, it is what was read."""
    chain = read(None, compressor)
    assert chain == CodecChain((), BytesCodec("little"), (codec,))
    assert write(chain) == (None, compressor, "C", "little")


@pytest.mark.parametrize("filters", [None, []])
def test_no_codecs(filters: Any) -> None:
    """V-1, V-2: no filters are null or an empty list, no compressor is null."""
    assert read(filters, None) == CodecChain((), BytesCodec("little"), ())
    assert write(read(filters, None)) == (None, None, "C", "little")


@pytest.mark.parametrize(("dtype", "endian"), [("<f4", "little"), (">f4", "big"), ("|u1", None)])
def test_byte_order(dtype: str, endian: str | None) -> None:
    """The byte order of the data type is the serializer's, and comes back."""
    chain = read(None, None, dtype)
    assert chain.serializer == BytesCodec(endian)
    assert write(chain, dtype).endian == endian


@pytest.mark.parametrize(("shape", "filters"), [((4, 6), (TransposeCodec((1, 0)),)), ((4,), ()), ((), ())])
def test_order_of_axes(shape: tuple[int, ...], filters: tuple[Any, ...]) -> None:
    """D-42: order F is a transposition of all axes, where there are at least two."""
    chain = read(None, None, order="F", shape=shape)
    assert chain.filters == filters
    assert write(chain, shape=shape).order == ("F" if filters else "C")


@pytest.mark.parametrize(
    ("filters", "compressor", "paths"),
    [
        (3, None, ["filters"]),
        (None, "zlib", ["compressor"]),
        (None, {"level": 1}, ["compressor.id"]),
        (None, {"id": "zlib", "level": 10}, ["compressor.level"]),
        (
            [{"id": "zlib", "level": "x"}, {"id": 5}],
            {"id": "squash"},
            ["filters[0].level", "filters[1].id", "compressor.id"],
        ),
    ],
)
def test_problems(filters: Any, compressor: Any, paths: list[str]) -> None:
    """Every problem at once, placed where these documents have the options: beside the id."""
    with pytest.raises(MetadataError) as caught:
        read(filters, compressor)
    assert [problem.path for problem in caught.value.problems] == paths

"""Parts of long chunks in Blosc, of which the engine reads only the blocks that are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError
from support.streams import with_crc32c

SHAPE = (64, 64, 64)
RNG = np.random.default_rng(7)


def _blosc(cname: str, shuffle: str, blocksize: int) -> dict[str, Any]:
    options = {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 2, "blocksize": blocksize}
    return {"name": "blosc", "configuration": options}


@pytest.mark.parametrize("blocksize", [0, 4096, 50_000])
@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
@pytest.mark.parametrize("cname", ["lz4", "lz4hc", "blosclz", "zlib", "zstd"])
def test_boxes_are_those_of_numpy(tmp_path: Path, cname: str, shuffle: str, blocksize: int) -> None:
    data = np.cumsum(RNG.integers(-9, 10, (64, 64, 128)), axis=2).astype("u2")
    codec = _blosc(cname, shuffle, blocksize)
    plain = blizzarr.create_array(tmp_path / "plain.zarr", data=data, chunks=SHAPE, compressors=codec)
    shards = blizzarr.create_array(
        tmp_path / "shards.zarr", data=data, chunks=SHAPE, shards=data.shape, compressors=codec
    )
    for _ in range(25):
        start = RNG.integers(0, 60, 3)
        key = tuple(slice(low, low + size) for low, size in zip(start.tolist(), RNG.integers(1, 9, 3), strict=True))
        for array in (plain, shards):
            np.testing.assert_array_equal(array[key], data[key])


def test_what_is_damaged_is_an_error_and_the_rest_is_read(tmp_path: Path) -> None:
    data = RNG.integers(0, 1 << 12, SHAPE, dtype="u2")
    array = blizzarr.create_array(tmp_path, data=data, chunks=SHAPE, compressors=_blosc("zstd", "noshuffle", 4096))
    chunk = tmp_path / "c/0/0/0"
    whole = chunk.read_bytes()
    assert len(whole) > 300_000
    chunk.write_bytes(whole[:-2000] + b"\xff" * 2000)
    np.testing.assert_array_equal(array[0], data[0])
    with pytest.raises(CodecError):
        array[63]
    for length in (0, 15, 900, 40_000, len(whole) - 1):
        chunk.write_bytes(whole[:length])
        with pytest.raises(CodecError):
            array[0, 0, 0]
    chunk.write_bytes(whole + b"\1")
    with pytest.raises(CodecError):
        array[0, 0, 0]


SCALED = [
    {"name": "scale_offset", "configuration": {"offset": 0, "scale": 8}},
    {"name": "cast_value", "configuration": {"data_type": "int16"}},
]
ROUNDED = [{"name": "bitround", "configuration": {"keepbits": 10}}]


@pytest.mark.parametrize("packer", ["blosc", "zstd"])
@pytest.mark.parametrize("filters", [[], SCALED, ROUNDED], ids=["plain", "scaled", "rounded"])
@pytest.mark.parametrize("checksums", [0, 1, 2])
def test_codecs_around_do_not_make_all_of_a_chunk_be_decoded(
    tmp_path: Path, packer: str, filters: list[Any], checksums: int
) -> None:
    """Codecs that encode each element alone may come before, and checksums behind, which are of all stored bytes."""
    data = (RNG.integers(0, 1 << 12, (512, 1024)) / 8).astype("f4")
    codec = (
        _blosc("zstd", "noshuffle", 4096)
        if packer == "blosc"
        else {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
    )
    array = blizzarr.create_array(
        tmp_path,
        data=data,
        chunks=data.shape,
        codecs=[
            *filters,
            {"name": "bytes", "configuration": {"endian": "big"}},
            codec,
            *[{"name": "crc32c"}] * checksums,
        ],
    )
    expected = array[...]
    np.testing.assert_allclose(expected, data, rtol=2**-10)
    chunk = tmp_path / "c/0/0"
    whole = chunk.read_bytes()
    for _ in range(20):
        row, column = (int(RNG.integers(0, most)) for most in (500, 1000))
        key = slice(row, row + 9, 2), slice(column, column + 20)
        np.testing.assert_array_equal(array[key], expected[key])
    body = whole[: len(whole) - 4 * checksums]
    damaged = body[:-2000] + b"\xff" * 2000
    for _ in range(checksums):
        damaged = with_crc32c(damaged)
    chunk.write_bytes(damaged)
    np.testing.assert_array_equal(array[0], expected[0])
    with pytest.raises(CodecError):
        array[511]
    if checksums:
        chunk.write_bytes(damaged[:-1] + bytes([damaged[-1] ^ 1]))
        with pytest.raises(CodecError, match="crc32c"):
            array[0, 0]

"""Faults: bombs and lying headers (rows 18 to 22, 24, 27, 28).

Every stage of a chain knows what the stage before it can have made at most, and stops there. More than that is
damage, so it is a `CodecError` like every other wrong size.

Rows 23 and 26 are in `unit/codecs`.
"""

from __future__ import annotations

import itertools
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from blizzarr import config, create_array
from blizzarr import open as open_node
from blizzarr.errors import ChunkError, CodecError, LimitError, MetadataError, UnknownExtensionError
from support.child import answer
from support.damaged import DATA, LAYOUTS, SIZE, TARGET, Damaged, attempt, every_way_refuses
from support.streams import gzip_bomb, gzip_member, with_crc32c, zstd_frame, zstd_zeros

GIB = 1 << 30
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}

BOMBS = {
    "gzip": [gzip_bomb(64)],
    "gzip, crc32c": [with_crc32c(gzip_member(bytes(64 << 20), 9))],
    "gzip, gzip, gzip": [
        gzip_member(gzip_member(gzip_bomb(4096), 9), 9),
        gzip_member(gzip_member(gzip_member(bytes(SIZE + 1)))),
        gzip_member(zlib.compress(bytes(1 << 20))),
    ],
    "zstd": [zstd_zeros(2 * GIB), zstd_zeros(2 * GIB, claim=2 * GIB), zstd_zeros(2 * GIB, claim=SIZE)],
    "crc32c, zstd": [zstd_zeros(2 * GIB), zstd_zeros(2 * GIB, claim=2 * GIB), zstd_zeros(2 * GIB, claim=SIZE)],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", BOMBS)
def test_rows_018_019_020_bombs(codecs: str, layout: str) -> None:
    """4 GiB out of a few KiB, through one stage or three: refused in less than a second, whatever is touched."""
    damaged = Damaged(codecs, layout)
    for bomb in BOMBS[codecs]:
        damaged.plant(bomb)
        every_way_refuses(damaged, CodecError)


def test_row_018_a_bomb_that_is_longer_than_any_chunk() -> None:
    """4 MB of gzip for 4 GiB: more than a chunk of this size can need is not even read."""
    damaged = Damaged("gzip")
    damaged.plant(gzip_bomb(4096))
    every_way_refuses(damaged, CodecError)


LIES = [2**60, 2**63 - 1, 2**63, 2**64 - 1, SIZE + 1, SIZE - 1, 0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", ["zstd", "zstd+checksum", "crc32c, zstd"])
def test_row_021_zstd_claims(codecs: str, layout: str) -> None:
    """A header that claims up to 2^64 - 1 bytes, or a window of up to 2 GiB, makes nobody allocate that much."""
    damaged = Damaged(codecs, layout)
    content = with_crc32c(TARGET.tobytes()) if codecs.startswith("crc32c") else TARGET.tobytes()
    for claim in LIES:
        damaged.plant(zstd_frame([(0, len(content), content)], claim=claim))
        if claim in (len(content), 2**64 - 1):  # to libzstd the largest number means that the size is not known
            assert np.array_equal(damaged.array[...], DATA)
        else:
            every_way_refuses(damaged, CodecError)
    for window in (31, 41):
        damaged.plant(zstd_frame([(0, len(content), content)], window_log=window))
        if window == 31:  # unusual, but legal: memory for it is not needed when the size is known
            assert np.array_equal(damaged.array[...], DATA)
        damaged.plant(zstd_frame([(0, len(content), content)], window_log=window)[:-1])
        every_way_refuses(damaged, CodecError)


def test_rows_018_to_021_memory() -> None:
    """All of them together take less than 64 MiB of memory, and less than 5 seconds."""
    facts = answer(
        """
        from support.damaged import Damaged
        from test_bombs import BOMBS, LIES
        from support.streams import zstd_frame
        Damaged("zstd").array[...]
        before, begun, refused = peak(), time.process_time(), 0
        bombs = [*BOMBS.items(), ("zstd", [zstd_frame([(0, 1, b"x")], claim=lie) for lie in LIES])]
        for codecs, encodings in bombs:
            damaged = Damaged(codecs)
            for encoded in encodings:
                damaged.plant(encoded)
                for key in (..., (8, 0), (slice(9, 12), slice(1, 3))):
                    try:
                        damaged.array[key]
                    except CodecError:
                        refused += 1
        tell(refused=refused, mebibytes=peak() - before, seconds=time.process_time() - begun)
        """
    )
    assert facts["refused"] == 3 * (sum(map(len, BOMBS.values())) + len(LIES))
    assert facts["mebibytes"] < 64
    assert facts["seconds"] < 5


HEADER = {
    "version": (0, "B", [0, 1, 3, 255]),
    "format version": (1, "B", [0, 2, 255]),
    "flags": (2, "B", range(256)),
    "typesize": (3, "B", [0, 1, 2, 3, 5, 8, 16, 255]),
    "nbytes": (4, "i", [0, 1, SIZE - 1, SIZE + 1, 64 << 20, 2**31 - 1, -1, -(2**31)]),
    "blocksize": (8, "i", [0, 1, 3, SIZE - 1, SIZE + 1, 2**31 - 1, -1, -(2**31)]),
    "cbytes": (12, "i", [0, 1, 16, 2**31 - 1, -1, -(2**31)]),
    "start of the first block": (16, "i", [0, 15, 19, 21, 2**31 - 1, -1, -(2**31)]),
    "length of the first split": (20, "i", [0, 1, SIZE - 1, SIZE + 1, 2**31 - 1, -1, -(2**31)]),
}


@pytest.mark.parametrize("layout", ["plain", "shard"])
@pytest.mark.parametrize("codecs", ["blosc-lz4-shuffle", "blosc-zstd-bitshuffle", "blosc-snappy-noshuffle"])
@pytest.mark.parametrize("field", HEADER)
def test_row_022_blosc_header_lies(codecs: str, field: str, layout: str) -> None:
    """Each field at 0, 1, its largest and negative values: an error, or a value made of bytes that are there."""
    damaged = Damaged(codecs, layout)
    offset, form, values = HEADER[field]
    reads = (lambda: damaged.array[8:16, 0:8], lambda: damaged.array[9, 3], lambda: damaged.array[15, 5:7])
    for value, read in itertools.product(values, reads):
        lying = bytearray(damaged.encoded)
        struct.pack_into(f"<{form}", lying, offset, value)
        damaged.plant(bytes(lying))
        found = attempt(read)
        if isinstance(found, ChunkError):
            assert (found.key, found.chunk) == (damaged.key, damaged.layout.chunk)
        else:
            # Only what does not tell sizes can be wrong without being noticed.
            assert field in ("flags", "typesize", "blocksize", "format version"), (field, value)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_022_blosc_stored_bytes_that_are_not_there(layout: str) -> None:
    """18 bytes that say they hold a whole chunk as it is, or 64 MiB: no memory of the process is shown."""
    damaged = Damaged("blosc-lz4-shuffle", layout)
    for size, flags in itertools.product((SIZE, 64 << 20, 2**31 - 1), (0x02, 0x33, 0x12, 0x22)):
        damaged.plant(struct.pack("<4B3I", 2, 1, flags, 4, size, size, 18) + b"xx")
        every_way_refuses(damaged, CodecError)
        damaged.plant(struct.pack("<4B3I", 2, 1, flags, 4, size, size, min(size + 16, 2**31 - 1)) + b"xx")
        every_way_refuses(damaged, CodecError)


def document(**members: object) -> dict[str, bytes]:
    made = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": ["bytes"],
    }
    return {"zarr.json": json.dumps(made | members).encode()}


@pytest.mark.parametrize("name", ["numcodecs.evil", "__main__.Evil", "os.system"])
@pytest.mark.parametrize("inside", [False, True])
def test_row_027_codecs_that_could_run_code(name: str, inside: bool) -> None:
    """Only codecs of the catalogue are ever run: others are refused by name, also inside a shard."""
    chain = [BYTES, {"name": name, "configuration": {"code": "import os"}}]
    if inside:
        options = {"chunk_shape": [2], "codecs": chain, "index_codecs": [BYTES]}
        chain = [{"name": "sharding_indexed", "configuration": options}]
    with pytest.raises(UnknownExtensionError) as caught:
        open_node(document(codecs=chain))[...]
    assert caught.value.extensions == (name,)
    assert name in str(caught.value)


class Evil:
    """A pickle of this runs code when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def test_row_027_pickles_are_not_loaded(tmp_path: Path) -> None:
    """No document has them loaded, whatever else it says; the user does, for the length of a block."""
    elements = np.array([Evil(tmp_path / "ran"), None], object)
    with config.set(allowed_codecs=("pickle",)):
        create_array(tmp_path / "a.zarr", data=elements, filters=[{"id": "pickle"}], zarr_format=2)
    array = open_node(tmp_path / "a.zarr")
    for key in (..., 0, slice(1, 2), [1, 0]):
        with pytest.raises(UnknownExtensionError, match=r'run the code of whoever.*allowed_codecs=\("pickle",\)'):
            array[key]
    with pytest.raises(UnknownExtensionError):
        array[0] = None
    assert not (tmp_path / "ran").exists()
    for name in ("pickle", "numcodecs.pickle"):
        with pytest.raises(MetadataError, match=r"codecs\[1\]"):
            open_node(document(codecs=[BYTES, {"name": name}]))[...]
    with config.set(allowed_codecs=("pickle",)):
        array[...]
    assert (tmp_path / "ran").exists()


def test_row_024_lying_counts_and_lengths_take_no_memory() -> None:
    """A chunk of seven bytes that claims 2^31 - 1 elements, or one of 4 GiB; more in `unit/codecs`."""
    facts = answer(
        """
        import struct
        array = blizzarr.create_array({}, data=["a", "b"], compressors=None)
        assert array[...].tolist() == ["a", "b"]
        before, begun, refused = peak(), time.process_time(), 0
        for count in (2**31 - 1, 2**32 - 1):
            for damaged in (struct.pack("<I", count) + b"abc", struct.pack("<II", 2, count) + b"abc"):
                array.store.set("c/0", damaged)
                for key in (..., 0, slice(1, 2)):
                    try:
                        array[key]
                    except CodecError:
                        refused += 1
        tell(refused=refused, mebibytes=peak() - before, seconds=time.process_time() - begun)
        """
    )
    assert facts["refused"] == 12
    assert facts["mebibytes"] < 16
    assert facts["seconds"] < 5


def test_row_028_a_thousand_codecs() -> None:
    chain = ["bytes"] + [{"name": "gzip", "configuration": {"level": 1}}] * 1000
    with pytest.raises(LimitError, match="at most 64 codecs"):
        open_node(document(data_type="uint8", codecs=chain))


@pytest.mark.parametrize("depth", [17, 40, 300])
def test_row_028_nested_shardings(depth: int) -> None:
    chain: list[object] = ["bytes"]
    for _ in range(depth):
        options = {"chunk_shape": [4], "codecs": chain, "index_codecs": [BYTES]}
        chain = [{"name": "sharding_indexed", "configuration": options}]
    with pytest.raises((LimitError, MetadataError), match=r"nested at most 16 deep|at most 128 levels"):
        open_node(document(data_type="uint8", codecs=chain))


def test_row_028_64_codecs_work() -> None:
    """Up to the cap a long chain is merely slow."""
    chain = ["bytes"] + [{"name": "gzip", "configuration": {"level": 1}}] * 63
    array = open_node(document(data_type="uint8", codecs=chain))
    array[...] = [1, 2, 3, 4]
    assert array[...].tolist() == [1, 2, 3, 4]

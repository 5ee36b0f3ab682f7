"""Faults: the codecs that only v1, v2 and the draft have (rows 4 to 10, 23, 26, 62).

The same chunk as elsewhere, in a v2 array; the class of the error, its fields, the time and that nothing stored changes
are what `every_way_refuses` asserts.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import create_array
from blizzarr import open as open_node
from blizzarr.errors import ChecksumError, CodecError, MetadataError
from blizzarr.stores import MemoryStore
from support.child import answer
from support.damaged import (
    COLUMNS,
    DATA,
    ROWS,
    SIZE,
    Damaged,
    Layout,
    every_way_refuses,
    flipped,
    is_refused_or_right_in_size,
)

BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
COMPRESSORS: dict[str, dict[str, Any]] = {
    "lz4": {"id": "lz4", "acceleration": 1},
    "zlib": {"id": "zlib", "level": 1},
    "gzip": {"id": "gzip", "level": 1},
    "bz2": {"id": "bz2", "level": 1},
    "lzma": {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
    "zstd": {"id": "zstd", "level": 1},
    "blosc": BLOSC,
}
SUMS: dict[str, dict[str, Any]] = {name: {"id": name} for name in ("crc32", "adler32", "fletcher32", "jenkins_lookup3")}
FILTERS: dict[str, dict[str, Any]] = {
    "delta": {"id": "delta", "dtype": "<i4"},
    "astype": {"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<i4"},
    "shuffle": {"id": "shuffle", "elementsize": 4},
    "base64": {"id": "base64"},
}
FLOAT_FILTERS: dict[str, dict[str, Any]] = {
    "bitround": {"id": "bitround", "keepbits": 4},
    "quantize": {"id": "quantize", "digits": 2, "dtype": "<f4"},
    "fixedscaleoffset": {"id": "fixedscaleoffset", "scale": 10, "offset": 0, "dtype": "<f4", "astype": "|u1"},
}


IN_V1 = ("zlib", "bz2", "lzma", "blosc")


class Older(Damaged):
    """An array of v2 with one codec of numcodecs."""

    def __init__(self, codec: dict[str, Any], data: Any = DATA, key: str = "1.0") -> None:
        self.layout = Layout((8, 8), key, (1, 0))
        self.store = MemoryStore()
        place = {"compressors": codec} if codec["id"] in COMPRESSORS else {"filters": [codec], "compressors": None}
        self.array = create_array(
            self.store, name="a", data=data, chunks=(8, 8), fill_value=None, zarr_format=2, **place
        )
        self.key = f"a/{key}"
        self.shard = self.encoded = bytes(self.store.get(self.key))


def refused(damaged: Older, kind: type[CodecError] = CodecError) -> None:
    """All of the common rule, but for elements that `WAYS` could not write."""
    if damaged.array.dtype == DATA.dtype:
        every_way_refuses(damaged, kind)
        return
    before = damaged.store.get(damaged.key)
    for read in (lambda: damaged.array[...], lambda: damaged.array[ROWS, COLUMNS], lambda: damaged.array[8, 0]):
        begun = time.process_time()
        with pytest.raises(kind) as caught:
            read()
        assert time.process_time() - begun < 1
        error = caught.value
        assert (error.array, error.key, error.chunk, error.direction) == ("/a", damaged.key, (1, 0), "decode")
        assert error.codec
        assert error.reason in str(error)
    assert damaged.store.get(damaged.key) == before


@pytest.mark.filterwarnings("ignore:.*zero bytes follow")
@pytest.mark.parametrize("codec", COMPRESSORS)
def test_rows_004_005_008_compressors_of_v2_cut_empty_and_followed_by_something(codec: str) -> None:
    damaged = Older(COMPRESSORS[codec])
    whole = damaged.array[...]
    for kept in range(len(damaged.encoded)):
        damaged.plant(damaged.encoded[:kept])
        refused(damaged)
    # Behind LZMA streams four zeros and their multiples are padding, part of the format.
    for more in (b"\0", b"x", b"\0" * 7, damaged.encoded[:7]):
        damaged.plant(damaged.encoded + more)
        if codec == "blosc" and not any(more):
            # As z5py of 2021 wrote them.
            assert np.array_equal(damaged.array[...], whole)
        else:
            refused(damaged)
    assert np.array_equal(np.asarray(damaged.array[:8]), DATA[:8])


@pytest.mark.parametrize("codec", COMPRESSORS)
@pytest.mark.parametrize("zarr_format", ["v1", "v2", "v3_draft", "v3_draft_zarr_python"])
def test_row_004_in_every_older_format(codec: str, zarr_format: Any) -> None:
    """v1 has arrays at the root only; the draft has a tree for data. v1 does not have every codec."""
    store = MemoryStore()
    name = None if zarr_format == "v1" else "a"
    if zarr_format == "v1" and codec not in IN_V1:
        with pytest.raises(MetadataError, match="compressor"):
            create_array(store, name=name, data=DATA, compressors=COMPRESSORS[codec], zarr_format=zarr_format)
        return
    array = create_array(
        store, name=name, data=DATA, chunks=(8, 8), compressors=COMPRESSORS[codec], zarr_format=zarr_format
    )
    key = next(key for key in store.list() if key.endswith(("1.0", "c1/0")))
    encoded = bytes(store.get(key))
    for kept in {0, 1, 4, 15, 16, len(encoded) // 2, len(encoded) - 4, len(encoded) - 1}:
        store.set(key, encoded[:kept])
        with pytest.raises(CodecError) as caught:
            array[8, 0]
        assert (caught.value.key, caught.value.chunk, caught.value.direction) == (key, (1, 0), "decode")
        assert caught.value.codec


@pytest.mark.parametrize("codec", SUMS)
def test_row_006_sums_of_v2_notice_every_bit(codec: str) -> None:
    damaged = Older(SUMS[codec])
    for bit in range(0, 8 * len(damaged.encoded), 7):
        damaged.plant(flipped(damaged.encoded, bit))
        with pytest.raises(ChecksumError):
            damaged.array[8, 0]
    every_way_refuses(damaged, ChecksumError)
    for kept in (0, 1, 3, 4, SIZE // 2, SIZE, len(damaged.encoded) - 1):
        damaged.plant(damaged.encoded[:kept])
        refused(damaged)


@pytest.mark.parametrize("codec", COMPRESSORS)
def test_row_007_a_flipped_bit_is_an_error_or_a_value_of_the_right_size(codec: str) -> None:
    damaged = Older(COMPRESSORS[codec])
    for bit in range(0, 8 * len(damaged.encoded), 3):
        damaged.plant(flipped(damaged.encoded, bit))
        is_refused_or_right_in_size(damaged)


@pytest.mark.parametrize("codec", [*COMPRESSORS, *SUMS, *FILTERS])
def test_row_010_bytes_of_something_else_in_v2(codec: str) -> None:
    damaged = Older((COMPRESSORS | SUMS | FILTERS)[codec])
    for foreign in (b"<!DOCTYPE html><title>404</title>" * 9, zlib.compress(b"x"), b"PK\3\4" + bytes(60)):
        damaged.plant(foreign)
        refused(damaged)


def test_row_023_the_length_in_an_lz4_header_lies() -> None:
    damaged = Older(COMPRESSORS["lz4"])
    for claim in (0, 1, SIZE - 1, SIZE + 1, 2 * SIZE, 2**31 - 1, 2**31, 2**32 - 1):
        damaged.plant(struct.pack("<I", claim) + damaged.encoded[4:])
        refused(damaged)
        with pytest.raises(CodecError, match=rf"lz4: expected {SIZE} bytes, found {claim:,}"):
            damaged.array[8, 0]


def test_row_023_lying_lengths_behind_another_codec_take_no_memory() -> None:
    """Where the size is not known by the shape, as of text, no more is allocated than the bytes can stand for."""
    facts = answer(
        """
        import struct
        refused = []
        for codec in ({"id": "lz4"}, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}):
            array = blizzarr.create_array({}, data=["a" * 200, "b"], compressors=codec, zarr_format=2)
            key, before, begun = "0", peak(), time.process_time()
            encoded = bytes(array.store.get(key))
            for claim in (2**30, 2**31 - 20, 2**31 - 1):
                at = 0 if codec["id"] == "lz4" else 4
                lies = encoded[:at] + struct.pack("<I", claim) + encoded[at + 4:]
                if at:
                    # One block as long as c-blosc takes, so that the header is plausible.
                    lies = lies[:8] + struct.pack("<I", 700_000_000) + lies[12:]
                array.store.set(key, lies)
                try:
                    array[...]
                except CodecError as error:
                    refused.append([error.key, error.codec, error.direction])
            spent = time.process_time() - begun
            tell(refused=refused, mebibytes=peak() - before, seconds=spent) if codec["id"] == "blosc" else None
        """
    )
    assert [place[::2] for place in facts["refused"]] == [["0", "decode"]] * 6
    assert facts["mebibytes"] < 64
    assert facts["seconds"] < 3


@pytest.mark.parametrize("name", [*FILTERS, *FLOAT_FILTERS])
def test_row_026_filters_with_impossible_lengths(name: str) -> None:
    codec = (FILTERS | FLOAT_FILTERS)[name]
    damaged = Older(codec, (DATA % 20).astype("f4") if name in FLOAT_FILTERS else DATA)
    encoded = damaged.encoded
    for wrong in (b"", b"\xff", encoded[:-1], encoded[: len(encoded) // 2], encoded + b"x", encoded + encoded):
        damaged.plant(wrong)
        refused(damaged)


def test_row_026_packed_booleans_that_cannot_be() -> None:
    """Nine bytes are 64 booleans, of which 7 can be padding at most."""
    damaged = Older({"id": "packbits"}, DATA % 2 == 0)
    for wrong in (
        b"",
        b"\0",
        damaged.encoded[:-1],
        damaged.encoded + b"\0",
        *(bytes([n]) + bytes(8) for n in (1, 7, 8, 9, 255)),
    ):
        damaged.plant(wrong)
        refused(damaged)


@pytest.mark.parametrize("element", [4, 128, 255])
def test_row_026_categories_that_have_no_label(element: int) -> None:
    labels = ["a", "b", "c"]
    damaged = Older(
        {"id": "categorize", "labels": labels, "dtype": "<U1", "astype": "|u1"},
        np.array(labels * 90)[:256].reshape(16, 16),
    )
    damaged.plant(damaged.encoded[:5] + bytes([element]) + damaged.encoded[6:])
    refused(damaged)
    with pytest.raises(CodecError, match=rf"expected a number in \[0, 3\] for element 5, found {element}"):
        damaged.array[...]
    damaged.plant(damaged.encoded[:5] + b"\0" + damaged.encoded[6:])
    assert damaged.array[8, 5] == ""


@pytest.mark.parametrize("dtype", ["<i8", "<U3", "|O", "nonsense", "<i4x", "<M8[s]", ""])
def test_row_062_a_filter_for_another_type(tmp_path: Path, dtype: str) -> None:
    """A delta of 64-bit integers over 63 16-bit ones would make elements of nowhere: refused when it is opened."""
    create_array(
        tmp_path / "a", data=np.arange(63, dtype="<i2"), chunks=63, zarr_format=2, filters=None, compressors=None
    )
    path = tmp_path / "a" / ".zarray"
    document = json.loads(path.read_text()) | {"filters": [{"id": "delta", "dtype": dtype}]}
    path.write_text(json.dumps(document))
    begun = time.process_time()
    with pytest.raises(MetadataError, match=r"filters\[0\]") as caught:
        open_node(tmp_path / "a")
    assert time.process_time() - begun < 1
    assert caught.value.key == ".zarray"
    assert json.loads(path.read_text()) == document

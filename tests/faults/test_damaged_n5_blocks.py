"""Faults: blocks of N5, whose header is not compressed (rows 4, 5, 7, 8, 10, 12, 18, 23).

The same chunk as elsewhere; the class of the error, its fields, the time and that nothing stored changes are what
`every_way_refuses` asserts.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from blizzarr import create_array
from blizzarr.errors import CodecError
from blizzarr.stores import MemoryStore
from support.child import answer
from support.damaged import (
    COLUMNS,
    DATA,
    ROWS,
    SIZE,
    TARGET,
    Damaged,
    Layout,
    every_way_refuses,
    flipped,
    is_refused_or_right_in_size,
)

COMPRESSORS: list[Any] = [None, "gzip", "zlib", "bz2", "lzma", "zstd", "blosc"]
HEADER = struct.pack(">HHII", 0, 2, 8, 8)


class Block(Damaged):
    """An array of N5."""

    def __init__(self, compressor: Any) -> None:
        self.layout = Layout((8, 8), "1/0", (1, 0))
        self.store = MemoryStore()
        self.array = create_array(
            self.store, name="a", data=DATA, chunks=(8, 8), compressors=compressor, zarr_format="n5"
        )
        self.key = "a/1/0"
        self.shard = self.encoded = bytes(self.store.get(self.key))


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
def test_rows_004_005_008_blocks_cut_empty_and_followed_by_something(compressor: Any) -> None:
    damaged = Block(compressor)
    assert damaged.encoded.startswith(HEADER)
    length = len(damaged.encoded)
    for kept in {*range(20), *range(20, length, 7), length - 1}:
        damaged.plant(damaged.encoded[:kept])
        every_way_refuses(damaged, CodecError)
    # Behind LZMA streams four zeros and their multiples are padding, part of the format; z5py wrote zeros behind Blosc.
    zeros = () if compressor == "blosc" else (b"\0", b"\0" * 7)
    for more in (b"x", damaged.encoded[:7], *zeros):
        damaged.plant(damaged.encoded + more)
        every_way_refuses(damaged, CodecError)
    assert np.array_equal(np.asarray(damaged.array[:8]), DATA[:8])


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
def test_row_007_a_flipped_bit_is_an_error_or_a_value_of_the_right_size(compressor: Any) -> None:
    damaged = Block(compressor)
    for bit in [*range(96), *range(96, 8 * len(damaged.encoded), 5)]:
        damaged.plant(flipped(damaged.encoded, bit))
        # No bit of the header may be another one.
        assert is_refused_or_right_in_size(damaged) or bit >= 96


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
def test_row_010_bytes_of_something_else(compressor: Any) -> None:
    damaged = Block(compressor)
    for foreign in (b"<!DOCTYPE html><title>404</title>" * 5, b"PK\3\4" + bytes(60), HEADER, HEADER + HEADER):
        damaged.plant(foreign)
        every_way_refuses(damaged, CodecError)


@pytest.mark.parametrize("compressor", COMPRESSORS[1:], ids=str)
def test_row_018_a_block_that_decodes_to_more(compressor: Any) -> None:
    damaged = Block(compressor)
    large = create_array({}, data=np.ones((256, 256), "int32"), compressors=compressor, zarr_format="n5")
    damaged.plant(HEADER + bytes(large.store.get("0/0"))[12:])
    every_way_refuses(damaged, CodecError)


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
def test_row_023_numbers_in_a_header_that_lie(compressor: Any) -> None:
    damaged = Block(compressor)
    body = damaged.encoded[12:]
    for at, form in ((0, ">H"), (2, ">H"), (4, ">I"), (8, ">I")):
        for claim in (0, 1, 2, 7, 8, 9, 255, 65535, 2**31, 2**32 - 1):
            lies = bytearray(HEADER)
            if claim >= 1 << 8 * struct.calcsize(form):
                continue
            struct.pack_into(form, lies, at, claim)
            if lies == HEADER:
                continue
            damaged.plant(bytes(lies) + body)
            every_way_refuses(damaged, CodecError)
    for count in (0, 63, 65, 2**32 - 1):
        damaged.plant(struct.pack(">HHIII", 1, 2, 8, 8, count) + body)
        every_way_refuses(damaged, CodecError)
    damaged.plant(struct.pack(">HHIII", 1, 2, 8, 8, 64) + body)
    assert np.array_equal(damaged.array[ROWS, COLUMNS], TARGET)


def test_row_023_lying_headers_take_no_memory() -> None:
    facts = answer(
        """
        import struct
        refused = []
        before = peak()
        for compressor in (None, "gzip", "zlib", "bz2", "lzma", "zstd", "blosc"):
            array = blizzarr.create_array(
                {}, shape=(2**13, 2**14), chunks=(2**13, 2**14), dtype="int32", compressors=compressor, zarr_format="n5"
            )
            for header in (
                struct.pack(">HHII", 0, 2, 2**13, 2**14),
                struct.pack(">HHII", 0, 2, 2**13, 2**14 - 1),
                struct.pack(">HHII", 0, 2, 2**32 - 1, 2**32 - 1),
                struct.pack(">HHIII", 1, 2, 2**13, 2**14, 2**32 - 1),
            ):
                array.store.set("0/0", header + b"abc")
                try:
                    array[0, 0]
                except CodecError as error:
                    refused.append([error.key, error.direction])
        tell(refused=refused, mebibytes=peak() - before)
        """
    )
    assert facts["refused"] == [["0/0", "decode"]] * 28
    assert facts["mebibytes"] < 64


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=str)
def test_row_012_a_block_that_is_stored_shorter(compressor: Any) -> None:
    """In N5 it may be; what it lacks is zero, and whoever writes into it stores all of it."""
    damaged = Block(compressor)
    part = create_array({}, data=TARGET[:5, :3], chunks=(5, 3), compressors=compressor, zarr_format="n5")
    damaged.plant(bytes(part.store.get("0/0")))
    expected = np.zeros_like(TARGET)
    expected[:5, :3] = TARGET[:5, :3]
    assert np.array_equal(damaged.array[ROWS, COLUMNS], expected)
    assert np.array_equal(damaged.array[12::-2, 2], np.r_[expected[4::-2, 2], DATA[6::-2, 2]])
    damaged.array[15, 7] = -9
    expected[7, 7] = -9
    assert np.array_equal(damaged.array[ROWS, COLUMNS], expected)
    assert bytes(damaged.store.get(damaged.key)).startswith(HEADER)
    assert expected.nbytes == SIZE

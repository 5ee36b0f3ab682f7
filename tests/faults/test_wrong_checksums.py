"""Faults: the checksum of `crc32c` is checked however little is read (rows 13 to 16)."""

from __future__ import annotations

from pathlib import Path

import pytest

from blizzarr.errors import ChecksumError, ChunkError
from support.damaged import LAYOUTS, SIZE, STORES, Damaged, every_way_refuses
from support.streams import crc32c, with_crc32c


def test_crc32c_by_hand() -> None:
    """The check value of the catalogue of CRCs; the test's own arithmetic is right."""
    assert crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", ["crc32c", "gzip, crc32c"])
def test_rows_013_014_015_wrong_crc32c_is_never_returned(tmp_path: Path, codecs: str, layout: str, store: str) -> None:
    """On full and partial reads and writes; in a shard the neighbours stay readable."""
    damaged = Damaged(codecs, layout, STORES[store](tmp_path))
    for position in (0, len(damaged.encoded) // 2, len(damaged.encoded) - 5, len(damaged.encoded) - 1):
        changed = bytearray(damaged.encoded)
        changed[position] ^= 0x10
        damaged.plant(bytes(changed))
        for error in every_way_refuses(damaged, ChecksumError):
            assert error.codec == "crc32c"
            stored = int.from_bytes(changed[-4:], "little")
            assert f"{stored:08x}" in error.reason
            assert f"{crc32c(bytes(changed[:-4])):08x}" in error.reason


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_016_too_short_for_a_checksum(layout: str) -> None:
    damaged = Damaged("crc32c", layout)
    for length in range(4):
        damaged.plant(bytes(length))
        every_way_refuses(damaged)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_014_a_right_checksum_over_wrong_sizes(layout: str) -> None:
    """A checksum that is right does not make a chunk of the wrong size right."""
    damaged = Damaged("crc32c", layout)
    for size in (0, 4, SIZE - 4, SIZE + 4):
        damaged.plant(with_crc32c(bytes(size)))
        every_way_refuses(damaged, ChunkError)

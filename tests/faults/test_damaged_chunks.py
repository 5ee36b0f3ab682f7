"""Faults: chunks that are cut, overlong, foreign, or a bit away from right (rows 1 to 12, 17)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from blizzarr import create_array
from blizzarr.errors import ChecksumError, ChunkError, CodecError
from support.child import answer
from support.damaged import (
    DATA,
    LAYOUTS,
    SIZE,
    STORES,
    TARGET,
    Damaged,
    attempt,
    codec_names,
    every_way_refuses,
    flipped,
)
from support.streams import gzip_member, with_crc32c, zstd_frame

PLAIN = TARGET.tobytes()


def cut_everywhere(codecs: str, layout: str) -> None:
    damaged = Damaged(codecs, layout)
    # Every length where the chunk lies by itself, the telling ones where it is part of a shard.
    length = len(damaged.encoded)
    lengths = range(length) if layout == "plain" else {0, 1, 4, 15, 16, 17, length // 2, length - 4, length - 1}
    for kept in lengths:
        damaged.plant(damaged.encoded[:kept])
        every_way_refuses(damaged, CodecError)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", codec_names(starting="gzip"))
def test_row_001_gzip_cut_anywhere(codecs: str, layout: str) -> None:
    cut_everywhere(codecs, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", [*codec_names(starting="zstd"), "transpose, zstd", "crc32c, zstd"])
def test_row_002_zstd_cut_anywhere(codecs: str, layout: str) -> None:
    cut_everywhere(codecs, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", codec_names(starting="blosc"))
def test_row_003_blosc_cut_anywhere(codecs: str, layout: str) -> None:
    """All six compressors, all three shuffles: no value is made of bytes that are not there."""
    cut_everywhere(codecs, layout)


def test_rows_001_to_003_say_how_far_the_data_went() -> None:
    """The text has the place, the codec and the byte, as in the design."""
    for codecs, name in (("gzip", "gzip"), ("zstd", "zstd"), ("crc32c", "crc32c")):
        damaged = Damaged(codecs)
        damaged.plant(damaged.encoded[: len(damaged.encoded) // 2])
        with pytest.raises(
            CodecError, match=rf"cannot decode chunk c/1/0 of /a in .+: {name}: data ended after \d+ of 256"
        ):
            damaged.array[8, 0]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", ["raw", "crc32c", "gzip", "zstd", "blosc-lz4-shuffle"])
def test_row_005_empty_chunks_are_not_missing(tmp_path: Path, codecs: str, layout: str, store: str) -> None:
    damaged = Damaged(codecs, layout, STORES[store](tmp_path))
    damaged.plant(b"")
    every_way_refuses(damaged)


@pytest.mark.parametrize("layout", ["plain", "shard"])
@pytest.mark.parametrize("codecs", ["gzip", "zstd+checksum", "crc32c", "gzip, crc32c", "crc32c, zstd"])
def test_row_006_one_flipped_bit_under_a_checksum(codecs: str, layout: str) -> None:
    """No way of reading gives a wrong value; each either refuses or shows what was stored.

    (Bits that mean nothing may be flipped: those of gzip's time stamp, for example.)
    """
    damaged = Damaged(codecs, layout)
    for bit in range(0, 8 * len(damaged.encoded), 3):
        damaged.plant(flipped(damaged.encoded, bit))
        for key in (..., (slice(8, 16), slice(0, 8)), (9, 3), (slice(10, 13), 7)):
            found = attempt(partial(damaged.array.__getitem__, key))
            assert isinstance(found, ChunkError) or np.array_equal(found, DATA[key]), (bit, key)


@pytest.mark.filterwarnings("ignore:.*zero bytes follow")
@pytest.mark.parametrize("codecs", ["raw", "zstd", "blosc-lz4-shuffle", "blosc-zstd-bitshuffle", "gzip-0"])
def test_row_007_one_flipped_bit_without_a_checksum(codecs: str) -> None:
    """The value may be wrong; the process lives, the shape is right, and no other chunk is touched."""
    damaged = Damaged(codecs)
    for bit in range(8 * len(damaged.encoded)):
        damaged.plant(flipped(damaged.encoded, bit))
        found = attempt(partial(damaged.array.__getitem__, ...))
        if isinstance(found, ChunkError):
            continue
        assert found.shape == (16, 16)
        assert np.array_equal(found[:8], DATA[:8])
        assert np.array_equal(found[8:, 8:], DATA[8:, 8:])


@pytest.mark.filterwarnings("ignore:.*zero bytes follow")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", codec_names())
def test_row_008_trailing_bytes_are_an_error_for_every_codec(codecs: str, layout: str) -> None:
    damaged = Damaged(codecs, layout)
    whole = np.asarray(damaged.array[...])
    for tail in (b"\0", b"\0" * 16, b"garbage", damaged.encoded[:7]):
        damaged.plant(damaged.encoded + tail)
        if codecs.startswith("blosc-") and not tail.strip(b"\0"):
            # z5py stored the whole of its buffer, with zeros behind a shorter result.
            np.testing.assert_array_equal(damaged.array[...], whole)
        else:
            every_way_refuses(damaged)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_009_several_members_and_frames_are_one_chunk(layout: str) -> None:
    """RFC 1952 and RFC 8878 allow it: all of them are decoded, skippable zstd frames are skipped."""
    halves = PLAIN[:100], PLAIN[100:]
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip"
    streams = {
        "gzip": [b"".join(map(gzip_member, halves)), b"".join(map(gzip_member, (b"", *halves, b"")))],
        "zstd": [
            b"".join(zstd_frame([(0, len(half), half)]) for half in halves),
            skippable + zstd_frame([(0, SIZE, PLAIN)]) + skippable,
        ],
    }
    for codecs, encodings in streams.items():
        damaged = Damaged(codecs, layout)
        for encoded in encodings:
            damaged.plant(encoded)
            assert np.array_equal(damaged.array[...], DATA)
            assert damaged.array[9, 3] == DATA[9, 3]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", ["raw", "crc32c", "gzip", "zstd", "blosc-lz4-shuffle", "transpose, zstd"])
def test_row_010_bytes_of_something_else(codecs: str, layout: str) -> None:
    """An HTML page, zeros, or what another codec made; the error names the codec that was expected."""
    damaged = Damaged(codecs, layout)
    others = {"html": b"<!DOCTYPE html><html><body>Please log in</body></html>" * 9, "zeros": bytes(300)}
    others |= {name: Damaged(name).encoded for name in ("raw", "gzip", "zstd", "blosc-lz4-shuffle")}
    for other, encoded in others.items():
        if other == codecs or (other, codecs) == ("zstd", "transpose, zstd"):
            continue
        damaged.plant(encoded)
        errors = every_way_refuses(damaged)
        assert {error.codec for error in errors} <= {codecs.split("-")[0].split(", ")[-1], "bytes", "sharding_indexed"}


ENCODERS = {
    "raw": bytes,
    "crc32c": with_crc32c,
    "gzip": gzip_member,
    "gzip, crc32c": lambda data: with_crc32c(gzip_member(data)),
    "zstd": lambda data: zstd_frame([(0, len(data), data)]),
    "blosc-lz4-shuffle": lambda data: b"\2\1\x02\4" + b"".join(
        n.to_bytes(4, "little") for n in (len(data), max(1, len(data)), len(data) + 16)
    ) + data,
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("codecs", ENCODERS)
def test_row_011_sizes_that_are_wrong(codecs: str, layout: str) -> None:
    """Half, one off, empty, an element more, double: an error with both sizes, however little of it is read."""
    damaged = Damaged(codecs, layout)
    damaged.plant(ENCODERS[codecs](PLAIN))
    assert np.array_equal(damaged.array[...], DATA), "the encoder of this test"
    for size in (0, 1, SIZE // 2, SIZE - 4, SIZE - 1, SIZE + 1, SIZE + 4, 2 * SIZE):
        damaged.plant(ENCODERS[codecs]((PLAIN * 2)[:size]))
        for error in every_way_refuses(damaged):
            if error.codec == "sharding_indexed":
                continue  # the index knows the sizes of chunks that are not compressed
            assert str(SIZE) in error.reason, error
            assert "more" in error.reason or str(size) in error.reason or codecs.endswith("crc32c"), error


@pytest.mark.parametrize("codecs", ["raw", "zstd"])
def test_row_012_edge_chunks_stored_at_their_clipped_size(codecs: str) -> None:
    """Some writers clip the chunks at the edge of the array. Here a chunk is always whole: both sizes are named."""
    store: dict[str, bytes] = {}
    compressors = None if codecs == "raw" else "zstd"
    array = create_array(store, shape=(12,), chunks=8, dtype="int16", compressors=compressors)
    array[...] = np.arange(12)
    clipped = np.arange(8, 12, dtype="<i2").tobytes()
    store["c/1"] = clipped if codecs == "raw" else zstd_frame([(0, 8, clipped)])
    for key in (slice(None), 9):
        with pytest.raises(CodecError, match=r"8.*16|16.*8") as caught:
            array[key]
        assert (caught.value.key, caught.value.chunk) == ("c/1", (1,))


def test_row_017_booleans_other_than_0_and_1_are_true() -> None:
    """What C programs store as true is read as true, and only ever written as 1."""
    store: dict[str, bytes] = {}
    array = create_array(store, shape=(4,), chunks=4, dtype="bool", compressors=None)
    store["c/0"] = bytes([0, 1, 2, 255])
    assert array[...].view("uint8").tolist() == [0, 1, 1, 1]
    assert array[2:3].view("uint8").tolist() == [1]
    array[0] = True
    assert store["c/0"] == bytes([1, 1, 1, 1])


def test_row_006_checksum_errors_have_a_class_of_their_own() -> None:
    """Who catches ChecksumError knows that the bytes are not those that were stored."""
    for codecs in ("gzip", "zstd+checksum", "crc32c"):
        damaged = Damaged(codecs)
        last = 8 * (len(damaged.encoded) - (5 if codecs == "gzip" else 1))
        damaged.plant(flipped(damaged.encoded, last))
        every_way_refuses(damaged, ChecksumError)


def test_rows_005_to_012_memory() -> None:
    """All of these chunks, of every codec, one after the other: less than 64 MiB above what the arrays take whole."""
    facts = answer(
        """
        from support.damaged import LAYOUTS, Damaged, codec_names
        refused = read = 0
        for codecs in codec_names():
            Damaged(codecs, "nested").array[...]
        before = peak()
        for codecs in codec_names():
            for layout in LAYOUTS:
                damaged = Damaged(codecs, layout)
                whole = damaged.encoded
                cut = [whole[:length] for length in (0, 1, len(whole) // 2, len(whole) - 1)]
                for wrong in (*cut, whole + b"x", whole + whole, b"<!DOCTYPE html>" * 20, bytes(4096), b"\\xff" * 64):
                    damaged.plant(wrong)
                    for key in (..., (8, 0), (slice(9, 12), slice(1, 3))):
                        try:
                            damaged.array[key]
                            read += 1
                        except ChunkError:
                            refused += 1
        tell(refused=refused, read=read, mebibytes=peak() - before)
        """
    )
    assert facts["refused"] > 9 * facts["read"]
    assert facts["mebibytes"] < 64

"""What is said of chunks: all that are damaged, and nothing about those that are right."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.checking import Finding, Severity
from blizzarr.display.reports import findings_tree
from blizzarr.errors import BlizzarrError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, ZipStore
from support import shards
from support.damaged import DATA, LAYOUTS, Damaged, codec_names, contents
from support.streams import gzip_member

STORES: dict[str, Any] = {"local": LocalStore, "memory": lambda _: MemoryStore(), "mapping": lambda _: MappingStore({})}
KIND = {"plain": "chunk", "shard": "inner-chunk", "shard, index first": "inner-chunk", "nested": "inner-chunk"}


def kinds(findings: list[Finding]) -> list[tuple[str, str | None, tuple[int, ...] | None]]:
    return [(finding.kind, finding.key, finding.chunk) for finding in findings]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fast", [False, True])
def test_what_is_right_has_no_findings(store: str, layout: str, fast: bool, tmp_path: Path) -> None:
    damaged = Damaged("zstd", layout, STORES[store](tmp_path))
    before = contents(damaged.store)
    report = blizzarr.check(damaged.store, fast=fast)
    assert (report.findings, report.ok, report.clean) == ([], True, True)
    assert (report.arrays, report.groups, report.objects) == (1, 1, 4 if layout == "plain" else 1)
    assert report.bytes == sum(len(value) for key, value in before.items() if not key.endswith("json"))
    if not (fast and layout == "nested"):
        assert report.chunks == 4
    assert contents(damaged.store) == before


@pytest.mark.parametrize("codecs", codec_names())
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_chunk_that_is_cut_is_found_whatever_its_codecs(codecs: str, layout: str) -> None:
    damaged = Damaged(codecs, layout)
    damaged.plant(damaged.encoded[:-1])
    (finding,) = blizzarr.check(damaged.store).findings
    assert (finding.path, finding.key, finding.severity) == ("/a", damaged.key, Severity.ERROR)
    fixed = codecs in ("raw", "big-endian", "crc32c")
    if layout == "nested" and fixed:
        # The length that the index of the inner shard gives is not that of its inner chunks.
        assert finding.kind == "shard-index"
    else:
        assert finding.chunk == damaged.layout.chunk
        assert finding.kind in ("checksum", "shard-index", KIND[layout])
        assert finding.codec


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("codecs", ["crc32c", "zstd+checksum", "gzip, crc32c"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_flipped_bit_under_a_checksum_is_found(store: str, codecs: str, layout: str, tmp_path: Path) -> None:
    damaged = Damaged(codecs, layout, STORES[store](tmp_path))
    damaged.plant(damaged.encoded[:-1] + bytes([damaged.encoded[-1] ^ 1]))
    (finding,) = blizzarr.check(damaged.store).findings
    assert (finding.kind, finding.chunk) == ("checksum" if layout == "plain" else "inner-chunk", damaged.layout.chunk)
    assert blizzarr.check(damaged.store, fast=True).findings == []


def test_all_damaged_chunks_are_found_not_the_first() -> None:
    memory = MemoryStore()
    array = blizzarr.create_array(memory, data=np.arange(1, 101), chunks=1)
    for number in range(0, 100, 2):
        memory.set(f"c/{number}", b"no zstd")
    report = blizzarr.check(array)
    assert [finding.chunk for finding in report.findings] == [(number,) for number in range(0, 100, 2)]
    assert {finding.kind for finding in report.findings} == {"chunk"}
    assert (report.objects, report.count(Severity.ERROR)) == (100, 50)
    assert report.findings[0].message == "zstd: data is damaged after about 0 of 8 bytes"


def test_every_inner_chunk_is_named_and_what_is_too_much_is_counted() -> None:
    memory = MemoryStore()
    blizzarr.create_array(memory, data=np.arange(1, 1301, dtype="int16"), chunks=1, shards=1300)
    body, entries = shards.split(bytes(memory.get("c/0") or b""), 1300)
    memory.set("c/0", shards.join(bytes(len(body)), entries))
    report = blizzarr.check(memory)
    assert len(report.findings) == 1000
    assert (report.left_out, report.chunks) == (300, 1300)
    assert {finding.kind for finding in report.findings} == {"inner-chunk"}
    assert "and 300 more inner chunks" in str(report)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ((10**6, 30), "reaches beyond the shard's"),
        ((shards.MAX, 30), "is half missing"),
        ((0, shards.MAX), "is half missing"),
        ((2**63 - 2, 30), "overflows 63 bits"),
        ((0, 0), "is empty"),
        ((0, 10**5), "reaches beyond the shard's"),
    ],
)
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("store", STORES)
def test_entries_that_cannot_be_are_found_also_by_a_fast_check(
    entry: tuple[int, int], said: str, fast: bool, store: str, tmp_path: Path
) -> None:
    damaged = Damaged("zstd", "shard", STORES[store](tmp_path))
    body, entries = shards.split(damaged.shard, 4)
    entries[3] = entry
    damaged.store.set(damaged.key, shards.join(body, entries))
    (finding,) = blizzarr.check(damaged.store, fast=fast).findings
    assert (finding.kind, finding.chunk, finding.repairable) == ("shard-index", (0, 0, 1, 1), True)
    assert said in finding.message


def test_entries_that_overlap_are_damage_and_equal_ones_a_note() -> None:
    damaged = Damaged("raw", "shard")
    body, entries = shards.split(damaged.shard, 4)
    (offset, length), kept = entries[1], entries[0]
    entries[1] = offset - 8, length
    damaged.store.set(damaged.key, shards.join(body, entries))
    (finding,) = blizzarr.check(damaged.store).findings
    assert (finding.kind, finding.chunk) == ("shard-index", (0, 0, 0, 1))
    assert finding.message.endswith("overlaps that of entry 0")
    entries[1] = kept
    damaged.store.set(damaged.key, shards.join(body, entries))
    report = blizzarr.check(damaged.store)
    assert [(finding.kind, finding.message) for finding in report.findings] == [
        ("shared", "1 inner chunks are the bytes of others")
    ]
    assert report.clean


def test_bytes_that_several_entries_name_are_lost_to_each_of_them() -> None:
    damaged = Damaged("crc32c", "shard")
    body, entries = shards.split(damaged.shard, 4)
    entries[2] = entries[0]
    damaged.store.set(damaged.key, shards.join(bytes([body[0] ^ 1]) + body[1:], entries))
    report = blizzarr.check(damaged.store)
    assert kinds(report.of_kind("inner-chunk")) == [
        ("inner-chunk", "a/c/0/0", (0, 0, 0, 0)),
        ("inner-chunk", "a/c/0/0", (0, 0, 1, 0)),
    ]
    assert report.chunks == 4


@pytest.mark.parametrize("cut", [0, 3, 67])
def test_a_shard_without_its_index_is_found(cut: int) -> None:
    damaged = Damaged("zstd", "shard")
    damaged.store.set(damaged.key, damaged.shard[:cut])
    (finding,) = blizzarr.check(damaged.store, fast=True).findings
    assert (finding.kind, finding.chunk, finding.repairable) == ("shard-index", (0, 0), False)
    assert finding.message == f"sharding_indexed: a shard of {cut} bytes is shorter than its index of 68 bytes"


def test_an_index_with_a_wrong_checksum_is_found() -> None:
    damaged = Damaged("zstd", "shard")
    damaged.store.set(damaged.key, damaged.shard[:-1] + bytes([damaged.shard[-1] ^ 1]))
    (finding,) = blizzarr.check(damaged.store, fast=True).findings
    assert (finding.kind, finding.codec, finding.repairable) == ("shard-index", "crc32c", True)


def test_several_frames_and_members_are_right() -> None:
    for codecs in ("gzip", "zstd"):
        damaged = Damaged(codecs)
        raw = DATA[8:, :8].tobytes()
        if codecs == "gzip":
            damaged.plant(gzip_member(raw[:100]) + gzip_member(raw[100:]))
        else:
            half = Damaged("zstd")
            half.plant(half.encoded)
            frame = b"\x28\xb5\x2f\xfd\x20\x80\x01\x04\x00"
            damaged.plant(frame + raw[:128] + frame + raw[128:])
        assert blizzarr.check(damaged.store).findings == []


def test_missing_chunks_and_huge_sparse_arrays_are_right() -> None:
    memory = MemoryStore()
    array = blizzarr.create_array(memory, shape=(2**30, 2**32), chunks=(8, 8), dtype="int32")
    array[2**29, 5] = 7
    report = blizzarr.check(memory)
    assert (report.findings, report.objects, report.chunks) == ([], 1, 1)


@pytest.mark.parametrize("fast", [False, True])
def test_an_empty_object_is_damage_not_a_missing_chunk(fast: bool) -> None:
    for codecs in ("zstd", "raw", "gzip", "blosc-lz4-shuffle"):
        damaged = Damaged(codecs)
        damaged.plant(b"")
        assert kinds(blizzarr.check(damaged.store, fast=fast).findings) == [("chunk", "a/c/1/0", (1, 0))]


def test_objects_texts_and_scalars_are_checked() -> None:
    memory: dict[str, Any] = {}
    root = blizzarr.create_group(memory)
    root.create_array("texts", data=np.array(["a", "bc", "d"] * 100, object), chunks=50)
    root.create_array("scalar", data=np.float64(3))
    root.create_array("none", shape=(0, 3), dtype="int8")
    assert blizzarr.check(memory).findings == []
    memory["texts/c/2"] = memory["texts/c/2"][:-2]
    memory["scalar/c"] = b"123"
    found = blizzarr.check(memory).findings
    assert kinds(found) == [("chunk", "scalar/c", ()), ("chunk", "texts/c/2", (2,))]


def test_a_zip_file_is_checked(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        array = blizzarr.create_array(store, data=DATA, chunks=(8, 8))
        assert array.shape == (16, 16)
        store.set("c/0/9", b"x")
    report = blizzarr.check(tmp_path / "a.zip")
    assert [finding.kind for finding in report.findings] == ["outside"]
    with pytest.raises(BlizzarrError, match="cannot replace or delete"):
        blizzarr.check(tmp_path / "a.zip", repair=True)


def test_progress_counts_objects() -> None:
    memory = MemoryStore()
    root = blizzarr.create_group(memory)
    for name in "ab":
        root.create_array(name, data=np.arange(1, 301), chunks=1)
    told: list[tuple[int, int]] = []
    blizzarr.check(memory, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 600)
    assert told[-1] == (600, 600)
    assert told == sorted(told)
    assert len(told) > 4


def test_chunks_may_come_and_go_meanwhile(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path, data=np.arange(1, 2001), chunks=10, shards=100)
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            array[(number * 37) % 1900 :][:100] = 0 if number % 3 else number

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            assert blizzarr.check(tmp_path).findings == []
    finally:
        stop.set()
        writer.join()


def test_what_cannot_be_decoded_here_is_no_damage() -> None:
    memory: dict[str, Any] = {}
    with blizzarr.config.set(allowed_codecs=("pickle",)):
        blizzarr.create_array(
            memory, data=np.array([1, "a"], object), chunks=1, zarr_format=2, serializer={"id": "pickle"}
        )
    report = blizzarr.check(memory)
    assert [(finding.kind, finding.severity) for finding in report.findings] == [("not-supported", Severity.WARNING)]
    assert not report.ok
    assert "pickle" in report.findings[0].message


@pytest.mark.parametrize("name", ["a", "A/1/0/0", "0/0/0/0"])
def test_inner_chunks_are_named_whatever_digits_the_path_has(name: str) -> None:
    """The name of an image in a plate of OME-Zarr ends like the position of a chunk."""
    memory: dict[str, bytes] = {}
    shards_of = {"shards": (4, 4), "chunks": (2, 2), "compressors": "gzip"}
    blizzarr.create_group(memory)
    blizzarr.create_array(memory, name=name, data=np.arange(64).reshape(8, 8), **shards_of)
    key = f"{name}/c/0/0"
    memory[key] = memory[key][:10] + b"\0" + memory[key][11:]
    report = blizzarr.check(memory)
    (finding,) = report.findings
    assert (finding.key, finding.chunk, finding.inner) == (key, (0, 0, 0, 0), (0, 0))
    line = findings_tree(report, 9).children[0].children[0].children[0].label
    assert str(line).startswith("c/0/0 [0, 0]  gzip: ")

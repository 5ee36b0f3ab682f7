"""Faults: listings, zip files, memory (rows 25, 76, 121 to 123).

What a zip file can have wrong is told in `tests/unit/stores/test_zip_store.py`; here it is met through arrays.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, LimitError, StoreError
from blizzarr.stores import MemoryStore, ZipStore
from support.child import answer
from support.damaged import STORES

KINDS = {**STORES, "zip": lambda folder: ZipStore(folder / "store.zip", "w")}


@pytest.mark.parametrize("kind", KINDS)
def test_row_121_listings(tmp_path: Path, kind: str) -> None:
    """More than a thousand keys; a key beside a prefix of its name; odd characters: exactly the right members."""
    store = KINDS[kind](tmp_path)
    group = blizzarr.create_group(store)
    names = ["foo", "foobar", "foo.bar", "foo-", "ü", "a b", "100%", "#1", "x?y", "[0]", "zarr"]
    for name in names:
        group.create_group(name)
    many = group.create_array("many", shape=1500, chunks=1, dtype="int8")
    many[...] = 1
    group["foo"].create_array("inner", shape=1, dtype="int8")
    store.set("foo/readme.txt", b"beside")
    assert sorted(group) == sorted([*names, "many"])
    assert sorted(group["foo"]) == ["inner"]
    assert list(group["foobar"]) == []
    assert many.nchunks_initialized == 1500
    assert len(list(store.list("many/"))) == 1501
    assert sorted(store.list("foo/")) == ["foo/inner/zarr.json", "foo/readme.txt", "foo/zarr.json"]
    assert [list(part) for part in store.list_dir("foo")] == [["foo/readme.txt", "foo/zarr.json"], ["foo/inner/"]]
    if kind != "zip":
        store.delete("foo/readme.txt")
        del group["foo"]
        assert sorted(group) == sorted({*names, "many"} - {"foo"})


def test_row_121_directories_without_nodes_are_no_members(tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"")
    assert list(group) == []


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "array.zip"
    with ZipStore(path, "w") as store:
        array = blizzarr.create_array(store, name="a", shape=64, chunks=16, dtype="int32", compressors=None)
        array[...] = np.arange(1, 65)
    return path


def change_directory(path: Path, name: str, offset: int, value: bytes) -> None:
    """Change what the directory of a zip file says of one entry."""
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\1\2", 0, data.rindex(name.encode()))
    data[at + offset : at + offset + len(value)] = value
    path.write_bytes(data)


LIES: dict[str, Callable[[Path], None]] = {
    "encrypted": lambda path: change_directory(path, "a/c/2", 8, b"\1\0"),
    "method 12": lambda path: change_directory(path, "a/c/2", 10, b"\x0c\0"),
    "method 99": lambda path: change_directory(path, "a/c/2", 10, b"\x63\0"),
    "wrong size": lambda path: change_directory(path, "a/c/2", 24, struct.pack("<I", 60)),
    "wrong stored size": lambda path: change_directory(path, "a/c/2", 20, struct.pack("<I", 60)),
    "bomb": lambda path: change_directory(path, "a/c/2", 10, b"\x08\0" + bytes(12) + struct.pack("<I", 0xFFFFFFF0)),
}


@pytest.mark.filterwarnings("ignore:.*its directory has a wrong checksum")
@pytest.mark.parametrize("lie", LIES)
def test_rows_025_122_entries_that_cannot_be_read_are_not_missing(archive: Path, lie: str) -> None:
    """An error that names the entry and the array; never fill value; the other chunks stay readable."""
    LIES[lie](archive)
    array = blizzarr.open(archive, mode="r", path="a")
    for key in (..., 40, slice(33, 35)):
        with pytest.raises((StoreError, LimitError)) as caught:
            array[key]
        assert caught.value.key == "a/c/2"
        assert "a/c/2" in str(caught.value)
    assert array[:32].tolist() == list(range(1, 33))
    assert array[48:].tolist() == list(range(49, 65))


@pytest.mark.filterwarnings("ignore:.*its directory has a wrong checksum")
@pytest.mark.parametrize("key", [..., 40])
def test_row_122_wrong_crc(archive: Path, key: object) -> None:
    """A chunk that is read as a whole is checked against the checksum of its entry."""
    change_directory(archive, "a/c/2", 16, b"\0\0\0\0")
    array = blizzarr.open(archive, mode="r", path="a")
    with pytest.raises(StoreError, match=r"the record at byte .* disagree: there is the checksum"):
        array[key]


def test_row_122_cut_and_lengthened_files(archive: Path, tmp_path: Path) -> None:
    """No cut opens with chunks missing; bytes in front of it and a long or cut comment do no harm."""
    whole = archive.read_bytes()
    other = tmp_path / "other.zip"
    end = whole.rindex(b"PK\5\6") + 20
    for kept in range(0, end + 2, 7):
        other.write_bytes(whole[:kept])
        with pytest.raises(BlizzarrError):
            blizzarr.open(other, mode="r", path="a")
    commented = whole[:end] + struct.pack("<H", 60_000) + bytes(60_000)
    for data in (b"#!/bin/sh\n" + whole, commented, whole[: end + 2], whole[:-1]):
        other.write_bytes(data)
        assert blizzarr.open(other, mode="r", path="a")[...].tolist() == list(range(1, 65))


def test_row_025_a_bomb_in_bounded_memory(tmp_path: Path) -> None:
    """An entry of 2 MB that inflates to 2 GiB costs an error."""
    path = tmp_path / "bomb.zip"
    blizzarr.create_array(path, shape=64, chunks=64, dtype="uint8", compressors=None).store.close()
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as made, made.open("c/0", "w") as entry:
        for _ in range(256):
            entry.write(bytes(1 << 20))
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", (2 << 30) - 1)
    path.write_bytes(data)
    facts = answer(
        """
        array = blizzarr.open(ARGUMENTS["path"], mode="r")
        before, begun = peak(), time.process_time()
        try:
            array[...]
        except (LimitError, StoreError) as error:
            seconds = time.process_time() - begun
            tell(kind=type(error).__name__, key=error.key, mebibytes=peak() - before, seconds=seconds)
        """,
        path=str(path),
    )
    assert facts["kind"] == "LimitError"
    assert facts["key"] == "c/0"
    assert facts["mebibytes"] < 64
    assert facts["seconds"] < 3


@pytest.mark.parametrize("shards", [None, 64])
def test_row_025_a_chunk_that_expands_beyond_its_size(tmp_path: Path, shards: int | None) -> None:
    """128 KB for 128 MiB, honestly announced: no more is decompressed than a chunk of this array can need."""
    path = tmp_path / "bomb.zip"
    options = {"shape": 64, "chunks": 16 if shards else 64, "shards": shards, "dtype": "uint8", "compressors": None}
    blizzarr.create_array(path, **options).store.close()
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as made, made.open("c/0", "w") as entry:
        for _ in range(128):
            entry.write(bytes(1 << 20))
    facts = answer(
        """
        array = blizzarr.open(ARGUMENTS["path"], mode="r")
        before, texts = peak(), []
        for read in (lambda: array[...], lambda: blizzarr.check(array).findings[0].message):
            try:
                texts.append(str(read()))
            except CodecError as error:
                texts.append(str(error))
        tell(texts=texts, mebibytes=peak() - before)
        """,
        path=str(path),
    )
    assert "is longer than the" in facts["texts"][1]
    assert "is longer than the" in facts["texts"][0] or shards
    assert facts["mebibytes"] < 16


def test_row_025_a_document_that_expands(tmp_path: Path) -> None:
    """200 KB for 300 MB: no more of it is decompressed than a document may have."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, made.open("zarr.json", "w") as entry:
        for _ in range(300):
            entry.write(b" " * (1 << 20))
    with pytest.raises(BlizzarrError, match="at most 268,435,456 bytes, found 268,435,457"):
        blizzarr.open(path, mode="r")


def test_row_076_entries_that_lead_out(archive: Path, tmp_path: Path) -> None:
    """They are passed over with a warning that names them; the rest is readable; nothing outside is touched."""
    with zipfile.ZipFile(archive, "a") as made:
        for name in ("../x", "/abs", "a\\..\\x", "a//b"):
            made.writestr(name, b"evil")
        link = zipfile.ZipInfo("a/c/3")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr(link, "/etc/passwd")
    with pytest.warns(UserWarning, match=r"\.\./x"):
        array = blizzarr.open(archive, mode="r", path="a")
    assert array[:48].tolist() == list(range(1, 49))
    with pytest.raises(StoreError, match="symbolic link, which is not followed"):
        array[48]
    assert not (tmp_path / "x").exists()
    assert all(".." not in key and not key.startswith("/") for key in array.store.list())


@pytest.mark.parametrize(("encoding", "link"), [("default", "a/c"), ("v2", "a/0")])
def test_row_076_a_link_in_the_place_of_a_directory(tmp_path: Path, encoding: str, link: str) -> None:
    """What lies behind it is not missing: `zip -y` stores links of directories so, and their chunks are elsewhere."""
    kept: dict[str, bytes] = {}
    encoded = {"name": encoding, "configuration": {"separator": "/"}}
    blizzarr.create_array(kept, name="a", data=np.ones((2, 2)), chunks=1, chunk_key_encoding=encoded)
    with zipfile.ZipFile(tmp_path / "linked.zip", "w") as made:
        for key, value in kept.items():
            if not key.startswith(f"{link}/"):
                made.writestr(key, bytes(value))
        entry = zipfile.ZipInfo(link)
        entry.create_system, entry.external_attr = 3, 0o120777 << 16
        made.writestr(entry, "../elsewhere")
    array = blizzarr.open(tmp_path / "linked.zip", mode="r", path="a")
    with pytest.raises(StoreError, match=f"a/.*0/0.*{link!r} is a symbolic link, which is not followed"):
        array[0]
    with pytest.raises(StoreError, match="a symbolic link"):
        blizzarr.copy(array, {})
    assert "a symbolic link" in str(blizzarr.check(tmp_path / "linked.zip"))


def test_row_076_duplicates_the_last_counts(archive: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(archive, "a") as made:
        made.writestr("a/c/0", np.full(16, 7, "<i4").tobytes())
    assert blizzarr.open(archive, mode="r", path="a")[:17].tolist() == [7] * 16 + [17]


def test_row_123_memory_keeps_what_was_written() -> None:
    """Changing the array, or the bytes, that were given to a memory store changes nothing in it, and the reverse."""
    for codecs in (None, "zstd"):
        store = MemoryStore()
        data = np.arange(16, dtype="int32")
        array = blizzarr.create_array(store, data=data, chunks=16, compressors=codecs)
        data[...] = -1
        assert array[...].tolist() == list(range(16))
        found = array[...]
        found[...] = -2
        assert array[...].tolist() == list(range(16))
    value = bytearray(b"abc")
    store.set("k", value)
    value[0] = 0
    assert bytes(store.get("k")) == b"abc"
    assert memoryview(store.get("k")).readonly

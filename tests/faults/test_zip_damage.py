"""Faults: zip files that are damaged (row 122), no files (row 74), or whose writer is killed (row 82).

The directory of a zip file has no checksum, but nothing in it may hide an entry: chunks that are not listed would read
as fill values. What a damaged value does is in `test_faulty_stores.py`.
"""

from __future__ import annotations

import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ArchiveError, BlizzarrError, ConflictError, StoreError
from blizzarr.stores import ZipStore
from blizzarr.stores.zip.directory import read_directory
from support.child import Child
from support.zip_files import WRITERS, ours, ours_in_two_parts, python, python_with_data_descriptors

DATA = np.arange(1, 13, dtype="uint8")


def described() -> dict[str, bytes]:
    """The keys and values of a small array without an element that is the fill value."""
    memory: dict[str, bytes] = {}
    array = blizzarr.create_array(memory, data=DATA, chunks=6, compressors=None)
    assert array.nchunks_initialized == 2
    return {key: bytes(value) for key, value in memory.items()}


SOME = ("ours", "64-bit records", "zarr-python")
"""One of each kind of directory; `make soak` tries every bit of the others'."""


def outcome(path: Path) -> list[int] | None:
    """All elements, or None if there was an error."""
    try:
        return blizzarr.open_array(path, mode="r")[...].tolist()
    except BlizzarrError:
        return None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("writer", [w if w in SOME else pytest.param(w, marks=pytest.mark.thorough) for w in WRITERS])
def test_row_122_every_bit_of_the_directory(tmp_path: Path, writer: str) -> None:
    """Whichever is flipped: an error, or all elements. What is written after that never makes it worse."""
    path, changed = tmp_path / "x.zip", tmp_path / "changed.zip"
    WRITERS[writer](path, described())
    whole = path.read_bytes()
    assert outcome(path) == DATA.tolist()
    with zipfile.ZipFile(path) as archive:
        begin = archive.start_dir
    refused = 0
    for bit in range(8 * begin, 8 * len(whole)):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        changed.write_bytes(data)
        found = outcome(changed)
        assert found in (None, DATA.tolist()), bit
        if found is not None and bit % 7:
            continue
        try:
            with ZipStore(changed, "a") as store:
                store.set("note", b"added")
        except BlizzarrError:
            assert changed.read_bytes() == data, bit
            refused += 1
        else:
            assert found is not None, bit
            assert outcome(changed) == DATA.tolist(), bit
    assert refused > 0


@pytest.mark.parametrize("mode", ["r", "a"])
def test_row_122_the_count_of_entries(tmp_path: Path, mode: str) -> None:
    """One bit less in it would hide the last entry; the error says what was found, and the file stays as it is."""
    path = tmp_path / "x.zip"
    python(path, described())
    data = bytearray(path.read_bytes())
    assert data[-12] == data[-14] == 3
    data[-12] = data[-14] = 2  # both copies of the count
    path.write_bytes(data)
    with pytest.raises(
        ArchiveError, match=r"x\.zip: the directory .* is damaged: its .* bytes hold more than the 2 ent"
    ):
        blizzarr.open(path, mode=mode)
    with pytest.raises(ArchiveError):
        blizzarr.check(path)
    assert path.read_bytes() == data


@pytest.mark.filterwarnings("ignore:.*the last writer added was never listed")
@pytest.mark.parametrize("length", [0, 1, 40, 200])
def test_row_082_what_an_interrupted_writer_left_is_cut_off(tmp_path: Path, length: int) -> None:
    """Otherwise what a second interrupted writer leaves behind it could not be told from damage."""
    path = tmp_path / "x.zip"
    ours(path, described())
    listed = path.stat().st_size
    store = ZipStore(path, "a")
    store.set("lost", bytes(100))
    path.with_suffix(".kept").write_bytes(path.read_bytes()[: listed + length])
    store.close()
    path.with_suffix(".kept").replace(path)
    with ZipStore(path, "a") as store:
        store.set("note", b"1")
        assert path.read_bytes()[listed:].startswith(b"PK\3\4")
        copied = path.read_bytes()
    assert sorted(ZipStore(path).list()) == ["c/0", "c/1", "note", "zarr.json"]
    path.write_bytes(copied)
    assert sorted(ZipStore(path).list()) == ["c/0", "c/1", "zarr.json"]


@pytest.mark.parametrize("writer", ["ours", "Python"])
def test_row_122_a_record_in_the_place_of_another(tmp_path: Path, writer: str) -> None:
    """No name is wrong then, but one is missing."""
    path = tmp_path / "x.zip"
    WRITERS[writer](path, described())
    data = path.read_bytes()
    ends = data.rindex(b"PK\5\6")
    last = data.rindex(b"PK\1\2")
    before = data.rindex(b"PK\1\2", 0, last)
    assert last - before == ends - last
    path.write_bytes(data[:last] + data[before:last] + data[ends:])
    with pytest.raises(ArchiveError, match=r"damaged: entry 'c/\d' is there twice"):
        ZipStore(path)


@pytest.mark.filterwarnings("error")
def test_row_122_names_of_another_program_when_a_key_is_missing(tmp_path: Path) -> None:
    """Among more entries than are compared at once; a listing compares all, and so does a writer."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1000):
            archive.writestr(f"c/{number}", b"1")
    data = path.read_bytes()
    at = data.rindex(b"c/777")
    data = data[:at] + b"c/77w" + data[at + 5 :]  # one bit from "c/777"
    path.write_bytes(data)
    store = ZipStore(path, "a")
    assert store.get("c/1000") is None
    for use in (lambda: store.get("c/777"), store.list, lambda: store.set("a", b"")):
        with pytest.raises(ArchiveError, match="c/777"):
            use()
    assert path.read_bytes() == data


def damaged_entry(data: bytearray, key: bytes, name: bytes, offset: Callable[[int], int]) -> None:
    """Give the entry of a key in the directory a name that begins like this, and another offset."""
    at = data.rindex(key) - 46
    assert data[at : at + 4] == b"PK\1\2"
    where = int.from_bytes(data[at + 42 : at + 46], "little")
    data[at + 42 : at + 46] = offset(where).to_bytes(4, "little")
    shorter = len(key) - len(name)  # which the extra field becomes longer
    for field, change in ((28, -shorter), (30, shorter)):
        length = int.from_bytes(data[at + field : at + field + 2], "little") + change
        data[at + field : at + field + 2] = length.to_bytes(2, "little")
    data[at + 46 : at + 46 + len(name)] = name
    if name == b"c1/":  # which passes for a directory if it is empty
        data[at + 20 : at + 28] = bytes(8)


@pytest.mark.filterwarnings("ignore:.*entry 'c/'")
@pytest.mark.parametrize("writer", sorted({name for name in WRITERS if "ours" not in name} | {"a zip file in it"}))
@pytest.mark.parametrize("name", [b"co1", b"c/", b"c", b"c1/"])
@pytest.mark.parametrize(
    "offset",
    [lambda where: where, lambda where: where ^ 1, lambda where: where ^ 1 << 20, lambda where: 0],
    ids=["right", "no record", "beyond", "another record"],
)
def test_row_122_a_name_and_an_offset(tmp_path: Path, writer: str, name: bytes, offset: Callable[[int], int]) -> None:
    """Whichever record the offset leads to, the chunk is not taken for missing."""
    path = tmp_path / "x.zip"
    if writer == "a zip file in it":
        python(tmp_path / "inner.zip", described())
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("inner.zip", (tmp_path / "inner.zip").read_bytes().replace(b"c/0", b"c/4"))
            for key, value in described().items():
                archive.writestr(key, value)
    else:
        WRITERS[writer](path, described())
    data = bytearray(path.read_bytes())
    if writer == "a zip file in it" and offset(1) == 0:
        offset = lambda where: data.index(b"PK\3\4", 4)  # noqa: E731
    damaged_entry(data, b"c/1", name, offset)
    path.write_bytes(data)
    for use in (
        lambda: blizzarr.open_array(path, mode="r")[...],
        lambda: blizzarr.open_array(path, mode="r").nchunks_initialized,
        lambda: blizzarr.copy(path, {}),
        lambda: blizzarr.diff(path, described()),
        lambda: blizzarr.check(path),
        lambda: ZipStore(path, "a").set("note", b""),
    ):
        with pytest.raises(ArchiveError, match=r"damaged|disagree"):
            use()
    assert path.read_bytes() == data


def test_row_122_an_offset_among_many_entries(tmp_path: Path) -> None:
    """The other entries can be read; a listing, and what differs from the name in one bit, is an error."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1000):
            archive.writestr(f"c/{number}", b"1")
    data = bytearray(path.read_bytes())
    damaged_entry(data, b"c/777", b"c/77w", lambda where: where + 1)
    path.write_bytes(data)
    store = ZipStore(path)
    assert store.get("c/1000") is None
    assert store.get("c/778") == b"1"
    with pytest.raises(ArchiveError, match=r"where it says that 'c/77w' begins, is no such entry"):
        store.get("c/777")
    with pytest.raises(ArchiveError, match=r"is no such entry"):
        store.list()


def test_row_122_a_size_and_a_value(tmp_path: Path) -> None:
    """A value that is said to be longer than the chunk, of which only the beginning would be needed: it has none."""
    path = tmp_path / "x.zip"
    python_with_data_descriptors(path, described())
    data = bytearray(path.read_bytes())
    data[data.index(b"c/1") + 3 + 1] ^= 1
    data[data.rindex(b"c/1") - 46 + 26] ^= 1
    path.write_bytes(data)
    array = blizzarr.open_array(path, mode="r")
    assert array[:6].tolist() == DATA[:6].tolist()
    with pytest.raises(ArchiveError, match=r"c/1 in .*expected 65,542 bytes as its directory says, found 6"):
        array[...]


def test_row_122_a_directory_in_the_place_of_a_chunk(tmp_path: Path) -> None:
    """As in a directory that was not packed, it is no missing chunk; other directories are in nobody's way."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for key, value in {"c/": b"", "d/": b"", **described()}.items():
            archive.writestr("c/1/" if key == "c/1" else key, b"" if key == "c/1" else value)
    array = blizzarr.open_array(path, mode="r")
    assert array[:6].tolist() == DATA[:6].tolist()
    with pytest.raises(StoreError, match=r"c/1 in .*expected a value, found a directory"):
        array[...]
    (tmp_path / "unpacked").mkdir()
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "unpacked")
    with pytest.raises(StoreError, match="found a directory"):
        blizzarr.open_array(tmp_path / "unpacked")[...]


def test_row_122_other_programs_keep_our_comment(tmp_path: Path) -> None:
    """It has the checksum of a directory that is another one by then."""
    path = tmp_path / "x.zip"
    ours(path, described())
    with zipfile.ZipFile(path, "a") as archive:
        assert archive.comment.startswith(b"directory at ")
        archive.writestr("note", b"added")
        comment = archive.comment
    assert zipfile.ZipFile(path).comment == comment
    assert ZipStore(path).get("note") == b"added"
    assert outcome(path) == DATA.tolist()


@pytest.mark.parametrize("mode", ["r", "a"])
def test_row_074_what_is_no_file(tmp_path: Path, mode: str) -> None:
    """It is not waited for, and the error says what it is."""
    os.mkfifo(tmp_path / "x.zip")
    (tmp_path / "device.zip").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.zip"))
        for name, kind in {"x.zip": "a FIFO", "device.zip": "a device", "s.zip": "a socket"}.items():
            with pytest.raises(StoreError, match=f"{name}: expected a file, found {kind}$"):
                blizzarr.open(tmp_path / name, mode=mode)
    with pytest.raises(StoreError, match="found a FIFO"):
        blizzarr.copy(DATA, tmp_path / "x.zip")


@pytest.mark.parametrize("begins", [b"", b"PK\3\4" + bytes(26), b"PK\5\6" + bytes(18)])
def test_row_122_a_sparse_file_is_not_searched(tmp_path: Path, begins: bytes) -> None:
    """A tebibyte of zeros without an end record: only the ends are read."""
    path = tmp_path / "x.zip"
    path.write_bytes(begins)
    os.truncate(path, 1 << 40)
    read: list[int] = []
    descriptor = os.open(path, os.O_RDONLY)
    try:

        def read_at(offset: int, length: int) -> bytes:
            read.append(length)
            return os.pread(descriptor, length, offset)

        if begins.startswith(b"PK\5\6"):
            assert read_directory(read_at, 1 << 40, "x").entries == {}  # of an interrupted writer
        else:
            with pytest.raises(ArchiveError, match="expected a zip file"):
                read_directory(read_at, 1 << 40, "x")
    finally:
        os.close(descriptor)
    assert sum(read) < 1 << 18


def test_row_122_a_directory_that_is_said_to_be_huge(tmp_path: Path) -> None:
    """Of a tebibyte, in a sparse file: it is read in parts, and no further than its entries make sense."""
    path = tmp_path / "x.zip"
    words = [b"PK\6\6", (44).to_bytes(8, "little"), b"\x2d\3\x2d\0", bytes(8)]
    words += [number.to_bytes(8, "little") for number in (1 << 34, 1 << 34, 1 << 40, 0)]
    words += [b"PK\6\7", bytes(4), (1 << 40).to_bytes(8, "little"), b"\1\0\0\0"]
    words += [b"PK\5\6", bytes(4), b"\xff" * 12, bytes(2)]
    with path.open("wb") as file:
        file.write(b"PK\1\2" + bytes(42))
        file.seek(1 << 40)
        file.write(b"".join(words))
    with pytest.raises(ArchiveError, match="damaged"):
        ZipStore(path)


def test_row_082_a_writer_that_is_killed_leaves_no_new_file(tmp_path: Path) -> None:
    program = """
        import zipfile
        store = blizzarr.stores.ZipStore(ARGUMENTS["path"], "a")
        array = blizzarr.create_array(store, data=np.arange(100), chunks=10)
        assert array[...].tolist() == list(range(100))
        tell(ready=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    with Child(program, path=str(tmp_path / "x.zip")) as child:
        assert child.hear() == {"ready": True}
        child.process.wait()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("broken", [b"PK\3\4" + bytes(40), b"", b"<html>"])
def test_row_082_a_broken_file_is_replaced(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "x.zip"
    for make in (
        lambda: blizzarr.copy(DATA, path, overwrite=True),
        lambda: blizzarr.create_array(path, data=DATA, overwrite=True),
        lambda: blizzarr.open(path, mode="w", data=DATA),
        lambda: blizzarr.save(path, DATA),
    ):
        path.write_bytes(broken)
        made = make()
        if made is not None:
            made.store.close()
        assert outcome(path) == DATA.tolist()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the last attempt, at the end
def test_row_082_two_writers_of_one_new_file(tmp_path: Path) -> None:
    """The second one to finish is refused, and what the first one wrote stays."""
    one, other = ZipStore(tmp_path / "x.zip", "a"), ZipStore(tmp_path / "x.zip", "a")
    one.set("a", b"1")
    other.set("a", b"2")
    one.close()
    with pytest.raises(ConflictError, match="in the meantime"):
        other.close()
    assert ZipStore(tmp_path / "x.zip").get("a") == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.parametrize("cut", [1, 30, 69])
def test_row_082_a_comment_that_is_cut(tmp_path: Path, cut: int) -> None:
    """All entries are listed before it, and other programs read them; so they stay, whatever is added."""
    path = tmp_path / "x.zip"
    ours_in_two_parts(path, described())
    path.write_bytes(path.read_bytes()[:-cut])
    assert sorted(zipfile.ZipFile(path).namelist()) == sorted(described())
    assert outcome(path) == DATA.tolist()
    listed = path.stat().st_size
    store = ZipStore(path, "a")
    store.set("note", b"added")
    copied = path.read_bytes()
    store.close()
    assert outcome(path) == DATA.tolist()
    assert ZipStore(path).get("note") == b"added"
    # As a writer leaves it that is killed.
    path.write_bytes(copied)
    assert len(copied) > listed
    with pytest.warns(UserWarning, match="the last writer added was never listed"):
        assert outcome(path) == DATA.tolist()


def test_row_122_the_record_of_a_folder_in_the_place_of_another(tmp_path: Path) -> None:
    """Folders have no values, but what they replace may have."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for key, value in {"c/": b"", **described()}.items():
            archive.writestr(key, value)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("c/", b"")
    assert outcome(path) == DATA.tolist()  # some programs list a folder twice, each with a record of its own
    data = path.read_bytes()
    folder = data.index(b"PK\1\2")
    next_one = data.index(b"PK\1\2", folder + 1)
    chunk, behind = (data.rindex(key) - 46 for key in (b"c/1", b"c/"))
    changed = bytearray(data[:chunk] + data[folder:next_one] + data[behind:])
    size = len(changed) - 22 - folder
    changed[-10:-6] = size.to_bytes(4, "little")
    path.write_bytes(changed)
    with pytest.raises(ArchiveError, match="damaged: entry 'c/' is there twice"):
        ZipStore(path)


@pytest.mark.parametrize("first", [4, 10, 12])
@pytest.mark.parametrize("mode", ["r", "a"])
def test_row_122_an_end_record_of_zeros(tmp_path: Path, first: int, mode: str) -> None:
    """It says that there are no entries behind what could be a program: such a file is not empty, but damaged."""
    path = tmp_path / "x.zip"
    python(path, described())
    data = path.read_bytes()
    changed = data[: -22 + first] + bytes(22 - first)
    path.write_bytes(changed)
    with pytest.raises(ArchiveError, match="damaged"):
        blizzarr.open(path, mode=mode)
    assert path.read_bytes() == changed


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not list open files")
def test_row_122_a_file_that_is_refused_is_closed(tmp_path: Path) -> None:
    """Else a program that looks through damaged files runs out of descriptors, and one that may not write, of locks."""
    path = tmp_path / "x.zip"
    ours(path, described())
    store = ZipStore(path, "a")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("note", b"of another program")
    before = sorted(os.listdir("/proc/self/fd"))
    with pytest.raises(ConflictError):
        store.set("a", b"")
    path.unlink()
    with pytest.raises(StoreError):
        store.set("a", b"")
    path.write_bytes(b"PK\3\4" + bytes(50))
    for mode in ("r", "a"):
        with pytest.raises(ArchiveError):
            blizzarr.open(path, mode=mode)
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("options", [{"shards": 6}, {"compressors": None}, {"shards": 6, "compressors": None}])
def test_row_122_a_copy_that_skips_damage_lists_what_only_the_zip_file_knows(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """Inner chunks and parts of chunks are read by themselves: the checksum of the entry says nothing of them."""
    whole, damaged = tmp_path / "whole.zip", tmp_path / "damaged.zip"
    with ZipStore(whole, "w") as store:
        blizzarr.create_array(store, data=DATA, chunks=3, **options)
        value = bytes(store.get("c/0") or b"")
    raw = bytearray(whole.read_bytes())
    raw[raw.index(value) + 1] ^= 1
    damaged.write_bytes(raw)
    for chunks in (3, 2):
        lost: list[BlizzarrError] = []
        blizzarr.copy(damaged, tmp_path / f"{chunks}.zarr", skip_damaged=lost.append, chunks=chunks)
        assert {error.key for error in lost} == {"c/0"}
        lost.clear()
        blizzarr.copy(whole, tmp_path / f"whole{chunks}.zarr", skip_damaged=lost.append, chunks=chunks)
        assert lost == []
        assert (blizzarr.open_array(tmp_path / f"whole{chunks}.zarr")[...] == DATA).all()

"""What a zip file has after an error: the old file, or what is whole."""

from __future__ import annotations

import errno
import gc
import io
import os
import stat
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ArchiveError, CodecError, ConflictError, StoreError
from blizzarr.stores import ZipStore
from blizzarr.stores.zip.archive import NewFile
from support.child import answer


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    """Row 81: what a call or a block had written before its error does not replace a whole file."""
    path = tmp_path / "x.zip"
    encoded: dict[str, bytes] = {}
    source = blizzarr.create_array(encoded, data=np.arange(1, 9), chunks=2)
    encoded["c/2"] = b"damaged"
    blizzarr.save(path, np.arange(5))
    with pytest.raises(CodecError):
        blizzarr.copy(source, path, overwrite=True, chunks=1)
    with suppress(KeyboardInterrupt), ZipStore(path, mode="w") as store:
        store.set("a", b"new")
        raise KeyboardInterrupt
    for name in ("x.zip", "new.zip"):
        group = blizzarr.open_group(tmp_path / name, mode="w").cached(blizzarr.CachePool(0))
        with suppress(KeyboardInterrupt), group:
            group.create_array("a", data=[1, 2, 3])
            raise KeyboardInterrupt
    gc.collect()
    assert blizzarr.open_array(path, mode="r")[...].tolist() == [0, 1, 2, 3, 4]
    assert blizzarr.open_array(tmp_path / "new.zip", path="a", mode="r")[...].tolist() == [1, 2, 3]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["new.zip", "x.zip"]


@pytest.mark.parametrize("replaced", [True, False])
def test_a_writer_is_told_that_its_file_is_gone(
    tmp_path: Path, replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else has what was written to it, which this store can still read; who never closes it is told, too."""
    untold: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", lambda told: untold.append(told.exc_type))
    path = tmp_path / "x.zip"
    array = blizzarr.create_array(path, data=np.arange(4), chunks=2)
    array.store.flush()
    array[:2] = 7
    path.unlink()
    if replaced:
        blizzarr.save(path, np.arange(3))
    for end in (array.store.flush, array.store.close):
        with pytest.raises(ConflictError, match="removed or replaced while"):
            end()
    assert blizzarr.copy(array, tmp_path / "saved.zip")[...].tolist() == [7, 7, 2, 3]
    assert not path.exists() or blizzarr.load(path).tolist() == [0, 1, 2]
    del array, end
    gc.collect()
    assert untold == [ConflictError]


def test_a_file_that_is_renamed_gets_what_is_written(tmp_path: Path) -> None:
    """A directory that a run renames at its end takes its file along."""
    (tmp_path / "run").mkdir()
    array = blizzarr.create_array(tmp_path / "run/x.zip", data=np.arange(4), chunks=2)
    array.store.flush()
    array[:2] = 7
    (tmp_path / "run").rename(tmp_path / "done")
    array.store.close()
    assert blizzarr.load(tmp_path / "done/x.zip").tolist() == [7, 7, 2, 3]


def test_the_longest_name(tmp_path: Path) -> None:
    """A file that is to be replaced has another name for a moment, which may not be longer."""
    path = tmp_path / f"{'ü' * 125}a.zip"
    for number in range(2):
        blizzarr.save(path, np.arange(number))
    assert blizzarr.load(path).tolist() == [0]
    with pytest.raises(OSError, match="too long"):
        os.lstat(f"{path}.zip")
    for call in (
        lambda: ZipStore(f"{path}.zip"),
        lambda: ZipStore(f"{path}.zip", mode="w").set("a", b""),
        lambda: blizzarr.open(f"{path}.zip", mode="r"),
        lambda: blizzarr.create_array(f"{path}.zip", shape=3, dtype="u1"),
    ):
        with pytest.raises(StoreError, match="too long"):
            call()
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_a_file_that_may_not_be_looked_for_is_not_missing(tmp_path: Path) -> None:
    facts = answer(
        """
        obey_permissions()
        folder = ARGUMENTS["folder"]
        blizzarr.save(f"{folder}/x.zip", np.arange(3))
        os.chmod(folder, 0)
        errors = []
        for mode in ("r", "r+"):
            try:
                blizzarr.open(f"{folder}/x.zip", mode=mode)
            except Exception as error:
                errors.append([type(error).__name__, str(error)])
        os.chmod(folder, 0o755)
        tell(errors=errors)
        """,
        folder=str(tmp_path / "in"),
    )
    assert facts["errors"] == [["StoreError", f"cannot open {tmp_path}/in/x.zip: Permission denied"]] * 2


def test_an_array_whose_elements_are_not_stored_is_not_listed(tmp_path: Path) -> None:
    """D-102: nothing can be deleted, but fill values would stand for the elements that are missing."""
    encoded: dict[str, bytes] = {}
    source = blizzarr.create_array(encoded, data=np.arange(1, 9), chunks=2)
    encoded["c/2"] = b"damaged"
    with blizzarr.open_group(tmp_path / "x.zip", mode="w") as group, blizzarr.config.set(copy_bytes=1):
        with pytest.raises(CodecError):
            group.create_array("a", data=source, chunks=1)
        group.create_array("b", data=[1, 2, 3])
    assert list(blizzarr.open_group(tmp_path / "x.zip", mode="r")) == ["b"]
    assert blizzarr.check(tmp_path / "x.zip").clean
    with blizzarr.config.set(copy_bytes=1), pytest.raises(CodecError):
        blizzarr.create_array(tmp_path / "new.zip", data=source, chunks=1)
    gc.collect()
    assert not (tmp_path / "new.zip").exists()


def test_every_error_about_the_size_of_an_entry_says_what_to_do(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "x.zip", "w", ZIP_DEFLATED) as file:
        file.writestr("a", bytes(1000))
    whole = (tmp_path / "x.zip").read_bytes()
    for size in (999, 1001):
        (tmp_path / "x.zip").write_bytes(whole.replace(struct.pack("<I", 1000), struct.pack("<I", size)))
        with ZipStore(tmp_path / "x.zip", mode="r") as store, pytest.raises(ArchiveError, match="skip_damaged=True"):
            store.get("a")


@pytest.mark.parametrize("has_links", [True, False])
def test_file_systems_without_files_that_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """FAT has no links either: all that had been written was lost. What others made meanwhile stays."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    if not has_links:
        monkeypatch.setattr(os, "link", refused)
    for mode in ("a", "w"):
        with ZipStore(tmp_path / "x.zip", mode) as store:
            store.set("a", b"1")
    assert ZipStore(tmp_path / "x.zip").get("a") == b"1"
    late = NewFile(tmp_path / "y")
    (tmp_path / "y").write_bytes(b"early")
    with pytest.raises(FileExistsError):
        late.publish(replace=False)
    os.close(late.descriptor)
    late.discard()
    assert {path.name for path in tmp_path.iterdir()} == {"x.zip", "y"}
    assert (tmp_path / "y").read_bytes() == b"early"


def test_without_links_a_file_that_could_not_get_its_name_gets_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty file had the name, and the next attempt took it for that of another writer."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "link", refused)
    store = ZipStore(tmp_path / "x.zip", "a")
    store.set("a", b"1")
    with monkeypatch.context() as once:
        once.setattr(os, "replace", refused)
        with pytest.raises(StoreError, match="not permitted"):
            store.close()
    assert not (tmp_path / "x.zip").exists()
    store.close()
    assert ZipStore(tmp_path / "x.zip").get("a") == b"1"


def test_a_link_that_was_made_by_a_lost_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file server that is asked again answers that the name is taken, which it is by our own file."""
    make = os.link

    def repeated(*arguments: Any, **options: Any) -> None:
        make(*arguments, **options)
        make(*arguments, **options)

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "link", repeated)
    with ZipStore(tmp_path / "x.zip", "a") as store:
        store.set("a", b"1")
    assert ZipStore(tmp_path / "x.zip").get("a") == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


@pytest.mark.skipif(os.name != "posix", reason="other systems synchronise no directories")
@pytest.mark.parametrize(("number", "is_error"), [(errno.EINVAL, False), (errno.EOPNOTSUPP, False), (errno.EIO, True)])
def test_file_systems_that_cannot_synchronise_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_error: bool
) -> None:
    """What a file system does not have is no failure of the device: all that had been written counted as lost."""
    synchronise = os.fsync

    def refused(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        synchronise(descriptor)

    monkeypatch.setattr(os, "fsync", refused)
    store = ZipStore(tmp_path / "x.zip", "a")
    store.set("a", b"1")
    if is_error:
        with pytest.raises(StoreError, match="cannot close"):
            store.close()
        monkeypatch.undo()
    store.close()
    assert ZipStore(tmp_path / "x.zip").get("a") == b"1"


class _Pipe(io.RawIOBase):
    """Takes bytes and cannot go back, so that sizes are only known behind what is written."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += bytes(data)
        return len(data)


def _streamed(values: dict[str, bytes], compression: int, is_wide: bool, is_signed: bool) -> bytes:
    pipe: Any = _Pipe()
    with ZipFile(pipe, "w", compression) as archive:
        for key, value in values.items():
            with archive.open(key, "w", force_zip64=is_wide) as entry:
                entry.write(value)
    if is_signed:
        return pipe.taken
    assert len(values) == 1, "otherwise the directory had to be moved too"
    start = pipe.taken.rindex(b"PK\5\6") + 16
    where = struct.unpack_from("<I", pipe.taken, start)[0] - 4
    moved = pipe.taken[:start] + struct.pack("<I", where) + pipe.taken[start + 4 :]
    at = pipe.taken.rindex(b"PK\7\10")
    return moved[:at] + moved[at + 4 :]


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED])
def test_a_killed_writer_leaves_a_file_that_was_streamed(
    tmp_path: Path, compression: int, is_signed: bool, is_wide: bool
) -> None:
    """The sizes of its values are behind them, as in what websites send and many programs write."""
    path = tmp_path / "x.zip"
    inner = _streamed({"c/0": b"1" * 500}, ZIP_STORED, is_wide, is_signed)
    values = {"a": inner * 3} if not is_signed else {"b": b"", "a": inner * 3, "c": os.urandom(1 << 20)}
    whole = _streamed(values, compression, is_wide, is_signed)
    path.write_bytes(whole)
    store = ZipStore(path, mode="a")
    store.set("new", b"lost" * 1000)
    size = path.stat().st_size
    store.close()
    after = path.read_bytes()
    assert after.startswith(whole)
    for length in (len(whole) + 1, len(whole) + 40, size):
        path.write_bytes(after[:length])
        with pytest.warns(UserWarning, match=f"{length - len(whole):,} bytes follow the directory"):
            survivor = ZipStore(path)
        assert {key: bytes(survivor.get(key) or b"") for key in survivor.list()} == values
    # What is no beginning of a record is damage.
    path.write_bytes(after[: len(whole)] + b"junk" * 1000)
    with pytest.raises(ArchiveError, match="expected a zip file"):
        ZipStore(path)


@pytest.mark.parametrize("number", [errno.EIO, errno.EDQUOT, errno.EINTR])
def test_no_other_file_is_closed_after_a_close_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """NFS reports at a close that there is no space; the file is closed, and the next one gets its number."""
    close = os.close

    def failing(descriptor: int) -> None:
        close(descriptor)
        raise OSError(number, os.strerror(number))

    store = ZipStore(tmp_path / "x.zip", "a")
    store.set("a", b"1")
    store.flush()
    file = store._archive._opened()
    with monkeypatch.context() as once:
        once.setattr(os, "close", failing)
        with pytest.raises(StoreError, match="cannot close"):
            store.close()
    assert not file.is_open
    others = [os.open(tmp_path / "x.zip", os.O_RDONLY) for _ in range(8)]
    store.close()
    store._finish()
    assert {os.read(other, 2) for other in others} == {b"PK"}
    for other in others:
        close(other)
    assert ZipStore(tmp_path / "x.zip").get("a") == b"1"


def test_a_block_that_could_not_close_its_file_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is no reason to keep the file open, and locked, until Python next looks for cycles."""

    def add(name: str) -> None:
        with blizzarr.open_group(path) as group:
            group.create_array(name, data=[4, 5])

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "x.zip"
    blizzarr.save(path, a=np.arange(3))
    untold: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda told: untold.append(str(told.exc_value)))
    gc.disable()
    try:
        with monkeypatch.context() as once:
            once.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match=os.strerror(errno.ENOSPC)):
                add("b")
        assert [text for text in untold if "call close() to handle that" not in text] == []
        assert len(untold) == 1
        add("c")
    finally:
        gc.enable()
    with blizzarr.open_group(path, mode="r") as group:
        # The bytes of the first block are there; only waiting for the disk has failed.
        assert {name: group[name][...].tolist() for name in group} == {"a": [0, 1, 2], "b": [4, 5], "c": [4, 5]}

"""Zip files: what others wrote, what is damaged, and what a crash leaves."""

from __future__ import annotations

import errno
import gc
import io
import os
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr import api
from blizzarr.errors import ArchiveError, ConflictError, LimitError, StoreError, UnsupportedOperationError
from blizzarr.stores import Listing, ZipStore


def foreign(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    """A zip file made by the standard library."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in entries.items():
            archive.writestr(name, value)
    return path


def patched(path: Path, old: bytes, new: bytes, count: int = -1) -> None:
    """Replace bytes of the file by as many others."""
    data = path.read_bytes()
    assert old in data
    assert len(old) == len(new)
    path.write_bytes(data.replace(old, new, count))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_reads_what_others_wrote(tmp_path: Path, method: int) -> None:
    """Stored and deflated entries, whole and in parts."""
    entries = {"zarr.json": b"{}", "a/c/0": bytes(range(256)) * 40, "ü": b"", "a/": b""}
    store = ZipStore(foreign(tmp_path / "x.zip", entries, method))
    assert store.list() == ["a/c/0", "zarr.json", "ü"]
    assert store.get("a/c/0") == entries["a/c/0"]
    assert store.get("ü") == b""
    assert store.get_ranges("a/c/0", [(3, 2), (-1, None)]) == [b"\3\4", b"\xff"]
    assert store.get("a/c/1") is None
    assert store.list_dir("a") == Listing((), ("a/c/",))


@pytest.mark.parametrize("compression", ["stored", "deflated"])
def test_others_read_what_we_wrote(tmp_path: Path, compression: str) -> None:
    """The standard library finds no fault, and of a key set twice it sees the last value."""
    path = tmp_path / "sub" / "x.zip"
    with ZipStore(path, mode="w", compression=compression) as store:
        store.set("a/b", b"first" * 100)
        store.set("ü/c", b"value")
        store.set("a/b", b"second" * 100)
        assert store.get("a/b") == b"second" * 100
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {"a/b": b"second" * 100, "ü/c": b"value"}
    assert [item.name for item in path.parent.iterdir()] == ["x.zip"]


def test_appending_keeps_what_was_there(tmp_path: Path) -> None:
    """Entries of others and ours live side by side; each flush lists all of them."""
    path = foreign(tmp_path / "x.zip", {"a": b"old", "b": b"old"})
    with ZipStore(path, mode="a") as store:
        store.set("b", b"new")
        store.flush()
        assert ZipStore(path).get("b") == b"new"
        store.set("c", b"newest")
    assert {key: ZipStore(path).get(key) for key in ZipStore(path).list()} == {"a": b"old", "b": b"new", "c": b"newest"}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


def test_delete_says_that_zip_cannot(tmp_path: Path) -> None:
    """D-102: a store that cannot delete says so, and keeps the value."""
    store = ZipStore(foreign(tmp_path / "x.zip", {"a": b"1"}), mode="a")
    with pytest.raises(UnsupportedOperationError, match="zip file cannot delete") as caught:
        store.delete("a")
    assert caught.value.key == "a"
    assert store.get("a") == b"1"
    assert not store.supports_delete
    store.close()


def test_a_killed_writer_loses_only_what_it_added(tmp_path: Path) -> None:
    """Row 82: what was listed before is there, whatever number of bytes of the rest reached the file."""
    path = tmp_path / "x.zip"
    with ZipStore(path, mode="w") as store:
        store.set("a", b"kept" * 50)
        store.set("b", foreign(tmp_path / "inner.zip", {"zarr.json": b"a zip file as a value"}).read_bytes())
    before = path.read_bytes()
    store = ZipStore(path, mode="a")
    store.set("c", foreign(tmp_path / "inner.zip", {"zarr.json": b"another"}).read_bytes())
    store.set("a", b"lost" * 40_000)
    after = path.read_bytes()
    store.close()
    assert after.startswith(before)
    for length in [*range(len(before), len(before) + 600, 7), len(after)]:
        path.write_bytes(after[:length])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            survivor = ZipStore(path)
        assert survivor.get("a") == b"kept" * 50
        assert survivor.list() == ["a", "b"]
        assert ("never listed" in str(caught[0].message)) if length > len(before) else not caught


def test_a_killed_writer_leaves_entries_with_wide_sizes(tmp_path: Path) -> None:
    """Programs that do not know the size of a value before they have written it make room for 64 bits."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive, archive.open("a", "w", force_zip64=True) as entry:
        entry.write(b"kept")
    with path.open("ab") as file:
        file.write(b"PK\3\4" + bytes(10))
    with pytest.warns(UserWarning, match="14 bytes follow the directory"):
        assert ZipStore(path).get("a") == b"kept"
    path.write_bytes(path.read_bytes()[:34])
    with pytest.raises(ArchiveError, match="expected a zip file"):
        ZipStore(path)


def test_more_values_than_16_bits_count(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with ZipStore(path, mode="w") as store:
        for number in range(0x10001):
            store.set(str(number), b"%d" % number)
    with ZipStore(path, mode="a") as store:
        store.set("a", b"more")
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 0x10002
        assert archive.read("65536") == b"65536"
    store = ZipStore(path)
    assert (len(store.list()), store.get("0"), store.get("65536"), store.get("a")) == (0x10002, b"0", b"65536", b"more")


def test_replacing_a_file_happens_at_the_end(tmp_path: Path) -> None:
    """Row 81: mode "w" leaves the old file as it is until the new one is complete."""
    path = foreign(tmp_path / "x.zip", {"a": b"old"})
    store = ZipStore(path, mode="w")
    store.set("a", b"new")
    assert ZipStore(path).get("a") == b"old"
    store.close()
    assert ZipStore(path).get("a") == b"new"
    ZipStore(path, mode="w").close()
    assert ZipStore(path).get("a") == b"new"


def test_one_writer(tmp_path: Path) -> None:
    """A second writer is told when it begins to write; readers, and those who could write, are not disturbed."""
    path = foreign(tmp_path / "x.zip", {"a": b"old"})
    store, second = ZipStore(path, mode="a"), ZipStore(path, mode="a")
    store.set("b", b"new")
    with pytest.raises(ConflictError, match="another writer"):
        second.set("b", b"lost")
    assert second.get("a") == b"old"
    assert store.get("a") == b"old"
    store.close()
    with pytest.raises(ConflictError, match="another writer changed this zip file since"):
        second.set("b", b"lost")
    second.close()
    with ZipStore(path, mode="a") as third:
        third.set("c", b"newest")
    assert [ZipStore(path).get(key) for key in "abc"] == [b"old", b"new", b"newest"]


def test_forgotten_close(tmp_path: Path) -> None:
    """A writer that goes out of use is closed."""
    path = tmp_path / "x.zip"
    ZipStore(path, mode="w").set("a", b"value")
    assert ZipStore(path).get("a") == b"value"


def test_entries_that_lead_out_are_passed_over(tmp_path: Path) -> None:
    """Row 76: `../x` and absolute are reported, backslashes too, links are errors; the rest is readable."""
    path = tmp_path / "x.zip"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("../x", "/abs", "good"):
                archive.writestr(name, b"first")
            archive.writestr("good", b"last")
            archive.writestr("back_slash", b"")
            link = zipfile.ZipInfo("link")
            link.external_attr = 0o120777 << 16
            link.create_system = 3
            archive.writestr(link, "/etc/passwd")
    patched(path, b"back_slash", b"back\\slash")
    with pytest.warns(UserWarning, match=r"\.\./x") as caught:
        store = ZipStore(path)
    text = str(caught[0].message)
    assert all(name in text for name in ("'../x'", "'/abs'", "slash' have"))
    assert store.list() == ["back/slash", "good", "link"]
    with pytest.raises(ArchiveError, match="symbolic link"):
        store.get("link")
    before = path.read_bytes()
    with pytest.warns(UserWarning, match="abs"):
        adding = ZipStore(path, "a")
    with pytest.raises(ArchiveError, match="would be lost"):
        adding.set("a", b"")
    assert path.read_bytes() == before
    assert store.get("good") == b"last"


def test_wrong_checksum(tmp_path: Path) -> None:
    """Row 122: the entry is named; it is not missing."""
    path = foreign(tmp_path / "x.zip", {"a/b": b"the value"})
    patched(path, b"the value", b"the VALUE")
    with pytest.raises(StoreError, match=r"key a/b in .*checksum mismatch") as caught:
        ZipStore(path).get("a/b")
    assert caught.value.key == "a/b"


def test_damaged_deflated_bytes(tmp_path: Path) -> None:
    """Row 122: garbage in a deflated entry is an error that names it."""
    path = foreign(tmp_path / "x.zip", {"a/b": bytes(range(200)) * 10}, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    data[33 + 20 : 33 + 60] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(StoreError, match="a/b"):
        ZipStore(path).get("a/b")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_no_missing_key(tmp_path: Path, method: int) -> None:
    """Row 122: unsupported is never "missing", and other entries are readable."""
    path = foreign(tmp_path / "x.zip", {"a": b"value" * 10}, method)
    store = ZipStore(path)
    with pytest.raises(StoreError, match=f"compression method {method} is not supported"):
        store.get("a")
    with pytest.raises(StoreError, match="not supported"):
        store.get_ranges("a", [(0, 1)])
    assert store.list() == ["a"]


def test_encrypted(tmp_path: Path) -> None:
    """Row 122: an entry that needs a password says so."""
    path = foreign(tmp_path / "x.zip", {"a": b"value"})
    data = bytearray(path.read_bytes())
    central = data.rfind(b"PK\1\2")
    data[central + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="encrypted"):
        ZipStore(path).get("a")


@pytest.mark.parametrize("claim", [4, 10_000, 0])
def test_a_size_that_lies(tmp_path: Path, claim: int) -> None:
    """Row 25: the size in the directory is not what comes out: an error, never missing, never short."""
    path = foreign(tmp_path / "x.zip", {"a": b"v" * 5_000}, zipfile.ZIP_DEFLATED)
    patched(path, struct.pack("<I", 5_000), struct.pack("<I", claim))
    with pytest.raises(StoreError, match=r"key a in .*directory says"):
        ZipStore(path).get("a")


def test_a_bomb(tmp_path: Path) -> None:
    """Row 25: an entry beyond the limit is refused before it is expanded; the limit can be raised."""
    path = foreign(tmp_path / "x.zip", {"a": b"\0" * 1_000_000}, zipfile.ZIP_DEFLATED)
    with pytest.raises(LimitError, match="1,000,000 bytes, more than the limit of 65,536") as caught:
        ZipStore(path, limit=65_536).get("a")
    assert caught.value.key == "a"
    assert len(ZipStore(path).get("a") or b"") == 1_000_000


def test_every_cut(tmp_path: Path) -> None:
    """Row 122: a file cut anywhere is an error that names the file."""
    whole = foreign(tmp_path / "x.zip", {"a": b"value", "b/c": b"other"}).read_bytes()
    path = tmp_path / "cut.zip"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(StoreError, match=r"cut\.zip"):
            ZipStore(path)


def test_every_byte_changed(tmp_path: Path) -> None:
    """P1: whatever a byte becomes, there is a value, an error of ours, or a warning; checksums catch the values."""
    values = {"a": b"value", "b/c": b"other" * 9}
    whole = foreign(tmp_path / "x.zip", values, zipfile.ZIP_DEFLATED).read_bytes()
    path = tmp_path / "changed.zip"
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                store = ZipStore(path)
            except StoreError:
                continue
        for key in values:
            try:
                value = store.get(key)
            except (StoreError, LimitError):
                continue
            assert value == values[key]


def test_prepended_data_comment_and_no_entries(tmp_path: Path) -> None:
    """Row 122: a program before the entries, a comment of 64 KB behind them, and an empty file of entries."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"value")
        archive.comment = b"PK\5\6" * 16_000
    path = tmp_path / "x.zip"
    path.write_bytes(b"#!/bin/sh\n" * 100 + buffer.getvalue())
    assert ZipStore(path).get("a") == b"value"
    assert ZipStore(foreign(tmp_path / "empty.zip", {})).list() == []


@pytest.mark.thorough
def test_more_entries_than_sixteen_bits_count(tmp_path: Path) -> None:
    """Row 122: zip64, ours read by the standard library and by us."""
    path = tmp_path / "x.zip"
    with ZipStore(path, mode="w") as store:
        for number in range(65_536):
            store.set(f"c/{number}", b"")
    assert len(ZipStore(path).list()) == 65_536
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 65_536


def test_pickling(tmp_path: Path) -> None:
    """Row 109: a reader opens elsewhere; a writer says that it cannot."""
    path = tmp_path / "x.zip"
    store = ZipStore(path, mode="w")
    store.set("a", b"value")
    with pytest.raises(StoreError, match="close it first, or open it with mode 'r'"):
        pickle.dumps(store)
    store.close()
    assert pickle.loads(pickle.dumps(store)).get("a") == b"value"
    with pytest.raises(StoreError, match="closed"):
        store.get("a")


def test_no_zip_file(tmp_path: Path) -> None:
    """Something else, and nothing: the error says what was expected, what is there, and what to do."""
    path = tmp_path / "x.zip"
    expected = rf"^{path}: expected a zip file, found no valid ZIP EOCD, the record at its end: it begins "
    for content, said in {
        b"no zip file at all, and long enough to hold a record": r"with b'no zip f', as no zip file does; is this ",
        b"\x89HDF\r\n\x1a\n" + bytes(99): r"with b'\\x89HDF\\r\\n\\x1a\\n', as an HDF5 file does; open it with h5py; ",
        bytes(257) + b"ustar\0": r"with b'(\\x00){8}', as a tar archive does; unpack it",
        b"<html>": "with b'<html>', as a document of HTML or XML does; if a server",
        b"PK\3\4" + bytes(40): "as one, but was cut, or its writer has not been closed; copy it again",
        b"P": "with b'P', as no zip file does",
    }.items():
        path.write_bytes(content)
        with pytest.raises(ArchiveError, match=expected + said):
            ZipStore(path)
        with pytest.raises(ValueError, match=expected + said):
            blizzarr.open(path)
    with pytest.raises(
        ArchiveError, match=rf"^{tmp_path}: expected a zip file, found a directory; open it as a "
    ) as it:
        ZipStore(tmp_path, "a")
    assert (it.value.errno, it.value.store) == (errno.EISDIR, str(tmp_path))
    with pytest.raises(StoreError, match=rf"^cannot open {tmp_path}/nothing\.zip: No such file"):
        ZipStore(tmp_path / "nothing.zip")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_locks_that_cannot_be_imported_are_not_left_out() -> None:
    """Without memory, their module is there but cannot be loaded: that must not pass for a system without them."""
    program = """
import sys
class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "fcntl":
            raise ImportError("failed to map segment from shared object")
sys.modules.pop("fcntl", None)
sys.meta_path.insert(0, Loading())
try:
    import blizzarr.stores.zip.file
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "failed to map segment from shared object\n"


def test_what_a_fork_inherits_is_not_its_to_finish(tmp_path: Path) -> None:
    """A child that ends, or closes the store, leaves the file to its parent; adding to it is refused."""
    code = """
import os, sys
import blizzarr
from blizzarr import api
from blizzarr.errors import ArchiveError, ConflictError
from blizzarr.stores import ZipStore
store = ZipStore(sys.argv[1], "a")
store.set("a", b"1" * 100)
ready, go = os.pipe()
child = os.fork()
if child == 0:
    os.read(ready, 1)
    assert bytes(store.get("a")) == b"1" * 100
    try:
        store.set("c", b"3")
    except ConflictError:
        store.close()
        sys.exit(0)
    sys.exit(1)
store.set("b", b"2" * 1000)
os.write(go, b".")
status = os.waitpid(child, 0)[1]
store.close()
sys.exit(status)
"""
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.zip")], check=False).returncode == 0
    store = ZipStore(tmp_path / "x.zip")
    assert [store.get("a"), store.get("b")] == [b"1" * 100, b"2" * 1000]


def test_a_chunk_that_becomes_fill_is_overwritten(tmp_path: Path) -> None:
    """No chunk can be deleted, so what is only fill from now on is stored as such."""
    with api.open_group(tmp_path / "x.zip", mode="w") as group:
        array = group.create_array("a", data=np.arange(1, 11), chunks=4)
        array[:5] = 0
        np.testing.assert_array_equal(array[:], [0] * 5 + [6, 7, 8, 9, 10])
    np.testing.assert_array_equal(api.load(tmp_path / "x.zip", path="a"), [0] * 5 + [6, 7, 8, 9, 10])


def test_closing_goes_on_when_the_name_was_not_made_sure_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 86: the file has its name already; the next attempt must not look for it under the old one."""
    store = ZipStore(tmp_path / "a.zip", mode="w")
    store.set("a", b"value")

    def fails(directory: Path) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr("blizzarr.stores.zip.archive.sync_directory", fails)
        with pytest.raises(StoreError, match="Too many open files"):
            store.close()
    store.set("b", b"more")
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]
    with ZipStore(tmp_path / "a.zip", mode="r") as read:
        assert [bytes(read.get(key) or b"") for key in ("a", "b")] == [b"value", b"more"]


def test_pickling_keeps_the_arguments(tmp_path: Path) -> None:
    """A limit against archives that are bombs is to hold in the workers, too."""
    path = foreign(tmp_path / "a.zip", {"a": bytes(6)}, zipfile.ZIP_DEFLATED)
    store = pickle.loads(pickle.dumps(ZipStore(path, limit=5, compression="deflated")))
    assert (store.limit, store.compression, store.read_only, str(store)) == (5, "deflated", True, str(path))
    with pytest.raises(LimitError):
        store.get("a")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are listed on Linux")
def test_a_failed_opening_leaves_nothing_open(tmp_path: Path) -> None:
    """Neither of a file that is no whole zip, nor with a warning that is an error, nor before the first entry."""
    path = tmp_path / "x.zip"

    def descriptors() -> int:
        # Of what is new: all that a worker of the tests has takes a second.
        gc.collect(1)
        names = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        return sum(os.path.lexists(name) and os.readlink(name).startswith(str(path)) for name in names)

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"1")
    whole = path.read_bytes()
    for content in (b"no zip file", whole[:-1], whole[:-40], whole.replace(b"PK\1\2", b"PK\1\1")):
        path.write_bytes(content)
        for _ in range(3):
            with pytest.raises(ArchiveError):
                ZipStore(path)
        assert descriptors() == 0
    path.write_bytes(whole.replace(b"a", b"/"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="entry '/'"):
            ZipStore(path)
    assert descriptors() == 0
    path.write_bytes(whole)
    store = ZipStore(path, "a")
    assert descriptors() == 1
    path.unlink()
    with pytest.raises(StoreError):
        store.set("b", b"2")
    assert descriptors() == 1
    store.close()
    assert descriptors() == 0

"""Faults: links, and other things that are where a file should be (rows 69, 71 to 74, 77).

Local directories follow links, as every other program does; the store is trusted as the user who opened it is. Those
that are to be kept within are in `test_confined_links.py`.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, NodeExistsError, StoreError
from blizzarr.stores import LocalStore


@pytest.fixture
def array(tmp_path: Path) -> blizzarr.Array:
    return blizzarr.create_array(tmp_path / "root", data=np.arange(8, dtype="int16"), chunks=4, compressors=None)


def in_time(work: Callable[[], object]) -> None:
    """Run it in a thread that may not hang."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it hangs"
    if failures:
        raise failures[0]


def test_row_069_links_are_followed(tmp_path: Path, array: blizzarr.Array) -> None:
    """A whole array, or one chunk, may lie elsewhere behind a link."""
    group = blizzarr.create_group(tmp_path / "group")
    (tmp_path / "group" / "linked").symlink_to(tmp_path / "root")
    assert group["linked"][...].tolist() == list(range(8))
    assert list(group.array_keys()) == ["linked"]


def test_row_071_loops_of_links(tmp_path: Path) -> None:
    """Listing ends; a link to itself is a key, no member, and opening it says what is wrong."""
    root = tmp_path / "root"
    group = blizzarr.create_group(root)
    group.create_array("a", shape=2, dtype="int8")
    (root / "up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    in_time(lambda: list(LocalStore(root).list()))
    assert list(LocalStore(root).list()) == ["a/zarr.json", "self", "zarr.json"]
    assert LocalStore(root).list_dir("").prefixes == ("a/",)
    group.create_group("g")
    for name in ("up", "round"):
        (root / "g" / name).symlink_to(root)
    in_time(lambda: list(group.members(max_depth=None)))
    assert sorted(dict(group.members(max_depth=None))) == ["a", "g"]
    with pytest.raises((StoreError, KeyError)) as caught:
        blizzarr.open(root, path="self")
    assert "self" in str(caught.value)


def test_row_072_deleting_a_linked_member(tmp_path: Path, array: blizzarr.Array) -> None:
    """Only the link goes; what it leads to stays whole."""
    before = {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()}
    group = blizzarr.create_group(tmp_path / "group")
    inner = group.create_group("inner")
    for name in ("linked", "inner/linked", "inner/again", "inner/deeper/linked"):
        (tmp_path / "group" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "group" / name).symlink_to(tmp_path / "root")
    del group["linked"]
    assert not os.path.lexists(tmp_path / "group" / "linked")
    inner.create_array("linked", shape=2, dtype="int8", overwrite=True)
    assert inner["linked"].shape == (2,)
    del group["inner"]
    assert not (tmp_path / "group" / "inner").exists()
    blizzarr.open(tmp_path / "group", mode="w", shape=3, dtype="int8")
    assert {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()} == before


def test_row_077_links_to_what_is_not_ours_stay(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "sea.jpg").write_bytes(b"blue")
    group = blizzarr.create_group(tmp_path / "root")
    group.create_array("a", data=np.arange(4))
    (tmp_path / "root" / "a" / "photos").symlink_to(tmp_path / "photos")
    with pytest.raises(NodeExistsError, match=r"not ours: a/photos/sea\.jpg;"):
        del group["a"]
    with blizzarr.config.set(keep_foreign_files=True):
        del group["a"]
    assert (tmp_path / "root" / "a" / "photos" / "sea.jpg").read_bytes() == b"blue"


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_row_073_writing_a_chunk_that_is_a_link(tmp_path: Path, array: blizzarr.Array, link: str) -> None:
    """The link is replaced; what it led to is not written to, neither by whole nor by partial writes."""
    victim = tmp_path / "victim"
    for number, key in enumerate((slice(0, 4), slice(1, 3)), 1):
        victim.write_bytes(np.full(4, 9, "<i2").tobytes())
        chunk = tmp_path / "root" / "c" / "0"
        chunk.unlink()
        chunk.symlink_to(victim) if link == "symbolic" else os.link(victim, chunk)
        assert array[:4].tolist() == [9] * 4
        array[key] = number
        assert not chunk.is_symlink()
        assert victim.read_bytes() == np.full(4, 9, "<i2").tobytes()
        assert array[1] == number


def directory(path: Path) -> None:
    path.mkdir()


def full_directory(path: Path) -> None:
    path.mkdir()
    (path / "0").write_bytes(b"")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [directory, full_directory, fifo, unix_socket, device, loop, link_to_nothing])
@pytest.mark.parametrize("shards", [None, 8])
def test_row_074_something_else_where_a_chunk_should_be(
    tmp_path: Path, make: Callable[[Path], None], shards: int | None
) -> None:
    """An error that names the key, for reading and for partial writing; never fill, never a hang."""
    array = blizzarr.create_array(tmp_path / "r", data=np.arange(8, dtype="int16"), chunks=4, shards=shards, name="a")
    chunk = tmp_path / "r" / "a" / "c" / "0"
    chunk.unlink()
    make(chunk)
    for key in (..., 1, slice(0, 4)):
        with pytest.raises(StoreError) as caught:
            in_time(lambda key=key: array[key])
        assert caught.value.key == "a/c/0"
        assert caught.value.array == "/a"
        assert "a/c/0" in str(caught.value) or "c/0" in str(caught.value)
    with pytest.raises(StoreError):
        in_time(lambda: array.__setitem__(1, 5))
    assert os.path.lexists(chunk)
    assert sorted(path.name for path in (tmp_path / "r" / "a" / "c").iterdir()) == sorted(
        {"0", *([] if shards else ["1"])}
    )


@pytest.mark.parametrize("make", [fifo, unix_socket, device, loop, link_to_nothing, Path.touch])
def test_row_074_something_else_where_an_open_array_was(tmp_path: Path, make: Callable[[Path], None]) -> None:
    array = blizzarr.create_array(tmp_path / "r", data=np.arange(8, dtype="int16"), chunks=4, name="a")
    (tmp_path / "r" / "a").rename(tmp_path / "elsewhere")
    make(tmp_path / "r" / "a")
    changes: list[Callable[[], object]] = [
        lambda: array.append(np.zeros(4, "int16")),
        lambda: array.resize(4),
        lambda: array.__setitem__(1, 5),
        lambda: array.attrs.update(a=1),
    ]
    for change in changes:
        with pytest.raises(BlizzarrError, match=str(tmp_path)):
            in_time(change)
    assert blizzarr.open_array(tmp_path / "elsewhere")[:].tolist() == [*range(8)]


@pytest.mark.parametrize("make", [loop, link_to_nothing, fifo])
def test_row_074_nobody_goes_by_a_list_without_what_is_no_file(
    tmp_path: Path, array: blizzarr.Array, make: Callable[[Path], None]
) -> None:
    """As a copy does: such a chunk is no missing one. Who replaces or removes it puts an end to that."""
    chunk = tmp_path / "root" / "c" / "1"
    chunk.unlink()
    make(chunk)
    assert "c/1" in array.store.list()
    with pytest.raises(StoreError, match="c/1"):
        blizzarr.copy(array, tmp_path / "copy")
    array[4:] = 7
    assert blizzarr.copy(array, tmp_path / "copied")[...].tolist() == [0, 1, 2, 3, 7, 7, 7, 7]
    chunk.unlink()
    make(chunk)
    array.store.delete("c/1")
    assert array[...].tolist() == [0, 1, 2, 3, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("c", link_to_nothing),
        ("c", Path.touch),
        ("c", fifo),
        ("c/1", link_to_nothing),
        ("c/1", fifo),
        ("c/1/1", full_directory),
        ("c/1/1", directory),
        ("c/1", loop),
    ],
)
def test_row_074_chunks_behind_what_is_no_directory_are_not_missing(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    """As where the disk that a link leads to is not mounted."""
    array = blizzarr.create_array(tmp_path / "a", data=np.arange(1, 17, dtype="int16").reshape(4, 4), chunks=2)
    (tmp_path / "a" / name).rename(tmp_path / "moved")
    make(tmp_path / "a" / name)
    pool = blizzarr.CachePool(1 << 20)
    for work in (
        lambda: array[2:],
        lambda: array[3, 3],
        lambda: array.cached(pool)[2:],
        lambda: array.__setitem__((3, 3), 5),
        lambda: blizzarr.copy(array, {}),
        lambda: blizzarr.copy(array, {}, chunks=3),
        lambda: list(blizzarr.copy(array, tmp_path / "b")),
    ):
        with pytest.raises(StoreError):
            work()
    assert not blizzarr.check(array).ok
    if name != "c":
        assert array[:2].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
        assert not blizzarr.diff(array, array).same


def test_row_074_a_file_where_a_directory_should_be(tmp_path: Path, array: blizzarr.Array) -> None:
    for path in (tmp_path / "root" / "c").iterdir():
        path.unlink()
    (tmp_path / "root" / "c").rmdir()
    (tmp_path / "root" / "c").write_bytes(b"a file")
    for work in (
        lambda: array[...],
        lambda: array[1],
        lambda: array.__setitem__(1, 1),
        lambda: array.__setitem__(..., 1),
    ):
        with pytest.raises(StoreError) as caught:
            work()
        assert caught.value.key in ("c/0", "c/1")
        assert caught.value.errno
    assert (tmp_path / "root" / "c").read_bytes() == b"a file"


@pytest.mark.parametrize("what", ["array", "group"])
@pytest.mark.parametrize("how", ["overwrite", "mode w"])
def test_row_077_files_that_are_not_ours_stay(tmp_path: Path, what: str, how: str) -> None:
    """Replacing what is in a directory is refused if there is more than we put there, or removes that alone."""
    group = blizzarr.create_group(tmp_path)
    group.create_array("a", data=np.arange(4), chunks=2)
    foreign = {"thesis.tex": b"years", "a/notes.txt": b"months", "photos/0.jpg": b"days", "a/c/readme": b"hours"}
    for name, value in foreign.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(value)
    options = {"shape": 4, "dtype": "int8"} if what == "array" else {}

    def replace() -> None:
        if how == "overwrite":
            (blizzarr.create_array if what == "array" else blizzarr.create_group)(tmp_path, overwrite=True, **options)
        else:
            blizzarr.open(tmp_path, mode="w", **options)

    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(NodeExistsError, match=r"not ours: a/c/readme, a/notes\.txt, photos/0\.jpg, thesis\.tex;"):
        replace()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    with blizzarr.config.set(keep_foreign_files=True):
        replace()
    assert {name: (tmp_path / name).read_bytes() for name in foreign} == foreign
    assert not (tmp_path / "a" / "zarr.json").exists()
    assert not (tmp_path / "a" / "c" / "0").exists()


@pytest.mark.parametrize(
    "name", ["c/٣/0", "c/1٣/0", "c/00/1", "c/0/01", "C/0/0", "c/0/0~", "c/+1/0", "c/1_0/0", "c /0/0"]
)
def test_row_077_what_only_looks_like_a_chunk_is_not_ours(tmp_path: Path, name: str) -> None:
    """Digits of other scripts, zeros in front, capitals: no chunk has such a name, so somebody else's file does."""
    array = blizzarr.create_array(tmp_path / "r", data=np.arange(1, 17).reshape(4, 4), chunks=2, name="a")
    foreign = tmp_path / "r" / "a" / name
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_bytes(b"mine")
    assert array.nchunks_initialized == 4
    array.resize((4000, 4))  # erases what is stored and does not belong there
    array.resize((1, 1))
    with pytest.raises(NodeExistsError, match="not ours"):
        del blizzarr.open_group(tmp_path / "r")["a"]
    with blizzarr.config.set(keep_foreign_files=True):
        array = blizzarr.create_array(
            tmp_path / "r", data=np.arange(4).reshape(2, 2), chunks=1, name="a", overwrite=True
        )
        array.resize((10, 1))
        del blizzarr.open_group(tmp_path / "r")["a"]
    assert foreign.read_bytes() == b"mine"


def test_row_077_names_with_backslashes_are_no_keys(tmp_path: Path) -> None:
    """They were listed, and then refused as keys by whoever asked for their sizes."""
    array = blizzarr.create_array(tmp_path / "r", data=np.arange(4), chunks=2, name="a")
    stored = array.info_complete().bytes_stored
    foreign = tmp_path / "r" / "a" / "c\\0\\0"
    foreign.write_bytes(b"mine")
    assert array.info_complete().bytes_stored == stored
    assert "a/c\\0\\0" not in LocalStore(tmp_path / "r").list()
    assert blizzarr.check(tmp_path / "r").kinds() == {"foreign": 1}
    blizzarr.copy(tmp_path / "r", tmp_path / "copied")
    with pytest.raises(NodeExistsError, match="not ours"):
        del blizzarr.open_group(tmp_path / "r")["a"]
    with blizzarr.config.set(keep_foreign_files=True):
        del blizzarr.open_group(tmp_path / "r")["a"]
    assert foreign.read_bytes() == b"mine"


def test_row_077_deleting_keeps_files_that_are_not_ours(tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path)
    group.create_array("a", data=np.arange(4), chunks=2)
    (tmp_path / "a" / "notes.txt").write_bytes(b"mine")
    with pytest.raises(NodeExistsError, match=r"not ours: a/notes\.txt;"):
        del group["a"]
    assert group["a"][...].tolist() == [0, 1, 2, 3]
    with blizzarr.config.set(keep_foreign_files=True):
        del group["a"]
    assert (tmp_path / "a" / "notes.txt").read_bytes() == b"mine"
    assert sorted(LocalStore(tmp_path).list()) == ["a/notes.txt", "zarr.json"]
    assert list(group.array_keys()) == []


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("put", [Path.mkdir, fifo, _broken_link, _loop])
def test_row_077_something_else_in_the_place_of_a_members_document(
    tmp_path: Path, put: Callable[[Path], object]
) -> None:
    """The member is one that cannot be read: a copy has all others, and says so."""
    group = blizzarr.create_group(tmp_path / "group")
    for name in "ab":
        group.create_array(name, data=[1, 2], chunks=1)
    (tmp_path / "group/a/zarr.json").unlink()
    put(tmp_path / "group/a/zarr.json")
    assert (list(group), list(group.unreadable())) == (["a", "b"], ["a"])
    with pytest.raises(StoreError, match=r"not copied; everything else was; .*'a': key a/zarr.json"):
        blizzarr.copy(group, tmp_path / "copy")
    assert list(blizzarr.open_group(tmp_path / "copy")) == ["b"]
    with pytest.warns(match="not copied: key a/zarr.json"):
        blizzarr.copy(group, {}, skip_damaged=True)

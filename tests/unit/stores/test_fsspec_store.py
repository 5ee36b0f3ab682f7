"""File systems of fsspec: the contract of stores, and what is passed to `open`."""

from __future__ import annotations

import copy
import pickle
import sys
import time
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError, ReadOnlyError, StoreError, UnsupportedOperationError
from blizzarr.stores import FsspecStore, LocalStore, Store, ZipStore, resolve
from blizzarr.stores.place import lasting_place_of, place_of
from blizzarr.testing.stores import StoreContract

fsspec = pytest.importorskip("fsspec")

_numbers = count()


def in_memory() -> FsspecStore:
    return FsspecStore(fsspec.filesystem("memory"), f"fsspec-store-{next(_numbers)}")


class TestMemoryFileSystem(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return in_memory()


class TestDirFileSystem(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return FsspecStore(fsspec.filesystem("dir", path=f"dir-{next(_numbers)}", target_protocol="memory"), "root")


def test_what_open_takes(tmp_path: Path) -> None:
    """A file system, a mapper, a path of universal_pathlib (which has `fs` and `path`), and URLs that fsspec knows."""
    memory = fsspec.filesystem("memory")
    root = f"open-{next(_numbers)}"
    blizzarr.save(FsspecStore(memory, root), np.arange(3))

    class Path:
        fs, path = memory, f"/{root}"

    for target in (fsspec.get_mapper(f"memory://{root}"), Path()):
        store, path = resolve(target)
        assert isinstance(store, FsspecStore)
        assert (store.path, path) == (f"/{root}", "")
        assert blizzarr.load(target).tolist() == [0, 1, 2]
    assert blizzarr.open(memory, path=root)[1] == 1
    assert type(resolve(fsspec.get_mapper(tmp_path.as_uri()))[0]) is LocalStore
    assert blizzarr.open(FsspecStore.from_url(f"memory://{root}"))[2] == 2


def test_paths_that_are_of_pathlib_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of universal_pathlib before 0.3 lead where their file system is; those of others are refused."""

    class OfPathlib(type(tmp_path)):  # type: ignore[misc]
        fs = fsspec.filesystem("memory")
        path = "/of-pathlib"

    def of(module: str, name: str, patch: pytest.MonkeyPatch = monkeypatch) -> None:
        patch.setitem(sys.modules, module, ModuleType(module))
        patch.setattr(sys.modules[module], name, OfPathlib, raising=False)

    of("upath", "UPath")
    blizzarr.save(OfPathlib(tmp_path / "a"), np.arange(3))
    assert OfPathlib.fs.exists("/of-pathlib/zarr.json")
    OfPathlib.fs = fsspec.filesystem("file")
    assert type(resolve(OfPathlib(tmp_path / "a.zip"), "a")[0]) is ZipStore
    for module, name in ("cloudpathlib", "CloudPath"), ("s3path", "PureS3Path"):
        with monkeypatch.context() as patch:
            of(module, name, patch)
            with pytest.raises(TypeError, match="a directory of this machine: pass its URL"):
                resolve(OfPathlib(tmp_path))


def test_other_schemes_go_to_fsspec(tmp_path: Path) -> None:
    blizzarr.save(tmp_path / "a.zarr", np.arange(3))
    opened = blizzarr.open(f"local://{tmp_path}/a.zarr", mode="r")
    assert opened[:].tolist() == [0, 1, 2]
    cached = f"simplecache::file://{tmp_path}/a.zarr"
    assert blizzarr.open(cached, mode="r")[:].tolist() == [0, 1, 2]
    unknown = "fsspec cannot open a URL of nosuch: Protocol not known: nosuch; blizzarr itself opens"
    with pytest.raises(UnsupportedOperationError, match=unknown) as caught:
        blizzarr.open("nosuch://user:secret@host/a")
    assert "secret" not in str(caught.value)


def test_pools_notice_what_this_process_changes_in_the_directory(tmp_path: Path) -> None:
    """As a directory, and as a file system of fsspec: both are handles of one place."""
    path, pool = f"{tmp_path}/a.zarr", blizzarr.CachePool(1 << 20)
    blizzarr.save(path, np.zeros(4, np.int16))
    ways = [path, f"local://{path}"]
    kept = [blizzarr.open_array(way).cached(pool, recheck=False) for way in ways]
    for number, way in enumerate(ways, 1):
        assert [int(array[1]) for array in kept] == [number - 1] * 2
        blizzarr.open_array(way)[1] = number
    assert [array[:].tolist() for array in kept] == [[0, 2, 0, 0]] * 2
    blizzarr.open_array(ways[1]).resize((0,))
    blizzarr.open_array(ways[0]).resize((4,))
    assert [array[:].tolist() for array in kept] == [[0, 0, 0, 0]] * 2


def test_errors_are_no_fill_values() -> None:
    store = in_memory()
    array = blizzarr.create_array(store, shape=4, chunks=2, dtype="u1", fill_value=7)
    array[:] = 1

    class Broken(type(store.fs)):  # type: ignore[misc]
        cachable = False

        def cat_file(self, path: str, **options: Any) -> bytes:
            if path.endswith("/c/1"):
                raise PermissionError(13, "no")
            found: bytes = super().cat_file(path, **options)
            return found

    broken = blizzarr.open_array(FsspecStore(Broken(), store.path), mode="r")
    assert broken[:2].tolist() == [1, 1]
    with pytest.raises(StoreError, match="cannot read key c/1") as caught:
        broken[:]
    assert caught.value.errno == 13


def test_what_is_in_the_way_of_a_value_is_an_error(tmp_path: Path) -> None:
    store = FsspecStore(fsspec.filesystem("file", auto_mkdir=True), str(tmp_path))
    array = blizzarr.create_array(store, data=np.arange(1, 5), chunks=2)
    (tmp_path / "c/0").unlink()
    (tmp_path / "c/0").mkdir()
    with pytest.raises(StoreError, match=r"cannot read key c/0 in .*: Is a directory"):
        array[:2]
    with pytest.raises(StoreError, match=r"cannot read key c/1/x in .*: Not a directory"):
        store.get("c/1/x")
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(store, path="c/1/x", mode="r")
    assert array[2:].tolist() == [3, 4]
    # Nothing is there that could be deleted.
    for key in ("c/0", "c/1/x"):
        store.delete(key)
    array.resize(0)
    assert (array.shape, store.get("c/1")) == ((0,), None)


class _Whole(type(fsspec.filesystem("memory"))):  # type: ignore[misc]
    """Answers as a web server that knows no ranges: fsspec does not look at the status of its answers."""

    cachable = False
    has_sizes = True

    def cat_file(self, path: str, **ignored: Any) -> bytes:
        return bytes(super().cat_file(path))

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        entry = super().info(path, **options)
        return entry if self.has_sizes else {**entry, "size": None}


class TestServerWithoutRanges(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return FsspecStore(_Whole(), in_memory().path)


@pytest.mark.parametrize("has_sizes", [True, False])
def test_a_whole_value_for_a_range_is_no_part(has_sizes: bool) -> None:
    store = in_memory()
    data = np.arange(1, 65).reshape(8, 8)
    blizzarr.create_array(store, data=data, chunks=(2, 2), shards=(8, 8), compressors=None)
    whole = FsspecStore(_Whole(), store.path)
    whole.fs.has_sizes = has_sizes
    assert blizzarr.open_array(whole, mode="r")[2:4, 4:6].tolist() == data[2:4, 4:6].tolist()
    whole.set("text", b"abcdef")
    for range_, part in {(2, 2): b"cd", (-1, None): b"f", (2, None): b"cdef", (2, 6): b"cdef", (2, 9): b"cdef"}.items():
        assert [bytes(value) for value in whole.get_ranges("text", [range_]) or ()] == [part]


def test_one_size_tells_that_a_server_has_ranges() -> None:
    asked: list[str] = []

    class Parts(type(fsspec.filesystem("memory"))):  # type: ignore[misc]
        cachable = False

        def info(self, path: str, **options: Any) -> Any:
            asked.append(path)
            return super().info(path, **options)

    store = FsspecStore(Parts(), in_memory().path)
    store.set("text", b"abcdef")
    asked.clear()
    assert [store.get_ranges("text", [(start, 2)]) for start in (1, 2, 3)] == [[b"bc"], [b"cd"], [b"de"]]
    # Also in a copy, as tasks of Dask get it.
    assert copy.copy(store).get_ranges("text", [(4, 2)]) == [b"ef"]
    assert asked == [store._path("text")]


@pytest.mark.parametrize(("status", "is_missing"), [(500, False), (None, False), (404, True)])
def test_a_length_that_a_server_does_not_say_is_no_missing_value(status: int | None, is_missing: bool) -> None:
    """fsspec turns whatever goes wrong into FileNotFoundError while it asks a web server for a length."""

    class ClientError(Exception):
        __module__ = "aiohttp.client_exceptions"

    class Web(_Whole):
        def info(self, path: str, **options: Any) -> Any:
            cause = ClientError("the server answered something")
            if status is not None:
                cause.status = status  # type: ignore[attr-defined]
            raise FileNotFoundError(path) from cause

    store = FsspecStore(Web(), in_memory().path)
    store.set("text", b"abcdef")
    if is_missing:
        assert store.get_ranges("text", [(2, 6)]) is None
    else:
        with pytest.raises(StoreError, match="ClientError: the server answered something"):
            store.get_ranges("text", [(2, 6)])


def test_places_and_pickling() -> None:
    store = in_memory()
    store.set("a", b"value")
    mapper = resolve(fsspec.get_mapper(f"memory:/{store.path}"))[0]
    assert place_of(store) == place_of(mapper)
    assert place_of(store) != place_of(in_memory())
    assert lasting_place_of(store) == f"MemoryFileSystem:{store.path}"
    assert pickle.loads(pickle.dumps(store)).get("a") == b"value"


def test_listings_are_not_remembered(tmp_path: Path) -> None:
    """Others may have written since: fsspec would show the same listing for minutes."""
    store = FsspecStore(fsspec.filesystem("dir", path=str(tmp_path), target_protocol="file"))
    store.set("a/b", b"")
    assert store.list_dir("a").keys == ("a/b",)
    (tmp_path / "a" / "c").write_bytes(b"")
    assert store.list_dir("a").keys == ("a/b", "a/c")


def test_listings_below_are_not_remembered(tmp_path: Path) -> None:
    """`find` goes through directories that file systems remember one by one."""
    store = in_memory()
    store.set("a/b", b"")

    class Remembering(type(store.fs)):  # type: ignore[misc]
        cachable = False

        def ls(self, path: str, **options: Any) -> Any:
            if path not in self.dircache:
                self.dircache[path] = super().ls(path, **{**options, "detail": True})
            return self.dircache[path]

        def find(self, path: str, **options: Any) -> Any:
            return fsspec.AbstractFileSystem.find(self, path, **options)

        def invalidate_cache(self, path: str | None = None) -> None:
            if path is None:
                self.dircache.clear()
            self.dircache.pop(path, None)

    far = FsspecStore(Remembering(use_listings_cache=True), store.path)
    assert far.list() == ["a/b"]
    store.set("a/c", b"")
    assert [*far.list_sizes()] == [("a/b", 0), ("a/c", 0)]
    store.set("a/d", b"")
    assert far.list() == ["a/b", "a/c", "a/d"]


@pytest.mark.parametrize("within", [False, True])
def test_a_directory_that_cannot_be_listed_is_an_error(tmp_path: Path, within: bool) -> None:
    """fsspec leaves it out: a copy had nothing of its chunks, and a check found nothing wrong."""

    class Failing(type(fsspec.filesystem("file"))):  # type: ignore[misc]
        cachable = False

        def ls(self, path: str, detail: bool = False, **options: Any) -> Any:
            if path.endswith("/c"):
                raise TimeoutError("no answer")
            return super().ls(path, detail=detail, **options)

    blizzarr.create_array(tmp_path / "a", data=[1, 2, 3], chunks=1)
    directories = fsspec.filesystem("dir", path=str(tmp_path), fs=Failing())
    store = FsspecStore(directories, "a") if within else FsspecStore(Failing(), str(tmp_path / "a"))
    for use in (blizzarr.check, lambda store: blizzarr.copy(store, {}), lambda store: list(store.list_sizes())):
        with pytest.raises(StoreError, match="no answer"):
            use(store)
    assert store.list_dir().prefixes == ("c/",)


def test_the_root_is_not_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = FsspecStore(fsspec.filesystem("file"), "/")
    (tmp_path / "a").write_bytes(b"1")
    key = str(tmp_path / "a").lstrip("/")
    assert store.get("a") is None
    for same in (store, pickle.loads(pickle.dumps(store))):
        assert same.get(key) == b"1"
        assert place_of(same) == "file:/"
        assert key in same.list(key.rpartition("/")[0])


def test_a_bucket_that_is_missing_is_no_missing_value() -> None:
    """s3fs, gcsfs and adlfs raise FileNotFoundError for both."""

    class Buckets(fsspec.AbstractFileSystem):  # type: ignore[misc]
        def cat_file(self, path: str, **options: Any) -> bytes:
            raise FileNotFoundError(2, "The specified bucket does not exist")

    with pytest.raises(StoreError, match="bucket does not exist"):
        FsspecStore(Buckets(), "bucket/a").get("b")


def test_an_asynchronous_file_system_is_refused() -> None:
    class Asynchronous:
        asynchronous = True

    with pytest.raises(TypeError, match="without asynchronous=True"):
        FsspecStore(Asynchronous())


@pytest.mark.parametrize("kind", ["simplecache", "filecache"])
def test_copies_of_files(kind: str, tmp_path: Path) -> None:
    """One thread makes the copy that others read, and what was written would not be read again."""
    (tmp_path / "a").write_bytes(b"12345678")

    class Slow(type(fsspec.filesystem("file"))):  # type: ignore[misc]
        cachable = False

        def get_file(self, source: str, target: str, **options: Any) -> None:
            with open(target, "wb") as file:
                for byte in Path(source).read_bytes():
                    file.write(bytes([byte]))
                    file.flush()
                    time.sleep(0.002)

    cache = fsspec.filesystem(kind, fs=Slow(), cache_storage=str(tmp_path / "copies"), skip_instance_cache=True)
    store = FsspecStore(cache, str(tmp_path))
    assert store.get_many(["a"] * 4) == [b"12345678"] * 4
    with pytest.raises(ReadOnlyError, match="write to the file system below"):
        store.set("a", b"9")


def test_file_systems_that_refuse_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets do whose objects nobody may list; s3fs raises an error without a number."""
    store = in_memory()
    blizzarr.create_array(store, data=[1, 2, 3], chunks=2, name="a")
    cat = type(store.fs).cat_file

    def refuse(fs: Any, path: str, **options: Any) -> bytes:
        try:
            return bytes(cat(fs, path, **options))
        except FileNotFoundError:
            raise PermissionError("Access Denied") from None

    monkeypatch.setattr(type(store.fs), "cat_file", refuse)
    array = blizzarr.open_array(store, path="a", mode="r")
    assert array[:].tolist() == [1, 2, 3]
    store.delete("a/c/1")
    with pytest.raises(StoreError, match="Access Denied"):
        array[:]


@pytest.mark.parametrize("kind", ["file", "dir", "memory"])
def test_directories_that_become_empty_are_removed(kind: str, tmp_path: Path) -> None:
    """The directory of a removed row of chunks is where an array with fewer axes has its first chunk."""
    if kind == "dir":
        store = FsspecStore(fsspec.filesystem("dir", path=str(tmp_path), target_protocol="file"), "root")
    else:
        store = FsspecStore(fsspec.filesystem(kind), str(tmp_path / "root"))
    blizzarr.create_array(store, name="a", data=np.ones((4, 4)), chunks=(2, 2))
    line = blizzarr.create_array(store, name="a", shape=4, dtype="i4", chunks=2, overwrite=True)
    assert line[:].tolist() == [0, 0, 0, 0]
    line[1:3] = 7
    assert line[:].tolist() == [0, 7, 7, 0]
    single = blizzarr.create_array(store, name="a", data=5, overwrite=True)
    assert (single[()], store.list()) == (5, ["a/c", "a/zarr.json", "zarr.json"])
    store.set("a/d/e", b"a value")
    store.delete_prefix("a/c/")
    assert store.list() == ["a/c", "a/d/e", "a/zarr.json", "zarr.json"]
    store.delete_prefix("")
    assert store.list() == []
    store.set("a", b"a value")
    assert bytes(store.get("a") or b"") == b"a value"


# The first of several is asked for again.
@pytest.mark.parametrize(("at_once", "requests"), [(0, 6), (5, 6), (4, 1), (1, 1)])
def test_ranges_share_requests_that_would_wait_for_each_other(
    at_once: int, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = in_memory()
    store.set("value", bytes(range(250)) * 2000)
    store.remote = True
    asked = []
    cat_file = type(store.fs).cat_file

    def counted(*args: Any, **options: Any) -> Any:
        asked.append(args)
        return cat_file(*args, **options)

    monkeypatch.setattr(type(store.fs), "cat_file", counted)
    with blizzarr.config.set(concurrent_requests=at_once):
        parts = store.get_ranges("value", [(number * 100_001, 2) for number in range(5)])
    assert parts is not None
    assert [bytes(part) for part in parts] == [bytes([number, number + 1]) for number in range(5)]
    assert len(asked) == requests

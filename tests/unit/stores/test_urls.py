"""From what a user passes to a store."""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections import UserDict
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError, PathError, ReadOnlyError, StoreError, UnsupportedOperationError
from blizzarr.stores import (
    ForeignStore,
    LocalStore,
    MappingStore,
    MemoryStore,
    ReadOnlyStore,
    ZipStore,
    read_only,
    resolve,
)


def test_paths(tmp_path: Path) -> None:
    """A path as text, as a Path and as a file URL is a directory; nothing is made by looking (row 89)."""
    for target in (tmp_path / "a b", str(tmp_path / "a b"), (tmp_path / "a b").as_uri()):
        store, path = resolve(target, "r")
        assert isinstance(store, LocalStore)
        assert (store.root, path, store.read_only) == (tmp_path / "a b", "", True)
        assert store.get("zarr.json") is None
        assert store.list_dir().prefixes == ()
    assert not (tmp_path / "a b").exists()


def test_memory_url() -> None:
    """`memory://name` is one store for the process; None is a new one."""
    store, path = resolve("memory://test-urls/a/b", "a")
    store.set("a/b/x", b"value")
    assert path == "a/b"
    assert resolve("memory://test-urls")[0].get("a/b/x") == b"value"
    with pytest.raises(ReadOnlyError):
        resolve("memory://test-urls", "r")[0].set("x", b"")
    store.delete("a/b/x")
    assert isinstance(resolve(None)[0], MemoryStore)
    assert resolve(None)[0] is not resolve(None)[0]


def test_objects() -> None:
    """Stores pass as they are; mappings and objects with methods are wrapped."""
    store = MappingStore({})
    assert resolve(store, path="a/b") == (store, "a/b")
    assert isinstance(resolve(store, "r")[0], ReadOnlyStore)
    assert isinstance(resolve({})[0], MappingStore)

    class Reader:
        def get(self, key: str) -> bytes | None:
            return b"value" if key == "a" else None

    reader, _ = resolve(Reader())
    assert isinstance(reader, ForeignStore)
    assert reader.get("a") == b"value"
    assert reader.read_only
    with pytest.raises(UnsupportedOperationError, match="'list'"):
        reader.list()
    with pytest.raises(TypeError, match=r"methods of a store, found int, which has no get$"):
        resolve(3)
    with pytest.raises(TypeError, match=r"found ndarray, whose elements create_array\(path, data=...\) stores"):
        resolve(np.arange(3))  # type: ignore[arg-type]


def test_groups_of_other_libraries_are_no_stores() -> None:
    """Those of zarr-python have a method `get`, so that they were read as stores in which nothing is."""

    class Group:
        def get(self, path: str, default: object = None) -> object:
            return default

        def create_array(self, name: str) -> object: ...

    for function in (blizzarr.open, lambda group: blizzarr.copy(group, {})):
        with pytest.raises(TypeError, match=r"^expected a store, found Group, which is a group; pass the path"):
            function(Group())  # type: ignore[operator]


def test_asynchronous_objects_are_refused_with_advice() -> None:
    """zarr-python's own stores are asynchronous."""

    class Waits:
        async def get(self, key: str) -> bytes | None:
            return None

    with pytest.raises(TypeError, match=r"asynchronous \(get\); pass the path"):
        resolve(Waits())


def test_zip(tmp_path: Path) -> None:
    """A .zip is a file with a store in it, and the path may go on inside; a directory named so stays one."""
    with ZipStore(tmp_path / "x.zip", "w") as made:
        made.set("a/b", b"value")
    store, path = resolve(tmp_path / "x.zip" / "a", "r")
    assert isinstance(store, ZipStore)
    assert (path, store.get("a/b")) == ("a", b"value")
    assert resolve(str(tmp_path / "x.zip"), "r", path="a")[1] == "a"
    with pytest.raises(NodeNotFoundError, match=r"no file .*y\.zip; a new one appears when it is closed"):
        resolve(tmp_path / "y.zip", "r")
    (tmp_path / "d.zip").mkdir()
    assert isinstance(resolve(tmp_path / "d.zip")[0], LocalStore)


def test_a_zip_file_of_a_directory(tmp_path: Path) -> None:
    """What `zip -r x.zip heat.zarr` makes has the directory in it: the error says what to add."""
    array = blizzarr.create_array(tmp_path / "heat.zarr", data=[1, 2], zarr_format=2)
    with ZipStore(tmp_path / "x.zip", "w") as made:
        made.set("notes/a.txt", b"")
        for key in array.store.list():
            made.set(f"heat.zarr/{key}", array.store.get(key))
    with pytest.raises(NodeNotFoundError, match=r"found heat.zarr/, notes/; .* to the path, like 'heat.zarr'$"):
        blizzarr.open(tmp_path / "x.zip")
    assert blizzarr.open(tmp_path / "x.zip" / "heat.zarr")[:].tolist() == [1, 2]


def test_urls_of_other_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package that opens it, the error names the extra, and shows no credentials (row 128)."""
    for library in ("obstore", "fsspec", "fsspec.core"):
        monkeypatch.setitem(sys.modules, library, None)
    assert str(resolve("s3://bucket/x")[0]) == "s3://bucket/x"
    with pytest.raises(UnsupportedOperationError, match="install fsspec") as caught:
        resolve("sftp://key:secret@host/x")
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="on this machine"):
        resolve("file://elsewhere/x")


@pytest.mark.parametrize("ending", ["#2", "?v=1", "#", "?", "|zip:", "\n2"])
def test_characters_that_end_the_path_of_a_url_are_refused(tmp_path: Path, ending: str) -> None:
    """Cut off there, `file:///d/run#2` would name `/d/run`, which mode "w" would replace."""
    blizzarr.save(tmp_path / "run", np.arange(3))
    with pytest.raises(ValueError, match=f"write %{ord(ending[0]):02X}"):
        blizzarr.open_array((tmp_path / "run").as_uri() + ending, mode="w", shape=1, dtype="i1")
    assert blizzarr.load(tmp_path / "run").tolist() == [0, 1, 2]
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.parametrize("name", ["run#2", "run?v=1", "a%20b", "50%", "ü", "a\nb", "a|b"])
def test_a_url_written_by_pathlib_is_the_path(tmp_path: Path, name: str) -> None:
    store, _ = resolve((tmp_path / name).as_uri())
    assert (str(store), resolve(f"{tmp_path}/{name}")[0] == store) == (f"{tmp_path}/{name}", True)


def test_bytes_of_a_url_that_are_no_utf_8_do_not_become_other_characters(tmp_path: Path) -> None:
    """The engine takes no such path; the URL must not name a directory called U+FFFD."""
    with pytest.raises(ValueError, match="expected a path in UTF-8"):
        resolve(f"{tmp_path.as_uri()}/%ff")


def test_forms_of_file_urls(tmp_path: Path) -> None:
    """With a host that is this machine; without an authority (RFC 8089, and what `Path(url)` leaves of a URL)."""
    for url in (f"file://localhost{tmp_path}", f"FILE://LocalHost{tmp_path}", f"file:{tmp_path}"):
        assert str(resolve(url)[0]) == str(tmp_path)
    assert str(resolve(Path(tmp_path.as_uri()))[0]) == str(tmp_path)
    for url in ("file://", "file::/d", "file://localhost"):
        with pytest.raises(ValueError, match="expected file:///path"):
            resolve(url)


def test_wrong_arguments(tmp_path: Path) -> None:
    """A mode that is none, a path that leads out, a file where a directory is expected."""
    with pytest.raises(ValueError, match="expected mode 'r'"):
        resolve({}, "rw")
    with pytest.raises(PathError):
        resolve({}, path="../a")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="expected a directory, found a file"):
        resolve(tmp_path / "file")


def test_failures_of_a_mapping_carry_the_place() -> None:
    """Only KeyError is "missing"; the rest is a StoreError with key, cause and errno."""

    class Broken(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            raise PermissionError(13, "Permission denied")

    with pytest.raises(StoreError, match=r"cannot read key a/b in .*Permission denied") as caught:
        MappingStore(Broken()).get("a/b")
    assert (caught.value.key, caught.value.errno) == ("a/b", 13)
    assert isinstance(caught.value.__cause__, PermissionError)
    with pytest.raises(StoreError, match="TypeError"):
        MappingStore({"a": 3}).get("a")
    assert MappingStore({"a": b"", "/b": b"", 3: b""}).list() == ["a"]


def test_pickling(tmp_path: Path) -> None:
    """A directory opens elsewhere; memory travels as a snapshot that cannot be written."""
    store = LocalStore(tmp_path)
    store.set("a", b"value")
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert again.get("a") == b"value"
    memory = MemoryStore()
    memory.set("a", b"value")
    copy = pickle.loads(pickle.dumps(memory))
    assert copy.get("a") == b"value"
    with pytest.raises(ReadOnlyError):
        copy.set("a", b"lost")
    values = pickle.loads(pickle.dumps(MappingStore({"a": b"value"})))
    assert values.get("a") == b"value"
    with pytest.raises(ReadOnlyError):
        values.set("a", b"lost")
    # Of other mappings nobody knows what their copies are; many stand for a place.
    elsewhere = pickle.loads(pickle.dumps(MappingStore(UserDict())))
    elsewhere.set("a", b"value")
    assert pickle.loads(pickle.dumps(MappingStore(UserDict(), read_only=True))).read_only


def test_read_only_is_a_handle() -> None:
    """Making a handle read only twice changes nothing, and the store behind it can still be written."""
    store = MappingStore({})
    handle = read_only(store)
    assert read_only(handle) is handle
    store.set("a", b"value")
    assert handle.get("a") == b"value"
    assert list(handle.list()) == ["a"]


def test_a_read_only_handle_refuses_every_write() -> None:
    """Also those that return whether they did it; the store stays as it is."""
    values = {"a": b"1"}
    handle = ReadOnlyStore(MappingStore(values))
    for write in (
        lambda: handle.set("a", b"2"),
        lambda: handle.replace("a", b"1", b"2"),
        lambda: handle.discard("a", b"1"),
        lambda: handle.delete("a"),
        lambda: handle.delete_prefix("a"),
    ):
        with pytest.raises(ReadOnlyError, match="for reading; to change it, open its path with mode 'r\\+' or 'a', or"):
            write()
    assert values == {"a": b"1"}


def test_a_store_made_for_reading_says_what_would_help(tmp_path: Path) -> None:
    """Opening it with another mode does not."""
    blizzarr.save(tmp_path / "a", np.arange(3))
    array = blizzarr.open_array(LocalStore(tmp_path / "a", read_only=True), mode="r+")
    with pytest.raises(ReadOnlyError, match=r"or make the store without read_only=True$"):
        array[0] = 1
    assert blizzarr.load(tmp_path / "a").tolist() == [0, 1, 2]


def test_a_mapping_that_cannot_be_changed_is_read_only() -> None:
    """Its content is not shown in errors."""
    values: dict[str, bytes] = {}
    blizzarr.save(values, np.arange(3))
    fixed = MappingProxyType(values)
    store, _ = resolve(fixed, "r+")
    assert isinstance(store, MappingStore)
    assert store.list() == ["c/0", "zarr.json"]
    with pytest.raises(ReadOnlyError) as caught:
        blizzarr.open_array(fixed)[0] = 1
    assert str(caught.value).startswith("<MappingStore over mappingproxy at 0x")
    assert blizzarr.load(fixed).tolist() == [0, 1, 2]


def test_objects_are_shown_in_short() -> None:
    """An error does not begin with all that an object is made of."""

    class Long:
        values: ClassVar[dict[str, bytes]] = {"k" * 5000: b""}

        def get(self, key: str) -> bytes | None:
            return self.values.get(key)

        def __repr__(self) -> str:
            return f"Long({self.values})"

    shown = str(resolve(Long())[0])
    assert shown.startswith("<ForeignStore over Long({'kkk")
    assert len(shown) < 200


@pytest.mark.parametrize("of", ["group", "array"])
def test_nodes_are_no_stores(of: str) -> None:
    """A group looks like a store with the member zarr.json."""
    values: dict[str, bytes] = {}
    group = blizzarr.create_group(values, path="g/h")
    before = dict(values)
    node = group if of == "group" else blizzarr.create_array({}, name="g/h", data=[1])
    for use in (
        lambda: blizzarr.open(node),
        lambda: blizzarr.open_group(node, mode="r"),
        lambda: blizzarr.create_array(node, name="a", data=[1]),
        lambda: blizzarr.create_group(node, path="a"),
        lambda: blizzarr.save(node, [1, 2]),
        lambda: blizzarr.save(node, x=[1, 2]),
        lambda: blizzarr.copy(np.arange(2), node),
    ):
        with pytest.raises(TypeError, match=rf"found an? {of}; open it with blizzarr\.open\({of}\.store, path='g/h'\)"):
            use()
    assert values == before


@pytest.mark.parametrize("path", [5, b"a", Path("a"), 0, ["a"]])
def test_paths_of_nodes_are_text(path: Any) -> None:
    values: dict[str, bytes] = {}
    for use in (
        lambda: blizzarr.create_array(values, name=path, data=[1]),
        lambda: blizzarr.create_group(values, path=path),
        lambda: blizzarr.open_group(values, path=path),
        lambda: blizzarr.open(values, path=path),
        lambda: blizzarr.save(values, [1], path=path),
        lambda: blizzarr.load(values, path=path),
        lambda: blizzarr.copy(np.arange(2), values, path=path),
        lambda: blizzarr.array([1], store=values, path=path),
        lambda: blizzarr.zeros(3, store=values, path=path),
        lambda: blizzarr.empty_like(np.arange(2), store=values, path=path),
        lambda: blizzarr.check(values, path),
        lambda: blizzarr.consolidate_metadata(values, path=path),
    ):
        with pytest.raises(TypeError, match=re.escape(f"like 'a/b', found {path!r}")):
            use()
    assert values == {}


def test_a_slash_is_the_root() -> None:
    assert blizzarr.create_array({}, name="/", data=[1]).name == "/"
    assert blizzarr.create_group({}, path="/").name == "/"
    store: dict[str, bytes] = {}
    blizzarr.create_array(store, data=[1, 2])
    for opened in (blizzarr.open(store, path="/"), blizzarr.open_array(store, path="/")):
        assert opened.name == "/"
        assert opened[...].tolist() == [1, 2]
    with pytest.raises(blizzarr.errors.NodeExistsError):
        blizzarr.create_array(store, name="/", data=[3])


def test_a_slash_at_either_end_of_a_path_is_ignored() -> None:
    blizzarr.create_array(store := {}, name="a/b", data=[1, 2])
    for path in ("a/b", "/a/b", "a/b/", "/a/b/"):
        assert blizzarr.open(store, path=path)[1] == 2
    with pytest.raises(PathError, match="a segment is empty"):
        blizzarr.open(store, path="a//b")


def test_what_is_no_url_or_file_system_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a file system of fsspec, found 'memory://a'; FsspecStore\.from_url"):
        blizzarr.stores.FsspecStore("memory://a")
    with pytest.raises(TypeError, match=r"expected a URL as text, found .*Path"):
        blizzarr.stores.ObjectStore.from_url(Path("a.zarr"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected retry_config to be a mapping, like {'max_retries': 3}, found 3"):
        blizzarr.stores.ObjectStore.from_url("s3://a/b", retry_config=3)


def test_memories_of_several_names_may_have_several_formats() -> None:
    for number in (2, 3):
        blizzarr.create_group(f"memory://test-urls-v{number}/a", zarr_format=number, overwrite=True)
        assert blizzarr.open(f"memory://test-urls-v{number}/a").metadata.format == f"v{number}"


@pytest.mark.skipif(sys.platform == "win32", reason="a letter is a drive there")
def test_a_letter_is_a_scheme_that_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsupportedOperationError, match=r"no URLs begin with x://; .* of file, memory, s3, gs"):
        blizzarr.save("x://y", np.arange(3))
    with pytest.raises(ValueError, match=r"write '\./C:' for the directory"):
        blizzarr.save("C:/y", np.arange(3))
    assert os.listdir(tmp_path) == []
    blizzarr.save("a::b", np.arange(3))
    assert os.listdir(tmp_path) == ["a::b"]


@pytest.mark.parametrize(
    "target", [Path("s3://bucket/x"), Path("memory://x"), "x:/y", "gs:/b", "s3:/key:secret@bucket"]
)
def test_urls_that_have_lost_a_slash_are_no_directories(
    target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Path(url)` leaves one slash of two: what was to be stored far away went to a directory called `s3:`."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"found \w+:/, .*: pass URLs as text; write '\./\w+:' for") as caught:
        blizzarr.save(target, np.arange(3))
    assert "secret" not in str(caught.value)
    assert os.listdir(tmp_path) == []
    blizzarr.save(f"./{target}", np.arange(3))
    assert blizzarr.load(tmp_path / target).tolist() == [0, 1, 2]


class _Named:
    """A path that is neither text nor one of pathlib's, like the entries of `os.scandir`."""

    def __init__(self, path: str | bytes) -> None:
        self._path = path

    def __fspath__(self) -> Any:
        return self._path


@pytest.mark.parametrize("kind", [os.fspath, os.fsencode])
def test_all_kinds_of_paths_are_taken(kind: Any, tmp_path: Path) -> None:
    def named(name: str) -> _Named:
        return _Named(kind(tmp_path / name))

    np.save(tmp_path / "x.npy", np.arange(3))
    np.savez(tmp_path / "x.npz", y=np.arange(4))
    assert blizzarr.copy(named("x.npy"), named("a"))[:].tolist() == [0, 1, 2]
    assert blizzarr.copy(named("x.npz"), named("b.zip"))["y"][:].tolist() == [0, 1, 2, 3]
    assert blizzarr.load(named("b.zip"))["y"].tolist() == [0, 1, 2, 3]
    assert LocalStore(named("a")) == LocalStore(tmp_path / "a")
    with ZipStore(named("b.zip")) as archive:
        assert archive.path == tmp_path / "b.zip"
    assert blizzarr.check(named("a"), record=named("m")).manifest.done == "recorded"
    assert blizzarr.check(named("a"), against=named("m")).ok
    assert blizzarr.diff(named("a"), named("a")).arrays == 1
    blizzarr.save(named("c"), np.arange(6).reshape(2, 3))
    blizzarr.show(named("c"), path=named("p.png"))
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    chunk = tmp_path / "a/c/0"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    blizzarr.check(named("a"), repair=True, quarantine=named("q"), quarantine_damaged=True)
    assert [file.name for file in (tmp_path / "q").rglob("*") if file.is_file()] == ["0"]

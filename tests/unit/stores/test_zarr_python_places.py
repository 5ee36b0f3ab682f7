"""Stores of zarr-python whose place we know become our stores of that place."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fsspec.asyn import AsyncFileSystem
from obstore.store import LocalStore as ObstoreLocalStore
from obstore.store import MemoryStore as ObstoreMemoryStore
from obstore.store import S3Store as ObstoreS3Store

import blizzarr
from blizzarr.errors import ReadOnlyError, StoreError
from blizzarr.stores import FsspecStore, LocalStore, MappingStore, ZipStore
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.place import place_of
from blizzarr.stores.urls import resolve
from blizzarr.stores.zarr_python import native_store
from blizzarr.testing.stores import StoreContract

zarr = pytest.importorskip("zarr", "3.0", reason="zarr-python 3 is not installed")
storage: Any = pytest.importorskip("zarr.storage")


def test_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = native_store(storage.LocalStore("~a", read_only=True))
    assert isinstance(store, LocalStore)
    assert (store.root, store.read_only) == (tmp_path / "~a", True)


class TestMemory(StoreContract):
    def make(self, tmp_path: Path) -> Any:
        return native_store(storage.MemoryStore())


def test_memory_is_shared_with_zarr_python() -> None:
    memory = storage.MemoryStore()
    theirs = zarr.create_array(memory, shape=(4,), dtype="i4")
    theirs[:] = [1, 2, 3, 4]
    ours = blizzarr.open_array(memory)
    assert ours[:].tolist() == [1, 2, 3, 4]
    ours[1:3] = 9
    assert theirs[:].tolist() == [1, 9, 9, 4]
    ours.attrs["unit"] = "m"
    assert zarr.open_array(memory).attrs["unit"] == "m"


def test_two_handles_of_memory_are_one_place() -> None:
    memory = storage.MemoryStore()
    first, second = native_store(memory), native_store(memory.with_read_only(True))
    assert first is not None
    assert second is not None
    assert place_of(first) == place_of(second)
    assert second.read_only  # type: ignore[attr-defined]
    with pytest.raises(ReadOnlyError):
        second.set("a", b"1")


def test_a_pickled_memory_is_a_snapshot() -> None:
    store = native_store(storage.MemoryStore())
    assert isinstance(store, MappingStore)
    store.set("a", b"1")
    store.set("empty", b"")
    copy = pickle.loads(pickle.dumps(store))
    assert (bytes(copy.get("a")), bytes(copy.get("empty")), copy.read_only) == (b"1", b"", True)


def test_a_zip_file_that_is_only_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a", b"1")
    store = native_store(storage.ZipStore(tmp_path / "a.zip"))
    assert isinstance(store, ZipStore)
    assert (store.get("a"), store.read_only) == (b"1", True)
    assert native_store(storage.ZipStore(tmp_path / "a.zip", mode="a")) is None
    assert native_store(storage.ZipStore(tmp_path / "a.zip", mode="a", read_only=True)) is None


def test_a_zip_file_that_is_no_longer_there(tmp_path: Path) -> None:
    """zarr-python has it open, and goes on reading it."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("zarr.json", '{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}')
    store = storage.ZipStore(tmp_path / "a.zip")
    zarr.open_group(store, mode="r")
    (tmp_path / "a.zip").unlink()
    assert native_store(store) is None
    assert blizzarr.open_group(store, mode="r").attrs["a"] == 1


def test_a_zip_file_that_is_written(tmp_path: Path) -> None:
    with storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        blizzarr.create_array(store, shape=(2,), dtype="i4")[:] = [1, 2]
    assert blizzarr.open_array(tmp_path / "a.zip")[:].tolist() == [1, 2]


def test_objects(tmp_path: Path) -> None:
    target = ObstoreMemoryStore()
    store = native_store(storage.ObjectStore(target, read_only=True))
    assert isinstance(store, ForeignStore)
    assert store.read_only
    assert place_of(store) == place_of(resolve(target)[0])
    bucket = native_store(storage.ObjectStore(ObstoreS3Store("shelf", prefix="a", skip_signature=True)))
    assert str(bucket) == "s3://shelf/a"
    directory = native_store(storage.ObjectStore(ObstoreLocalStore(tmp_path)))
    assert isinstance(directory, LocalStore)
    assert (directory.root, directory.read_only) == (tmp_path, False)


def test_a_relative_directory_of_obstore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays where it was when the store was made, which the store does not tell."""
    for name in ("data", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    target = ObstoreLocalStore("data")
    monkeypatch.chdir("elsewhere")
    with pytest.raises(ValueError, match="pass the path itself"):
        blizzarr.create_array(target, shape=2, dtype="i4")
    store = storage.ObjectStore(target)
    assert native_store(store) is None
    blizzarr.create_array(store, shape=2, dtype="i4")[:] = [1, 2]
    assert blizzarr.open_array(tmp_path / "data")[:].tolist() == [1, 2]


def test_an_attribute_that_a_wrapper_passes_on() -> None:
    class Passing(storage.WrapperStore):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            if name == "_store":
                raise AttributeError(name)
            return getattr(self._store, name)

    inner = storage.MemoryStore()
    inner.engine_store = MappingStore({})
    assert native_store(Passing(inner)) is None


def test_file_systems(tmp_path: Path) -> None:
    local = native_store(storage.FsspecStore.from_url(f"file://{tmp_path}/a.zarr", read_only=True))
    assert isinstance(local, LocalStore)
    assert (local.root, local.read_only) == (tmp_path / "a.zarr", True)
    memory = native_store(storage.FsspecStore.from_url("memory://b.zarr"))
    assert isinstance(memory, FsspecStore)
    assert (type(memory.fs).__name__, memory.path, memory.read_only) == ("MemoryFileSystem", "/b.zarr", False)
    remote = storage.FsspecStore(_Slow({"a": "1"}, asynchronous=True), path="c.zarr")
    twin = native_store(remote)
    assert isinstance(twin, FsspecStore)
    assert (type(twin.fs), twin.fs.asynchronous, twin.path, twin.get("d")) == (_Slow, False, "c.zarr", b"c.zarr/d 1")


class _Slow(AsyncFileSystem):  # type: ignore[misc]
    """Its files hold their own paths."""

    protocol = "slow"

    def __init__(self, names: dict[str, str], **options: Any) -> None:
        super().__init__(**options)
        self.names = names

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        return f"{path} {self.names['a']}".encode()[start:end]


def test_references_have_file_systems_within(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"abcdef")
    references = {"version": 1, "refs": {"c/0": [f"file://{tmp_path}/data", 2, 3], "lost": [f"{tmp_path}/none", 0, 1]}}
    theirs = storage.FsspecStore.from_url(
        "reference://", storage_options={"fo": references, "remote_protocol": "file", "remote_options": {}}
    )
    store = native_store(theirs)
    assert isinstance(store, FsspecStore)
    assert (store.get("c/0"), store.get("c/1")) == (b"cde", None)
    with pytest.raises(StoreError):
        store.get("lost")


def test_wrapped_without_a_change(tmp_path: Path) -> None:
    wrapped = storage.WrapperStore(storage.LocalStore(tmp_path))
    store = native_store(wrapped)
    assert isinstance(store, LocalStore)
    assert store.root == tmp_path


def test_what_may_do_something_else_is_not_known(tmp_path: Path) -> None:
    class Mine(storage.LocalStore):  # type: ignore[misc]
        pass

    assert native_store(Mine(tmp_path)) is None
    assert native_store(storage.LoggingStore(storage.LocalStore(tmp_path))) is None
    assert native_store(storage.WrapperStore(Mine(tmp_path))) is None
    missing = (*storage.FsspecStore.from_url("memory://a").allowed_exceptions, PermissionError)
    fs = storage.FsspecStore.from_url("memory://a").fs
    assert native_store(storage.FsspecStore(fs, path="/a", allowed_exceptions=missing)) is None
    assert native_store(np.zeros(3)) is None


def test_a_file_in_the_place_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="expected a directory"):
        native_store(storage.LocalStore(tmp_path / "file"))


def test_zarr_python_is_not_imported() -> None:
    script = "import sys, blizzarr; blizzarr.create_array({}, shape=(2,), dtype='i4'); print('zarr' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"

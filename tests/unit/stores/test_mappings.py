"""Mappings of the user's own, which the engine calls while it reads and writes their chunks."""

from __future__ import annotations

import dbm.dumb
import shelve
import sys
import time
from collections import ChainMap
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import pytest

from blizzarr.api import check, copy, create_array, create_group, open_array
from blizzarr.errors import LimitError, NodeNotFoundError, ReadOnlyError, StoreError
from blizzarr.stores import MappingStore


class Full(dict[str, bytes]):
    """There is no memory for chunks."""

    full = False

    def __getitem__(self, key: str) -> bytes:
        if self.full and key.startswith("c/"):
            raise MemoryError("full")
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: bytes) -> None:
        if self.full and key.startswith("c/"):
            raise MemoryError("full")
        super().__setitem__(key, value)


def test_short_memory_is_no_failure_of_the_store() -> None:
    """It is an error of the class that callers catch for it, with the place."""
    store = Full()
    array = create_array(store, data=range(6), chunks=2)
    store.full = True
    with pytest.raises(LimitError, match="full") as read:
        array[:]
    with pytest.raises(LimitError, match="full") as written:
        array[:] = 1
    assert (read.value.key, type(read.value.__cause__)) == ("c/0", MemoryError)
    assert isinstance(written.value, MemoryError)
    store.full = False
    assert array[:].tolist() == list(range(6))


class WatchedShelf(shelve.Shelf[bytes]):
    """A shelf that notices calls at the same time."""

    calls = 0

    def __getitem__(self, key: str) -> bytes:
        self.calls += 1
        time.sleep(0.001)
        assert self.calls == 1
        self.calls -= 1
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: bytes) -> None:
        self.calls += 1
        time.sleep(0.001)
        assert self.calls == 1
        self.calls -= 1
        super().__setitem__(key, value)


def test_a_shelf_gets_one_call_at_a_time() -> None:
    """Two would store two values in one place."""
    shelf = WatchedShelf({})
    data = np.arange(64.0)
    array = create_array(shelf, data=data, chunks=4)
    np.testing.assert_array_equal(array[:], data)
    np.testing.assert_array_equal(copy(shelf, {})[:], data)  # type: ignore[index]
    assert check(shelf).kinds() == {}


def test_beside_zarr_python_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stores are mappings, and its module has no class for a store with a path."""
    monkeypatch.setitem(sys.modules, "zarr.storage", ModuleType("zarr.storage"))
    store: dict[str, Any] = {}
    assert create_array(store, data=range(4))[:].tolist() == [0, 1, 2, 3]


def test_a_mapping_that_keeps_what_was_deleted() -> None:
    """The chunk below would be read again, in place of the fill value that was written."""
    below: dict[str, Any] = {}
    create_array(below, data=[1, 2, 3, 4], chunks=2)
    array = open_array(ChainMap({}, below))
    array[:2] = [5, 0]
    with pytest.raises(StoreError, match=r"cannot delete key c/1 .* not found in the first mapping"):
        array[2:] = 0
    assert array[:].tolist() == [5, 0, 3, 4]


def test_names_in_bytes(tmp_path: Path) -> None:
    """Databases have them: without members, copies would be empty, and nothing would be removed."""
    with dbm.dumb.open(str(tmp_path / "values"), "c") as values:
        group = create_group(values)  # type: ignore[arg-type]
        group.create_array("a", data=range(5), chunks=2)
        assert copy(group, {})["a"][:].tolist() == [0, 1, 2, 3, 4]
        del group["a"]
        assert list(values) == [b"zarr.json"]


def test_a_mapping_that_cannot_be_changed() -> None:
    """The error does not say how to open it for writing."""
    values: dict[str, Any] = {}
    create_array(values, data=[1, 2])
    with pytest.raises(ReadOnlyError, match="the mapping cannot be changed"):
        open_array(MappingProxyType(values))[0] = 3


def test_names_that_no_key_can_have() -> None:
    """A mapping that has nothing else is not empty."""
    values: dict[str, Any] = {}
    create_array(values, data=[1, 2])
    with pytest.raises(NodeNotFoundError, match=r"found '/c/0', '/zarr.json', which no key of a store can be"):
        open_array({f"/{key}": value for key, value in values.items()})


@pytest.mark.parametrize(
    ("place", "name", "reason"),
    [("diskcache", "FanoutCache", "drops values"), ("zarr.n5", "N5Store", "lists other names .* pass its path")],
)
def test_what_loses_values_is_refused(monkeypatch: pytest.MonkeyPatch, place: str, name: str, reason: str) -> None:
    """It would read as the fill value. A cache of many files fails even when it is asked for attributes."""

    def fail(_: object, asked: str) -> None:
        raise AssertionError(f"cannot access {asked} in cache shard")

    module = ModuleType(place)
    kind = type(name, (), {"__getattr__": fail})
    setattr(module, name, kind)
    monkeypatch.setitem(sys.modules, place, module)
    with pytest.raises(TypeError, match=f"{name}, which {reason}"):
        create_array(kind(), data=[1, 2])


class OneBuffer(dict[str, Any]):
    """The value of each call is in the place of the one before, as in databases that lend their memory."""

    memory = bytearray(4096)

    def __getitem__(self, key: str) -> memoryview:
        value = super().__getitem__(key)
        self.memory[: len(value)] = value
        return memoryview(self.memory)[: len(value)]


def test_values_in_memory_that_is_used_again() -> None:
    """Several values that are asked for at once would be parts of the last one."""
    store = MappingStore(OneBuffer(a=b"1", b=b"23"))
    assert store.get_many(["a", "b"]) == [b"1", b"23"]


def test_names_that_come_twice() -> None:
    """Those of a zip file do, in a `ZipStore` of zarr-python 2."""

    class Twice(dict[str, bytes]):
        def __iter__(self) -> Iterator[str]:
            return iter([*self.keys(), *self.keys()])

    assert create_array(Twice(), data=[1, 2, 3], chunks=1).nchunks_initialized == 3

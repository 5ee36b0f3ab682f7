"""Mappings of the user's own, which the engine calls while it reads and writes their chunks."""

from __future__ import annotations

import shelve
import sys
import time
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from blizzarr.api import check, copy, create_array
from blizzarr.errors import LimitError


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

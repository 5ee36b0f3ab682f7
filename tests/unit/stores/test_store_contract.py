"""Every store that comes with the library keeps the contract."""

from __future__ import annotations

import sys
from collections import UserDict
from pathlib import Path
from typing import Any

import pytest

from blizzarr.stores import ForeignStore, LocalStore, MappingStore, MemoryStore, Store, StoreWrapper, ZipStore
from blizzarr.testing.stores import StoreContract
from support.user_stores import Unlisted


class TestLocalStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return LocalStore(tmp_path / "root")


@pytest.mark.skipif(sys.platform != "linux", reason="no such directories on this system")
class TestLocalStoreWithinRoot(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return LocalStore(tmp_path / "root", links="within-root")


class TestMemoryStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return MemoryStore()


class TestMappingStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return MappingStore({})


class TestMappingStoreOverAnotherMapping(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return MappingStore(UserDict())


class TestZipStoreStored(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return ZipStore(tmp_path / "root.zip", mode="w")


class TestZipStoreDeflated(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return ZipStore(tmp_path / "root.zip", mode="a", compression="deflated")


class Few(Unlisted):
    """As little as a store can have and still be written and listed."""

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in tuple(self.values) if key.startswith(prefix)]


class TestForeignStoreOverFewMethods(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return ForeignStore(Few())


class TestForeignStoreOverAllMethods(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return ForeignStore(MappingStore({}))


def test_a_method_that_is_none_is_one_that_the_store_lacks() -> None:
    """So a class says that it lacks a method of its base class."""
    few: Any = Few()
    few.delete_prefix = few.flush = few.close = None
    store = StoreWrapper(few)
    store.set("a/b", b"1")
    store.delete_prefix("a/")
    store.flush()
    store.close()
    assert store.list() == []

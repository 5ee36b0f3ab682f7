"""Stores that are written to the draft's interface: what they leave out is made from the rest, and they hold arrays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import StoreError, UnsupportedOperationError
from blizzarr.stores import Listing, Store, Value
from blizzarr.testing.stores import StoreContract
from blizzarr.transformers import KeyRange, KeyStartValue, PartialAccessStore, StoreWithPartialAccess


class Whole(StoreWithPartialAccess):
    """Only operations on whole values."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, key: str) -> Value | None:
        return self.values.get(key)

    def set(self, key: str, value: Value) -> None:
        self.values[key] = bytes(value)

    def erase(self, key: str) -> None:
        self.values.pop(key, None)

    def list(self) -> Iterable[str]:
        return list(self.values)


class Partial(StoreWithPartialAccess):
    """Only operations on parts and on several values, and only one way to list."""

    def __init__(self) -> None:
        self.values: dict[str, bytearray] = {}
        self.calls: list[str] = []

    def get_partial_values(self, key_ranges: Iterable[KeyRange]) -> list[Value | None]:
        self.calls.append("get_partial_values")
        found: list[Value | None] = []
        for key, (start, length) in key_ranges:
            value = self.values.get(key)
            found.append(None if value is None else bytes(value[start : None if length is None else start + length]))
        return found

    def set_partial_values(self, key_start_values: Iterable[KeyStartValue]) -> None:
        for key, start, value in key_start_values:
            old = self.values.setdefault(key, bytearray())
            old.extend(bytes(max(0, start - len(old))))
            old[start : start + len(value)] = value

    def erase_values(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.values.pop(key, None)

    def list_dir(self, prefix: str) -> Listing:
        rest = [key[len(prefix) :] for key in self.values if key.startswith(prefix)]
        keys = sorted(prefix + name for name in rest if "/" not in name)
        return Listing(
            tuple(keys), tuple(sorted({prefix + name.partition("/")[0] + "/" for name in rest if "/" in name}))
        )


class Prefixed(Whole):
    """Lists by prefix alone."""

    list = StoreWithPartialAccess.list

    def list_prefix(self, prefix: str) -> Iterable[str]:
        return [key for key in self.values if key.startswith(prefix)]


@pytest.mark.parametrize("kind", [Whole, Partial, Prefixed])
def test_d101_fallbacks_both_ways(kind: type[StoreWithPartialAccess]) -> None:
    """D-101: parts from whole values, whole values from parts, and all kinds of listing from one."""
    store = kind()
    assert (store.readable, store.writable, store.erasable, store.listable) == (True, True, True, True)
    store.set("a/b", b"0123456789")
    store.set("a/b", b"01234")
    store.set("a/c/d", b"d")
    store.set("e", b"e")
    store.set_partial_values([("a/b", 1, b"xy"), ("a/c/d", 0, b"D")])
    assert [store.get(key) for key in ("a/b", "a/c/d", "e", "f")] == [b"0xy34", b"D", b"e", None]
    assert store.get_partial_values([("a/b", (1, 2)), ("f", (0, None)), ("a/b", (3, None))]) == [b"xy", None, b"34"]
    assert sorted(store.list()) == ["a/b", "a/c/d", "e"]
    assert sorted(store.list_prefix("a/")) == ["a/b", "a/c/d"]
    assert store.list_dir("a/") == Listing(("a/b",), ("a/c/",))
    assert store.list_dir("") == Listing(("e",), ("a/",))
    store.erase("e")
    store.erase_values(["a/b"])
    assert list(store.list()) == ["a/c/d"]
    store.erase_prefix("a/")
    assert list(store.list()) == []


def test_d102_what_can_be_made_from_nothing_is_an_error_that_names_both() -> None:
    """D-102: any subset is allowed; the rest says what is missing."""

    class Nothing(StoreWithPartialAccess):
        pass

    store = Nothing()
    assert (store.readable, store.writable, store.erasable, store.listable) == (False, False, False, False)
    with pytest.raises(UnsupportedOperationError, match="Nothing has neither get nor get_partial_values"):
        store.get("a")
    for operation in (
        lambda: store.get_partial_values([]),
        lambda: store.set("a", b""),
        lambda: store.set_partial_values([]),
        lambda: store.erase("a"),
        lambda: store.erase_values([]),
        lambda: store.erase_prefix("a/"),
        lambda: list(store.list()),
        lambda: list(store.list_prefix("a/")),
        lambda: store.list_dir("a/"),
    ):
        with pytest.raises(UnsupportedOperationError):
            operation()


def test_d91_d101_parts_are_asked_for_at_once() -> None:
    """D-91: a store that takes many requests gets them as one."""
    target = Partial()
    store = PartialAccessStore(target)
    store.set("a", b"0123456789")
    target.calls.clear()
    assert store.get_ranges("a", [(0, 1), (5, 2)]) == [b"0", b"56"]
    assert target.calls == ["get_partial_values"]


class TestPartialAccessStoreOverWholeValues(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return PartialAccessStore(Whole())


class Atomic(Partial):
    """As the contract of our stores asks for: a value is replaced at once."""

    def set(self, key: str, value: Value) -> None:
        self.values[key] = bytearray(value)


class TestPartialAccessStoreOverParts(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return PartialAccessStore(Atomic())

    def test_many_threads(self, store: Store) -> None:
        """The store of this test is not for several threads."""


@pytest.mark.parametrize("kind", [Whole, Atomic])
def test_d101_arrays_in_stores_of_the_draft(kind: type[StoreWithPartialAccess]) -> None:
    """Whatever operations it has, a store of the draft's interface holds arrays, shards too."""
    store = PartialAccessStore(kind())
    data = np.arange(64).reshape(8, 8)
    for shards in (None, (4, 4)):
        z = blizzarr.create_array(store, name="a", data=data, chunks=(2, 2), shards=shards, overwrite=True)
        z[3, 3:5] = 0
        expected = data.copy()
        expected[3, 3:5] = 0
        assert (blizzarr.open_array(store, path="a")[...] == expected).all()


def test_what_a_store_of_the_draft_raises_names_the_key() -> None:
    """An error of the store has its place, like any other."""

    class Broken(Whole):
        def get(self, key: str) -> Value | None:
            raise RuntimeError("the shelf fell down")

    with pytest.raises(StoreError, match=r"cannot read key a/b.*the shelf fell down"):
        PartialAccessStore(Broken()).get("a/b")


def test_caches_are_told_of_what_this_process_changes() -> None:
    """A cached chunk was read after it had been replaced or deleted through the store."""
    store = PartialAccessStore(Whole())
    data = np.array([1, 2, 3], np.uint8)
    array = blizzarr.create_array(store, data=data, chunks=3, compressors=None, fill_value=9)
    cached = array.cached(blizzarr.CachePool(1 << 20), recheck=False)
    assert cached[:].tolist() == [1, 2, 3]
    store.set("c/0", bytes([4, 5, 6]))
    assert cached[:].tolist() == [4, 5, 6]
    store.delete("c/0")
    assert cached[:].tolist() == [9, 9, 9]
    array[:] = 7
    assert cached[:].tolist() == [7, 7, 7]
    store.delete_prefix("c/")
    assert cached[:].tolist() == [9, 9, 9]

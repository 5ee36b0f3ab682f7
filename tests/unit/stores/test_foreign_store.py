"""What is asked of stores written by users, which may be far away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ReadOnlyError, StoreError


class Counting:
    """A store of four methods that notes what it is asked for, and how many bytes it gave."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []
        self.given = 0

    def get(self, key: str) -> bytes | None:
        self.asked.append(("get", key))
        value = self.values.get(key)
        self.given += len(value or b"")
        return value

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        self.asked.append(("delete", key))
        del self.values[key]

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]


class Sized(Counting):
    def size(self, key: str) -> int | None:
        self.asked.append(("size", key))
        return len(self.values[key]) if key in self.values else None


class Ranged(Counting):
    def get_ranges(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        self.asked.append(("ranges", key))
        if key not in self.values:
            return None
        parts = [self.values[key][start : start + length] for start, length in ranges]
        self.given += sum(map(len, parts))
        return parts


def test_what_no_mode_can_write_to() -> None:
    """The error advised to open it with mode 'r+', as which it had been opened."""

    class Letters:
        def get(self, key: str) -> bytes | None:
            return memory.get(key)

    memory: dict[str, bytes] = {}
    blizzarr.create_array(memory, data=[1, 2])
    with pytest.raises(ReadOnlyError, match="the object that is the store has no method set"):
        blizzarr.open_array(Letters(), mode="r+")[0] = 5
    closed = Counting()
    closed.values, closed.read_only = memory, True  # type: ignore[attr-defined]  # what a store of a user may say
    for mode in ("r", "r+", "a"):
        with pytest.raises(ReadOnlyError, match="says itself that it is read-only; pass one that can be written to"):
            blizzarr.open_array(closed, mode=mode)[0] = 5
    assert blizzarr.open_array(closed)[:].tolist() == [1, 2]


@pytest.mark.parametrize(("kind", "question"), [(Sized, "size"), (Ranged, "ranges"), (Counting, "get")])
def test_chunks_are_deleted_without_fetching_them(kind: type[Counting], question: str) -> None:
    store = kind()
    z = blizzarr.create_array(store, shape=4000, chunks=1000, dtype="i8", compressors=None)
    z[:3000] = 1
    store.asked.clear()
    store.given = 0
    z[...] = 0
    assert sorted(key for key in store.values if key.startswith("c/")) == []
    deleted = ["c/0", "c/1", "c/2"]
    store.asked.remove(("get", "zarr.json"))  # whether it is still the same array
    assert sorted(store.asked) == sorted(
        [("delete", key) for key in deleted] + [(question, key) for key in [*deleted, "c/3"]]
    )
    document = len(store.values["zarr.json"])
    assert store.given == {"size": 0, "ranges": 3, "get": 24000}[question] + document
    np.testing.assert_array_equal(z[...], np.zeros(4000, "i8"))


def test_the_size_of_a_value_is_asked_of_the_store_itself() -> None:
    store = Sized()
    z = blizzarr.create_array(store, shape=8, chunks=4, dtype="i2", compressors=None)
    z[...] = 1
    assert z.store.size("c/0") == 8  # type: ignore[attr-defined]
    assert store.asked[-1] == ("size", "c/0")
    with pytest.raises(AttributeError):
        blizzarr.create_array(Counting(), shape=8, dtype="i2").store.size  # type: ignore[attr-defined]  # noqa: B018


class InBytes(Counting):
    def list(self, prefix: str = "") -> list[bytes]:  # type: ignore[override]
        return [key.encode() for key in super().list(prefix)]


def test_a_listing_of_bytes_is_an_error() -> None:
    """Its keys would count as missing: a copy would be one of fill values."""
    z = blizzarr.create_array(InBytes(), data=[1, 2], chunks=1)
    with pytest.raises(StoreError, match=r"expected a listing of keys as text, found b'"):
        blizzarr.copy(z, {})


@pytest.mark.parametrize("name", ["get", "set", "delete", "list", "get_ranges", "set_if_version"])
def test_asynchronous_methods_are_refused(name: str) -> None:
    """What they return is done by nobody: values that were set and deleted so were lost in silence."""

    async def method(self: object, *arguments: object) -> None:
        raise AssertionError

    store = type("Remote", (Counting,), {name: method})()
    with pytest.raises(TypeError, match=rf"Remote is asynchronous \({name}\)"):
        blizzarr.create_array(store, data=[1, 2, 3])
    assert store.values == {}


@pytest.mark.parametrize("change", [-1, 1])
def test_as_many_values_as_keys_are_expected(change: int) -> None:
    class Bulk(Counting):
        def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
            return [self.values.get(key) for key in keys][:change] + [None] * (change > 0)

    class Views(Counting):
        def get_many(self, keys: Sequence[str]) -> list[object]:
            return [np.frombuffer(self.values[key], "u1") if key in self.values else None for key in keys]

    bulk, views = Bulk(), Views()
    for store in (bulk, views):
        plain = Counting()
        blizzarr.create_group(plain).create_array("a", data=[1, 2, 3])
        store.values = plain.values
    with pytest.raises(StoreError, match="values from get_many, found"):
        sorted(blizzarr.open_group(bulk, mode="r").arrays())
    assert [array[:].tolist() for _, array in blizzarr.open_group(views, mode="r").arrays()] == [[1, 2, 3]]


def test_a_key_error_is_no_missing_value() -> None:
    """It may come from anywhere in the object, so the error tells what the method must do."""

    class Strict(Counting):
        def get(self, key: str) -> bytes:
            return self.values[key]

    with pytest.raises(
        StoreError, match=r"zarr.json in .*KeyError: 'zarr.json'; where there is no value, `get` must return None"
    ) as caught:
        blizzarr.open_array(Strict(), mode="r", zarr_format=3)
    assert isinstance(caught.value.__cause__, KeyError)


def test_errors_of_versions_and_sizes_name_the_store() -> None:
    class Versioned(Counting):
        def version(self, key: str) -> str:
            raise KeyError("no such header")

    with pytest.raises(StoreError, match=r"cannot read .*zarr.json in .*Versioned.*KeyError: 'no such header'"):
        blizzarr.create_array(Versioned(), data=[1, 2, 3])

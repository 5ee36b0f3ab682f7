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

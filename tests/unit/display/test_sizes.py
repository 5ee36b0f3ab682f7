"""Adding up what is stored: only chunks, only where it is cheap, never for long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import blizzarr
from blizzarr.display.sizes import Stored, ratio_text, stored
from blizzarr.errors import StoreError
from blizzarr.size_text import bytes_text
from blizzarr.stores import FsspecStore, LocalStore, MappingStore, MemoryStore, Store, read_only
from support.faulty_server import faulty_server


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store with three chunks of 10 bytes, documents, and another array beside."""
    made: Store = LocalStore(tmp_path) if request.param == "local" else MemoryStore()
    for name in ("a", "ab"):
        blizzarr.create_array(made, name=name, shape=(3,), dtype="int8", chunks=1)
        for chunk in range(3):
            made.set(f"{name}/c/{chunk}", bytes(10))
    return made


def test_chunks_are_counted_and_documents_are_not(store: Store) -> None:
    assert stored(store, "a") == Stored(3, 30, True)
    assert stored(store, "") == Stored(6, 60, True)
    assert stored(read_only(store), "a") == Stored(3, 30, True)
    assert stored(store, "nothing") == Stored(0, 0, True)


def test_counting_stops(store: Store) -> None:
    assert stored(store, "a", limit=2) == Stored(2, 20, False)
    assert stored(store, "a", limit=3) == Stored(3, 30, True)
    assert stored(store, "a", seconds=-1) == Stored(1, 10, False)


def test_stores_that_cannot_tell_are_not_asked() -> None:
    assert stored(MappingStore({}), "") is None


@pytest.fixture(params=["objects", "fsspec"])
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that is far away."""
    if request.param == "objects":
        with faulty_server() as server:
            yield server.store()
        return
    files = FsspecStore(pytest.importorskip("fsspec").filesystem("memory"), "/test_sizes")
    monkeypatch.setattr(files, "remote", True)
    yield files


def test_a_store_that_is_far_away_tells_in_its_listing(made: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One listing, no request per object; and nothing unasked, as for what a notebook shows."""
    for name in ("a", "ab"):
        blizzarr.create_array(made, name=name, shape=(3,), dtype="int8", chunks=1, overwrite=True)
        for chunk in range(3):
            made.set(f"{name}/c/{chunk}", bytes(10))
    for method in ("get", "size", "version"):
        monkeypatch.setattr(type(made), method, None, raising=False)
    assert stored(made, "a") is None
    assert stored(made, "a/", over_network=True) == Stored(3, 30, True)
    assert stored(made, "a", limit=2, over_network=True) == Stored(2, 20, False)
    assert stored(read_only(made), "", over_network=True) == Stored(6, 60, True)

    def refused(prefix: str) -> None:
        raise StoreError("no right to list")

    monkeypatch.setattr(made, "list_sizes", refused)
    assert stored(made, "a", over_network=True) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1023, "1.00 KiB"),
        (1 << 20, "1.00 MiB"),
        (5 << 50, "5.00 PiB"),
    ],
)
def test_bytes_as_text(count: int, text: str) -> None:
    assert bytes_text(count) == text


def test_there_is_no_ratio_where_it_would_say_nothing() -> None:
    assert ratio_text(100, None) is None
    assert ratio_text(100, Stored(0, 0, True)) is None
    assert ratio_text(100, Stored(1, 10, False)) is None
    assert ratio_text(0, Stored(1, 10, True)) is None
    assert ratio_text(123_456_789, Stored(1, 1000, True)) == "123,457\xd7"

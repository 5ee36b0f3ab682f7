"""Handles of one place in fsspec that know nothing of each other: fsspec makes a file system for each thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.stores import FsspecStore
from blizzarr.stores.place import place_of

fsspec = pytest.importorskip("fsspec")


class Far(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Files of a server, each of whose answers takes a moment."""

    protocol = "far"
    files: ClassVar[dict[str, dict[str, bytes]]] = {}

    def __init__(self, host: str = "", *, client: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self._files = self.files.setdefault(host, {})

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        time.sleep(0.001)
        try:
            return self._files[path.lstrip("/")][start:end]
        except KeyError:
            raise FileNotFoundError(path) from None

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        time.sleep(0.001)
        self._files[path.lstrip("/")] = value

    def rm_file(self, path: str) -> None:
        if self._files.pop(path.lstrip("/"), None) is None:
            raise FileNotFoundError(path)

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return {"name": path, "type": "file", "size": len(self.cat_file(path))}

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        above = f"{path.strip('/')}/".lstrip("/")
        names = {name[len(above) :].partition("/") for name in self._files if name.startswith(above)}
        entries = [
            {"name": above + first, "type": "directory" if slash else "file", "size": 0} for first, slash, _ in names
        ]
        return entries if detail else [entry["name"] for entry in entries]


@pytest.fixture(autouse=True)
def _registered() -> None:
    fsspec.register_implementation("far", Far, clobber=True)
    Far.files.clear()
    Far.clear_instance_cache()


def in_thread(work: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


def opened(url: str = "far://v", **options: Any) -> FsspecStore:
    return FsspecStore.from_url(url, options)


def test_stores_of_one_place_are_equal() -> None:
    """By whatever file system of fsspec: of another thread, with other manners, or that begins at a directory."""
    one, of_thread, below = opened(), in_thread(opened), opened("far://v/w")
    in_steps = FsspecStore(fsspec.filesystem("dir", path="v", fs=one.fs), "w")
    without_cache = FsspecStore(Far(skip_instance_cache=True), "v")
    assert one == of_thread == without_cache != below
    assert below == in_steps
    assert len({one, of_thread, without_cache, below, in_steps}) == 2
    assert one != opened(host="other") != FsspecStore(one.fs, "v", read_only=True) != one
    for same in ((one, of_thread, without_cache), (below, in_steps)):
        assert len({*map(place_of, same)}) == 1


def test_file_systems_of_two_threads_are_one_place() -> None:
    one, other = opened(), in_thread(opened)
    assert one.fs is not other.fs
    assert place_of(one) == place_of(other)
    blizzarr.create_array(one, data=np.arange(6), chunks=2)
    with pytest.raises(ValueError, match="overlaps"):
        blizzarr.copy(blizzarr.open(one), other, overwrite=True)
    assert blizzarr.load(other).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "is_same"),
    [
        ({"use_listings_cache": False, "skip_instance_cache": True}, True),
        ({"client": {"a": [1, "b"]}}, True),
        ({"client": {"a": [1, "c"]}}, False),
        ({"client": dict.fromkeys(range(1000))}, False),
        ({"host": "other"}, False),
    ],
)
def test_options_tell_places_apart(options: dict[str, Any], is_same: bool) -> None:
    """Unless they say how files are reached. Options that cannot be compared are of two places."""
    base = {"client": {"a": [1, "b"]}} if options.get("client") and len(options["client"]) == 1 else {}
    assert (place_of(opened(**base)) == place_of(in_thread(lambda: opened(**options)))) is is_same
    one, other = (opened(client=object()) for _ in range(2))
    assert place_of(one) != place_of(other)


def test_a_file_system_that_cannot_be_compared_is_a_place_of_its_own() -> None:
    class Apart(Far):
        cachable = False

    one = FsspecStore(Apart(), "v")
    assert place_of(one) == place_of(FsspecStore(one.fs, "v")) != place_of(FsspecStore(Apart(), "v"))


@pytest.mark.parametrize("roots", [["far://v"], ["far://v", "far://v/a"], ["far://", "far://v/a"]])
def test_threads_that_open_an_array_each_by_itself_lose_nothing(roots: list[str]) -> None:
    """Neither parts of a chunk nor attributes nor rows, also if the root of one is below that of another."""
    blizzarr.create_array(opened(), name="a", shape=64, dtype="i4", chunks=64)
    blizzarr.create_array(opened(), name="r", shape=0, dtype="i4", chunks=4)
    barrier = threading.Barrier(8)
    kept: list[Any] = []

    def change(number: int) -> None:
        root = roots[number % len(roots)]
        path = "v/a".removeprefix(root.removeprefix("far://")).lstrip("/")
        array = blizzarr.open_array(opened(root), path=path, mode="r+")
        barrier.wait()
        for turn in range(5):
            array[number::8] = number + 10 * turn
            kept.append((array[number::8] == number + 10 * turn).all())
        array.attrs[str(number)] = number
        blizzarr.open_array(opened(), path="r", mode="r+").append([number])

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    array = blizzarr.open_array(opened(), path="a", mode="r")
    assert all(kept)
    assert array[...].tolist() == [*range(40, 48)] * 8
    assert {int(name) for name in array.attrs} == {*range(8)}
    rows = blizzarr.open_array(opened(), path="r", mode="r")
    assert isinstance(rows, blizzarr.Array)
    assert sorted(rows[...].tolist()) == [*range(8)]

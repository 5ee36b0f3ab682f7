"""One change of shape at a time."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from blizzarr.array.exclusive import exclusive
from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore, MemoryStore


@pytest.mark.parametrize("local", [True, False])
def test_threads_wait_for_each_other(local: bool, tmp_path: Path) -> None:
    store = LocalStore(tmp_path) if local else MemoryStore()
    (tmp_path / "a").mkdir()
    order: list[str] = []

    def second() -> None:
        with exclusive(store, "a", "a/zarr.json"):
            order.append("second")

    with exclusive(store, "a", "a/zarr.json"):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with exclusive(LocalStore(tmp_path), "", "zarr.json"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_gone_is_an_error_with_its_place(tmp_path: Path) -> None:
    with (
        pytest.raises(
            StoreError, match=r"/a in .*: cannot open the array's directory to lock it: No such file"
        ) as caught,
        exclusive(LocalStore(tmp_path), "a", "a/zarr.json"),
    ):
        pass
    assert caught.value.array == "/a"

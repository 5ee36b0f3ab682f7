"""One change of shape at a time."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any, Literal

import pytest

from blizzarr.api import create_array, create_group, open_array
from blizzarr.array import exclusive as exclusion
from blizzarr.array import reshape
from blizzarr.array.exclusive import exclusive
from blizzarr.errors import ConflictError, StoreError
from blizzarr.stores import LocalStore, MemoryStore
from blizzarr.stores.local import Links


def order_of(first: tuple[Any, str], second: tuple[Any, str]) -> list[str]:
    """Who is done first, where the second begins while the first is at work; each is a store and a path."""
    order: list[str] = []

    def wait() -> None:
        with exclusive(*second, f"{second[1]}/zarr.json"):
            order.append("second")

    with exclusive(*first, f"{first[1]}/zarr.json"):
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    return order


@pytest.mark.parametrize("local", [True, False])
def test_threads_wait_for_each_other(local: bool, tmp_path: Path) -> None:
    store = LocalStore(tmp_path) if local else MemoryStore()
    (tmp_path / "a").mkdir()
    assert order_of((store, "a"), (store, "a")) == ["first", "second"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with exclusive(LocalStore(tmp_path), "", "zarr.json"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_gone_is_an_error_with_its_place(tmp_path: Path) -> None:
    with (
        pytest.raises(ConflictError, match=r"/a in .*: expected the array .* somebody has removed the array") as caught,
        exclusive(LocalStore(tmp_path), "a", "a/zarr.json"),
    ):
        pass
    assert caught.value.array == "/a"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such errors")
@pytest.mark.parametrize("links", ["follow", "within-root"])
@pytest.mark.parametrize("locking", ["required", "threads"])
@pytest.mark.parametrize("other", ["file", "loop"])
def test_a_directory_that_something_else_has_replaced_is_an_error_of_the_store(
    other: str, locking: Literal["required", "threads"], links: Links, tmp_path: Path
) -> None:
    z = create_group(LocalStore(tmp_path, locking=locking, links=links)).create_array("g/a", data=[1, 2])
    shutil.rmtree(tmp_path / "g")
    if other == "file":
        (tmp_path / "g").touch()
    else:
        (tmp_path / "g").symlink_to("g")
    for change in (lambda: z.append([3]), lambda: z.resize(3)):
        with pytest.raises((StoreError, ConflictError), match=r"removed|Not a directory|Too many levels"):
            change()


def test_what_could_not_be_locked_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long somebody keeps the error, whose traceback knows of what was begun."""
    (tmp_path / "a").mkdir()
    place = (LocalStore(tmp_path), "a", "a/zarr.json")

    def refused(descriptor: int, store: LocalStore, path: str) -> None:
        raise StoreError("no locks here")

    kept: list[StoreError] = []
    with monkeypatch.context() as patched:
        patched.setattr(exclusion, "_lock", refused)
        try:
            with exclusive(*place):
                pass
        except StoreError as error:
            kept.append(error)
    entered: list[bool] = []

    def enter() -> None:
        with exclusive(*place):
            entered.append(True)

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    thread.join(30)
    assert (len(kept), entered, exclusion._locked_directories.descriptors) == (1, [True], set())


def test_a_directory_that_took_the_place_of_the_one_waited_for_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for a directory that is renamed away meanwhile must keep those waiting who find the new one."""
    (tmp_path / "a").mkdir()
    wait, locked = exclusion._lock, []

    def replaced(descriptor: int, store: LocalStore, path: str) -> None:
        if not locked:
            (tmp_path / "a").rename(tmp_path / "old")
            (tmp_path / "a").mkdir()
        locked.append(os.fstat(descriptor).st_ino)
        wait(descriptor, store, path)

    monkeypatch.setattr(exclusion, "_lock", replaced)
    with exclusive(LocalStore(tmp_path), "a", "a/zarr.json"):
        assert locked == [(tmp_path / "old").stat().st_ino, (tmp_path / "a").stat().st_ino]
        assert len(exclusion._locked_directories.descriptors) == 1
    assert not exclusion._locked_directories.descriptors


@pytest.mark.parametrize("locking", ["threads", "required"])
def test_a_directory_is_the_same_by_whatever_name(locking: Literal["threads", "required"], tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    first, second = LocalStore(tmp_path, locking=locking), LocalStore(tmp_path, locking="threads")
    assert order_of((first, "a"), (second, "b")) == ["first", "second"]


@pytest.mark.parametrize("locking", ["required", "threads", None])
@pytest.mark.parametrize("again", ["append", "resize"])
def test_an_append_within_an_append_is_refused_and_loses_nothing(
    locking: Literal["required", "threads"] | None, again: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a signal handler appends: on a directory it waited for itself, elsewhere its rows were overwritten."""
    store = MemoryStore() if locking is None else LocalStore(tmp_path, locking=locking)
    array, handle = create_array(store, data=[0, 1, 2], chunks=2), open_array(store)
    refusals: list[str] = []
    write = reshape.write

    def interrupted(*args: Any) -> None:
        if not refusals:
            with pytest.raises(ConflictError) as caught:
                handle.append([77]) if again == "append" else handle.resize(2)
            refusals.append(str(caught.value))
        write(*args)

    monkeypatch.setattr(reshape, "write", interrupted)
    monkeypatch.setattr(exclusion, "_lock", not_waiting)
    assert array.append([5]) == (4,)
    assert "this thread is already changing the shape of an array" in refusals[0]
    assert handle.append([77]) == (5,)
    assert handle[:].tolist() == [0, 1, 2, 5, 77]
    assert not exclusion._locked_directories.descriptors


def not_waiting(descriptor: int, *_: Any) -> None:
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_another_array_may_be_appended_to_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may keep a log of what is done, in an array of its own at the same path."""
    array, log = create_array({}, data=[0], chunks=2), create_array({}, data=[0], chunks=2)
    write, logs = reshape.write, [log]

    def logged(*args: Any) -> None:
        if logs:
            logs.pop().append([1])
        write(*args)

    monkeypatch.setattr(reshape, "write", logged)
    assert array.append([5]) == (2,)
    assert (array[:].tolist(), log[:].tolist()) == ([0, 5], [0, 1])


def test_what_was_interrupted_can_be_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    array = create_array({}, data=[0], chunks=2)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(reshape, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            array.append([5])
    assert array.append([5]) == (2,)


def test_an_interrupt_before_the_lock_was_initialised() -> None:
    """Ctrl-C right then printed an AttributeError of `__del__`."""
    directory = object.__new__(exclusion._Directory)
    directory.__del__()
    assert (directory._lock, directory._descriptor) == (None, None)

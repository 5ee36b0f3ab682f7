"""Locks by name."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from threading import Thread
from types import FrameType

import pytest

from blizzarr.stores import MappingStore, Store, ZipStore
from blizzarr.stores.conditional import replace_value
from blizzarr.stores.locks import KeyLocks, SoleLock


def test_a_name_is_used_again_anywhere_between() -> None:
    """As by a signal handler or a finalizer, before or after any call within: the name has one lock, and then none."""
    locks, left = KeyLocks(), 0

    def use(_frame: FrameType, _event: str, _arg: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            with locks.held("a"):
                pass

    for number in range(1, 60):
        left = number
        sys.setprofile(use)
        try:
            with locks.held("a"):
                sys.setprofile(None)
                assert [*locks._entries] == ["a"]
                sys.setprofile(use)
        finally:
            sys.setprofile(None)
        assert len(locks) == 0
    assert left > 0


@pytest.mark.parametrize("kind", ["zip", "mapping"])
def test_an_interrupt_anywhere_between_leaves_no_lock_to_the_error(tmp_path: Path, kind: str) -> None:
    """Another thread can write although somebody, like the engine, still has the error."""
    left, errors = 0, []

    def interrupt(frame: FrameType, event: str, _arg: object) -> None:
        nonlocal left
        # The moments at which Python handles signals; it handles none where a generator is closed.
        if event == "c_return" or (event == "call" and frame.f_code is not SoleLock.hold.__code__):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    for number in count(1):
        store = ZipStore(tmp_path / f"{number}.zip", mode="w") if kind == "zip" else MappingStore({})

        def write(value: bytes, store: Store = store) -> None:
            if kind == "zip":
                store.set("a", value)
            else:
                replace_value(store, "a", store.get("a"), value)

        left = number
        sys.setprofile(interrupt)
        try:
            write(b"1")
        except KeyboardInterrupt as error:
            errors.append(error)
        finally:
            sys.setprofile(None)
        other = Thread(target=write, args=(b"2",), daemon=True)
        other.start()
        other.join(5)
        assert store.get("a") == b"2"
        if left > 0:
            break
    assert len(errors) == number - 1 > 20

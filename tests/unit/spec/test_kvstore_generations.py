"""Generations that writes return: those of exactly what was written, whoever else writes at the same time."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store
from blizzarr.stores.generation import (
    NO_VALUE,
    generation_of,
    read_generation,
    replace_generation,
    set_value,
    write_generation,
)
from tensorstore_face import ours, theirs

THREADS, STEPS = 4, 60


@pytest.fixture
def often() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("ts", [ours, theirs])
@pytest.mark.parametrize("kind", ["file", "memory"])
def test_writers_that_go_on_from_their_own_writes(ts: Any, kind: str, tmp_path: Path, often: None) -> None:
    """Threads count together, each by the stamp of what it wrote last; nothing that any has written is lost."""
    kv = ts.KvStore.open("memory://counter/" if kind == "memory" else f"file://{tmp_path}/").result()
    kv["n"] = b"0"

    def count() -> None:
        known = None
        for _ in range(STEPS):
            while True:
                if known is None:
                    found = kv.read("n").result()
                    known = int(found.value), found.stamp.generation
                stamp = kv.write("n", b"%d" % (known[0] + 1), if_equal=known[1]).result()
                if stamp.generation:
                    known = known[0] + 1, stamp.generation
                    break
                known = None

    threads = [threading.Thread(target=count) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(kv["n"]) == THREADS * STEPS


class Interrupted(LocalStore):
    """A directory in which another process writes the same key right after each write of this one."""

    other = b"of another"

    def _also(self, key: str) -> None:
        beside = self.root / "beside"
        beside.write_bytes(self.other)
        os.replace(beside, self.root / key)

    def set(self, key: str, value: Any) -> None:
        """Set, and be overwritten."""
        super().set(key, value)
        self._also(key)

    def replace(self, key: str, expected: Any, value: Any) -> bool:
        """Replace, and be overwritten."""
        done = super().replace(key, expected, value)
        self._also(key)
        return done


def test_another_process_writes_in_between(tmp_path: Path) -> None:
    """What was written is gone then: its generation is that of no value, so nothing can be put over the other's."""
    store = Interrupted(tmp_path)
    stamp = write_generation(store, "a", b"mine")
    assert stamp not in (b"", NO_VALUE, generation_of(store, "a"))
    assert replace_generation(store, "a", stamp, b"mine") is None
    assert store.get("a") == b"of another"
    # Even of the same size, where a condition was made: then the value is read again.
    there = generation_of(store, "a")
    conditional = replace_generation(store, "a", there, b"as long   ")
    assert conditional not in (None, b"", NO_VALUE, generation_of(store, "a"))


class Handle:
    """The engine's handle of a memory, in which somebody else writes right after each write."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._native, name)
        if name not in ("set", "exchange"):
            return found

        def then(*args: Any) -> Any:
            result = found(*args)
            self._native.set("a", b"of another")
            return result

        return then


def test_another_thread_writes_in_between() -> None:
    """The same in memory, whatever the values are."""
    store = MemoryStore()
    native, store.native = store.native, Handle(store.native)
    for value in (b"mine", b"of another"):
        stamp = write_generation(store, "a", value)
        assert stamp not in (b"", NO_VALUE, generation_of(store, "a"))
        conditional = replace_generation(store, "a", generation_of(store, "a"), value)
        assert conditional not in (None, b"", NO_VALUE, generation_of(store, "a"))
    store.native = native
    assert replace_generation(store, "a", stamp, b"mine") is None
    assert store.get("a") == b"of another"


@pytest.mark.parametrize("kind", ["file", "memory", "mapping"])
def test_what_writes_return(kind: str, tmp_path: Path) -> None:
    """The generation that reading gives; nothing is written on a condition that does not hold."""
    store: Store = {"file": lambda: LocalStore(tmp_path), "memory": MemoryStore, "mapping": lambda: MappingStore({})}[
        kind
    ]()
    assert replace_generation(store, "a", b"\0of nothing", b"0") is None
    assert replace_generation(store, "a", NO_VALUE, None) == NO_VALUE
    first = replace_generation(store, "a", NO_VALUE, b"1")
    assert first is not None
    assert read_generation(store, "a") == (b"1", first)
    assert replace_generation(store, "a", NO_VALUE, b"2") is None
    second = write_generation(store, "a", b"2")
    assert read_generation(store, "a") == (b"2", second)
    assert replace_generation(store, "a", first, None) is None
    set_value(store, "a", b"3")
    third = generation_of(store, "a")
    assert len({first, second, third}) == 3
    assert replace_generation(store, "a", third, None) == NO_VALUE
    set_value(store, "a", None)
    assert write_generation(store, "a", None) == NO_VALUE
    assert store.get("a") is None


def test_writers_of_one_file_wait_for_each_other_and_others_do_not(tmp_path: Path) -> None:
    """A write that takes long keeps only those waiting that write the same file."""
    inside, go_on = threading.Event(), threading.Event()

    class Slow(LocalStore):
        def set(self, key: str, value: Any) -> None:
            if value == b"slow":
                inside.set()
                assert go_on.wait(60)
            super().set(key, value)

    store = Slow(tmp_path)
    slow = threading.Thread(target=write_generation, args=(store, "a", b"slow"))
    after = threading.Thread(target=write_generation, args=(LocalStore(tmp_path), "a", b"after"))
    slow.start()
    assert inside.wait(60)
    for number in range(100):
        write_generation(store, f"b{number}", b"1")
    after.start()
    after.join(0.05)
    assert after.is_alive()
    go_on.set()
    slow.join()
    after.join()
    assert store.get("a") == b"after"


def _in_transaction(kv: Any) -> None:
    with ours.Transaction() as transaction:
        kv.with_transaction(transaction)["n"] = b"plain"


@pytest.mark.parametrize(
    ("plain", "left"),
    [
        (lambda kv: kv.__setitem__("n", b"plain"), b"plain"),
        (lambda kv: kv.write("n", b"plain").result(), b"plain"),
        (lambda kv: kv.delete_range(kv.KeyRange()).result(), None),
        (_in_transaction, b"plain"),
    ],
)
def test_nothing_comes_between_a_comparison_and_its_write(
    plain: Any, left: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who writes without a condition waits for who has compared and is about to write, and is not undone by that."""
    inside, go_on = threading.Event(), threading.Event()
    replace = LocalStore.replace

    def slowly(self: LocalStore, key: str, expected: Any, value: Any) -> bool:
        inside.set()
        assert go_on.wait(60)
        return replace(self, key, expected, value)

    monkeypatch.setattr(LocalStore, "replace", slowly)
    kv = ours.KvStore.open(f"file://{tmp_path}/").result()
    kv["n"] = b"0"
    known = kv.read("n").result().stamp.generation
    conditional = kv.write("n", b"1", if_equal=known)
    assert inside.wait(60)
    thread = threading.Thread(target=plain, args=(kv,))
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    go_on.set()
    thread.join()
    assert conditional.result().generation
    assert ("n" in kv) == (left is not None)
    assert left is None or kv["n"] == left

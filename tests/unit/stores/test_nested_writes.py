"""Writes that are called from within a write: by the handler of a signal, or by a codec or store written in Python."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError, StoreError
from blizzarr.problems import Problems, decoder
from blizzarr.stores import MappingStore, ZipStore
from blizzarr.stores.protocol import Value


class CallsBack(dict[str, bytes]):
    """A mapping that calls somebody before it stores a chunk."""

    called: Any = None

    def __setitem__(self, key: str, value: bytes) -> None:
        if self.called is not None and key.startswith("c/"):
            self.called()
        super().__setitem__(key, value)


def test_a_store_that_writes_to_the_chunk_which_it_is_asked_to_store_is_told_so() -> None:
    values = CallsBack()
    z = blizzarr.create_array(MappingStore(values), shape=8, chunks=4, dtype="i4", compressors=None)

    def again() -> None:
        values.called = None
        z[1] = 7

    values.called = again
    with pytest.raises(StoreError, match="called during a write and writes to the same chunk"):
        z[0] = 5
    z[0] = 5
    assert z[...].tolist() == [5, 0, 0, 0, 0, 0, 0, 0]


def test_a_store_may_write_to_another_chunk_meanwhile() -> None:
    values = CallsBack()
    z = blizzarr.create_array(MappingStore(values), shape=8, chunks=4, dtype="i4", compressors=None)

    def another() -> None:
        values.called = None
        z[4] = 7

    values.called = another
    z[0] = 5
    assert z[...].tolist() == [5, 0, 0, 0, 7, 0, 0, 0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that send signals")
def test_the_handler_of_a_signal_that_writes_to_the_chunk_being_written_does_not_wait_for_itself() -> None:
    shard = 1 << 23
    z = blizzarr.create_array(
        {}, shape=shard, chunks=1 << 16, shards=shard, dtype="u1", compressors={"id": "gzip", "level": 9}
    )
    data = np.random.default_rng(0).integers(0, 16, shard, dtype="u1")
    outcomes: list[str] = []

    def handler(*_: object) -> None:
        try:
            z[0] = 99
        except StoreError as error:
            outcomes.append(error.reason or "")
        else:
            outcomes.append("written")

    with blizzarr.config.set(threads=1):
        before = signal.signal(signal.SIGALRM, handler)
        try:
            # Until one of them arrives while the chunk is locked.
            for _ in range(20):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                z[...] = data
                if any("called during a write" in outcome for outcome in outcomes):
                    break
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert any("called during a write" in outcome for outcome in outcomes), outcomes
    found = z[...]
    np.testing.assert_array_equal(found[1:], data[1:])
    assert found[0] in (data[0], 99)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no such signal")
def test_what_the_handler_of_a_signal_raises_is_no_failure_of_the_store() -> None:
    """A time limit that a program sets itself with an alarm is an exception that it catches itself."""

    class Slow(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            if key.startswith("c/"):
                signal.raise_signal(signal.SIGALRM)
            return super().__getitem__(key)

    class SlowStore(MappingStore):
        def get(self, key: str) -> Value | None:
            if key.startswith("c/"):
                signal.raise_signal(signal.SIGALRM)
            return super().get(key)

    def handler(*_: object) -> None:
        raise ValueError("time is up")

    arrays = [blizzarr.create_array(store, data=[1, 2]) for store in (Slow(), SlowStore({}))]

    @decoder
    def decoded(_: Problems) -> None:
        signal.raise_signal(signal.SIGALRM)

    class Handler:
        __call__ = handler

    before = signal.getsignal(signal.SIGALRM)
    try:
        for installed in (handler, partial(handler, 1), Handler()):
            signal.signal(signal.SIGALRM, installed)
            for array in arrays:
                with pytest.raises(ValueError, match=r"^time is up$"):
                    array[...]
            with pytest.raises(ValueError, match=r"^time is up$"):
                decoded(Problems())
    finally:
        signal.signal(signal.SIGALRM, before)


class Interrupted(dict[str, bytes]):
    """A mapping in which something happens, once, right before a document is stored or removed."""

    handler: Any = None

    def _interrupt(self) -> None:
        if self.handler is not None:
            handler, self.handler = self.handler, None
            handler()

    def __setitem__(self, key: str, value: bytes) -> None:
        self._interrupt()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._interrupt()
        super().__delitem__(key)


def test_an_attribute_that_is_set_while_another_one_is_stored_is_refused_rather_than_lost() -> None:
    values = Interrupted()
    z, other = blizzarr.create_array(values, data=[1]), blizzarr.open(values, mode="r+")

    def handler() -> None:
        with pytest.raises(ConflictError, match=r"zarr\.json.* this thread is already changing this value"):
            other.attrs["handler"] = 1

    values.handler = handler
    z.attrs["main"] = 1
    other.attrs["later"] = 1
    assert blizzarr.open(values).attrs.asdict() == {"main": 1, "later": 1}


def test_a_value_is_not_discarded_within_its_own_replacement() -> None:
    values = Interrupted(a=b"1")
    store, other = MappingStore(values), MappingStore(values)

    def handler() -> None:
        with pytest.raises(ConflictError, match="key a in"):
            other.discard("a", b"1")
        assert other.replace("b", None, b"3")

    values.handler = handler
    assert store.replace("a", b"1", b"2")
    assert values == {"a": b"2", "b": b"3"}


def test_a_zip_file_can_be_read_and_listed_but_not_written_within_a_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler of a signal that listed it waited for ever."""
    store = ZipStore(tmp_path / "a.zip", "w")
    store.set("a", b"1")
    append, handled = store._archive.append, list[Any]()

    def interrupted(*args: Any) -> None:
        monkeypatch.undo()
        handled.extend([store.list(), store.list_dir("").keys, store.get("a"), store.get("b")])
        for write in (lambda: store.set("c", b"3"), store.flush, store.close):
            with pytest.raises(ConflictError, match="this thread is already writing"):
                write()
        append(*args)

    monkeypatch.setattr(store._archive, "append", interrupted)
    store.set("b", b"2")
    assert handled == [["a"], ("a",), b"1", None]
    assert store.list() == ["a", "b"]
    store.set("c", b"3")
    assert store.list() == ["a", "b", "c"]

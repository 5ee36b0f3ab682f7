"""When transactions end: committed, aborted, dropped, forced, by blocks, while something in them goes on."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.tensorstore.write_buffer import WriteBuffer
from tensorstore_face import ours, outcome, same


def key_store(ts: Any) -> Any:
    """A store of keys of its own."""
    return ts.KvStore.open("memory://", context=ts.Context()).result()


def state(txn: Any) -> Any:
    """What it says of itself."""
    return txn.open, txn.aborted, txn.commit_started


def test_its_future() -> None:
    """Who waits for it commits; to cancel it is no concern of the transaction; it keeps it alive."""

    def seen(ts: Any) -> Any:
        kv, found = key_store(ts), []
        for act in (
            lambda txn: txn.future.force(),
            lambda txn: txn.future.result(),
            lambda txn: txn.future.result(timeout=60),
            lambda txn: txn.future.exception(),
            lambda txn: (txn.future.cancel(), state(txn), txn.commit_sync()),
            lambda txn: (txn.future.add_done_callback(lambda done: found.append(done.result())), txn.commit_sync()),
            lambda txn: (txn.abort(), txn.future.exception() is not None),
            lambda txn: txn.commit_async().result(),
        ):
            txn = ts.Transaction()
            kv.with_transaction(txn)["a"] = b"1"
            before = txn.future.done()
            found.append(
                (before, outcome(lambda act=act, txn=txn: act(txn)), outcome(lambda txn=txn: txn.future.result()))
            )
            found.append((state(txn), "a" in kv))
            kv["a"] = None
        return found

    same(seen)


def test_awaited() -> None:
    """As futures are, and as blocks."""

    def seen(ts: Any) -> Any:
        kv = key_store(ts)

        async def run() -> Any:
            found = []
            txn = ts.Transaction()
            await kv.with_transaction(txn).write("a", b"1")
            found.append((await txn.future, state(txn), "a" in kv))
            async with ts.Transaction() as txn:
                await kv.with_transaction(txn).write("b", b"1")
            found.append((state(txn), "b" in kv))
            with suppress(KeyError):
                async with ts.Transaction() as txn:
                    await kv.with_transaction(txn).write("c", b"1")
                    raise KeyError
            return [*found, state(txn), "c" in kv]

        return asyncio.run(run())

    same(seen)


def test_blocks() -> None:
    """Ended within, used again, and with errors."""

    def seen(ts: Any) -> Any:
        def block(within: Callable[[Any], Any], error: Exception | None = None, again: str | None = None) -> Any:
            txn = ts.Transaction()
            if again is not None:
                getattr(txn, again)()
            with txn as entered:
                within(entered)
                if error is not None:
                    raise error
            return entered == txn, state(txn)

        wrong = KeyError()
        return [
            outcome(call)
            for call in (
                lambda: block(lambda txn: None),
                lambda: block(lambda txn: txn.commit_sync()),
                lambda: block(lambda txn: txn.abort()),
                lambda: block(lambda txn: txn.commit_sync(), wrong),
                lambda: block(lambda txn: txn.abort(), wrong),
                lambda: block(lambda txn: None, wrong),
                lambda: block(lambda txn: None, None, "commit_sync"),
                lambda: block(lambda txn: None, None, "abort"),
            )
        ]

    same(seen)


def test_dropped() -> None:
    """Aborted when nobody has it; a store or a future that has it is somebody."""

    def seen(ts: Any) -> Any:
        kv, found = key_store(ts), []
        txn = ts.Transaction()
        inside = kv.with_transaction(txn)
        inside["a"] = b"1"
        del txn
        gc.collect()
        found.append(state(inside.transaction))
        future = inside.transaction.future
        inside["b"] = b"2"
        del inside
        gc.collect()
        found.append((kv.list().result(), future.result(timeout=60), sorted(kv.list().result())))
        kv.with_transaction(ts.Transaction())["c"] = b"3"
        gc.collect()
        return [*found, sorted(kv.list().result())]

    same(seen)


def test_closed() -> None:
    """What can be done with stores whose transaction has ended."""

    def seen(ts: Any) -> Any:
        found: list[Any] = []
        spec = {"driver": "zarr3", "kvstore": "memory://"}
        for end in ("commit_sync", "abort"):
            txn = ts.Transaction()
            given = {"context": ts.Context(), "transaction": txn}
            store = ts.open(spec, context=given["context"], dtype="int8", shape=[4], create=True).result()
            inside = store.with_transaction(txn)
            getattr(txn, end)()
            calls: list[Callable[[], Any]] = [
                lambda inside=inside: (inside.domain, inside[1].domain, inside.dtype),
                lambda inside=inside: inside.read().result(),
                lambda inside=inside: inside.write(1).result(),
                lambda inside=inside: inside.resolve().result(),
                lambda inside=inside: inside.resize(exclusive_max=[5]).result(),
                lambda inside=inside: inside.storage_statistics(query_not_stored=True).result(),
                lambda inside=inside: np.asarray(inside),
                lambda inside=inside: inside.__setitem__(0, 1),
                lambda inside=inside: inside.spec(),
                lambda inside=inside: inside.kvstore.read("zarr.json").result(),
                lambda inside=inside: inside.kvstore.list().result(),
                lambda inside=inside: inside.with_transaction(None).read().result(),
                lambda given=given: ts.open(spec, **given).result(),
                lambda given=given: ts.open(spec, create=True, dtype="int8", shape=[4], **given).result(),
            ]
            found += [outcome(call) for call in calls]
        return found

    same(seen)


def test_what_goes_on() -> None:
    """What has begun before is part of what is committed, and waited for."""
    gate, begun = threading.Event(), threading.Event()

    def slowly(domain: Any, array: Any, _: Any) -> None:
        begun.set()
        gate.wait(20)
        array[...] = 3

    source = ours.virtual_chunked(slowly, dtype="int8", shape=[4])
    store = ours.open({"driver": "zarr3", "kvstore": "memory://"}, dtype="int8", shape=[4], create=True).result()
    txn = ours.Transaction()
    writing = store.with_transaction(txn).write(source)
    begun.wait(20)
    committed = txn.commit_async()
    assert (committed.done(), txn.open, txn.commit_started) == (False, True, False)
    assert not store.read().result().any()
    gate.set()
    assert (writing.result(timeout=60), committed.result(timeout=60)) == (None, None)
    assert store.read().result().tolist() == [3] * 4
    # Aborted meanwhile: it has ended when that has ended.
    gate.clear()
    begun.clear()
    txn = ours.Transaction()
    writing = store.with_transaction(txn)[0:2].write(source[0:2])
    begun.wait(20)
    txn.abort()
    assert (txn.aborted, txn.future.done()) == (True, False)
    gate.set()
    assert isinstance(txn.future.exception(timeout=60), ValueError)
    assert writing.exception(timeout=60) is not None
    # What is cancelled, or dropped, before it begins keeps nobody waiting.
    txn = ours.Transaction()
    with ours.Batch() as batch:
        reading = store.with_transaction(txn).read(batch=batch)
        reading.cancel()
        committed = txn.commit_async()
    assert committed.result(timeout=60) is None


def test_what_goes_on_without_a_future(monkeypatch: pytest.MonkeyPatch) -> None:
    """Assignments, and arrays of NumPy that are made of views, are waited for, too."""
    spec = {"driver": "zarr3", "kvstore": "memory://"}
    store = ours.open(spec, dtype="int8", shape=[4], create=True).result()

    def committed_during(name: str, txn: Any) -> Any:
        act = getattr(WriteBuffer, name)

        def meanwhile(self: WriteBuffer, *arguments: Any) -> Any:
            monkeypatch.undo()
            txn.commit_async()
            assert not txn.commit_started
            return act(self, *arguments)

        monkeypatch.setattr(WriteBuffer, name, meanwhile)
        return store.with_transaction(txn)

    for assign in (
        lambda inside: inside.__setitem__(1, 7),
        lambda inside: inside.oindex.__setitem__([2], 7),
        lambda inside: inside.__setitem__(3, ours.array(np.array(7, "int8"))),
    ):
        txn = ours.Transaction()
        assign(committed_during("write", txn))
        assert txn.commit_started
        txn.future.result(timeout=60)
    assert store.read().result().tolist() == [0, 7, 7, 7]
    txn = ours.Transaction()
    store.with_transaction(txn)[0] = 9
    assert np.asarray(committed_during("read", txn)).tolist() == [9, 7, 7, 7]
    assert txn.commit_started
    txn.future.result(timeout=60)


def test_many_threads() -> None:
    """Of many who commit and abort one does; what is read and written at the same time is in it, or an error."""
    for _ in range(50):
        kv, txn = key_store(ours), ours.Transaction()
        inside = kv.with_transaction(txn)

        def act(call: Callable[[], Any]) -> None:
            with suppress(ValueError):
                call()

        writes = (lambda key=key, inside=inside: inside.write(key, b"1").result() for key in "abcd")
        calls = [txn.commit_sync, txn.abort, *writes]
        threads = [threading.Thread(target=act, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert txn.future.done()
        assert txn.aborted != txn.commit_started
        if txn.aborted:
            assert kv.list().result() == []


def test_pickled() -> None:
    """It cannot be."""
    txn = ours.Transaction()
    kv = key_store(ours).with_transaction(txn)
    store = ours.open({"driver": "zarr3", "kvstore": "memory://"}, dtype="int8", shape=[4], create=True).result()
    for each, kind in ((txn, TypeError), (kv, ValueError), (store.with_transaction(txn), ValueError)):
        with pytest.raises(kind):
            pickle.dumps(each)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked() -> None:
    """A child commits its own copy; what the parent has is not concerned."""
    kv, txn = key_store(ours), ours.Transaction()
    kv.with_transaction(txn)["a"] = b"1"
    child = os.fork()
    if not child:
        txn.commit_sync()
        os._exit(0 if kv["a"] == b"1" else 1)
    assert os.waitpid(child, 0) == (child, 0)
    assert (txn.open, "a" in kv) == (True, False)
    txn.commit_sync()
    assert kv["a"] == b"1"


class TestVirtualChunks:
    """Functions that make and take chunks, in transactions."""

    def stores(self, ts: Any) -> Any:
        """A store over an array, the array, and what was called."""
        state, calls = np.zeros((4, 6), "i4"), []

        def read(domain: Any, array: Any, _: Any) -> None:
            array[...] = state[domain.index_exp]

        def write(domain: Any, array: Any, _: Any) -> None:
            calls.append((domain.origin, array.tolist()))
            if domain.origin == (2, 3) and array[0, 0] == 13:
                raise KeyError("wrong")
            state[domain.index_exp] = array

        layout = ts.ChunkLayout(chunk_shape=[2, 3])
        return ts.virtual_chunked(read, write, dtype="int32", shape=[4, 6], chunk_layout=layout), state, calls

    def test_gathered(self) -> None:
        """Each chunk is handed over once, when it is committed; what is read sees it before."""

        def seen(ts: Any) -> Any:
            store, state, calls = self.stores(ts)
            txn = ts.Transaction()
            inside = store.with_transaction(txn)
            inside[0, 0] = 5
            inside[0, 1] = 6
            inside[2:, :3] = 7
            ts.stack([store, store]).with_transaction(txn)[1, 1, 0] = 8
            found = [inside[:, :3].read().result().tolist(), state.tolist(), list(calls)]
            txn.commit_sync()
            found += [state.tolist(), sorted(calls)]
            txn = ts.Transaction()
            inside = store.with_transaction(txn)
            inside[...] = 9
            txn.abort()
            return [*found, state.tolist(), outcome(lambda: inside.read().result())]

        same(seen)

    def test_failing(self) -> None:
        """The other chunks are stored."""

        def seen(ts: Any) -> Any:
            store, state, calls = self.stores(ts)
            txn = ts.Transaction()
            store.with_transaction(txn)[...] = 13
            return outcome(txn.commit_sync)[:2], state.tolist(), len(calls)

        same(seen)

    def test_atomic(self) -> None:
        """One chunk at most."""

        def seen(ts: Any) -> Any:
            store, state, _ = self.stores(ts)
            txn = ts.Transaction(atomic=True)
            inside = store.with_transaction(txn)
            found = [outcome(lambda at=at: inside[at, 0].write(1).result()) for at in (0, 1, 2)]
            return found, outcome(txn.commit_sync), state.tolist(), state is None

        same(seen)

    def test_generations(self) -> None:
        """A chunk that somebody else has changed since it was read is read and merged once more, also without one."""
        for with_transaction in (False, True):
            state, generation = np.zeros(4, "i4"), [0]

            def told() -> Any:
                return ours.KvStore.TimestampedStorageGeneration(b"%d" % generation[0], 0.0)  # noqa: B023

            def read(domain: Any, array: Any, _: Any) -> Any:
                array[...] = state  # noqa: B023
                return told()

            def write(domain: Any, array: Any, params: Any) -> Any:
                if generation[0] == 0:  # noqa: B023
                    state[3] = 88  # noqa: B023
                    generation[0] += 1  # noqa: B023
                if params.if_equal not in (b"", told().generation):
                    return ours.KvStore.TimestampedStorageGeneration(b"", 0.0)
                state[...] = array  # noqa: B023
                generation[0] += 1  # noqa: B023
                return told()

            store = ours.virtual_chunked(read, write, dtype="int32", shape=[4])
            if with_transaction:
                with ours.Transaction() as txn:
                    store.with_transaction(txn)[0] = 1
            else:
                store[0] = 1
            assert (state.tolist(), generation) == ([1, 0, 0, 88], [2])


# Python ignores an interrupt that arrives in a finaliser, and pytest reports that.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Unix only")
def test_nothing_is_written_after_an_interrupted_commit(tmp_path: Path) -> None:
    """What is written next must not be undone by the chunks that the commit had not come to."""
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/"}}
    array = ours.open(spec, dtype="int64", shape=[400], chunk_layout=ours.ChunkLayout(chunk_shape=[1]), create=True)
    array = array.result()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for number in range(1, 9):
            with suppress(KeyboardInterrupt), ours.Transaction() as txn:
                array.with_transaction(txn)[...] = number
                signal.setitimer(signal.ITIMER_REAL, 0.004 * number)
            signal.setitimer(signal.ITIMER_REAL, 0)
            array[...] = -number
            assert set(array.read().result().tolist()) == {-number}
    finally:
        signal.signal(signal.SIGALRM, before)

"""Transactions: what is seen before, during and after, held against TensorStore."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import TransactionError
from blizzarr.tensorstore import staging
from blizzarr.transfer import write
from tensorstore_face import ours, outcome, same


def _made(ts: Any, **more: Any) -> Any:
    layout = ts.ChunkLayout(chunk_shape=[2, 3])
    spec = {"driver": "zarr3", "kvstore": "memory://"}
    return ts.open(spec, dtype="int32", shape=[4, 6], chunk_layout=layout, create=True, **more).result()


@pytest.mark.parametrize("seed", range(25))
def test_isolation(seed: int) -> None:
    """Writes in and out of a transaction in any order: the elements that each sees, and the keys that are stored."""

    def seen(ts: Any) -> Any:
        rng = np.random.default_rng(seed)
        store = _made(ts, fill_value=int(rng.integers(0, 2)))
        transaction = ts.Transaction()
        bound = store.with_transaction(transaction)
        found = []
        for _ in range(12):
            target = bound if rng.random() < 0.6 else store
            kind = rng.integers(0, 3)
            a, b = sorted(int(at) for at in rng.integers(0, 7, 2))
            value = int(rng.integers(0, 3))
            rows = [int(at) for at in rng.permutation(4)[:2]]
            if kind == 0:
                target[int(rng.integers(0, 4)), a:b] = value
            elif kind == 1:
                target.vindex[rows, [min(a, 5), min(b, 5)]] = value
            else:
                target[rows[0] // 2 * 2 : rows[0] // 2 * 2 + 2, :3] = value
            found.append((bound.read().result().tolist(), store.read().result().tolist()))
        found.append(bound[1:3, ::2].T.read(order="F").result().tolist())
        before = sorted(store.kvstore.list().result())
        if seed % 5:
            transaction.commit_sync()
        else:
            transaction.abort()
        return found, before, sorted(store.kvstore.list().result()), store.read().result().tolist()

    same(seen)


def test_life() -> None:
    """Open, committed, aborted; what can be done with each."""

    def seen(ts: Any) -> Any:
        store, found = _made(ts), []

        def state(txn: Any) -> None:
            found.append((txn.open, txn.aborted, txn.commit_started, txn.atomic))

        txn = ts.Transaction()
        bound = store.with_transaction(txn)
        found.append((bound.transaction == txn, bound[0].transaction == txn, store.transaction))
        found.append(outcome(lambda: bound.with_transaction(None)))
        found.append(outcome(lambda: bound.with_transaction(ts.Transaction())))
        state(txn)
        txn.abort()
        state(txn)
        calls = (
            lambda: txn.future.result(),
            lambda: txn.commit_async().result(),
            lambda: txn.commit_sync(),
            lambda: bound.read().result(),
            lambda: bound.write(3).result(),
            lambda: txn.abort(),
        )
        found += [outcome(call) for call in calls]
        txn = ts.Transaction(atomic=True)
        txn.commit_sync()
        state(txn)
        txn.abort()
        state(txn)
        found.append(outcome(lambda: txn.future.result()))
        bound = store.with_transaction(txn)
        found.append(outcome(lambda: bound.read().result()))
        found.append(outcome(lambda: bound.write(3).result()))
        return found

    same(seen)


def test_blocks() -> None:
    """Committed at the end of a block, aborted by an error; also where it is awaited."""

    def seen(ts: Any) -> Any:
        store = _made(ts)
        with ts.Transaction() as txn:
            store.with_transaction(txn)[0, 0] = 1
        with suppress(KeyError), ts.Transaction() as txn:
            store.with_transaction(txn)[0, 1] = 1
            raise KeyError

        async def run() -> None:
            async with ts.Transaction() as txn:
                await store.with_transaction(txn)[0, 2].write(1)
            with suppress(KeyError):
                async with ts.Transaction() as txn:
                    await store.with_transaction(txn)[0, 3].write(1)
                    raise KeyError

        asyncio.run(run())
        return store.read().result().tolist()

    assert same(seen)


def test_each_chunk_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many parts of it were written, and only when the transaction is committed."""
    written: list[Any] = []

    def counted(binding: Any, lowered: Any, value: Any) -> None:
        written.append((lowered[0], np.shape(value)))
        write(binding, lowered, value)

    store = _made(ours)
    with ours.Transaction() as txn:
        bound = store.with_transaction(txn)
        for row in range(4):
            for column in range(6):
                bound[row, column] = row * 6 + column
        assert store.kvstore.list().result() == [b"zarr.json"]
        monkeypatch.setattr(staging, "write", counted)
    assert sorted(written) == [((2, 3), (2, 3))] * 4
    assert store.read().result().tolist() == np.arange(24).reshape(4, 6).tolist()


def test_adapters() -> None:
    """Views, casts and stacks have the transactions of what they are made from."""

    def seen(ts: Any) -> Any:
        store, one, two = _made(ts), ts.Transaction(), ts.Transaction()
        return (
            ts.stack([store, store]).with_transaction(one).transaction == one,
            outcome(lambda: ts.stack([store.with_transaction(one), store])),
            outcome(lambda: ts.stack([store.with_transaction(one), store.with_transaction(two)])),
            ts.cast(store.with_transaction(one), "int8").transaction == one,
            ts.cast(store, "int8").with_transaction(one).transaction == one,
            ts.downsample(store, [1, 1], "mean").with_transaction(one).transaction == one,
            ts.array([1]).with_transaction(one).transaction == one,
            outcome(lambda: ts.array([1]).with_transaction(one).read().result()),
            outcome(lambda: ts.array([1]).with_transaction(one).write(1).result()),
            repr(store.with_transaction(one)) == repr(store),
        )

    same(seen)
    store = _made(ours)
    with ours.Transaction() as txn:
        ours.stack([store, store]).with_transaction(txn)[1, 0, 0] = 5
        assert int(store[0, 0].read().result()) == 0
    assert int(store[0, 0].read().result()) == 5


def test_atomic_in_files(tmp_path: Path) -> None:
    """What could be seen half committed is refused when it is asked for, and aborts; one value can be committed."""

    def seen(ts: Any) -> Any:
        kv = ts.KvStore.open(f"file://{tmp_path}/{ts.__name__}/").result()
        found = []
        for calls in (
            (lambda kv: kv.write("a", b"1"), lambda kv: kv.write("b", b"1")),
            (lambda kv: kv.write("a", b"1"), lambda kv: kv.write("a", b"2")),
            (lambda kv: kv.delete_range(ts.KvStore.KeyRange("a", "b")),),
        ):
            txn = ts.Transaction(atomic=True)
            bound = kv.with_transaction(txn)
            found += [outcome(lambda call=call, bound=bound: call(bound).result() and None) for call in calls]
            found.append((outcome(txn.commit_sync), txn.aborted, kv.list().result()))
        return str(found).replace(ts.__name__, "")

    same(seen)
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/a/"}
    layout = ours.ChunkLayout(chunk_shape=[2, 3])
    store = ours.open(spec, dtype="int32", shape=[4, 6], chunk_layout=layout, create=True).result()
    atomic = ours.Transaction(atomic=True)
    store.with_transaction(atomic)[:2, :3].write(1).result()
    with pytest.raises(TransactionError, match=r"Cannot read/write local file .* and read/write .* as single atomic"):
        store.with_transaction(atomic)[:2, 3:].write(1).result()
    assert atomic.aborted
    assert not store.read().result().any()
    with ours.Transaction(atomic=True) as atomic:
        store.with_transaction(atomic)[:2, :3].write(1).result()
    assert store.read().result().sum() == 6
    with ours.Transaction(atomic=True) as atomic:
        # Of the chunks that are new none is stored, so that only the document is replaced.
        store.with_transaction(atomic).resize(exclusive_max=[9, 12]).result()
    store = store.resolve().result()
    assert (store.shape, store.read().result().sum()) == ((9, 12), 6)
    assert len(ours.KvStore.open(f"file://{tmp_path}/a/").result().list().result()) == 2

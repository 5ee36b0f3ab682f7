"""Transactions: what is seen before, during and after, held against TensorStore."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.tensorstore import staging
from blizzarr.transfer import write
from tensorstore_face import ours, outcome, same, theirs


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


def test_what_transactions_cannot_do(tmp_path: Path) -> None:
    """Shapes and documents are changed at once or not at all, and several chunks not in one step."""
    store = _made(ours)
    txn = ours.Transaction()
    with pytest.raises(UnsupportedOperationError, match="within a transaction"):
        store.with_transaction(txn).resize(exclusive_max=[2, 2]).result()
    with pytest.raises(UnsupportedOperationError, match="created within a transaction"):
        _made(ours, transaction=txn)
    atomic = ours.Transaction(atomic=True)
    store.with_transaction(atomic).write(1).result()
    with pytest.raises(SpecError, match="single atomic transaction"):
        atomic.commit_sync()
    assert atomic.aborted
    assert not store.read().result().any()
    atomic = ours.Transaction(atomic=True)
    store.with_transaction(atomic)[:2, :3].write(1).result()
    atomic.commit_sync()
    assert store.read().result().sum() == 6
    assert theirs.Transaction(atomic=True).atomic

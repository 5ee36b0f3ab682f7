"""Histories of transactions: random operations in and outside of several, over two stores, held against TensorStore.

Everything that can be seen is compared after each step: elements, bounds, keys and values, errors, and at the end what
is stored. Operations that TensorStore 0.1.86 cannot do are left out: making an array smaller in a transaction so that
chunks go, and committing one in which creating has failed, wait for ever; changing the shape of an array that the
same transaction creates is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours

theirs = pytest.importorskip("tensorstore")

COUNT = 160
PARTS = 2
STEPS = 9


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the class and the first words of what it raises."""
    try:
        return call()
    except Exception as error:
        kind = next(kind for kind in (ValueError, KeyError, IndexError, Exception) if isinstance(error, kind))
        return kind.__name__, _gist(str(error))


def _gist(text: str) -> str:
    words = ("NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "ABORTED", "not open (aborted)", "already started")
    return next((word for word in words if word in text), "")


class History:
    """One implementation that does what a history says."""

    def __init__(self, ts: Any) -> None:
        self.ts = ts
        self.contexts = [ts.Context(), ts.Context()]
        self.transactions: list[Any] = []
        self.stores: dict[Any, Any] = {}

    def begin(self, **kind: Any) -> None:
        """Another transaction."""
        self.transactions.append(self.ts.Transaction(**kind))

    def txn(self, number: int | None) -> Any:
        return None if number is None else self.transactions[number]

    def kvstore(self, where: int, txn: int | None) -> Any:
        kv = self.ts.KvStore.open("memory://", context=self.contexts[where]).result()
        return kv if txn is None else kv.with_transaction(self.txn(txn))

    def open(self, where: int, name: str, txn: int | None, shape: list[int], mode: dict[str, bool]) -> Any:
        layout = self.ts.ChunkLayout(chunk_shape=[2, 3]) if mode.get("create") else None
        given = {"dtype": "int16", "shape": shape, "chunk_layout": layout} if mode.get("create") else {}
        spec = {"driver": "zarr3", "kvstore": f"memory://{name}/"}
        store = self.ts.open(spec, context=self.contexts[where], transaction=self.txn(txn), **given, **mode).result(
            timeout=60
        )
        self.stores[where, name, txn] = store
        return str(store.domain)

    def write(self, key: Any, index: Any, value: int) -> Any:
        store = self.stores[key]
        return store[index].write(np.int16(value)).result(timeout=60)

    def read(self, key: Any) -> Any:
        store = self.stores[key]
        return store.resolve().result(timeout=60).read().result(timeout=60).tolist()

    def resize(self, key: Any, shape: list[int], only: bool) -> Any:
        store = self.stores[key]
        new = store.resize(exclusive_max=shape, resize_metadata_only=only).result(timeout=60)
        return str(new.domain)

    def copy(self, source: Any, target: Any) -> Any:
        return self.stores[target][:2, :3].write(self.stores[source][:2, :3]).result(timeout=60)

    def put(self, where: int, txn: int | None, key: str, value: bytes | None) -> Any:
        self.kvstore(where, txn).write(key, value).result(timeout=60)

    def put_if(self, where: int, txn: int, key: str, value: bytes, old: str) -> Any:
        known = b"\x02" if old == "missing" else self.kvstore(where, None).read(key).result().stamp.generation
        self.kvstore(where, txn).write(key, value, if_equal=known).result(timeout=60)

    def delete_range(self, where: int, txn: int | None, least: str, end: str) -> Any:
        self.kvstore(where, txn).delete_range(self.ts.KvStore.KeyRange(least, end)).result(timeout=60)

    def seen(self, where: int, txn: int | None) -> Any:
        kv = self.kvstore(where, txn)
        # Within a transaction TensorStore lists documents and chunks only until they have been read.
        range = self.ts.KvStore.KeyRange() if txn is None else self.ts.KvStore.KeyRange("w", "")
        found = {key: kv.read(key).result(timeout=60) for key in sorted(kv.list(range).result(timeout=60))}
        return {key: (read.state, b"" if key.endswith(b".json") else read.value) for key, read in found.items()}

    def end(self, txn: int, how: str) -> Any:
        transaction = self.txn(txn)
        getattr(transaction, how)()
        if how == "commit_async":
            transaction.future.result(timeout=60)
        return transaction.open, transaction.aborted, transaction.commit_started


def steps(rng: np.random.Generator) -> Generator[tuple[Any, ...], Any, None]:
    """A history: what is called, with what."""
    kinds = ({}, {}, {"atomic": True})
    count = int(rng.integers(1, 3))
    for _ in range(count):
        yield "begin", kinds[int(rng.integers(0, 3))]
    last: dict[Any, list[int]] = {}
    ended: set[int] = set()
    poisoned: set[int] = set()
    created: set[Any] = set()
    touched: dict[int, set[Any]] = {number: set() for number in range(count)}
    for where in (0, 1):
        if rng.random() < 0.7:
            yield "open", where, "a", None, [4, 6], {"create": True}
            last[where, "a", None] = [4, 6]
    for _ in range(STEPS):
        txn = [None, *range(count)][int(rng.integers(0, count + 1))]
        where, name = int(rng.integers(0, 2)), "ab"[int(rng.integers(0, 2))]
        if txn in poisoned and txn not in ended and rng.random() < 0.5:
            ended.add(txn)
            yield "end", txn, "abort"
            continue
        if txn in ended:
            continue
        kind = rng.integers(0, 12)
        key = where, name, txn
        if kind <= 1:
            shape = [int(rng.integers(2, 7)), int(rng.integers(3, 8))]
            mode: dict[str, bool] = {"create": True}
            if rng.random() < 0.5:
                mode["open"] = True
            elif rng.random() < 0.4 and txn is None:
                mode["delete_existing"] = True
            if txn is None and any((where, name) in marks for marks in touched.values()):
                continue
            result = yield "open", where, name, txn, shape, mode
            if result is not None:
                last[key] = shape
                if txn is not None:
                    touched[txn].add((where, name))
                    created.add((where, name, txn))
            elif txn is not None:
                poisoned.add(txn)
        elif kind == 2:
            yield "open", where, name, txn, [], {"open": True}
        elif kind <= 5 and (key in last or (where, name, None) in last):
            if key not in last:
                yield "open", where, name, txn, [], {"open": True}
                last[key] = last[where, name, None]
            row, column = int(rng.integers(0, 2)), int(rng.integers(0, 3))
            index = (slice(0, 2), slice(0, 3)) if rng.random() < 0.3 else (row, slice(0, column + 1))
            if txn is not None:
                touched[txn].add((where, name))
            yield "write", key, index, int(rng.integers(0, 4))
        elif kind == 6 and key in last and key not in created:
            shape = [size + int(rng.integers(0, 3)) for size in last[key]]
            if txn is None and any((where, name) in marks for marks in touched.values()):
                continue
            if txn is not None:
                touched[txn].add((where, name))
            yield "resize", key, shape, bool(rng.random() < 0.5)
        elif kind == 7 and key in last:
            others = [other for other in last if other[2] == txn]
            if txn is not None:
                touched[txn].add((where, name))
            yield "copy", others[int(rng.integers(0, len(others)))], key
        elif kind == 8:
            value = None if rng.random() < 0.3 else bytes([int(rng.integers(65, 70))])
            yield "put", where, txn, "xyz"[int(rng.integers(0, 3))], value
        elif kind == 9 and txn is not None:
            old = ("missing", "now")[int(rng.integers(0, 2))]
            yield "put_if", where, txn, "xyz"[int(rng.integers(0, 3))], b"!", old
        elif kind == 10:
            yield "delete_range", where, txn, "w", "xyz"[int(rng.integers(0, 3))]
        elif kind == 11 and txn is not None and txn not in ended:
            ended.add(txn)
            how = ("commit_sync", "commit_async", "abort")[int(rng.integers(0, 3))]
            if (yield "end", txn, "abort" if txn in poisoned else how)[0] in ("ValueError", "KeyError"):
                # Of two stores one may have been committed in TensorStore; here everything is checked first.
                return
        for seen in [None, *(number for number in range(count) if number not in ended and number not in poisoned)]:
            for each in (0, 1):
                yield "seen", each, seen
        for key in last:
            if key[2] not in ended and key[2] not in poisoned:
                yield "read", key
    for txn in range(count):
        if txn in ended:
            continue
        if (yield "end", txn, "abort" if txn in poisoned else "commit_sync")[0] in ("ValueError", "KeyError"):
            return
    for where in (0, 1):
        yield "seen", where, None
        for name in "ab":
            yield "open", where, name, None, [], {"open": True}
            if (where, name, None) in last:
                yield "read", (where, name, None)


@pytest.mark.parametrize("part", range(PARTS))
def test_histories(part: int) -> None:
    """The same history in both gives the same."""
    for seed in range(part, COUNT, PARTS):
        told = run(seed)
        assert told is None, f"seed {seed}: {told}"


def run(seed: int) -> Any:
    """Where a history differs, if it does."""
    one, other = History(ours), History(theirs)
    history = steps(np.random.default_rng(seed))
    result: Any = None
    for number in itertools.count():
        try:
            step = history.send(result)
        except StopIteration:
            return None
        name, *given = step
        if name == "begin":
            one.begin(**given[0])
            other.begin(**given[0])
            result = None
            continue
        found, expected = (outcome(partial(getattr(each, name), *given)) for each in (one, other))
        if found != expected:
            return number, step, found, expected
        result = None if isinstance(found, tuple) and name == "open" else found
    return None

"""What a transaction gathers, chunk by chunk, held against NumPy: chunks of odd lengths, shards, fields, bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from blizzarr.errors import ChunkError
from tensorstore_face import ours

V3: dict[str, Any] = {"driver": "zarr3", "kvstore": "memory://"}
RECORDS: dict[str, Any] = {
    "driver": "zarr",
    "kvstore": "memory://",
    "metadata": {"dtype": [["a", "<i2"], ["b", "|u1"], ["c", "<i2", [3]]], "shape": [19, 23], "chunks": [7, 12]},
}


def _made(kind: str) -> Any:
    """An array of a few chunks, or a part of one of records."""
    context = ours.Context()
    if kind in ("primes", "shards"):
        shape, layout = [15, 23, 5], ours.ChunkLayout(chunk_shape=[7, 11, 4])
        if kind == "shards":
            shape, layout = [13, 20], ours.ChunkLayout(read_chunk_shape=[2, 3], write_chunk_shape=[6, 9])
        return ours.open(V3, dtype="int32", shape=shape, chunk_layout=layout, create=True, context=context).result()
    ours.open({**RECORDS, "field": "a"}, create=True, context=context).result()
    part = {"open_as_void": True} if kind == "bytes" else {"field": kind}
    document = {"driver": "zarr", "kvstore": "memory://", **part}
    return ours.open(document, open=True, context=context).result()


def _some(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A box, or every second or third element of one, of all axes or all but one."""
    found: list[slice | int] = []
    for length in shape:
        low, high = sorted(int(at) for at in rng.integers(0, length + 1, 2))
        found.append(slice(low, high, int(rng.integers(1, 4))))
    if rng.random() < 0.3:
        axis = int(rng.integers(0, len(shape)))
        found[axis] = int(rng.integers(0, shape[axis]))
    return tuple(found)


def _put(target: Any, expected: npt.NDArray[Any], rng: np.random.Generator) -> None:
    where = _some(rng, expected.shape)
    values = rng.integers(1, 100, expected[where].shape).astype(expected.dtype)
    expected[where] = values
    target[where] = values.view(target.dtype.numpy_dtype)


def _seen(store: Any) -> npt.NDArray[Any]:
    """What is read, bytes as numbers."""
    found = np.asarray(store.read().result())
    return found.view(np.uint8) if found.dtype.kind == "V" else found


@pytest.mark.parametrize("kind", ["primes", "shards", "a", "b", "c", "bytes"])
@pytest.mark.parametrize("seed", range(8))
def test_gathered(kind: str, seed: int) -> None:
    """Writes in a transaction over those of others: seen in it, stored by it, and by nothing before."""
    rng = np.random.default_rng(seed)
    store = _made(kind)
    stored = _seen(store)
    for _ in range(2):
        _put(store, stored, rng)
    inside, mine = np.zeros(stored.shape, stored.dtype), np.zeros(stored.shape, stored.dtype)
    txn = ours.Transaction()
    bound = store.with_transaction(txn)
    for _ in range(6):
        _put(bound, mine, rng)
        _put(store, stored, rng)
        # All that is written is greater than zero.
        inside = np.where(mine > 0, mine, stored)
        np.testing.assert_array_equal(_seen(bound), inside)
        np.testing.assert_array_equal(_seen(store), stored)
    txn.commit_sync()
    np.testing.assert_array_equal(_seen(store), inside)


@pytest.mark.parametrize("seed", range(8))
def test_other_shapes(seed: int) -> None:
    """What is cut off is forgotten, and what is there then can be written."""
    rng = np.random.default_rng(seed)
    store = _made("primes")
    expected = np.zeros(store.shape, np.int32)
    txn = ours.Transaction()
    bound = store.with_transaction(txn)
    for _ in range(4):
        _put(bound, expected, rng)
        shape = tuple(int(length) for length in rng.integers(1, 30, 3))
        bound = bound.resize(exclusive_max=shape).result()
        kept = expected[tuple(map(slice, shape))]
        expected = np.zeros(shape, np.int32)
        expected[tuple(map(slice, kept.shape))] = kept
        _put(bound, expected, rng)
        np.testing.assert_array_equal(bound.read().result(), expected)
    txn.commit_sync()
    np.testing.assert_array_equal(store.resolve().result().read().result(), expected)


@pytest.mark.parametrize("kind", ["primes", "shards", "a", "c", "bytes"])
@pytest.mark.parametrize("seed", range(8))
def test_written_once(kind: str, seed: int) -> None:
    """Boxes, and lines with others between them, that others have written: these keep theirs."""
    rng = np.random.default_rng(seed)
    store = _made(kind)
    expected = _seen(store)
    expected[...] = 100
    store[...] = expected.view(store.dtype.numpy_dtype)
    with ours.Transaction() as txn:
        _put(store.with_transaction(txn), expected, rng)
    np.testing.assert_array_equal(_seen(store), expected)


@pytest.mark.parametrize("chunk", [(37, 61, 101), (64, 32, 128), (70001,)])
def test_large_chunks(chunk: tuple[int, ...]) -> None:
    """Large chunks of which lines are written, one by one."""
    layout = ours.ChunkLayout(chunk_shape=chunk)
    shape = (chunk[0] + 3, *chunk[1:])
    store = ours.open(V3, dtype="uint32", shape=shape, chunk_layout=layout, create=True).result()
    expected = np.zeros(shape, np.uint32)
    with ours.Transaction() as txn:
        bound = store.with_transaction(txn)
        for at in range(0, shape[0], max(1, shape[0] // 17)):
            expected[at] = bound[at] = at + 1
        expected[..., 5:7] = bound[..., 5:7] = 77
        np.testing.assert_array_equal(bound.read().result(), expected)
    np.testing.assert_array_equal(store.read().result(), expected)


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
def test_damaged_chunks_that_it_replaces(driver: str) -> None:
    """They are not read, also not the last chunk, of which only a part lies in the array; others are errors."""
    spec = {"driver": driver, "kvstore": "memory://"}
    layout = ours.ChunkLayout(chunk_shape=[2])
    context = ours.Context()
    store = ours.open(spec, create=True, dtype="int32", shape=[7], chunk_layout=layout, context=context).result()
    store[...] = 7
    for number in (0, 3):
        store.kvstore[f"c/{number}" if driver == "zarr3" else str(number)] = b"?"
    with ours.Transaction() as txn:
        inside = store.with_transaction(txn)
        inside[0] = 1
        with pytest.raises(ChunkError):
            inside.read().result()
        inside[1] = 2
        inside[6] = 3
        assert inside.read().result().tolist() == [1, 2, 7, 7, 7, 7, 3]
    assert store.read().result().tolist() == [1, 2, 7, 7, 7, 7, 3]

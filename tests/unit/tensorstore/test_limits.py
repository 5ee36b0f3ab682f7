"""A limit on threads holds for everything that is made from an array."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.caching import CachePool
from blizzarr.tensorstore.store import driver_of
from tensorstore_face import ours, theirs


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
@pytest.mark.parametrize(
    "driver",
    [{"driver": "zarr3", "dtype": "int32"}, {"driver": "zarr", "metadata": {"dtype": [["a", "<i4"]]}}],
    ids=["plain", "part"],
)
def test_batches_of_limited_arrays(library: Any, driver: dict[str, Any], tmp_path: Path) -> None:
    context = library.Context({"data_copy_concurrency": {"limit": 2}})
    spec = {**driver, "kvstore": {"driver": "file", "path": f"{tmp_path}/"}}
    store = library.open(spec, context=context, create=True, shape=[100]).result()
    store[:] = np.arange(100, dtype="int32")
    batch = library.Batch()
    reads = [store[:50].read(batch=batch), store[50:].read(batch=batch)]
    batch.submit()
    assert np.concatenate([read.result() for read in reads]).tolist() == list(range(100))
    again = library.open(spec, context=context, assume_metadata=True, shape=[100]).result()
    again[3] = 7
    assert again[2:5].read().result().tolist() == [2, 7, 4]
    found = pickle.loads(pickle.dumps(store))
    assert found[2:5].read().result().tolist() == [2, 7, 4]


def test_arrays_with_a_pool_keep_the_limit() -> None:
    context = ours.Context({"data_copy_concurrency": {"limit": 2}})
    spec = {"driver": "zarr3", "kvstore": "memory://", "dtype": "int8"}
    array = driver_of(ours.open(spec, context=context, create=True, shape=[3]).result())._array
    assert array.cached(CachePool(1 << 20)).threads == array.threads == 2


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_limited_arrays_in_transactions(library: Any, tmp_path: Path) -> None:
    context = library.Context({"data_copy_concurrency": {"limit": 2}})
    spec = {"driver": "zarr3", "dtype": "int32", "kvstore": {"driver": "file", "path": f"{tmp_path}/"}}
    store = library.open(spec, context=context, create=True, shape=[10]).result()
    with library.Transaction() as transaction:
        view = store.with_transaction(transaction)
        view[2:4] = [5, 6]
        assert view[1:5].read().result().tolist() == [0, 5, 6, 0]
        view.resize(exclusive_max=[12]).result()
    assert library.open(spec, context=context).result().read().result().tolist() == [0, 0, 5, 6] + [0] * 8

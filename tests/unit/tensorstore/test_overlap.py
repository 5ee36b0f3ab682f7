"""Reads of one array through several layers: each chunk is decoded once, and let go when the read ends."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
from tests.tensorstore_face import ours, same

from blizzarr.caching import CacheInfo, CachePool
from blizzarr.tensorstore import stored_array_driver

_GZIP = ["bytes", "gzip"]
_SHAPE, _CHUNK = (8, 96, 192), (8, 96, 96)
_names = (f"memory://overlap{number}/" for number in count())


def _data(shape: tuple[int, ...] = _SHAPE) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)


def _stored(face: Any, codecs: list[str], place: str | None = None, context: Any = None) -> Any:
    """Two chunks of 288 KiB each."""
    spec = {"driver": "zarr3", "kvstore": place or next(_names), "metadata": {"codecs": codecs}}
    layout = face.ChunkLayout(chunk_shape=_CHUNK)
    store = face.open(spec, dtype="uint32", shape=_SHAPE, chunk_layout=layout, create=True, context=context).result()
    store.write(_data()).result()
    return store


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Each pool that is made from here on: a weak reference to it, and what it is for the engine."""
    made: list[Any] = []

    class Noted(CachePool):
        """Is noted."""

        __slots__ = ()

        def __init__(self, limit: int) -> None:
            super().__init__(limit)
            made.append((weakref.ref(self), self.native))

    monkeypatch.setattr(stored_array_driver, "CachePool", Noted)
    return made


def _decoded(pools: list[Any]) -> int:
    """How many chunks were decoded for pools, all of which are gone."""
    gc.collect()
    assert pools
    assert all(pool() is None for pool, _ in pools)
    return sum(CacheInfo(*native.info()).misses for _, native in pools)


_WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "stack": lambda ts, store: ts.stack([store[at] for at in range(8)]),
    "concat": lambda ts, store: ts.concat([store[at : at + 1].translate_to[0, 0, 0] for at in range(7, -1, -1)], 0),
    "overlay": lambda ts, store: ts.overlay([store, store[2:5, ::-1].translate_to[2, 0, 0], store[1:3]]),
    "cast": lambda ts, store: ts.cast(ts.stack([store[at] for at in range(8)]), "float64"),
    "casts": lambda ts, store: ts.stack([ts.cast(store[at], "float64") for at in range(8)]),
    "downsample": lambda ts, store: ts.downsample(ts.stack([store[at] for at in range(8)]), [2, 2, 2], "max"),
    "downsamples": lambda ts, store: ts.stack([ts.downsample(store[at], [2, 2], "max") for at in range(8)]),
    "nested": lambda ts, store: ts.stack([ts.stack([store[at], store[7 - at]]) for at in range(4)]),
    "indices": lambda ts, store: ts.stack([store[at] for at in range(8)]).vindex[[0, 3, 7, 5], 5, [100, 2, 9, 180]],
}


@pytest.mark.parametrize("way", _WAYS)
def test_each_chunk_is_decoded_once(way: str, pools: list[Any]) -> None:
    """However layers of one array are put together."""
    same(lambda ts: _WAYS[way](ts, _stored(ts, _GZIP)).read().result())
    assert _decoded(pools) == 2


def test_one_read_after_the_other(pools: list[Any]) -> None:
    """Nothing is kept from one read for the next: it sees what was written meanwhile."""
    store = _stored(ours, _GZIP)
    stack = ours.stack([store[at] for at in range(8)])
    np.testing.assert_array_equal(stack.read().result(), _data())
    store[3, 5] = 7
    expected = _data()
    expected[3, 5] = 7
    np.testing.assert_array_equal(stack.read().result(), expected)
    assert _decoded(pools) == 4


def test_layers_that_are_opened_when_they_are_read(tmp_path: Any, pools: list[Any]) -> None:
    """They are one array if they are in one place."""
    place = f"file://{tmp_path}/a/"
    _stored(ours, _GZIP, place)
    spec = ours.open({"driver": "zarr3", "kvstore": place}).result().spec()
    np.testing.assert_array_equal(ours.stack([spec[at] for at in range(8)]).read().result(), _data())
    assert _decoded(pools) == 2


@pytest.mark.parametrize("case", ["plain", "distinct", "apart", "one", "transaction"])
def test_nothing_is_kept_for_nobody(case: str, pools: list[Any]) -> None:
    """Where a chunk is needed once, or is not packed, reads are as they are without other layers."""
    store = _stored(ours, ["bytes"] if case == "plain" else _GZIP)
    expected = _data()
    if case == "distinct":
        made = ours.stack([store, _stored(ours, _GZIP)])
        expected = np.stack([expected, expected])
    elif case == "apart":
        made = ours.concat([store[:, :, :96], store[:, :, 96:]], 2)
    elif case == "one":
        made = ours.stack([store])[0]
    elif case == "transaction":
        within = store.with_transaction(ours.Transaction())
        within[0, 0, 0] = expected[0, 0, 0] = 5
        made = ours.stack([within[at] for at in range(8)])
    else:
        made = ours.stack([store[at] for at in range(8)])
    np.testing.assert_array_equal(made.read().result(), expected)
    assert not pools


def test_layers_within_a_transaction() -> None:
    """The stack is within it, too."""

    def seen(ts: Any) -> Any:
        store = _stored(ts, _GZIP)
        transaction = ts.Transaction()
        within = store.with_transaction(transaction)
        within[0, 0, 0] = 5
        stack = ts.stack([within[at] for at in range(8)])
        assert stack.transaction is not None
        stack[1, 1] = 9
        found = [stack.read().result(), within.read().result(), store.read().result()]
        transaction.commit_async().result()
        return np.stack([*found, store.read().result()])

    same(seen)


def test_a_pool_of_the_user_is_used(pools: list[Any]) -> None:
    """Arrays whose chunks are kept already are read from there."""
    context = ours.Context({"cache_pool": {"total_bytes_limit": 1 << 24}})
    store = _stored(ours, _GZIP, context=context)
    np.testing.assert_array_equal(ours.stack([store[at] for at in range(8)]).read().result(), _data())
    assert not pools


def test_concurrency_of_the_user() -> None:
    """Arrays that few threads read share as others do."""
    context = ours.Context({"data_copy_concurrency": {"limit": 1}})
    store = _stored(ours, _GZIP, context=context)
    np.testing.assert_array_equal(ours.stack([store[at] for at in range(8)]).read().result(), _data())

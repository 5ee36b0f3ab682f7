"""Chains of views, casts, stacks and downsampling, in memory and stored: TensorStore says what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorstore_face import ours, outcome, theirs

SHAPE = (6, 5, 4)


def _chain(ts: Any, seed: int) -> Any:
    """Up to five steps, of nine kinds."""
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["int32", "float64", "bool", "complex64"]))
    elements = (np.arange(120) % 7).reshape(SHAPE).astype(dtype)
    if seed % 2:
        store = ts.open(
            {"driver": "zarr3", "kvstore": "memory://"},
            dtype=dtype,
            create=True,
            dimension_units=["4nm", None, "s"],
            chunk_layout=ts.ChunkLayout(chunk_shape=[3, 2, 4]),
            domain=ts.IndexDomain(labels=["x", "y", "z"], shape=SHAPE),
        ).result()
        store.write(elements).result()
    else:
        store = ts.array(elements).label["x", "y", "z"]
    for _ in range(rng.integers(0, 6)):
        if not store.rank:
            break
        dim = int(rng.integers(0, store.rank))
        low, high = store.domain.inclusive_min[dim], store.domain.exclusive_max[dim]
        first = int(rng.integers(low, max(high, low + 1)))
        last = int(rng.integers(first, max(high, first) + 1))
        step = int(rng.choice([2, -1, 3]))
        moved = int(rng.integers(-5, 5))
        factors = [int(factor) for factor in rng.integers(1, 3, store.rank)]
        axis = int(rng.integers(0, store.rank + 1))
        kind = rng.integers(0, 9)
        if kind == 0:
            store = store[ts.d[dim][first]]
        elif kind == 1:
            store = store[ts.d[dim][first:last]]
        elif kind == 2:
            store = store[ts.d[dim][::step]]
        elif kind == 3:
            store = store[ts.d[dim].oindex[[first, first, low]]] if high > low else store
        elif kind == 4:
            store = store.T
        elif kind == 5:
            store = store[ts.d[dim].translate_by[moved]]
        elif kind == 6:
            store = ts.cast(store, "complex128")
        elif kind == 7:
            store = ts.downsample(store, factors, "stride")
        else:
            store = ts.stack([store, store], axis)
    return store


@pytest.mark.parametrize("seed", range(160))
def test_chains(seed: int) -> None:
    """Domain, schema and elements; and the elements after it was written."""

    def written(ts: Any) -> Any:
        store = _chain(ts, seed)
        store.write(1).result()
        return store.read().result()

    for ask in (
        lambda ts: _chain(ts, seed).domain,
        lambda ts: _chain(ts, seed).schema,
        lambda ts: _chain(ts, seed).mode,
        lambda ts: _chain(ts, seed).read().result(),
        lambda ts: _chain(ts, seed).read(order="F").result(),
        written,
    ):
        mine, other = outcome(lambda ask=ask: ask(ours)), outcome(lambda ask=ask: ask(theirs))
        assert mine == other if other[0] != "error" else mine[:2] == other[:2], (mine, other)

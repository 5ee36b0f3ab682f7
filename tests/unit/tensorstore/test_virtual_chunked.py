"""Stores whose chunks functions make: asked for the chunks that TensorStore asks for, and giving what it gives."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import BlizzarrError
from tensorstore_face import ours, outcome, same, theirs


def _recorded(ts: Any, calls: list[Any], **given: Any) -> Any:
    """A store of 3 by 2 digits for each position, that records what it is asked for."""

    def read(domain: Any, array: Any, params: Any) -> None:
        calls.append(("read", str(domain), array.shape, array.strides, params.if_not_equal, params.batch is None))
        rows = np.arange(domain.inclusive_min[0], domain.exclusive_max[0])
        columns = np.arange(domain.inclusive_min[1], domain.exclusive_max[1])
        array[...] = rows[:, None] * 100 + columns

    def write(domain: Any, array: Any, params: Any) -> None:
        calls.append(("write", str(domain), array.tolist(), params.if_equal))

    return ts.virtual_chunked(read, write, **given)


GRIDS: list[dict[str, Any]] = [
    {"shape": [7, 5], "chunk": {"read_chunk_shape": [2, 3]}},
    {"shape": [7, 5], "chunk": {"read_chunk_shape": [2, 3], "grid_origin": [1, -1], "inner_order": [1, 0]}},
    {"shape": [7, 5], "chunk": {"write_chunk_shape": [3, 3]}},
    {"shape": [7, 5], "chunk": {}},
]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize(
    "view",
    [
        lambda s, ts: s,
        lambda s, ts: s[1:6:2, 3],
        lambda s, ts: s.T,
        lambda s, ts: s[ts.d[0, 1].diagonal],
        lambda s, ts: s[ts.d[1][::-1]],
        lambda s, ts: s.oindex[[6, 0, 3], [1, 1]],
        lambda s, ts: s.vindex[[6, 0, 3], [1, 4, 1]],
        lambda s, ts: s[3:3],
        lambda s, ts: s.translate_by[10, -2][10:13],
    ],
)
def test_chunks_that_are_asked_for(grid: dict[str, Any], view: Any) -> None:
    """The same chunks, with the same memory, and the same elements of them; written ones whole."""

    def done(ts: Any, write: bool) -> Any:
        calls: list[Any] = []
        layout = ts.ChunkLayout(**grid["chunk"])
        store = view(_recorded(ts, calls, dtype="int32", shape=grid["shape"], chunk_layout=layout), ts)
        if write:
            store.write(np.arange(store.size, dtype=np.int32).reshape(store.shape)).result()
            return sorted(map(repr, calls)), store.schema
        return store.read().result().tolist(), sorted(map(repr, calls)), store.schema, store.mode

    same(lambda ts: done(ts, False))
    same(lambda ts: done(ts, True))


def test_a_store_without_dimensions_has_one_array() -> None:
    """Functions fill it, and take the element from it."""

    def done(ts: Any) -> Any:
        calls: list[Any] = []

        def read(domain: Any, array: Any, params: Any) -> None:
            calls.append((type(array), array.shape))
            array[...] = 5

        def write(domain: Any, array: Any, params: Any) -> None:
            calls.append((type(array), array.tolist()))

        store = ts.virtual_chunked(read, write, dtype="int32", shape=[])
        store.write(7).result()
        return store.read().result().tolist(), calls

    expected = (5, [(np.ndarray, 7), (np.ndarray, ())])
    assert done(ours) == expected
    # Once in some hundred times, TensorStore gives the functions something else.
    assert any(done(theirs) == expected for _ in range(20))


def test_what_must_be_given() -> None:
    """A function, a rank and a data type; no fill value and no codec."""

    def read(domain: Any, array: Any, params: Any) -> None:
        array[...] = 1

    for call in (
        lambda ts: ts.virtual_chunked(),
        lambda ts: ts.virtual_chunked(read),
        lambda ts: ts.virtual_chunked(read, dtype="int8"),
        lambda ts: ts.virtual_chunked(read, shape=[2]),
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2]).write(1).result(),
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2]).resize(exclusive_max=[3]).result(),
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2]).storage_statistics(query_not_stored=True).result(),
        lambda ts: ts.virtual_chunked(None, read, dtype="int8", shape=[2]).read().result(),
        lambda ts: ts.virtual_chunked(None, read, dtype="int8", shape=[2])[:1].write(1).result(),
        lambda ts: ts.virtual_chunked(read, dtype="int8", rank=2)[2:4, 5:6].read().result(),
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[300, 5000, 5000]).chunk_layout,
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2], dimension_units=["4nm"]).schema,
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2]),
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2]).spec(),
        lambda ts: ts.virtual_chunked(read, dtype="int8", shape=[2]).spec().to_json(),
        lambda ts: ts.open(ts.virtual_chunked(read, dtype="int8", shape=[2]).spec()).result().read().result(),
    ):
        same(call)


def test_bounds_are_those_that_were_given() -> None:
    """None is implicit, as nothing is stored that could tell another one; infinite ones stay so."""
    for dims in ([{}], [{"inclusive_min": 3, "label": "x"}], [{"size": 5, "implicit_upper": True}]):

        def virtual(ts: Any, dims: Any = dims) -> Any:
            domain = ts.IndexDomain([ts.Dim(**dim) for dim in dims])
            return ts.virtual_chunked(lambda *given: None, dtype="int8", domain=domain)

        for view in (
            lambda ts: virtual(ts).domain,
            lambda ts: virtual(ts).schema.domain.to_json(),
            lambda ts: virtual(ts)[4:].domain,
            lambda ts: ts.downsample(virtual(ts), [2], "mean").domain,
        ):
            same(view)


def test_views_without_bounds_are_concatenated() -> None:
    def read(domain: Any, array: Any, params: Any) -> None:
        array[...] = np.arange(domain.inclusive_min[0], domain.exclusive_max[0])

    def joined(ts: Any, start: int) -> Any:
        every = ts.virtual_chunked(read, dtype="int64", rank=1)
        return ts.concat([every[:5], every[start:]], axis=0)

    for start in (5, 3):
        same(lambda ts, start=start: joined(ts, start).domain)
        same(lambda ts, start=start: joined(ts, start)[3:8].read().result().tolist())


def test_errors_of_functions() -> None:
    """They are what reading and writing fail with."""

    def fail(domain: Any, array: Any, params: Any) -> None:
        raise KeyError("x")

    same(lambda ts: ts.virtual_chunked(fail, dtype="int8", shape=[2]).read().result())
    same(lambda ts: ts.virtual_chunked(fail, fail, dtype="int8", shape=[2]).write(1).result())

    async def slow(domain: Any, array: Any, params: Any) -> None:
        array[...] = 5

    # No event loop runs here; the coroutine is closed, or it would be told of as never awaited when it is collected.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="no event loop specified"):
            ours.virtual_chunked(slow, dtype="int8", shape=[2]).read().result()
        gc.collect()


def test_coroutines_run_at_the_same_time() -> None:
    """All chunks are begun before the first is waited for."""

    async def run(ts: Any) -> Any:
        begun = 0

        async def read(domain: Any, array: Any, params: Any) -> None:
            nonlocal begun
            begun += 1
            while begun < 4:
                await asyncio.sleep(0.001)
            array[...] = domain.inclusive_min[0]

        layout = ts.ChunkLayout(read_chunk_shape=[2])
        store = ts.virtual_chunked(read, dtype="int8", shape=[8], chunk_layout=layout)
        return (await asyncio.wait_for(store.read(), 10)).tolist()

    assert asyncio.run(run(ours)) == asyncio.run(run(theirs)) == [0, 0, 2, 2, 4, 4, 6, 6]


def _ones(domain: Any, array: Any, params: Any) -> None:
    array[...] = 1


def test_pickled() -> None:
    """With functions that can be pickled."""
    store = ours.virtual_chunked(_ones, dtype="int8", shape=[2])
    again = pickle.loads(pickle.dumps(store))
    assert again.read().result().tolist() == [1, 1]
    assert again.schema == store.schema
    assert copy.copy(store) is store
    assert outcome(lambda: again[5])[0] == "error"


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_functions_that_return_elements(library: Any) -> None:
    """Were they taken for done, the store would read as whatever memory had."""

    def read(domain: Any, array: Any, params: Any) -> Any:
        return np.ones(array.shape)

    written = []

    def write(domain: Any, array: Any, params: Any) -> Any:
        written.append(array.tolist())
        return "done"

    store = library.virtual_chunked(read, write, dtype="int8", shape=[2])
    with pytest.raises(RuntimeError):
        store.read().result()
    with pytest.raises(RuntimeError):
        store.write([1, 2]).result()
    assert written == [[1, 2]]
    if library is ours:
        with pytest.raises(BlizzarrError, match=r"expected None or .*, which puts elements .*; found ndarray"):
            store.read().result()
        with pytest.raises(BlizzarrError, match="found str"), ours.Transaction() as transaction:
            store.with_transaction(transaction).write([3, 4]).result()

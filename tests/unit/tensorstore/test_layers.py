"""Stores put together: which of many layers each position of a view belongs to, held against TensorStore."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.tensorstore_face import ours, outcome, same, theirs

from support.calls import calls_of


def _layers(face: Any, seed: int, how: str) -> Any:
    """Many layers: side by side, in a grid, or over each other wherever they fall."""
    rng = np.random.default_rng(seed)
    count = int(rng.choice([1, 2, 5, 14, 40]))
    shape = (int(rng.integers(1, 4)), 3)
    # Each element is another number, so that no layer can stand for another.
    stores = [face.array(np.arange(shape[0] * 3).reshape(shape) + 100 * number) for number in range(count)]
    if how == "stack":
        return face.stack(stores, axis=int(rng.integers(-3, 3)))
    if how == "concat":
        return face.concat(stores, axis=int(rng.integers(0, 2)))
    if how == "gaps":
        return face.overlay([store.translate_by[5 * number, 0] for number, store in enumerate(stores)])
    places = rng.integers(0, 6, (count, 2)).tolist()
    whole = face.array(-np.arange(1, 73).reshape(8, 9))
    moved = [store.translate_by[row, column] for store, (row, column) in zip(stores, places, strict=True)]
    return face.overlay([whole, *moved])


def _view(store: Any, face: Any, rng: np.random.Generator) -> Any:
    """Some chain of indices within the domain."""
    for _ in range(int(rng.integers(0, 3))):
        rank = store.rank
        if not rank:
            return store
        dim = int(rng.integers(0, rank))
        low, high = store.domain.inclusive_min[dim], store.domain.exclusive_max[dim]
        if low == high:
            return store
        some = rng.integers(low, high, int(rng.integers(1, 9))).tolist()
        kind = int(rng.integers(0, 7))
        if kind == 0:
            store = store[face.d[dim][some[0]]]
        elif kind == 1:
            store = store[face.d[dim][min(some) : max(some) + 1]]
        elif kind == 2:
            store = store[face.d[dim][::-1]]
        elif kind == 3:
            store = store[face.d[dim][:: int(rng.integers(2, 4))]]
        elif kind == 4:
            store = store[face.d[dim].oindex[some]]
        elif kind == 5:
            lists = [
                rng.integers(one, end, len(some)).tolist()
                for one, end in zip(store.domain.inclusive_min, store.domain.exclusive_max, strict=True)
            ]
            kept = int(rng.integers(1, rank + 1))
            store = store.vindex[tuple(lists[:kept])]
        else:
            store = store.T
    return store


@pytest.mark.parametrize("how", ["stack", "concat", "gaps", "overlay"])
@pytest.mark.parametrize("seed", range(40))
def test_views_of_many_layers(how: str, seed: int) -> None:
    """Reading, and writing and then reading everything."""
    _alike(lambda face: _view(_layers(face, seed, how), face, np.random.default_rng(seed)).read().result())

    def written(face: Any) -> Any:
        store = _layers(face, seed, how)
        # Positions that are there more than once get the same element.
        _view(store, face, np.random.default_rng(seed)).write(7).result()
        return _view(store, face, np.random.default_rng(seed + 1)).read().result()

    _alike(written)


def _alike(call: Callable[[Any], Any]) -> None:
    """The same elements; errors name another of the positions that no layer has."""
    found, expected = outcome(lambda: call(ours)), outcome(lambda: call(theirs))
    assert found == expected if expected[0] != "error" else found[:2] == expected[:2]


@pytest.mark.parametrize("seed", range(20))
def test_different_elements_written_to_many_layers(seed: int) -> None:
    """Each element where it belongs."""

    def written(face: Any) -> Any:
        store = _layers(face, seed, ["stack", "overlay"][seed % 2])
        view = store.T[face.d[0][::-1]]
        view.write(np.arange(view.size).reshape(view.shape)).result()
        points = [np.arange(low, high)[:2] for low, high in zip(store.origin, store.domain.exclusive_max, strict=True)]
        shape = tuple(map(len, points))
        store.oindex[tuple(points)].write(-np.arange(np.prod(shape)).reshape(shape)).result()
        return store.read().result()

    same(written)


def _virtual(face: Any, seed: int) -> Any:
    """Chunks whose elements say where they are; the grid begins anywhere."""
    rng = np.random.default_rng(seed)

    def numbered(domain: Any, array: Any, _: Any) -> None:
        places = [np.arange(low, high) for low, high in zip(domain.inclusive_min, domain.exclusive_max, strict=True)]
        array[...] = 0
        for place in np.meshgrid(*places, indexing="ij"):
            array[...] = array * 100 + place

    layout = face.ChunkLayout(
        chunk_shape=rng.integers(1, 5, 3).tolist(),
        grid_origin=rng.integers(-2, 3, 3).tolist(),
        inner_order=rng.permutation(3).tolist(),
    )
    low = rng.integers(-3, 3, 3)
    domain = face.IndexDomain(inclusive_min=low.tolist(), shape=rng.integers(1, 9, 3).tolist())
    return face.virtual_chunked(numbered, dtype="int64", domain=domain, chunk_layout=layout)


@pytest.mark.parametrize("seed", range(60))
def test_views_of_virtual_chunks(seed: int) -> None:
    """Each position is made by the chunk that it is in, whatever the view."""
    same(lambda face: _view(_virtual(face, seed), face, np.random.default_rng(seed)).read().result())
    same(lambda face: _virtual(face, seed)[face.d[0, 1].diagonal].read().result())


def _made(face: Any) -> dict[str, Any]:
    arrays = [face.array(np.arange(6).reshape(2, 3) + 10 * number) for number in range(3)]

    def fives(domain: Any, array: Any, _: Any) -> None:
        array[...] = 5

    layout = face.ChunkLayout(chunk_shape=[4])
    return {
        "stack": face.stack(arrays),
        "concat": face.concat(arrays, axis=0),
        "overlay": face.overlay([arrays[0], arrays[1].translate_to[1, 0]]),
        "downsample": face.downsample(face.array(np.arange(20)), [2], "mean"),
        "virtual": face.virtual_chunked(fives, dtype="int64", shape=[20], chunk_layout=layout),
    }


@pytest.mark.parametrize("name", ["stack", "concat", "overlay", "downsample", "virtual"])
def test_indices_beyond_a_view(name: str) -> None:
    """Arrays of indices are looked at when elements are read: none may reach behind the slice that it is a view of."""

    def gist(face: Any, first: int, last: int, some: list[int]) -> Any:
        try:
            return _made(face)[name][first:last].oindex[some].read().result().tolist()
        except ValueError as error:
            return str(error)[str(error).index("Index ") :].split(" [")[0]

    for first, last, some in [(0, 2, [2, 0]), (1, 2, [1, 0]), (0, 3, [0, 40]), (0, 2, [0, 1, -1]), (0, 2, [1, 0])]:
        assert gist(ours, first, last, some) == gist(theirs, first, last, some), (name, first, last, some)


def test_units_of_stacks_are_those_that_layers_agree_on() -> None:
    choices = [(None, None), ("nm", None), (None, "m"), ("nm", "m"), ("s", None)]
    random = Random(7)
    for _ in range(40):
        layers = [random.choice(choices) for _ in range(random.randint(1, 4))]
        said = random.choice([None, *choices])
        found = []
        for library in (theirs, ours):
            stores = [
                library.open(
                    {"driver": "zarr3", "kvstore": "memory://"},
                    create=True,
                    dtype="int8",
                    shape=[2, 2],
                    dimension_units=list(units),
                ).result()
                for units in layers
            ]
            stack = library.overlay([store[:, :2] for store in stores], dimension_units=said)
            specs = library.overlay([store.spec() for store in stores], dimension_units=said)
            found.append([repr(each.dimension_units) for each in (stack, specs, stack.spec(), specs.spec())])
        assert found[1] == found[0], (layers, said)


@pytest.mark.parametrize("face", [theirs, ours], ids=["theirs", "ours"])
def test_one_element_of_layers_over_each_other(face: Any) -> None:
    """A view without dimensions, of which one of several layers has the only element."""
    store = face.overlay([face.array(np.zeros((4, 4), np.int64)), face.array(np.full((2, 2), 7)).translate_by[1, 1]])
    assert [store[at].read().result() for at in ((0, 0), (2, 2))] == [0, 7]
    store[2, 1].write(8).result()
    assert store[2].read().result().tolist() == [0, 8, 7, 0]


@pytest.mark.parametrize(("how", "most"), [("stack", 36), ("concat", 39)])
def test_calls_for_each_layer(how: str, most: int) -> None:
    """Nothing but positions is computed for a layer, above all no chunk layout."""
    calls = []
    for count in (10, 110):
        layers = [ours.array(np.zeros((2, 3))) for _ in range(count)]
        calls.append(calls_of(lambda: getattr(ours, how)(layers, axis=0)))  # noqa: B023
    assert calls[1] - calls[0] <= 100 * most

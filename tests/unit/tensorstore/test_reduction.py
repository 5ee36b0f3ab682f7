"""One element for a block: large arrays, of which several threads do some rows each, and blocks of many shapes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.tensorstore_face import ours, outcome, same, theirs, values_of

import blizzarr
from blizzarr import _native
from blizzarr.tensorstore.stored_array_driver import StoredArrayDriver

METHODS = ("mean", "min", "max", "median", "mode", "stride")
TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", TYPES)
def test_blocks_of_many_shapes(name: str, method: str) -> None:
    """Any factors, origins that are no multiples of them, and views of what comes of it."""
    rng = np.random.default_rng(TYPES.index(name) * 10 + METHODS.index(method))
    for _ in range(12):
        rank = int(rng.integers(1, 4))
        shape = tuple(rng.integers(1, 12, rank).tolist())
        elements = values_of(name, rng, shape)
        if elements.dtype.kind == "f":
            # Sums that are not numbers are told apart by nobody, and where they stand in order is not said.
            elements = np.nan_to_num(rng.integers(-9, 9, shape) / 3).astype(elements.dtype)
        factors = rng.integers(1, 7, rank).tolist()
        origin = rng.integers(-5, 6, rank).tolist()

        def made(ts: Any, elements: Any = elements, factors: Any = factors, origin: Any = origin) -> Any:
            return ts.downsample(ts.array(elements).translate_to[tuple(origin)], factors, method)

        store = made(ours)
        if 0 in store.shape:
            continue
        whole = store.read().result()
        if not any(low % factor for low, factor in zip(origin, factors, strict=True)):
            # Where the only block of a dimension is cut in front, TensorStore counts elements of the next ones, too.
            same(lambda ts: made(ts).read().result())
        np.testing.assert_array_equal(whole, _by_hand(elements, factors, origin, method, store))
        np.testing.assert_array_equal(store[ours.d[0][::-1]].T.read().result(), whole[::-1].T)
        np.testing.assert_array_equal(store[ours.d[:][::2]].read().result(), _whole_steps(store, whole))
        np.testing.assert_array_equal(store[store.origin].read().result(), whole[(0,) * rank])
        np.testing.assert_array_equal(store.oindex[[store.origin[0]] * 3].read().result(), whole[[0] * 3])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*TYPES, "complex64", "bfloat16", "json"])
def test_blocks_of_one_element(name: str, method: str) -> None:
    """They stay what they are, also where they are no numbers."""
    elements = values_of(name, np.random.default_rng(1), (2, 5))
    if elements.dtype.kind == "f" or name == "bfloat16":
        elements[0, :3] = np.nan, np.inf, -np.inf
    same(lambda ts: ts.downsample(ts.array(elements, dtype=getattr(ts, name)), [1, 1], method).read().result())


def _whole_steps(store: Any, whole: Any) -> Any:
    return whole[tuple(slice(None, None, 2) for _ in store.shape)]


def _by_hand(elements: Any, factors: list[int], origin: list[int], method: str, store: Any) -> Any:
    """One block after the other, as the words say it."""
    found = np.empty(store.shape, elements.dtype)
    for place in np.ndindex(found.shape):
        blocks = [(at + first) * factor for at, first, factor in zip(place, store.origin, factors, strict=True)]
        part = elements[
            tuple(
                slice(max(0, block - low), max(0, block + factor - low))
                for block, factor, low in zip(blocks, factors, origin, strict=True)
            )
        ].ravel()
        found[place] = _of_block(part.tolist(), part, method)
    return found


def _of_block(listed: list[Any], part: Any, method: str) -> Any:
    if method == "stride":
        return listed[0]
    if method in ("min", "max"):
        return min(listed) if method == "min" else max(listed)
    if method == "mean" and part.dtype.kind == "f":
        total = part.dtype.type(0)
        for element in part:
            total += element
        return total / part.dtype.type(len(part))
    if method == "mean" or part.dtype == bool:
        return round(Fraction(sum(map(int, listed)), len(listed)))
    listed.sort()
    return listed[(len(listed) - 1) // 2] if method == "median" else max(listed, key=listed.count)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["uint8", "int64", "float32"])
def test_many_blocks(name: str, method: str) -> None:
    """More than one thread does at once."""
    elements = np.random.default_rng(5).integers(0, 50, (301, 5, 607)).astype(name)
    same(lambda ts: ts.downsample(ts.array(elements), [2, 3, 2], method).read().result())
    same(lambda ts: ts.downsample(ts.array(elements).T[:, :2], [5, 2, 1], method).read(order="F").result())


def test_a_view_of_an_array_that_shrank() -> None:
    """Its blocks are not there any more."""

    def read(ts: Any) -> Any:
        spec = {"driver": "zarr3", "kvstore": {"driver": "memory", "path": "shrinking/"}}
        context = ts.Context()
        store = ts.open(spec, create=True, dtype="uint8", shape=[40], context=context).result()
        small = ts.downsample(store, [4], "mean")
        view = small[2:10]
        store.resize(exclusive_max=[20]).result()
        return [outcome(lambda: view.read().result())[:2], outcome(lambda: view[2:5].read().result())[:2]]

    assert read(ours)[0] == read(theirs)[0]


def test_what_the_engine_refuses() -> None:
    """Arrays that are not what they are said to be."""
    elements, out = np.zeros((4, 4), np.uint8), np.zeros((2, 2), np.uint8)
    edges = [np.array([0, 2, 4])] * 2
    _native.reduce(elements, out, edges, "mean", "uint8")
    for arguments in (
        (elements, out, edges, "sum", "uint8"),
        (elements, out, edges, "mean", "complex64"),
        (elements, out[:, :1], edges, "mean", "uint8"),
        (elements, np.zeros((2, 4), np.uint8)[:, ::2], edges, "mean", "uint8"),
        (elements[:, ::2], out, edges, "mean", "uint8"),
        (elements, out, [np.array([0, -2, 4])] * 2, "mean", "uint8"),
        (elements, out, [np.array([0, 2, 4], np.int32)] * 2, "mean", "uint8"),
    ):
        with pytest.raises(ValueError, match="expected"):
            _native.reduce(*arguments)
    with pytest.raises(Exception, match="blocks"):
        _native.reduce(elements, out, [np.array([0, 2, 3])] * 2, "mean", "uint8")
    with pytest.raises(Exception, match="length"):
        _native.reduce(elements, out, edges, "mean", "uint16")


def test_large_arrays_are_read_in_parts_of_whole_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as copies may hold in memory at a time; the whole array would need too much."""
    elements = np.arange(60 * 40, dtype="int16").reshape(60, 40)
    metadata = {"shape": [60, 40], "chunks": [10, 20], "dtype": "<i2"}
    base = ours.open({"driver": "zarr", "kvstore": "memory://", "metadata": metadata, "create": True}).result()
    base.write(elements).result()
    for factors, view in (((5, 4), ...), ((3, 7), np.s_[3:, ::-1]), ((60, 40), ...)):
        store = ours.downsample(base, factors, "mean")[view]
        expected = store.read().result()
        sizes: list[int] = []
        read = StoredArrayDriver.read

        def noted(self: Any, form: Any, *options: Any, sizes: list[int] = sizes, read: Any = read) -> Any:
            sizes.append(np.prod(form.shape))
            return read(self, form, *options)

        with blizzarr.config.set(copy_bytes=2 * 10 * 40), monkeypatch.context() as context:
            context.setattr(StoredArrayDriver, "read", noted)
            np.testing.assert_array_equal(store.read().result(), expected)
        assert factors == (60, 40) or (max(sizes) <= 10 * 40 and len(sizes) >= 6)

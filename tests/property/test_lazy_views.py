"""Lazy views are NumPy's views: chains of any keys, read and written."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blizzarr
from blizzarr.errors import SelectionError

SHAPE = (5, 7, 4)


def _array() -> tuple[blizzarr.Array, npt.NDArray[Any]]:
    elements = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    return blizzarr.create_array({}, data=elements, chunks=(2, 3, 4)), elements


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """What NumPy allows as a key for this shape."""
    items: list[Any] = []
    advanced = False
    for length in shape[: draw(st.integers(0, len(shape)))]:
        kind = draw(st.sampled_from(["slice", "slice", "index", "list", "mask", "new"]))
        if kind == "slice":
            bounds = st.none() | st.integers(-length - 1, length + 1)
            items.append(slice(draw(bounds), draw(bounds), draw(st.sampled_from([None, 1, 2, -1, -2]))))
        elif kind == "index" and length:
            items.append(draw(st.integers(-length, length - 1)))
        elif kind == "list" and length and not advanced:
            advanced = True
            items.append(draw(st.lists(st.integers(-length, length - 1), min_size=1, max_size=4)))
        elif kind == "mask" and length and not advanced:
            advanced = True
            items.append(np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length))))
        elif kind == "new":
            items += [None, slice(None)]
        else:
            items.append(slice(None))
    return tuple(items) if len(items) != 1 or draw(st.booleans()) else items[0]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_chains(data: st.DataObject) -> None:
    """Up to four keys after another, and a transposition: what NumPy gives, and what it writes."""
    z, elements = _array()
    view, expected, positions = z.lazy, elements, np.arange(elements.size).reshape(SHAPE)
    for _ in range(data.draw(st.integers(0, 4))):
        if expected.ndim and data.draw(st.booleans()):
            order = data.draw(st.permutations(range(expected.ndim)))
            view, expected, positions = (
                view.transpose(order),
                expected.transpose(order),
                positions.transpose(order),
            )
        if expected.ndim > 6:
            break
        key = data.draw(keys(expected.shape))
        view, expected, positions = view[key], np.asarray(expected[key]), np.asarray(positions[key])
    assert view.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(view), expected)
    assert all(length >= 1 for length in view.chunks)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view)).read(), expected)
    written = np.arange(expected.size).reshape(expected.shape) + 1000
    view[...] = written
    changed = elements.copy()
    changed.ravel()[positions.ravel()] = written.ravel()
    np.testing.assert_array_equal(z[...], changed)


def test_numpy_takes_it_for_an_array() -> None:
    """Functions of NumPy read it."""
    z, elements = _array()
    view = z.lazy[1:4]
    assert np.sum(view) == elements[1:4].sum()
    assert np.mean(view, axis=0).tolist() == elements[1:4].mean(0).tolist()
    assert np.concatenate([view, view]).shape == (6, 7, 4)
    assert len(view) == 3
    assert [int(part[0, 0]) for part in view] == elements[1:4, 0, 0].tolist()
    assert float(z.lazy[0, 0, 3]) == 3.0
    with pytest.raises(ValueError, match="copy"):
        np.array(view, copy=False)
    out = np.empty((3, 7, 4), elements.dtype)
    assert view.read(out) is out


def test_orthogonal_and_points() -> None:
    """The other ways to index give views, too."""
    z, elements = _array()
    np.testing.assert_array_equal(z.lazy.oindex[[4, 0], [1, 2], 3].read(), elements[np.ix_([4, 0], [1, 2])][..., 3])
    np.testing.assert_array_equal(z.lazy[:, 1:].vindex[[4, 0], [1, 2]].read(), elements[[4, 0], [2, 3]])
    z.lazy[::2].oindex[[1, 2], 0] = 5
    assert (z[[2, 4], 0] == 5).all()
    z.lazy.vindex[[1, 3], [0, 0], [0, 0]] = [8, 9]
    assert (int(z[1, 0, 0]), int(z[3, 0, 0])) == (8, 9)


def test_wrong_keys() -> None:
    """Errors name the array, and nothing is read for them."""
    z, _ = _array()
    for key in (5, (0, 0, 0, 0), [7], "a"):
        with pytest.raises(SelectionError):
            z.lazy[key]
    with pytest.raises(ValueError, match="each of the 3 axes once"):
        z.lazy.transpose(0, 0, 1)
    with pytest.raises(TypeError):
        len(z.lazy[0, 0, 0])


def test_dask() -> None:
    """Chunks, shape and data type are what dask asks for; equal views have equal names."""
    dask = pytest.importorskip("dask.array")
    z, elements = _array()
    view = z.lazy[:, ::-1]
    array = dask.from_array(view, chunks=view.chunks)
    assert array.chunks[0] == (2, 2, 1)
    np.testing.assert_array_equal(array.compute(), elements[:, ::-1])
    assert dask.from_array(z.lazy[1:]).name == dask.from_array(z.lazy[1:]).name
    assert dask.from_array(z.lazy[1:]).name != dask.from_array(z.lazy[2:]).name


@pytest.mark.parametrize(
    "axes",
    [
        (),
        (None,),
        (1, 0),
        ((1, 0),),
        ([-1, 0],),
        (np.int64(1), np.int8(0)),
        (np.array([1, 0]),),
        ((),),
        (0,),
        (5, 0),
        (0, -3),
        (0, 0),
        (0, -2),
        (0, 1, 2),
        (1.0, 0.0),
        ("10",),
        (None, None),
        ((0, 1), 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(3, 4), (3,), ()], ids=str)
def test_transpose_takes_and_refuses_what_numpy_does(shape: tuple[int, ...], axes: tuple[Any, ...]) -> None:
    elements = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    view = blizzarr.create_array({}, data=elements).lazy
    try:
        expected = elements.transpose(*axes)
    except Exception as error:  # whatever it is
        with pytest.raises(type(error)):
            view.transpose(*axes)
    else:
        assert np.array_equal(np.asarray(view.transpose(*axes)), expected)

"""Every selection reads and writes what NumPy would, and is refused where NumPy refuses it (issue 2, point 3)."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blizzarr.errors import SelectionError
from blizzarr.indexing import Form, Map, lower_basic, lower_form, numpy_style, orthogonal, selection_of, vectorised
from blizzarr.transfer import read, write
from blizzarr.views.compose import compose
from support.engines import ENGINES, bind, contents
from support.keys import basic_keys, numpy_keys, orthogonal_keys, shapes, values
from support.reference import apply, selection_of_axes

pytestmark = pytest.mark.parametrize("engine", ENGINES)
quick = settings(suppress_health_check=list(HealthCheck))


def counted(shape: tuple[int, ...], dtype: Any = np.int32) -> Any:
    return (np.arange(math.prod(shape)) + 1).astype(dtype).reshape(shape)


def assert_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected, strict=True)


@quick
@given(data=st.data())
def test_reads_like_numpy(engine: str, data: st.DataObject) -> None:
    """``array[key]``: the same elements, shape, type and scalars; an error where NumPy has one."""
    array = counted(data.draw(shapes))
    key = data.draw(numpy_keys(array.shape))
    try:
        expected = array[key]
    except (IndexError, ValueError, TypeError, OverflowError):
        with pytest.raises(SelectionError):
            numpy_style(key, array.shape)
        return
    try:
        lowered = numpy_style(key, array.shape)
    except SelectionError:
        # NumPy does not look at all bounds and mask lengths when the result is empty; we do.
        assert expected.size == 0
        return
    assert_same(read(bind(engine, array, data.draw), lowered), expected)


@quick
@given(data=st.data())
def test_writes_like_numpy(engine: str, data: st.DataObject) -> None:
    """``array[key] = value``: the same elements get the same values; an error, and no change, where NumPy has one."""
    kinds = [np.int32, np.float64, np.uint8, np.complex64, np.bool_]
    array = counted(data.draw(shapes), data.draw(st.sampled_from(kinds)))
    key = data.draw(numpy_keys(array.shape))
    try:
        lowered = numpy_style(key, array.shape)
    except SelectionError:
        return
    value = data.draw(values(lowered[0]))
    binding = bind(engine, array, data.draw)
    if lowered[2] and np.ndim(value):
        # Whether NumPy takes an array for one element depends on its version and on the data type; we never do.
        with pytest.raises(ValueError, match="expected a scalar"):
            write(binding, lowered, value)
        return
    expected = array.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected[key] = value
        except (ValueError, TypeError, OverflowError) as refusal:
            expected = array
            if "boolean array indexing assignment requires" in str(refusal):
                return  # NumPy refuses (1, n) for one mask of all axes, though it takes it for all other selections.
            with pytest.raises((ValueError, TypeError, OverflowError)):
                write(binding, lowered, value)
        else:
            extra = np.ndim(value) - len(lowered[0])
            if 0 in lowered[0] and extra > 0 and np.shape(value)[:extra] != (1,) * extra:
                return  # NumPy takes any lengths in front for an empty selection by arrays, for others only 1.
            write(binding, lowered, value)
    np.testing.assert_array_equal(contents(binding, array.shape), expected, strict=True)


@quick
@given(data=st.data())
def test_orthogonal_reads_like_one_axis_after_another(engine: str, data: st.DataObject) -> None:
    """``oindex``: each item picks along its own axis, whatever the others do."""
    array = counted(data.draw(shapes))
    key = data.draw(orthogonal_keys(array.shape))
    expected = array
    for axis in reversed(range(array.ndim)):
        expected = expected[(slice(None),) * axis + (key[axis],)]
    found = read(bind(engine, array, data.draw), orthogonal(key, array.shape))
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)


@quick
@given(data=st.data())
def test_orthogonal_writes_what_it_reads(engine: str, data: st.DataObject) -> None:
    """``oindex`` assignment: the last of repeated indices counts."""
    array = counted(data.draw(shapes))
    key = data.draw(orthogonal_keys(array.shape))
    lowered = orthogonal(key, array.shape)
    binding = bind(engine, array, data.draw)
    value = -1 - np.arange(math.prod(lowered[0]), dtype=np.int32).reshape(lowered[0])
    write(binding, lowered, value)
    indices = [np.atleast_1d(np.arange(size)[item]) for size, item in zip(array.shape, key, strict=True)]
    expected = array.copy()
    if array.ndim:
        grid = np.meshgrid(*indices, indexing="ij")
        expected[tuple(part.ravel() for part in grid)] = value.ravel()
    else:
        expected[...] = value
    np.testing.assert_array_equal(contents(binding, array.shape), expected)


@quick
@given(data=st.data())
def test_vectorised_puts_points_first(engine: str, data: st.DataObject) -> None:
    """``vindex``: as NumPy, but the dimensions of the points always come first."""
    array = counted(data.draw(shapes.filter(len)))
    points = data.draw(st.integers(0, 4))
    key: list[Any] = []
    for size in array.shape:
        if size and data.draw(st.booleans()):
            indices = st.lists(st.integers(-size, size - 1), min_size=points, max_size=points)
            key.append(np.array(data.draw(indices), int))
        else:
            key.append(slice(None, None, data.draw(st.sampled_from([1, 2, -1]))))
    # A newaxis between two arrays makes NumPy put them first too.
    moved = [place for place, item in enumerate(key) if not isinstance(item, slice)]
    expected = array[tuple(key)]
    if moved and moved[-1] - moved[0] + 1 == len(moved):
        expected = np.moveaxis(expected, moved[0], 0)
    assert_same(read(bind(engine, array, data.draw), vectorised(tuple(key), array.shape)), expected)


@quick
@given(data=st.data())
def test_the_short_way_means_the_long_way(engine: str, data: st.DataObject) -> None:
    """Basic keys have a fast path; wherever it answers, it answers what the full lowering does."""
    shape = data.draw(shapes)
    key = data.draw(basic_keys(shape))
    short = lower_basic(key, shape)
    try:
        selection = selection_of(key, Form.of_shape(shape))
    except SelectionError:
        assert short is None
        return
    assert short is not None or isinstance(key, np.ndarray) or any(isinstance(item, np.ndarray) for item in key)
    if short is not None:
        assert short[0] == selection.shape
        array = counted(shape)
        np.testing.assert_array_equal(apply(selection_of_axes(*short[:2]), array), apply(selection, array))


@quick
@given(data=st.data())
def test_selecting_twice_is_one_composed_selection(engine: str, data: st.DataObject) -> None:
    """``array[first][second]`` equals one read of the second key behind the first, and of both composed."""
    array = counted(data.draw(shapes))
    first_key = data.draw(numpy_keys(array.shape))
    try:
        first = selection_of(first_key, Form.of_shape(array.shape))
        second_key = data.draw(numpy_keys(first.shape))
        both = selection_of(second_key, first)
    except SelectionError:
        return
    expected = np.asarray(np.asarray(array[first_key])[second_key])
    np.testing.assert_array_equal(apply(both, array), expected, strict=True)
    found = read(bind(engine, array, data.draw), lower_form(both, array.shape))
    np.testing.assert_array_equal(found, expected, strict=True)
    composed = compose(first, selection_of(second_key, Form.of_shape(first.shape)))
    np.testing.assert_array_equal(apply(composed, array), expected, strict=True)


@quick
@given(data=st.data())
def test_composition_associates(engine: str, data: st.DataObject) -> None:
    """The order in which views of views are composed does not matter; the identity changes nothing."""
    array = counted(data.draw(shapes))
    chain = [Form.of_shape(array.shape)]
    try:
        for _ in range(3):
            chain.append(selection_of(data.draw(numpy_keys(chain[-1].shape)), Form.of_shape(chain[-1].shape)))
    except SelectionError:
        return
    whole, a, b, c = chain
    left = compose(compose(a, b), c)
    right = compose(a, compose(b, c))
    np.testing.assert_array_equal(apply(left, array), apply(right, array), strict=True)
    for same in (compose(a, Form.of_shape(a.shape)), compose(whole, a)):
        np.testing.assert_array_equal(apply(same, array), apply(a, array), strict=True)


@quick
@given(data=st.data())
def test_diagonals_and_repeats_reach_the_engine(engine: str, data: st.DataObject) -> None:
    """Views of issue 5: one domain dimension may drive several axes, and several may drive one group."""
    rank = data.draw(st.integers(1, 4))
    array = counted((5,) * rank)
    lengths = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    maps: list[Map] = []
    for _ in range(rank):
        dim = data.draw(st.integers(0, len(lengths) - 1))
        key = data.draw(st.sampled_from([slice(0, 5), slice(4, None, -1), [3, 0, 2, 2, 1]]))
        inner = Form.of_shape(lengths)._replace(maps=((dim, 0, 1),))
        maps += compose(selection_of(key, Form.of_shape((5,))), inner).maps
    selection = Form.of_shape(lengths)._replace(maps=tuple(maps))
    found = read(bind(engine, array, data.draw), lower_form(selection, array.shape))
    np.testing.assert_array_equal(found, apply(selection, array), strict=True)

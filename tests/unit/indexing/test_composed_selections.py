"""`Form`: composing, and lowering to what the engine takes."""

from __future__ import annotations

import numpy as np
import pytest

from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.indexing import ArrayMap, Form, Map, lower_form, selection_of
from blizzarr.indexing.interval import Bounds
from blizzarr.views.compose import compose
from support.reference import apply


def selection(shape: tuple[int, ...], *maps: Map) -> Form:
    return Form.of_shape(shape)._replace(maps=maps)


def listed(indices: object, *dims: int) -> ArrayMap:
    return ArrayMap(0, 1, np.array(indices, np.int64), dims)


def axes_as_lists(form: Form, shape: tuple[int, ...]) -> list[object]:
    _, axes, _ = lower_form(form, shape)
    return [axis if isinstance(axis, int) or len(axis) == 3 else (axis[0], axis[1].tolist()) for axis in axes]


def test_all_of_a_shape_is_all_elements_in_place() -> None:
    assert Form.of_shape((2, 3)) == selection((2, 3), (0, 0, 1), (1, 0, 1))


def test_a_diagonal_becomes_one_group_of_points() -> None:
    assert axes_as_lists(selection((3,), (0, 0, 1), (0, 4, -2)), (9, 9)) == [((0,), [0, 1, 2]), ((0,), [4, 2, 0])]


def test_index_arrays_without_a_common_dimension_stay_apart() -> None:
    """`a[np.ix_(...)]` and ``a[[[0], [1]], [2, 3]]`` reach the engine as an outer product, not as points."""
    form = selection((2, 3), listed([[4], [1]], 0), listed([[7, 7, 0]], 1))
    assert axes_as_lists(form, (9, 9)) == [((0,), [4, 1]), ((1,), [7, 7, 0])]


def test_index_arrays_that_share_a_dimension_are_broadcast_to_one_group() -> None:
    """Also when they share it only by way of a third."""
    maps = listed([[[4]], [[1]]], 0), (1, 0, 1), listed([[[1], [2]], [[3], [4]]], 0, 1), (2, 0, 1)
    assert axes_as_lists(selection((2, 2, 5), *maps), (9, 9, 9, 9)) == [
        ((0, 1), [[4, 4], [1, 1]]),
        ((0, 1), [[0, 1], [0, 1]]),
        ((0, 1), [[1, 2], [3, 4]]),
        (2, 0, 1),
    ]


def test_a_dimension_that_nothing_uses_repeats_elements() -> None:
    assert axes_as_lists(selection((3, 2), 5, (1, 0, 1)), (9, 9)) == [((0,), [5, 5, 5]), (1, 0, 1)]
    assert axes_as_lists(selection((3, 2), (1, 0, 1)), (9,)) == [((0, 1), [[0, 1]] * 3)]


def test_an_array_without_axes_has_none_over_any_domain() -> None:
    assert lower_form(selection((3,)), ()) == ((3,), (), False)


def test_index_arrays_are_contiguous_64_bit() -> None:
    array = np.arange(12, dtype=np.int64).reshape(3, 4).T[::2]
    _, ((dims, lowered),), _ = lower_form(selection((2, 3), ArrayMap(0, 1, array, (0, 1))), (12,))
    assert (dims, lowered.dtype, lowered.flags.c_contiguous) == ((0, 1), np.int64, True)
    assert lowered.tolist() == array.tolist()


@pytest.mark.parametrize("map_", [9, (0, 8, 1), (0, 1, -1), listed([0, 9], 0), listed([-1, 0], 0)], ids=repr)
def test_what_the_array_does_not_have_is_an_error_unless_nothing_is_read(map_: Map) -> None:
    with pytest.raises(ViewOutOfBoundsError, match=r"(outside valid range|expected indices within) \[0, 9\)"):
        lower_form(selection((2,), map_) if isinstance(map_, ArrayMap) else selection((3,), map_), (9,))
    assert lower_form(selection((0,), 9), (9,))[0] == (0,)


def test_arrays_are_checked_against_what_they_were_made_for() -> None:
    """A view of a part may not reach what is beside it."""
    with pytest.raises(OutOfBoundsError, match=r"Index 5 is outside valid range \[0, 3\)"):
        lower_form(selection((2,), ArrayMap(0, 1, np.array([0, 5]), (0,), Bounds(0, 3))), (9,))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ((0, 10, -2), 3, [4, 4]),
        ((0, 10, -2), (0, 1, 2), [8, 4]),
        ((0, 10, -2), listed([0, 5], 0), [10, 0]),
        (listed([7, 8, 9, 1, 2, 3], 0), 1, [8, 8]),
        (listed([7, 8, 9, 1, 2, 3], 0), (0, 2, -2), [9, 7]),
        (listed([7, 8, 9, 1, 2, 3], 0), listed([1, 1], 0), [8, 8]),
        (6, (0, 0, 1), [6, 6]),
    ],
    ids=repr,
)
def test_composing_each_pair_of_kinds(outer: Map, inner: Map, expected: list[int]) -> None:
    composed = compose(selection((6,), outer), selection((2,), inner))
    ((dims, indices),) = lower_form(composed, (11,))[1] if isinstance(composed.maps[0], ArrayMap) else [(None, None)]
    if dims is None:
        ((start, step),) = [map_[1:] if isinstance(map_, tuple) else (map_, 0) for map_ in composed.maps]
        assert [start, start + step] == expected
    else:
        assert indices.tolist() == expected


def test_a_key_behind_a_key_is_one_selection() -> None:
    """Also of arrays behind arrays, of which only the part that is selected is kept."""
    elements = np.arange(36).reshape(9, 4)
    rows = selection_of(([5, 3, 1], slice(None, None, -1)), Form.of_shape(elements.shape))
    expected = elements[[5, 3, 1], ::-1]
    assert rows.maps[1] == (1, 3, -1)
    np.testing.assert_array_equal(apply(rows, elements), expected)
    for key in ((slice(1, None), -1), ([0, -1], [1, 2]), 1, (slice(None, None, -2), None, [0, 0])):
        np.testing.assert_array_equal(apply(selection_of(key, rows), elements), expected[key])
    kept = selection_of(slice(1, None), rows).maps[0]
    assert isinstance(kept, ArrayMap)
    assert kept.array.tolist() == [[3], [1]]

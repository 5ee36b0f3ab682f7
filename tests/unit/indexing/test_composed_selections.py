"""`Selection`: composing, and lowering to what the engine takes."""

from __future__ import annotations

import numpy as np
import pytest

from blizzarr.indexing import ConstantMap, IndexArrayMap, Selection, StridedMap


def axes_as_lists(selection: Selection) -> list[object]:
    return [
        axis if isinstance(axis, int) or len(axis) == 3 else (axis[0], axis[1].tolist()) for axis in selection.axes()
    ]


def test_identity_is_all_elements_in_place() -> None:
    assert Selection.identity((2, 3)) == Selection((2, 3), (StridedMap(0, 0, 1), StridedMap(1, 0, 1)))


def test_a_dimension_of_length_1_needs_no_axis() -> None:
    assert axes_as_lists(Selection((1, 4), (StridedMap(0, 3, 5), StridedMap(1, 0, 1)))) == [3, (1, 0, 1)]


def test_a_diagonal_becomes_one_group_of_points() -> None:
    assert axes_as_lists(Selection((3,), (StridedMap(0, 0, 1), StridedMap(0, 4, -2)))) == [
        ((0,), [0, 1, 2]),
        ((0,), [4, 2, 0]),
    ]


def test_index_arrays_without_a_common_dimension_stay_apart() -> None:
    """`a[np.ix_(...)]` and ``a[[[0], [1]], [2, 3]]`` reach the engine as an outer product, not as points."""
    selection = Selection((2, 3), (IndexArrayMap((0,), np.array([4, 1])), IndexArrayMap((1,), np.array([7, 7, 0]))))
    assert axes_as_lists(selection) == [((0,), [4, 1]), ((1,), [7, 7, 0])]


def test_index_arrays_that_share_a_dimension_are_broadcast_to_one_group() -> None:
    """Also when they share it only by way of a third."""
    outputs = (
        IndexArrayMap((0,), np.array([4, 1])),
        StridedMap(1, 0, 1),
        IndexArrayMap((0, 1), np.array([[1, 2], [3, 4]])),
        StridedMap(2, 0, 1),
    )
    assert axes_as_lists(Selection((2, 2, 5), outputs)) == [
        ((0, 1), [[4, 4], [1, 1]]),
        ((0, 1), [[0, 1], [0, 1]]),
        ((0, 1), [[1, 2], [3, 4]]),
        (2, 0, 1),
    ]


def test_a_dimension_that_nothing_uses_repeats_elements() -> None:
    assert axes_as_lists(Selection((3, 2), (ConstantMap(5), StridedMap(1, 0, 1)))) == [((0,), [5, 5, 5]), (1, 0, 1)]


def test_an_array_without_axes_has_none_over_any_domain() -> None:
    assert Selection((3,), ()).axes() == ()


def test_index_arrays_are_contiguous_64_bit() -> None:
    array = np.arange(12, dtype=np.int64).reshape(3, 4).T[::2]
    ((dims, lowered),) = Selection((2, 3), (IndexArrayMap((0, 1), array),)).axes()
    assert (dims, lowered.dtype, lowered.flags.c_contiguous) == ((0, 1), np.int64, True)


def test_composing_needs_matching_ranks() -> None:
    with pytest.raises(ValueError, match="expected a selection from 2 dimensions, found one from 1"):
        Selection.identity((2, 3)).compose(Selection.identity((2,)))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (StridedMap(0, 10, -2), ConstantMap(3), ConstantMap(4)),
        (StridedMap(0, 10, -2), StridedMap(0, 1, 2), StridedMap(0, 8, -4)),
        (StridedMap(0, 10, -2), IndexArrayMap((0,), np.array([0, 5])), IndexArrayMap((0,), np.array([10, 0]))),
        (IndexArrayMap((0,), np.array([7, 8, 9])), ConstantMap(1), ConstantMap(8)),
        (IndexArrayMap((0,), np.array([7, 8, 9])), StridedMap(0, 2, -2), IndexArrayMap((0,), np.array([9, 7]))),
        (
            IndexArrayMap((0,), np.array([7, 8, 9])),
            IndexArrayMap((0,), np.array([1, 1])),
            IndexArrayMap((0,), np.array([8, 8])),
        ),
        (ConstantMap(6), StridedMap(0, 0, 1), ConstantMap(6)),
    ],
)
def test_composing_each_pair_of_kinds(outer: object, inner: object, expected: object) -> None:
    composed = Selection((6,), (outer,)).compose(Selection((2,), (inner,)))  # type: ignore[arg-type]
    assert composed == Selection((2,), (expected,))  # type: ignore[arg-type]


def test_equal_selections_hash_alike() -> None:
    one, other = (Selection((2,), (IndexArrayMap((0,), np.array([1, 2])),)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Selection((2,), (IndexArrayMap((0,), np.array([1, 3])),))

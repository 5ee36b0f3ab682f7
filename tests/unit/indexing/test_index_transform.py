"""`IndexTransform`: composing, and lowering to what the engine takes."""

from __future__ import annotations

import numpy as np
import pytest

from blizzarr.indexing import Constant, Indexed, IndexTransform, Strided


def axes_as_lists(transform: IndexTransform) -> list[object]:
    return [
        axis if isinstance(axis, int) or len(axis) == 3 else (axis[0], axis[1].tolist()) for axis in transform.axes()
    ]


def test_identity_is_all_elements_in_place() -> None:
    assert IndexTransform.identity((2, 3)) == IndexTransform((2, 3), (Strided(0, 0, 1), Strided(1, 0, 1)))


def test_a_dimension_of_length_1_needs_no_axis() -> None:
    assert axes_as_lists(IndexTransform((1, 4), (Strided(0, 3, 5), Strided(1, 0, 1)))) == [3, (1, 0, 1)]


def test_a_diagonal_becomes_one_group_of_points() -> None:
    assert axes_as_lists(IndexTransform((3,), (Strided(0, 0, 1), Strided(0, 4, -2)))) == [
        ((0,), [0, 1, 2]),
        ((0,), [4, 2, 0]),
    ]


def test_index_arrays_without_a_common_dimension_stay_apart() -> None:
    """`a[np.ix_(...)]` and ``a[[[0], [1]], [2, 3]]`` reach the engine as an outer product, not as points."""
    transform = IndexTransform((2, 3), (Indexed((0,), np.array([4, 1])), Indexed((1,), np.array([7, 7, 0]))))
    assert axes_as_lists(transform) == [((0,), [4, 1]), ((1,), [7, 7, 0])]


def test_index_arrays_that_share_a_dimension_are_broadcast_to_one_group() -> None:
    """Also when they share it only by way of a third."""
    outputs = (
        Indexed((0,), np.array([4, 1])),
        Strided(1, 0, 1),
        Indexed((0, 1), np.array([[1, 2], [3, 4]])),
        Strided(2, 0, 1),
    )
    assert axes_as_lists(IndexTransform((2, 2, 5), outputs)) == [
        ((0, 1), [[4, 4], [1, 1]]),
        ((0, 1), [[0, 1], [0, 1]]),
        ((0, 1), [[1, 2], [3, 4]]),
        (2, 0, 1),
    ]


def test_a_dimension_that_nothing_uses_repeats_elements() -> None:
    assert axes_as_lists(IndexTransform((3, 2), (Constant(5), Strided(1, 0, 1)))) == [((0,), [5, 5, 5]), (1, 0, 1)]


def test_an_array_without_axes_has_none_over_any_domain() -> None:
    assert IndexTransform((3,), ()).axes() == ()


def test_index_arrays_are_contiguous_64_bit() -> None:
    array = np.arange(12, dtype=np.int64).reshape(3, 4).T[::2]
    ((dims, lowered),) = IndexTransform((2, 3), (Indexed((0, 1), array),)).axes()
    assert (dims, lowered.dtype, lowered.flags.c_contiguous) == ((0, 1), np.int64, True)


def test_composing_needs_matching_ranks() -> None:
    with pytest.raises(ValueError, match="expected a transform into 2 dimensions, found one into 1"):
        IndexTransform.identity((2, 3)).compose(IndexTransform.identity((2,)))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (Strided(0, 10, -2), Constant(3), Constant(4)),
        (Strided(0, 10, -2), Strided(0, 1, 2), Strided(0, 8, -4)),
        (Strided(0, 10, -2), Indexed((0,), np.array([0, 5])), Indexed((0,), np.array([10, 0]))),
        (Indexed((0,), np.array([7, 8, 9])), Constant(1), Constant(8)),
        (Indexed((0,), np.array([7, 8, 9])), Strided(0, 2, -2), Indexed((0,), np.array([9, 7]))),
        (Indexed((0,), np.array([7, 8, 9])), Indexed((0,), np.array([1, 1])), Indexed((0,), np.array([8, 8]))),
        (Constant(6), Strided(0, 0, 1), Constant(6)),
    ],
)
def test_composing_each_pair_of_kinds(outer: object, inner: object, expected: object) -> None:
    composed = IndexTransform((6,), (outer,)).compose(IndexTransform((2,), (inner,)))  # type: ignore[arg-type]
    assert composed == IndexTransform((2,), (expected,))  # type: ignore[arg-type]


def test_equal_transforms_hash_alike() -> None:
    one, other = (IndexTransform((2,), (Indexed((0,), np.array([1, 2])),)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != IndexTransform((2,), (Indexed((0,), np.array([1, 3])),))

"""Selections that users write, lowered to exactly what the engine is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.indexing import block, lower_basic, numpy_style, orthogonal, vectorised
from blizzarr.model import RegularGrid


@pytest.mark.parametrize(
    ("key", "shape", "axes", "scalar"),
    [
        ((), (4, 6), ((0, 0, 1), (1, 0, 1)), False),
        (..., (4, 6), ((0, 0, 1), (1, 0, 1)), False),
        ((2, -1), (), (2, 5), True),
        ((2, -1, ...), (), (2, 5), False),
        (slice(3, None, -2), (2, 6), ((0, 3, -2), (1, 0, 1)), False),
        ((None, 1, None, slice(1, 3)), (1, 1, 2), (1, (2, 1, 1)), False),
        ((..., slice(9, 20)), (4, 0), ((0, 0, 1), (1, 6, 1)), False),
        ((np.uint8(3), slice(np.int8(1), 2)), (1,), (3, (0, 1, 1)), False),
    ],
)
def test_basic_keys_take_the_short_way(key: Any, shape: Any, axes: Any, scalar: bool) -> None:
    assert lower_basic(key, (4, 6)) == (shape, axes, scalar)


@pytest.mark.parametrize(
    "key",
    [
        True,
        np.True_,
        [0],
        np.array([0]),
        1.0,
        np.timedelta64(1, "s"),
        4,
        2**64,
        (0, 0, 0),
        (..., ...),
        "a",
        (None,) * 129,
    ],
)
def test_other_keys_go_the_long_way(key: Any) -> None:
    assert lower_basic(key, (4, 6)) is None


def test_a_step_that_does_not_matter_stays_small() -> None:
    """Any Python integer may be a step; the engine has 64 bits."""
    assert lower_basic(slice(None, None, 2**70), (4,)) == ((1,), ((0, 0, 1),), False)


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((0, slice(None), [1, 2]), (2, 3, 5)),
        ((slice(None), 0, [1, 2]), (2, 2, 5)),
        (([0, 1], None, [1, 2]), (2, 1, 4, 5)),
        ((None, [0, 1], [1, 2]), (1, 2, 4, 5)),
        ((slice(None), [0, 1, 2], None, [1, 2, 3]), (3, 2, 1, 5)),
        ((slice(None), [0, 1, 2], ..., [1, 2, 3]), (3, 2, 4)),
        (([0, 1], ..., [1, 2]), (2, 3, 4)),
        (([[0], [1]], [1, 2]), (2, 2, 4, 5)),
        ((slice(None), np.ones((3, 4), bool)), (2, 12, 5)),
        ((slice(None), True, [1, 2]), (2, 2, 4, 5)),
        ((False,), (0, 2, 3, 4, 5)),
    ],
)
def test_dimensions_of_index_arrays_go_where_numpy_puts_them(key: Any, shape: tuple[int, ...]) -> None:
    assert np.empty((2, 3, 4, 5))[key].shape == shape
    assert numpy_style(key, (2, 3, 4, 5))[0] == shape


def test_points_and_outer_products_of_the_same_lists() -> None:
    assert vectorised(([0, 1], [2, 3]), (4, 6))[0] == (2,)
    assert orthogonal(([0, 1], [2, 3]), (4, 6))[0] == (2, 2)


def test_a_vectorised_integer_gives_no_dimension() -> None:
    assert vectorised((1, 2), (4, 6)) == ((), (1, 2), True)


def test_arrays_of_any_number_of_dimensions_pick_orthogonally() -> None:
    """More than other libraries allow: each item's dimensions stand in its place."""
    assert orthogonal(([[0, 1], [2, 3]], slice(0, 2)), (4, 6))[0] == (2, 2, 2)
    assert orthogonal((np.ones((4, 6), bool),), (4, 6))[0] == (24,)


@pytest.mark.parametrize(
    ("key", "axes", "shape"),
    [
        ((), ((0, 0, 1), (1, 0, 1)), (10, 4)),
        (-1, ((0, 9, 1), (1, 0, 1)), (1, 4)),
        ((..., 1), ((0, 0, 1), (1, 3, 1)), (10, 1)),
        ((slice(1, 3), slice(0, 1)), ((0, 3, 1), (1, 0, 1)), (6, 3)),
        ((slice(5, 9), 0), ((0, 10, 1), (1, 0, 1)), (0, 3)),
    ],
)
def test_blocks_are_slices_that_end_with_the_array(key: Any, axes: Any, shape: Any) -> None:
    assert block(key, (10, 4), RegularGrid((3, 3)).edges) == (shape, axes, False)

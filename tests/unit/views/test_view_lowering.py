"""The selection that the engine gets of a view, and the errors of views that reach beyond the array."""

from __future__ import annotations

import numpy as np
import pytest

from blizzarr.errors import OutOfBoundsError
from blizzarr.indexing import Lowered, lower_form
from blizzarr.views import IndexTransform, OutputIndexMap, d, form_of

SHAPE = (3, 4)
VIEW = IndexTransform(input_shape=SHAPE, implicit_upper_bounds=[True, True])


def lower(view: IndexTransform, shape: tuple[int, ...]) -> Lowered:
    """The selection of an array of this shape."""
    return lower_form(form_of(view), shape)


def test_simple_views_are_axes() -> None:
    """Integers, slices and steps become axes without arrays, counted from the origin of the view."""
    assert lower(VIEW[2, 1:3], SHAPE) == ((2,), (2, (0, 1, 1)), False)
    assert lower(VIEW[::2, ::-1], SHAPE) == ((2, 4), ((0, 0, 2), (1, 3, -1)), False)
    assert lower(VIEW.translate_to[7, 8][8:9], SHAPE) == ((1, 4), ((0, 1, 1), (1, 0, 1)), False)
    assert lower(VIEW.T, SHAPE) == ((4, 3), ((1, 0, 1), (0, 0, 1)), False)
    assert lower(VIEW[1, 2], SHAPE) == ((), (1, 2), False)


def test_arrays_of_indices() -> None:
    """Points that are picked together share their dimension; independent arrays have one each."""
    shape, axes, _ = lower(VIEW[[0, 2], [1, 3]], SHAPE)
    assert shape == (2,)
    assert [(dims, indices.tolist()) for dims, indices in axes] == [((0,), [0, 2]), ((0,), [1, 3])]
    shape, axes, _ = lower(VIEW.oindex[[0, 2], [3, 1, 0]], SHAPE)
    assert shape == (2, 3)
    assert [(dims, indices.tolist()) for dims, indices in axes] == [((0,), [0, 2]), ((1,), [3, 1, 0])]


def test_a_diagonal_becomes_arrays() -> None:
    """Two dimensions of the array along one of the view."""
    shape, axes, _ = lower(VIEW[d[0, 1].diagonal], SHAPE)
    assert shape == (3,)
    assert [(dims, indices.tolist()) for dims, indices in axes] == [((0,), [0, 1, 2])] * 2


def test_elements_can_be_repeated() -> None:
    """A dimension of the view that no output follows."""
    repeated = IndexTransform(input_shape=[2], output=[OutputIndexMap(1), OutputIndexMap(2)])
    shape, axes, _ = lower(repeated, SHAPE)
    assert shape == (2,)
    assert axes[0][0] == (0,)
    np.testing.assert_array_equal(axes[0][1], [1, 1])
    assert axes[1] == 2


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (5, "expected indices within [0, 3) along dimension 0 of the array, found [5, 6)"),
        (slice(9), "expected indices within [0, 3) along dimension 0 of the array, found [0, 9)"),
        ([1, 7], "Index 7 is outside valid range [0, 3)"),
        ((slice(1, None), [0, -1]), "Index -1 is outside valid range [0, 4); no index counts from the end"),
        ((slice(1, 9), [0, 1]), "expected indices within [0, 3) along dimension 0 of the array, found [1, 9)"),
    ],
)
def test_views_beyond_the_array_are_errors(key: object, said: str) -> None:
    """Implicit bounds let a view be made that the array does not have; reading it is an error."""
    with pytest.raises(OutOfBoundsError) as caught:
        lower(VIEW[key], SHAPE)
    assert str(caught.value).endswith(said)
    # TensorStore raises a ValueError when it reads, and an IndexError when it indexes.
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, IndexError)


def test_an_empty_view_needs_no_valid_indices() -> None:
    """Nothing is read, so nothing is out of bounds."""
    assert lower(VIEW[0:0, [0, 9]], SHAPE)[0] == (0, 2)
    assert lower(VIEW[0:0, 9], SHAPE)[0] == (0,)

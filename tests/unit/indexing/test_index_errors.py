"""What is said about keys that are wrong: what was expected, what was found, what to do (faults, part 1)."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.indexing import basic, block, coordinate, mask, numpy_style, orthogonal
from blizzarr.model import RegularGrid

SHAPE = (4, 40)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((0, 99), "index 99 is out of bounds for axis 1 with valid range [-40, 40)"),
        ((-5,), "index -5 is out of bounds for axis 0 with valid range [-4, 4)"),
        ((slice(None), [0, 3, 77, 88]), "index 77 is out of bounds for axis 1 with valid range [-40, 40)"),
        (([[0], [-9]], 0), "index -9 is out of bounds for axis 0 with valid range [-4, 4)"),
        (2**80, f"index {2**80} is out of bounds for axis 0 with valid range [-4, 4)"),
    ],
)
def test_out_of_bounds_names_index_axis_and_range(key: Any, text: str) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        numpy_style(key, SHAPE)
    assert str(caught.value) == text


def test_out_of_bounds_keeps_its_fields_and_can_be_pickled() -> None:
    with pytest.raises(IndexError) as caught:
        numpy_style((0, [5, 99]), SHAPE)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.index, error.axis, error.size) == (99, 1, 40)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((0, 0, 0), "expected at most 2 indices for an array with 2 axes, found 3; leave some out"),
        ((..., 0, ...), "expected at most one ellipsis (...) in the index, found 2; write ':' for single axes"),
        (1.0, "found 1.0; convert floats with int() or .astype(int)"),
        (np.array([1.5]), "found an array of float64; convert floats with int() or .astype(int)"),
        ("name", "expected integers, slices (:), ellipsis (...), newaxis (None) and arrays of integers or booleans"),
        ("name", "found 'name'; the name of a field is a key by itself: array['name']"),
        ([[0], [1, 2]], "found [[0], [1, 2]]; a list must hold only integers or only booleans, in rows of one length"),
        (slice(1.5, None), "expected a slice of integers with a step other than 0 for axis 0, found slice(1.5, "),
        (slice(None, None, 0), "expected a slice of integers with a step other than 0 for axis 0"),
        (np.ones((4, 39), bool), "expected a mask of length 40 for axis 1, found 39; the mask has shape (4, 39), "),
        (([0, 1], [0, 1, 2]), "expected index arrays that broadcast together, found shapes (2,) (3,); use oindex"),
        (np.array([2**63], np.uint64), "expected indices below 2**63, found 9223372036854775808"),
    ],
)
def test_a_bad_key_is_explained(key: Any, text: str) -> None:
    with pytest.raises(SelectionError) as caught:
        numpy_style(key, SHAPE)
    assert text in str(caught.value)


def test_an_axis_without_elements_has_no_valid_index() -> None:
    with pytest.raises(OutOfBoundsError, match="index 0 is out of bounds for axis 0 with no valid index"):
        numpy_style(0, (0,))


def test_basic_refuses_arrays_of_indices() -> None:
    with pytest.raises(SelectionError, match=r"expected integers, slices and '\.\.\.' for a basic selection"):
        basic([0, 1], SHAPE)


def test_mask_must_have_the_shape_of_the_array() -> None:
    with pytest.raises(SelectionError, match=r"expected a mask of booleans with the shape \(4, 40\) of the array"):
        mask(np.ones(4, bool), SHAPE)
    with pytest.raises(SelectionError, match=r"found an array of int64 with shape \(2,\)"):
        mask([0, 1], SHAPE)


def test_coordinates_are_needed_for_every_axis() -> None:
    with pytest.raises(SelectionError, match="expected coordinates for each of the 2 axes, found them for 1; add"):
        coordinate([0, 1], SHAPE)
    with pytest.raises(SelectionError, match="expected integers or arrays of integers as coordinates, found slice"):
        coordinate((slice(None), [1]), SHAPE)


def test_orthogonal_masks_name_their_axis() -> None:
    with pytest.raises(SelectionError, match="expected a mask of length 40 for axis 1, found 4"):
        orthogonal((slice(None), np.ones(4, bool)), SHAPE)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (2, "block 2 is out of bounds for axis 0 with 2 blocks"),
        ((0, -5), "block -5 is out of bounds for axis 1 with 4 blocks"),
        (slice(None, None, 2), "expected a slice of blocks with step 1 for axis 0, found step 2"),
        ([0, 1], "expected an integer or a slice to pick blocks along axis 0, found array([0, 1])"),
        ((0, 0, 0), "expected at most 2 indices for an array with 2 axes, found 3"),
    ],
)
def test_bad_blocks_are_explained(key: Any, text: str) -> None:
    with pytest.raises(SelectionError) as caught:
        block(key, SHAPE, RegularGrid((3, 10)).edges)
    assert text in str(caught.value)

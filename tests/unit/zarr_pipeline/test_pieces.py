"""Pieces of a selection are put together only if they are all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")

from blizzarr.model.edges import Edges
from blizzarr.zarr_pipeline.selection import Piece, whole


def pieces(*given: tuple[tuple[int, ...], Any, Any]) -> list[Piece]:
    return [(place, None, items, outs, False) for place, items, outs in given]


def together(given: list[Piece], chunk: tuple[int, ...], dropped: tuple[int, ...] = ()) -> Any:
    return whole(given, tuple(map(Edges.even, chunk)), lambda piece: piece[0], dropped)


HALVES = pieces(((0,), (slice(2, 4, 1),), (slice(0, 2),)), ((1,), (slice(0, 3, 1),), (slice(2, 5),)))


def test_slices() -> None:
    assert together(HALVES, (4,)) == ((5,), ((0, 2, 1),))
    # A step that is longer than a chunk leaves chunks out.
    far = pieces(((0,), (slice(1, 4, 9),), (slice(0, 1),)), ((2,), (slice(2, 4, 9),), (slice(1, 2),)))
    assert together(far, (4,)) == ((2,), ((0, 1, 9),))


@pytest.mark.parametrize(
    "given",
    [
        HALVES[1:],
        HALVES[:1] + HALVES[:1],
        HALVES[:1] + pieces(((2,), (slice(0, 3, 1),), (slice(2, 5),))),
        HALVES[:1] + pieces(((1,), (slice(1, 4, 1),), (slice(2, 5),))),
        [*HALVES, *HALVES],
        pieces(((0,), (2,), ()), ((1,), (2,), ())),
        pieces(((0,), (slice(0, 2, 1),), ())),
        pieces(((0,), (slice(2, 4, 1),), (slice(1, 3),))) + HALVES[1:],
    ],
    ids=["begins late", "twice", "a gap", "a gap within", "too many", "two for one", "no axis", "elsewhere"],
)
def test_what_is_not_a_whole_slice(given: list[Piece]) -> None:
    assert together(given, (4,)) is None


def test_nothing_along_an_axis() -> None:
    """zarr-python may name a chunk of which it selects nothing."""
    given = pieces(((0, 1), (np.array([1, 3]), slice(1, 1, 1)), (slice(0, 2), slice(0, 0))))
    assert together(given, (4, 3)) is None


def test_arrays_along_axes() -> None:
    rows = [(np.array([1, 3]), np.array([0, 2])), (np.array([2]), np.array([1]))]
    given = pieces(
        *(((place, 0), (items, slice(1, 3, 1)), (outs, slice(0, 2))) for place, (items, outs) in enumerate(rows))
    )
    shape, axes = together(given, (4, 5))
    assert shape == (3, 2)
    (dims, indices), second = axes
    assert (dims, indices.tolist(), second) == ((0,), [1, 6, 3], (1, 1, 1))
    assert together(given[:1], (4, 5)) is None
    assert together([*given, *given], (4, 5)) is None


def test_masks_along_axes() -> None:
    given = pieces(((1,), (np.array([True, False, False, True]),), (slice(0, 2),)))
    assert together(given, (4,)) == ((2,), ((0, 4, 3),))


def test_axes_that_are_dropped() -> None:
    items = np.ix_([2], [0, 3, 1])
    given = pieces(((1, 1), items, (slice(0, 3),)))
    shape, (first, (dims, indices)) = together(given, (4, 4), (0,))
    assert (shape, first, dims, indices.tolist()) == ((3,), 6, (0,), [4, 7, 5])
    assert together(given, (4, 4), (1,)) is None


def test_points() -> None:
    one = ((0, 1), (np.array([1, 2]), np.array([0, 3])), np.array([2, 0]))
    other = ((3, 0), (np.array([0]), np.array([1])), np.array([1]))
    shape, axes = together(pieces(one, other), (4, 4))
    assert shape == (3,)
    assert [(dims, indices.tolist()) for dims, indices in axes] == [((0,), [2, 12, 1]), ((0,), [7, 1, 4])]
    assert together(pieces(one), (4, 4)) == together(pieces((*one[:2], np.array([2, 0]))), (4, 4)) is None
    in_order = pieces((*one[:2], slice(0, 2)), (*other[:2], slice(2, 3)))
    assert [indices.tolist() for _, indices in together(in_order, (4, 4))[1]] == [[1, 2, 12], [4, 7, 1]]
    assert together(in_order[1:], (4, 4)) is None

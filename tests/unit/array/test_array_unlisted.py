"""Changing the shape in stores that cannot list their keys."""

from __future__ import annotations

from typing import Any

import numpy as np

import blizzarr
from blizzarr.array import erase
from support.user_stores import Unlisted


class Undeletable(Unlisted):
    delete: Any = None


def test_an_array_shrinks_and_grows_however_many_chunks_it_has() -> None:
    """Its shape was stored, then listing was refused: the handle had the old shape, and it could not grow again."""
    store = Unlisted()
    z = blizzarr.create_array(store, shape=(3 * erase.ENUMERATED,), chunks=1, dtype="i4")
    z[2900], z[2] = 1, 2
    z.resize(5)
    assert z.shape == blizzarr.open_array(store).shape == (5,)
    assert z[:].tolist() == [0, 0, 2, 0, 0]
    z.resize(3000)
    assert np.flatnonzero(z[:]).tolist() == [2]
    assert sorted(store.values) == ["c/2", "zarr.json"]


def test_what_an_append_shows_is_what_was_appended() -> None:
    z = blizzarr.create_array(Unlisted(), data=np.full((2, 2 * erase.ENUMERATED), 7, "u1"), chunks=(2, 1))
    z.resize((1, 3))
    assert z.append([[1]], axis=1) == (1, 4)
    assert z.append([[3, 4, 5, 6]]) == (2, 4)
    assert z[:].tolist() == [[7, 7, 7, 1], [3, 4, 5, 6]]
    z.resize((3, 6))
    assert z[:].tolist() == [[7, 7, 7, 1, 0, 0], [3, 4, 5, 6, 0, 0], [0] * 6]


def test_few_chunks_are_erased_at_once() -> None:
    store = Unlisted()
    z = blizzarr.create_array(store, data=np.arange(1, 11), chunks=2)
    z.resize(3)
    assert sorted(store.values) == ["c/0", "c/1", "zarr.json"]
    z.resize(5)
    assert z[:].tolist() == [1, 2, 3, 0, 0]


def test_a_store_that_cannot_delete_either() -> None:
    z = blizzarr.create_array(Undeletable(), data=np.arange(1, 11), chunks=2)
    z.resize(3)
    assert z[:].tolist() == [1, 2, 3]
    z.resize(9)
    assert z[:].tolist() == [1, 2, 3] + 6 * [0]

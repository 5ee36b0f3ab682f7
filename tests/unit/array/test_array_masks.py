"""Masks of the whole array: in slabs from some size on, with what NumPy does in every case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blizzarr.array import selector
from support.arrays import make


@pytest.fixture(autouse=True)
def _small_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selector, "_LARGE", 1)
    monkeypatch.setattr(selector, "_SLAB_BYTES", 320)


shapes = st.lists(st.integers(0, 9), min_size=1, max_size=3).map(tuple)


@settings(max_examples=200, deadline=None)
@given(shape=shapes, one_in=st.sampled_from([1, 2, 20, 200]), seed=st.integers(0, 99), dense=st.sampled_from([1, 32]))
def test_masks_read_and_write_like_numpy(shape: tuple[int, ...], one_in: int, seed: int, dense: int) -> None:
    """Reading, writing one value and writing a value each, dense and sparse."""
    random = np.random.default_rng(seed)
    model = random.integers(0, 1000, shape).astype("i4")
    array = make(model, chunks=tuple(min(length, 4) or 1 for length in shape))
    mask = random.integers(0, one_in, shape) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selector, "_DENSE", dense)
        np.testing.assert_array_equal(array[mask], model[mask], strict=True)
        np.testing.assert_array_equal(array.get_mask_selection(mask), model[mask], strict=True)
    values = random.integers(0, 1000, np.count_nonzero(mask))
    array[mask] = values
    model[mask] = values
    np.testing.assert_array_equal(array[...], model)
    array.set_mask_selection(mask, -1)
    model[mask] = -1
    np.testing.assert_array_equal(array[...], model)


def test_values_that_do_not_fit_change_nothing() -> None:
    """NumPy's error, before anything is stored."""
    array = make(np.arange(60).reshape(12, 5), chunks=(4, 5))
    mask = array[...] % 2 == 0
    for value in ([1, 2], np.ones((3, 30))):
        with pytest.raises(ValueError, match="broadcast"):
            array[mask] = value
    np.testing.assert_array_equal(array[...], np.arange(60).reshape(12, 5))


def test_only_true_elements_are_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of a mask is a write of points: what others write beside them meanwhile stays."""
    written: list[Any] = []
    monkeypatch.setattr(selector, "write", lambda binding, lowered, value: written.append(lowered[0]))
    array = make(np.zeros((12, 5)), chunks=(4, 5))
    mask = np.zeros((12, 5), bool)
    mask[::5, 1] = True
    array[mask] = 1
    assert written == [(2,), (1,)]

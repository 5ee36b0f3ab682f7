"""The memory order of what is read: that of the array, as zarr-python has it for v2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import blizzarr

DATA = np.arange(120, dtype="i4").reshape(4, 6, 5)
KEYS = {
    "all": np.s_[...],
    "a box": np.s_[1:3, 2:],
    "steps": np.s_[::2, ::3],
    "backwards": np.s_[::-1],
    "without an axis": np.s_[:, 0],
    "one axis": np.s_[1, :, 2],
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("key", KEYS.values(), ids=list(KEYS))
def test_selections_are_laid_out_as_by_zarr_python(tmp_path: Path, order: Any, key: Any) -> None:
    """Results were in C order, so that code that needs Fortran order copied them."""
    theirs = zarr.create_array(tmp_path, shape=DATA.shape, chunks=(2, 3, 5), dtype="i4", zarr_format=2, order=order)
    theirs[...] = DATA
    ours = blizzarr.open_array(tmp_path)
    assert ours.order == order
    found = ours[key]
    np.testing.assert_array_equal(found, DATA[key])
    flags = found.flags
    assert (flags.c_contiguous, flags.f_contiguous)[order == "F"]
    if key != KEYS["backwards"]:
        assert (flags.c_contiguous, flags.f_contiguous) == (
            theirs[key].flags.c_contiguous,
            theirs[key].flags.f_contiguous,
        )


def test_other_ways_to_read(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path, data=DATA, chunks=2, order="F")
    assert array.order == "F"
    for found in (array.oindex[[0, 2], :, [1, 1]], array.blocks[0], np.asarray(array.lazy[1:3]), np.asarray(array)):
        assert found.flags.f_contiguous
    np.testing.assert_array_equal(array.oindex[[0, 2], :, [1, 1]], DATA[np.ix_([0, 2], range(6), [1, 1])])
    np.testing.assert_array_equal(array.vindex[[0, 2], [1, 1]], DATA[[0, 2], [1, 1]])
    out = np.empty(DATA.shape, "i4")
    assert array.get_basic_selection(..., out=out) is out
    np.testing.assert_array_equal(out, DATA)
    assert array.resize((5, 6, 5)) is None
    assert array[...].flags.f_contiguous


def test_large_results_and_objects() -> None:
    large = np.arange(1 << 21, dtype="u1").reshape(1 << 10, 1 << 11)
    array = blizzarr.create_array({}, data=large, chunks=1 << 9, order="F", zarr_format=2)
    assert array[...].flags.f_contiguous
    np.testing.assert_array_equal(array[1:, ::2], large[1:, ::2])
    text = np.array([["a", "bc"], ["", "d"]], dtype=object)
    assert (
        blizzarr.create_array({}, data=text, dtype=str, chunks=1, order="F", zarr_format=2)[...].tolist()
        == text.tolist()
    )

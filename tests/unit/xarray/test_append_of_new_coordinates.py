"""Appends of a coordinate that the stored dataset does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import blizzarr

xr = pytest.importorskip("xarray")
import blizzarr.xarray  # noqa: E402


def test_an_append_of_a_coordinate_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """It would end with the rows that are appended, and whoever opens the dataset would not see the last ones."""
    blizzarr.xarray.to_zarr(xr.Dataset({"v": ("t", np.arange(4))}), tmp_path / "d")
    more = xr.Dataset({"v": ("t", np.arange(4))}, coords={"t": np.arange(10, 14)})
    with pytest.raises(ValueError, match=r"expected variables that are there, found \['t'\]"):
        blizzarr.xarray.to_zarr(more, tmp_path / "d", append_dim="t")
    assert blizzarr.open_array(tmp_path / "d/v").shape == (4,)
    assert sorted(blizzarr.open_group(tmp_path / "d")) == ["v"]

"""Texts, bytes and fill values that xarray reads from one format and writes as another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import blizzarr
import blizzarr.xarray


def opened(target: object, **options: object) -> xr.Dataset:
    return xr.open_dataset(target, engine="blizzarr", **options)


@pytest.mark.parametrize("fill", ["", "none"])
def test_text_with_a_fill_value_becomes_v3(tmp_path: Path, fill: str) -> None:
    """v2 masks it; v3 has no attribute for a masked text, so it is what stands for a missing one."""
    group = blizzarr.create_group(tmp_path / "v2", zarr_format=2)
    group.create_array("s", shape=3, dtype="string", fill_value=fill, dimension_names=["x"])[:2] = ["a", "bc"]
    dataset = opened(tmp_path / "v2")
    assert dataset.s.isnull().values.tolist() == [False, False, True]
    dataset.blizzarr.to_zarr(tmp_path / "v3", zarr_format=3)
    stored = blizzarr.open(tmp_path / "v3")["s"]
    assert (stored[:].tolist(), stored.fill_value, dict(stored.attrs)) == (["a", "bc", fill], fill, {})
    assert opened(tmp_path / "v3").s.values.tolist() == ["a", "bc", fill]
    dataset.blizzarr.to_zarr(tmp_path / "again", zarr_format=2)
    assert opened(tmp_path / "again").s.isnull().values.tolist() == [False, False, True]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_bytes_of_any_length_keep_their_zeros(tmp_path: Path, zarr_format: int) -> None:
    values = [b"a\0", b"\0\0", b"abc"]
    group = blizzarr.create_group(tmp_path / "a", zarr_format=zarr_format)
    group.create_array("s", data=np.array(values, object), dtype="bytes", dimension_names=["x"])
    for number, dataset in enumerate((opened(tmp_path / "a"), opened(tmp_path / "a", chunks={}))):
        for form in (2, 3):
            target = tmp_path / f"{number}-{form}"
            dataset.load().blizzarr.to_zarr(target, zarr_format=form)
            assert blizzarr.open(target)["s"][:].tolist() == values
            dataset.blizzarr.to_zarr(target, append_dim="x")
            assert blizzarr.open(target)["s"][:].tolist() == values * 2


def test_a_fill_value_that_is_not_masked_is_kept(tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path / "v2", zarr_format=2)
    group.create_array("t", shape=3, dtype="i4", fill_value=-9, dimension_names=["x"])[0] = 1
    dataset = opened(tmp_path / "v2", use_zarr_fill_value_as_mask=False)
    assert (dataset.t.dtype, dataset.t.values.tolist()) == (np.dtype("i4"), [1, -9, -9])
    dataset.blizzarr.to_zarr(tmp_path / "v3", zarr_format=3)
    assert blizzarr.open(tmp_path / "v3")["t"].fill_value == -9
    assert opened(tmp_path / "v3").t.values.tolist() == [1, -9, -9]
    # In v2 it would be masked when it is opened the next time.
    dataset.blizzarr.to_zarr(tmp_path / "again", zarr_format=2)
    assert opened(tmp_path / "again").t.values.tolist() == [1, -9, -9]

"""Releases of xarray that the engine is not for."""

from __future__ import annotations

import importlib

import pytest
import xarray

import blizzarr.xarray


@pytest.mark.parametrize("release", ["2025.12.0", "2026.7.0"])
def test_a_release_that_writes_otherwise_is_refused(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xarray, "__version__", release)
    message = rf"xarray 2026\.9 or newer.*found {release}: pip install --upgrade xarray"
    with pytest.raises(ImportError, match=message):
        importlib.reload(blizzarr.xarray)


@pytest.mark.parametrize("release", ["2026.10.0", "2027.1.0", "2026.9.0.dev3+gabc", "0+unknown"])
def test_later_releases_and_those_without_a_number_are_not(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xarray, "__version__", release)
    assert importlib.reload(blizzarr.xarray).to_zarr is blizzarr.xarray.to_zarr

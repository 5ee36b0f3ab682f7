"""Releases of xarray that the engine is not for."""

from __future__ import annotations

import importlib

import pytest
import xarray

import blizzarr.xarray


def test_a_release_that_reads_reversed_axes_wrong_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xarray, "__version__", "2026.1.0")
    with pytest.raises(ImportError, match=r"xarray 2026\.2 or newer.*found 2026\.1\.0: pip install --upgrade xarray"):
        importlib.reload(blizzarr.xarray)

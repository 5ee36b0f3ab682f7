"""An engine that was built without clients for object stores and HTTP, as `make demo` builds it."""

from __future__ import annotations

import pytest

import blizzarr
from blizzarr import _native


@pytest.mark.parametrize(
    "url", ["s3://bucket/a.zarr", "gs://bucket/a.zarr", "az://c/a.zarr", "https://example.org/a.zarr"]
)
def test_urls_are_an_error_that_says_how_to_build_the_whole(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_native, "ObjectClient")
    advice = r"local files only, .*`make \.venv/built` in the folder of the project"
    with pytest.raises(blizzarr.errors.UnsupportedOperationError, match=advice):
        blizzarr.open(url)

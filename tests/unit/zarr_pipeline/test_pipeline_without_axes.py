"""Arrays without axes, of which zarr-python gives one piece that has no indices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")

Plain = Callable[..., Any]
VALUES: list[tuple[Any, Any]] = [("i4", 7), (">f8", 2.5), ("M8[s]", np.datetime64(9, "s"))]
if hasattr(np.dtypes, "StringDType"):  # which NumPy 1 has not
    VALUES.append((str, "a word"))


@pytest.mark.parametrize("name", ["", "in/a/group"])
@pytest.mark.parametrize("separator", ["/", "."])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("dtype", "value"), VALUES)
@pytest.mark.filterwarnings("ignore:The (codec|data type)")
def test_arrays_without_axes(
    dtype: Any,
    value: Any,
    zarr_format: int,
    separator: str,
    name: str,
    tmp_path: Path,
    plain: Plain,
    engine: list[str],
) -> None:
    """Scalars of xarray and anndata are such arrays."""
    keys = {"name": "v2" if zarr_format == 2 else "default", "separator": separator}
    store = zarr.storage.LocalStore(tmp_path)
    given: Any = {"dtype": dtype, "zarr_format": zarr_format, "chunk_key_encoding": keys}
    array = zarr.create_array(store, name=name or None, shape=(), **given)
    missing = array[()]
    array[()] = value
    assert (array[...] == value, array[()] == value, missing == value) == (True, True, False)
    assert set(engine) == {"engine"}
    other = plain(store, path=name, mode="r+")
    assert other[()] == value
    other[...] = missing
    np.testing.assert_array_equal(array[...], missing)

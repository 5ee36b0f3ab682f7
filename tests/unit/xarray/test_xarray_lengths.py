"""Chunks of several lengths along an axis are read and written with xarray."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import blizzarr
from blizzarr.errors import MetadataError
from blizzarr.stores import ZipStore
from blizzarr.xarray import BlizzarrBackendEntrypoint as Engine
from blizzarr.xarray import to_zarr

LENGTHS = (4, (1, 3, 2))
DATA = xr.Dataset({"t": (("x", "y"), np.arange(60.0).reshape(10, 6))}, coords={"y": np.arange(6)})


def opened(target: Any, **options: Any) -> xr.Dataset:
    return xr.open_dataset(target, engine=Engine, **options)


@pytest.mark.parametrize("chunks", [None, {}, {"x": 3, "y": 5}])
def test_encodings(tmp_path: Path, chunks: Any) -> None:
    """What is given in an encoding is stored, and what is read comes back in one, which is stored again."""
    dataset = DATA if chunks is None else DATA.chunk(chunks)
    to_zarr(dataset, tmp_path / "a.zarr", encoding={"t": {"chunks": LENGTHS}})
    assert blizzarr.open(tmp_path / "a.zarr")["t"].chunks == LENGTHS
    found = opened(tmp_path / "a.zarr", chunks=None if chunks is None else {})
    xr.testing.assert_identical(found.compute(), DATA)
    assert (found.t.encoding["chunks"], found.t.encoding["shards"]) == (LENGTHS, None)
    assert found.t.encoding["preferred_chunks"] == {"x": 4, "y": (1, 3, 2)}
    if chunks is not None:
        assert found.t.chunks == ((4, 4, 2), (1, 3, 2))
    np.testing.assert_array_equal(found.t.isel(y=[5, 0], x=slice(None, None, 3)), DATA.t[::3, [5, 0]])
    to_zarr(found, tmp_path / "b.zarr")
    assert blizzarr.open(tmp_path / "b.zarr")["t"].chunks == LENGTHS
    xr.testing.assert_identical(opened(tmp_path / "b.zarr").compute(), DATA)


def test_shards(tmp_path: Path) -> None:
    to_zarr(DATA.chunk(x=3), tmp_path / "a.zarr", encoding={"t": {"chunks": (2, 1), "shards": ((4, 6), 3)}})
    assert blizzarr.open(tmp_path / "a.zarr")["t"].shards == ((4, 6), 3)
    found = opened(tmp_path / "a.zarr", chunks={})
    assert (found.t.encoding["chunks"], found.t.encoding["shards"], found.t.chunks[0]) == ((2, 1), ((4, 6), 3), (4, 6))
    xr.testing.assert_identical(found.compute(), DATA)


def test_appending_and_regions(tmp_path: Path) -> None:
    to_zarr(DATA, tmp_path / "a.zarr", encoding={"t": {"chunks": ((4, 6), (1, 3, 2))}})
    to_zarr((DATA + 100).chunk(x=3), tmp_path / "a.zarr", append_dim="x")
    assert blizzarr.open(tmp_path / "a.zarr")["t"].chunks == ((4, 6, 10), (1, 3, 2))
    more = (DATA + 200).isel(x=slice(0, 3)).chunk(x=2).drop_vars("y")
    to_zarr(more, tmp_path / "a.zarr", region={"x": slice(3, 6)})
    expected = np.concatenate([DATA.t[:3], DATA.t[:3] + 200, DATA.t[6:], DATA.t + 100])
    np.testing.assert_array_equal(opened(tmp_path / "a.zarr").t, expected)


def test_lengths_of_other_data_are_left_out(tmp_path: Path) -> None:
    to_zarr(DATA, tmp_path / "a.zarr", encoding={"t": {"chunks": LENGTHS}})
    found = opened(tmp_path / "a.zarr")
    to_zarr(xr.concat([found, found], "y"), tmp_path / "b.zarr")
    assert opened(tmp_path / "b.zarr").t.shape == (10, 12)
    to_zarr(found.isel(x=0), tmp_path / "c.zarr")
    np.testing.assert_array_equal(opened(tmp_path / "c.zarr").t, DATA.t[0])
    with pytest.raises(MetadataError, match="sum to at least 6"):
        to_zarr(DATA, tmp_path / "d.zarr", encoding={"t": {"chunks": (4, (1, 3))}})
    with pytest.raises(MetadataError, match="chunks"):
        to_zarr(DATA, tmp_path / "d.zarr", encoding={"t": {"chunks": (4, (1, 0, 5))}})
    with pytest.raises(MetadataError, match="chunks of one shape"):
        to_zarr(found, tmp_path / "d.zarr", zarr_format=2)
    assert not (tmp_path / "d.zarr").exists()


def test_parts_that_could_be_lost_are_refused(tmp_path: Path) -> None:
    """A zip file keeps one of two parts of a chunk that are written at the same time."""
    encoding = {"t": {"chunks": LENGTHS}}
    for number, chunks in enumerate([{"x": 4, "y": (1, 3, 2)}, {"x": 8, "y": (4, 2)}]):
        with ZipStore(tmp_path / f"{number}.zip", "w") as store:
            to_zarr(DATA.chunk(chunks), store, encoding=encoding, consolidated=False)
        xr.testing.assert_identical(opened(tmp_path / f"{number}.zip").compute(), DATA)
    for number, chunks in enumerate([{"x": 4, "y": (2, 2, 2)}, {"x": 3, "y": 6}]):
        with ZipStore(tmp_path / f"{number}-not.zip", "w") as store, pytest.raises(ValueError, match="overlap"):
            to_zarr(DATA.chunk(chunks), store, encoding=encoding, consolidated=False)


def test_an_axis_without_elements(tmp_path: Path) -> None:
    layout: Any = {"chunks": ((1, 3, 2), 2), "dimension_names": ["y", "x"]}
    array = blizzarr.create_array(tmp_path / "a", shape=(6, 2), dtype="u1", **layout)
    array.resize((0, 2))
    found = xr.open_dataset(array, engine=Engine, chunks={})
    assert found["array"].chunks == ((0,), (2,))
    to_zarr(found, tmp_path / "b.zarr")
    assert opened(tmp_path / "b.zarr")["array"].shape == (0, 2)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("chunks", [(4, -1), [4, -1]])
@pytest.mark.parametrize("of_dask", [None, {"x": 4}])
def test_one_chunk_for_a_whole_axis(tmp_path: Path, zarr_format: Any, chunks: Any, of_dask: Any) -> None:
    """Only an axis without elements, whose chunks of Dask have none, gets other chunks than the given ones."""
    dataset = DATA if of_dask is None else DATA.chunk(of_dask)
    to_zarr(dataset, tmp_path / "a.zarr", encoding={"t": {"chunks": chunks}}, zarr_format=zarr_format)
    assert blizzarr.open(tmp_path / "a.zarr")["t"].chunks == (4, 6)
    xr.testing.assert_identical(opened(tmp_path / "a.zarr"), DATA)
    with pytest.raises(MetadataError, match=r"chunks\[1\]: expected an integer of at least 1, or -1 .*, found 0"):
        to_zarr(DATA, tmp_path / "b.zarr", encoding={"t": {"chunks": (4, 0)}}, zarr_format=zarr_format)
    to_zarr(DATA.isel(x=slice(0)).chunk(), tmp_path / "c.zarr", zarr_format=zarr_format)
    xr.testing.assert_identical(opened(tmp_path / "c.zarr"), DATA.isel(x=slice(0)))


def test_parts_of_one_chunk_for_a_whole_axis(tmp_path: Path) -> None:
    """xarray itself compares the chunks of Dask with -1, and lets any pass, also where parts could be lost."""
    with (
        ZipStore(tmp_path / "a.zip", mode="w") as store,
        pytest.raises(ValueError, match=r"\(10, 6\).* would overlap multiple Dask chunks"),
    ):
        to_zarr(DATA.chunk({"x": 5, "y": 3}), store, encoding={"t": {"chunks": (-1, -1)}})


def test_many_parts_of_a_chunk_are_warned_of(tmp_path: Path) -> None:
    """A dataset that was opened keeps its stored chunks, in which a rechunked one was written 30 times as slowly."""
    parts = "divide a stored chunk of (8, 8) into {} parts, and it is read and stored again for each"
    data = xr.Dataset({"t": (("x", "y"), np.arange(256.0).reshape(16, 16))})
    to_zarr(data, tmp_path / "a.zarr", encoding={"t": {"chunks": (8, 8)}})
    found = opened(tmp_path / "a.zarr", chunks={})
    with pytest.warns(UserWarning, match=re.escape(parts.format(32))) as caught:
        to_zarr(found.chunk(x=1, y=2), tmp_path / "b.zarr")
    assert [one.filename for one in caught] == [__file__]
    xr.testing.assert_identical(opened(tmp_path / "b.zarr").compute(), data)
    part = data.isel(x=slice(3, 14), y=slice(4, 8)).chunk(x=1, y=1)
    with pytest.warns(UserWarning, match=re.escape(parts.format(24))):
        to_zarr(part, tmp_path / "b.zarr", region={"x": slice(3, 14), "y": slice(4, 8)})
    # As many chunks as before, in each of them; few parts; and chunks of its own.
    for chunks, encoding in (({"x": 8}, {}), ({"x": 4, "y": 3}, {}), ({"x": 1, "y": 2}, {"t": {"chunks": (1, 2)}})):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            to_zarr(found.chunk(chunks), tmp_path / "b.zarr", "w", encoding=encoding)

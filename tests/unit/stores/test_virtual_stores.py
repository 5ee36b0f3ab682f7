"""References to chunks inside files of HDF5: manifests of VirtualiZarr, references of kerchunk."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError, ReadOnlyError, StoreError
from blizzarr.stores import FsspecStore
from blizzarr.stores.zarr_python_store import foreign_store

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")
zarr: Any = pytest.importorskip("zarr")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the libraries about each other

TEMPERATURE = np.arange(24, dtype="f4").reshape(4, 6)
SPARSE = np.full((4, 6), -9, "i2")
SPARSE[0, 0] = 1


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a file as netCDF-4 has it: two variables in compressed chunks, not all of which exist."""
    with h5py.File(tmp_path / "sea.nc", "w") as made:
        variable = made.create_dataset("temperature", data=TEMPERATURE, chunks=(2, 3), compression="gzip", shuffle=True)
        variable.attrs["units"] = "K"
        for axis, (name, length) in enumerate((("lat", 4), ("lon", 6))):
            made.create_dataset(name, data=np.arange(length, dtype="f8")).make_scale(name)
            variable.dims[axis].attach_scale(made[name])
        made.create_dataset("sparse", shape=(4, 6), chunks=(2, 3), dtype="i2", fillvalue=-9)[0, 0] = 1
    return tmp_path / "sea.nc"


def check(store: Any) -> None:
    group = blizzarr.open_group(store, mode="r")
    assert sorted(group.keys()) == ["lat", "lon", "sparse", "temperature"]
    assert np.array_equal(group["temperature"][:], TEMPERATURE)
    assert group["temperature"][1:3, 4].tolist() == [10, 16]
    assert np.array_equal(group["sparse"][:], SPARSE)
    assert group["temperature"].attrs["units"] == "K"
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(store, path="salinity", mode="r")


def manifest(file: Path) -> Any:
    parsers = pytest.importorskip("virtualizarr.parsers", reason="virtualizarr is not installed")
    registry = pytest.importorskip("obspec_utils.registry").ObjectStoreRegistry
    local = pytest.importorskip("obstore").store.LocalStore()
    return parsers.HDFParser()(url=f"file://{file}", registry=registry({"file://": local}))


def references(file: Path) -> Any:
    hdf = pytest.importorskip("kerchunk.hdf", reason="kerchunk is not installed")
    return hdf.SingleHdf5ToZarr(str(file), inline_threshold=0).translate()


def test_virtualizarr(file: Path, tmp_path: Path) -> None:
    store = manifest(file)
    check(store)
    with pytest.raises(ReadOnlyError):
        blizzarr.open_array(store, path="temperature", mode="r+")[0] = 1
    report = blizzarr.check(store)
    # Of the array `sparse`, one chunk of four is there.
    assert (report.ok, report.arrays, report.chunks) == (True, 4, 7)
    assert sorted(foreign_store(store).list("temperature")) == [
        "temperature/c/0/0",
        "temperature/c/0/1",
        "temperature/c/1/0",
        "temperature/c/1/1",
        "temperature/zarr.json",
    ]
    blizzarr.copy(store, tmp_path / "copy.zarr")
    check(tmp_path / "copy.zarr")
    array = blizzarr.open_array(store, path="temperature", mode="r")
    file.unlink()
    with pytest.raises(StoreError, match="not found"):
        array[:]
    report = blizzarr.check(store)
    assert {finding.path for finding in report.findings} == {"/lat", "/lon", "/sparse", "/temperature"}
    assert not any("Debug" in finding.message for finding in report.findings)


def test_references_in_json(file: Path, tmp_path: Path) -> None:
    (tmp_path / "references.json").write_text(json.dumps(references(file)))
    options = {"fo": str(tmp_path / "references.json"), "remote_protocol": "file"}
    ours = FsspecStore.from_url("reference://", options)
    check(ours)
    # What fsspec takes is gone with this process.
    with pytest.raises(ReadOnlyError, match="in memory only"):
        blizzarr.open_array(ours, path="temperature", mode="r+")[0] = 1
    theirs = zarr.storage.FsspecStore.from_url("reference://", storage_options=options, read_only=True)
    check(theirs)
    logged = zarr.storage.LoggingStore(theirs, log_level="WARNING")
    check(logged)
    blizzarr.copy(logged, tmp_path / "copy.zarr", zarr_format=3)
    check(tmp_path / "copy.zarr")
    array = blizzarr.open_array(logged, path="temperature", mode="r")
    file.unlink()
    for one in (array, blizzarr.open_array(theirs, path="temperature", mode="r")):
        with pytest.raises(StoreError):
            one[:]


@pytest.mark.skipif(
    find_spec("pyarrow") is not None,
    reason="with pyarrow, pandas has NaN for no text, which fsspec takes for a path",
)
def test_references_in_parquet(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("fastparquet", reason="fastparquet is not installed")
    found = references(file)
    pytest.importorskip("kerchunk.df").refs_to_dataframe(found, str(tmp_path / "references.parq"))
    options = {"fo": str(tmp_path / "references.parq"), "remote_protocol": "file", "lazy": True}
    check(FsspecStore.from_url("reference://", options))
    check(zarr.storage.LoggingStore(zarr.storage.FsspecStore.from_url("reference://", storage_options=options)))

"""Volumes without TensorStore's interface: the format is named, and the first resolution is an array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.errors import MetadataError

SHARDING = {
    "@type": "neuroglancer_uint64_sharded_v1",
    "preshift_bits": 1,
    "minishard_bits": 1,
    "shard_bits": 1,
    "hash": "identity",
}


@pytest.fixture(params=[None, SHARDING], ids=["chunks", "shards"])
def volume(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A volume of two scales, whose first begins at (10, 20, 30)."""
    spec = {"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": f"{tmp_path}/volume/"}}
    one: dict[str, Any] = {
        "size": [5, 4, 3],
        "voxel_offset": [10, 20, 30],
        "chunk_size": [2, 4, 2],
        "encoding": "raw",
        "key": "one",
    }
    one["sharding"] = request.param
    kind = {"data_type": "uint16", "num_channels": 1, "type": "image"}
    first = ts.open({**spec, "multiscale_metadata": kind, "scale_metadata": one}, create=True).result()
    first[12, 21:23, 31, 0] = [7, 8]
    two = {**one, "key": "two", "resolution": [2, 2, 2]}
    ts.open({**spec, "multiscale_metadata": kind, "scale_metadata": two}, create=True).result()[:] = 1
    return tmp_path / "volume"


def test_the_first_resolution(volume: Path, tmp_path: Path) -> None:
    """It is read, written and copied from index zero; the other resolution is not touched."""
    expected = np.zeros((5, 4, 3, 1), "uint16")
    expected[2, 1:3, 1, 0] = 7, 8
    found = blizzarr.open_array(volume, mode="r+", zarr_format="precomputed")
    assert found.refresh().metadata == found.metadata
    assert (found[:] == expected).all()
    assert found.dimension_names == ("x", "y", "z", "channel")
    found[0] = 9
    expected[0] = 9
    assert (blizzarr.copy(found, tmp_path / "copy.zarr", zarr_format=3)[:] == expected).all()
    spec = {"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": f"{volume}/"}}
    assert (ts.open(spec).result().read().result() == expected).all()
    assert (ts.open({**spec, "scale_index": 1}).result().read().result() == 1).all()


@pytest.mark.parametrize("form", [3, 2, "n5"])
@pytest.mark.parametrize("options", [{}, {"chunks": (3, 3, 3, 1)}], ids=str)
def test_labels_are_copied_into_other_formats(form: Any, options: dict[str, Any], tmp_path: Path) -> None:
    """These lack the codec of the volume."""
    kvstore = {"driver": "file", "path": f"{tmp_path}/volume/"}
    scale = {"encoding": "compressed_segmentation", "size": [5, 4, 3], "chunk_size": [4, 4, 4]}
    kind = {"data_type": "uint32", "num_channels": 1}
    spec = {"driver": "neuroglancer_precomputed", "kvstore": kvstore, "scale_metadata": scale}
    labels = np.arange(60, dtype="u4").reshape(5, 4, 3, 1)
    ts.open({**spec, "multiscale_metadata": kind}, create=True).result().write(labels).result()
    volume = blizzarr.open_array(tmp_path / "volume", mode="r", zarr_format="precomputed")
    copied = blizzarr.copy(volume, tmp_path / "copy", zarr_format=form, **options)
    assert (copied[:] == labels).all()
    assert copied.compressors or form == "n5"


def test_nothing_looks_for_volumes(volume: Path) -> None:
    """Without the name there is no array in the place of a volume."""
    with pytest.raises(blizzarr.errors.NodeNotFoundError):
        blizzarr.open(volume, mode="r")


def test_volumes_are_not_created_by_name(tmp_path: Path) -> None:
    """An array becomes a volume through the driver only."""
    with pytest.raises(MetadataError, match="that of a volume"):
        blizzarr.create_array(tmp_path, shape=(2, 2), dtype="uint8", zarr_format="precomputed")
    (tmp_path / "info").write_text('{"type": "image", "data_type": "uint8", "num_channels": 1, "scales": []}')
    with pytest.raises(MetadataError, match="a volume with a scale"):
        blizzarr.open(tmp_path, mode="r", zarr_format="precomputed")

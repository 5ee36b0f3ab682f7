"""What stands against an upgrade or a copy to another format has a way around it, which the error names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import MetadataError


def test_what_to_do_with_an_array_of_python_objects(tmp_path: Path) -> None:
    """The whole hierarchy was refused, and nothing said how to go on."""
    with blizzarr.config.set(allowed_codecs=("pickle",)):
        group = blizzarr.create_group(tmp_path / "a", zarr_format=2)
        group.create_array("x", data=np.arange(4))
        group.create_array("o", data=np.array([1, "a"], object), chunks=1, serializer={"id": "pickle"})
        with pytest.raises(MetadataError, match="copy the other members one by one, each to its own path"):
            blizzarr.copy(group, tmp_path / "b", zarr_format=3)
        blizzarr.copy(group["x"], tmp_path / "b", path="x", zarr_format=3)
        assert blizzarr.open(tmp_path / "b", path="x")[:].tolist() == [0, 1, 2, 3]
        advice = "copy it elsewhere, in its own format, and remove it here"
        with pytest.raises(MetadataError, match=advice):
            blizzarr.upgrade(tmp_path / "a")
        assert advice in str(blizzarr.upgrade(tmp_path / "a", dry_run=True))
        blizzarr.copy(group["o"], tmp_path / "o")
        del group["o"]
        blizzarr.upgrade(tmp_path / "a")
        assert blizzarr.open(tmp_path / "a").metadata.format == "v3"
        assert blizzarr.open(tmp_path / "o")[:].tolist() == [1, "a"]

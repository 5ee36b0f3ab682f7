"""An upgrade of a part of a hierarchy, by a path of its own, and the consolidated metadata of the groups above."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import blizzarr


@pytest.mark.parametrize("to", ["v3", "v2"])
def test_consolidated_metadata_above_are_removed(to: str, tmp_path: Path) -> None:
    """They have the old documents of the part, through which its arrays could not be read."""
    path = tmp_path / "all.zarr"
    root = blizzarr.create_group(path, zarr_format=2 if to == "v3" else 3)
    root.create_group("part").create_array("a", data=np.arange(5), chunks=2)
    blizzarr.consolidate_metadata(path)
    blizzarr.upgrade(path / "part", to=to, dry_run=True)
    assert blizzarr.open_group(path, mode="r").metadata.consolidated is not None
    blizzarr.upgrade(path / "part", to=to)
    opened = blizzarr.open_group(path, mode="r")
    assert opened.metadata.consolidated is None
    assert opened["part/a"].metadata.format == to
    assert opened["part/a"][:].tolist() == [0, 1, 2, 3, 4]
    assert blizzarr.check(path).ok

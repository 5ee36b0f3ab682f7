"""Containers of N5: groups with and without attributes, as BigDataViewer and Paintera have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr
from blizzarr.errors import MetadataError, NodeExistsError, NodeNotFoundError, PathError

DATA = np.arange(6, dtype="uint8").reshape(2, 3)
LEVELS = {"setup0/timepoint0/s0": DATA, "setup0/timepoint0/s1": DATA[:1], "volumes/raw/data/s0": DATA[:, :1]}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "": {"n5": "2.5.1", "Bigdataviewer": {"a": 1}},
    "setup0": {"dataType": "uint8", "downsamplingFactors": [[1, 1, 1], [2, 2, 2]]},
    "setup0/timepoint0": {"multiScale": True, "resolution": [1.0, 1.0, 4.0]},
    "volumes/raw": {"painteraData": {"type": "raw"}, "maxId": 5},
}


@pytest.fixture
def container(tmp_path: Path) -> Path:
    """Levels of resolution that TensorStore wrote; `volumes` and `volumes/raw/data` are bare directories."""
    root = tmp_path / "x.n5"
    for path, data in LEVELS.items():
        spec = {"driver": "n5", "kvstore": f"file://{root}/{path}/"}
        ts.open(spec, create=True, dtype="uint8", shape=data.shape).result().write(data).result()
    for path, attributes in ATTRIBUTES.items():
        (root / path / "attributes.json").write_text(json.dumps(attributes))
    return root


def test_a_container_is_opened(container: Path) -> None:
    """It was "an N5 group, which this version does not read"."""
    root = blizzarr.open(container, mode="r")
    assert isinstance(root, blizzarr.Group)
    assert (root.metadata.format, dict(root.attrs)) == ("n5", {"Bigdataviewer": {"a": 1}})
    assert list(root) == ["setup0", "volumes"]
    assert dict(root["setup0"].attrs) == ATTRIBUTES["setup0"]
    assert dict(root["volumes"].attrs) == {}
    assert {path for path, node in root.walk() if isinstance(node, blizzarr.Array)} == set(LEVELS)
    for path, data in LEVELS.items():
        np.testing.assert_array_equal(root[path][...], data)
    assert "s1 (1, 3) uint8" in str(root.tree())
    assert list(blizzarr.open_group(container / "volumes", mode="r")) == ["raw"]
    with pytest.raises(NodeNotFoundError, match="The group / has setup0, volumes"):
        root["volumes/labels"]


def test_it_is_checked(container: Path) -> None:
    report = blizzarr.check(container)
    assert (report.kinds(), report.arrays, report.groups) == ({}, 3, 4)
    (container / "setup0/attributes.json").write_text('{"multiScale"')
    (container / "setup0/timepoint0/s0/0/0").write_bytes(b"\0")
    assert set(blizzarr.check(container).kinds()) >= {"chunk"}


@pytest.mark.parametrize("new", ["v3", "v2", "v3_draft"])
def test_it_is_copied_and_comes_back(container: Path, tmp_path: Path, new: str) -> None:
    blizzarr.copy(container, tmp_path / "copied", zarr_format=new)
    assert blizzarr.diff(container, tmp_path / "copied").same
    blizzarr.copy(tmp_path / "copied", tmp_path / "back.n5", zarr_format="n5")
    assert blizzarr.diff(container, tmp_path / "back.n5").same


def test_it_is_changed(container: Path) -> None:
    """Attributes are set in the document of a group; what is below it stays."""
    root = blizzarr.open_group(container)
    root["setup0"].attrs["a"] = 1
    root["volumes"].attrs["b"] = 2
    root.attrs["c"] = 3
    stored = {
        path: json.loads((container / path / "attributes.json").read_text()) for path in ("", "setup0", "volumes")
    }
    assert stored == {"": {**ATTRIBUTES[""], "c": 3}, "setup0": {**ATTRIBUTES["setup0"], "a": 1}, "volumes": {"b": 2}}
    root.create_array("new/a", data=DATA)
    assert (root["new"].metadata.format, root["new/a"].metadata.format) == ("n5", "n5")
    del root["setup0"]
    assert [path for path, node in root.walk() if isinstance(node, blizzarr.Array)] == ["new/a", "volumes/raw/data/s0"]
    with pytest.raises(MetadataError, match="which make an array"):
        root["new"].attrs.update({"dimensions": [1], "dataType": "uint8"})
    with pytest.raises(MetadataError, match="no consolidated metadata: N5 has none"):
        blizzarr.consolidate_metadata(container)


def test_a_directory_in_a_container_is_opened_in_any_mode(container: Path) -> None:
    """With mode "a", a group of v3 was created, which hid everything below it."""
    for mode in ("r", "r+", "a"):
        group = blizzarr.open_group(container / "volumes", mode=mode)
        assert (group.metadata.format, list(group)) == ("n5", ["raw"])
    assert not (container / "volumes/zarr.json").exists()
    assert blizzarr.open_group(container / "volumes", mode="a", zarr_format=3).metadata.format == "v3"


def test_no_member_has_the_name_of_the_document(tmp_path: Path) -> None:
    """In a directory, it would be in the place of the document of the group."""
    source = blizzarr.create_group({})
    source.create_array("attributes.json", data=DATA)
    with pytest.raises(MetadataError, match=r"attributes\.json, which is the key of metadata"):
        blizzarr.copy(source, tmp_path / "x.n5", zarr_format="n5")
    assert not (tmp_path / "x.n5").exists()
    with pytest.raises(PathError, match="which is the key of metadata"):
        blizzarr.create_group({}, zarr_format="n5").create_array("attributes.json", data=DATA)


def test_groups_of_zarr_have_no_members_of_n5(container: Path) -> None:
    """A hierarchy of Zarr next to files with the name of N5's document is what it was."""
    group = blizzarr.create_group(container / "zarr", zarr_format=3)
    group.create_group("a")
    (container / "zarr/b").mkdir()
    (container / "zarr/b/attributes.json").write_text("{}")
    (container / "zarr/a/attributes.json").write_text("{}")
    assert list(blizzarr.open_group(container / "zarr")) == ["a"]
    assert dict(blizzarr.open_group(container / "zarr" / "a").attrs) == {}
    with pytest.raises(NodeExistsError, match=r"already \(attributes\.json of a group"):
        blizzarr.create_group(container)


def test_a_directory_is_a_member(container: Path) -> None:
    """It was listed and opened, but `in` said that it was not there, and it could not be removed."""
    root = blizzarr.open_group(container)
    assert "volumes" in root
    assert "volumes/raw/data" in root
    assert "labels" not in root
    del root["volumes"]
    assert list(root) == ["setup0"]
    assert sorted(path.name for path in container.iterdir()) == ["attributes.json", "setup0"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_no_array_hides_what_a_directory_holds(container: Path, overwrite: bool) -> None:
    """An array was put in its place, and nothing below it was listed any more."""
    root = blizzarr.open_group(container)
    with pytest.raises(NodeExistsError, match="arrays or groups are below this path"):
        root.create_array("volumes", data=DATA, overwrite=overwrite)
    with pytest.raises(NodeExistsError, match="arrays or groups are below this path"):
        blizzarr.create_array(container / "volumes", data=DATA, overwrite=overwrite)
    assert {path for path, node in root.walk() if isinstance(node, blizzarr.Array)} == set(LEVELS)
    assert root.create_array("volumes/labels", data=DATA).path == "volumes/labels"

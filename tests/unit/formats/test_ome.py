"""OME-Zarr 0.4 in v2 and 0.5 in v3: what `upgrade`, `copy` and `diff` make of the metadata that ome-zarr-py writes.

The documents here are what ome-zarr-py 0.21 wrote, with fewer axes and levels.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.formats import ome_changes
from blizzarr.model import GroupMeta

AXES = [{"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space"}]
LEVEL = {"path": "s0", "coordinateTransformations": [{"type": "scale", "scale": [0.2, 0.2]}]}
IMAGE = {"axes": AXES, "datasets": [LEVEL], "name": "image"}
OMERO = {"id": 1, "channels": [{"color": "FF0000", "window": {"min": 0, "max": 9, "start": 0, "end": 9}}]}
LABEL = {"colors": [{"label-value": 1, "rgba": [255, 0, 0, 255]}]}
PLATE = {"columns": [{"name": "1"}], "rows": [{"name": "A"}], "wells": [{"path": "A/1", "rowIndex": 0}]}
WELL = {"images": [{"path": "0"}]}
V04, V05 = {"version": "0.4"}, {"version": "0.5"}
Attributes = dict[str, dict[str, Any]]

OLD: Attributes = {
    "": {"plate": PLATE | V04, "mine": [1]},
    "A": {},
    "A/1": {"well": WELL | V04},
    "A/1/0": {"multiscales": [IMAGE | V04], "omero": OMERO | V04},
    "A/1/0/labels": {"labels": ["cells"]},
    "A/1/0/labels/cells": {"multiscales": [IMAGE | V04], "image-label": LABEL | V04},
}
NEW: Attributes = {
    "": {"mine": [1], "ome": {**V05, "plate": PLATE | V05}},
    "A": {},
    "A/1": {"ome": {**V05, "well": WELL}},
    "A/1/0": {"ome": {**V05, "multiscales": [IMAGE], "omero": OMERO}},
    "A/1/0/labels": {"ome": {**V05, "labels": ["cells"]}},
    "A/1/0/labels/cells": {"ome": {**V05, "multiscales": [IMAGE], "image-label": LABEL | V05}},
}
OLD_SERIES: Attributes = {
    "": {"bioformats2raw.layout": 3},
    "OME": {"series": ["0"]},
    "0": {"multiscales": [IMAGE | V04]},
}
NEW_SERIES: Attributes = {
    "": {"ome": {**V05, "bioformats2raw.layout": 3}},
    "OME": {"ome": {**V05, "series": ["0"]}},
    "0": {"ome": {**V05, "multiscales": [IMAGE]}},
}


def written(groups: Attributes, zarr_format: int, **options: Any) -> dict[str, Any]:
    """Return a store with these groups, and an array for each image; in v3 its dimensions are named as the axes."""
    store: dict[str, Any] = {}
    names = {"dimension_names": ["y", "x"]} if zarr_format == 3 else {}
    for path, attributes in groups.items():
        group = blizzarr.create_group(store, path=path, attributes=attributes, zarr_format=zarr_format)
        if any(type(place) is dict and "multiscales" in place for place in (attributes, attributes.get("ome"))):
            group.create_array("s0", data=np.arange(6, dtype="u2").reshape(2, 3), chunks=(1, 2), **(names | options))
    return store


def attributes_of(store: Any) -> Attributes:
    group = blizzarr.open_group(store, mode="r")
    found = {"": group} | {name: node for name, node in group.walk() if isinstance(node, blizzarr.Group)}
    return {name: dict(node.attrs) for name, node in found.items()}


def arrays_of(store: Any) -> list[blizzarr.Array]:
    return [node for _, node in blizzarr.open_group(store, mode="r").walk() if isinstance(node, blizzarr.Array)]


PAIRS = pytest.mark.parametrize(("old", "new"), [(OLD, NEW), (OLD_SERIES, NEW_SERIES)], ids=["plate", "series"])


def moved(store: dict[str, Any], zarr_format: int, how: str) -> dict[str, Any]:
    made = dict(store)
    if how == "upgrade":
        blizzarr.upgrade(made, to=f"v{zarr_format}")
        return made
    made = {}
    blizzarr.copy(store, made, zarr_format=zarr_format)
    return made


@PAIRS
@pytest.mark.parametrize("how", ["upgrade", "copy"])
def test_0_4_becomes_0_5(old: Attributes, new: Attributes, how: str) -> None:
    store = written(old, 2)
    made = moved(store, 3, how)
    assert attributes_of(made) == new
    for array in arrays_of(made):
        assert array.metadata.dimension_names == ("y", "x")
        # With `_FillValue`, xarray would mask every 0.
        assert dict(array.attrs) == {}
        assert array[1].tolist() == [3, 4, 5]
    assert blizzarr.diff(store, made).same
    back = moved(made, 2, how)
    assert attributes_of(back) == old
    assert blizzarr.diff(store, back).same


@PAIRS
@pytest.mark.parametrize("how", ["upgrade", "copy"])
def test_0_5_becomes_0_4(old: Attributes, new: Attributes, how: str) -> None:
    store = written(new, 3)
    made = moved(store, 2, how)
    assert attributes_of(made) == old
    for array in arrays_of(made):
        # Readers of OME-Zarr, as that of Fiji, do not take null; 0 with names, xarray would mask.
        assert (array.metadata.dimension_names, array.fill_value) == (None, 0)
        assert array.metadata.chunk_keys.key((1, 1)) == "1/1"
    assert blizzarr.diff(store, made).same
    assert attributes_of(moved(made, 3, how)) == new


def test_names_stay_where_xarray_masks_a_value() -> None:
    store = written(NEW_SERIES, 3, attributes={"_FillValue": 7})
    made = moved(store, 2, "copy")
    (array,) = arrays_of(made)
    assert (array.metadata.dimension_names, array.fill_value) == (("y", "x"), 7)


def test_options_of_the_user_come_first() -> None:
    made: dict[str, Any] = {}
    blizzarr.copy(written(NEW_SERIES, 3), made, zarr_format=2, chunk_key_encoding="v2", dimension_names=["a", "b"])
    (array,) = arrays_of(made)
    assert array.metadata.dimension_names == ("a", "b")
    assert array.metadata.chunk_keys.key((1, 1)) == "1.1"


def test_labels_without_a_version() -> None:
    """ome-zarr-py leaves the version out in the group that lists labels."""
    new = NEW | {"A/1/0/labels": {"ome": {"labels": ["cells"]}}}
    store = written(new, 3)
    made = moved(store, 2, "copy")
    assert attributes_of(made) == OLD
    assert blizzarr.diff(store, made).same


def test_0_4_without_versions() -> None:
    """The version is optional in 0.4; the names of axes tell it from older ones."""
    bare: Attributes = {"": {"plate": PLATE}, "A": {}, "A/1": {"well": WELL}, "A/1/0": {"multiscales": [IMAGE]}}
    store = written(bare, 2)
    made = moved(store, 3, "upgrade")
    assert attributes_of(made)["A/1"] == NEW["A/1"]
    assert attributes_of(made)[""] == {"ome": {**V05, "plate": PLATE | V05}}
    assert blizzarr.diff(store, made).same


@pytest.mark.parametrize("version", ["0.1", "0.3", None])
def test_older_versions_stay(version: str | None) -> None:
    image: dict[str, Any] = {"datasets": [{"path": "s0"}], "axes": ["y", "x"]}
    image |= {} if version is None else {"version": version}
    old: Attributes = {"": {"multiscales": [image]}, "labels": {"labels": []}}
    store = written(old, 2)
    plan = blizzarr.upgrade(store, dry_run=True)
    expected = f"/, /labels: the metadata of OME-Zarr {version or 'before 0.4'} stay as they are: only those of 0.4 can"
    assert expected in str(plan)
    made = moved(store, 3, "upgrade")
    assert attributes_of(made) == old
    assert arrays_of(made)[0].metadata.dimension_names is None


def test_newer_versions_stay() -> None:
    new: Attributes = {"": {"ome": {"version": "0.6", "multiscales": [{"datasets": [{"path": "s0"}]}]}}}
    store = written(new, 3)
    plan = blizzarr.upgrade(store, to="v2", dry_run=True)
    assert "/: the metadata of OME-Zarr 0.6 stay as they are: only those of 0.5 can become 0.4" in str(plan)
    assert attributes_of(moved(store, 2, "copy")) == new


@pytest.mark.parametrize(
    "attributes",
    [
        {"multiscales": 3, "labels": ["a"], "series": ["b"], "plate": "p", "well": {"depth": 3}, "ome": 1},
        {"multiscales": [{"tile_matrix_set": "WebMercatorQuad"}], "omero": 2, "image-label": {}},
        {"ome": {"n": 1}, "bioformats2raw.layout": 3},
    ],
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_of_others_stay(attributes: dict[str, Any], zarr_format: int) -> None:
    store = written({"": attributes}, zarr_format)
    made = moved(store, 5 - zarr_format, "copy")
    assert attributes_of(made) == {"": attributes}
    assert "OME" not in str(blizzarr.upgrade(store, to=f"v{5 - zarr_format}", dry_run=True))


def test_members_of_ome_that_are_not_in_the_specification() -> None:
    new = {"ome": {**V05, "multiscales": [IMAGE], "_creator": {"name": "x"}}}
    old = {"multiscales": [IMAGE | V04], "ome": {"_creator": {"name": "x"}}}
    made = moved(written({"": new}, 3), 2, "copy")
    assert attributes_of(made) == {"": old}
    assert attributes_of(moved(made, 3, "copy")) == {"": new}


def test_both_in_one_group_stay() -> None:
    both = {"multiscales": [IMAGE | V04], "ome": {**V05, "multiscales": [IMAGE]}}
    assert ome_changes({"": GroupMeta(both, format="v2")}, "v3")[""].attributes is None
    assert ome_changes({"": GroupMeta(both, format="v3")}, "v2")[""].attributes is None


def test_dry_run_names_what_is_translated() -> None:
    store = written(OLD_SERIES, 2)
    text = str(blizzarr.upgrade(store, dry_run=True))
    assert "\n/, /0, /OME: the metadata of OME-Zarr 0.4 become those of 0.5, below the attribute ome" in text
    assert "/0/s0: the dimensions get the names of the axes in OME-Zarr: y, x" in text
    text = str(blizzarr.upgrade(written(NEW_SERIES, 3), to="v2", dry_run=True))
    assert "\n/, /0, /OME: the metadata of OME-Zarr 0.5 become those of 0.4" in text
    assert "/0/s0: only the axes in OME-Zarr tell the names of the dimensions, so that the fill value can stay" in text


def test_other_names_of_dimensions_stay() -> None:
    store = written(OLD_SERIES, 2, dimension_names=["lat", "lon"])
    text = str(blizzarr.upgrade(store, dry_run=True))
    assert "/0/s0: the names of the dimensions are not those of the axes in OME-Zarr: y, x" in text
    made = moved(store, 3, "upgrade")
    assert arrays_of(made)[0].metadata.dimension_names == ("lat", "lon")


def test_a_difference_is_still_found() -> None:
    changed = NEW_SERIES | {"0": {"ome": {**V05, "multiscales": [IMAGE | {"name": "other"}]}}}
    found = blizzarr.diff(written(OLD_SERIES, 2), written(changed, 3))
    assert [(item.kind, item.path) for item in found.differences] == [("attributes", "/0")]
    found = blizzarr.diff(written(OLD_SERIES, 2), written(NEW_SERIES, 3, dimension_names=["a", "b"]))
    assert [(item.kind, item.path) for item in found.differences] == [("dimension-names", "/0/s0")]


def test_lists_of_others_in_an_image_stay() -> None:
    """`series` and `labels` are OME-Zarr's only in their places."""
    old: Attributes = OLD_SERIES | {"0/mine": {"series": ["0"], "labels": ["a"]}}
    assert attributes_of(moved(written(old, 2), 3, "copy"))["0/mine"] == {"series": ["0"], "labels": ["a"]}


def test_without_names_nothing_is_translated_for_xarray() -> None:
    made: dict[str, Any] = {}
    store = written(NEW_SERIES, 3, attributes={"_FillValue": 7})
    blizzarr.copy(store, made, zarr_format=2, dimension_names=None)
    (array,) = arrays_of(made)
    assert (array.metadata.dimension_names, array.fill_value, dict(array.attrs)) == (None, 0, {"_FillValue": 7})


@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), (OLD_SERIES, NEW_SERIES)])
def test_check_finds_and_repair_translates_what_became_v3_without_it(old: Attributes, new: Attributes) -> None:
    store = written(old, 2)
    blizzarr.upgrade(store)
    root = blizzarr.open_group(store)
    for path, attributes in old.items():
        node = root[path] if path else root
        node.attrs.clear()
        node.attrs.update(attributes)
    for array in arrays_of(store):
        key = f"{array.path}/zarr.json"
        store[key] = json.dumps({**json.loads(store[key]), "dimension_names": None}).encode()
    blizzarr.consolidate_metadata(store)
    named = [(item.kind, item.path) for item in blizzarr.diff(written(old, 2), store).differences]
    changed = [path for path, attributes in old.items() if attributes != new[path]]
    assert named == [("attributes", f"/{path}") for path in sorted(changed)]
    report = blizzarr.check(store)
    assert report.kinds() == {"ome-zarr": len(changed) + len(arrays_of(store))}
    before = dict(store)
    assert blizzarr.check(store, repair=True, dry_run=True, quarantine="/nowhere").repairs
    assert store == before
    assert all(repair.done for repair in blizzarr.check(store, repair=True, quarantine="/nowhere").repairs)
    assert blizzarr.check(store).clean
    assert attributes_of(store) == new
    assert {array.metadata.dimension_names for array in arrays_of(store)} == {("y", "x")}
    assert blizzarr.diff(written(old, 2), store).same

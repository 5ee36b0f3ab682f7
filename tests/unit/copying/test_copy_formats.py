"""Copies from any format into any other."""

from __future__ import annotations

import base64
import json
import re
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import TransposeCodec
from blizzarr.errors import MetadataError

FORMATS = ["v3", "v2", "v3_draft", "v3_draft_zarr_python"]
VALUES = np.arange(35, dtype="int32").reshape(5, 7)


def a_hierarchy(zarr_format: str) -> dict[str, Any]:
    """Groups, and arrays whose layout all of these formats have."""
    store: dict[str, Any] = {}
    root = blizzarr.create_group(store, attributes={"title": "brain"}, zarr_format=zarr_format)
    gzip = {"name": "gzip", "configuration": {"level": 3}}
    root.create_array("t1", data=VALUES, chunks=(2, 3), fill_value=-1, compressors=gzip, attributes={"units": "mm"})
    inner = root.create_group("scans/first", attributes={"day": 1})
    inner.create_array("turned", data=VALUES.astype("f8"), chunks=(4, 4), order="F", compressors=None)
    inner.create_array("raw", data=np.array([True, False, True]), chunks=2, compressors=None)
    return store


@pytest.mark.parametrize("new", FORMATS)
@pytest.mark.parametrize("old", FORMATS)
def test_a_hierarchy(old: str, new: str) -> None:
    """Groups, attributes, fill values, chunks, order and elements arrive; all of it in the new format."""
    source, target = a_hierarchy(old), dict[str, Any]()
    blizzarr.copy(blizzarr.open_group(source, mode="r"), target, zarr_format=new)
    made = blizzarr.open_group(target, mode="r")
    nodes = dict(made.members(None))
    assert sorted(nodes) == ["scans", "scans/first", "scans/first/raw", "scans/first/turned", "t1"]
    assert {made.metadata.format, *(node.metadata.format for node in nodes.values())} == {new}
    assert made.attrs.asdict() == {"title": "brain"}
    assert nodes["scans/first"].attrs.asdict() == {"day": 1}
    t1, turned, raw = (made[name] for name in ("t1", "scans/first/turned", "scans/first/raw"))
    assert np.array_equal(t1[:], VALUES)
    assert (t1.chunks, t1.fill_value, t1.attrs.asdict()) == ((2, 3), -1, {"units": "mm"})
    assert np.array_equal(turned[:], VALUES)
    assert (turned.chunks, turned.order, turned.dtype) == ((4, 4), "F", np.float64)
    assert raw[:].tolist() == [True, False, True]


@pytest.mark.parametrize("old", FORMATS)
def test_the_format_stays_unless_said(old: str) -> None:
    """A copy has the format of its source; below a group, that of the group."""
    source, target = a_hierarchy(old), dict[str, Any]()
    assert blizzarr.copy(blizzarr.open_group(source), target).metadata.format == old
    other: dict[str, Any] = {}
    blizzarr.create_group(other, zarr_format=2)
    assert blizzarr.copy(blizzarr.open_array(source, path="t1"), other, path="a/t1").metadata.format == "v2"


@pytest.mark.parametrize("old", [*FORMATS, "v1"])
@pytest.mark.parametrize("new", [*FORMATS, "v1"])
def test_an_array_in_another_layout(old: str, new: str) -> None:
    """Other chunks, another compressor, another data type, on the way into another format."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, data=VALUES, chunks=(2, 3), zarr_format=old)
    made = blizzarr.copy(
        blizzarr.open_array(source), {}, chunks=(3, 3), compressors="blosc", dtype=">i8", zarr_format=new
    )
    assert (made.metadata.format, made.chunks, made.dtype) == (new, (3, 3), np.int64)
    assert np.array_equal(made[:], VALUES)


def test_shards_of_v3_and_of_the_draft() -> None:
    """They have the same form but for the index, which has no checksum in the draft: shards stay shards."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, data=VALUES, chunks=(1, 7), shards=(2, 7), compressors="gzip")
    kept = blizzarr.copy(source, {}, zarr_format="v3_draft")
    assert (kept.shards, kept.metadata.codecs.serializer.configuration()["index_codecs"][1:]) == ((2, 7), [])
    assert np.array_equal(kept[:], VALUES)
    made = blizzarr.copy(source, {}, chunks=(1, 7), shards=None, compressors="gzip", zarr_format="v3_draft")
    assert np.array_equal(made[:], VALUES)


def test_everything_that_cannot_be_is_told_at_once() -> None:
    """Every node that the target cannot express is named before the first byte is written."""
    source: dict[str, Any] = {}
    root = blizzarr.create_group(source)
    root.create_array("good", data=VALUES)
    root.create_array("sharded", data=VALUES, chunks=(1, 7), shards=(2, 7))
    root.create_array("inner/turned", data=np.zeros((2, 3, 4)), filters=[TransposeCodec(order=(1, 0, 2))])
    target: dict[str, Any] = {}
    with pytest.raises(MetadataError) as caught:
        blizzarr.copy(root, target, zarr_format=2)
    assert {problem.path.split(":")[0] for problem in caught.value.problems} == {"/inner/turned", "/sharded"}
    assert target == {}


def test_groups_into_v1() -> None:
    """O-21: it has none."""
    target: dict[str, Any] = {}
    with pytest.raises(MetadataError, match="v1 has no groups"):
        blizzarr.copy(a_hierarchy("v3"), target, zarr_format=1)
    assert target == {}


@pytest.mark.parametrize("new", ["v3", "v3_draft"])
def test_a_struct_of_both_byte_orders(new: str) -> None:
    """v2 has an order for each field; in other formats the copy has one for all."""
    source: dict[str, Any] = {}
    kind = np.dtype([("i", "<i4"), ("f", ">f8"), ("s", "S3")])
    data = np.array([(number, number / 2, b"ab") for number in range(5)], kind)
    blizzarr.create_array(source, data=np.zeros(5, kind), chunks=2, zarr_format=2)
    document = json.loads(source[".zarray"])
    document["dtype"] = [["i", "<i4"], ["f", ">f8"], ["s", "|S3"]]
    document["fill_value"] = base64.b64encode(data[3:4].tobytes()).decode()
    source[".zarray"] = json.dumps(document).encode()
    blizzarr.open_array(source)[1:] = data[1:]
    made = blizzarr.copy(source, {}, zarr_format=new)
    assert (made[1:] == data[1:].astype(made.dtype)).all()
    assert made.fill_value == data[3].astype(made.dtype)


def test_null_fill_values() -> None:
    """They stay null where the target has null; elsewhere they become what they read as."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, shape=(4,), dtype="int16", chunks=2, zarr_format=2)
    source[".zarray"] = bytes(source[".zarray"]).replace(b'"fill_value": 0', b'"fill_value": null')
    assert blizzarr.open_array(source).fill_value is None
    assert blizzarr.copy(source, {}, zarr_format=2).fill_value is None
    assert blizzarr.copy(source, {}, zarr_format=1).fill_value is None
    assert blizzarr.copy(source, {}, zarr_format=3).fill_value == 0
    assert blizzarr.copy(source, {}, zarr_format=2, fill_value=7).fill_value == 7


def test_names_of_dimensions() -> None:
    """A member in v3, an attribute in v2; there and back."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, data=VALUES, dimension_names=["y", "x"], attributes={"a": 1})
    old: dict[str, Any] = {}
    made = blizzarr.copy(source, old, zarr_format=2)
    assert made.attrs.asdict() == {"a": 1, "_ARRAY_DIMENSIONS": ["y", "x"]}
    again = blizzarr.copy(old, {}, zarr_format=3)
    assert (again.metadata.dimension_names, again.attrs.asdict()) == (("y", "x"), {"a": 1})


def test_stored_objects_are_copied_as_they_are(tmp_path: Path) -> None:
    """The same layout in another format: nothing is decoded, damaged chunks arrive as they are."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, data=VALUES, chunks=(2, 7), zarr_format=2)
    source["1.0"] = b"no chunk"
    made = blizzarr.copy(source, tmp_path, zarr_format=3)
    assert (tmp_path / "c/1/0").read_bytes() == b"no chunk"
    assert (tmp_path / "c/0/0").read_bytes() == source["0.0"]
    assert np.array_equal(made[:2], VALUES[:2])


def test_interrupted_and_finished() -> None:
    """resume= goes on in the new format."""
    source: dict[str, Any] = {}
    blizzarr.create_array(source, data=np.arange(4000), chunks=100, zarr_format=2)
    target: dict[str, Any] = {}

    def stop(done: int, total: int) -> None:
        if done >= total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        blizzarr.copy(source, target, zarr_format=3, chunks=50, compressors=None, progress=stop)
    made = blizzarr.copy(source, target, zarr_format=3, chunks=50, compressors=None, resume=True)
    assert np.array_equal(made[:], np.arange(4000))


@pytest.mark.parametrize("old", ["v3", "v2", "v3_draft_zarr_python"])
@pytest.mark.parametrize("new", ["v3", "v2", "v3_draft_zarr_python", "v3_draft"])
@pytest.mark.parametrize("resume", [False, True])
def test_consolidated_metadata_are_kept(old: str, new: str, resume: bool) -> None:
    """A copy of what opens with one request does, too, where the format has that; what it says is true of the copy."""
    source = blizzarr.create_group({}, zarr_format=old, attributes={"a": 1})
    source.create_array("x", data=np.arange(6).reshape(2, 3), dimension_names=None)
    source.create_array("inner/y", data=np.arange(6), chunks=2)
    source = blizzarr.consolidate_metadata(source)
    values: dict[str, bytes] = {}
    said = pytest.warns(UserWarning, match="no consolidated") if new == "v3_draft" else nullcontext()
    with said:
        made = blizzarr.copy(source, values, zarr_format=new, chunks={"/inner/y": 3}, resume=resume)
    assert isinstance(made, blizzarr.Group)
    assert (made.metadata.consolidated is not None) == (new != "v3_draft")
    assert blizzarr.check(values).ok
    assert blizzarr.open(values, path="inner", mode="r").metadata.consolidated is None
    assert made["inner/y"].chunks == (3,)
    assert dict(made.attrs) == {"a": 1}


def test_consolidated_metadata_of_inner_groups_are_kept() -> None:
    """A group within may have them where the whole has none; a group without them gets none."""
    source = blizzarr.create_group({})
    source.create_array("a/x", data=np.arange(6))
    source.create_array("b/y", data=np.arange(6))
    blizzarr.consolidate_metadata(source, path="b")
    made = blizzarr.copy(source, {})
    assert isinstance(made, blizzarr.Group)
    assert made.metadata.consolidated is None
    assert made["a"].metadata.consolidated is None
    assert list(made["b"].metadata.consolidated) == ["y"]


def test_consolidated_metadata_in_a_zip_file(tmp_path: Path) -> None:
    source = blizzarr.create_group({})
    source.create_array("x", data=np.arange(6))
    blizzarr.copy(blizzarr.consolidate_metadata(source), tmp_path / "c.zip")
    assert list(blizzarr.open_group(tmp_path / "c.zip", mode="r").metadata.consolidated) == ["x"]
    assert blizzarr.check(tmp_path / "c.zip").ok


def test_a_copy_says_that_names_are_reserved_as_upgrade_does() -> None:
    source = blizzarr.create_group({}, zarr_format=2)
    source.create_array("__xarray_dataarray_variable__", data=np.arange(3))
    text = '/__xarray_dataarray_variable__: in v3 a name may not start with "__", which is reserved; it is kept'
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$") as warned:
        copied = blizzarr.copy(source, {}, zarr_format=3)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = blizzarr.copy(copied, {})
        blizzarr.copy(source, {})
    assert again["__xarray_dataarray_variable__"][:].tolist() == [0, 1, 2]


@pytest.mark.parametrize("zarr_format", ["v3_draft", "n5"])
def test_a_copy_says_that_it_has_no_consolidated_metadata(zarr_format: str) -> None:
    store: dict[str, bytes] = {}
    root = blizzarr.create_group(store)
    root.create_group("below")
    blizzarr.consolidate_metadata(store)
    source = blizzarr.open_group(store, mode="r")
    assert source.metadata.consolidated is not None
    with pytest.warns(UserWarning, match=f"^the copy has no consolidated metadata, as {zarr_format} has none$"):
        copied = blizzarr.copy(source, {}, zarr_format=zarr_format)
    assert list(copied) == ["below"]

"""The consolidated metadata of v2, ``.zmetadata``."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import blizzarr
from blizzarr.errors import MetadataError
from blizzarr.formats.consolidated import Consolidated
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta, GroupMeta

Z = {"zarr_format": 2}
ARRAY = {
    "zarr_format": 2,
    "shape": [4, 4],
    "chunks": [2, 2],
    "dtype": "<f4",
    "compressor": {"id": "zlib", "level": 1},
    "fill_value": 0,
    "order": "C",
    "filters": None,
}
NAMED = {"_ARRAY_DIMENSIONS": ["y", "x"]}
STORED = {
    "metadata": {
        ".zattrs": {"title": "t"},
        ".zgroup": Z,
        "g/.zgroup": Z,
        "g/.nczgroup": {"kept": True},
        "g/x/.zarray": ARRAY,
        "g/x/.zattrs": NAMED,
    },
    "zarr_consolidated_format": 1,
}


def documents(stored: Any = STORED, path: str = "r") -> dict[str, bytes]:
    raw = stored if isinstance(stored, bytes) else json.dumps(stored, indent=4).encode()
    parts = {".zgroup": json.dumps(Z).encode(), ".zattrs": b'{"title": "t"}', ".zmetadata": raw}
    return {f"{path}/{name}": value for name, value in parts.items()}


def group(stored: Any = STORED) -> GroupMeta:
    meta = V2.decode("r", documents(stored))
    assert isinstance(meta, GroupMeta)
    return meta


def nodes(meta: GroupMeta) -> Consolidated:
    assert isinstance(meta.consolidated, Consolidated)
    return meta.consolidated


def test_read() -> None:
    """V-1: nodes by their path, with attributes and names of dimensions; the group itself is not among them."""
    below = nodes(group())
    assert list(below) == ["g", "g/x"]
    assert below["g"] == GroupMeta(format="v2")
    array = below["g/x"]
    assert isinstance(array, ArrayMeta)
    assert (array.shape, array.dimension_names, array.attributes) == ((4, 4), ("y", "x"), NAMED)
    assert dict(below.below("g")) == {"x": array}
    assert dict(pickle.loads(pickle.dumps(below))) == dict(below)


def test_written() -> None:
    """V-1: as zarr-python has them: the documents of all nodes by their keys, and those of the group itself."""
    below = dict(nodes(group()))
    raw = V2.encode(GroupMeta({"a": 1}, below, format="v2"), "")
    metadata = {
        ".zattrs": {"a": 1},
        ".zgroup": Z,
        "g/.zgroup": Z,
        "g/x/.zattrs": NAMED,
        "g/x/.zarray": ARRAY,
    }
    assert json.loads(raw[".zmetadata"]) == {"zarr_consolidated_format": 1, "metadata": metadata}
    again = V2.decode("", raw)
    assert isinstance(again, GroupMeta)
    assert dict(nodes(again)) == below
    bare = V2.encode(GroupMeta({}, {}, format="v2"), "")
    assert json.loads(bare[".zmetadata"]) == {"zarr_consolidated_format": 1, "metadata": {".zgroup": Z}}


def test_unchanged() -> None:
    """Nothing is touched where nothing has changed, and the document goes with the metadata in it."""
    meta = group()
    assert V2.encode(meta, "r") == documents()
    assert V2.encode(meta.with_consolidated(None), "r").keys() == documents().keys() - {"r/.zmetadata"}


def test_new_attributes_of_the_group_are_copied() -> None:
    """Other readers take those of the group from here too; the rest stays as it was, also what nobody knows."""
    new = V2.encode(group().with_attributes({"title": "new"}), "r")
    assert new["r/.zgroup"] == documents()["r/.zgroup"]
    wanted = {**STORED, "metadata": {**STORED["metadata"], ".zattrs": {"title": "new"}}}  # type: ignore[dict-item]
    assert json.loads(new["r/.zmetadata"]) == wanted
    assert list(json.loads(new["r/.zmetadata"])["metadata"]) == list(STORED["metadata"])


def test_the_part_below_a_group() -> None:
    """What is below an inner group can be stored there, with problems placed where it came from."""
    broken = json.loads(json.dumps(STORED))
    broken["metadata"]["g/y/.zarray"] = {**ARRAY, "order": "x"}
    inner = nodes(group(broken)).below("g")
    raw = V2.encode(GroupMeta({}, inner, format="v2"), "g")
    assert list(json.loads(raw["g/.zmetadata"])["metadata"]) == [".zgroup", "x/.zarray", "x/.zattrs", "y/.zarray"]
    with pytest.raises(MetadataError, match=r'metadata\["g/y/.zarray"\].order: expected "C" or "F", found "x"'):
        inner["y"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"zarr_consolidated_format": 1, "metadata": {"../x/.zgroup": 1}}'])
def test_a_damaged_document_does_not_hide_the_group(raw: bytes) -> None:
    """row 64: the group opens; who asks for a node is told, with what to do; the group can be changed."""
    meta = group(raw)
    assert meta.attributes == {"title": "t"}
    for _ in range(2):
        with pytest.raises(MetadataError) as caught:
            list(nodes(meta))
        assert caught.value.key == "r/.zmetadata"
        assert "use_consolidated=False" in caught.value.__notes__[0]
    changed = V2.encode(meta.with_attributes({"a": 1}), "r")
    assert json.loads(changed["r/.zattrs"]) == {"a": 1}
    assert "r/.zmetadata" not in V2.encode(meta.with_consolidated(None), "r")


def test_a_damaged_node_hides_no_other() -> None:
    """row 65: it is an error when it is asked for, and stays as it is when the group is stored again."""
    broken = json.loads(json.dumps(STORED))
    broken["metadata"]["bad/.zarray"] = {"zarr_format": 9}
    meta = group(broken)
    assert nodes(meta)["g/x"] == nodes(group())["g/x"]
    with pytest.raises(MetadataError, match=r'metadata\["bad/.zarray"\].zarr_format: expected 2, found 9') as caught:
        nodes(meta)["bad"]
    assert caught.value.key == "r/.zmetadata"
    written = json.loads(V2.encode(meta.with_attributes({}), "r")["r/.zmetadata"])
    assert written["metadata"]["bad/.zarray"] == {"zarr_format": 9}


def test_nothing_is_parsed_before_it_is_needed() -> None:
    """Opening a group does not wait for documents of a whole hierarchy, nor does a node for the others."""
    meta = group(b'{"zarr_consolidated_format": 1, "metadata": {"a/.zgroup": {}, "b/.zgroup": {"zarr_format": 2}}}')
    assert "b" in nodes(meta)
    assert nodes(meta)["b"] == GroupMeta(format="v2")
    with pytest.raises(MetadataError):
        nodes(meta)["a"]


def test_changing_a_node_does_not_change_what_was_parsed() -> None:
    """Attributes of a node belong to who got it."""
    meta = group()
    node = nodes(meta)["g/x"]
    node.attributes["_ARRAY_DIMENSIONS"].append("z")
    assert (
        json.loads(V2.encode(meta.with_attributes({"b": 1}), "r")["r/.zmetadata"])["metadata"]["g/x/.zattrs"] == NAMED
    )


def test_nodes_of_other_formats() -> None:
    """Copies are of documents of v2; a hierarchy that has others too cannot be consolidated."""
    with pytest.raises(MetadataError, match=r'metadata\["x"\]: expected a node of v2.* found "v3"'):
        V2.encode(GroupMeta({}, {"x": GroupMeta(format="v3")}, format="v2"), "")


def test_copies_of_groups_do_not_get_the_member_that_zarr_python_writes() -> None:
    """In a document, zarr-python 3 would take it for the truth, and show a group without members."""
    inner = {"zarr_format": 2, "consolidated_metadata": {"metadata": {}, "must_understand": False, "kind": "inline"}}
    copies = {"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, "a/.zgroup": inner}}
    store = {
        ".zgroup": b'{"zarr_format":2}',
        "a/.zgroup": b'{"zarr_format":2}',
        ".zmetadata": json.dumps(copies).encode(),
    }
    made: dict[str, Any] = {}
    blizzarr.copy(store, made)
    assert json.loads(made["a/.zgroup"]) == {"zarr_format": 2}
    assert not blizzarr.check(store).findings

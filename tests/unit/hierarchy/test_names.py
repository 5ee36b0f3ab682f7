"""Which names nodes may have is for their format to say."""

from __future__ import annotations

import pytest

import blizzarr
from blizzarr.errors import MetadataError, PathError
from blizzarr.formats import FORMATS
from blizzarr.model import GroupMeta

XARRAY = "__xarray_dataarray_variable__"
"""What xarray calls an array without a name."""


def test_names_of_v2() -> None:
    """V-1: two underscores at the start, and three dots, are no special names."""
    store: dict[str, bytes] = {}
    root = blizzarr.create_group(store, zarr_format=2)
    for name in (XARRAY, "...", "a/__b"):
        root.create_array(name, shape=(2,), dtype="u1")[...] = 7
    assert list(root) == ["...", XARRAY, "a"]
    assert XARRAY in root
    assert root[XARRAY][0] == root["a/__b"][0] == root["..."][0] == 7
    assert blizzarr.create_array(store, name="a/__c", shape=(2,), dtype="u1").metadata.format == "v2"
    del root[XARRAY]
    assert XARRAY not in root
    for name in ("..", ".", "", "a//b", "a\\b", ".zarray"):
        with pytest.raises(PathError, match=r"a name may not|expected the name"):
            root.create_group(name)


def test_names_of_v3() -> None:
    """F-7: they are reserved there."""
    root = blizzarr.create_group({})
    for name in (XARRAY, "...", "a/__b"):
        with pytest.raises(PathError, match="a name may not"):
            root.create_group(name)
    assert list(root.store.list()) == ["zarr.json"]


@pytest.mark.parametrize(("form", "name"), [("v3", "a/__x"), ("v2", "a/.."), ("v3_draft", "größe")])
def test_what_cannot_be_stored_is_said_before(form: str, name: str) -> None:
    """A format that cannot have the name of a node refuses to make its documents."""
    with pytest.raises(MetadataError, match="the path: expected names"):
        FORMATS[form].encode(GroupMeta(format=form), name)


def test_copies_into_a_format_without_such_names() -> None:
    """The node is named, and nothing is stored."""
    root = blizzarr.create_group({}, zarr_format=2)
    root.create_array(f"g/{XARRAY}", shape=(2,), dtype="u1")
    target: dict[str, bytes] = {}
    with pytest.raises(MetadataError, match=rf"/g/{XARRAY}: the path: expected names that this format allows"):
        blizzarr.copy(root, target, zarr_format=3)
    assert target == {}

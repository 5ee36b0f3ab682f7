"""Chunks and shards of a copy, given for dimensions and arrays by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import api
from blizzarr.array import Array
from blizzarr.errors import MetadataError
from blizzarr.group import Group


@pytest.fixture(params=["v3", "v2"])
def source(request: pytest.FixtureRequest) -> Group:
    root = api.create_group({}, zarr_format=request.param)
    root.create_array(
        "rain", data=np.arange(20 * 9 * 6, dtype="i4").reshape(20, 9, 6), chunks=5, dimension_names=["time", "y", "x"]
    )
    root.create_array("deep/y", data=np.arange(9), chunks=5, dimension_names=["y"])
    root.create_array("none", data=np.arange(9), chunks=5)
    return root


def layouts(root: Array | Group) -> dict[str, tuple[Any, Any]]:
    assert isinstance(root, Group)
    return {name: (node.chunks, node.shards) for name, node in root.walk() if isinstance(node, Array)}


def contents(root: Array | Group) -> dict[str, Any]:
    assert isinstance(root, Group)
    return {name: node[...].tolist() for name, node in root.walk() if isinstance(node, Array)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"chunks": {"time": 4, "x": -1}},
            {"rain": ((4, 5, 6), None), "deep/y": ((5,), None), "none": ((5,), None)},
        ),
        (
            {"chunks": {"time": 4, "y": 3}, "shards": {"time": 8}},
            {"rain": ((4, 3, 5), (8, 3, 5)), "deep/y": ((3,), None), "none": ((5,), None)},
        ),
        (
            {"chunks": {"/rain": (20, 3, 6), "y": 9}, "shards": {"/rain": {"y": 6}}},
            {"rain": ((20, 3, 6), (20, 6, 6)), "deep/y": ((9,), None), "none": ((5,), None)},
        ),
        (
            {"chunks": {"/deep/y": 2, "/none": "8B"}},
            {"rain": ((5, 5, 5), None), "deep/y": ((2,), None), "none": ((1,), None)},
        ),
        (
            {"shards": {"y": -1}},
            {"rain": ((5, 5, 5), (5, 10, 5)), "deep/y": ((5,), (10,)), "none": ((5,), None)},
        ),
    ],
)
def test_only_what_is_named_changes(
    source: Group, options: dict[str, Any], expected: dict[str, tuple[Any, Any]]
) -> None:
    """Arrays and dimensions that are not mentioned keep their lengths, and the elements are the same."""
    made = api.copy(source, {}, zarr_format="v3", **options)
    assert layouts(made) == expected
    assert contents(made) == contents(source)


def test_shards_stay_in_whole_chunks() -> None:
    """Of what has shards already, those along other dimensions keep about their length."""
    source = api.create_array({}, data=np.zeros((12, 12)), chunks=2, shards=6, dimension_names=["y", "x"])
    made = api.copy(source, {}, chunks={"y": 4})
    assert isinstance(made, Array)
    assert (made.chunks, made.shards) == ((4, 2), (8, 6))
    made = api.copy(source, {}, chunks={"y": 4}, shards={"x": 12})
    assert isinstance(made, Array)
    assert (made.chunks, made.shards) == ((4, 2), (8, 12))
    made = api.copy(source, {}, chunks={"/": {"x": 3}}, shards=None)
    assert isinstance(made, Array)
    assert (made.chunks, made.shards) == ((2, 3), None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunks": {"tme": 4}}, r"^chunks: expected the name of a dimension, found 'tme'; did you mean 'time'\?$"),
        ({"chunks": {"q": 4}}, "found 'q'; there are y, time, x$"),
        ({"shards": {"/ran": 4}}, r"^shards: expected the path of an array.*'/ran'; did you mean '/rain'\?$"),
        ({"chunks": {"/deep/y": {"x": 4}}}, r"^chunks\['/deep/y'\]: .* dimension, found 'x'; there are y$"),
        ({"chunks": {"/none": {"x": 4}}}, "found 'x'; there are none$"),
        ({"chunks": {0: 4}}, "found 0; there are y, time, x$"),
    ],
)
def test_names_that_are_not_there(source: Group, options: dict[str, Any], message: str) -> None:
    """A misspelled name would change nothing, which nobody would notice."""
    values: dict[str, bytes] = {}
    with pytest.raises(ValueError, match=message):
        api.copy(source, values, **options)
    assert values == {}


def test_lengths_that_are_wrong(source: Group) -> None:
    """All are told at once, each with its array."""
    with pytest.raises(MetadataError) as caught:
        api.copy(source, {}, chunks={"y": 0, "/none": (3, 3)})
    said = str(caught.value)
    assert "/rain: chunks[1]: expected an integer of at least 1, or -1 for the whole axis, found 0" in said
    assert "/deep/y: chunks[0]" in said
    assert "/none: chunks: expected 1 length, one for each dimension" in said
    assert "Name the dimensions, or the path of an array, to which the lengths belong." in said


def test_numpy_arrays_by_their_paths(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", a=np.zeros((4, 4)), b=np.zeros(4))
    made = api.copy(tmp_path / "d.npz", {}, chunks={"/a": (2, -1)})
    assert layouts(made) == {"a": ((2, 4), None), "b": ((4,), None)}

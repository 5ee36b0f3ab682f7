"""Replacing what is there: nothing is removed that is still needed, and nothing before it is known what comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import api
from blizzarr.errors import NodeNotFoundError, PathError
from blizzarr.stores import ForeignStore, LocalStore, MappingStore

VALUES = np.arange(10)

ONTO_ITSELF: dict[str, Callable[[Any, Any], object]] = {
    "group[name] = array": lambda target, array: api.open_group(target).__setitem__("x", array),
    "create_array": lambda target, array: api.create_array(target, name="x", data=array, overwrite=True, chunks=3),
    "open_array": lambda target, array: api.open_array(target, path="x", mode="w", data=array),
    "save": lambda target, array: api.save(target, x=array),
    "save_array": lambda target, array: api.save_array(target, array, path="x"),
    "save_array above": lambda target, array: api.save_array(target, array),
}


@pytest.mark.parametrize("replace", ONTO_ITSELF.values(), ids=ONTO_ITSELF)
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_an_array_put_in_its_own_place_is_refused(tmp_path: Path, replace: Callable[..., object], mode: Any) -> None:
    """What is replaced goes first, so there would be nothing left to copy; through whatever handle."""
    target = tmp_path / "a.zarr"
    api.create_array(target, name="x", data=VALUES)
    (tmp_path / "link").symlink_to(target)
    for source in (target, tmp_path / "link"):
        with pytest.raises(ValueError, match="removed before it is copied"):
            replace(target, api.open_array(source, path="x", mode=mode))
    np.testing.assert_array_equal(api.load(target, path="x"), VALUES)


@pytest.mark.parametrize("handle", [MappingStore, ForeignStore])
def test_two_handles_of_one_place(handle: Callable[[Any], Any]) -> None:
    """Of memory it is told, too."""
    values: Any = {} if handle is MappingStore else LocalLike()
    array = api.create_array(handle(values), name="x", data=VALUES)
    with pytest.raises(ValueError, match="removed before it is copied"):
        api.create_array(handle(values), name="x", data=array, overwrite=True)
    np.testing.assert_array_equal(array[:], VALUES)


class LocalLike:
    """A store of somebody else."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.get = self.values.get

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        self.values.pop(key, None)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]


def test_a_neighbour_may_be_copied(tmp_path: Path) -> None:
    """Another array of the same group, also one whose name begins alike."""
    group = api.create_group(tmp_path / "a.zarr")
    group["x"] = VALUES
    group["xy"] = group["x"]
    group["x"] = group["xy"]
    np.testing.assert_array_equal(group["x"][:], VALUES)


@pytest.mark.parametrize(
    "replace",
    [
        lambda target: api.create_array(target, name="x", data=np.array(["a"]), dtype="int32", overwrite=True),
        lambda target: api.save(target, x=np.arange(2), y=np.array(["a", 1.5], object)),
        lambda target: api.save(target, x=np.arange(2), y=["a", "\ud800"]),
        lambda target: api.create_array(
            target, name="x", data=api.array(np.zeros(3, "V3")), dtype="M8[s]", overwrite=True
        ),
    ],
)
def test_data_that_do_not_fit_remove_nothing(tmp_path: Path, replace: Callable[[Path], object]) -> None:
    """Nothing is half-changed after an error."""
    target = tmp_path / "a.zarr"
    api.create_array(target, name="x", data=VALUES)
    with pytest.raises((ValueError, TypeError)):
        replace(target)
    np.testing.assert_array_equal(api.load(target, path="x"), VALUES)


def test_paths_that_are_none() -> None:
    """As zarr-python's users pass it, None is the root."""
    values: dict[str, bytes] = {}
    assert api.create_group(values, path=None).name == "/"
    assert api.open(values, path=None).name == "/"
    api.save({}, VALUES, path=None)
    assert api.create((2,), path=None).name == "/"


def test_paths_may_be_names() -> None:
    """A node is opened and created by what its `name` shows."""
    values: dict[str, bytes] = {}
    made = api.create_array(values, name="/a/b", data=VALUES)
    assert (made.name, made.path) == ("/a/b", "a/b")
    np.testing.assert_array_equal(api.open(values, path=made.name)[...], VALUES)
    assert api.open(values, path="/").name == "/"
    with pytest.raises(PathError, match="absolute"):
        api.open(values, path="//a")


def test_the_format_may_be_said(tmp_path: Path) -> None:
    """`zarr_format` is no name of an array, and allowed where something is opened."""
    for store in ({}, LocalStore(tmp_path)):
        api.save(store, VALUES, zarr_format=3)
        assert api.open(store, mode="r", zarr_format=3).shape == (10,)
        assert api.open_array(store, mode="r+", zarr_format=3).shape == (10,)
        assert api.open_array(store, zarr_format=3).shape == (10,)
    for call in (api.save, api.save_array):
        values: dict[str, Any] = {}
        call(values, VALUES, zarr_format=2)
        assert ".zarray" in values
    with pytest.raises(NodeNotFoundError):
        api.open(store, mode="r", zarr_format=2)


def test_lengths_of_numpy() -> None:
    """NumPy's integers are lengths as good as others."""
    length: Any = np.int64(3)
    assert api.create_array({}, data=[1, 2, 3], shape=length, chunks=length, shards=np.int64(6)).shards == (6,)
    group = api.create_group({})
    group.require_array("a", shape=length)
    assert group.require_array("a", shape=length).shape == (3,)

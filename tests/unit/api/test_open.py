"""Opening and making: what each mode does, on each kind of store, and what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import api
from blizzarr.array import Array
from blizzarr.caching import CachePool
from blizzarr.config import config
from blizzarr.errors import (
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    ReadOnlyError,
    StoreError,
    UnknownExtensionError,
)
from blizzarr.group import Group
from blizzarr.stores import LocalStore, MemoryStore, ZipStore
from blizzarr.stores.readonly import read_only

MODES: tuple[Any, ...] = ("r", "r+", "a", "w", "w-")


@pytest.fixture(params=["directory", "memory", "mapping", "zip"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A new place of each kind."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "mapping":
        return {}
    return tmp_path / ("data.zip" if request.param == "zip" else "data.zarr")


@pytest.mark.parametrize("mode", MODES)
def test_modes_where_nothing_is(mode: Any) -> None:
    """r and r+ need something to be there; the others make it."""
    values: dict[str, bytes] = {}
    if mode in ("r", "r+"):
        for opener in (api.open, api.open_array, api.open_group):
            with pytest.raises(NodeNotFoundError, match="no array or group here"):
                opener(values, mode=mode)
        assert values == {}
        return
    assert isinstance(api.open(values, mode=mode), Group)
    assert isinstance(api.open_array({}, mode=mode, shape=3, dtype="u1"), Array)
    assert isinstance(api.open({}, mode=mode, shape=3, dtype="u1"), Array)
    assert isinstance(api.open_group({}, mode=mode), Group)


@pytest.mark.parametrize("mode", MODES)
def test_modes_where_an_array_is(mode: Any) -> None:
    """r, r+ and a open it; w replaces it; w- refuses and changes nothing."""
    values: dict[str, bytes] = {}
    api.save(values, np.arange(3))
    before = dict(values)
    if mode == "w-":
        for opener in (api.open, api.open_group):
            with pytest.raises(NodeExistsError, match=r"something is here already .*; mode='w' replaces it$"):
                opener(values, mode=mode)
        assert values == before
    elif mode == "w":
        assert isinstance(api.open(values, mode=mode), Group)
        assert list(values) == ["zarr.json"]
    else:
        opened = api.open(values, mode=mode)
        assert isinstance(opened, Array)
        assert opened[:].tolist() == [0, 1, 2]
        assert opened.read_only == (mode == "r")
        with pytest.raises(NodeTypeError, match="expected a group, found an array"):
            api.open_group(values, mode=mode)
        assert values == before


def test_an_array_where_a_group_is() -> None:
    """The reverse is told too."""
    values: dict[str, bytes] = {}
    api.create_group(values)
    with pytest.raises(NodeTypeError, match="expected an array, found a group"):
        api.open_array(values, mode="r")


def test_round_trip_on_every_store(target: Any) -> None:
    """What is saved is loaded, and can be changed unless it was opened for reading."""
    data = np.arange(24, dtype="int16").reshape(4, 6)
    api.save(target, data, path="a/b")
    assert np.array_equal(api.load(target, path="a/b"), data)
    array = api.open_array(target, mode="r+", path="a/b")
    array[1:3, ::2] = -1
    data[1:3, ::2] = -1
    array.attrs["units"] = "K"
    array.store.flush()
    again = api.open(target, mode="r", path="a/b")
    assert isinstance(again, Array)
    assert np.array_equal(again[...], data)
    assert again.attrs["units"] == "K"
    for change in (lambda: again.__setitem__(0, 1), lambda: again.attrs.update(a=1), lambda: again.resize((1, 1))):
        with pytest.raises(ReadOnlyError):
            change()
    assert np.array_equal(again[...], data)


def test_opening_is_not_making(tmp_path: Path) -> None:
    """A mistyped path is an error by default, and makes nothing (row 89)."""
    with pytest.raises(NodeNotFoundError, match=r"No such file or directory$") as caught:
        api.open(tmp_path / "typo.zarr")
    # The path comes first: the root of a store has no other name.
    assert str(caught.value).startswith(f"{tmp_path / 'typo.zarr'}: no array or group here: ")
    with pytest.raises(NodeNotFoundError):
        api.open_array(tmp_path / "typo.zarr")
    with pytest.raises(NodeNotFoundError):
        api.load(tmp_path / "typo.zarr")
    assert list(tmp_path.iterdir()) == []


def test_a_misspelled_member_in_a_path_says_what_the_group_has(tmp_path: Path) -> None:
    """As `path=` does, although the directory that does not exist is a store of its own."""
    group = api.create_group(tmp_path / "d.zarr")
    group.create_array("temperature", shape=3, dtype="int8")
    group.create_group("sub")
    there = rf"directory; did you mean 'temperature'\? The group {tmp_path / 'd.zarr'} has sub, temperature$"
    for wrong in ("temprature", "temprature/more"):
        with pytest.raises(NodeNotFoundError, match=there):
            api.open(tmp_path / "d.zarr" / wrong)
    with pytest.raises(NodeNotFoundError, match=f"the group {tmp_path / 'd.zarr' / 'sub'} has no members$"):
        api.open(tmp_path / "d.zarr/sub/t")
    below = f"{tmp_path / 'd.zarr/temperature'} is an array, which has nothing below it"
    with pytest.raises(NodeNotFoundError, match=below):
        api.open(tmp_path / "d.zarr/temperature/0")


def test_a_confined_store_says_nothing_about_what_is_above_it(tmp_path: Path) -> None:
    api.create_group(tmp_path / "d.zarr").create_group("secret")
    with pytest.raises(NodeNotFoundError, match=r"No such file or directory$"):
        api.open(LocalStore(tmp_path / "d.zarr" / "x", links="within-root"))


def test_options_where_nothing_is_made() -> None:
    """r and r+ make nothing, so options are a mistake; elsewhere they must be options."""
    values: dict[str, bytes] = {}
    api.save(values, np.arange(3))
    for opens in (api.open, api.open_array):
        with pytest.raises(TypeError, match="unexpected keyword arguments: shpe; did you mean 'shape'"):
            opens(values, mode="a", shpe=(5,))
        assert opens(values, mode="a", shape=(5,), dtype="int8", data=None, attributes={}).shape == (3,)
    for mode in ("r", "r+", "a"):
        with pytest.raises(TypeError, match=r"for 'storage_options', pass FsspecStore.from_url"):
            api.open("nothing.zarr", mode=mode, storage_options={})
    with pytest.raises(TypeError, match="shape would be for creating one"):
        api.open(values, mode="r", shape=3)


def test_w_replaces_and_keeps_what_is_not_ours(tmp_path: Path) -> None:
    """Row 77: chunks of the old array go, files of others stay."""
    place = tmp_path / "x.zarr"
    api.save(place, np.arange(1, 100))
    (place / "notes.txt").write_text("mine")
    (place / "1").write_text("mine too")
    with pytest.raises(NodeExistsError, match=r"not ours: 1, notes\.txt;"):
        api.open_array(place, mode="w", shape=50, dtype="i8")
    assert api.open_array(place)[:].tolist() == list(range(1, 100))
    with config.set(keep_foreign_files=True):
        array = api.open_array(place, mode="w", shape=50, dtype="i8")
    assert array[:].tolist() == [0] * 50
    assert sorted(path.name for path in place.iterdir() if path.is_file()) == ["1", "notes.txt", "zarr.json"]


@pytest.mark.parametrize("document", [b"", b"{", b"[]", b'{"zarr_format": 9}'])
def test_something_unreadable_is_not_replaced(document: bytes) -> None:
    """Row 66: making refuses, opening says what is wrong, only "w" replaces."""
    values = {"zarr.json": document}
    for make in (
        lambda: api.create_array(values, shape=3, dtype="u1"),
        lambda: api.create_group(values),
        lambda: api.open_group(values, mode="w-"),
    ):
        with pytest.raises(NodeExistsError):
            make()
    for opener in (lambda: api.open(values), lambda: api.open_group(values), lambda: api.group(values)):
        with pytest.raises(MetadataError, match=r"zarr\.json"):
            opener()
    assert values == {"zarr.json": document}
    assert api.create_array(values, shape=3, dtype="u1", overwrite=True).shape == (3,)


def test_zip_that_is_not_closed_yet(tmp_path: Path) -> None:
    """A group of a zip file is a context manager; before it is closed the file is not there."""
    place = tmp_path / "x.zip"
    with api.open_group(place, mode="w") as root:
        root["a"] = np.arange(4)
        with pytest.raises((StoreError, NodeNotFoundError)):
            api.open(place, mode="r")
    assert api.load(place)["a"].tolist() == [0, 1, 2, 3]
    with pytest.raises(StoreError, match="cannot delete"), api.open_group(place, mode="a") as root:
        del root["a"]
    assert ZipStore(place).get("a/zarr.json") is not None


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zip_with_consolidated_metadata_can_change(tmp_path: Path, zarr_format: Any) -> None:
    """Although nothing is deleted from a zip file, a document of its own leaves the directory."""
    place = tmp_path / "x.zip"
    with api.open_group(place, mode="w", zarr_format=zarr_format) as root:
        root["a"] = np.arange(4)
        api.consolidate_metadata(root.store)
    with api.open_group(place, mode="a") as root:
        with pytest.raises(ReadOnlyError):
            read_only(root.store).unlist(".zmetadata")
        root.cached(CachePool(1 << 20))["b"] = np.arange(5)
        root["a"].append([4])
    with api.open_group(place, mode="r") as root:
        assert root.metadata.consolidated is None
        assert {name: z[:].tolist() for name, z in root.arrays()} == {"a": list(range(5)), "b": list(range(5))}


def test_formats_that_there_are_not() -> None:
    """Another zarr_format is refused by name, before anything is stored."""
    values: dict[str, bytes] = {}
    for wrong in (4, "v4", "3.0", True, 2.5):
        with pytest.raises(UnknownExtensionError, match="zarr_format"):
            api.create_group(values, zarr_format=wrong)  # type: ignore[arg-type]
    assert values == {}


@pytest.mark.parametrize("zarr_format", [2, "v2", "2"])
def test_only_what_has_this_format(zarr_format: int | str) -> None:
    """Of two at one path the newest counts, with a warning; the other is opened by name."""
    values: dict[str, bytes] = {}
    api.create_array(values, data=[1, 2], zarr_format=zarr_format)
    api.create_array(values, shape=3, dtype="int8", zarr_format=3, overwrite=True)
    other: dict[str, bytes] = {}
    api.create_array(other, data=[1, 2], zarr_format=zarr_format)
    values |= other
    with pytest.warns(UserWarning, match=r"in two formats: zarr.json \(v3\) counts, .zarray is ignored"):
        assert api.open(values).shape == (3,)
    assert api.open(values, zarr_format=zarr_format)[:].tolist() == [1, 2]
    del values["zarr.json"]
    with pytest.raises(NodeNotFoundError, match=r"looked for zarr.json \(v3\)$"):
        api.open(values, zarr_format=3)


@pytest.mark.parametrize("zarr_format", ["v3_draft", "v3_draft_zarr_python"])
def test_the_path_of_a_node_that_has_no_directory(tmp_path: Path, zarr_format: str) -> None:
    """D-124: a hierarchy of the draft is opened at its root, which is found from the path of a node in it."""
    root = tmp_path / "deep" / "h.zarr"
    api.create_array(root, name="a/b/c", data=[1, 2, 3], zarr_format=zarr_format)
    array = api.open(root / "a" / "b" / "c", mode="r")
    assert (array.path, array[:].tolist(), array.read_only) == ("a/b/c", [1, 2, 3], True)
    group = api.open_group(root / "a", path="b", mode="r+")
    assert (group.path, list(group)) == ("a/b", ["c"])
    with pytest.raises(NodeNotFoundError):
        api.open(root / "a" / "nothing")
    with pytest.raises(NodeNotFoundError):
        api.open(tmp_path / "nothing")
    other = tmp_path / "v3.zarr"
    api.create_group(other)
    with pytest.raises(NodeNotFoundError):
        api.open(other / "nothing")


def test_consolidating_a_group_below_a_group() -> None:
    """The path was not looked at, and the metadata of the group above were consolidated."""
    values: dict[str, bytes] = {}
    root = api.create_group(values)
    root.create_group("a").create_array("x", data=[1])
    assert list(api.consolidate_metadata(root, path="a").metadata.consolidated or {}) == ["x"]
    assert api.open_group(values).metadata.consolidated is None
    with pytest.raises(NodeTypeError, match="expected a group, found an array"):
        api.consolidate_metadata(root, path="a/x")


def test_only_consolidated_metadata_of_this_format() -> None:
    """`load`, `open_consolidated` and `consolidate_metadata` take the format, as all functions that open."""
    values: dict[str, bytes] = {}
    root = api.create_group(values, zarr_format=2)
    root.create_array("x", data=[1, 2])
    for store in (values, root):
        assert list(api.consolidate_metadata(store, zarr_format=2).metadata.consolidated or {}) == ["x"]
        with pytest.raises(NodeNotFoundError, match=r"looked for zarr.json \(v3\)"):
            api.consolidate_metadata(store, zarr_format=3)
    assert api.open_consolidated(values, zarr_format=2)["x"].shape == (2,)
    assert api.load(values, path="x", zarr_format=2).tolist() == [1, 2]  # type: ignore[union-attr]
    for function in (api.open_consolidated, api.load):
        with pytest.raises(NodeNotFoundError, match=r"looked for zarr.json \(v3\)"):
            function(values, zarr_format=3)


def test_consolidated_metadata_under_another_key() -> None:
    """In zarr-python a string is the key of the document; here it counted as True."""
    root = api.consolidate_metadata(api.create_group({}, zarr_format=2))
    with pytest.raises(TypeError, match=r"^expected use_consolidated=True, False or None, found '\.zmeta2'; "):
        api.open_group(root.store, use_consolidated=".zmeta2")  # type: ignore[arg-type]


def test_a_mistyped_group_is_not_created(tmp_path: Path) -> None:
    """Without a mode, a group is opened only; new memory, attributes, and mode "a" say that one is to be created."""
    (tmp_path / "data.zarr").mkdir()
    message = r"No such file or directory; did you mean 'data.zarr'\?; mode='a' creates a group$"
    with pytest.raises(NodeNotFoundError, match=message):
        api.open_group(tmp_path / "dta.zarr")
    assert os.listdir(tmp_path) == ["data.zarr"]
    with pytest.raises(NodeNotFoundError, match=r"did you mean 'data.zarr'\?$"):
        api.open_group(tmp_path / "dta.zarr", mode="r")
    assert api.open_group().nmembers() == 0
    assert api.open_group({}, attributes={"a": 1}).attrs["a"] == 1
    assert api.open_group({}, mode="a").nmembers() == 0


def test_a_path_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tilde in front is expanded, as the shell would."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    api.save("~/a.zarr", np.arange(3))
    api.copy("~/a.zarr", "~/a.zip")
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "a.zip"]
    assert api.open_array("~/a.zip", mode="r")[...].tolist() == [0, 1, 2]
    assert LocalStore("~/a.zarr").root == tmp_path / "a.zarr"
    assert ZipStore("~/a.zip").path == tmp_path / "a.zip"
    np.save(tmp_path / "b.npy", np.arange(2))
    assert api.copy("~/b.npy", {})[...].tolist() == [0, 1]

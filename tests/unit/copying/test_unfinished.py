"""Copies that are not finished: whoever opens, checks or copies them hears that elements are missing."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.errors import BlizzarrError, ConflictError, NodeExistsError
from blizzarr.stores import LocalStore


def interrupt(dest: Any, path: str = "", **options: Any) -> Any:
    """Copy a group of one array, in part, and return the group."""
    source = blizzarr.create_group({})
    source.create_array("x", data=np.arange(1, 101), chunks=10)
    with config.set(copy_bytes=80), pytest.raises(ZeroDivisionError):
        blizzarr.copy(source, dest, path=path, chunks=5, progress=lambda done, _: done and 1 / 0, **options)
    return source


@pytest.mark.parametrize("made", [lambda path: path / "a.zarr", lambda _: {}], ids=["directory", "mapping"])
@pytest.mark.parametrize("path", ["", "b"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_opening_warns(tmp_path: Path, made: Any, path: str, zarr_format: Any) -> None:
    """It read as zeros, and nothing said so."""
    dest = made(tmp_path)
    source = interrupt(dest, path, zarr_format=zarr_format)
    name = f"{path}/x".strip("/")
    for mode in ("r", "r+", "a"):
        for where in (path, name):
            # An array that is opened again and again is remembered.
            for _ in range(3):
                with pytest.warns(UserWarning, match="is an unfinished copy, .* resume=True finishes it") as told:
                    blizzarr.open(dest, path=where, mode=mode)
                assert len(told) == 1
    with pytest.warns(UserWarning, match="unfinished"):
        group = blizzarr.open(dest, path=path)
    with pytest.warns(UserWarning, match=f"/{name} in .* is an unfinished copy"):
        assert group["x"][:].tolist() != [*range(1, 101)]
    with warnings.catch_warnings(), config.set(copy_bytes=80):
        warnings.simplefilter("error")
        blizzarr.copy(source, dest, path=path, chunks=5, resume=True, zarr_format=zarr_format)
        assert blizzarr.open(dest, path=name)[:].tolist() == [*range(1, 101)]


def test_members_warn(tmp_path: Path) -> None:
    """An array that is copied into a group which has no record itself."""
    blizzarr.create_group(tmp_path / "a").create_group("whole")
    interrupt(tmp_path / "a", "b", zarr_format=3)
    group = blizzarr.open_group(tmp_path / "a")
    with pytest.warns(UserWarning, match="is an unfinished copy") as told:
        assert [name for name, _ in group.walk()] == ["b", "b/x", "whole"]
    assert [str(one.message).partition(" in ")[0] for one in told] == ["/b", "/b/x"]


def test_a_finished_copy_in_a_store_that_cannot_delete(tmp_path: Path) -> None:
    """Its record stays."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blizzarr.save(tmp_path / "a.zip", np.arange(10))
        blizzarr.copy(tmp_path / "a.zip", tmp_path / "b.zip", chunks=3)
        assert blizzarr.open(tmp_path / "b.zip")[9] == 9
        (tmp_path / "c").mkdir()
        blizzarr.save(tmp_path / "c", np.arange(10))
        (tmp_path / "c/blizzarr-copy.json").write_text('{"complete": true}')
        assert blizzarr.open(tmp_path / "c")[9] == 9
    assert not [name for name in zipfile.ZipFile(tmp_path / "b.zip").namelist() if "blizzarr" in name]


def test_a_check_is_not_ok() -> None:
    dest: dict[str, Any] = {}
    interrupt(dest)
    report = blizzarr.check(dest)
    assert (report.ok, report.kinds()) == (False, {"unfinished": 2})


@pytest.mark.filterwarnings("ignore:.*unfinished copy")
@pytest.mark.parametrize("path", ["", "x"])
def test_a_copy_of_it_is_refused(tmp_path: Path, path: str) -> None:
    """The copy was an ordinary array, with zeros."""
    interrupt(tmp_path / "a.zarr")
    store = LocalStore(tmp_path / "a.zarr")
    for source in (tmp_path / "a.zarr" / path, blizzarr.open(store, path=path)):
        with pytest.raises(ConflictError, match=r"unfinished copy, .*resume=True finishes it.*skip_damaged=True"):
            blizzarr.copy(source, tmp_path / "b.zarr")
    assert not (tmp_path / "b.zarr").exists()
    lost: list[BlizzarrError] = []
    made = blizzarr.copy(store, {}, path=path, skip_damaged=lost.append)
    assert len(lost) == 2
    assert made["x"][:10].tolist() == [*range(1, 11)]
    # The record of the group goes last.
    (tmp_path / "a.zarr/blizzarr-copy.json").unlink()
    with pytest.raises(ConflictError, match=r"/x in .* unfinished copy"):
        blizzarr.copy(tmp_path / "a.zarr", {})


@pytest.mark.parametrize("zarr_format", [2, 3, "v3_draft", "n5"])
def test_groups_below(tmp_path: Path, zarr_format: Any) -> None:
    """A group whose arrays had not been begun was an ordinary group without members."""
    source = blizzarr.create_group({})
    for name in ("a/x", "b/y"):
        source.create_array(name, data=np.arange(100), chunks=10)
    dest = tmp_path / "c.zarr"
    with config.set(copy_bytes=80), pytest.raises(ZeroDivisionError):
        blizzarr.copy(source, dest, zarr_format=zarr_format, chunks=5, progress=lambda done, _: done and 1 / 0)
    store = LocalStore(dest)
    with pytest.warns(UserWarning, match="/b in .* is an unfinished copy"):
        group = blizzarr.open(store, path="b")
    with pytest.raises(ConflictError, match=r"/b in .* unfinished copy"):
        blizzarr.copy(group, {})
    assert not blizzarr.check(store, path="b").ok
    with config.set(copy_bytes=80):
        blizzarr.copy(source, dest, zarr_format=zarr_format, chunks=5, resume=True)
    assert blizzarr.diff(source, blizzarr.open(dest)).same
    assert not [*dest.rglob("blizzarr-copy.json")]
    assert blizzarr.check(dest).clean


def test_resuming_into_another_group() -> None:
    """The group kept its own attributes, and those of the source were lost."""
    source = blizzarr.create_group({}, attributes={"units": "m"})
    source.create_group("a", attributes={"b": 1})
    for path in ("", "a"):
        dest = blizzarr.copy(source, {}).store
        assert blizzarr.copy(source, dest, resume=True)["a"].attrs["b"] == 1
        blizzarr.open_group(dest, path=path, mode="r+").attrs["units"] = "km"
        with pytest.raises(NodeExistsError, match="found another group"):
            blizzarr.copy(source, dest, resume=True)


def test_what_replaces_an_unfinished_copy_in_the_draft() -> None:
    """Its records stayed, as they lie in neither tree of the draft: the new array was called unfinished."""
    dest: dict[str, Any] = {}
    interrupt(dest, "a", zarr_format="v3_draft")
    with pytest.warns(UserWarning, match="unfinished"):
        root = blizzarr.open(dest, path="a")
    assert not blizzarr.check(dest, path="a").ok
    blizzarr.create_group(dest, path="a", overwrite=True, zarr_format="v3_draft").create_array("x", data=np.arange(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert blizzarr.copy(blizzarr.open(dest, path=root.path), {})["x"][:].tolist() == [0, 1, 2]
    assert blizzarr.check(dest, path="a").clean

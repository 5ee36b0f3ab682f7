"""Copies of groups that end between any two changes of the store: none passes for a whole one, and all go on."""

from __future__ import annotations

import errno
import gc
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, ConflictError, NodeExistsError
from blizzarr.stores.zip.file import AppendFile


class Kept(dict[str, Any]):
    """A mapping that keeps what it was after each change: what a program that is killed there would leave."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.states: list[dict[str, Any]] = []

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.states.append(dict(self))

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self.states.append(dict(self))


def hierarchy(zarr_format: Any, first: int = 1) -> dict[str, Any]:
    source: dict[str, Any] = {}
    group = blizzarr.create_group(source, zarr_format=zarr_format, attributes={"first": first})
    for name in ("a", "b/c", "b/d", "e"):
        group.create_array(name, data=np.arange(first, first + 6), chunks=3)
    group.create_group("f/g")
    return source


def kinds(store: Any, path: str = "") -> Iterator[str]:
    yield from blizzarr.check(store, path=path).kinds()


@pytest.mark.parametrize(
    ("zarr_format", "path"),
    [
        (3, "x/y"),
        (2, ""),
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((3, ""), (2, "x/y"))),
        *(pytest.param("v3_draft", path, marks=pytest.mark.thorough) for path in ("", "x/y")),
    ],
)
@pytest.mark.parametrize("overwrite", [False, True], ids=["new", "in place of another"])
@pytest.mark.filterwarnings("ignore:.*unfinished copy")
def test_every_state_is_reported_and_finished(zarr_format: Any, path: str, overwrite: bool) -> None:
    source = hierarchy(zarr_format)
    dest = Kept({})
    if overwrite:
        blizzarr.copy(hierarchy(zarr_format, first=20), dest, path=path)
        dest.states.clear()
    before = dict(dest)
    blizzarr.copy(source, dest, path=path, overwrite=overwrite)
    states = dest.states
    assert len(states) > 20
    assert list(kinds(dest)) == []
    begun = 0
    for number, state in enumerate(states[:-1]):
        try:
            here = blizzarr.open(state, path=path, mode="r")
        except blizzarr.errors.BlizzarrError:
            continue  # nothing is there that could pass for the copy
        if state != before and here.attrs.asdict() == {"first": 1}:
            assert "unfinished" in kinds(state), number
            begun += 1
            with pytest.raises(NodeExistsError, match="an interrupted copy is here; resume=True finishes it"):
                blizzarr.copy(source, dict(state), path=path)
            again = dict(state)
            blizzarr.copy(source, again, path=path, overwrite=True)
            assert blizzarr.diff(source, blizzarr.open(again, path=path)).same, number
            assert list(kinds(again)) == [], number
            blizzarr.copy(source, state, path=path, resume=True)
            assert blizzarr.diff(source, blizzarr.open(state, path=path)).same, number
            assert list(kinds(state)) == [], number
    assert begun > 15


def test_another_copy_does_not_go_on_with_it() -> None:
    source = hierarchy(3)
    dest = Kept({})
    blizzarr.copy(source, dest)
    state = dest.states[len(dest.states) // 2]
    for other, options in ((source, {"chunks": 2}), (hierarchy(3, first=2), {})):
        with pytest.raises(ConflictError, match="the interrupted copy that is here is another one"):
            blizzarr.copy(other, dict(state), resume=True, **options)
    assert blizzarr.diff(source, blizzarr.copy(hierarchy(3), dict(state), resume=True)).same


@pytest.mark.parametrize("there", [False, True])
def test_a_zip_file_does_not_list_the_record_in_the_end(tmp_path: Path, there: bool) -> None:
    """Nothing can be deleted there, and nothing is wrong with it."""
    if there:
        with blizzarr.stores.ZipStore(tmp_path / "x.zip", mode="a") as store:
            store.set("other.txt", b"there before")
    group = blizzarr.copy(hierarchy(3), tmp_path / "x.zip")
    assert not [key for key in group.store.list() if "blizzarr" in key]
    group.store.close()
    with zipfile.ZipFile(tmp_path / "x.zip") as packed:
        assert packed.testzip() is None
        names = packed.namelist()
    assert len(names) == len(set(names))
    assert ("other.txt" in names) == there
    assert not [name for name in names if "blizzarr" in name]
    assert list(kinds(tmp_path / "x.zip")) == (["foreign"] if there else [])
    assert blizzarr.diff(hierarchy(3), tmp_path / "x.zip").same


@pytest.mark.parametrize("is_full", [False, True])
def test_a_zip_file_is_as_it_was_left_while_the_error_is_kept(
    tmp_path: Path, is_full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, which keeps the last error, and with it the store of the copy."""
    path = tmp_path / "x.zip"
    memory: dict[str, bytes] = {}
    source = blizzarr.create_group(memory)
    for name in "ab":
        source.create_array(name, data=np.arange(16).reshape(4, 4), chunks=2)
    intact, memory["b/c/1/1"] = memory["b/c/1/1"], b""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        if is_full:
            patched.setattr(AppendFile, "append", full)
        with pytest.raises(BlizzarrError) as caught:
            blizzarr.copy(source, path, chunks=3)
    memory["b/c/1/1"] = intact
    assert [left.name for left in tmp_path.iterdir()] == ["x.zip"] * (not is_full)
    with blizzarr.copy(source, path, chunks=3, resume=True) as copied:
        del caught
        gc.collect()
        assert blizzarr.diff(source, copied).same
    assert blizzarr.diff(source, path).same
    assert blizzarr.check(path).clean


@pytest.mark.parametrize("zarr_format", [2, "v3_draft"])
def test_attributes_that_were_stored_before_their_node(zarr_format: Any) -> None:
    """They are not somebody else's, and a group that is there without its attributes gets them."""
    source: dict[str, Any] = {}
    group = blizzarr.create_group(source, zarr_format=zarr_format, attributes={"first": 1})
    group.create_group("g", attributes={"of": "group"})
    group.create_array("g/a", data=np.arange(1, 7), chunks=3, attributes={"of": "array"})
    dest = Kept({})
    blizzarr.copy(source, dest)
    for number, state in enumerate(dest.states):
        blizzarr.copy(source, state, resume=True)
        assert blizzarr.diff(source, state).same, number
        assert list(kinds(state)) == [], number

"""Faults: names that lead out, or that no file can have (rows 67, 68, 75)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, PathError
from blizzarr.stores import LocalStore
from support.damaged import STORES

ESCAPING = [
    "..", ".", "../x", "a/../../b", "a/./b", "x/..", "a//b", "a/", "a\0b", "\0",
    "..\\x", "a\\..\\..\\b", "\\\\host\\x", "C:\\x", "/etc/x", "//x", "/",
]  # fmt: skip
LITERAL = ["%2e%2e", "%2e%2e%2fx", "a%00", "..x", "x..", "...", "~", "$HOME", "C:", "*", "?", "a b", "é", "e\u0301"]

KEY_VERBS = {
    "get": lambda store, key: store.get(key),
    "get_ranges": lambda store, key: store.get_ranges(key, [(0, 1)]),
    "set": lambda store, key: store.set(key, b"x"),
    "delete": lambda store, key: store.delete(key),
    "size": lambda store, key: store.size(key) if hasattr(store, "size") else store.get(key),
    "replace": lambda store, key: store.replace(key, None, b"x"),
}
NODE_VERBS = {
    "open": lambda group, name: blizzarr.open(group.store, path=name),
    "create_array": lambda group, name: group.create_array(name, shape=1, dtype="int8"),
    "create_group": lambda group, name: group.create_group(name),
    "require_group": lambda group, name: group.require_group(name),
    "create_array by path": lambda group, name: blizzarr.create_array(group.store, name=name, shape=1, dtype="int8"),
}
BY_PATH = ("open", "create_array by path")
"""Verbs for which a path may begin with ``/``, the root of the store, as in `Group.name`."""


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file beside the root of the store, which nobody may read or change."""
    (tmp_path / "x").write_bytes(b"secret")
    (tmp_path / "b").mkdir()
    return tmp_path


def outside(tmp_path: Path) -> list[str]:
    found = [path.relative_to(tmp_path) for path in tmp_path.rglob("*")]
    return sorted(str(path) for path in found if path.parts[0] != "root")


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("verb", KEY_VERBS)
def test_rows_067_068_keys_that_lead_out(canary: Path, verb: str, kind: str) -> None:
    """At the level of raw stores: `PathError`, never stripped, nothing touched."""
    store = STORES[kind](canary / "root")
    store.set("a/b", b"value")
    for key in ESCAPING + [f"a/b/{name}" for name in ("..", "../../../x")] + [""]:
        with pytest.raises(PathError) as caught:
            KEY_VERBS[verb](store, key)
        assert caught.value.key == key
        assert caught.value.reason
    assert list(store.list()) == ["a/b"]
    assert outside(canary) == ["b", "x"]
    assert (canary / "x").read_bytes() == b"secret"


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("verb", NODE_VERBS)
def test_rows_067_068_names_that_lead_out(canary: Path, verb: str, kind: str) -> None:
    """At the level of groups."""
    group = blizzarr.create_group(STORES[kind](canary / "root"))
    for name in ESCAPING:
        if (name == "a/" and verb != "open") or (name in ("/", "/etc/x") and verb in BY_PATH):
            continue
        with pytest.raises((PathError, KeyError)) as caught:
            NODE_VERBS[verb](group, name)
        assert isinstance(caught.value, BlizzarrError), name
    assert [key for key in group.store.list() if key != "zarr.json"] == []
    assert outside(canary) == ["b", "x"]


@pytest.mark.parametrize("kind", STORES)
def test_rows_067_075_percent_forms_and_odd_names_are_literal(tmp_path: Path, kind: str) -> None:
    """Each is a name of its own; none is decoded, normalised or dropped."""
    group = blizzarr.create_group(STORES[kind](tmp_path / "root"))
    names = [name for name in LITERAL if set(name) - {"."}]
    for number, name in enumerate(names):
        group.create_array(name, shape=1, dtype="int16", fill_value=number)
    assert sorted(group.array_keys()) == sorted(names)
    assert [int(group[name][0]) for name in names] == list(range(len(names)))
    assert outside(tmp_path) == []


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("name", ["zarr.json", "__x", "", "a/zarr.json", "...", "a/__b"])
def test_row_075_names_that_the_specification_refuses(tmp_path: Path, kind: str, name: str) -> None:
    group = blizzarr.create_group(STORES[kind](tmp_path))
    with pytest.raises(BlizzarrError):
        group.create_array(name, shape=1, dtype="int8")
    assert list(group.store.list()) == ["zarr.json"]


@pytest.mark.parametrize("kind", STORES)
def test_row_075_names_that_look_like_other_things(tmp_path: Path, kind: str) -> None:
    """`c`, `.zarray`, a newline, a device of Windows, a trailing dot, names that differ only in case: all work."""
    group = blizzarr.create_group(STORES[kind](tmp_path))
    names = ["c", "0", ".zarray", ".zgroup", "line\nbreak", "CON", "nul.txt", "dot.", "space ", "A", "a", "-rf", "é"]
    for number, name in enumerate(names):
        group.create_array(name, shape=(2, 2), chunks=1, dtype="int16")[...] = number
    assert sorted(group.array_keys()) == sorted(names)
    for number, name in enumerate(names):
        assert (group[name][...] == number).all(), name
    del group["c"]
    assert sorted(group.array_keys()) == sorted(set(names) - {"c"})


@pytest.mark.skipif(sys.platform != "linux", reason="file systems elsewhere have names in Unicode only")
def test_row_075_directories_whose_names_are_not_in_unicode(tmp_path: Path) -> None:
    """An error that says what to do; what it says works."""
    directory = tmp_path / os.fsdecode(b"l\xe4b")
    directory.mkdir()
    for use in (blizzarr.open, blizzarr.create_group):
        with pytest.raises(PathError, match="expected a path in UTF-8"):
            use(directory)
    (tmp_path / "link").symlink_to(directory)
    blizzarr.save(tmp_path / "link" / "a.zarr", np.arange(3))
    blizzarr.save(directory / "a.zip", np.arange(3))
    paths = tmp_path / "link" / "a.zarr", tmp_path / "link" / "a.zip", directory / "a.zip"
    assert [blizzarr.load(path).tolist() for path in paths] == [[0, 1, 2]] * 3
    assert sorted(os.listdir(directory)) == ["a.zarr", "a.zip"]


def test_row_075_names_that_are_too_long_for_a_file(tmp_path: Path) -> None:
    """300 letters: an error that says why, in every store, so that data can move between stores."""
    for kind, make in STORES.items():
        group: Any = blizzarr.create_group(make(tmp_path / kind))
        if kind == "mapping":
            continue  # a mapping is not ours: it keeps what it can keep
        with pytest.raises(PathError, match="255"):
            group.create_array("x" * 300, shape=1, dtype="int8")
        assert list(group.store.list()) == ["zarr.json"]
        group.create_array("x" * 255, shape=1, dtype="int8")[...] = 3
        assert group["x" * 255][0] == 3


def test_row_067_names_reserved_for_values_being_written(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with pytest.raises(PathError, match="reserved"):
        store.set(".blizzarr-0000000000000001-0", b"x")
    assert list(store.list()) == []

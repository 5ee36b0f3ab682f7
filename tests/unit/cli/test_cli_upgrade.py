"""``blizzarr upgrade`` and ``--format``."""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr

Run = Callable[..., Any]
VALUES = np.arange(12).reshape(3, 4)


def a_hierarchy(place: Path, zarr_format: str = "v2") -> Path:
    root = blizzarr.create_group(place, zarr_format=zarr_format)
    root.create_array("a/b", data=VALUES, chunks=2)
    return place


@pytest.mark.parametrize("old", ["v2", "v3_draft", "v3_draft_zarr_python"])
def test_upgrade(run: Run, tmp_path: Path, old: str) -> None:
    place = a_hierarchy(tmp_path / "old.zarr", old)
    done = run("upgrade", place)
    assert done.code == 0
    assert f"1 array and 2 groups upgraded from {old} to v3" in done.out
    assert np.array_equal(blizzarr.open(place, path="a/b", zarr_format=3)[:], VALUES)
    again = run("upgrade", place)
    assert (again.code, "nothing to do" in again.out) == (0, True)


def test_dry_run(run: Run, tmp_path: Path) -> None:
    """It changes nothing, and its exit status says whether the upgrade would be possible."""
    place = a_hierarchy(tmp_path / "old.zarr")
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    planned = run("upgrade", place, "--dry-run")
    assert (planned.code, "to upgrade from v2 to v3" in planned.out) == (0, True)
    said = json.loads(run("upgrade", place, "-n", "--json").out)
    assert (said["from"], said["to"], said["done"], said["problems"]) == ("v2", "v3", False, [])
    (place / "a/b/.zarray").write_bytes(b"{")
    broken = run("upgrade", place, "--dry-run")
    assert (broken.code, "/a/b" in broken.out) == (1, True)
    (place / "a/b/.zarray").write_bytes(before[place / "a/b/.zarray"])
    assert before == {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_refusals(run: Run, tmp_path: Path) -> None:
    place = a_hierarchy(tmp_path / "old.zarr")
    inside = run("upgrade", place / "a")
    assert (inside.code, "expected the root of a hierarchy" in inside.err) == (2, True)
    nothing = run("upgrade", tmp_path / "nothing")
    assert (nothing.code, "no array or group here" in nothing.err) == (1, True)
    unknown = run("upgrade", place, "--to", "v9")
    assert (unknown.code, "expected v3, v2, v1," in unknown.err, "'v9'" in unknown.err) == (2, True, True)
    assert run("copy", place, tmp_path / "copy.zarr", "--format", "zarr3").code == 2
    assert run("create", tmp_path / "new.zarr", "--format", "4").code == 2


def test_what_cannot_be_expressed(run: Run, tmp_path: Path) -> None:
    """It is the new format that has no words for it; nothing is wrong with what is stored."""
    place = tmp_path / "old.zarr"
    blizzarr.create_group(place, zarr_format=2).create_array("a", shape=2, dtype=object, filters={"id": "json2"})
    for made in (run("upgrade", place), run("copy", place, tmp_path / "new.zarr", "--format", "v3")):
        assert made.code == 1
        assert "would not conform to v3: /a: data_type: expected a data type that is supported here" in made.err
    group = run("copy", place, tmp_path / "new.zarr", "--format", "v1")
    assert "\n  /: expected an array: v1 has no groups, found a group\n" in group.err
    sharded = tmp_path / "sharded.zarr"
    blizzarr.create_array(sharded, shape=4, dtype="int8", chunks=2, shards=4)
    assert "(--shards none leaves them out)" in run("copy", sharded, tmp_path / "new.zarr", "--format", "v2").err


def test_a_node_of_another_format_than_the_one_that_was_named(tmp_path: Path) -> None:
    place = a_hierarchy(tmp_path / "old.zarr")
    with pytest.raises(FileNotFoundError, match=r"there is one of format v2, .*; looked for zarr.json \(v3\)$"):
        blizzarr.open(place, mode="r", zarr_format=3)


def test_what_is_said_of_one_array(run: Run, tmp_path: Path) -> None:
    """No groups are not counted, and a fill value is a plain number."""
    place = tmp_path / "old.zarr"
    blizzarr.create_array(place, shape=2, dtype="float32", zarr_format=2, fill_value=None)
    document = json.loads((place / ".zarray").read_text()) | {"fill_value": None}
    (place / ".zarray").write_text(json.dumps(document))
    planned = run("upgrade", place, "--dry-run").out.splitlines()
    assert planned[0].startswith("1 array to upgrade from v2 to v3 in ")
    assert planned[1] == "/: the fill value, which was null, becomes 0.0"


def test_what_is_said_of_many_arrays(run: Run, tmp_path: Path) -> None:
    """A note that many have is one line, in the order of the first node that has it."""
    root = blizzarr.create_group(tmp_path / "old.zarr", zarr_format=2)
    for name in "abcdef":
        root.create_array(name, shape=2, dtype="int8", dimension_names=["x"], fill_value=7 if name == "b" else 9)
    assert run("upgrade", tmp_path / "old.zarr").out.splitlines()[1:] == [
        "/a, /b, /c, /d and 2 more: the attribute _ARRAY_DIMENSIONS becomes the names of the dimensions",
        "/a, /c, /d, /e and 1 more: the fill value 9, which xarray masks, becomes the attribute _FillValue, too",
        "/b: the fill value 7, which xarray masks, becomes the attribute _FillValue, too",
    ]


@pytest.mark.parametrize("new", ["v3", "v2", "1", "v3_draft"])
def test_create_and_copy_in_a_format(run: Run, tmp_path: Path, new: str) -> None:
    """--format, by name or number; info says which it is."""
    made = run("create", tmp_path / "a.zarr", "--shape", "3,4", "-d", "int64", "--format", new)
    assert made.code == 0
    blizzarr.open_array(tmp_path / "a.zarr", mode="r+")[:] = VALUES
    assert run("copy", tmp_path / "a.zarr", tmp_path / "b.zarr", "-f", "v2").code == 0
    copied = blizzarr.open_array(tmp_path / "b.zarr", mode="r")
    assert copied.metadata.format == "v2"
    assert np.array_equal(copied[:], VALUES)
    said = json.loads(run("info", tmp_path / "a.zarr", "--json").out)
    assert new.removeprefix("v") in said["format"]


def test_nodes_of_the_draft_by_path(run: Run, tmp_path: Path) -> None:
    """D-124: the root of the hierarchy is found by going up, though there is no directory of that name."""
    place = a_hierarchy(tmp_path / "d.zarr", "v3_draft")
    assert run("cat", f"{place}/a/b[1, :2]").out.split() == ["4", "5"] or "4" in run("cat", f"{place}/a/b[1, :2]").out
    assert "b" in run("tree", place).out
    assert run("ls", place / "a").out.split() == ["b"]


def test_a_dry_run_says_what_the_real_one_would_say(run: Run, tmp_path: Path) -> None:
    """A zip file cannot be upgraded in place; both name the command that does the same beside it."""
    xarray, zarr = pytest.importorskip("xarray"), pytest.importorskip("zarr")
    old, new = tmp_path / "my old.zip", tmp_path / "my old-v3.zip"
    values = {"pr": (("t", "x"), np.array([[1.5, np.nan], [2, 0]]), {"units": "mm"})}
    written = xarray.Dataset(values, {"x": [10, 20]}, {"title": "rain"})
    packed = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -32768}
    written.to_zarr(tmp_path / "old.zarr", zarr_format=2, encoding={"pr": packed}, consolidated=True)
    blizzarr.copy(tmp_path / "old.zarr", old)
    dry, real = run("upgrade", old, "--dry-run"), run("upgrade", old)
    assert (dry.code, dry.err) == (real.code, real.err)
    assert dry.code == 1
    advised = shlex.split(dry.err.partition("make a new one instead: ")[2])
    assert advised == ["blizzarr", "copy", str(old), str(new), "--format", "v3"]
    assert run(*advised[1:]).code == 0
    with zipfile.ZipFile(new) as names:
        assert sorted(names.namelist()) == ["pr/c/0/0", "pr/zarr.json", "x/c/0", "x/zarr.json", "zarr.json"]
    made = blizzarr.open_group(new, mode="r")
    assert (list(made.metadata.consolidated), made.metadata.format) == (["pr", "x"], "v3")
    assert (made["pr"].metadata.dimension_names, made["pr"].attrs["_FillValue"]) == (("t", "x"), -32768)
    for consolidated in (True, False):
        with zarr.storage.ZipStore(new, mode="r") as store:
            assert xarray.open_zarr(store, consolidated=consolidated).load().identical(written)

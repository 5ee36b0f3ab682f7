"""The examples at the end of the specification of v2, step by step.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#examples
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np

import blizzarr


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_storing_a_single_array(tmp_path: Path) -> None:
    """V-1: what is stored when, and what is in it."""
    root = tmp_path / "example.zarr"
    a = blizzarr.create_array(
        root,
        shape=(20, 20),
        chunks=(10, 10),
        dtype="i4",
        fill_value=42,
        compressors={"id": "zlib", "level": 1},
        zarr_format=2,
    )
    assert names(root) == [".zarray"]
    assert json.loads((root / ".zarray").read_text()) == {
        "chunks": [10, 10],
        "compressor": {"id": "zlib", "level": 1},
        "dimension_separator": ".",
        "dtype": "<i4",
        "fill_value": 42,
        "filters": None,
        "order": "C",
        "shape": [20, 20],
        "zarr_format": 2,
    }
    a[0:10, 0:10] = 1
    assert names(root) == [".zarray", "0.0"]
    a[0:10, 10:20] = 2
    a[10:20, :] = 3
    assert names(root) == [".zarray", "0.0", "0.1", "1.0", "1.1"]
    chunk = np.frombuffer(zlib.decompress((root / "0.0").read_bytes()), "<i4")
    assert chunk.tolist() == [1] * 100
    a.attrs["foo"] = 42
    a.attrs["bar"] = "apples"
    a.attrs["baz"] = [1, 2, 3, 4]
    assert names(root) == [".zarray", ".zattrs", "0.0", "0.1", "1.0", "1.1"]
    assert json.loads((root / ".zattrs").read_text()) == {"bar": "apples", "baz": [1, 2, 3, 4], "foo": 42}


def test_storing_multiple_arrays_in_a_hierarchy(tmp_path: Path) -> None:
    """V-1: groups, and an array in one of them, in a directory."""
    root = tmp_path / "group.zarr"
    root_group = blizzarr.create_group(root, zarr_format=2)
    assert names(root) == [".zgroup"]
    assert json.loads((root / ".zgroup").read_text()) == {"zarr_format": 2}
    sub_group = root_group.create_group("foo")
    assert names(root) == [".zgroup", "foo"]
    assert names(root / "foo") == [".zgroup"]
    a = sub_group.create_array("bar", shape=(20, 20), chunks=(10, 10), dtype="f8")
    a[:] = 42
    a.attrs["comment"] = "answer to life, the universe and everything"
    assert names(root) == [".zgroup", "foo"]
    assert names(root / "foo") == [".zgroup", "bar"]
    assert names(root / "foo" / "bar") == [".zarray", ".zattrs", "0.0", "0.1", "1.0", "1.1"]


def test_the_same_example_using_a_zip_file(tmp_path: Path) -> None:
    """V-1: the same keys, as entries."""
    root_group = blizzarr.create_group(tmp_path / "group.zip", zarr_format=2)
    a = root_group.create_group("foo").create_array("bar", shape=(20, 20), chunks=(10, 10), dtype="f8")
    a[:] = 42
    a.attrs["comment"] = "answer to life, the universe and everything"
    root_group.store.close()
    wanted = [
        ".zgroup",
        "foo/.zgroup",
        *(f"foo/bar/{name}" for name in (".zarray", ".zattrs", "0.0", "0.1", "1.0", "1.1")),
    ]
    with zipfile.ZipFile(tmp_path / "group.zip") as archive:
        assert sorted(set(archive.namelist())) == sorted(wanted)


def test_groups_at_all_paths_above() -> None:
    """V-1: whoever makes a node makes groups on the way to it, of the same format."""
    store: dict[str, bytes] = {}
    blizzarr.create_array(store, name="foo/bar/baz", shape=(2,), dtype="u1", zarr_format=2)
    assert sorted(store) == [".zgroup", "foo/.zgroup", "foo/bar/.zgroup", "foo/bar/baz/.zarray"]
    blizzarr.create_array(store, name="foo/b", shape=(2,), dtype="u1")
    assert "foo/b/.zarray" in store

"""What this interface creates is listed by the groups above it, also by those with consolidated metadata."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.errors import ArrayExistsError


def _create(spec: dict[str, Any]) -> None:
    ts.open(spec, create=True, dtype="int32", shape=[3]).result()


def _create_in_a_transaction(spec: dict[str, Any]) -> None:
    with ts.Transaction() as txn:
        ts.open(spec, create=True, dtype="int32", shape=[3], transaction=txn).result()


@pytest.mark.parametrize("create", [_create, _create_in_a_transaction])
@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
def test_consolidated_metadata_hide_no_new_array(
    create: Callable[[dict[str, Any]], None], driver: str, tmp_path: Path
) -> None:
    """The array is opened by a path of its own; groups are consolidated at the root, and again below it."""
    root = blizzarr.create_group(tmp_path / "root", zarr_format=3 if driver == "zarr3" else 2)
    inner = root.create_group("inner")
    inner.create_array("old", shape=2, dtype="int8")
    for path in (tmp_path / "root" / "inner", tmp_path / "root"):
        blizzarr.consolidate_metadata(path)
    create({"driver": driver, "kvstore": {"driver": "file", "path": f"{tmp_path}/root/inner/new/"}})
    for path in ("root", "root/inner"):
        group = blizzarr.open_group(tmp_path / path, mode="r")
        assert sorted(name for name, _ in group.arrays()) == ([] if path == "root" else ["new", "old"])
    assert blizzarr.open_group(tmp_path / "root", mode="r")["inner/new"].shape == (3,)
    assert blizzarr.check(tmp_path / "root").ok


def test_where_there_is_an_array_nothing_is_withdrawn(tmp_path: Path) -> None:
    root = blizzarr.create_group(tmp_path / "root")
    root.create_array("old", shape=2, dtype="int8")
    blizzarr.consolidate_metadata(tmp_path / "root")
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/root/old/"}}
    with pytest.raises(ArrayExistsError):
        _create(spec)
    assert blizzarr.open_group(tmp_path / "root", mode="r").metadata.consolidated is not None

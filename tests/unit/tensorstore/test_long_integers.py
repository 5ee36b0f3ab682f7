"""Integers that do not fit into 64 bits, in attributes of stored arrays: TensorStore is the judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import blizzarr
import blizzarr.tensorstore as ours

theirs = pytest.importorskip("tensorstore")


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**300])
@pytest.mark.parametrize(("driver", "zarr_format"), [("zarr3", 3), ("zarr", 2), ("n5", "n5")])
def test_integers_in_attributes(tmp_path: Path, driver: str, zarr_format: Any, number: int) -> None:
    """Beyond 64 bits they are floating-point numbers, as TensorStore reads them."""
    attributes = {"x": number, "y": [{"z": number}]}
    blizzarr.create_array(tmp_path / "a", data=[1, 2, 3], zarr_format=zarr_format, attributes=attributes)
    spec = {"driver": driver, "kvstore": f"file://{tmp_path}/a/"}
    opened = [library.open(spec).result() for library in (ours, theirs)]
    one, other = (view.spec().to_json()["metadata"] for view in opened)
    assert one == other
    assert repr(one.get("attributes", one.get("x"))) == repr(other.get("attributes", other.get("x")))
    assert opened[0].read().result().tolist() == [1, 2, 3]
    # Only there: the document keeps the number.
    assert blizzarr.open_array(tmp_path / "a").attrs["x"] == number


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_integers_beyond_floating_point(tmp_path: Path, number: int) -> None:
    """TensorStore cannot read the document at all."""
    blizzarr.create_array(tmp_path / "a", data=[1, 2, 3], attributes={"x": 1})
    document = tmp_path / "a" / "zarr.json"
    document.write_text(document.read_text().replace('"x": 1', f'"x": {number}'))
    view = ours.open({"driver": "zarr3", "kvstore": f"file://{tmp_path}/a/"}).result()
    assert view.read().result().tolist() == [1, 2, 3]
    assert view.spec().to_json()["metadata"]["attributes"] == {"x": float("inf") if number > 0 else float("-inf")}

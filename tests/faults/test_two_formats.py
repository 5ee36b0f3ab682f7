"""Faults: documents of two formats, or of two kinds, at one place (rows 60 and 61)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import blizzarr

DATA = np.arange(6, dtype="int16")


def both(first: int, second: int) -> dict[str, bytes]:
    """An array of six elements in one format, and an array of zeros with other chunks in another, at one place."""
    one: dict[str, bytes] = {}
    other: dict[str, bytes] = {}
    blizzarr.create_array(one, data=DATA, chunks=4, zarr_format=first)
    blizzarr.create_array(other, shape=9, chunks=9, dtype="float64", zarr_format=second)
    return other | one


@pytest.mark.parametrize("other", [1, 2])
def test_row_060_the_newest_of_two_formats_counts(other: int) -> None:
    """Both are named in a warning, and nothing of either changes."""
    store = both(3, other)
    before = dict(store)
    document = {1: "meta", 2: ".zarray"}[other]
    with pytest.warns(UserWarning, match=re.escape("zarr.json")) as caught:
        found = blizzarr.open(store)
    assert document in str(caught[0].message)
    assert isinstance(found, blizzarr.Array)
    assert (found.metadata.format, found[...].tolist()) == ("v3", DATA.tolist())
    assert store == before
    asked = blizzarr.open(store, zarr_format=other, mode="r")
    assert isinstance(asked, blizzarr.Array)
    assert (asked.shape, asked.dtype) == ((9,), np.dtype("float64"))


def test_row_061_a_group_and_an_array_of_one_format_at_one_place() -> None:
    """The array counts, as its data would be hidden otherwise; a warning names both documents."""
    store: dict[str, bytes] = {}
    blizzarr.create_array(store, data=DATA, chunks=4, zarr_format=2)
    store[".zgroup"] = b'{"zarr_format": 2}'
    with pytest.warns(UserWarning, match=r"\.zgroup"):
        found = blizzarr.open(store)
    assert isinstance(found, blizzarr.Array)
    assert found[...].tolist() == DATA.tolist()


def test_row_061_a_chunk_that_is_named_like_a_document() -> None:
    """Nodes that are named like chunks or their directories are nodes."""
    store: dict[str, bytes] = {}
    group = blizzarr.create_group(store)
    group.create_array("c", data=DATA, chunks=4)
    group.create_array("0", data=DATA, chunks=4, chunk_key_encoding="v2")
    assert sorted(group) == ["0", "c"]
    for name in ("c", "0"):
        assert group[name][...].tolist() == DATA.tolist()
    assert sorted(key for key in store if key.startswith(("0/", "c/"))) == [
        "0/0",
        "0/1",
        "0/zarr.json",
        "c/c/0",
        "c/c/1",
        "c/zarr.json",
    ]

"""Chunks that are hashed twice: their keys would be read and written, but not listed."""

from __future__ import annotations

import json
from typing import Any

import pytest

import blizzarr
from blizzarr.errors import MetadataError

FORMATS = [("v3", "a/zarr.json"), ("v3_draft", "meta/a.array.json")]


@pytest.mark.parametrize(("zarr_format", "key"), FORMATS)
@pytest.mark.parametrize("levels", [2, 1])
def test_twice_is_refused(zarr_format: str, key: str, levels: int) -> None:
    """Copies of such arrays were all fill value, as were arrays that were upgraded, and resizing kept old chunks."""
    store: dict[str, Any] = {}
    again = {"name": "blizzarr.hashed", "configuration": {"levels": levels, "width": 2}}
    options: dict[str, Any] = {"shape": (4,), "dtype": "i4", "chunks": (2,), "zarr_format": zarr_format}
    with pytest.raises(MetadataError, match=r"storage_transformers: expected blizzarr\.hashed at most once, found 2"):
        blizzarr.create_array(store, name="a", storage_transformers=["blizzarr.hashed", again], **options)
    assert store == {}
    array = blizzarr.create_array(store, name="a", storage_transformers="blizzarr.hashed", **options)
    array[...] = 7
    document = json.loads(store[key])
    document["storage_transformers"] *= 2
    with pytest.raises(MetadataError, match=r"storage_transformers: expected blizzarr\.hashed at most once, found 2"):
        blizzarr.open_array(store | {key: json.dumps(document).encode()}, path="a", mode="r")
    assert blizzarr.copy(array, {})[...].tolist() == [7] * 4

"""The draft of version 3, as zarr-python spelled it."""

from __future__ import annotations

from interop.rules import Rule, cannot, neither

ZARR_PYTHON_2: tuple[Rule, ...] = (
    cannot("reads", "takes consolidated metadata of the draft for a group", "draft", "consolidated"),
    cannot("reads", "takes raw bytes of the draft for structs without fields", "draft", "raw bytes"),
)
GDAL: tuple[Rule, ...] = (
    cannot("writes", "has no complex numbers in the draft", "draft", "complex"),
    cannot("writes", "writes no consolidated metadata of the draft", "draft", "consolidated"),
    cannot("reads", "takes consolidated metadata for a group", "draft", "consolidated"),
    *neither("has no structs in the draft", "draft", "type struct"),
    *neither("has no filters in the draft", "draft", "filters"),
    cannot("writes", "writes no shards", "draft shards"),
    cannot("reads", "takes a shard for a chunk", "draft shards of several"),
    cannot("writes", "writes keys with dots and reads others", "draft", "separator .", unless=("empty",)),
)

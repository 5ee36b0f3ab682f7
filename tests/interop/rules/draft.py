"""The draft of version 3, as zarr-python spelled it."""

from __future__ import annotations

from interop.rules import Rule, cannot, neither

GDAL: tuple[Rule, ...] = (
    *neither("has no complex numbers in the draft", "draft", "complex"),
    *neither("has no structs in the draft", "draft", "type struct"),
    *neither("has no filters in the draft", "draft", "filters"),
    cannot("writes", "writes no shards", "draft shards"),
    cannot("reads", "takes a shard for a chunk", "draft shards of several"),
    cannot("writes", "writes keys with dots and reads others", "draft", "separator .", unless=("empty",)),
)

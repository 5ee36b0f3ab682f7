"""Filters of numcodecs that run together, as v2 does them, in what is shown of an array."""

from __future__ import annotations

import json

import blizzarr


def test_each_filter_is_named() -> None:
    """What the filter makes has the byte order of neither the elements nor the engine, so Python runs it."""
    scaled = {"id": "fixedscaleoffset", "offset": 0, "scale": 10, "dtype": ">f8", "astype": ">i2"}
    packed = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    members = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f8", "fill_value": 0.0, "order": "C"}
    document = members | {"filters": [scaled], "compressor": packed}
    array = blizzarr.open_array({".zarray": json.dumps(document).encode()}, mode="r")
    assert array.metadata.codecs.to_json()[0]["configuration"]["codecs"][0]["id"] == "fixedscaleoffset"
    assert "fixedscaleoffset(offset 0, scale 10, &gt;f8, &gt;i2)" in array._repr_html_()

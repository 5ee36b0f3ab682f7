"""Fill values that NumPy does not print: times without a unit, alone and in records."""

from __future__ import annotations

import json
from typing import Any

import pytest

import blizzarr
from blizzarr.errors import MetadataError


def array_of(dtype: Any, fill_value: Any) -> blizzarr.Array:
    document = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": dtype, "fill_value": fill_value}
    options = {"compressor": None, "order": "C", "filters": None}
    return blizzarr.open_array({".zarray": json.dumps({**document, **options}).encode()}, mode="r")


@pytest.mark.parametrize(
    ("dtype", "fill_value", "text"),
    [
        ("<M8", 5, "5 generic time units"),
        ("<M8", -(2**63) + 1, "-9223372036854775807 generic time units"),
        ([["a", "<M8"]], "AQAAAAAAAAA=", "(1 generic time units)"),
        ([["a", "<M8", [2]]], "AQAAAAAAAAACAAAAAAAAAA==", "([1 generic time units, 2 generic time units])"),
        ([["a", [["b", "<M8"]]]], "AQAAAAAAAAA=", "((1 generic time units))"),
    ],
)
def test_times_without_a_unit(dtype: Any, fill_value: Any, text: str) -> None:
    array = array_of(dtype, fill_value)
    assert f"Fill value   : {text}\n" in str(array.info)
    assert f"fill_value={text}," in repr(array.metadata)
    assert f"fill value: {text} against" in str(blizzarr.diff(array, array_of(dtype, None)))
    assert len(str(array)) > 20
    with pytest.raises(MetadataError) as caught:
        blizzarr.copy(array, {}, zarr_format="n5")
    assert f'found "{text}"' in str(caught.value)

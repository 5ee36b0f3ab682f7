"""What specs demand of the metadata of zarr (v2), each member asked of TensorStore too."""

from __future__ import annotations

from typing import Any

import pytest
import tensorstore as ts

from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.zarr.driver import ZarrConstraints
from unit.spec.oracle import Refusal, outcome

CASES: list[Any] = [
    {},
    {"zarr_format": 2},
    {"zarr_format": 3},
    {"shape": [2]},
    {"shape": [-1]},
    {"chunks": [2]},
    {"chunks": [0]},
    {"chunks": [2], "shape": [1, 2]},
    {"dtype": "<i4"},
    {"dtype": ">i4"},
    {"dtype": "|i1"},
    {"dtype": "<i1"},
    {"dtype": "|i4"},
    {"dtype": "i4"},
    {"dtype": "foo"},
    {"dtype": 5},
    {"dtype": "int4"},
    {"dtype": "bfloat16"},
    {"dtype": "<U4"},
    {"dtype": "<M8[s]"},
    {"compressor": None},
    {"compressor": {"id": "zlib"}},
    {"compressor": {"id": "foo"}},
    {"compressor": 5},
    {"fill_value": 5},
    {"fill_value": 5, "dtype": "<i4"},
    {"fill_value": None, "dtype": "<i4"},
    {"fill_value": 5.5, "dtype": "<i4"},
    {"fill_value": 5.0, "dtype": "<i4"},
    {"fill_value": "5", "dtype": "<i4"},
    {"fill_value": 2**40, "dtype": "<i4"},
    {"fill_value": True, "dtype": "|b1"},
    {"fill_value": 1, "dtype": "|b1"},
    {"fill_value": "NaN", "dtype": "<f4"},
    {"fill_value": "1.5", "dtype": "<f4"},
    {"fill_value": "nan", "dtype": "<f4"},
    {"fill_value": 1.1, "dtype": "<f4"},
    {"fill_value": "0x7f", "dtype": "<f4"},
    {"fill_value": [1, "NaN"], "dtype": "<c8"},
    {"fill_value": "AAAAAAAAgD8=", "dtype": "<c8"},
    {"fill_value": 7, "dtype": "int4"},
    {"fill_value": 8, "dtype": "int4"},
    {"fill_value": 500, "dtype": "int4"},
    {"fill_value": True, "dtype": "<i4"},
    {"order": "C"},
    {"order": "F"},
    {"order": "X"},
    {"filters": None},
    {"filters": []},
    {"filters": [{"id": "delta"}]},
    {"filters": 5},
    {"dimension_separator": "/"},
    {"dimension_separator": "."},
    {"dimension_separator": "x"},
    {"foo": 1},
    {"order": "F", "shape": [1, 2, 3]},
    5,
]
CODECS: list[dict[str, Any]] = [
    {},
    {"compressor": None},
    *({"compressor": {"id": name}} for name in ("blosc", "bz2", "gzip", "zlib", "zstd", "foo")),
    {"compressor": {"id": "zlib", "level": 10}},
    {"compressor": {"id": "blosc", "cname": "x"}},
    {"compressor": {"id": "blosc", "shuffle": 3}},
    {"compressor": {"level": 1}},
    {"compressor": {"id": "zlib", "x": 1}},
    {"filters": None},
    {"filters": []},
    {"filters": [{"id": "delta"}]},
    {"x": 1},
]


def theirs(metadata: Any) -> Any:
    """The member as TensorStore has it; it leaves out those that say nothing."""
    return ts.Spec({"driver": "zarr", "kvstore": "memory://", "metadata": metadata}).to_json().get("metadata", {})


@pytest.mark.parametrize("metadata", CASES, ids=str)
def test_members(metadata: Any) -> None:
    """What is taken, how it is normalised, and what is refused."""
    found = outcome(lambda: ZarrConstraints.from_json(metadata).to_json())
    kind, said = outcome(lambda: theirs(metadata))
    assert found == (kind, said.without("metadata") if isinstance(said, Refusal) else said)


@pytest.mark.parametrize("driver", ["zarr", "zarr2"])
@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_codecs(driver: str, codec: dict[str, Any]) -> None:
    """Compressors with their defaults; filters as they are given."""
    said = {"driver": driver, **codec}
    assert outcome(lambda: CodecSpec(said)) == outcome(lambda: ts.CodecSpec(said))

"""What specs demand of the metadata of zarr (v2), each member asked of TensorStore too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorstore as ts

from blizzarr.errors import SpecError
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.metadata.zarr2 import ZarrConstraints
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
    {"fill_value": "NaN", "dtype": "<f4"},
    {"fill_value": "nan", "dtype": "<f4"},
    {"fill_value": [1, "NaN"], "dtype": "<c8"},
    {"fill_value": 7, "dtype": "int4"},
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
LENIENT: dict[str, Any] = {"|b1": 1, "<i4": True}
"""Fill values that documents of v2 have, and TensorStore refuses."""
STRICT: list[Any] = [("1.5", "<f4"), ("0x7f", "<f4"), ("AAAAAAAAgD8=", "<c8"), (8, "int4"), (500, "int4")]
"""Fill values that TensorStore reads, and no document of v2 has."""
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


def test_fill_values_are_those_of_documents() -> None:
    """Whatever TensorStore takes for one."""
    for dtype, value in LENIENT.items():
        assert ZarrConstraints.from_json({"dtype": dtype, "fill_value": value}).to_json()["fill_value"] == value
    for value, dtype in STRICT:
        with pytest.raises(SpecError, match="fill_value"):
            ZarrConstraints.from_json({"dtype": dtype, "fill_value": value})


def test_fill_values_are_written_with_as_few_digits_as_they_need() -> None:
    """TensorStore writes those of the next number of 64 bits."""
    made = ZarrConstraints.from_json({"dtype": "<f4", "fill_value": 1.1}).to_json()
    assert made["fill_value"] == 1.1
    assert np.float32(theirs(made)["fill_value"]) == np.float32(1.1)


@pytest.mark.parametrize("driver", ["zarr", "zarr2"])
@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_codecs(driver: str, codec: dict[str, Any]) -> None:
    """Compressors with their defaults; filters as they are given."""
    said = {"driver": driver, **codec}
    assert outcome(lambda: CodecSpec(said)) == outcome(lambda: ts.CodecSpec(said))

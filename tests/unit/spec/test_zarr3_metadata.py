"""What specs demand of the metadata of zarr3, each member asked of TensorStore too (K-20 to K-50)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorstore as ts

from blizzarr.errors import SpecError
from blizzarr.spec.metadata.zarr3 import Zarr3Constraints
from unit.spec.oracle import Refusal, outcome

CASES: list[Any] = [
    {},
    {"zarr_format": 3},
    {"zarr_format": 2},
    {"node_type": "array"},
    {"node_type": "group"},
    {"shape": [2]},
    {"shape": [-1]},
    {"shape": [2**62]},
    {"shape": [2**62 - 1]},
    {"shape": 5},
    {"shape": [1] * 33},
    {"data_type": "int8"},
    {"data_type": "string"},
    {"data_type": 5},
    {"data_type": "foo"},
    {"data_type": "byte"},
    {"data_type": "char"},
    {"data_type": "json"},
    {"fill_value": 5},
    {"fill_value": 5, "data_type": "int8"},
    {"fill_value": 500, "data_type": "int8"},
    {"fill_value": 5.0, "data_type": "int8"},
    {"fill_value": 5.5, "data_type": "int8"},
    {"fill_value": "5", "data_type": "int8"},
    {"fill_value": True, "data_type": "int8"},
    {"fill_value": True, "data_type": "bool"},
    {"fill_value": 1, "data_type": "bool"},
    {"fill_value": "NaN", "data_type": "float32"},
    {"fill_value": "0x7fc00001", "data_type": "float32"},
    {"fill_value": "0x7fc00000", "data_type": "float32"},
    {"fill_value": float("inf"), "data_type": "float64"},
    {"fill_value": "Infinity", "data_type": "float16"},
    {"fill_value": 1, "data_type": "bfloat16"},
    {"fill_value": "NaN", "data_type": "bfloat16"},
    {"fill_value": 1.1, "data_type": "bfloat16"},
    {"fill_value": [1, "NaN"], "data_type": "complex64"},
    {"fill_value": 1, "data_type": "complex64"},
    {"fill_value": [1], "data_type": "complex64"},
    {"fill_value": 7, "data_type": "int4"},
    {"fill_value": 8, "data_type": "int4"},
    {"fill_value": -8, "data_type": "int4"},
    {"fill_value": 2, "data_type": "int2"},
    {"fill_value": None, "data_type": "int8"},
    {"fill_value": 1.1, "data_type": "float8_e4m3fn"},
    {"fill_value": 2**64 - 1, "data_type": "uint64"},
    {"fill_value": True, "data_type": "float32"},
    {"fill_value": "0xff", "data_type": "float8_e5m2"},
    {"fill_value": "NaN", "data_type": "float8_e5m2"},
    {"dimension_names": ["x", None, ""]},
    {"dimension_names": ["x", "x"]},
    {"dimension_names": ["x"], "shape": [1, 2]},
    {"dimension_names": [5]},
    {"dimension_names": None},
    {"dimension_names": [None]},
    {"chunk_key_encoding": "default"},
    {"chunk_key_encoding": {"name": "default"}},
    {"chunk_key_encoding": {"name": "v2"}},
    {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}},
    {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}}},
    {"chunk_key_encoding": {"name": "default", "configuration": {"separator": "x"}}},
    {"chunk_key_encoding": {"name": "foo"}},
    {"chunk_key_encoding": {}},
    {"chunk_key_encoding": {"name": "default", "x": 1}},
    {"chunk_grid": {}},
    {"chunk_grid": {"name": "regular"}},
    {"chunk_grid": {"name": "foo"}},
    {"chunk_grid": {"name": "regular", "configuration": {}}},
    {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0]}}},
    {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}},
    {"chunk_grid": {"configuration": {"chunk_shape": [2]}}},
    {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "shape": [1, 2]},
    {"chunk_grid": "regular"},
    {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2], "x": 1}}},
    {"codecs": []},
    {"codecs": ["gzip"]},
    {"codecs": ["bytes"]},
    {"codecs": 5},
    {"storage_transformers": []},
    {"storage_transformers": [1]},
    {"attributes": {"a": 1}},
    {"attributes": {}},
    {"attributes": None},
    {"attributes": {"dimension_units": ["2nm", None]}},
    {"attributes": {"dimension_units": [5]}},
    {"attributes": {"dimension_units": ["2nm", None], "a": 1}},
    {"attributes": {"dimension_units": ["2nm"]}, "shape": [1, 2]},
    {"attributes": {"dimension_units": [None]}},
    {"foo": 1},
    {"foo": {"must_understand": False}},
    {"foo": {"must_understand": True}},
    {"foo": {"must_understand": False}, "shape": [1]},
    5,
    None,
]


def theirs(metadata: Any) -> Any:
    """The member as TensorStore has it; it leaves out those that say nothing."""
    spec = ts.Spec({"driver": "zarr3", "kvstore": "memory://", "metadata": metadata})
    return spec.to_json().get("metadata", {"node_type": "array"})


@pytest.mark.parametrize("metadata", CASES, ids=str)
def test_members(metadata: Any) -> None:
    """What is taken, how it is normalised, and what is refused."""
    found = outcome(lambda: Zarr3Constraints.from_json(metadata).to_json(), repr)
    kind, said = outcome(lambda: theirs(metadata), repr)
    assert found == (kind, said.without("metadata") if isinstance(said, Refusal) else said)


def test_members_are_those_of_documents() -> None:
    """Whatever TensorStore takes for one: names without a configuration, and fill values that are exact."""
    assert Zarr3Constraints.from_json({"data_type": {"name": "int8"}}).to_json()["data_type"] == "int8"
    made = Zarr3Constraints.from_json({"data_type": "float32", "fill_value": 1.1}).to_json()
    assert made["fill_value"] == 1.1
    assert np.float32(theirs(made)["fill_value"]) == np.float32(1.1)
    for value, dtype in (("0x7fc0", "float32"), (1e30, "float16")):
        with pytest.raises(SpecError, match="fill_value"):
            Zarr3Constraints.from_json({"data_type": dtype, "fill_value": value})

"""What a spec is parsed into is its own: nothing that is done with it changes another one that says the same."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import tensorstore

import blizzarr.tensorstore as ts
from unit.spec.oracle import refusal_of

_METADATA = {
    "attributes": {"a": [1, {"b": 2}]},
    "shape": [2, 3],
    "codecs": [{"name": "gzip", "configuration": {"level": 3}}],
    "dimension_names": ["x", None],
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 2]}},
    "fill_value": 3,
    "data_type": "int8",
}
_SCHEMA = {
    "dtype": "int8",
    "fill_value": [1, 2],
    "chunk_layout": {"inner_order": [1, 0]},
    "codec": {"driver": "zarr3", "codecs": [{"name": "blosc", "configuration": {"cname": "lz4"}}]},
    "domain": {"shape": [3, 2]},
    "dimension_units": ["4nm", None],
}
_CREDENTIALS = {"type": "profile", "profile": "x"}
SPECS: list[dict[str, Any]] = [
    {"driver": "zarr3", "kvstore": "memory://", "metadata": _METADATA},
    {"driver": "zarr3", "kvstore": "memory://", "schema": _SCHEMA},
    {"driver": "zarr", "kvstore": "memory://", "metadata": {"shape": [2], "compressor": {"id": "zlib", "level": 3}}},
    {"driver": "zarr1", "kvstore": "memory://", "metadata": {"shape": [2, 3], "compression": "zlib"}},
    {"driver": "zarr3_draft", "kvstore": "memory://", "metadata": {"shape": [2, 3], "attributes": {"a": [1]}}},
    {"driver": "array", "array": [[1, 2], [3, 4]], "dtype": "int8"},
    {"driver": "zarr3", "kvstore": {"driver": "s3", "bucket": "abcdef", "aws_credentials": _CREDENTIALS}},
    {"driver": "zarr3", "kvstore": {"driver": "http", "base_url": "https://a.b/", "headers": ["a: b"]}},
    {"driver": "zarr3", "kvstore": "memory://", "context": {"aws_credentials": _CREDENTIALS}},
    {"driver": "stack", "layers": [{"driver": "array", "array": [1, 2], "dtype": "int8"}]},
]


def _spoil(value: Any) -> None:
    """Change all that can be changed of what a spec told."""
    if isinstance(value, dict):
        for member in value.values():
            _spoil(member)
        value["spoiled"] = 1
    elif isinstance(value, list):
        for element in value:
            _spoil(element)
        value.append("spoiled")
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        value[...] = 0


@pytest.mark.parametrize("json", SPECS, ids=lambda json: f"{json['driver']}-{len(str(json))}")
def test_what_a_spec_tells_is_not_what_others_are_made_of(json: dict[str, Any]) -> None:
    first = ts.Spec(copy.deepcopy(json))
    said = copy.deepcopy([first.to_json(), first.to_json(include_defaults=True)])
    for told in (first.to_json(), first.to_json(include_defaults=True), first.schema.to_json(), first.fill_value):
        _spoil(told)
    if first.codec is not None:
        _spoil(first.codec.to_json())
    if first.kvstore is not None:
        _spoil(first.kvstore.to_json(include_defaults=True))
        first.update(recheck_cached=False, create=True)
    again = ts.Spec(copy.deepcopy(json))
    assert [again.to_json(), again.to_json(include_defaults=True)] == said


def test_places_are_read_by_themselves() -> None:
    """One path after the other, with members around them that were seen before."""
    for path in ("/a/b", "/a/b/", "/c", "d e/"):
        for driver in ("file", "memory"):
            said = {"driver": "zarr3", "kvstore": {"driver": driver, "path": path}, "metadata": {"shape": [2]}}
            assert ts.Spec(said).to_json() == tensorstore.Spec(said).to_json()
        said = {"driver": "zarr3", "kvstore": f"memory://{path}"}
        assert ts.Spec(said).to_json() == tensorstore.Spec(said).to_json()


@pytest.mark.parametrize(
    "json",
    [
        {"driver": "zarr3", "kvstore": {"driver": "file", "path": "/a/../b"}},
        {"driver": "zarr3", "kvstore": {"driver": "file", "path": 5}},
        {"driver": "zarr3", "kvstore": {"driver": "zarr3"}},
        {"driver": "zarr3", "kvstore": "nothing://a"},
        {"driver": "zarr3", "kvstore": {"driver": "file", "path": 5}, "metadata": 5},
        {"driver": "zarr3", "kvstore": {"driver": "file", "path": "/a"}, "metadata": 5},
        {"driver": "zarr3", "kvstore": {"driver": "file", "path": "/a", "more": 1}},
        {"driver": "array", "array": [1], "dtype": "int8", "kvstore": {"driver": "file"}},
        {"driver": "nothing", "kvstore": {"driver": "file", "path": "/a/../b"}},
    ],
)
def test_errors_are_those_of_the_member_that_is_read_first(json: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as theirs:  # noqa: PT011  # its content is compared below
        tensorstore.Spec(json)
    with pytest.raises(ValueError) as ours:  # noqa: PT011
        ts.Spec(json)
    assert refusal_of(ours.value) == refusal_of(theirs.value)


def test_what_a_format_calls_otherwise_is_said_of_one_spec_alone() -> None:
    said = {"driver": "zarr", "kvstore": "memory://"}
    for module in (ts, tensorstore):
        assert module.Spec({**said, "key_encoding": "/"}).to_json()["metadata"] == {"dimension_separator": "/"}
        store = module.open(said, create=True, dtype="int8", shape=[2, 3]).result()
        assert store.spec().to_json()["metadata"]["dimension_separator"] == "."

"""``to_json(include_defaults=True)``: what goes without saying, TensorStore is the judge."""

from __future__ import annotations

from typing import Any

import pytest
import tensorstore as ts

import blizzarr.tensorstore as ours
from unit.spec.oracle import outcome

STORE = {"driver": "zarr3", "kvstore": "memory://"}


def keys(name: str, **configuration: str) -> dict[str, Any]:
    """A spec that says the keys of chunks."""
    more = {"configuration": configuration} if configuration else {}
    return {**STORE, "metadata": {"chunk_key_encoding": {"name": name, **more}}}


SHARDS = {"name": "sharding_indexed", "configuration": {"chunk_shape": [2]}}
CODECS = [{"name": "transpose", "configuration": {"order": "F"}}, {"name": "bytes"}, {"name": "blosc"}, "crc32c"]
SPECS: list[Any] = [
    *(STORE, {"driver": "zarr", "kvstore": "memory://a/"}, {"driver": "n5", "kvstore": "memory://"}),
    {"driver": "zarr3", "kvstore": "file:///tmp/x/"},
    *(keys("default"), keys("default", separator="/"), keys("default", separator=".")),
    *(keys("v2"), keys("v2", separator="."), keys("v2", separator="/")),
    {**STORE, "metadata": {"codecs": [SHARDS]}},
    {**STORE, "metadata": {"codecs": CODECS}},
    {**STORE, "metadata": {"codecs": ["bytes", "gzip", "zstd"], "shape": [3], "data_type": "int8", "fill_value": 1}},
    *(
        {"driver": "zarr", "kvstore": "memory://", "metadata": {"compressor": {"id": name}}}
        for name in ("blosc", "zlib")
    ),
    {"driver": "zarr", "kvstore": "memory://", "key_encoding": "/"},
    {"driver": "zarr", "kvstore": "memory://", "metadata": {"dtype": [["x", "<i2"]]}, "field": "x"},
    {"driver": "zarr", "kvstore": "memory://", "open_as_void": True},
    {**STORE, "create": True, "open": True, "recheck_cached_data": "open", "recheck_cached_metadata": False},
    {**STORE, "assume_metadata": True},
    {**STORE, "delete_existing": True, "create": True, "fill_missing_data_reads": False},
    {**STORE, "dtype": "int8", "schema": {"domain": {"labels": ["x", "y"]}, "dimension_units": ["4nm", None]}},
    {**STORE, "transform": {"input_rank": 2}},
    {**STORE, "context": {"cache_pool": {"total_bytes_limit": 10}}, "cache_pool": "cache_pool"},
    {**STORE, "cache_pool": {"total_bytes_limit": 5}, "store_data_equal_to_fill_value": True},
    {"driver": "array", "array": [1, 2], "dtype": "int8"},
    {"driver": "cast", "base": STORE, "dtype": "int8"},
    {"driver": "stack", "layers": [{"driver": "array", "array": [1, 2], "dtype": "int8"}]},
    *({"driver": "zarr3"}, {"driver": "auto", "kvstore": "memory://"}, "memory://|zarr3:", "file:///tmp/x|zarr2:"),
    {"driver": "zarr3", "kvstore": {"driver": "zip", "base": "memory://a.zip", "path": "b"}},
]


@pytest.mark.parametrize("said", SPECS, ids=str)
@pytest.mark.parametrize("include_defaults", [False, True])
def test_specs(said: Any, include_defaults: bool) -> None:
    """All members with their usual values, also of places, codecs and keys within."""
    found = [
        outcome(lambda library=library: library.Spec(said).to_json(include_defaults=include_defaults))
        for library in (ts, ours)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("driver", ["zarr3", "zarr", "n5"])
@pytest.mark.parametrize(
    "how", [{}, {"minimal_spec": True}, {"unbind_context": True}, {"retain_context": True}], ids=str
)
def test_specs_of_arrays(driver: str, how: dict[str, bool]) -> None:
    """The same of what is open."""

    def told(library: Any) -> Any:
        spec = {"driver": driver, "kvstore": "memory://"}
        store = library.open(spec, create=True, dtype="int16", shape=[100, 200]).result()
        return store.spec(**({how: True} if how else {})).to_json(include_defaults=True)

    assert outcome(lambda: told(ours)) == outcome(lambda: told(ts))


def test_indexable() -> None:
    """What counts as indexable: a schema does not, though it can be indexed."""
    things = [
        "Schema()",
        "Spec({'driver': 'zarr3'})",
        "array([1])",
        "IndexTransform(1)",
        "IndexDomain(1)",
        "Dim()",
        "d[0]",
    ]
    for thing in things:
        made = [eval(f"library.{thing}", {"library": library}) for library in (ts, ours)]
        assert isinstance(made[0], ts.Indexable) == isinstance(made[1], ours.Indexable), thing

"""What specs demand of the metadata of n5, and its codec, each member asked of TensorStore too."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.spec import Spec
from unit.spec.oracle import outcome

BLOSC = {"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
COMPRESSIONS: list[Any] = [
    *({"type": name} for name in ("raw", "gzip", "bzip2", "xz", "zstd", "blosc", "lz4")),
    *({"type": "gzip", "level": level} for level in (-2, -1, 0, 9, 10, 5.0, 5.5, True, "5")),
    {"type": "gzip", "useZlib": True},
    {"type": "gzip", "useZlib": 1},
    *({"type": "bzip2", "blockSize": size} for size in (0, 1, 9, 10)),
    *({"type": "xz", "preset": preset} for preset in (-1, 0, 9, 10)),
    *({"type": "zstd", "level": level} for level in (-131073, -131072, 22, 23)),
    BLOSC,
    *({**BLOSC, "shuffle": shuffle} for shuffle in (-1, 0, 2, 3)),
    *({**BLOSC, "blocksize": size} for size in (-1, 0, 1 << 20)),
    *({**BLOSC, "cname": name} for name in ("snappy", "foo", 5)),
    {**BLOSC, "clevel": 10},
    {**BLOSC, "nthreads": 1},
    {"type": "raw", "level": 1},
    {"type": 5},
    {},
    None,
    5,
]
METADATA: list[Any] = [
    {},
    {"dimensions": [1, 2]},
    {"dimensions": [-1]},
    {"dimensions": [1] * 33},
    {"dimensions": [1, 2], "blockSize": [1]},
    {"blockSize": [0, 1]},
    {"blockSize": [1 << 40]},
    *({"dataType": name} for name in ("uint8", "float64", "bool", "int4", "float16", "complex64", "string", "x", 5)),
    {"axes": ["x", "y"]},
    {"axes": ["x", "x"]},
    {"axes": ["", ""]},
    {"axes": ["", "x", ""], "dimensions": [1, 2, 3]},
    {"axes": ["x"], "dimensions": [1, 2]},
    {"axes": [5]},
    {"units": ["nm"]},
    {"units": ["nm", 5]},
    {"units": ["nm", "s"], "resolution": [4, 0.5]},
    {"resolution": [4, 0.5]},
    {"resolution": [-1, 0]},
    {"resolution": ["a"]},
    {"title": {"a": [1, None]}, "dimensions": [3]},
    {"compression": {"type": "gzip"}},
    5,
]
SCHEMAS: list[tuple[Any, Any]] = [
    ({}, {"rank": 2}),
    ({"dimensions": [1, 2]}, {"rank": 3}),
    ({"dataType": "uint8"}, {"dtype": "uint16"}),
    ({}, {"dtype": "bool"}),
    ({"compression": {"type": "raw"}}, {"codec": {"driver": "n5", "compression": {"type": "raw"}}}),
    ({"compression": {"type": "raw"}}, {"codec": {"driver": "n5", "compression": {"type": "gzip"}}}),
    ({}, {"codec": {"driver": "zarr"}}),
    ({}, {"fill_value": 5}),
    ({}, {"dimension_units": ["4 nm", None]}),
    ({"units": ["nm", "nm"], "resolution": [4, 4]}, {"dimension_units": ["4nm", None]}),
    ({"units": ["nm", "nm"], "resolution": [4, 4]}, {"dimension_units": ["5 nm", None]}),
    ({"resolution": [4, 4]}, {"dimension_units": ["5 nm", None]}),
    ({"resolution": [4, 0.5]}, {"dimension_units": ["4 nm", "0.5 s"]}),
    ({"dimensions": [3, 4], "axes": ["x", "y"]}, {"domain": {"shape": [3, 5]}}),
    ({"dimensions": [3, 4], "axes": ["x", ""]}, {"domain": {"shape": [3, 4], "labels": ["", "y"]}}),
    ({"dimensions": [3, 4]}, {"chunk_layout": {"chunk": {"shape": [2, 2]}}}),
    ({"blockSize": [3, 4]}, {"chunk_layout": {"chunk": {"shape": [2, 2]}}}),
]


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=str)
def test_codecs(compression: Any) -> None:
    """Options with what they are unless told otherwise, and what is refused."""
    said = {"driver": "n5", "compression": compression}
    assert outcome(lambda: CodecSpec(said)) == outcome(lambda: ts.CodecSpec(said))


def known(library: Any, said: dict[str, Any]) -> str:
    """What a spec knows of the array."""
    spec = library(said)
    asked = (spec.domain, spec.dtype, spec.codec, spec.chunk_layout, spec.fill_value, spec.dimension_units)
    return f"{json.dumps(spec.to_json(), sort_keys=True)} {asked}"


@pytest.mark.parametrize("metadata", METADATA, ids=str)
def test_members(metadata: Any) -> None:
    """What is taken, how it is normalised, what follows from it, and what is refused with which words."""
    said = {"driver": "n5", "metadata": metadata}
    assert outcome(lambda: known(Spec, said)) == outcome(lambda: known(ts.Spec, said))


@pytest.mark.parametrize(("metadata", "schema"), SCHEMAS, ids=str)
def test_schemas(metadata: Any, schema: Any) -> None:
    """What metadata and schema say together, or the contradiction."""
    said = {"driver": "n5", "metadata": metadata, "schema": schema}
    assert outcome(lambda: known(Spec, said)) == outcome(lambda: known(ts.Spec, said))


def test_urls() -> None:
    """The scheme, and paths within a hierarchy."""
    for url in ("memory://a|n5:b/c", "memory://a/|n5", "file:///a|zip:|n5:b", "memory://a|n5://b/c", "n5:a"):
        assert outcome(lambda url=url: known(Spec, url)) == outcome(lambda url=url: known(ts.Spec, url))
    assert Spec({"driver": "n5", "kvstore": "memory://a"}).url == "memory://a/|n5:"

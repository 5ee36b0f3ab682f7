"""Schemas, each asked of TensorStore too."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorstore

from blizzarr import views
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import Unit
from unit.spec.oracle import outcome

OURS: Any = SimpleNamespace(Schema=Schema, ChunkLayout=ChunkLayout, CodecSpec=CodecSpec, Unit=Unit)
for _name in ("IndexDomain", "IndexTransform", "d"):
    setattr(OURS, _name, getattr(views, _name))

GZIP = {"driver": "zarr3", "codecs": ["gzip"]}
ZSTD = {"driver": "zarr3", "codecs": ["zstd"]}
BOTH = {"driver": "zarr3", "codecs": ["zstd", "crc32c"]}

CASES: list[Callable[[Any], Any]] = [
    lambda ts: ts.Schema({"fill_value": "a"}).update(dtype="ustring", fill_value="a"),
    lambda ts: ts.Schema({"fill_value": "a", "dtype": "ustring"}).update(fill_value="a"),
    lambda ts: ts.Schema(codec=ts.CodecSpec(GZIP)).update(codec=ts.CodecSpec(ZSTD)),
    lambda ts: ts.Schema(codec=ts.CodecSpec(GZIP)).update(codec=ts.CodecSpec(BOTH)),
    lambda ts: ts.Schema({"dtype": "foo"}),
    lambda ts: ts.Schema({"dtype": 5}),
    lambda ts: ts.Schema(dtype="foo"),
    lambda ts: ts.Schema(dtype=5),
    lambda ts: ts.Schema(chunk_layout=ts.ChunkLayout(rank=2)).update(
        chunk_layout=ts.ChunkLayout(inner_order=[1, 0, 2])
    ),
    lambda ts: ts.Schema(chunk_layout=ts.ChunkLayout(rank=2), rank=3),
    *(
        lambda ts, other=other: ts.Schema(dimension_units=["nm", None]) == ts.Schema(dimension_units=other)
        for other in ([None, "nm"], ["nm", None], [None, None], ["nm"], None)
    ),
    lambda ts: ts.Schema(),
    lambda ts: ts.Schema().rank,
    lambda ts: ts.Schema().domain,
    lambda ts: ts.Schema().codec,
    lambda ts: ts.Schema().fill_value,
    lambda ts: ts.Schema().dimension_units,
    lambda ts: ts.Schema().chunk_layout,
    lambda ts: ts.Schema().dtype,
    lambda ts: ts.Schema(rank=3).dimension_units,
    lambda ts: ts.Schema(rank=3),
    lambda ts: ts.Schema(rank=33),
    lambda ts: ts.Schema(rank=-1),
    lambda ts: ts.Schema(dtype="int8", rank=2),
    lambda ts: ts.Schema(fill_value=42),
    lambda ts: ts.Schema(fill_value=42).fill_value,
    lambda ts: ts.Schema(fill_value=42.5).fill_value,
    lambda ts: ts.Schema(fill_value=np.float32(42.5)).fill_value,
    lambda ts: ts.Schema(fill_value=np.float32(42.5)),
    lambda ts: ts.Schema(fill_value=None),
    lambda ts: ts.Schema(fill_value=[1, 2, 3]),
    lambda ts: ts.Schema(fill_value=[[1, 2, 3]]),
    lambda ts: ts.Schema(fill_value=[[1, 2, 3], [1, 2, 3]]),
    lambda ts: ts.Schema(fill_value=[[5, 5, 5], [5, 5, 5]]),
    lambda ts: ts.Schema(fill_value=[[5, 5, 5], [5, 5, 5]]).fill_value,
    lambda ts: ts.Schema(fill_value=[[1, 1], [2, 2]]).fill_value,
    lambda ts: ts.Schema(fill_value=True),
    lambda ts: ts.Schema(fill_value=1 + 2j),
    lambda ts: ts.Schema(fill_value=object()),
    lambda ts: ts.Schema({"fill_value": 5}).fill_value,
    lambda ts: ts.Schema({"fill_value": [1, 2]}).fill_value,
    lambda ts: ts.Schema({"fill_value": [[1, 2], [1, 2]]}).fill_value,
    lambda ts: ts.Schema({"fill_value": 5, "dtype": "int8"}).fill_value,
    lambda ts: ts.Schema({"fill_value": 500, "dtype": "int8"}).fill_value,
    lambda ts: ts.Schema({"fill_value": [1, [2]], "dtype": "int8"}).fill_value,
    lambda ts: ts.Schema({"fill_value": "NaN", "dtype": "float32"}).fill_value,
    lambda ts: ts.Schema({"fill_value": [1, 2], "dtype": "complex64"}).fill_value,
    lambda ts: ts.Schema({"fill_value": [[1, 2]], "dtype": "complex64"}).fill_value,
    lambda ts: ts.Schema({"fill_value": "a", "dtype": "string"}).fill_value,
    lambda ts: ts.Schema({"fill_value": "a", "dtype": "ustring"}).fill_value,
    lambda ts: ts.Schema({"fill_value": True, "dtype": "int8"}).fill_value,
    lambda ts: ts.Schema({"fill_value": 5, "dtype": "bool"}).fill_value,
    lambda ts: ts.Schema({"fill_value": 5.5, "dtype": "int4"}).fill_value,
    lambda ts: ts.Schema({"fill_value": 5, "dtype": "int4"}).fill_value,
    lambda ts: ts.Schema({"fill_value": 1.5, "dtype": "bfloat16"}),
    lambda ts: ts.Schema({"fill_value": None, "dtype": "json"}).fill_value,
    lambda ts: ts.Schema({"fill_value": None}).fill_value,
    lambda ts: ts.Schema({"fill_value": {}}).fill_value,
    lambda ts: ts.Schema({"fill_value": {"a": 1}}).fill_value,
    lambda ts: ts.Schema(fill_value=[1, 2, 3], rank=0),
    lambda ts: ts.Schema(fill_value=[1, 2, 3]).update(rank=0),
    lambda ts: ts.Schema(fill_value=[1, 2, 3], shape=[2]),
    lambda ts: ts.Schema(shape=[2], fill_value=[1, 2, 3]),
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3]),
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[[1], [2]]),
    lambda ts: ts.Schema(fill_value=5).update(fill_value=5),
    lambda ts: ts.Schema(fill_value=5).update(fill_value=6),
    lambda ts: ts.Schema(fill_value=5).update(fill_value=5.0),
    lambda ts: ts.Schema(fill_value=[1, 2]).update(fill_value=[2, 1]),
    lambda ts: ts.Schema(fill_value=5) == ts.Schema(fill_value=5.0),
    lambda ts: ts.Schema(fill_value=5) == ts.Schema({"fill_value": 5}),
    lambda ts: ts.Schema(fill_value=float("nan")) == ts.Schema(fill_value=float("nan")),
    lambda ts: ts.Schema(dtype="int8", fill_value=5).fill_value,
    lambda ts: ts.Schema(dtype="int8", fill_value=500).fill_value,
    lambda ts: ts.Schema(dtype="int8").update(dtype="int16"),
    lambda ts: ts.Schema(domain=ts.IndexDomain(3)),
    lambda ts: ts.Schema(domain=ts.IndexDomain(labels=["x", "y"])).update(domain=ts.IndexDomain(shape=[2, 3])),
    lambda ts: ts.Schema(domain=ts.IndexDomain(labels=["x", "y"]), shape=[2, 3]),
    lambda ts: ts.Schema(shape=[2, 3]),
    lambda ts: ts.Schema(shape=[2, 3], rank=3),
    lambda ts: ts.Schema(rank=3).update(shape=[2, 3]),
    lambda ts: ts.Schema(rank=3).update(domain=ts.IndexDomain(2)),
    lambda ts: ts.Schema(rank=3).update(chunk_layout=ts.ChunkLayout(rank=2)),
    lambda ts: ts.Schema(rank=3).update(dimension_units=["a"]),
    lambda ts: ts.Schema(shape=[2]).update(shape=[3]),
    lambda ts: ts.Schema(shape=[-2]),
    lambda ts: ts.Schema(shape=[2**62]),
    lambda ts: ts.Schema(shape=["a"]),
    lambda ts: ts.Schema(shape=5),
    lambda ts: ts.Schema(domain=5),
    lambda ts: ts.Schema(chunk_layout=5),
    lambda ts: ts.Schema(chunk_layout={}),
    lambda ts: ts.Schema(dimension_units=5),
    lambda ts: ts.Schema(dimension_units=[None, None]),
    lambda ts: ts.Schema(dimension_units=[None, None]).dimension_units,
    lambda ts: ts.Schema(dimension_units=[]),
    lambda ts: ts.Schema(dimension_units=[{}]),
    lambda ts: ts.Schema(dimension_units=["3nm", None]).update(dimension_units=["4nm", "5nm"]),
    lambda ts: ts.Schema(dimension_units=["3nm", None]).update(dimension_units=["3nm", "5nm"]),
    lambda ts: ts.Schema({"dimension_units": ["3nm", None]}),
    lambda ts: ts.Schema({"dimension_units": 5}),
    lambda ts: ts.Schema({"dimension_units": [[0, "a"]]}),
    lambda ts: ts.Schema({"dimension_units": []}).rank,
    lambda ts: ts.Schema({"rank": 2, "domain": {"rank": 3}}),
    lambda ts: ts.Schema({"rank": 2, "chunk_layout": {"rank": 3}}),
    lambda ts: ts.Schema({"chunk_layout": {"rank": 3}}),
    lambda ts: ts.Schema({"chunk_layout": {"rank": 3}}).to_json(),
    lambda ts: ts.Schema({"chunk_layout": {}}).rank,
    lambda ts: ts.Schema({"chunk_layout": 5}),
    lambda ts: ts.Schema({"rank": 2, "chunk_layout": {"read_chunk": {"elements": 5}}}),
    lambda ts: ts.Schema({"foo": 5}),
    lambda ts: ts.Schema({"codec": {"driver": "zarr3"}}),
    lambda ts: ts.Schema({"codec": {"driver": "foo"}}),
    lambda ts: ts.Schema({"codec": None}),
    lambda ts: ts.Schema({"domain": None}),
    lambda ts: ts.Schema({"domain": {"shape": [2, 3]}}),
    lambda ts: ts.Schema({"domain": {"shape": [2, 3], "labels": ["x", "x"]}}),
    lambda ts: ts.Schema({"domain": {"rank": 33}}),
    lambda ts: ts.Schema(codec=ts.CodecSpec({"driver": "zarr3", "codecs": ["gzip"]})).update(
        codec=ts.CodecSpec({"driver": "zarr3", "codecs": ["zstd"]})
    ),
    lambda ts: ts.Schema(codec=ts.CodecSpec({"driver": "zarr3", "codecs": ["gzip"]})).update(
        codec=ts.CodecSpec({"driver": "zarr3", "codecs": ["zstd", "crc32c"]})
    ),
    lambda ts: ts.Schema(schema=ts.Schema(rank=2), rank=3),
    lambda ts: ts.Schema(schema=ts.Schema(rank=2)),
    lambda ts: ts.Schema(schema={"rank": 2}),
    lambda ts: ts.Schema({"rank": 2}).copy(),
    lambda ts: copy.deepcopy(ts.Schema({"rank": 2})),
    lambda ts: ts.Schema({"rank": 2}) == {},
    lambda ts: ts.Schema(chunk_layout=ts.ChunkLayout(read_chunk_elements=5)).rank,
    lambda ts: ts.Schema(chunk_layout=ts.ChunkLayout(read_chunk_elements=5), rank=2),
    lambda ts: ts.Schema(chunk_layout=ts.ChunkLayout(read_chunk_elements=5), rank=2).chunk_layout,
    lambda ts: ts.Schema(chunk_layout=ts.ChunkLayout(read_chunk_elements=5), rank=2).chunk_layout.rank,
    lambda ts: ts.Schema(rank=2, chunk_layout=ts.ChunkLayout(rank=2)),
    lambda ts: ts.Schema(rank=2).chunk_layout,
    lambda ts: ts.Schema(rank=2).domain,
    lambda ts: ts.Schema(dtype="int8").to_json(include_defaults=True),
    lambda ts: ts.Schema(rank=1, dimension_units=["3nm"], schema=ts.Schema(dtype="int8")),
    lambda ts: pickle.loads(pickle.dumps(ts.Schema({"rank": 2, "dtype": "int4", "fill_value": 3}))),
    lambda ts: pickle.loads(pickle.dumps(ts.Schema({"rank": 2, "dtype": "int4", "fill_value": 3}))).fill_value,
    lambda ts: pickle.loads(pickle.dumps(ts.Schema(fill_value=5))).fill_value,
    lambda ts: ts.Schema(rank=2)[1],
    lambda ts: ts.Schema(rank=2).label["x", "y"],
    lambda ts: ts.Schema(rank=2).translate_to[1, 2],
    lambda ts: ts.Schema(shape=[2, 3])[ts.d[:].translate_to[1]],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3])[:, 1:],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3])[:, 1],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3])[1],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3])[:, ::2],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3])[:, ::-1],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[1, 2, 3])[:, [0, 2]],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[[1], [2]])[:, [0, 2]],
    lambda ts: ts.Schema(shape=[2, 3], fill_value=[[1], [2]]).transpose([1, 0]),
    lambda ts: ts.Schema(rank=2, fill_value=[[1], [2]]).transpose([1, 0]),
    lambda ts: ts.Schema(rank=2, fill_value=[[1], [2]])[:, 3:],
]


@pytest.mark.parametrize("case", CASES)
def test_schemas(case: Callable[[Any], Any]) -> None:
    """What is said, merged, refused and shown, and what a view has of it."""
    assert outcome(lambda: case(OURS)) == outcome(lambda: case(tensorstore))


def test_indexing_needs_a_rank() -> None:
    """Where TensorStore would crash, there is an error."""
    with pytest.raises(ValueError, match="unspecified rank"):
        Schema()[1]

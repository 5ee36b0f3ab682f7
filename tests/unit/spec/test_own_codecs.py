"""Arrays with codecs that TensorStore lacks and this library has are opened and described all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from blizzarr import formats
from blizzarr.errors import SpecError
from blizzarr.model import ArrayMeta
from blizzarr.spec.metadata.zarr2 import ZarrConstraints
from blizzarr.spec.metadata.zarr3 import Zarr3Constraints
from blizzarr.spec.schema import Schema

DELTA = {"configuration": {"dtype": "<i4"}, "name": "numcodecs.delta"}
LZ4 = {"configuration": {"acceleration": 1}, "name": "numcodecs.lz4"}


def test_codecs_of_numcodecs_in_v3() -> None:
    """They keep their place and their options; what lies between is chosen."""
    constraints = Zarr3Constraints.from_json({"shape": [10, 20], "data_type": "int32", "codecs": [DELTA, LZ4]})
    meta = constraints.create(Schema(), {})
    expected = [DELTA, {"configuration": {"endian": "little"}, "name": "bytes"}, LZ4]
    assert meta.source is not None
    assert meta.source["codecs"] == expected
    constraints.check(meta, Schema(), {})
    schema = Zarr3Constraints.schema_of(meta, {})
    assert schema.codec is not None
    complete = [{"configuration": {"astype": "<i4", "dtype": "<i4"}, "name": DELTA["name"]}, *expected[1:]]
    assert schema.codec.to_json() == {"codecs": complete, "driver": "zarr3"}
    assert Zarr3Constraints.of(meta).to_json()["codecs"] == complete


def test_wrong_options_are_refused() -> None:
    """Not when they are said, but when an array is to have them."""
    codecs = [{"name": "numcodecs.lz4", "configuration": {"acceleration": "fast"}}]
    constraints = Zarr3Constraints.from_json({"shape": [10], "data_type": "int32", "codecs": codecs})
    with pytest.raises(SpecError, match="acceleration"):
        constraints.create(Schema(), {})


def v2(**members: Any) -> ArrayMeta:
    """An array of v2 with these members."""
    document = {"zarr_format": 2, "shape": [10], "chunks": [5], "dtype": "<i4", "fill_value": 0, "order": "C"}
    raw = json.dumps({**document, "compressor": None, "filters": None, **members}).encode()
    meta = formats.format_named("v2").decode("", {".zarray": raw})
    assert isinstance(meta, ArrayMeta)
    return meta


def test_filters_and_compressors_of_v2() -> None:
    """They are in the schema; a spec cannot demand them, so that of the array leaves them out."""
    meta = v2(compressor={"id": "lz4", "acceleration": 1}, filters=[{"id": "delta", "dtype": "<i4"}])
    schema = ZarrConstraints.schema_of(meta, {})
    assert schema.codec is not None
    assert schema.codec.to_json() == {
        "compressor": {"id": "lz4", "acceleration": 1},
        "driver": "zarr",
        "filters": [{"id": "delta", "dtype": "<i4"}],
    }
    said = ZarrConstraints.of(meta)
    assert "compressor" not in said.to_json()
    assert "filters" not in said.to_json()
    said.check(meta, Schema(), {})
    with pytest.raises(SpecError, match=r'"compressor" of null but received: .*"id":"lz4"'):
        ZarrConstraints.from_json({"compressor": None}).check(meta, Schema(), {})


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "float8_e5m2"])
def test_data_types_of_tensorstore_in_v2(dtype: str) -> None:
    """What TensorStore writes of data types that NumPy lacks is read, and written when the array is resized."""
    meta = v2(dtype=dtype)
    assert meta.dtype.name == dtype
    document = json.loads(formats.encode(meta.with_shape((7,)), "")[".zarray"])
    assert (document["dtype"], document["shape"]) == (dtype, [7])
    assert ZarrConstraints.schema_of(meta, {}).dtype == dtype

"""The page of TensorStore's driver zarr3, line by line: metadata, codecs, key encodings, schema and layout."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import SpecError
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dtype import DType
from blizzarr.spec.metadata.zarr3 import Zarr3Constraints
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import Unit

LITTLE = {"configuration": {"endian": "little"}, "name": "bytes"}
BYTES = {"name": "bytes"}


def new(metadata: dict[str, Any], **constraints: Any) -> dict[str, Any]:
    """The document of a new array."""
    said, schema = Zarr3Constraints.from_json(metadata), Schema(**constraints)
    said.check_dtype(schema)
    said.constrain(schema, {})
    meta = said.create(schema, {})
    said.check(meta, schema, {})
    return dict(meta.source or {})


def codecs(*said: Any, dtype: str = "int16", **constraints: Any) -> Any:
    """The codecs of a new array of 4 by 6 elements."""
    return new({"shape": [4, 6], "data_type": dtype, "codecs": list(said)}, **constraints)["codecs"]


def schema_of(document: dict[str, Any]) -> dict[str, Any]:
    """The schema of an array that was made of this document."""
    constraints = Zarr3Constraints.from_json(document)
    schema = Schema()
    constraints.constrain(schema, {})
    return Zarr3Constraints.schema_of(constraints.create(schema, {}), {}).to_json()


def layout(**constraints: Any) -> tuple[Any, Any]:
    """The shapes that are written and read of 1000 by 2000 by 3000 elements."""
    document = new({"shape": [1000, 2000, 3000]}, dtype="uint16", chunk_layout=ChunkLayout(**constraints))
    found = Schema(schema_of(document)).chunk_layout
    return found.write_chunk.shape, found.read_chunk.shape


def refused(text: str, metadata: dict[str, Any], **constraints: Any) -> None:
    """Hold that no array is made, and that the error has this text in it."""
    with pytest.raises(SpecError, match=re.escape(text)):
        new(metadata, **constraints)


def test_fixed_members() -> None:
    """K-20 K-21: they may be left out, and are nothing else."""
    found = new({"shape": [5], "data_type": "int8"})
    assert (found["zarr_format"], found["node_type"]) == (3, "array")
    refused("Expected integer in the range [3, 3], but received: 2", {"zarr_format": 2})
    refused('Expected one of "array", but received: "group"', {"node_type": "group"})


def test_shape() -> None:
    """K-22: it is in the metadata or in the domain of the schema."""
    assert new({"data_type": "int8"}, shape=[4, 0])["shape"] == [4, 0]
    refused("domain must be specified", {"data_type": "int8"})
    refused("but received: -1", {"shape": [-1]})


def test_data_type() -> None:
    """K-23 K-47: the data types, in the metadata or the schema; they must agree."""
    for name in ["bool", "int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]:
        assert new({"shape": [1]}, dtype=name)["data_type"] == name
    for name in ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]:
        assert schema_of({"shape": [1], "data_type": name})["dtype"] == name
    refused("Specified dtype (int8) does not match existing value (int16)", {"data_type": "int8"}, dtype="int16")
    refused("string data type is not one of the supported data types: bool, ", {}, dtype="string")


def test_chunk_grid() -> None:
    """K-24 K-25: a regular grid of the same rank; chosen if it is left out."""
    grid = {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}
    assert new({"shape": [4, 6], "data_type": "int8", "chunk_grid": grid})["chunk_grid"] == grid
    chosen = new({"shape": [4, 6], "data_type": "int8"})["chunk_grid"]["configuration"]
    assert chosen == {"chunk_shape": [4, 6]}
    refused('Expected one of "regular", but received: "x"', {"chunk_grid": {"name": "x"}})
    refused("Array has length 2 but should have length 1", {"shape": [4], "chunk_grid": grid})
    zero = {"name": "regular", "configuration": {"chunk_shape": [0]}}
    refused("but received: 0", {"chunk_grid": zero})


def test_key_encodings() -> None:
    """K-26 K-44 K-45: default with a slash, v2 with a dot; a separator that is usual is not written."""

    def encoding(said: Any) -> Any:
        return new({"shape": [1], "data_type": "int8", "chunk_key_encoding": said})["chunk_key_encoding"]

    assert new({"shape": [1], "data_type": "int8"})["chunk_key_encoding"] == {"name": "default"}
    for name, usual, other in (("default", "/", "."), ("v2", ".", "/")):
        assert encoding({"name": name, "configuration": {"separator": usual}}) == {"name": name}
        said = {"name": name, "configuration": {"separator": other}}
        assert encoding(said) == said
    refused('Expected one of "default", "v2"', {"chunk_key_encoding": {"name": "x"}})


def test_fill_value() -> None:
    """K-27 K-62: zero or false if left out; a scalar of the schema becomes one of the data type."""
    assert new({"shape": [1], "data_type": "bool"})["fill_value"] is False
    assert new({"shape": [1], "data_type": "complex64"})["fill_value"] == [0.0, 0.0]
    assert new({"shape": [1], "data_type": "float32"}, fill_value=np.nan)["fill_value"] == "NaN"
    assert new({"shape": [1], "data_type": "int4"}, fill_value=-8)["fill_value"] == -8
    refused("Cannot broadcast array of shape {2}", {"shape": [2], "data_type": "int8"}, fill_value=[1, 2])
    refused(
        "expected the fill_value 1 of the schema, found 2 in the metadata",
        {"shape": [1], "data_type": "int8", "fill_value": 2},
        fill_value=1,
    )


def test_attributes() -> None:
    """K-29 K-30 K-64: what users say is kept; units are told apart from it, and normalised but not converted."""
    attributes = {"dimension_units": ["2nm", None, ""], "a": [1]}
    found = new({"shape": [1, 2, 3], "data_type": "int8", "attributes": attributes})
    assert found["attributes"] == {"a": [1], "dimension_units": ["2 nm", None, "1"]}
    assert schema_of(found)["dimension_units"] == [[2.0, "nm"], None, [1.0, ""]]
    assert "attributes" not in new({"shape": [1], "data_type": "int8"})
    given = new({"shape": [1], "data_type": "int8"}, dimension_units=[Unit("1000nm")])
    assert given["attributes"] == {"dimension_units": ["1000 nm"]}
    refused(
        "Array has length 1 but should have length 3", {"shape": [1, 2, 3], "attributes": {"dimension_units": [""]}}
    )


def test_dimension_names() -> None:
    """K-31 K-48 K-49: names are labels, none and empty ones are no label; where one is there twice, there are none."""
    metadata = {"shape": [1, 2, 3], "data_type": "int8"}
    found = new({**metadata, "dimension_names": ["x", None, ""]})
    assert found["dimension_names"] == ["x", None, ""]
    assert schema_of(found)["domain"]["labels"] == ["x", "", ""]
    assert "dimension_names" not in new(metadata)
    assert new(metadata, domain=_labels("a", "", "c"))["dimension_names"] == ["a", None, "c"]
    refused('Expected "dimension_names" of', {**metadata, "dimension_names": ["x", "x", "y"]})


def _labels(*labels: str) -> Any:
    return Schema({"domain": {"labels": list(labels)}}).domain


def test_the_example_of_the_page() -> None:
    """K-32: int4 with Blosc."""
    blosc = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5}}
    options = {"blocksize": 0, "clevel": 5, "cname": "lz4", "shuffle": "bitshuffle", "typesize": 1}
    assert codecs(blosc, dtype="int4") == [BYTES, {"configuration": options, "name": "blosc"}]


def test_chains() -> None:
    """K-28 K-33 K-34 K-35 K-36 K-43: texts are names; what makes bytes may be left out; the kinds have an order."""
    assert codecs("crc32c") == [LITTLE, {"name": "crc32c"}]
    assert codecs() == [LITTLE]
    for wrong, match in (
        (["crc32c", "bytes"], 'Expected bytes -> bytes codec, but received: {"name":"bytes"}'),
        (["foo"], '"foo" is not registered'),
        ([{"configuration": {}}], '"name": Expected string, but member is missing'),
        ([{"name": "crc32c", "configuration": {"x": 1}}], 'Object includes extra members: "x"'),
    ):
        refused(match, {"codecs": wrong})


def test_transpose() -> None:
    """K-37: C, F or a permutation, always stored as one."""

    def transpose(order: Any) -> dict[str, Any]:
        return {"configuration": {"order": order}, "name": "transpose"}

    assert codecs(transpose("C")) == [transpose([0, 1]), LITTLE]
    assert codecs(transpose("F")) == codecs(transpose([1, 0])) == [transpose([1, 0]), LITTLE]
    none = CodecSpec({"driver": "zarr3", "codecs": [transpose([])]})
    assert new({"shape": [], "data_type": "int8", "codecs": [transpose("F")]}, codec=none)["codecs"][0] == transpose([])
    refused("{0, 0} is not a valid permutation", {"codecs": [transpose([0, 0])]})


def test_bytes() -> None:
    """K-38: little unless told otherwise; nothing is said of bytes."""
    big = {"configuration": {"endian": "big"}, "name": "bytes"}
    assert codecs("bytes") == [LITTLE]
    assert codecs(big) == [big]
    assert codecs(big, dtype="bool") == [BYTES]


def test_sharding() -> None:
    """K-39: what is left out is filled in; the index is at the end, which is not said; parts divide shards."""

    def shards(**options: Any) -> dict[str, Any]:
        return {"configuration": options, "name": "sharding_indexed"}

    index = [LITTLE, {"name": "crc32c"}]
    filled = shards(chunk_shape=[2, 3], codecs=[LITTLE], index_codecs=index)
    assert codecs(shards(chunk_shape=[2, 3])) == [filled]
    assert codecs(shards(chunk_shape=[2, 3], index_location="end")) == [filled]
    start = codecs(shards(chunk_shape=[2, 3], index_location="start"))[0]["configuration"]
    assert start["index_location"] == "start"
    odd = {"codecs": [shards(chunk_shape=[3, 3])], "shape": [4, 6], "data_type": "int8"}
    grid = {"name": "regular", "configuration": {"chunk_shape": [4, 6]}}
    refused("chunk_shape[0]: expected a divisor of 4, the length of the shard, found 3", {**odd, "chunk_grid": grid})
    odd["codecs"] = [shards(chunk_shape=[3, 3], codecs=[])]
    refused("dimension 0: chunks of 4 that are written cannot be read in parts of 3", {**odd, "chunk_grid": grid})
    refused("but received: 0", {"codecs": [shards(chunk_shape=[0])]})


def test_compressors() -> None:
    """K-40 K-41 K-42: their defaults, and the ranges of their options."""
    assert codecs("gzip")[1] == {"configuration": {"level": 6}, "name": "gzip"}
    assert codecs("zstd")[1] == {"configuration": {"checksum": False, "level": 3}, "name": "zstd"}
    shuffled = {"blocksize": 0, "clevel": 5, "cname": "lz4", "shuffle": "shuffle", "typesize": 2}
    assert codecs("blosc")[1] == {"configuration": shuffled, "name": "blosc"}
    for name, option, value in (
        ("gzip", "level", "5"),
        ("gzip", "level", 10),
        ("zstd", "level", 23),
        ("zstd", "level", -131073),
        ("blosc", "cname", "zip"),
        ("blosc", "clevel", 10),
        ("blosc", "shuffle", "x"),
        ("blosc", "typesize", -1),
        ("blosc", "blocksize", -1),
    ):
        refused(f'as "{option}", found', {"codecs": [{"name": name, "configuration": {option: value}}]})


def test_the_schemas_of_the_page() -> None:
    """K-46 K-50 K-51 K-52 K-53 K-54: grids from zero, read as written, upper bounds that can be changed."""
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [1000, 2000, 3000],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [100, 200, 300]}},
        "chunk_key_encoding": {"name": "default"},
        "data_type": "uint16",
        "codecs": [LITTLE],
        "fill_value": 42,
    }
    expected = {
        "chunk_layout": {
            "grid_origin": [0, 0, 0],
            "inner_order": [0, 1, 2],
            "read_chunk": {"shape": [100, 200, 300]},
            "write_chunk": {"shape": [100, 200, 300]},
        },
        "codec": {"codecs": [LITTLE], "driver": "zarr3"},
        "domain": {"exclusive_max": [[1000], [2000], [3000]], "inclusive_min": [0, 0, 0]},
        "dtype": "uint16",
        "fill_value": 42,
        "rank": 3,
    }
    assert schema_of(document) == expected
    named = schema_of({**document, "dimension_names": ["x", "y", "z"], "fill_value": 0})
    assert named["domain"] == {**expected["domain"], "labels": ["x", "y", "z"]}  # type: ignore[dict-item]


def test_layouts_are_solved() -> None:
    """K-55 K-56 K-58 K-59 K-60: the three examples of the page, and shards where reading and writing differ."""
    assert layout() == ((101, 101, 101), (101, 101, 101))
    ratio = {"chunk_aspect_ratio": [2, 1, 1], "read_chunk_elements": 2_000_000, "write_chunk_elements": 1_000_000_000}
    assert layout(**ratio) == ((1000, 1000, 1000), (200, 100, 100))
    shapes = {"read_chunk_shape": [64, 64, 64], "write_chunk_shape": [512, 512, 512]}
    assert layout(**shapes) == ((512, 512, 512), (64, 64, 64))


def test_inner_order() -> None:
    """K-53 K-57: a transpose is put before the innermost codec that makes bytes, in shards too."""
    transpose = {"configuration": {"order": [1, 0]}, "name": "transpose"}
    order = ChunkLayout(inner_order=[1, 0])
    found = new({"shape": [4, 6], "data_type": "int16"}, chunk_layout=order)
    assert found["codecs"] == [transpose, LITTLE]
    order.update(read_chunk_shape=[2, 3])
    document = new({"shape": [4, 6], "data_type": "int16"}, chunk_layout=order)
    (shards,) = document["codecs"]
    assert shards["configuration"]["codecs"] == [transpose, LITTLE]
    assert schema_of(document)["chunk_layout"]["inner_order"] == [1, 0]


def test_codecs_of_schemas() -> None:
    """K-61: those of the same driver are merged with the metadata; there is no other driver."""
    gzip = CodecSpec({"driver": "zarr3", "codecs": [{"name": "gzip", "configuration": {"level": 9}}]})
    assert codecs("gzip", codec=gzip)[1] == {"configuration": {"level": 9}, "name": "gzip"}
    refused(
        'Cannot merge codec spec {"driver":"zarr3"}',
        {"shape": [1], "data_type": "int8"},
        codec=CodecSpec({"driver": "zarr"}),
    )


def test_data_types_have_numpy_dtypes() -> None:
    """K-47: one element a byte, where there are less bits."""
    assert DType("int4").numpy_dtype.itemsize == 1
    assert DType("bfloat16").numpy_dtype.itemsize == 2

"""The model: grids, keys, names, and nodes as values."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from blizzarr.codecs import CodecChain, ShardingCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import PathError
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta, RegularGrid
from blizzarr.model.names import check_path, join, reserved, unusable


def an_array(**changes: object) -> ArrayMeta:
    dtype = DataType.parse("float32")
    members: dict[str, object] = {
        "shape": (10, 20),
        "dtype": dtype,
        "chunk_grid": RegularGrid((4, 8)),
        "chunk_keys": ChunkKeys.default(),
        "fill_value": dtype.fill(float("nan")),
        "codecs": CodecChain.from_user(dtype=dtype, chunk_shape=(4, 8)),
        "attributes": {"a": [1]},
    }
    return ArrayMeta(**{**members, **changes})  # type: ignore[arg-type]


def test_grid_shape() -> None:
    """D-34, D-35: chunks overhang the array; an axis without elements has no chunks."""
    assert RegularGrid((5, 20, 400)).shape((10, 200, 3000)) == (2, 10, 8)
    assert RegularGrid((16, 16)).shape((30, 0)) == (2, 0)
    assert RegularGrid(()).shape(()) == ()
    assert RegularGrid((5, 20, 400)).locate((7, 150, 900)) == ((1, 7, 2), (2, 10, 100))


@pytest.mark.parametrize(
    ("keys", "key", "scalar"),
    [
        (ChunkKeys.default(), "c/1/23/45", "c"),
        (ChunkKeys.default("."), "c.1.23.45", "c"),
        (ChunkKeys.v2(), "1.23.45", "0"),
        (ChunkKeys.v2("/"), "1/23/45", "0"),
    ],
)
def test_chunk_keys(keys: ChunkKeys, key: str, scalar: str) -> None:
    """F-1, F-12, K-44, K-45: the keys of the specification's examples, also put together as the engine does."""
    assert keys.key((1, 23, 45)) == key
    assert keys.head + keys.separator.join(("1", "23", "45")) == key
    assert keys.key(()) == keys.scalar == scalar


def test_shapes_of_a_plain_array() -> None:
    """Without shards, what is read and what is written are the same."""
    meta = an_array()
    assert (meta.chunk_shape, meta.write_shape, meta.shard_shape, meta.order) == ((4, 8), (4, 8), None, "C")


def test_shapes_of_a_sharded_array() -> None:
    """K-51, K-54: the grid is that of shards; the chunk is the innermost."""
    chain = CodecChain.from_list([ShardingCodec((4, 4), [ShardingCodec((2, 4))])], "float32", (4, 8))
    meta = an_array(codecs=chain)
    assert (meta.chunk_shape, meta.write_shape, meta.shard_shape) == ((2, 4), (4, 8), (4, 8))


def test_equality_is_by_meaning() -> None:
    """A NaN fill value is equal to itself, and not to another NaN; where the array came from does not matter."""
    assert an_array() == an_array(source={"x": 1})
    assert an_array() != an_array(fill_value=np.uint32(0x7FC00001).view("f4"))
    assert an_array() != an_array(shape=(11, 20))
    assert an_array() != GroupMeta()


def test_with_shape_and_attributes() -> None:
    """Changes make another value; the old one stays."""
    meta = an_array()
    assert meta.with_shape((5, 5)).shape == (5, 5)
    changed = meta.with_attributes({"b": 2})
    assert (changed.attributes, meta.attributes) == ({"b": 2}, {"a": [1]})
    assert GroupMeta({"a": 1}).with_attributes({"b": 2}).attributes == {"b": 2}


@pytest.mark.parametrize("dtype", ["float32", "bool", "r24", "complex64", "M8[ns]", "bfloat16", "int4"])
def test_pickle(dtype: str) -> None:
    """A pickled array is the same, whatever its data type."""
    kind = DataType.parse(dtype)
    chain = CodecChain.from_user(dtype=kind, chunk_shape=(4, 8))
    meta = an_array(dtype=kind, fill_value=kind.default_fill, codecs=chain)
    assert pickle.loads(pickle.dumps(meta)) == meta


@pytest.mark.parametrize(
    "name", ["a", "c", ".zarray", "A-_.0", "größe", "with space", "%2e%2e", "a.", "...a", "x" * 300, "_x"]
)
def test_names(name: str) -> None:
    """F-7, rows 67 and 75: names that are allowed, percent forms among them as they stand."""
    assert unusable(name) is reserved(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "...", "a/b", "__x", "__zarr", "zarr.json", "a\\b", "a\0"])
def test_names_that_break_a_rule(name: str) -> None:
    """F-7, row 67: the rule is named; names that are only reserved may be read."""
    rule = reserved(name) if name in ("...", "__x", "__zarr") else unusable(name)
    assert rule is not None
    assert rule.startswith("a name may not")
    assert (unusable(name) is None) == (name in ("...", "__x", "__zarr"))


@pytest.mark.parametrize(
    "path", ["/a", "a/", "a//b", "../a", "a/../../b", "a/./b", "//x", "\\\\host\\x", "C:\\x", "a/zarr.json"]
)
def test_paths_that_break_a_rule(path: str) -> None:
    """rows 67 and 68: never outside, never silently another path."""
    with pytest.raises(PathError, match="is no path of a node"):
        check_path(path)


def test_paths() -> None:
    """D-4, D-5: the root is empty; children are joined by a slash."""
    assert check_path("") == check_path("/") == ""
    assert check_path("a/b") == "a/b"
    assert (join("", "a"), join("a", "b")) == ("a", "a/b")

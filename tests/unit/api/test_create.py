"""Making arrays: what each argument becomes, and what is refused before anything is stored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import api
from blizzarr.array import Array
from blizzarr.codecs import BloscCodec, BytesCodec, GzipCodec, ShardingCodec, TransposeCodec
from blizzarr.errors import MetadataError, NodeExistsError, PathError, StoreError


def document(values: dict[str, bytes], path: str = "") -> dict[str, Any]:
    """The stored document of a node."""
    found: dict[str, Any] = json.loads(values[f"{path}/zarr.json" if path else "zarr.json"])
    return found


def test_every_argument_is_in_the_document() -> None:
    """F-3: what is asked for is what is stored."""
    values: dict[str, bytes] = {}
    array = api.create_array(
        values,
        name="g/a",
        shape=(100, 60),
        dtype=">f4",
        chunks=(10, 20),
        shards=(50, 60),
        compressors=[GzipCodec(level=3)],
        fill_value=float("nan"),
        order="F",
        chunk_key_encoding=("v2", "/"),
        dimension_names=["y", None],
        attributes={"a": [1, {"b": None}]},
    )
    stored = document(values, "g/a")
    assert stored["shape"] == [100, 60]
    assert stored["data_type"] == "float32"
    assert stored["fill_value"] == "NaN"
    assert stored["chunk_grid"]["configuration"]["chunk_shape"] == [50, 60]
    assert stored["chunk_key_encoding"] == {"name": "v2", "configuration": {"separator": "/"}}
    assert stored["dimension_names"] == ["y", None]
    assert stored["attributes"] == {"a": [1, {"b": None}]}
    [shard] = stored["codecs"]
    assert shard["configuration"]["chunk_shape"] == [10, 20]
    assert [codec["name"] for codec in shard["configuration"]["codecs"]] == ["transpose", "bytes", "gzip"]
    assert shard["configuration"]["codecs"][1]["configuration"] == {"endian": "big"}
    assert (array.chunks, array.shards, array.order) == ((10, 20), (50, 60), "F")
    assert document(values, "g")["node_type"] == "group"


def test_a_whole_chain() -> None:
    """codecs= is the chain as it is; chunks= is then what is stored as one object."""
    codecs = [
        TransposeCodec(order=(1, 0)),
        ShardingCodec(chunk_shape=(20, 5), codecs=[BytesCodec(), BloscCodec(cname="lz4", clevel=3)]),
    ]
    array = api.create_array({}, shape=(40, 40), dtype="u2", chunks=(20, 40), codecs=codecs)
    assert (array.chunks, array.shards) == ((5, 20), (20, 40))
    array[...] = data = np.arange(1600).reshape(40, 40)
    assert np.array_equal(array[...], data)
    with pytest.raises(ValueError, match=r"either codecs= .* or shards="):
        api.create_array({}, shape=(4, 4), dtype="u2", codecs=["bytes"], shards=(2, 2))


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"shape": (4,), "dtype": "nonsense"}, MetadataError, "nonsense"),
        ({"shape": (-1,), "dtype": "u1"}, MetadataError, r"shape\[0\]: expected an integer in \[0, 2\^63\), found -1"),
        ({"shape": (4, 1.5), "dtype": "u1"}, MetadataError, r"shape\[1\].* found 1\.5"),
        ({"shape": (4,), "dtype": "u1", "chunks": 0}, MetadataError, r"chunks\[0\]: expected an integer of at least 1"),
        ({"shape": (4,), "dtype": "u1", "chunks": (2, 2)}, MetadataError, r"chunks: expected 1 length, .*found 2"),
        ({"shape": (4,), "dtype": "u1", "chunks": "many"}, ValueError, "expected a size like '8MB'"),
        ({"shape": (9,), "dtype": "u1", "chunks": 2, "shards": 3}, MetadataError, r"shards\[0\]: expected a multiple"),
        ({"shape": (4,), "dtype": "u1", "fill_value": 256}, MetadataError, r"fill_value: expected an integer in"),
        ({"shape": (4,), "dtype": "u1", "order": "K"}, MetadataError, "order: expected 'C' or 'F'"),
        ({"shape": (4,), "dtype": "u1", "dimension_names": ["a", "b"]}, MetadataError, "expected 1 name,"),
        ({"shape": (4,), "dtype": "u1", "dimension_names": [3]}, MetadataError, r"dimension_names\[0\]"),
        ({"shape": (4,), "dtype": "u1", "attributes": {"a": np.zeros(2)}}, MetadataError, r"attributes\.a: .*tolist"),
        ({"shape": (4,), "dtype": "u1", "chunk_key_encoding": "v9"}, MetadataError, "chunk_key_encoding"),
        ({"shape": (4,), "dtype": "u1", "filters": TransposeCodec((1, 0))}, MetadataError, "permutation"),
        ({"shape": (1,) * 65, "dtype": "u1"}, MetadataError, "at most 64 dimensions"),
        ({"shape": (4,)}, TypeError, "found no dtype"),
        ({"dtype": "u1"}, TypeError, "found no shape"),
        ({"shape": (4,), "data": [1, 2, 3]}, ValueError, r"that of the data, \(3,\), found \(4,\)"),
        ({"shape": (4,), "dtype": "u1", "compressor": None}, TypeError, "compressor"),
    ],
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_refused_and_nothing_changed(
    options: dict[str, Any], error: type[Exception], match: str, overwrite: bool
) -> None:
    """Rows 41, 43, 56 to 58, 63: every bad argument is named, and what is there stays, also with overwrite."""
    values: dict[str, bytes] = {}
    if overwrite:
        api.save(values, np.arange(10))
    before = dict(values)
    with pytest.raises(error, match=match):
        api.create_array(values, overwrite=overwrite, **options)
    assert values == before


@pytest.mark.parametrize("name", ["../a", "//a", "a//b", "", ".", "a/..", "a\\b"])
def test_names_that_may_not_be(tmp_path: Path, name: str) -> None:
    """Rows 67, 68: nothing is made, inside or outside of the store."""
    root = tmp_path / "store"
    if name != "":
        with pytest.raises(PathError):
            api.create_array(root, name=name, shape=1, dtype="u1")
    group = api.create_group(root)
    for make in (
        lambda: group.create_group(name),
        lambda: group.create_array(name, shape=1, dtype="u1"),
        lambda: group.require_group(name),
        lambda: group[name],
        lambda: group.__delitem__(name),
        lambda: group.__setitem__(name, [1]),
    ):
        with pytest.raises(PathError):
            make()
    assert name not in group
    assert [path.name for path in tmp_path.rglob("*")] == ["store", "zarr.json"]


def test_exists() -> None:
    """Nothing is replaced unless asked."""
    values: dict[str, bytes] = {}
    api.create_array(values, data=[1, 2, 3])
    before = dict(values)
    with pytest.raises(NodeExistsError, match="overwrite=True replaces it"):
        api.create_array(values, data=[4])
    assert values == before
    assert api.create_array(values, data=[4], overwrite=True)[:].tolist() == [4]
    group = api.create_group({})
    group.create_array("a/b", data=[1])
    told = r"\(a/zarr\.json of a group, and all that is below it\); overwrite=True replaces it"
    with pytest.raises(NodeExistsError, match=told):
        group.create_group("a")
    assert group["a/b"][:].tolist() == [1]


def test_data_that_cannot_be_stored_leaves_nothing() -> None:
    """Row 85: when the elements do not fit on the disk, the array is not there either."""

    class Full(dict[str, bytes]):
        def __setitem__(self, key: str, value: bytes) -> None:
            if "/c/" in key:
                raise OSError(28, "No space left on device")
            super().__setitem__(key, value)

    values = Full()
    api.create_group(values)
    with pytest.raises(StoreError, match="No space left"):
        api.create_array(values, name="a", data=np.arange(1, 10))
    assert list(values) == ["zarr.json"]


def test_made_of_a_value() -> None:
    """empty, zeros, ones, full and the like store metadata only."""
    for array, expected in (
        (api.zeros((2, 3)), 0.0),
        (api.ones((2, 3), dtype="i2"), 1),
        (api.full((2, 3), 7, dtype="u1"), 7),
        (api.full((2, 3), True, dtype=bool), True),
    ):
        assert array[...].tolist() == [[expected] * 3] * 2
        assert list(array.store.list()) == ["zarr.json"]
    assert api.empty((2, 3)).dtype == "f8"
    assert api.create(5, chunks=2, dtype="u1").chunks == (2,)


def test_like_takes_the_layout_over() -> None:
    """What another array has is kept, but for what is asked for; elements and attributes are not."""
    source = api.create_array(
        {}, shape=(20, 30), dtype="f4", chunks=(5, 10), shards=(10, 30), compressors="gzip", fill_value=2,
        dimension_names=["y", "x"], attributes={"a": 1},
    )  # fmt: skip
    same = api.empty_like(source)
    assert same.metadata.codecs == source.metadata.codecs
    assert (same.chunks, same.shards, same.fill_value, same.dimension_names) == ((5, 10), (10, 30), 2, ("y", "x"))
    assert dict(same.attrs) == {}
    assert api.zeros_like(source)[0, 0] == 0
    rechunked = api.full_like(source, 3, chunks=(4, 8))
    assert (rechunked.chunks, rechunked.shards) == ((4, 8), (12, 32))
    assert [codec.name for codec in rechunked.compressors] == ["gzip"]
    other = api.ones_like(source, dtype="u1")
    assert (other.dtype, other.chunks, other.shards, other[0, 0]) == ("u1", (5, 10), (10, 30), 1)
    assert api.zeros_like(np.ones((3, 2), "c8")).dtype == "c8"


def test_none_is_the_default_data_type() -> None:
    """As in NumPy: float64, or that of the other array, which keeps its codecs then."""
    for array in (
        api.zeros(3, dtype=None),
        api.empty(3, dtype=None),
        api.create_group({}).full("a", 3, 0, dtype=None),
        api.create_group({}).empty("a", 3, dtype=None),
        api.zeros_like(np.zeros(3), dtype=None, shape=None),
    ):
        assert (array.dtype, array.shape) == ("f8", (3,))
    source = api.create_array({}, data=["a", "b"], fill_value="none", compressors="gzip")
    for array in (
        api.empty_like(source, dtype=None, shape=None),
        api.create_group({}).empty_like("a", source, dtype=None),
        api.copy(source, {}, dtype=None),
    ):
        assert isinstance(array, Array)
        assert replace(array.metadata, source=None) == replace(source.metadata, source=None)


def test_like_a_lazy_view() -> None:
    """NumPy's data type of text of any length, and of an empty view, says too little."""
    for data in (["a", "b"], [b"a", b"b"], np.zeros(2, "V3"), np.zeros(2, "M8[25s]")):
        source = api.create_array({}, data=data)
        for array in (
            api.zeros_like(source.lazy[:1]),
            api.create_group({}).empty_like("a", source.lazy[:1]),
            api.create_array({}, data=source.lazy[:1]),
        ):
            assert (array.metadata.dtype, array.shape) == (source.metadata.dtype, (1,))
        assert api.create_array({}, data=source.lazy[:0]).metadata.dtype == source.metadata.dtype


def test_auto_chunks_and_shards() -> None:
    """About 1 MiB and 64 MiB; a small array is one chunk without shards."""
    array = api.create_array({}, shape=(4000, 4000), dtype="f4", shards="auto")
    assert 2**19 <= np.prod(array.chunks) * 4 <= 2**20
    assert array.shards is not None
    assert 2**25 <= np.prod(array.shards) * 4 <= 2**26
    small = api.create_array({}, shape=(10, 10), dtype="f4", shards="auto")
    assert (small.chunks, small.shards) == ((10, 10), None)


def test_save_and_load() -> None:
    """One array, several by position, several by name."""
    values: dict[str, bytes] = {}
    expected = {"arr_0": [1, 2], "arr_1": [[3]], "x": 5, "y/inner": [4]}
    api.save(values, [1, 2], [[3]], **{"x": 5, "y/inner": [4]})
    loaded = api.load(values)
    assert isinstance(loaded, dict)
    assert {name: value.tolist() for name, value in loaded.items()} == expected
    before = dict(values)
    with pytest.raises(TypeError, match="at least one array"):
        api.save(values)
    with pytest.raises(ValueError, match="arr_0"):
        api.save(values, 1, arr_0=2)
    assert values == before


def test_array_and_group() -> None:
    """The short verbs."""
    assert api.array([[1, 2]])[0, 1] == 2
    values: dict[str, bytes] = {}
    api.group(values, attributes={"a": 1})
    assert api.group(values).attrs["a"] == 1
    assert dict(api.group(values, overwrite=True).attrs) == {}


def test_options_that_there_are_not() -> None:
    """Named with what was meant, and without a name that only we know."""
    root = api.group()
    with pytest.raises(
        TypeError, match=r"^create_array\(\): unexpected keyword arguments: filte; did you mean 'filters'"
    ):
        root.create_array("x", shape=3, dtype="int8", filte=None)
    with pytest.raises(TypeError, match=r"unexpected keyword arguments: qqqq; there are shape, dtype, chunks,"):
        api.copy(np.arange(3), {}, qqqq=None)
    assert "x" not in root


@pytest.mark.parametrize(("zarr_format", "first"), [(2, ".zattrs"), (1, "attrs")])
def test_a_creation_that_was_interrupted_can_be_repeated(zarr_format: int, first: str) -> None:
    """Attributes come first; alone, the same ones are what an earlier attempt has left, others somebody else's."""
    whole: dict[str, bytes] = {}
    options: Any = {"shape": 3, "dtype": "int16", "zarr_format": zarr_format}
    api.create_array(whole, attributes={"a": 1}, **options)
    left = {first: whole[first]}
    with pytest.raises(NodeExistsError, match=first):
        api.create_array(left, attributes={"a": 2}, **options)
    api.create_array(left, attributes={"a": 1}, **options)
    assert left == whole
    with pytest.raises(NodeExistsError):
        api.create_array(left, attributes={"a": 1}, **options)

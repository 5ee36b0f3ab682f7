"""Zarr v2: keys, round trips, what is left untouched, what cannot be said."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blizzarr.codecs import CodecChain
from blizzarr.codecs.configs import chain_from_configs
from blizzarr.creation.describe import describe_array
from blizzarr.dtypes import DataType
from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.formats.v2 import V2
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta, RegularGrid
from blizzarr.problems import Notice, Problems

ZARR_PYTHON = b"""{
    "chunks": [
        10,
        5
    ],
    "compressor": {
        "blocksize": 0,
        "clevel": 5,
        "cname": "lz4",
        "id": "blosc",
        "shuffle": 1
    },
    "dtype": ">f4",
    "fill_value": "NaN",
    "filters": null,
    "order": "F",
    "shape": [
        30,
        40
    ],
    "x_unknown": 1,
    "zarr_format": 2
}"""
"""As zarr-python 2 writes them: sorted, indented by four, and a member of somebody else."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
attributes = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
dtypes = st.sampled_from(
    ["bool", "int8", "uint16", "float32", "float64", "complex64", "r24", "M8[ns]", "m8[3D]", "S5", "U3"]
)
filters = st.lists(st.sampled_from([{"id": "zlib", "level": 1}, {"id": "crc32"}, {"id": "shuffle"}]), max_size=2)
compressors = st.sampled_from(
    [None, {"id": "zlib", "level": 1}, {"id": "blosc"}, {"id": "zstd", "level": 3, "checksum": True}, {"id": "bz2"}]
)


def chain(dtype: DataType, chunks: tuple[int, ...], **configs: Any) -> CodecChain:
    problems = Problems()
    given: dict[str, Any] = {"filters": None, "compressor": None, "endian": None, "order": "C", **configs}
    made = chain_from_configs(dtype=dtype, chunk_shape=chunks, problems=problems, **given)
    assert made is not None, problems.items
    return made


@st.composite
def arrays(draw: st.DrawFn) -> ArrayMeta:
    rank = draw(st.integers(0, 4))
    lengths = st.lists(st.integers(0, 1000), min_size=rank, max_size=rank).map(tuple)
    chunks = tuple(draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)))
    dtype = DataType.parse(draw(dtypes))
    endian = draw(st.sampled_from(["little", "big"])) if dtype.swap_unit else None
    data = draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    if dtype.name in ("bool", "fixed_length_utf32"):
        data = bytes(value & 1 if place % 4 == 0 else 0 for place, value in enumerate(data))
    fill = np.frombuffer(data, dtype.numpy)[0]
    unsaid = draw(st.booleans())
    # Which NaN it was, no document of v2 can say.
    fill = dtype.default_fill if unsaid or dtype.numpy.kind in "fc" else fill
    order = draw(st.sampled_from("CF"))
    return ArrayMeta(
        draw(lengths),
        dtype,
        RegularGrid(chunks),
        ChunkKeys.v2(draw(st.sampled_from("./"))),
        fill,
        chain(dtype, chunks, filters=draw(filters) or None, compressor=draw(compressors), endian=endian, order=order),
        draw(attributes),
        extra=draw(st.sampled_from([{}, {"_NCZARR_ARRAY": {"dimrefs": ["/x"]}}])),
        format="v2",
        fill_undefined=unsaid,
    )


@settings(deadline=None, max_examples=300)
@given(arrays(), st.sampled_from(["", "a/b"]))
def test_arrays_survive(meta: ArrayMeta, path: str) -> None:
    """Whatever the array, its documents mean the same array, and are written the same again."""
    documents = V2.encode(meta, path)
    again = V2.decode(path, documents)
    assert again == meta
    assert V2.encode(again, path) == documents


@settings(deadline=None)
@given(attributes)
def test_groups_survive(value: dict[str, Any]) -> None:
    """Whatever the attributes, a group's documents give them back."""
    assert V2.decode("", V2.encode(GroupMeta(value, format="v2"), "")) == GroupMeta(value, format="v2")


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(["shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters", "dimension_separator"])
    | st.sampled_from(["zarr_format", "novel"]),
    json_values,
)
def test_any_value_anywhere(member: str, value: Any) -> None:
    """P1: whatever stands in a member, a document is read or is a MetadataError; never another exception."""
    document = json.loads(ZARR_PYTHON)
    document[member] = value
    with suppress(MetadataError):
        meta = V2.decode("", {".zarray": json.dumps(document).encode()})
        assert meta is not None
        assert V2.decode("", V2.encode(replace(meta, source=None), "")) == meta


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200), st.sampled_from([".zarray", ".zgroup"]))
def test_any_bytes(raw: bytes, name: str) -> None:
    """P1: whatever the bytes, a MetadataError."""
    with pytest.raises(MetadataError):
        V2.decode("", {name: raw})


@pytest.mark.parametrize(("path", "prefix"), [("", ""), ("foo/bar", "foo/bar/")])
def test_keys(path: str, prefix: str) -> None:
    """V-1: documents and chunks lie below the node's path, and groups at all paths above it."""
    documents = tuple(prefix + name for name in (".zarray", ".zgroup", ".zattrs", ".zmetadata"))
    assert V2.document_keys(path) == documents
    assert V2.node_keys(path) == documents[:2]
    assert V2.chunk_prefix(path) == V2.listing_prefix(path) == prefix
    assert V2.node_prefixes(path) == (prefix,)
    assert V2.groups_above(path) == (("", "foo") if path else ())
    assert all(V2.node_of(key) == path for key in documents)
    assert V2.node_of(f"{prefix}0.0") is V2.node_of(f"{prefix}zarr.json") is None


def test_children() -> None:
    """V-1: names may begin with two underscores; what is no name of a node is passed over."""
    prefixes = ["g/a/", "g/__b/", "g/.../", "g/.zarray/", "g/a\\b/", "g/c d/"]
    assert V2.child_names("g", ["g/.zgroup", "g/x.txt"], prefixes) == ["a", "__b", "...", "c d"]


def test_chunk_keys() -> None:
    """V-1: the separator "." unless told otherwise; of other encodings the separator is kept."""
    assert V2.chunk_keys(None) == V2.chunk_keys(ChunkKeys.default(".")) == ChunkKeys.v2(".")
    assert V2.chunk_keys(ChunkKeys.default()) == V2.chunk_keys(ChunkKeys.v2("/")) == ChunkKeys.v2("/")


def test_no_documents() -> None:
    """Missing keys are no node, and no error; attributes alone make none."""
    assert V2.decode("a", {}) is None
    assert V2.decode("a", {"a/.zattrs": b"{}", "a/.zmetadata": b"{}", ".zgroup": b'{"zarr_format": 2}'}) is None


def test_attributes_are_optional() -> None:
    """V-1: no document of attributes is read as none; none is made where there are none, but one stays."""
    bare = V2.decode("", {".zarray": ZARR_PYTHON})
    assert isinstance(bare, ArrayMeta)
    assert bare.attributes == {}
    assert list(V2.encode(bare, "")) == [".zarray"]
    assert list(V2.encode(GroupMeta(format="v2"), "")) == [".zgroup"]
    empty = V2.decode("", {".zarray": ZARR_PYTHON, ".zattrs": b"{}"})
    assert isinstance(empty, ArrayMeta)
    assert V2.encode(empty, "")[".zattrs"] == b"{}"
    emptied = V2.decode("", {".zarray": ZARR_PYTHON, ".zattrs": b'{"a":1}'})
    assert isinstance(emptied, ArrayMeta)
    assert V2.encode(emptied.with_attributes({}), "")[".zattrs"] == b"{}"


def test_what_makes_the_node_is_stored_last() -> None:
    """Whoever sees the array, or the group, sees its attributes."""
    array = V2.decode("", {".zarray": ZARR_PYTHON})
    assert isinstance(array, ArrayMeta)
    assert list(V2.encode(array.with_attributes({"a": 1}), "")) == [".zattrs", ".zarray"]
    group = GroupMeta({"a": 1}, {"x": array}, format="v2")
    assert list(V2.encode(group, "")) == [".zattrs", ".zmetadata", ".zgroup"]


def test_an_array_and_a_group() -> None:
    """row 61: the array counts, as in other readers, and a notice says so each time."""
    raw = {"a/.zarray": ZARR_PYTHON, "a/.zgroup": b'{"zarr_format": 2}'}
    for _ in range(2):
        notices: list[Notice] = []
        assert isinstance(V2.decode("a", raw, notices), ArrayMeta)
        assert [notice.kind for notice in notices] == ["two-nodes"]
        assert notices[0].text.startswith("/a is an array and a group: the array counts")


@pytest.mark.parametrize("attributes", [b'{"b":  1, "a": [1.0,NaN]}', b'\xef\xbb\xbf{"a": 1}', b'{"a": 1, "a": 2}'])
def test_only_what_has_changed_is_written(attributes: bytes) -> None:
    """A change of attributes touches only them, a change of the shape only .zarray: not a byte of the rest."""
    raw = {"a/.zattrs": attributes, "a/.zarray": ZARR_PYTHON}
    meta = V2.decode("a", raw)
    assert isinstance(meta, ArrayMeta)
    assert V2.encode(meta, "a") == raw
    new = V2.encode(meta.with_attributes({"b": 1}), "a")
    assert new == {"a/.zattrs": b'{\n  "b": 1\n}', "a/.zarray": ZARR_PYTHON}
    new = V2.encode(meta.with_shape((31, 40)), "a")
    assert new["a/.zattrs"] == attributes
    assert json.loads(new["a/.zarray"]) == {**json.loads(ZARR_PYTHON), "shape": [31, 40]}
    assert V2.encode(pickle.loads(pickle.dumps(meta)), "a") == raw


def test_resaving_keeps_spelling_and_order() -> None:
    """Members that did not change stay as they were spelled, where they were; unknown ones stay."""
    document = {
        "order": "F",
        "zarr_format": 2,
        "note": {"a": [1]},
        "shape": [4],
        "fill_value": 0.10000000149011612,
        "dtype": "<f4",
        "filters": [{"id": "zlib", "extra": None}],
        "compressor": {"shuffle": -1, "id": "blosc"},
        "chunks": [2],
    }
    meta = V2.decode("", {".zarray": json.dumps(document).encode()})
    assert isinstance(meta, ArrayMeta)
    written = json.loads(V2.encode(meta.with_shape((5,)), "")[".zarray"])
    assert written == {**document, "shape": [5]}
    assert list(written) == list(document)
    slashes = json.loads(V2.encode(replace(meta, chunk_keys=ChunkKeys.v2("/")), "")[".zarray"])
    assert slashes == {**document, "dimension_separator": "/"}
    other = replace(meta, codecs=chain(meta.dtype, (2,), compressor={"id": "zlib", "level": 1}, endian="big"))
    changed = {"dtype": ">f4", "order": "C", "filters": None, "compressor": {"id": "zlib", "level": 1}}
    assert json.loads(V2.encode(other, "")[".zarray"]) == {**document, **changed}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [('"fill_value": NaN', "NaN"), ('"fill_value": -Infinity', "-Infinity"), ('"filters": []', None)],
)
def test_what_is_not_conforming_is_read_and_not_written(wrong: str, right: Any) -> None:
    """V-2: bare NaN and empty lists of filters are read; what is written anew is right."""
    member = wrong.split('"')[1]
    text = json.dumps({**json.loads(ZARR_PYTHON), member: "@"}).replace(f'"{member}": "@"', wrong)
    assert wrong in text
    meta = V2.decode("", {".zarray": text.encode()})
    assert isinstance(meta, ArrayMeta)
    assert V2.encode(meta, "") == {".zarray": text.encode()}
    assert json.loads(V2.encode(meta.with_shape((1, 1)), "")[".zarray"])[member] == right


@pytest.mark.parametrize("value", [None, "absent"])
def test_an_open_fill_value(value: Any) -> None:
    """V-1: null says nothing of what was never written; zeros are read, null is written back."""
    document = {**json.loads(ZARR_PYTHON), "fill_value": value}
    if value == "absent":
        del document["fill_value"]
    meta = V2.decode("", {".zarray": json.dumps(document).encode()})
    assert isinstance(meta, ArrayMeta)
    assert meta.fill_undefined
    assert meta.fill_value == 0
    assert json.loads(V2.encode(meta.with_shape((1, 1)), "")[".zarray"])["fill_value"] is None
    said = replace(meta, fill_undefined=False)
    assert json.loads(V2.encode(said, "")[".zarray"])["fill_value"] == 0


def test_gzip_is_not_zlib() -> None:
    """V-3: in v2 they are two codecs, and their bytes differ."""
    for name, codec in (("gzip", "gzip"), ("zlib", "numcodecs.zlib")):
        document = {**json.loads(ZARR_PYTHON), "compressor": {"id": name, "level": 1}}
        meta = V2.decode("", {".zarray": json.dumps(document).encode()})
        assert isinstance(meta, ArrayMeta)
        assert meta.codecs.compressors[0].name == codec
        assert json.loads(V2.encode(replace(meta, source=None), "")[".zarray"])["compressor"] == document["compressor"]


def test_remembered_documents_have_their_own_attributes() -> None:
    """The same documents twice give nodes that do not share attributes, nested ones included."""
    raw = {".zarray": ZARR_PYTHON, ".zattrs": b'{"a": [1], "b": 2}'}
    one, two = V2.decode("", raw), V2.decode("", raw)
    assert one is not None
    assert two is not None
    one.attributes["a"].append(5)
    one.attributes["new"] = 1
    assert two.attributes == {"a": [1], "b": 2}
    assert V2.decode("", raw) == two


def test_remembered_documents_keep_no_place() -> None:
    """The same broken document in two places is reported in each."""
    for path in ("a", "b"):
        with pytest.raises(MetadataError) as caught:
            V2.decode(path, {f"{path}/.zgroup": b"{}"})
        assert caught.value.key == f"{path}/.zgroup"


def test_attributes_stay_readable() -> None:
    """row 53: of a node with a codec that nobody has."""
    document = {**json.loads(ZARR_PYTHON), "compressor": {"id": "middle-out"}}
    with pytest.raises(UnknownExtensionError) as caught:
        V2.decode("x", {"x/.zarray": json.dumps(document).encode(), "x/.zattrs": b'{"a": 1}'})
    assert caught.value.extensions == ("middle-out",)
    assert caught.value.document is not None
    assert caught.value.document["attributes"] == {"a": 1}
    assert caught.value.document["shape"] == [30, 40]


def test_what_v2_cannot_say() -> None:
    """Every such member is named, with what is possible."""
    dtype = DataType.parse("float32")
    meta = ArrayMeta(
        (4, 4),
        dtype,
        RegularGrid((2, 2)),
        ChunkKeys.default(),
        dtype.default_fill,
        describe_array(shape=(4, 4), dtype=dtype, chunks=1, shards=2).codecs,
        dimension_names=("x", None),
        storage_transformers=("t",),
        format="v2",
    )
    with pytest.raises(MetadataError) as caught:
        V2.encode(meta, "a")
    assert caught.value.key == "a/.zarray"
    assert [problem[:2] for problem in caught.value.problems] == [
        ("dimension_names", "a name for each dimension, or for none"),
        ("codecs[0]", "no shards, as this format has none (shards=None leaves them out)"),
        ("storage_transformers", "none: v2 has no storage transformers"),
        ("chunk_key_encoding", "the encoding v2"),
    ]


def test_types_that_v2_does_not_have() -> None:
    """Types that NumPy does not have itself have no spelling."""
    dtype = DataType.parse("bfloat16")
    meta = ArrayMeta(
        (4,), dtype, RegularGrid((2,)), ChunkKeys.v2(), dtype.default_fill, chain(dtype, (2,), endian="little")
    )
    with pytest.raises(MetadataError, match=r'data_type: expected a data type that NumPy has.*found "bfloat16"'):
        V2.encode(replace(meta, format="v2"), "")


@pytest.mark.parametrize("change", [{"shape": (-1,)}, {"shape": (1, 2)}, {"chunk_grid": RegularGrid((0,))}])
def test_nothing_is_written_that_could_not_be_read(change: dict[str, Any]) -> None:
    """A wrong model is an error before anything is stored."""
    dtype = DataType.parse("int8")
    meta = ArrayMeta((4,), dtype, RegularGrid((2,)), ChunkKeys.v2(), dtype.default_fill, chain(dtype, (2,)))
    with pytest.raises(MetadataError):
        V2.encode(replace(meta, format="v2", **change), "")


def test_a_name_twice_among_attributes() -> None:
    """row 46: the last one counts, with a notice each time, also in consolidated metadata, which warn when read."""
    for _ in range(2):
        notices: list[Notice] = []
        meta = V2.decode("", {".zgroup": b'{"zarr_format": 2}', ".zattrs": b'{"a": 1, "a": 3}'}, notices)
        assert notices == [("duplicate-name", "a is there more than once; the last one counts")]
    assert meta == GroupMeta({"a": 3}, format="v2")
    entries = b'"g/.zgroup": {"zarr_format": 2}, "g/.zattrs": {"a": 1, "a": 4}'
    stored = b'{"zarr_consolidated_format": 1, "metadata": {' + entries + b"}}"
    group = V2.decode("", {".zgroup": b'{"zarr_format": 2}', ".zmetadata": stored})
    assert isinstance(group, GroupMeta)
    assert group.consolidated is not None
    with pytest.warns(UserWarning, match=r"^metadata.g/.zattrs.a is there more than once"):
        assert group.consolidated["g"].attributes == {"a": 4}

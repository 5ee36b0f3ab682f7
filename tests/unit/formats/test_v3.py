"""Zarr v3: keys, round trips, remembering."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blizzarr
from blizzarr.codecs import (
    BloscCodec,
    BytesCodec,
    CodecChain,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from blizzarr.dtypes import DataType
from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.formats import v3, v3_array
from blizzarr.formats.document import check_depth, dump, load
from blizzarr.formats.v3 import V3
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta, RegularGrid
from blizzarr.problems import Problems

SPEC_EXAMPLE = """
    {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [10000, 1000],
        "dimension_names": ["rows", "columns"],
        "data_type": "float64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1000, 100]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "fill_value": "NaN",
        "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}
    }
"""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
attributes = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
dtypes = st.sampled_from(["bool", "int8", "uint16", "float32", "float64", "complex64", "r24", "M8[ns]", "bfloat16"])
compressors = st.lists(
    st.sampled_from(
        [GzipCodec(1), ZstdCodec(3, True), BloscCodec(), BloscCodec("zstd", 1, "noshuffle"), Crc32cCodec()]
    ),
    max_size=3,
)


@st.composite
def arrays(draw: st.DrawFn) -> ArrayMeta:
    rank = draw(st.integers(0, 4))
    inner = tuple(draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)))
    dtype = DataType.parse(draw(dtypes))
    filters = [TransposeCodec(tuple(draw(st.permutations(range(rank)))))] if draw(st.booleans()) else []
    codecs: list[Any] = [*filters, BytesCodec(draw(st.sampled_from(["little", "big"]))), *draw(compressors)]
    chunk_shape = inner
    if draw(st.booleans()):
        chunk_shape = tuple(length * draw(st.integers(1, 3)) for length in inner)
        index = draw(st.sampled_from([None, [BytesCodec("big")], ["bytes", "crc32c"]]))
        location = draw(st.sampled_from(["start", "end"]))
        codecs = [ShardingCodec(inner, codecs, index, location), *draw(compressors)]
    data = draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    if dtype.boolean:
        data = bytes([data[0] & 1])
    names = draw(st.none() | st.lists(st.none() | st.text(max_size=3), min_size=rank, max_size=rank).map(tuple))
    return ArrayMeta(
        tuple(draw(st.lists(st.integers(0, 1000), min_size=rank, max_size=rank))),
        dtype,
        RegularGrid(chunk_shape),
        draw(st.sampled_from([ChunkKeys.default(), ChunkKeys.default("."), ChunkKeys.v2(), ChunkKeys.v2("/")])),
        np.frombuffer(data, dtype=dtype.numpy)[0],
        CodecChain.from_list(codecs, dtype, chunk_shape),
        draw(attributes),
        names,
        extra=draw(st.sampled_from([{}, {"note": {"must_understand": False, "x": [1]}}])),
    )


@settings(deadline=None, max_examples=300)
@given(arrays(), st.sampled_from(["", "a/b"]))
def test_arrays_survive(meta: ArrayMeta, path: str) -> None:
    """Whatever the array, its document means the same array, and is written the same again."""
    documents = V3.encode(meta, path)
    again = V3.decode(path, documents)
    assert again == meta
    assert V3.encode(again, path) == documents


@settings(deadline=None)
@given(attributes)
def test_groups_survive(value: dict[str, Any]) -> None:
    """Whatever the attributes, a group's document gives them back."""
    again = V3.decode("", V3.encode(GroupMeta(value), ""))
    assert again == GroupMeta(value)


@pytest.mark.filterwarnings("ignore:a document of the year before Zarr v3 was final")
@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(["shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "attributes"])
    | st.sampled_from(["dimension_names", "storage_transformers", "zarr_format", "node_type", "novel"]),
    json_values,
)
def test_any_value_anywhere(member: str, value: Any) -> None:
    """P1: whatever stands in a member, a document is read or is a MetadataError; never another exception."""
    document = json.loads(SPEC_EXAMPLE)
    document[member] = value
    with suppress(MetadataError):
        meta = V3.decode("", {"zarr.json": json.dumps(document).encode()})
        assert meta is not None
        assert V3.decode("", V3.encode(meta, "")) == meta


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    """P1: whatever the bytes, a MetadataError."""
    with pytest.raises(MetadataError):
        V3.decode("", {"zarr.json": raw})


def test_example_of_the_specification() -> None:
    """F-2, F-3: the first example of the core specification."""
    meta = V3.decode("", {"zarr.json": SPEC_EXAMPLE.encode()})
    assert isinstance(meta, ArrayMeta)
    assert (meta.shape, meta.chunk_shape, meta.dimension_names) == ((10000, 1000), (1000, 100), ("rows", "columns"))
    assert np.isnan(meta.fill_value)
    assert meta.attributes == {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}


def test_made_up_extension_of_the_specification() -> None:
    """row 53: the second example, with a data type that nobody has; its attributes stay readable."""
    document = json.loads(SPEC_EXAMPLE)
    document["data_type"] = {"name": "urn:example:datetime", "configuration": {"unit": "ns"}}
    document["fill_value"] = None
    with pytest.raises(UnknownExtensionError) as caught:
        V3.decode("x", {"x/zarr.json": json.dumps(document).encode()})
    assert caught.value.extensions == ("urn:example:datetime",)
    assert caught.value.document is not None
    assert caught.value.document["attributes"]["foo"] == 42


@pytest.mark.parametrize(
    ("path", "key", "prefix"), [("", "zarr.json", ""), ("foo/bar", "foo/bar/zarr.json", "foo/bar/")]
)
def test_keys(path: str, key: str, prefix: str) -> None:
    """F-1, Z-8: metadata and chunks lie below the node's path."""
    assert V3.document_keys(path) == (key,)
    assert V3.chunk_prefix(path) == V3.listing_prefix(path) == prefix
    assert list(V3.encode(GroupMeta(), path)) == [key]


def test_no_document() -> None:
    """A missing key is no node, and no error."""
    assert V3.decode("a", {}) is None


def test_resaving_keeps_spelling_and_order() -> None:
    """Members that did not change stay as they were spelled; the changed one changes; unknown ones stay."""
    document = {
        "note": {"must_understand": False},
        "node_type": "array",
        "fill_value": "0x7fc00000",
        "zarr_format": 3,
        "shape": [4],
        "chunk_key_encoding": "default",
        "data_type": {"name": "float32"},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    }
    meta = V3.decode("", {"zarr.json": json.dumps(document).encode()})
    assert isinstance(meta, ArrayMeta)
    written = json.loads(V3.encode(meta.with_shape((5,)), "")["zarr.json"])
    assert written == {**document, "shape": [5]}
    assert list(written) == list(document)
    with_attributes = json.loads(V3.encode(meta.with_attributes({"a": 1}), "")["zarr.json"])
    assert with_attributes == {**document, "attributes": {"a": 1}}


@pytest.mark.parametrize("order", ["C", "F"])
def test_letters_for_orders_are_never_written(order: str) -> None:
    """T-9: "C" and "F" are read, and written as permutations, in inner chunks too."""
    document = json.loads(SPEC_EXAMPLE)
    little = document["codecs"][0]
    transpose = {"name": "transpose", "configuration": {"order": order}}
    for codecs in (
        [transpose, little],
        [
            {
                "name": "sharding_indexed",
                "configuration": {"chunk_shape": [10, 10], "codecs": [transpose, little], "index_codecs": [little]},
            }
        ],
    ):
        document["codecs"] = codecs
        meta = V3.decode("", {"zarr.json": json.dumps(document).encode()})
        assert isinstance(meta, ArrayMeta)
        assert meta.order == order
        text = V3.encode(meta, "")["zarr.json"].decode()
        assert f'"{order}"' not in text
        assert V3.decode("", {"zarr.json": text.encode()}) == meta


def test_remembered_documents_have_their_own_attributes() -> None:
    """The same document twice gives nodes that do not share attributes, nested ones included."""
    raw = {"zarr.json": SPEC_EXAMPLE.encode()}
    one, two = V3.decode("", raw), V3.decode("", raw)
    assert one is not None
    assert two is not None
    one.attributes["baz"].append(5)
    one.attributes["new"] = 1
    assert two.attributes == {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]}
    assert V3.decode("", raw) == two


def test_only_one_large_document_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not parsed again, but a second one takes its place, and small ones stay."""
    parsed: list[int] = []
    monkeypatch.setattr(v3, "load", lambda raw, problems: parsed.append(len(raw)) or load(raw, problems))
    documents = [
        {"zarr.json": dump({"zarr_format": 3, "node_type": "group", "attributes": {"text": text}}, "")}
        for text in ("small", "a" * 20_000, "b" * 30_000)
    ]
    v3.forget()
    for number in (0, 1, 1, 2, 1, 0):
        node = V3.decode("", documents[number])
        assert node is not None
        assert node.attributes["text"][0] == "sab"[number]
    assert [length // 10_000 for length in parsed] == [0, 2, 3, 2]


def test_remembered_documents_keep_no_place() -> None:
    """The same broken document in two places is reported in each."""
    for path in ("a", "b"):
        with pytest.raises(MetadataError) as caught:
            V3.decode(path, {f"{path}/zarr.json": b"{}"})
        assert caught.value.key == f"{path}/zarr.json"


@pytest.mark.parametrize("change", [{"shape": (-1,)}, {"shape": (1, 2)}, {"dimension_names": ("x", "y")}])
def test_nothing_is_written_that_could_not_be_read(change: dict[str, Any]) -> None:
    """A wrong model is an error before anything is stored."""
    dtype = DataType.parse("int8")
    members: dict[str, Any] = {
        "shape": (4,),
        "dtype": dtype,
        "chunk_grid": RegularGrid((2,)),
        "chunk_keys": ChunkKeys.default(),
        "fill_value": dtype.default_fill,
        "codecs": CodecChain.from_user(dtype=dtype, chunk_shape=(2,)),
    }
    with pytest.raises(MetadataError):
        V3.encode(ArrayMeta(**{**members, **change}), "")


def test_consolidated_metadata() -> None:
    """F-13: written inline, read one node at a time; what is damaged is only an error when asked for, and is kept."""
    array = V3.decode("", {"zarr.json": SPEC_EXAMPLE.encode()})
    assert isinstance(array, ArrayMeta)
    group = GroupMeta({"a": 1}).with_consolidated({"g": GroupMeta({"b": 2}), "g/x": array})
    raw = V3.encode(group, "r")
    document = json.loads(raw["r/zarr.json"])
    assert document["consolidated_metadata"]["kind"] == "inline"
    assert document["consolidated_metadata"]["must_understand"] is False
    again = V3.decode("r", raw)
    assert isinstance(again, GroupMeta)
    assert again.consolidated is not None
    assert dict(again.consolidated) == {"g": GroupMeta({"b": 2}), "g/x": array}
    assert dict(again.consolidated.below("g")) == {"x": array}  # type: ignore[attr-defined]
    document["consolidated_metadata"]["metadata"]["bad"] = {"zarr_format": 9}
    damaged = V3.decode("r", {"r/zarr.json": json.dumps(document).encode()})
    assert isinstance(damaged, GroupMeta)
    assert damaged.consolidated is not None
    assert damaged.consolidated["g/x"] == array
    with pytest.raises(
        MetadataError, match=r'consolidated_metadata.metadata\["bad"\].zarr_format: expected 3, found 9'
    ):
        damaged.consolidated["bad"]
    written = json.loads(V3.encode(damaged.with_attributes({"c": 3}), "")["zarr.json"])
    assert written == {**document, "attributes": {"c": 3}}
    assert "consolidated_metadata" not in json.loads(V3.encode(damaged.with_consolidated(None), "")["zarr.json"])


@pytest.mark.parametrize("dtype", ["V3", "r24", {"name": "raw_bytes", "configuration": {"length_bytes": 3}}])
def test_raw_bytes_are_spelled_as_most_readers_have_them(dtype: Any) -> None:
    """zarr-python does not know r24, and TensorStore reads no list as its fill value; documents keep their spelling."""
    values: dict[str, bytes] = {}
    blizzarr.create_array(values, shape=2, dtype=dtype, fill_value=b"abc")
    document = json.loads(values["zarr.json"])
    assert document["data_type"] == {"name": "raw_bytes", "configuration": {"length_bytes": 3}}
    assert document["fill_value"] == "YWJj"
    values["zarr.json"] = json.dumps({**document, "data_type": "r24", "fill_value": [97, 98, 99]}).encode()
    array = blizzarr.open_array(values)
    array.attrs["a"] = 1
    kept = json.loads(values["zarr.json"])
    assert (kept["data_type"], kept["fill_value"]) == ("r24", [97, 98, 99])


def test_changing_attributes_checks_them_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = blizzarr.create_array(tmp_path / "a", shape=(4,), dtype="i4", attributes={"known": [[1], [2]]})
    checked: list[dict[str, object]] = []
    check = check_depth

    def counted(value: dict[str, object], path: str, problems: Problems) -> bool:
        checked.append(value)
        return check(value, path, problems)

    monkeypatch.setattr(v3_array, "check_depth", counted)
    array.attrs["new"] = 7
    assert checked == [{"known": [[1], [2]], "new": 7}]
    assert dict(blizzarr.open_array(tmp_path / "a").attrs) == {"known": [[1], [2]], "new": 7}


def test_of_arrays_that_differ_in_attributes_only_one_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hierarchy of 1,000 such arrays took twice as long to list with consolidated metadata as without."""
    root = blizzarr.create_group(tmp_path)
    for number in range(9):
        root.create_array(f"a{number}", shape=3, dtype="i2", attributes={"number": number, "list": [number]})
    root.create_array("other", shape=4, dtype="i2")
    blizzarr.consolidate_metadata(tmp_path)
    v3.forget()
    decode, seen = v3_array._decode, list[dict[str, Any]]()

    def counted(document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
        seen.append(document)
        return decode(document, problems)

    monkeypatch.setattr(v3_array, "_decode", counted)
    group = blizzarr.open_group(tmp_path, mode="r")
    arrays = dict(group.arrays())
    assert len(seen) == 2
    assert arrays["other"].shape == (4,)
    assert [arrays[f"a{number}"].attrs["list"] for number in range(9)] == [[number] for number in range(9)]
    sources = [array.metadata.source for array in arrays.values()]
    assert sources == [json.loads((tmp_path / name / "zarr.json").read_text()) for name in arrays]


@pytest.mark.parametrize("wrong", [7, {"a": {}}])
def test_attributes_of_a_known_array_are_examined(wrong: Any) -> None:
    document = json.loads(SPEC_EXAMPLE)
    V3.decode("", {"zarr.json": json.dumps(document).encode()})
    for _ in range(500 if isinstance(wrong, dict) else 0):
        wrong = {"a": wrong}
    problems = Problems()
    assert v3_array.decode({**document, "attributes": wrong}, problems) is None
    assert [problem.path.partition(".")[0] for problem in problems.items] == ["attributes"]


def test_equal_numbers_of_other_types_are_not_taken_for_each_other() -> None:
    document = json.loads(SPEC_EXAMPLE) | {"fill_value": 0.0}
    fills = []
    for fill in (0.0, -0.0, 0):
        meta = v3_array.decode({**document, "fill_value": fill}, Problems())
        assert meta is not None
        assert meta.source is not None
        fills.append((float(meta.fill_value).hex(), meta.source["fill_value"] is fill))
    assert fills == [("0x0.0p+0", True), ("-0x0.0p+0", True), ("0x0.0p+0", True)]
    problems = Problems()
    assert v3_array.decode({**document, "shape": [10000, True]}, problems) is None
    assert v3_array.decode({**document, "shape": [1, 1000]}, Problems()) is not None
    assert v3_array.decode({**document, "shape": [True, 1000]}, problems) is None

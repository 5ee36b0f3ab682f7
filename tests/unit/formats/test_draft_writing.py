"""The draft: what is written of nodes of any origin, and what cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

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
from blizzarr.errors import MetadataError
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON, Draft
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta, RegularGrid
from blizzarr.transformers import HashedTransformer, ShardingTransformer

FORMS = [DOCUMENT, ZARR_PYTHON]


def array(form: Draft, codecs: Any = ("bytes",), **changes: Any) -> ArrayMeta:
    """An array of 8 by 8 16-bit integers in chunks (or shards) of 4 by 4, as another format would hold it."""
    dtype = DataType.parse(changes.pop("dtype", "int16"))
    shape = changes.pop("shape", (8, 8))
    chunks = changes.pop("chunks", (4,) * len(shape))
    made = ArrayMeta(
        shape,
        dtype,
        RegularGrid(chunks),
        form.chunk_keys(None),
        dtype.fill(changes.pop("fill", None)),
        CodecChain.from_list(list(codecs), dtype, chunks),
        format=form.name,
    )
    return replace(made, **changes)


def written(form: Draft, meta: ArrayMeta, path: str = "a") -> dict[str, Any]:
    documents = form.encode(meta, path)
    assert list(documents) == [form.node_keys(path)[0]]
    again = form.decode(path, documents | form.entry_documents())
    assert isinstance(again, ArrayMeta)
    assert again.codecs.steps(again.dtype, again.write_shape) == meta.codecs.steps(meta.dtype, meta.write_shape)
    document: dict[str, Any] = json.loads(documents[form.node_keys(path)[0]])
    return document


def refused(form: Draft, meta: ArrayMeta | GroupMeta, path: str = "a") -> list[tuple[str, ...]]:
    with pytest.raises(MetadataError) as caught:
        form.encode(meta, path)
    assert caught.value.key in form.node_keys(path)
    return [tuple(problem) for problem in caught.value.problems]


def test_members() -> None:
    """C-16 D-60 D-71 D-77 D-78 W-4: all members that must be there, and those that say something."""
    assert written(DOCUMENT, array(DOCUMENT)) == {
        "shape": [8, 8],
        "data_type": "int16",
        "chunk_grid": {"type": "regular", "chunk_shape": [4, 4], "separator": "/"},
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {},
        "codecs": [],
    }
    assert written(ZARR_PYTHON, array(ZARR_PYTHON, ["bytes", ZstdCodec(3)], attributes={"a": 1})) == {
        "shape": [8, 8],
        "data_type": "<i2",
        "chunk_grid": {"type": "regular", "chunk_shape": [4, 4], "separator": "/"},
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {"a": 1},
        "compressor": {"codec": "https://purl.org/zarr/spec/codec/zstd/1.0", "configuration": {"level": 3}},
    }
    assert DOCUMENT.encode(GroupMeta({"a": 1}, format="v3_draft"), "g") == {
        "meta/g.group.json": b'{\n  "attributes": {\n    "a": 1\n  }\n}'
    }


@pytest.mark.parametrize(
    ("dtype", "document", "zarr_python"),
    [
        ("bool", "bool", "bool"),
        ("int8", "int8", "i1"),
        ("uint8", "uint8", "u1"),
        ("int64", "int64", "<i8"),
        ("uint64", "uint64", "<u8"),
        ("float16", "float16", "<f2"),
        ("r24", "r24", [["", "|V3"]]),
        ("complex64", "complex64", "<c8"),
        ("M8[ns]", "<M8[ns]", "<M8[ns]"),
        ("m8[D]", "<m8[D]", "<m8[D]"),
        ("S5", "S5", "|S5"),
        ("U5", "<U5", "<U5"),
        ([("a", "i4"), ("b", "u1")], [["a", "<i4"], ["b", "|u1"]], [["a", "<i4"], ["b", "|u1"]]),
    ],
)
def test_data_types(dtype: Any, document: Any, zarr_python: Any) -> None:
    """C-3 D-29 D-62 D-63 W-6: the names of the table, and extensions with a fallback of raw bits at least."""
    for form, expected in ((DOCUMENT, document), (ZARR_PYTHON, zarr_python)):
        meta = array(form, dtype=dtype)
        said = written(form, meta)["data_type"]
        if type(said) is dict:
            assert said["extension"].startswith(("https://", "TODO: "))
            bits = f"r{meta.dtype.itemsize * 8}"
            kinds = {"M": ["int64", bits], "m": ["int64", bits]}
            assert said["fallback"] == (kinds.get(meta.dtype.numpy.kind, bits) if form is DOCUMENT else None)
            said = said["type"]
        assert said == expected


def test_byte_order() -> None:
    """C-5 D-137 D-167 W-10: the codec endian here, the data type there; extension types say it in both places."""
    big = [BytesCodec("big"), GzipCodec(1)]
    endian = {"type": "https://purl.org/zarr/spec/codecs/endian/1.0", "configuration": {"endian": "big"}}
    gzip = {"type": "https://purl.org/zarr/spec/codecs/gzip/1.0", "configuration": {"level": 1}}
    said = written(DOCUMENT, array(DOCUMENT, big))
    assert (said["data_type"], said["codecs"]) == ("int16", [endian, gzip])
    said = written(DOCUMENT, array(DOCUMENT, big, dtype="M8[s]"))
    assert (said["data_type"]["type"], said["codecs"]) == (">M8[s]", [endian, gzip])
    said = written(ZARR_PYTHON, array(ZARR_PYTHON, big))
    assert said["data_type"] == ">i2"
    said = written(ZARR_PYTHON, array(ZARR_PYTHON, big, dtype=[("a", "i4")], fill=0))
    assert said["data_type"]["type"] == [["a", ">i4"]]
    assert "endian" not in json.dumps(written(DOCUMENT, array(DOCUMENT, [BytesCodec("little")])))


@pytest.mark.parametrize(
    ("dtype", "fill", "document", "zarr_python"),
    [
        ("float32", np.inf, "+Infinity", "Infinity"),
        ("float64", -np.inf, "-Infinity", "-Infinity"),
        ("float32", np.nan, "NaN", "NaN"),
        ("float32", 0.1, 0.1, 0.1),
        ("complex64", complex(1, np.inf), [1.0, "+Infinity"], [1.0, "Infinity"]),
        ("bool", True, True, True),
        ("int8", -128, -128, -128),
        ("r24", b"\x01\x02\xff", "0x0102ff", "AQL/"),
        ("M8[s]", None, -(2**63), -(2**63)),
        ("S3", b"ab", "YWIA", "YWIA"),
        ("U3", "ab", "ab", "ab"),
    ],
)
def test_fill_values(dtype: str, fill: Any, document: Any, zarr_python: Any) -> None:
    """C-10 C-21 D-69 D-70 D-72 D-73 D-74 W-7: infinity has a sign in the draft; raw bits are digits."""
    for form, expected in ((DOCUMENT, document), (ZARR_PYTHON, zarr_python)):
        assert written(form, array(form, dtype=dtype, fill=fill))["fill_value"] == expected


def test_fill_values_to_the_bit() -> None:
    """D-72: a NaN of other bits has digits in the draft; zarr-python could not say which one it was."""
    odd = np.frombuffer(b"\x01\x00\xc0\x7f", "<f4")[0]
    assert written(DOCUMENT, replace(array(DOCUMENT, dtype="float32"), fill_value=odd))["fill_value"] == "0x7fc00001"
    assert refused(ZARR_PYTHON, replace(array(ZARR_PYTHON, dtype="float32"), fill_value=odd)) == [
        ("fill_value", 'a value that the draft can say: "NaN" would lose bits', '"0x7fc00001"')
    ]


def test_undefined_fill_values() -> None:
    """D-68 D-71 W-7: null is written where it may be; else the value that unwritten elements read as."""
    assert written(ZARR_PYTHON, array(ZARR_PYTHON, fill_undefined=True))["fill_value"] is None
    assert written(DOCUMENT, array(DOCUMENT, fill_undefined=True))["fill_value"] == 0


def test_layout() -> None:
    """C-6 D-42 W-11: reversed axes are F order, and no codec; any other order of axes cannot be said."""
    turned = [TransposeCodec((1, 0)), "bytes"]
    for form in FORMS:
        said = written(form, array(form, turned))
        assert said["chunk_memory_layout"] == "F"
        assert "transpose" not in json.dumps(said)
        other = array(form, [TransposeCodec((1, 2, 0)), "bytes"], shape=(4, 4, 4))
        assert refused(form, other) == [("codecs", "axes in their order or reversed, C or F", "[1, 2, 0]")]


def test_codecs() -> None:
    """C-15 D-47 D-51 D-159 D-163 W-5: by URI, as numcodecs spells their options; the type size of Blosc is left out."""
    chain = ["bytes", BloscCodec("zstd", 3, "bitshuffle"), Crc32cCodec()]
    said = written(DOCUMENT, array(DOCUMENT, chain))["codecs"]
    assert said == [
        {
            "type": "https://purl.org/zarr/spec/codecs/blosc/1.0",
            "configuration": {"cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0},
        },
        {"type": "https://purl.org/zarr/spec/codecs/crc32c/1.0", "configuration": {"location": "end"}},
    ]
    said = written(ZARR_PYTHON, array(ZARR_PYTHON, chain))
    assert "compressor" not in said
    assert [codec["id"] for codec in said["attributes"]["filters"]] == ["blosc", "crc32c"]
    said = written(ZARR_PYTHON, array(ZARR_PYTHON, ["bytes", Crc32cCodec(), GzipCodec(1)]))
    assert said["compressor"]["codec"] == "https://purl.org/zarr/spec/codec/gzip/1.0"
    assert [codec["id"] for codec in said["attributes"]["filters"]] == ["crc32c"]


def test_shards() -> None:
    """C-2 D-128 D-131 D-144 W-15: each shard is a transformer, the innermost first; zarr-python has its own URI."""
    inner = ShardingCodec((2, 1), ["bytes", GzipCodec(1)], ["bytes"])
    nested = [ShardingCodec((4, 2), [inner], ["bytes"])]
    uris = {
        DOCUMENT: "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0",
        ZARR_PYTHON: "https://purl.org/zarr/spec/storage_transformers/sharding/1.0",
    }
    for form in FORMS:
        said = written(form, array(form, nested, chunks=(8, 8)))
        assert said["chunk_grid"]["chunk_shape"] == [2, 1]
        assert said["storage_transformers"] == [
            {"extension": uris[form], "type": "indexed", "configuration": {"chunks_per_shard": [2, 2]}},
            {"extension": uris[form], "type": "indexed", "configuration": {"chunks_per_shard": [2, 4]}},
        ]
    scalar = array(ZARR_PYTHON, [ShardingCodec((), ["bytes"], ["bytes"])], shape=())
    assert written(ZARR_PYTHON, scalar)["storage_transformers"][0]["configuration"] == {"chunks_per_shard": [1]}


@pytest.mark.parametrize(
    ("codecs", "problems"),
    [
        (
            [ShardingCodec((2, 2), ["bytes"], ["bytes", "crc32c"])],
            [("codecs.index_codecs", "little-endian numbers as they are, without a checksum")],
        ),
        (
            [ShardingCodec((2, 2), ["bytes"], [BytesCodec("big")], "start")],
            [
                ("codecs.index_location", '"end"'),
                ("codecs.index_codecs", "little-endian numbers as they are, without a checksum"),
            ],
        ),
        (
            [TransposeCodec((1, 0)), ShardingCodec((2, 2), ["bytes"], ["bytes"]), GzipCodec(1)],
            [("codecs", "no codec around a whole shard"), ("codecs", "no codec around a whole shard")],
        ),
        (
            [ShardingCodec((2, 2), [ShardingCodec((1, 1), ["bytes"], ["bytes"], "start")], ["bytes"])],
            [("codecs.codecs.index_location", '"end"')],
        ),
    ],
)
def test_shards_that_no_transformer_makes(codecs: list[Any], problems: list[tuple[str, str]]) -> None:
    """D-147 D-148: the index is at the end, of little-endian numbers without a checksum, and nothing is around it."""
    for form in FORMS:
        assert [problem[:2] for problem in refused(form, array(form, codecs))] == problems


def test_storage_transformers() -> None:
    """D-78 D-127 D-130: others are written with their own URI; zarr-python knows none."""
    others = (HashedTransformer(1, 2), ShardingTransformer((2, 2)))
    said = written(DOCUMENT, array(DOCUMENT, storage_transformers=others))["storage_transformers"]
    assert [item["type"] for item in said] == ["crc32", "indexed"]
    assert refused(ZARR_PYTHON, array(ZARR_PYTHON, storage_transformers=others)) == [
        ("storage_transformers[0]", "sharding, the only one that zarr-python has", '"blizzarr.hashed"')
    ]


def test_everything_that_cannot_be_said_at_once() -> None:
    """D-65 D-79: data types that are not of the draft, members and keys that it has not, all in one error."""
    meta = array(
        DOCUMENT,
        dtype="bfloat16",
        chunk_keys=ChunkKeys.default(),
        extra={"x": {"must_understand": False}},
        dimension_names=("y", None),
        attributes={"_ARRAY_DIMENSIONS": "y x"},
    )
    assert refused(DOCUMENT, meta, "a/é") == [
        (
            "the path",
            "names that this format allows, not 'é'",
            "a name may only have ASCII letters, digits, '-', '_' and '.', not of dots only: the draft has no others",
        ),
        ("chunk_keys", 'keys like "c1/2"', '"c/1/2"'),
        ("x", "no member that is unknown: the draft does not allow any", '{"must_understand": false}'),
        ("data_type", "a data type that the draft has", '"bfloat16"'),
        ("dimension_names", "a name for each dimension, or for none", '["y", null]'),
    ]


@pytest.mark.parametrize("dtype", ["M8[25s]", "M8", "complex_float8_e5m2", "string", "bytes"])
def test_data_types_that_cannot_be_said(dtype: str) -> None:
    """D-137 D-138: units are whole and named; elements have one size."""
    codecs = {"string": ["vlen-utf8"], "bytes": ["vlen-bytes"]}.get(dtype, ["bytes"])
    forms = [DOCUMENT] if dtype in ("string", "bytes") else FORMS
    for form in forms:
        problems = refused(form, array(form, codecs, dtype=dtype))
        assert ("data_type", "a data type that the draft has") in [problem[:2] for problem in problems]


def test_text_of_any_length() -> None:
    """W-6 W-8: zarr-python's object arrays, with the object codec as the first filter."""
    said = written(ZARR_PYTHON, array(ZARR_PYTHON, ["vlen-utf8", GzipCodec(1)], dtype="string", shape=(4,)))
    assert said["data_type"] == {"extension": "TODO: object array protocol URL", "type": "|O", "fallback": None}
    assert said["attributes"] == {"filters": [{"id": "vlen-utf8"}]}


def test_names_of_dimensions_are_an_attribute() -> None:
    """D-76: as xarray keeps them in formats without a place for them."""
    for form in FORMS:
        said = written(form, array(form, dimension_names=("y", "x")))
        assert said["attributes"] == {"_ARRAY_DIMENSIONS": ["y", "x"]}
        assert written(form, array(form, dimension_names=(None, None)))["attributes"] == {}


def test_the_attribute_filters() -> None:
    """W-8: it is not the user's in zarr-python's spelling."""
    taken = array(ZARR_PYTHON, ["bytes", Crc32cCodec(), GzipCodec(1)], attributes={"filters": "mine"})
    assert [problem[0] for problem in refused(ZARR_PYTHON, taken)] == ["attributes.filters"]
    looks = array(ZARR_PYTHON, attributes={"filters": [{"id": "delta"}]})
    assert [problem[0] for problem in refused(ZARR_PYTHON, looks)] == ["attributes.filters"]
    assert written(DOCUMENT, array(DOCUMENT, attributes={"filters": "mine"}))["attributes"] == {"filters": "mine"}


def test_consolidated_metadata() -> None:
    """W-14: at the root of zarr-python's hierarchies only, beside the documents; the draft has none."""
    below = {"a": GroupMeta({"x": 1}, format=ZARR_PYTHON.name), "b": array(ZARR_PYTHON)}
    root = GroupMeta({"title": "all"}, below, format=ZARR_PYTHON.name)
    documents = ZARR_PYTHON.encode(root, "")
    assert list(documents) == ["meta/root/consolidated/.zmetadata", "meta/root.group.json"]
    stored = json.loads(documents["meta/root/consolidated/.zmetadata"])
    assert stored["zarr_consolidated_format"] == 1
    assert list(stored["metadata"]) == [
        "zarr.json",
        "meta/root.group.json",
        "meta/root/a.group.json",
        "meta/root/b.array.json",
    ]
    again = ZARR_PYTHON.decode("", documents | ZARR_PYTHON.entry_documents())
    assert isinstance(again, GroupMeta)
    assert again.consolidated == below
    assert ZARR_PYTHON.encode(again, "") == documents
    assert [problem[0] for problem in refused(ZARR_PYTHON, root, "a")] == ["consolidated"]
    assert [problem[0] for problem in refused(DOCUMENT, replace(root, format=DOCUMENT.name), "")] == ["consolidated"]
    assert [problem[0] for problem in refused(ZARR_PYTHON, GroupMeta(), "consolidated")] == ["the path"]


def test_a_changed_array_keeps_what_did_not_change() -> None:
    """D-79: other members keep their spelling and order; what changed is written anew."""
    source = {
        "attributes": {"a": 1},
        "fill_value": "0x0001",
        "shape": [8],
        "extensions": [{"extension": "https://example.org/foo", "must_understand": False}],
        "data_type": "<i2",
        "chunk_grid": {"chunk_shape": [4], "type": "regular"},
        "chunk_memory_layout": "F",
    }
    key = DOCUMENT.node_keys("a")[0]
    meta = DOCUMENT.decode("a", {key: json.dumps(source).encode(), **DOCUMENT.entry_documents()})
    assert isinstance(meta, ArrayMeta)

    def said(changed: ArrayMeta) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(DOCUMENT.encode(changed, "a")[key])
        return document

    assert list(said(meta).items()) == list(source.items())
    assert said(meta.with_shape((9,))) == {**source, "shape": [9]}
    assert said(meta.with_attributes({})) == {**source, "attributes": {}}
    assert said(replace(meta, fill_value=np.int16(2))) == {**source, "fill_value": 2}
    other = CodecChain.from_list(["bytes", "gzip"], "int16", (4,))
    gzip = {"type": "https://purl.org/zarr/spec/codecs/gzip/1.0", "configuration": {"level": 6}}
    assert said(replace(meta, codecs=other)) == {
        **source,
        "data_type": "int16",
        "chunk_grid": {"type": "regular", "chunk_shape": [4], "separator": "/"},
        "chunk_memory_layout": "C",
        "codecs": [gzip],
    }


def test_lengths_of_zero_stay_only_where_they_may() -> None:
    """D-7: growing an array along an axis without elements gives its chunks a length."""
    key = ZARR_PYTHON.node_keys("a")[0]
    source = json.loads(ZARR_PYTHON.encode(array(ZARR_PYTHON, shape=(0, 5), chunks=(1, 5)), "a")[key])
    source["chunk_grid"]["chunk_shape"] = [0, 5]
    meta = ZARR_PYTHON.decode("a", {key: json.dumps(source).encode(), **ZARR_PYTHON.entry_documents()})
    assert isinstance(meta, ArrayMeta)
    same, grown = (json.loads(ZARR_PYTHON.encode(meta.with_shape(shape), "a")[key]) for shape in ((0, 7), (3, 5)))
    assert (same["chunk_grid"]["chunk_shape"], grown["chunk_grid"]["chunk_shape"]) == ([0, 5], [1, 5])

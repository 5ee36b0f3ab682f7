"""Zarr v1: the document's example, all compressors, what zarr-python 1 really wrote."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.errors import MetadataError, NodeExistsError, NodeNotFoundError, NodeTypeError
from blizzarr.formats.v1 import V1

VALUES = np.arange(63, dtype="<i4").reshape(7, 9)


def meta_of(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(values["meta"])
    return found


EXAMPLE = b"""{
    "chunks": [
        10,
        10
    ],
    "compression": "zlib",
    "compression_opts": 1,
    "dtype": "<i4",
    "fill_value": 42,
    "order": "C",
    "shape": [
        20,
        20
    ],
    "zarr_format": 1
}"""
EXAMPLE_ATTRIBUTES = b"""{
    "bar": "apples",
    "baz": [
        1,
        2,
        3,
        4
    ],
    "foo": 42
}"""


def test_the_example_of_the_document() -> None:
    """O-1 to O-10, O-15, O-17 to O-20, O-22: key by key, documents byte by byte, chunks as far as zlib is determined.

    The names of the attributes are in order, whichever was set first.
    """
    store: dict[str, Any] = {}
    z = blizzarr.create_array(
        store,
        shape=(20, 20),
        chunks=(10, 10),
        dtype="<i4",
        fill_value=42,
        compressors={"id": "zlib", "level": 1},
        zarr_format=1,
    )
    assert sorted(store) == ["attrs", "meta"]
    assert (store["meta"], store["attrs"]) == (EXAMPLE, b"{}")
    z[0:10, 0:10] = 1
    assert sorted(store) == ["0.0", "attrs", "meta"]
    z[0:10, 10:20] = 2
    z[10:20, :] = 3
    assert sorted(store) == ["0.0", "0.1", "1.0", "1.1", "attrs", "meta"]
    assert np.frombuffer(zlib.decompress(store["0.0"]), "<i4").tolist() == [1] * 100
    z.attrs["foo"] = 42
    z.attrs["bar"] = "apples"
    z.attrs["baz"] = [1, 2, 3, 4]
    assert (store["meta"], store["attrs"]) == (EXAMPLE, EXAMPLE_ATTRIBUTES)
    assert blizzarr.open_array(store, mode="r")[9:11, 9:11].tolist() == [[1, 2], [3, 3]]


COMPRESSIONS: list[tuple[Any, Any, Any]] = [
    ("blosc", {"cname": "lz4", "clevel": 5, "shuffle": 1}, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}),
    (
        "blosc",
        {"cname": "zstd", "clevel": 1, "shuffle": 2},
        {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2},
    ),
    ("zlib", 9, {"id": "zlib", "level": 9}),
    ("bz2", 1, {"id": "bz2", "level": 1}),
    (
        "lzma",
        {"format": 1, "check": 0, "preset": 1, "filters": None},
        {"id": "lzma", "format": 1, "check": 0, "preset": 1, "filters": None},
    ),
    ("none", None, None),
]


@pytest.mark.parametrize(("compression", "options", "codec"), COMPRESSIONS, ids=lambda value: json.dumps(value)[:30])
def test_compressors(compression: str, options: Any, codec: Any) -> None:
    """O-7, O-8, O-14: every compressor with its options, both ways."""
    store: dict[str, Any] = {}
    z = blizzarr.create_array(store, data=VALUES, chunks=(3, 4), compressors=codec, zarr_format=1)
    assert (meta_of(store)["compression"], meta_of(store)["compression_opts"]) == (compression, options)
    assert np.array_equal(z[:], VALUES)
    # Chunks at the edge are as large as the others.
    assert len(store["2.2"]) == 48 or compression != "none"


@pytest.mark.parametrize(
    ("change", "equal"),
    [
        ({"compression": "zlib", "compression_opts": None}, {"compression": "zlib", "compression_opts": 1}),
        ({"compression": "gzip", "compression_opts": 1}, {"compression": "zlib", "compression_opts": 1}),
        ({"compression": None, "compression_opts": None}, {"compression": "none", "compression_opts": None}),
        (
            {"compression": "blosc", "compression_opts": None},
            {"compression": "blosc", "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1}},
        ),
        (
            {"compression": "blosc", "compression_opts": {"clevel": None}},
            {"compression": "blosc", "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1}},
        ),
    ],
)
def test_what_is_left_out_of_options(change: dict[str, Any], equal: dict[str, Any]) -> None:
    """O-8, O-23: as zarr-python 1 filled it in; its "gzip" was zlib."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=VALUES, chunks=(3, 4), compressors=None, zarr_format=1)
    made = [V1.decode("", {"meta": json.dumps(meta_of(store) | part).encode()}) for part in (change, equal)]
    assert made[0] is not None
    assert made[0] == made[1]


def test_order_f_as_zarr_python_1_had_it() -> None:
    """O-10, O-24, O-25: with Blosc the first axis is fastest, with other compressors the order was not followed."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=VALUES[:3, :4], chunks=(3, 4), compressors=None, zarr_format=1)
    store["meta"] = json.dumps(meta_of(store) | {"order": "F"}).encode()
    assert np.array_equal(blizzarr.open_array(store, mode="r")[:], VALUES[:3, :4])
    with config.set(v1_order_as_documented=True):
        turned = blizzarr.open_array(store, mode="r")
        assert np.array_equal(turned[:].ravel(order="F"), VALUES[:3, :4].ravel())
    other: dict[str, Any] = {}
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 0, "shuffle": 0}
    blizzarr.create_array(other, data=VALUES[:3, :4], chunks=(3, 4), order="F", compressors=blosc, zarr_format=1)
    assert meta_of(other)["order"] == "F"
    assert other["0.0"][16:] == VALUES[:3, :4].tobytes(order="F")


@pytest.mark.parametrize("compressor", [None, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}])
def test_parts_of_chunks_in_order_f(compressor: Any) -> None:
    """O-10, O-24, O-25: what is read, merged and written back stays where it was, in either order."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=VALUES, chunks=(3, 4), compressors=compressor, zarr_format=1)
    if compressor is None:
        store["meta"] = json.dumps(meta_of(store) | {"order": "F"}).encode()
    else:
        blizzarr.create_array(
            store, data=VALUES, chunks=(3, 4), compressors=compressor, order="F", zarr_format=1, overwrite=True
        )
    expected = VALUES.copy()
    z = blizzarr.open_array(store, mode="r+")
    for part, value in ((np.s_[1:6, 1:4], np.arange(15).reshape(5, 3)), (np.s_[2], 99), (np.s_[:, 3], np.arange(7))):
        z[part] = expected[part] = value
    assert meta_of(store)["order"] == "F"
    assert np.array_equal(blizzarr.open_array(store, mode="r")[:], expected)


def test_order_f_as_the_document_has_it() -> None:
    """O-10: under the switch; what is changed without it then are the attributes, and not the document's order."""
    store: dict[str, Any] = {}
    with config.set(v1_order_as_documented=True):
        z = blizzarr.create_array(store, data=VALUES[:3, :4], chunks=(3, 4), order="F", compressors=None, zarr_format=1)
        assert store["0.0"] == VALUES[:3, :4].tobytes(order="F")
        assert np.array_equal(blizzarr.open_array(store, mode="r")[:], VALUES[:3, :4])
    before = dict(store)
    z.attrs["a"] = 2
    assert {key for key in store if store[key] != before[key]} == {"attrs"}


def test_order_f_is_kept_when_the_document_is_stored_again() -> None:
    """O-10, O-11: also where it says nothing about the chunks."""
    store: dict[str, Any] = {}
    z = blizzarr.create_array(store, data=VALUES, chunks=(3, 4), compressors=None, zarr_format=1)
    store["meta"] = json.dumps(meta_of(store) | {"order": "F", "zarr_version": "1.1.0"}).encode()
    z = blizzarr.open_array(store, mode="r+")
    z.resize((8, 9))
    assert meta_of(store)["order"] == "F"
    assert meta_of(store)["zarr_version"] == "1.1.0"
    assert meta_of(store)["shape"] == [8, 9]
    assert np.array_equal(z[:7], VALUES)


def test_order_f_that_nobody_would_follow_is_refused() -> None:
    """O-10: a new array says so, instead of being read in another order."""
    with pytest.raises(MetadataError, match="blosc: zarr-python 1 reads"):
        blizzarr.create_array({}, shape=(4, 4), dtype="i4", order="F", compressors="zlib", zarr_format=1)


def test_documents_that_are_not_changed_keep_their_bytes() -> None:
    """O-9, O-11, O-22: setting an attribute touches neither the spelling of ``meta`` nor the bare token in it."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=(3,), dtype="<f4", chunks=2, zarr_format=1)
    meta = store["meta"] = json.dumps(meta_of(store) | {"fill_value": float("nan"), "by": "hand"}).encode()
    store["attrs"] = b'{"b": 1, "a": 2}'
    z = blizzarr.open_array(store, mode="r+")
    z.resize((3,))
    assert (store["meta"], store["attrs"]) == (meta, b'{"b": 1, "a": 2}')
    z.attrs["c"] = 3
    assert store["meta"] == meta
    assert store["attrs"] == b'{\n    "a": 2,\n    "b": 1,\n    "c": 3\n}'


def test_null_fill_value() -> None:
    """O-16: unwritten elements read as zeros, and zeros that are written are stored."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=(6,), dtype="<f4", chunks=2, zarr_format=1)
    store["meta"] = json.dumps(meta_of(store) | {"fill_value": None}).encode()
    z = blizzarr.open_array(store, mode="r+")
    assert z.fill_value is None
    assert z[:].tolist() == [0.0] * 6
    z[0:2] = 0
    assert sorted(store) == ["0", "attrs", "meta"]
    z.attrs["a"] = 1
    assert meta_of(store)["fill_value"] is None


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_fill_values_that_json_has_not(token: str) -> None:
    """O-9, O-22: the bare tokens that zarr-python 1 wrote; written again, they are strings."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=(3,), dtype="<f4", chunks=2, zarr_format=1)
    store["meta"] = store["meta"].replace(b'"fill_value": 0.0', f'"fill_value": {token}'.encode())
    z = blizzarr.open_array(store, mode="r+")
    assert str(z[0]) == {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[token]
    z.resize((4,))
    assert meta_of(store)["fill_value"] == token
    assert f'"{token}"'.encode() in bytes(store["meta"])


TYPES = ["|b1", "|i1", "<u8", ">i4", "<f2", ">f8", "<c16", "|S5", "<U4", ">U4", "<M8[ns]", "<m8[D]"]
STRUCT = [["r", "|u1"], ["g", "<f4"], ["b", "|S3"]]


@pytest.mark.parametrize("spelled", [*TYPES, STRUCT], ids=str)
def test_data_types(spelled: Any) -> None:
    """O-6, O-12, O-13, O-26: with their byte order, structs field by field."""
    dtype = np.dtype(spelled if isinstance(spelled, str) else [tuple(field) for field in spelled])
    data = np.zeros((5,), dtype)
    for number in range(5):
        data[number] = (number, number, b"ab") if dtype.fields else np.array(number, "int64").astype(dtype)
    store: dict[str, Any] = {}
    z = blizzarr.create_array(store, data=data, chunks=2, dtype=dtype, compressors=None, zarr_format=1)
    assert meta_of(store)["dtype"] == spelled
    assert store["0"] == data[:2].tobytes()
    assert (z[:] == data).all()


def test_without_attributes() -> None:
    """O-18: tolerated when it is read, made when attributes are set."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=VALUES, zarr_format=1)
    del store["attrs"]
    z = blizzarr.open_array(store, mode="r+")
    assert z.attrs.asdict() == {}
    z.attrs["a"] = 1
    assert json.loads(store["attrs"]) == {"a": 1}


def test_there_are_no_groups() -> None:
    """O-21: one array per store, and no group anywhere."""
    with pytest.raises(MetadataError, match="v1 has no groups"):
        blizzarr.create_group({}, zarr_format=1)
    store: dict[str, Any] = {}
    blizzarr.create_array(store, name="deep/down", data=VALUES, zarr_format=1)
    assert {key.rpartition("/")[0] for key in store} == {"deep/down"}
    assert np.array_equal(blizzarr.open_array(store, path="deep/down")[:], VALUES)
    with pytest.raises(NodeNotFoundError, match="found down/"):
        blizzarr.open(store, path="deep")
    group: dict[str, Any] = {}
    blizzarr.create_group(group)
    with pytest.raises(NodeTypeError, match="format v1"):
        blizzarr.create_array(group, name="a", data=VALUES, zarr_format=1)


@pytest.mark.parametrize("text", [b"", b"just notes", b"[]", b"{}", b'{"zarr_format": 9}', b'{"zarr_format": true}'])
def test_a_file_called_meta_may_be_anybodys(text: bytes) -> None:
    """No node, so nothing of it is removed with one either."""
    store: dict[str, Any] = {"meta": text}
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(store)
    blizzarr.create_array(store, data=VALUES)
    with pytest.raises(NodeExistsError, match="not ours: meta;"):
        blizzarr.create_array(store, data=VALUES, overwrite=True)
    with config.set(keep_foreign_files=True):
        blizzarr.create_array(store, data=VALUES, overwrite=True)
    assert store["meta"] == text


def test_a_damaged_document_is_not_missing() -> None:
    """O-3: with attributes beside it, it is one of ours."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=VALUES, zarr_format=1)
    store["meta"] = bytes(store["meta"])[:40]
    with pytest.raises(MetadataError, match="meta"):
        blizzarr.open(store)


def test_removing_takes_what_is_its_own() -> None:
    """Row 77: documents and chunks go, other keys stay."""
    store: dict[str, Any] = {"a/notes": b"mine", "a/0.0.png": b"mine"}
    blizzarr.create_array(store, name="a", data=VALUES, chunks=4, zarr_format=1)
    with config.set(keep_foreign_files=True):
        blizzarr.create_array(store, name="a", data=VALUES, chunks=(9, 9), zarr_format=1, overwrite=True)
    assert sorted(store) == ["a/0.0", "a/0.0.png", "a/attrs", "a/meta", "a/notes"]


KEYS = [("meta", ""), ("attrs", ""), ("a/b/meta", "a/b"), ("a/metadata", None), ("0.0", None)]


@pytest.mark.parametrize(("key", "path"), KEYS)
def test_keys(key: str, path: str | None) -> None:
    """O-2, O-18: which documents belong to which store."""
    assert V1.node_of(key) == path
    if path is not None:
        assert key in V1.document_keys(path)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"filters": [{"id": "delta", "dtype": "<i4"}]}, "filters"),
        ({"compressors": "zstd"}, "compressor"),
        ({"compressors": "gzip"}, "compressor"),
        ({"compressors": {"id": "zlib", "level": -1}}, "compressor.level"),
        ({"compressors": {"id": "lz4"}}, "compressor"),
        ({"dtype": [("a", "i4", (2,))]}, "data_type"),
        ({"dtype": "S3", "fill_value": b"\xff"}, "fill_value"),
        ({"dtype": "bfloat16"}, "data_type"),
        ({"compressors": ["zlib", "zlib"]}, "filters"),
        ({"shards": (4, 4), "chunks": (2, 2)}, "codecs"),
        ({"chunk_key_encoding": ("v2", "/")}, "chunk_key_encoding"),
        ({"dimension_names": ["y", None]}, "dimension_names"),
        ({"dtype": "string"}, "data_type"),
        ({"compressors": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 256}}, "compressor"),
    ],
)
def test_what_v1_cannot_express(options: dict[str, Any], path: str) -> None:
    """Each is a problem that names the member, and nothing is stored."""
    store: dict[str, Any] = {}
    with pytest.raises(MetadataError) as caught:
        blizzarr.create_array(store, **{"shape": (4, 4), "dtype": "i4", "zarr_format": 1, **options})
    assert any(problem.path.startswith(path) for problem in caught.value.problems), caught.value.problems
    assert store == {}

"""Structs: what users and documents mean by them, their byte order, their fill values."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blizzarr
from blizzarr.dtypes import DataType
from blizzarr.dtypes.byte_order import in_order
from blizzarr.dtypes.typestr import from_typestr
from blizzarr.errors import MetadataError
from blizzarr.problems import Problems

OTHER = "big" if sys.byteorder == "little" else "little"
PAIR: Any = [("a", "i2"), ("b", "u1")]


@pytest.mark.parametrize(
    ("value", "packed"),
    [
        (np.dtype([("a", "u1"), ("b", "<i4")], align=True), [("a", "u1"), ("b", "i4")]),
        (np.dtype([(("title", "a"), ">i4")]), [("a", "i4")]),
        (np.dtype({"names": ["a", "b"], "formats": ["i4", "u1"], "offsets": [0, 3]}), [("a", "i4"), ("b", "u1")]),
        (np.dtype({"names": ["b", "a"], "formats": ["u1", "i2"], "offsets": [9, 0]}), [("b", "u1"), ("a", "i2")]),
        ([("v", ">f4", (2, 3)), ("n", PAIR, (4,))], [("v", "f4", (2, 3)), ("n", PAIR, (4,))]),
        ([("t", "M8[25s]"), ("s", "S3"), ("u", ">U2"), ("r", "V4")], None),
    ],
)
def test_types_of_users(value: Any, packed: Any) -> None:
    """row 57: fields are what counts; order of bytes, padding, overlaps and titles are about memory."""
    dtype = DataType.parse(value)
    assert dtype.numpy == (np.dtype(value).newbyteorder("=") if packed is None else np.dtype(packed))
    assert dtype.is_native


def test_fields_that_no_format_has() -> None:
    """row 57: each of them is a problem, with the name of the field."""
    with pytest.raises(MetadataError) as caught:
        DataType.parse([("a", "O"), ("b", [("c", "f16")])])
    places = [problem.path for problem in caught.value.problems]
    assert places == ['data_type["b"]["c"]', 'data_type["a"].data_type']


def test_structs_of_users_have_a_depth() -> None:
    """row 57: deeper than documents may have them is an error, not the end of the stack."""
    value: Any = "u1"
    for _ in range(200):
        value = np.dtype([("a", value)])
    with pytest.raises(MetadataError, match="structs at most 32 deep"):
        DataType.parse(value)


@pytest.mark.parametrize(
    ("fields", "swap"),
    [
        (PAIR, ((2, 2), (1, 0))),
        ([("a", "u1"), ("b", "S3"), ("c", "?")], 0),
        ([("c", "c16"), ("u", "U3"), ("m", "M8[s]"), ("v", "V3")], ((16, 8), (12, 4), (8, 8), (3, 0))),
        ([("v", "f4", (2, 3)), ("w", "u1", 5)], ((24, 4), (5, 0))),
        ([("n", PAIR), ("o", PAIR, (1,))], ((2, 2), (1, 0), (2, 2), (1, 0))),
        ([("n", PAIR, (2, 5)), ("z", "u1")], ((30, ((2, 2), (1, 0))), (1, 0))),
    ],
)
def test_swap(fields: Any, swap: Any) -> None:
    """F-9: each field has units of its own; what repeats is said once."""
    dtype = DataType.parse(fields)
    assert dtype.swap == swap
    element = bytes(range(1, dtype.itemsize + 1))
    stored = in_order(element, dtype.swap, OTHER)
    numpy = np.frombuffer(element, dtype.numpy)
    assert stored == numpy.astype(dtype.numpy.newbyteorder()).tobytes()
    assert in_order(stored, dtype.swap, OTHER) == element
    assert in_order(element, dtype.swap, sys.byteorder) == element


def test_a_field_of_very_many_structs_takes_no_memory() -> None:
    """row 57: a short document does not make long lists."""
    found = from_typestr([["n", [["a", "<i2"], ["b", "|u1"]], [700_000_000]]], "dtype", Problems())
    assert found is not None
    assert found.dtype.swap == ((2_100_000_000, ((2, 2), (1, 0))),)


def fields_of(shapes: Any) -> st.SearchStrategy[Any]:
    """Fields of all kinds, structs among them, with such shapes."""
    simple = st.sampled_from(["i2", "u4", "f8", "c8", "S3", "V5", "u1", "M8[s]"])

    def named(parts: list[tuple[Any, Any]]) -> list[tuple[Any, ...]]:
        return [(f"f{number}", *part) for number, part in enumerate(parts)]

    return st.recursive(
        st.tuples(simple, shapes).map(lambda part: named([part])),
        lambda inner: st.lists(st.tuples(st.one_of(simple, inner), shapes), min_size=1, max_size=4).map(named),
        max_leaves=4,
    )


def check_stored_bytes(fields: Any, data: bytes, order: Any, version: int) -> None:
    numpy = np.dtype(fields).newbyteorder(order)
    # A chunk of nothing but zeros would not be stored.
    raw = (b"\1" + data * (numpy.itemsize * 5 // len(data) + 1))[: numpy.itemsize * 5]
    store: dict[str, bytes] = {}
    array = blizzarr.create_array(store, shape=5, chunks=5, dtype=numpy, compressors=None, zarr_format=version)
    array[:] = np.frombuffer(raw, numpy)
    assert store["0" if version == 2 else "c/0"] == raw
    assert blizzarr.open_array(store)[:].astype(numpy).tobytes() == raw


@settings(max_examples=50)
@given(fields_of(st.sampled_from([(), (), (2,), (1, 3)])), st.binary(min_size=50, max_size=50), st.sampled_from("<>"))
def test_stored_bytes(fields: Any, data: bytes, order: str) -> None:
    """V-1: chunks have the bytes that NumPy has for the fields in this order, however they nest and repeat."""
    check_stored_bytes(fields, data, order, 2)


@settings(max_examples=50)
@given(fields_of(st.just(())), st.binary(min_size=50, max_size=50), st.sampled_from("<>"))
def test_stored_bytes_of_v3(fields: Any, data: bytes, order: str) -> None:
    """F-9: so it is with the byte order of the codec ``bytes``, which is that of the type that the user gave."""
    check_stored_bytes(fields, data, order, 3)


def test_fields_that_v3_does_not_have() -> None:
    """row 53: several elements in a field are an error that says who has them, before anything is stored."""
    store: dict[str, bytes] = {}
    with pytest.raises(MetadataError, match="a field of several elements, which only v1, v2 and the draft have"):
        blizzarr.create_array(store, shape=5, dtype=[("v", "f4", (2,))], zarr_format=3)
    assert not store


NESTED: Any = [("id", "i4"), ("at", [("x", "f4"), ("t", "M8[s]")])]


@pytest.mark.parametrize(
    ("fields", "value", "expected"),
    [
        (PAIR, (1, 2), (1, 2)),
        (PAIR, {"b": 2, "a": 1}, (1, 2)),
        (PAIR, np.array((1, 2), [("a", ">i8"), ("b", "i4")])[()], (1, 2)),
        (PAIR, np.array((1, 2), np.dtype(PAIR, align=True)), (1, 2)),
        (PAIR, 0, (0, 0)),
        (PAIR, np.int8(0), (0, 0)),
        (PAIR, None, (0, 0)),
        (NESTED, (1, (np.float32(2.5), 60)), (1, (2.5, 60))),
        (NESTED, (1, {"x": "Infinity", "t": "1970-01-01T00:01"}), (1, (np.inf, 60))),
        ([("v", "i2", (2, 2))], ([[1, 2], [3, 4]],), ([[1, 2], [3, 4]],)),
        ([("v", "i2", (2, 2))], {"v": np.arange(4.0).reshape(2, 2)}, ([[0, 1], [2, 3]],)),
        ([("v", "i2", (2, 2))], (0,), ([[0, 0], [0, 0]],)),
        ([("n", PAIR, (2,))], ([(1, 2), {"a": 3, "b": 4}],), ([(1, 2), (3, 4)],)),
    ],
)
def test_fill_values_of_users(fields: Any, value: Any, expected: Any) -> None:
    """row 58: a tuple, an object with names, another record; each value as it is for its own data type."""
    dtype = DataType.parse(fields)
    assert dtype.fill_bytes(dtype.fill(value)) == np.array(expected, fields).tobytes()


@pytest.mark.parametrize(
    ("fields", "value", "says"),
    [
        (PAIR, 1, "a value for each field, found 1"),
        (PAIR, (1,), "a value for each field, found (1,)"),
        (PAIR, (1, 2, 3), "a value for each field, found (1, 2, 3)"),
        (PAIR, [1, 2], "a value for each field, found [1, 2]"),
        (PAIR, {"a": 1}, "a value for each field, found {'a': 1}"),
        (PAIR, {"a": 1, "b": 2, "c": 3}, "a value for each field, found {'a': 1, 'b': 2, 'c': 3}"),
        (PAIR, (1, 256), "an integer in [0, 255], for b, found (1, 256)"),
        (PAIR, (1.5, 2), "an integer in [-32768, 32767], for a, found (1.5, 2)"),
        (NESTED, (1, (2, "soon")), "a value that datetime64[s] has, for t, for at, found (1, (2, 'soon'))"),
        ([("v", "u1", (2,))], ([1, 2, 3],), "a list of 2 values, for v, found ([1, 2, 3],)"),
        ([("v", "u1", (2,))], ([1, 300],), "an integer in [0, 255], for v, found ([1, 300],)"),
        ([("v", "u1", (2,))], (7,), "a list of 2 values, for v, found (7,)"),
    ],
)
def test_fill_values_that_would_change(fields: Any, value: Any, says: str) -> None:
    """row 58: no value is cut, rounded or left out on the way into a record."""
    with pytest.raises(MetadataError) as caught:
        DataType.parse(fields).fill(value)
    assert str(caught.value).endswith(f"fill_value: expected {says}")


LEGACY: Any = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [2],
    "data_type": {"name": "structured", "configuration": {"fields": [["a", "int16"], ["b", "uint8"]]}},
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": "AQID",
    "codecs": [{"name": "bytes"}],
}


def legacy(**members: Any) -> dict[str, bytes]:
    return {"zarr.json": json.dumps(LEGACY | members).encode(), "c/0": bytes([1, 2, 3])}


def test_what_zarr_python_3_1_wrote() -> None:
    """F-9: its documents leave the byte order out; the registry says what it is then, and to warn."""
    store = legacy()
    with pytest.warns(UserWarning, match=r"codecs\[0\]: .* taken for little-endian"):
        array = blizzarr.open_array(store)
    assert array[:].tolist() == [(0x0201, 3), (0x0201, 3)]


def test_structured_is_kept_but_not_made() -> None:
    """row 53: a document that is written again keeps the old name, a new one has the registered one."""
    store = legacy(codecs=[{"name": "bytes", "configuration": {"endian": "big"}}])
    array = blizzarr.open_array(store)
    assert array[:].tolist() == [(0x0102, 3), (0x0102, 3)]
    array.resize(3)
    kept = json.loads(store["zarr.json"])
    assert (kept["data_type"], kept["fill_value"]) == (LEGACY["data_type"], LEGACY["fill_value"])
    made: dict[str, bytes] = {}
    blizzarr.copy(array, made)
    new = json.loads(made["zarr.json"])
    fields = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "uint8"}]
    assert new["data_type"] == {"name": "struct", "configuration": {"fields": fields}}
    assert new["fill_value"] == {"a": 0x0102, "b": 3}
    assert blizzarr.open_array(made)[:].tolist() == [(0x0102, 3)] * 3


def test_single_bytes_need_no_order() -> None:
    """F-9: where nothing depends on the order, nobody is warned."""
    fields = [["a", "int8"], ["b", "uint8"], ["c", "bool"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = blizzarr.open_array(
            legacy(data_type={"name": "structured", "configuration": {"fields": fields}}, fill_value="AQIA")
        )
    assert array[:].tolist() == [(1, 2, True), (1, 2, False)]


def test_text_that_is_none() -> None:
    """row 58: what somebody stored as text may be no characters; a copy into v3, which has only text, says so."""
    document = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": [["u", "<U1"], ["a", "|u1"]], "order": "C"}
    document |= {"compressor": None, "filters": None, "fill_value": "AAAAAQI="}
    array = blizzarr.open_array({".zarray": json.dumps(document).encode()})
    assert array.metadata.dtype.fill_to_json(array.fill_value) == {"u": None, "a": 2}
    with pytest.raises(MetadataError, match=r"fill_value\.u: expected text of at most 1 characters, found null"):
        blizzarr.copy(array, {}, zarr_format=3)

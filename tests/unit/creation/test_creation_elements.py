"""What the elements of new arrays are, where NumPy's type says too little."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import VlenBytesCodec, VlenUtf8Codec
from blizzarr.codecs.objects import JsonCodec
from blizzarr.errors import MetadataError

TEXTS = ["a", "", "bcd\N{SNOWMAN}", "z\0"]


def name_of(**arguments: Any) -> str:
    return blizzarr.create_array({}, **arguments).metadata.dtype.name


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (TEXTS, "string"),
        (tuple(TEXTS), "string"),
        ([TEXTS, TEXTS], "string"),
        ("text", "string"),
        (np.array(TEXTS, object), "string"),
        (np.array([np.str_("a")], object), "string"),
        ([b"a", b"b\0"], "bytes"),
        (b"a", "bytes"),
        (np.array([b"a"], object), "bytes"),
        (np.array(TEXTS), "fixed_length_utf32"),
        (np.str_("a"), "fixed_length_utf32"),
        (np.array([b"a"]), "null_terminated_bytes"),
        ([1, 2], "int64"),
        ([True], "bool"),
    ],
)
def test_types_of_data(data: Any, name: str) -> None:
    """Text of a list may have any length; that of NumPy's arrays keeps theirs. Nothing is cut off."""
    array = blizzarr.create_array({}, data=data)
    assert array.metadata.dtype.name == name
    assert array[...].tolist() == (data.tolist() if isinstance(data, np.ndarray) else np.array(data, object).tolist())


def test_text_of_numpy_2() -> None:
    strings = getattr(np.dtypes, "StringDType", None)
    if strings is None:
        pytest.skip("NumPy 1 has no such type")
    array = blizzarr.create_array({}, data=np.array(TEXTS, strings()))
    assert (array.metadata.dtype.name, array[...].tolist()) == ("string", TEXTS)
    assert np.asarray(array, strings()).tolist() == TEXTS
    with pytest.raises(TypeError, match=r"expected str at index \(1,\), found NoneType None"):
        blizzarr.create_array({}, data=np.array(["a", None], strings(na_object=None)))


@pytest.mark.parametrize(
    ("dtype", "name", "serializer"),
    [
        (str, "string", VlenUtf8Codec()),
        ("str", "string", VlenUtf8Codec()),
        ("string", "string", VlenUtf8Codec()),
        (np.str_, "string", VlenUtf8Codec()),
        (bytes, "bytes", VlenBytesCodec()),
        ("bytes", "bytes", VlenBytesCodec()),
        ("variable_length_bytes", "bytes", VlenBytesCodec()),
        ("U4", "fixed_length_utf32", None),
        ("S4", "null_terminated_bytes", None),
    ],
)
def test_types_by_name(dtype: Any, name: str, serializer: Any) -> None:
    array = blizzarr.create_array({}, shape=3, dtype=dtype)
    assert array.metadata.dtype.name == name
    assert serializer in (None, array.serializer)
    assert array[...].tolist() == [b"" if "byte" in name else ""] * 3


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"serializer": "vlen-utf8"}, "string"),
        ({"serializer": VlenBytesCodec()}, "bytes"),
        ({"filters": [numcodecs.VLenUTF8()]}, "string"),
        ({"filters": [{"id": "vlen-bytes"}]}, "bytes"),
        ({"codecs": ["vlen-utf8", "zstd"]}, "string"),
        ({"codecs": [{"name": "transpose", "configuration": {"order": [0]}}, "vlen-bytes"]}, "bytes"),
        ({"filters": numcodecs.JSON(), "zarr_format": 2}, "object"),
        ({"filters": [numcodecs.Categorize(["a"], object)], "zarr_format": 2}, "string"),
    ],
    ids=str,
)
def test_codecs_say_what_objects_are(options: dict[str, Any], name: str) -> None:
    assert name_of(shape=3, dtype=object, **options) == name


def test_shards_say_it_too() -> None:
    inner = blizzarr.codecs.ShardingCodec((2,), codecs=("vlen-utf8", "crc32c"))
    array = blizzarr.create_array({}, shape=8, chunks=4, dtype=object, codecs=[inner])
    assert (array.metadata.dtype.name, array.chunks, array.shards) == ("string", (2,), (4,))


def test_any_objects_of_text() -> None:
    """A codec of any objects makes texts any objects."""
    array = blizzarr.create_array({}, data=TEXTS, filters=[JsonCodec()], zarr_format=2)
    assert (array.metadata.dtype.name, array[...].tolist()) == ("object", TEXTS)
    array[0] = [1, 2]
    assert array[0] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": 3, "dtype": object}, "dtype: expected what the elements are: dtype='string', dtype='bytes', or a c"),
        ({"data": np.array(["a", 1], object)}, "dtype: expected what the elements are"),
        ({"data": ["a", None]}, "dtype: expected what the elements are"),
        ({"data": np.array([], object)}, "dtype: expected what the elements are"),
        ({"data": np.array([1, 2], object)}, "pass the data type of the numbers, like dtype='int64'"),
        ({"data": [Decimal("1.5"), 2]}, "pass the data type of the numbers, like dtype='float64'"),
        ({"data": np.array([[1], [2, 3]], object)}, "arrays of several lengths take filters=.numcodecs.VLenArray"),
        ({"shape": 3, "dtype": str, "fill_value": b"x"}, "fill_value: expected text, found b'x'"),
        ({"shape": 3, "dtype": str, "fill_value": "\ud800"}, "fill_value: expected text"),
        ({"shape": 3, "dtype": str, "serializer": "bytes"}, "expected a codec for elements of variable length, string"),
        (
            {"shape": 3, "dtype": str, "serializer": "vlen-bytes"},
            "a codec for elements of string; this one is for bytes",
        ),
        (
            {"shape": 3, "dtype": "i4", "serializer": "vlen-utf8"},
            "a codec for elements of int32; this one is for string",
        ),
        ({"shape": 3, "dtype": object, "filters": JsonCodec()}, '"object": any objects of Python, which only v2 has'),
        ({"shape": 3, "dtype": str, "zarr_format": 1}, "."),
    ],
    ids=str,
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    values: dict[str, bytes] = {}
    with pytest.raises(MetadataError, match=message):
        blizzarr.create_array(values, **arguments)
    assert values == {}


def test_data_that_cannot_become_text() -> None:
    """Found out before anything is made."""
    values: dict[str, bytes] = {}
    for data in (np.arange(3), [b"a"], ["a", 1], [["a"], [None]]):
        with pytest.raises(TypeError, match="expected str"):
            blizzarr.create_array(values, data=data, dtype=str)
    with pytest.raises(TypeError, match="expected data whose elements can become string, found int64"):
        blizzarr.create_array(values, data=blizzarr.create_array({}, data=np.arange(3)), dtype=str)
    with pytest.raises(TypeError, match="expected data whose elements can become bytes, found <U1"):
        blizzarr.create_array(values, data=blizzarr.create_array({}, data=np.array(["a"])), dtype=bytes)
    assert values == {}


def test_between_text_of_any_and_of_a_fixed_length() -> None:
    fixed = blizzarr.create_array({}, data=np.array(["a", "bcd"]))
    text = blizzarr.create_array({}, data=fixed, dtype=str)
    assert (text.metadata.dtype.name, text[...].tolist()) == ("string", ["a", "bcd"])
    assert all(type(element) is str for element in text[...])
    back = blizzarr.create_array({}, data=text, dtype="U3")
    assert (back.dtype, back[...].tolist()) == (np.dtype("U3"), ["a", "bcd"])


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (np.array(["12", "-3"]), "int32"),
        (np.array(["1.5", "nan"]), "float64"),
        (np.array([b"1.5", b"3"]), "complex64"),
        (np.array(["2020", "NaT"]), "M8[s]"),
        (np.array([b"abc", b"\0\1\2"], object), "r24"),
        (np.array(["12", "3"], object), "uint8"),
    ],
    ids=str,
)
def test_text_of_an_array_may_become_numbers(data: Any, dtype: Any) -> None:
    """As that of NumPy's arrays: whether it can, the text says, not that of an empty element."""
    expected = blizzarr.create_array({}, data=data, dtype=dtype)[...]
    values: dict[str, bytes] = {}
    array = blizzarr.create_array(values, data=blizzarr.create_array({}, data=data), dtype=dtype)
    assert array[...].tobytes() == expected.tobytes()
    with pytest.raises((ValueError, TypeError), match=r"x|expected|required"):
        blizzarr.create_array(values, data=blizzarr.create_array({}, data=["x"]), dtype=dtype, overwrite=True)
    assert blizzarr.load(values).tobytes() == expected.tobytes()


def test_lists_of_lists() -> None:
    """Which lists are elements, the shape tells."""
    array = blizzarr.create_array(
        {}, data=[[1, 2], [3, 4]], shape=(2,), dtype=object, filters=JsonCodec(), zarr_format=2
    )
    assert array[...].tolist() == [[1, 2], [3, 4]]
    array = blizzarr.create_array({}, data=[[1, 2], [3, 4]], dtype=object, filters=JsonCodec(), zarr_format=2)
    assert (array.shape, array[1, 1]) == ((2, 2), 4)
    values: dict[str, bytes] = {}
    blizzarr.save_array(values, [[1, 2], [3, 4]], shape=2, dtype=object, filters=JsonCodec(), zarr_format=2)
    assert blizzarr.load(values).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([(1, 2.5), (3, 4)], [("a", "i4"), ("b", "f8")]),
        ([(1, [2, 3])], [("a", "i4"), ("b", "i2", 2)]),
        ((7, b"x"), [("a", ">i4"), ("b", "S2")]),
        ([2**63 + 1, 1], "uint64"),
        ([2**53 + 1, 0.5], "int64"),
        ([b"a\0", b""], "S2"),
        ([1, "ab"], "U3"),
        (["2020-01-01", "NaT"], "M8[s]"),
    ],
    ids=str,
)
def test_lists_become_the_data_type_at_once(data: Any, dtype: Any) -> None:
    """As in NumPy: what the list would be without a data type does not matter."""
    expected = np.array(data, dtype)
    values: dict[str, bytes] = {}
    blizzarr.save_array(values, data, dtype=dtype, zarr_format=2)
    for array in (blizzarr.create_array({}, data=data, dtype=dtype, zarr_format=2), blizzarr.open(values)):
        assert array.shape == expected.shape
        assert array[...].tobytes() == expected.astype(array.dtype).tobytes()


def test_lists_whose_elements_do_not_fit() -> None:
    """They are refused, where NumPy's arrays wrap around."""
    values: dict[str, bytes] = {}
    for data, dtype in (([1, 300], "uint8"), ([-1, 1], "uint16"), ([1, float("nan")], "int8")):
        with pytest.raises((OverflowError, ValueError), match=r"out of bounds|NaN"):
            blizzarr.create_array(values, data=data, dtype=dtype)
    assert values == {}
    assert blizzarr.zeros_like([1, 300], dtype="uint8").shape == (2,)


@pytest.mark.parametrize(
    ("codec", "fill", "element"),
    [
        (numcodecs.JSON(), (1, 2), [1, 2]),
        (numcodecs.JSON(), {1: (2,)}, {"1": [2]}),
        (numcodecs.MsgPack(), [1, (2,)], [1, [2]]),
        (numcodecs.VLenArray("<i4"), (1, 2), [1, 2]),
        (numcodecs.VLenArray("<i4"), np.arange(2), [0, 1]),
        (numcodecs.Pickle(), {"a": [1.5, None]}, {"a": [1.5, None]}),
    ],
    ids=str,
)
def test_fill_values_of_objects_are_as_the_document_has_them(codec: Any, fill: Any, element: Any) -> None:
    values: dict[str, bytes] = {}
    with blizzarr.config.set(allowed_codecs=("pickle",)):
        array = blizzarr.create_array(
            values, shape=3, chunks=2, dtype=object, filters=codec, fill_value=fill, zarr_format=2
        )
        for one in (array, blizzarr.open(values)):
            assert [*map(type, one[...])] == [np.ndarray if codec.codec_id == "vlen-array" else type(element)] * 3
            assert [list(found) if isinstance(element, list) else found for found in one[...]] == [element] * 3
            assert one.fill_value == element
        # This reads the document again, and finds the same array.
        array.resize(4)
        assert "Fill value" in repr(array.info) + array._repr_html_()


@pytest.mark.parametrize(
    ("codec", "fill"),
    [
        (numcodecs.MsgPack(), b"x"),
        (numcodecs.Pickle(), b"x"),
        (numcodecs.Pickle(), (1, 2)),
        (numcodecs.Pickle(), {1: 2}),
        (numcodecs.Pickle(), np.float32(2)),
        (numcodecs.Pickle(), np.arange(2)),
        (numcodecs.Pickle(), {1, 2}),
        (numcodecs.VLenArray("<i4"), [2**70]),
    ],
    ids=str,
)
def test_fill_values_of_objects_that_would_read_back_as_others(codec: Any, fill: Any) -> None:
    """They have the form of JSON in documents of v2, whatever the codec of the elements can encode."""
    values: dict[str, bytes] = {}
    with pytest.raises(MetadataError, match="fill_value: expected a"):
        blizzarr.create_array(values, shape=3, dtype=object, filters=codec, fill_value=fill, zarr_format=2)
    assert values == {}


def test_numbers_that_arrays_of_a_type_do_not_have() -> None:
    options: dict[str, Any] = {"dtype": object, "filters": numcodecs.VLenArray("<i4"), "zarr_format": 2}
    array = blizzarr.create_array({}, shape=2, **options)
    with pytest.raises(TypeError, match=r"axis and <i4, or a list at index \(1,\), found list"):
        array[:] = [[1], [1, 2**70]]


def test_chunks_of_objects_are_reckoned_with_what_they_take() -> None:
    """An object is taken for 64 bytes, of which NumPy's array holds 8."""
    assert blizzarr.create_array({}, shape=1 << 20, dtype=str).chunks == (1 << 14,)
    array = blizzarr.create_array({}, shape=1 << 20, dtype=str, chunks="4MiB", shards="auto")
    assert (array.chunks, array.shards) == ((1 << 16,), (1 << 20,))


def test_like_and_save(tmp_path: Path) -> None:
    array = blizzarr.create_array({}, data=TEXTS, fill_value="none", chunks=2, shards=4)
    like = blizzarr.empty_like(array)
    assert (like.metadata.dtype, like.chunks, like.shards, like.fill_value) == (
        array.metadata.dtype,
        (2,),
        (4,),
        "none",
    )
    assert blizzarr.empty_like(TEXTS).metadata.dtype.name == "string"
    assert blizzarr.full_like(array, "x")[...].tolist() == ["x"] * 4
    blizzarr.save(tmp_path / "one", TEXTS)
    assert blizzarr.load(tmp_path / "one").tolist() == TEXTS
    blizzarr.save(tmp_path / "two", TEXTS, more=array, bytes=[b"a"])
    assert {name: value.tolist() for name, value in blizzarr.load(tmp_path / "two").items()} == {
        "arr_0": TEXTS,
        "more": TEXTS,
        "bytes": [b"a"],
    }
    group = blizzarr.open_group(tmp_path / "two")
    group["new"] = TEXTS
    assert group["new"][2] == TEXTS[2]


NESTED = [["a", "<i4"], ["b", ">f8", [2]], ["c", [["d", ">u2"], ["e", "|S3"]]]]


@pytest.mark.parametrize(
    ("zarr_format", "spelled"),
    [("v1", [["a", "<i4"], ["b", ">f8"]]), ("v2", [["a", "<i4"], ["b", ">f8"]]), ("v2", NESTED)],
)
def test_fields_keep_their_byte_orders_where_the_format_can(zarr_format: str, spelled: Any) -> None:
    """v1 and v2 have the byte order of each field; in v3, all fields have the same."""
    nested = spelled is NESTED
    mixed = np.dtype(
        [("a", "<i4"), *([("b", ">f8", (2,)), ("c", [("d", ">u2"), ("e", "S3")])] if nested else [("b", ">f8")])]
    )
    rows = [(1, (2.5, -1), (3, b"x")), (4, (0.5, 9), (6, b"yz")), (-7, (0, 8), (9, b""))]
    data = np.array(rows if nested else [(1, 2.5), (4, 0.5), (-7, 9)], mixed)
    values: dict[str, Any] = {}
    array = blizzarr.create_array(values, data=data, dtype=mixed, chunks=2, zarr_format=zarr_format, fill_value=data[1])
    document = json.loads(values[".zarray" if zarr_format == "v2" else "meta"])
    assert document["dtype"] == spelled
    assert array.dtype == mixed
    assert blizzarr.open_array(values)[...].tobytes() == data.tobytes()
    array.resize((5,))
    assert blizzarr.open_array(values)[4].tobytes() == data[1].tobytes()
    assert blizzarr.copy(array, {}).dtype == mixed
    if not nested:
        assert blizzarr.copy(array, {}, zarr_format="v3")[...].tolist() == array[...].tolist()


def test_zarr_python_reads_fields_of_both_byte_orders(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    data = np.array([(1, 2.5), (4, 0.5), (-7, 9)], [("a", "<i4"), ("b", ">f8")])
    blizzarr.create_array(tmp_path / "x", data=data, dtype=data.dtype, chunks=2, zarr_format=2)
    theirs = zarr.open_array(tmp_path / "x", mode="r")
    assert theirs.dtype == data.dtype
    assert theirs[...].tobytes() == data.tobytes()


@pytest.mark.parametrize("filters", [[numcodecs.Delta("u1")], [numcodecs.Delta("u1"), numcodecs.Shuffle(6)]])
def test_filters_get_fields_of_both_byte_orders_as_they_are_stored(filters: list[Any], tmp_path: Path) -> None:
    """Filters that read bytes once got all fields in one order when writing, and as stored when reading."""
    zarr = pytest.importorskip("zarr")
    mixed = np.dtype([("a", ">i2"), ("b", "<i4")])
    data = np.array([(258, 1), (-2, 70_000), (3, -5)], mixed)
    options: dict[str, Any] = {"chunks": (2,), "zarr_format": 2, "filters": filters, "compressors": None}
    ours = blizzarr.create_array(tmp_path / "ours", shape=3, dtype=mixed, **options)
    ours[:] = data
    assert ours[:].tolist() == data.tolist()
    assert zarr.open_array(tmp_path / "ours", mode="r")[:].tolist() == data.tolist()
    theirs = zarr.create_array(tmp_path / "theirs", shape=(3,), dtype=mixed, **options)
    theirs[:] = data
    assert blizzarr.open_array(tmp_path / "theirs")[:].tolist() == data.tolist()

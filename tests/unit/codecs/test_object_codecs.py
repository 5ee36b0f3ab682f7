"""The codecs of objects: what they make, against numcodecs; what they refuse; damaged chunks (rows 17, 24, 26, 27)."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Iterator
from typing import Any

import numcodecs
import numcodecs.pickles
import numpy as np
import numpy.typing as npt
import pytest

import blizzarr
from blizzarr.codecs.objects import (
    OBJECT_CODECS,
    CategorizeCodec,
    JsonCodec,
    ObjectCodec,
    PickleCodec,
    VlenArrayCodec,
    VlenBytesCodec,
    VlenUtf8Codec,
)
from blizzarr.errors import CodecError, MetadataError, UnknownExtensionError
from blizzarr.stores import MemoryStore


def objects(*elements: Any) -> npt.NDArray[Any]:
    return np.fromiter(elements, object, len(elements))


ARRAYS = objects(np.array([1, 2, 3], "<i2"), np.array([], "<i2"), np.array([-7], "<i2"), np.array([0, 0], "<i2"))
ANYTHING = objects("a", 1.5, None, {"k": [1, {"b": True}]}, [1, 2], "", -0.0, 10**30, False, 0, [], [3, 4])
LABELS = ("a", "bb", "\N{SNOWMAN}")
CODECS: dict[str, tuple[ObjectCodec, npt.NDArray[Any]]] = {
    "vlen-utf8": (VlenUtf8Codec(), objects("a", "", "\N{SNOWMAN}\N{CRAB}", "z" * 100, "b\0")),
    "vlen-bytes": (VlenBytesCodec(), objects(b"a", b"", b"\xff\0", b"z" * 100)),
    "vlen-array": (VlenArrayCodec("<i2"), ARRAYS),
    "json2": (JsonCodec(), ANYTHING),
    "json2 with options": (JsonCodec(ensure_ascii=False, indent=1, separators=(", ", ": "), sort_keys=False), ANYTHING),
    "msgpack2": (OBJECT_CODECS["msgpack2"](), objects(*(value for value in ANYTHING if value != 10**30))),
    "categorize": (CategorizeCodec(LABELS, astype=">i2"), objects("a", "", "\N{SNOWMAN}", "bb", "a")),
    "pickle": (PickleCodec(), objects("a", None, {1, 2}, 1.5j)),
}


@pytest.fixture(autouse=True)
def pickles_allowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    with blizzarr.config.set(allowed_codecs=("pickle",)):
        yield


def test_pickles_that_are_not_allowed() -> None:
    """Which array has them is said, and what to do."""
    options: dict[str, Any] = {"data": objects({1, 2}), "filters": PickleCodec(), "zarr_format": 2}
    array = blizzarr.create_group({}, zarr_format=2).create_array("a/b", **options)
    with (
        blizzarr.config.set(allowed_codecs=()),
        pytest.raises(UnknownExtensionError, match=r"^/a/b: the elements are pickles") as caught,
    ):
        array[...]
    assert caught.value.array == "/a/b"


def made(name: str, *, store: Any = None, data: Any = None, **options: Any) -> blizzarr.Array:
    codec, elements = CODECS[name]
    options = {"chunks": 3, "compressors": None, "zarr_format": 2} | options
    return blizzarr.create_array(
        MemoryStore() if store is None else store, data=elements if data is None else data, filters=[codec], **options
    )


def plain(elements: Any) -> list[Any]:
    return [element.tolist() if isinstance(element, np.ndarray) else element for element in elements]


@pytest.mark.parametrize("name", CODECS)
def test_row_objects_come_back(name: str) -> None:
    """Whole, in part, as selections, after parts have been overwritten, and by their types."""
    _, elements = CODECS[name]
    array = made(name, compressors=["zstd"])
    found = array[...]
    assert plain(found) == plain(elements)
    assert list(map(type, found)) == list(map(type, elements))
    assert plain(array[::-2]) == plain(elements[::-2])
    array[1:3] = elements[[3, 0]]
    assert plain(array[:4]) == plain(elements[[0, 3, 0, 3]])
    again = blizzarr.open_array(array.store)
    assert again.metadata == array.metadata
    assert plain(again[1:3]) == plain(elements[[3, 0]])


@pytest.mark.parametrize("name", CODECS)
def test_chunks_are_those_of_numcodecs(name: str) -> None:
    """What one of both makes, the other reads; text and bytes are equal byte for byte."""
    codec, elements = CODECS[name]
    theirs = numcodecs.get_codec(codec.config())
    array = made(name, chunks=len(elements))
    encoded = bytes(array.store.get("0"))
    assert plain(theirs.decode(encoded)) == plain(elements)
    if name != "pickle":
        assert encoded == bytes(theirs.encode(elements))
    array.store.set("0", bytes(theirs.encode(elements[::-1].copy())))
    assert plain(array[...]) == plain(elements[::-1])


@pytest.mark.parametrize("name", CODECS)
def test_configurations_are_those_of_numcodecs(name: str) -> None:
    """Documents say of a codec what numcodecs says, and its own objects can be passed."""
    codec, elements = CODECS[name]
    theirs = numcodecs.get_codec(codec.config())
    config = {option: value for option, value in theirs.get_config().items() if value is not None}
    assert codec.config() == json.loads(json.dumps(config))
    document = json.loads(bytes(made(name).store.get(".zarray")))
    assert (document["dtype"], document["filters"]) == ("|O", [codec.config()])
    array = blizzarr.create_array({}, data=elements, filters=[theirs], zarr_format=2)
    assert array.serializer == codec


def test_order_f() -> None:
    """Chunks lie first axis fastest, but for codecs that lay them out themselves."""
    data = objects("a", "b", "c", "d", "e", "f").reshape(2, 3)
    store = MemoryStore()
    made("vlen-utf8", store=store, data=data, chunks=(2, 3), order="F")
    assert numcodecs.VLenUTF8().decode(store.get("0.0")).tolist() == ["a", "d", "b", "e", "c", "f"]
    assert blizzarr.open_array(store)[...].tolist() == data.tolist()
    pickled = made("pickle", data=data, chunks=(2, 3), order="F")
    # As zarr-python 2 takes them: in the order of their memory, which is that of the array.
    there = pickle.loads(pickled.store.get("0.0")).reshape(-1, order="A").reshape((2, 3), order="F")
    assert there.tolist() == pickled[...].tolist() == data.tolist()
    pickled.store.set("0.0", pickle.dumps(np.asfortranarray(data)))
    assert pickled[...].tolist() == data.tolist()
    with pytest.raises(MetadataError, match=r"the order C, in which numcodecs\.json2 lays chunks out"):
        made("json2", data=data, chunks=(2, 3), order="F")
    document = json.loads(
        bytes(made("json2", store=store, data=data, chunks=(2, 3), overwrite=True).store.get(".zarray"))
    )
    store.set(".zarray", json.dumps(document | {"order": "F"}).encode())
    array = blizzarr.open_array(store)
    assert array[...].tolist() == data.tolist()
    array.resize((2, 4))
    assert json.loads(bytes(store.get(".zarray")))["order"] == "F", "documents keep their spelling"


def test_objects_that_are_lists_and_arrays() -> None:
    """An element is one element, whatever is in it."""
    array = made("json2", chunks=2, data=objects([1, 2], [3, 4], [5, 6]))
    assert array[...].tolist() == [[1, 2], [3, 4], [5, 6]]
    array[0] = [7, 8]
    array[1:] = [[9], [10]]
    assert array.append([[11, 12]]) == (4,)
    assert array[...].tolist() == [[7, 8], [9], [10], [11, 12]]
    array[:] = {"a": 1}
    assert array[2] == {"a": 1}
    ragged = made("vlen-array")
    ragged[1] = [4, 5]
    ragged[2:] = [np.array([1]), None]
    assert plain(ragged[...]) == [[1, 2, 3], [4, 5], [1], []]
    assert ragged[0].dtype == np.dtype("int16")
    ragged[0][0] = 100
    assert ragged[0].tolist() == [1, 2, 3], "what is read is nobody else's"


def test_arrays_of_another_byte_order() -> None:
    codec = VlenArrayCodec(">f4")
    array = blizzarr.create_array({}, data=objects([1.5], [2, 3]), dtype=object, filters=[codec], zarr_format=2)
    assert array[0].dtype == np.dtype("float32")
    assert plain(array[...]) == [[1.5], [2.0, 3.0]]


def test_no_axes_and_several() -> None:
    for name in ("json2", "msgpack2", "pickle", "vlen-utf8"):
        codec, elements = CODECS[name]
        array = blizzarr.create_array({}, shape=(), dtype=object, filters=[codec], zarr_format=2)
        array[()] = "x"
        assert array[()] == "x"
        cube = made(name, data=objects(*elements[:1].tolist() * 24).reshape(2, 3, 4), chunks=(2, 2, 3))
        cube[1, 2, 3] = "end"
        assert cube[...].ravel().tolist() == elements[:1].tolist() * 23 + ["end"]


# Fill values


@pytest.mark.parametrize(
    ("fill", "other"), [(0, False), (0, 0.0), (0.0, -0.0), (False, 0), (None, ""), ("", None), (1, True), ("a", b"a")]
)
def test_fill_values_are_told_apart_by_type(fill: Any, other: Any) -> None:
    """A chunk of false is no chunk of nothing but 0."""
    if isinstance(other, bytes):
        array = made("pickle", data=objects(other, other), fill_value=fill)
    else:
        array = made("json2", data=objects(other, other), fill_value=fill)
    assert [(type(value), repr(value)) for value in array[...]] == [(type(other), repr(other))] * 2
    array[...] = objects(fill, fill)
    assert array.nchunks_initialized == 0
    assert repr(array[0]) == repr(fill)


def test_fill_values_that_can_be_changed_are_copied() -> None:
    array = made("json2", data=objects(1, 2), fill_value=[])
    array.resize(4)
    array[3].append(1)
    found = array[2:]
    found[0].append(1)
    assert array[2:].tolist() == [[], []]
    assert array.fill_value == []


@pytest.mark.parametrize("fill", [0, "", None])
def test_arrays_that_were_never_written_are_empty(fill: Any) -> None:
    """Whatever stands for nothing in the document."""
    store = MemoryStore()
    made("vlen-array", store=store, data=objects([1], [2], [3]))
    document = json.loads(bytes(store.get(".zarray"))) | {"fill_value": fill, "shape": [6], "chunks": [3]}
    store.set(".zarray", json.dumps(document).encode())
    array = blizzarr.open_array(store)
    assert plain(array[4:]) == [[], []]
    array[4] = [9]
    assert plain(array[3:]) == [[], [9], []]
    # Elsewhere, what is not stored reads as this 0 or null.
    array[3:] = [[], [], []]
    assert array.nchunks_initialized == 2


def test_undefined_fill_values() -> None:
    """null leaves open what unwritten text is; then nothing is left out."""
    store = MemoryStore()
    made("vlen-utf8", store=store, data=["a", "b"], chunks=1)
    store.set(".zarray", json.dumps(json.loads(bytes(store.get(".zarray"))) | {"fill_value": None}).encode())
    array = blizzarr.open_array(store)
    array[1] = ""
    assert array.fill_value is None
    assert store.get("1") is not None
    assert array[...].tolist() == ["a", ""]


# What is refused


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("json2", {1, 2}, r"expected what JSON can say at index \(1,\), found set \(Object of type set"),
        ("json2", b"x", r"expected what JSON can say at index \(1,\), found bytes"),
        ("json2", np.int64(3), r"expected what JSON can say at index \(1,\), found int64"),
        ("msgpack2", {1, 2}, r"expected what MessagePack can say at index \(1,\), found set"),
        ("msgpack2", 2**70, r"expected what MessagePack can say at index \(1,\), found int"),
        (
            "vlen-array",
            5,
            r"expected an array of one axis and <i2, or a list at index \(1,\), found int \(it has 0 axes",
        ),
        ("vlen-array", [[1]], r"found list \(it has 2 axes"),
        ("vlen-array", ["x"], r"expected an array of one axis and <i2, or a list at index \(1,\), found list"),
        (
            "categorize",
            "unknown",
            r"expected one of the 3 labels of the codec, or an empty text at index \(1,\), found 'u",
        ),
        ("categorize", 1, r"expected one of the 3 labels"),
        (
            "categorize",
            ["x"],
            r"expected one of the 3 labels of the codec, or an empty text at index \(1,\), found \['x",
        ),
        ("pickle", lambda: None, r"expected an object that can be pickled at index \(1,\), found function"),
    ],
)
def test_elements_that_cannot_be_encoded(name: str, value: Any, message: str) -> None:
    """They are named before anything is stored; numcodecs would have stored an unknown label as none."""
    if name == "msgpack2":
        pytest.importorskip("msgpack")
    array = made(name)
    before = plain(array[...])
    with pytest.raises(TypeError, match=message):
        array[:2] = objects(CODECS[name][1][3], value)
    assert plain(array[...]) == before


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"id": "vlen-array"}, 'filters[0].dtype: expected a data type of NumPy, like "<f8", found nothing'),
        (
            {"id": "vlen-array", "dtype": "|O"},
            'filters[0].dtype: expected a data type of NumPy, like "<f8", found "|O"',
        ),
        (
            {"id": "json2", "encoding": "zip"},
            'filters[0].encoding: expected the name of an encoding of text, found "zip"',
        ),
        ({"id": "json2", "strict": 1}, "filters[0].strict: expected true or false, found 1"),
        (
            {"id": "categorize", "dtype": "|O", "labels": "ab"},
            'filters[0].labels: expected a list of texts, found "ab"',
        ),
        ({"id": "pickle", "protocol": -1}, "filters[0].protocol: expected an integer in [0, 5], found -1"),
        (
            {"id": "categorize", "dtype": "|O", "labels": ["a"] * 256},
            "filters[0].labels: expected at most 255 labels, which is as far as |u1 counts, found 256",
        ),
    ],
)
def test_configurations_that_are_refused(config: dict[str, Any], problem: str) -> None:
    store = MemoryStore()
    made("vlen-utf8", store=store)
    store.set(".zarray", json.dumps(json.loads(bytes(store.get(".zarray"))) | {"filters": [config]}).encode())
    with pytest.raises(MetadataError) as caught:
        blizzarr.open_array(store)
    assert [str(found) for found in caught.value.problems] == [problem]


def test_row_027_pickles_are_loaded_for_those_who_say_so() -> None:
    """Metadata can be read and changed by all; elements where this process allows it, whatever a document says."""
    array = made("pickle")
    with blizzarr.config.set(allowed_codecs=()):
        again = blizzarr.open_array(array.store)
        again.attrs["seen"] = True
        assert "PickleCodec(protocol=5)" in repr(again.info)
        for touch in (
            lambda: again[...],
            lambda: again[1:2],
            lambda: again.__setitem__(0, "x"),
            lambda: again.append(["x"]),
        ):
            with pytest.raises(
                UnknownExtensionError, match=r'run the code .*config\.set\(allowed_codecs=\("pickle",\)\)'
            ):
                touch()
        with pytest.raises(UnknownExtensionError, match="pickles"):
            made("pickle")
    assert plain(array[...]) == plain(CODECS["pickle"][1])


# Damaged chunks


def refused(array: blizzarr.Array, damaged: bytes, message: str) -> None:
    """Every way to read the first chunk names it; the other chunk can be read."""
    array.store.set("0", damaged)
    for key in (..., slice(0, 1), [2, 0], slice(None, None, 2)):
        with pytest.raises(CodecError, match=message) as caught:
            array[key]
        assert (caught.value.key, caught.value.chunk, caught.value.direction) == ("0", (0,), "decode")
    with pytest.raises(CodecError, match=message):
        array[0] = array[3]
    assert bytes(array.store.get("0")) == damaged


@pytest.mark.parametrize("name", CODECS)
def test_rows_024_and_026_cut_anywhere(name: str) -> None:
    """What is cut, or has something behind it, is never taken for fewer elements."""
    array = made(name)
    whole = bytes(array.store.get("0"))
    for length in range(len(whole)):
        refused(array, whole[:length], r"^cannot decode chunk 0 of <MemoryStore at [^>]*>: ")
    if name != "pickle":
        refused(array, whole + b"\0", r"^cannot decode chunk 0 of <MemoryStore at [^>]*>: ")


@pytest.mark.parametrize("name", ["vlen-utf8", "vlen-bytes", "vlen-array"])
def test_row_024_lying_counts_and_lengths(name: str) -> None:
    array = made(name)
    whole = bytes(array.store.get("0"))
    for count in (0, 2, 4, 2**31 - 1, 2**31, 2**32 - 1):
        refused(array, struct.pack("<I", count) + whole[4:], f"expected 3 elements, found a count of {count:,}$")
        if count > len(whole):
            lying = whole[:4] + struct.pack("<I", count) + whole[8:]
            refused(array, lying, rf"data ended after \d+ of {count:,} bytes of element 0 of 3$")


def test_row_017_text_that_is_no_text() -> None:
    """The message names the element and the byte; so it does where parts of a chunk are read."""
    array = made("vlen-utf8", data=["aaa", "bbb", "ccc", "ddd"])
    whole = bytes(array.store.get("0"))
    refused(array, whole.replace(b"bbb", b"b\xffb"), "element 1 of 3 is not UTF-8 text, from byte 1 on$")
    refused(array, whole.replace(b"bbb", "\ud800".encode("utf-8", "surrogatepass")), "element 1 of 3 is not UTF-8 text")


def test_whole_elements_of_arrays() -> None:
    array = made("vlen-array")
    refused(array, struct.pack("<III", 3, 0, 3) + b"abc" + bytes(4), "element 1 of 3 has 3 bytes, not a multiple of 2$")


@pytest.mark.parametrize(
    ("name", "damaged", "message"),
    [
        ("json2", b'["a","b","c","|O",[1000000000000]]', r"ends with the shape \[3\], found \[1000000000000\]"),
        ("json2", b'["a","b","|O",[3]]', "expected a list of 3 elements, found 2"),
        ("json2", b'{"a":1}', r"expected a list that ends with the shape \[3\]"),
        ("json2", b"[" * 100_000, "."),
        ("json2", b"\xff", "utf-8"),
        ("msgpack2", b"\xc0", r"expected a list that ends with the shape \[3\], found null"),
        ("msgpack2", b"\xdd\xff\xff\xff\xff", "."),
        ("pickle", pickle.dumps([1, 2, 3]), "expected the pickle of an array, found that of list"),
        ("pickle", pickle.dumps(np.array([1, 2], object)), "expected 3 elements, found 2"),
        ("categorize", b"\0\1\0\4\0\0", "expected a number in \\[0, 4\\) for element 1, found 4"),
        ("categorize", b"\0\1\xff\xff\0\0", "expected a number in \\[0, 4\\) for element 1, found -1"),
        ("categorize", b"\0\1", "expected 6 bytes, found 2"),
    ],
)
def test_row_026_impossible_contents(name: str, damaged: bytes, message: str) -> None:
    if name == "msgpack2":
        pytest.importorskip("msgpack")
    refused(made(name), damaged, message)


def test_a_fill_value_that_cannot_be_encoded() -> None:
    """It is refused where an array is made; where a document has one, no chunk is stored that would have it."""
    with pytest.raises(MetadataError, match="fill_value: expected one of the 3 labels of the codec, or an empty text"):
        made("categorize", fill_value="none")
    array = made("categorize", data=["a", "bb", "a"])
    document = json.loads(bytes(array.store.get(".zarray"))) | {"fill_value": "none", "shape": [5]}
    array.store.set(".zarray", json.dumps(document).encode())
    array = blizzarr.open_array(array.store)
    assert array[...].tolist() == ["a", "bb", "a", "none", "none"]
    with pytest.raises(
        CodecError, match=r"cannot encode chunk 1 of <MemoryStore .*>: categorize: expected one of the labels, found 'n"
    ):
        array[3] = "a"

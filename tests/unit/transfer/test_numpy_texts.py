"""Texts in arrays of NumPy's `StringDType`, read and written without a Python object for each."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs.objects import CategorizeCodec

if not hasattr(np.dtypes, "StringDType"):
    pytest.skip("NumPy 1 has no data type of texts", allow_module_level=True)

TEXTS = np.array(
    [
        ["", "a", "fill", "0123456789abcde"],
        ["0123456789abcdef", "ä\N{SNOWMAN}", "\0", "a\0"],
        ["x" * 3000, "y", "z", ""],
    ],
    object,
)
PACKED = TEXTS.astype(np.dtypes.StringDType())


def made(**options: Any) -> blizzarr.Array:
    return blizzarr.create_array(
        {}, shape=TEXTS.shape, dtype=str, **{"chunks": (2, 3), "fill_value": "fill", **options}
    )


LAYOUTS: list[dict[str, Any]] = [{}, {"chunks": (1, 2), "shards": (2, 4)}, {"zarr_format": 2}, {"order": "F"}]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_texts_go_both_ways(layout: dict[str, Any]) -> None:
    array = made(**layout)
    array[...] = PACKED
    assert array[...].tolist() == TEXTS.tolist()
    array[:, 1:3] = PACKED[:, 2:0:-1]
    expected = TEXTS.copy()
    expected[:, 1:3] = TEXTS[:, 2:0:-1]
    assert array[...].tolist() == expected.tolist()
    found = np.asarray(array, np.dtypes.StringDType())
    assert found.dtype == np.dtypes.StringDType()
    assert found.tolist() == expected.tolist()
    array[1] = np.array("one", np.dtypes.StringDType())
    array[2] = np.array(["two"], np.dtypes.StringDType())
    assert array[1:].tolist() == [["one"] * 4, ["two"] * 4]


@pytest.mark.parametrize("fill", ["", "fill"])
@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType()], ids=str)
def test_empty_texts_and_fill_values(fill: str, dtype: Any) -> None:
    """They replace what was there, and are written over it; nothing but the fill value is stored nowhere."""
    store: dict[str, bytes] = {}
    array = blizzarr.create_array(store, shape=7, chunks=3, dtype=str, fill_value=fill)
    out = np.array(["", "a", "longer than fifteen bytes", "", "b", "c", ""], dtype)
    clear = np.empty(7, dtype)
    assert array.get_basic_selection(..., out=out).tolist() == [fill] * 7
    assert array.get_basic_selection(..., out=clear).tolist() == [fill] * 7
    for texts in (["a", fill, "", fill, fill, fill, ""], [fill, "", "b", "", "", "", fill], [fill] * 7):
        array[...] = np.array(texts, dtype)
        assert (
            array.get_basic_selection(..., out=np.array(["another text, which is long"] * 7, dtype)).tolist() == texts
        )
        assert array.get_basic_selection(..., out=out).tolist() == texts
        assert array.get_basic_selection(..., out=np.empty(7, dtype)).tolist() == texts
    assert list(store) == ["zarr.json"]


def test_equal_texts_are_one_object() -> None:
    """Where many of the texts are equal; the fill value is one object, too, and different texts stay different."""
    few = np.array([f"a{number % 50} ä" for number in range(20_000)], object)
    many = np.array([f"longer {number} text" for number in range(20_000)], object)
    mixed = np.concatenate([few, many, few])
    last = np.array([f"station-{number % 50}" for number in range(20_000)], object)
    middle = np.array([f"2024-01-{number % 9:02}T10:00:00" for number in range(20_000)], object)
    for data, most in ((few, 50), (many, 20_000), (mixed, 60_000), (last, 50), (middle, 9)):
        array = blizzarr.create_array({}, data=data, chunks=3000)
        found = array[:]
        assert found.tolist() == data.tolist()
        assert len({id(text) for text in found.tolist()}) <= most
    as_bytes = np.array([text.encode() for text in few], object)
    assert blizzarr.create_array({}, data=as_bytes)[:].tolist() == as_bytes.tolist()


@pytest.mark.parametrize("view", [np.s_[:, :], np.s_[::-1], np.s_[:, ::2]], ids=str)
def test_out_may_have_any_strides(view: Any) -> None:
    array = made()
    array[...] = TEXTS
    wide = np.full((3, 8), "longer than fifteen bytes", np.dtypes.StringDType())
    out = wide[:, ::2][view]
    assert array.get_basic_selection((slice(None), slice(0, out.shape[1])), out=out) is out
    assert out.tolist() == TEXTS[:, : out.shape[1]].tolist()
    assert set(wide[:, 1::2].ravel().tolist()) == {"longer than fifteen bytes"}


def test_missing_texts_are_refused_with_their_index() -> None:
    array = made()
    source = np.array([["a", None], ["b", "c"]], np.dtypes.StringDType(na_object=None))
    with pytest.raises(TypeError, match=r"expected str at index \(0, 1\), found NoneType"):
        array[:2, :2] = source
    assert array[:2, :2].tolist() == [["fill"] * 2] * 2
    # What stands for missing ones may itself be a text.
    array[:2, :2] = np.array([["a", "none"], ["b", "c"]], np.dtypes.StringDType(na_object="none"))
    assert array[:2, :2].tolist() == [["a", "none"], ["b", "c"]]
    out = np.empty(TEXTS.shape, np.dtypes.StringDType(na_object=None))
    assert array.get_basic_selection(out=out)[0].tolist() == ["a", "none", "fill", "fill"]


def test_the_error_about_a_missing_text_of_pandas_says_where_it_is() -> None:
    """Its ``NA`` has no truth value, and neither do arrays, which are no texts either."""
    pandas = pytest.importorskip("pandas")
    array = made()
    for source in (["a", pandas.NA], pandas.array(["a", None], dtype="string")):
        with pytest.raises(TypeError, match=r"at index \(1,\), found NAType <NA>; texts in Zarr cannot be missing"):
            array[0, :2] = source
    objects = np.array(["a", None], object)
    objects[1] = np.arange(2)
    with pytest.raises(TypeError, match=r"expected str at index \(1,\), found ndarray"):
        array[0, :2] = objects
    assert array[0, :2].tolist() == ["fill"] * 2


def test_only_texts_are_read_as_texts() -> None:
    array = blizzarr.create_array({}, data=np.array([b"a", b"b"], object), dtype=bytes, chunks=(1,))
    with pytest.raises((TypeError, ValueError)):
        array.get_basic_selection(out=np.empty(2, np.dtypes.StringDType()))
    numbers = blizzarr.create_array({}, data=np.arange(3))
    with pytest.raises(TypeError, match="expected out= of data type int64"):
        numbers.get_basic_selection(out=np.empty(3, np.dtypes.StringDType()))
    assert np.asarray(numbers, np.dtypes.StringDType()).tolist() == ["0", "1", "2"]


def test_memory_that_cannot_be_written_to() -> None:
    out = np.empty(TEXTS.shape, np.dtypes.StringDType())
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        made().get_basic_selection(out=out)


def test_codecs_in_python() -> None:
    codec = CategorizeCodec(labels=("a", "bb"))
    array = blizzarr.create_array({}, shape=(4,), chunks=(2,), dtype=str, serializer=codec, fill_value="")
    array[...] = np.array(["a", "bb", "", "a"], np.dtypes.StringDType())
    assert np.asarray(array, np.dtypes.StringDType()).tolist() == ["a", "bb", "", "a"]


def test_others_may_use_the_same_array_meanwhile() -> None:
    texts = np.array(["text of more than fifteen bytes"] * 20_000, object)
    array = blizzarr.create_array({}, data=texts, chunks=(500,))
    out = np.empty(array.shape, np.dtypes.StringDType())
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            out[7] = "something else of some length"
            assert out[8] in ("", "text of more than fifteen bytes")

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(20):
        array.get_basic_selection(out=out)
        array[...] = out
    done.set()
    thread.join()
    assert set(out.tolist()) <= {"text of more than fifteen bytes", "something else of some length"}


def test_bytes_are_not_read_into_texts() -> None:
    array = blizzarr.create_array({}, data=[b"a", b"b"], dtype="bytes")
    with pytest.raises(TypeError, match="expected an array of objects, found one of texts"):
        array.get_basic_selection(..., out=np.empty(2, np.dtypes.StringDType()))

"""Arrays of Arrow in and out: numbers without a copy, texts, bytes, and elements that are null."""

from __future__ import annotations

import sys
from ast import literal_eval
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.array.as_arrow import as_arrow
from blizzarr.dtypes import DataType, optional
from blizzarr.errors import MetadataError, UnsupportedOperationError

OPTIONAL = {"name": "zarrs.optional", "configuration": {"name": "int64"}}


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnsupportedOperationError, match=r"pip install 'blizzarr\[arrow\]'"):
        blizzarr.create_array({}, data=[1]).to_arrow()


class Nulls:
    """What pyarrow and polars have in common."""

    def __init__(self, values: list[Any], is_method: bool) -> None:
        self.values = values
        count = values.count(None)
        self.null_count: Any = (lambda: count) if is_method else count

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([np.nan if value is None else value for value in self.values], dtype)

    def fill_null(self, value: Any) -> Any:
        return Nulls([value if element is None else element for element in self.values], False)

    def is_null(self) -> Any:
        return np.array([element is None for element in self.values])


@pytest.mark.parametrize("is_method", [True, False])
def test_nulls_are_not_lost(is_method: bool) -> None:
    """Nulls are refused where NumPy would make numbers of them, and are missing where elements may be."""
    given: Any = Nulls([1, None, 3], is_method)
    array = blizzarr.create_array({}, data=[7, 8, 9])
    with pytest.raises(
        ValueError, match=r"is null or masked; fill them, or use the data type zarrs\.optional"
    ) as raised:
        array[:] = given
    assert literal_eval(str(raised.value).partition("dtype=")[2]) == OPTIONAL
    with pytest.raises(ValueError, match="found 1 that is null or masked"):
        blizzarr.create_array({}, data=given)
    with pytest.raises(MetadataError, match="put a number in the place of what is missing, or use the data type zarrs"):
        blizzarr.create_array({}, data=[1, None, 3])
    assert array[:].tolist() == [7, 8, 9]
    there = blizzarr.create_array({}, shape=3, dtype=OPTIONAL)
    there[:] = given
    assert optional.masked(there[:]).tolist() == [1, None, 3]
    array[:] = Nulls([1, 2, 3], is_method)  # type: ignore[call-overload]
    assert array[:].tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64", "datetime64[s]"])
def test_numbers_share_their_memory(dtype: str) -> None:
    """The array of Arrow has the memory of the result; it is written as it is."""
    arrow = pytest.importorskip("pyarrow")
    data = np.arange(6).astype(dtype)
    made = blizzarr.create_array({}, data=data).to_arrow()
    assert made.to_pylist() == arrow.array(data).to_pylist()
    assert as_arrow(data, DataType.parse(dtype)).buffers()[1].address == data.ctypes.data
    assert blizzarr.create_array({}, data=data).to_arrow(slice(1, 3)).to_pylist() == arrow.array(data[1:3]).to_pylist()
    array = blizzarr.create_array({}, data=np.zeros(6, dtype))
    array[:] = made
    np.testing.assert_array_equal(array[:], data)


@pytest.mark.parametrize("elements", [["a", "", "äö"], [b"a", b"", b"\xff"]])
def test_texts_and_bytes(elements: list[Any]) -> None:
    """Of any length, both ways; a null among them is refused by its place."""
    arrow = pytest.importorskip("pyarrow")
    array = blizzarr.create_array({}, data=np.array(elements, object))
    made = array.to_arrow()
    assert made.to_pylist() == elements
    assert made.type == (arrow.large_string() if isinstance(elements[0], str) else arrow.large_binary())
    array[:] = made[::-1]
    assert array[:].tolist() == elements[::-1]
    with pytest.raises((TypeError, ValueError)):
        array[:] = arrow.array([*elements[:2], None])


def test_axes_and_missing_elements() -> None:
    """Axes after the first are lists; what is missing is null, both ways; what Arrow lacks is refused."""
    arrow = pytest.importorskip("pyarrow")
    data = np.arange(24, dtype="int16").reshape(2, 3, 4)
    made = blizzarr.create_array({}, data=data).to_arrow()
    assert made.to_pylist() == data.tolist()
    array = blizzarr.create_array({}, shape=3, dtype=OPTIONAL)
    array[:] = arrow.array([1, None, 3])
    assert array.to_arrow().to_pylist() == [1, None, 3]
    with pytest.raises(TypeError, match="a data type that Arrow has, found complex64"):
        blizzarr.create_array({}, data=np.zeros(2, "complex64")).to_arrow()
    for one in (array, blizzarr.create_array({}, data=["a"])):
        with pytest.raises(ValueError, match="a selection with an axis"):
            one.to_arrow(0)


@pytest.mark.parametrize("dtype", ["datetime64[10s]", "timedelta64[25ms]", "datetime64[7D]"])
def test_times_that_arrow_would_change(dtype: str) -> None:
    """pyarrow counts several units as one, and wraps days around at 32 bits: both are refused."""
    pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match=r"a data type that Arrow has, found .*: a unit of \d+ "):
        blizzarr.create_array({}, data=np.array([0, 1], dtype)).to_arrow()
    days = blizzarr.create_array({}, data=np.array([2**31 - 1, -(2**31), 2**31, "NaT"], "M8[D]"))
    with pytest.raises(OverflowError, match="days that Arrow can count"):
        days.to_arrow()
    assert days.to_arrow([0, 1, 3]).cast("int32").to_pylist() == [2**31 - 1, -(2**31), None]


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[ns]", "datetime64[D]"])
def test_missing_times_come_back(dtype: str) -> None:
    """NaT is null in Arrow, and null is NaT here, as is a masked time; nulls among numbers are no times."""
    arrow = pytest.importorskip("pyarrow")
    data = np.array([7, "NaT", 2**31 - 1], dtype)
    array = blizzarr.create_array({}, data=data)
    made = array.to_arrow()
    assert made.null_count == 1
    for given in (made, arrow.chunked_array([made[:1], made[1:]]), np.ma.array(data, mask=[False, True, False])):
        array[:] = 0
        array[:] = given
        np.testing.assert_array_equal(array[:], data)
        for again in (blizzarr.create_array({}, data=given), blizzarr.create_array({}, data=given, dtype=dtype)):
            assert again.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(again[:], data)
    array.append(made)
    np.testing.assert_array_equal(array[3:], data)
    for target, given in ((array, arrow.array([1, None] * 3)), (blizzarr.create_array({}, data=[1, 2, 3]), made)):
        with pytest.raises(ValueError, match="null or masked"):
            target[:] = given


def test_arrays_are_arrays_of_arrow() -> None:
    """Whatever takes Arrow's interface for C takes an array: as an array, as a stream, and cast to what it asks for."""
    arrow = pytest.importorskip("pyarrow")
    numbers, texts = blizzarr.create_array({}, data=[1, 2, 3]), blizzarr.create_array({}, data=["a", "äö", ""])
    assert arrow.array(numbers).to_pylist() == [1, 2, 3]
    assert arrow.array(texts).to_pylist() == arrow.chunked_array(texts).to_pylist() == ["a", "äö", ""]
    assert arrow.array(texts, arrow.string()).type == arrow.string()


@pytest.mark.parametrize("key", [slice(None), slice(None, None, -3), [5, 5, 0], slice(2, 2), (None, slice(1, 4))])
@pytest.mark.parametrize("codec", ["vlen-utf8", "vlen-bytes", "zarrs.vlen", "zarrs.vlen_v2"])
def test_texts_of_any_selection(key: Any, codec: str) -> None:
    """Texts and bytes come out of the engine as Arrow has them: of several chunks, repeated, fill values among them."""
    pytest.importorskip("pyarrow")
    name = "bytes" if codec == "vlen-bytes" else "string"
    options = {"index_codecs": ["bytes"], "data_codecs": ["bytes"], "index_data_type": "uint64"}
    serializer = {"name": codec, "configuration": options} if codec == "zarrs.vlen" else codec
    texts = np.array(["", "a", "äö", "more than eight", "x\0", "", "a"], object)
    data = texts if name == "string" else np.array([text.encode() for text in texts], object)
    array = blizzarr.create_array({}, shape=9, chunks=3, dtype=name, fill_value=data[3], serializer=serializer)
    array[:7] = data
    expected = np.concatenate([data, [data[3]] * 2])
    assert array.to_arrow(key).to_pylist() == expected[key].tolist()
    assert [array.to_arrow(key).null_count, array.to_arrow(key).offset] == [0, 0]


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_texts_of_arrow_are_written(kind: str) -> None:
    """Slices and several pieces of them too, as NumPy's texts are; a null is refused, and so are numbers."""
    arrow = pytest.importorskip("pyarrow")
    whole = arrow.array(["before", "a", "äö", "", "a text that is longer", "behind"], getattr(arrow, kind)())
    array = blizzarr.create_array({}, data=whole[1:5])
    assert array.metadata.dtype.name == "string"
    assert array[:].tolist() == ["a", "äö", "", "a text that is longer"]
    array[:] = arrow.chunked_array([whole[5:], whole[:0], whole[:3]])
    assert array[:].tolist() == ["behind", "before", "a", "äö"]
    for wrong in (arrow.array(["a", None, "b", "c"], whole.type), arrow.array([1, 2, 3, 4])):
        with pytest.raises((TypeError, ValueError)):
            array[:] = wrong
    assert array[:].tolist() == ["behind", "before", "a", "äö"]


@pytest.mark.parametrize("dtype", ["<i2", ">f8", "|u1"])
def test_ragged_arrays(dtype: str) -> None:
    """Arrays of any length are lists, both ways."""
    arrow = pytest.importorskip("pyarrow")
    array = blizzarr.create_array(
        {}, shape=5, chunks=2, dtype=object, filters=[{"id": "vlen-array", "dtype": dtype}], zarr_format=2
    )
    lists = [[1, 2, 3], [], [4], [5, 6]]
    array[:4] = arrow.array(lists, arrow.list_(arrow.int8()))
    assert [part.tolist() for part in array[:]] == [*lists, []]
    assert array[0].dtype == np.dtype(dtype).newbyteorder("=")
    made = array.to_arrow(slice(None, None, -1))
    assert made.to_pylist() == [[], *reversed(lists)]
    assert made.type == arrow.large_list(arrow.from_numpy_dtype(np.dtype(dtype).newbyteorder("=")))


@pytest.mark.parametrize("module", ["pandas", "dask.array"])
def test_nulls_of_pandas_and_masks_of_dask_are_not_lost(module: str) -> None:
    library = pytest.importorskip(module)
    masked = np.ma.masked_equal([1, 2, 3], 2)
    value = library.array([1, None, 3], dtype="Int64") if module == "pandas" else library.from_array(masked)
    array = blizzarr.zeros(3, store={}, dtype="int64")
    for write in (
        lambda: blizzarr.create_array({}, data=value),
        lambda: blizzarr.create_array({}, data=value, dtype="int64"),
        lambda: blizzarr.create_array({}, data=value, dtype="float64"),
        lambda: array.__setitem__(..., value),
    ):
        with pytest.raises(ValueError, match="found 1 that is null or masked"):
            write()
    made = blizzarr.create_array({}, data=value, dtype=OPTIONAL)
    assert optional.masked(made[:]).tolist() == [1, None, 3]


@pytest.mark.parametrize("kind", ["str", "string", "timestamp[us][pyarrow]"])
def test_missing_texts_and_times_of_pandas_are_missing(kind: str) -> None:
    """They became the text "nan", or pandas refused the zero that stands for a missing element."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    given = pandas.Series(np.array(["2026", "NaT"], "M8[us]") if "time" in kind else ["2026", None]).astype(kind)
    text = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 16}}
    time = {"name": "numpy.datetime64", "configuration": {"unit": "Y", "scale_factor": 1}}
    dtype = {"name": "zarrs.optional", "configuration": time if "time" in kind else text}
    made = optional.masked(blizzarr.create_array({}, data=given, dtype=dtype)[:])
    assert made.astype("U8").tolist() == ["2026", None]


@pytest.mark.parametrize("kind", [list, object])
def test_the_na_of_pandas_among_objects_is_missing(kind: Any) -> None:
    """pandas makes objects of what it does not know the type of; NumPy cannot make a number or a time of its ``NA``."""
    pandas = pytest.importorskip("pandas")
    given = [1, pandas.NA, 3, None]
    source = given if kind is list else pandas.Series(given, dtype=object)
    made = blizzarr.create_array({}, data=source, dtype=OPTIONAL)
    assert optional.masked(made[:]).tolist() == [1, None, 3, None]
    made[:2] = pandas.NA
    assert optional.masked(made[:]).tolist() == [None, None, 3, None]
    with pytest.raises((TypeError, ValueError)):  # nothing else is missing among integers
        made[0] = [float("nan")]
    assert optional.masked(made[:]).tolist() == [None, None, 3, None]


def test_masked_elements_are_not_lost() -> None:
    """What a mask hides is refused wherever it would be stored, and an array without masked elements is written."""
    masked = np.ma.masked_equal([1, 2, 1], 1)
    array = blizzarr.create_array({}, data=[7, 8, 9])
    texts = blizzarr.create_array({}, data=["a", "b"])
    for work in (
        lambda: blizzarr.create_array({}, data=masked),
        lambda: blizzarr.create_array({}, data=masked, dtype="int8"),
        lambda: array.__setitem__(..., masked),
        lambda: array.append(masked),
        lambda: texts.__setitem__(..., np.ma.array(["c", "d"], mask=[True, False])),
    ):
        with pytest.raises(ValueError, match="null or masked"):
            work()
    assert array[...].tolist() == [7, 8, 9]
    array[...] = np.ma.array([4, 5, 6])
    assert array[...].tolist() == [4, 5, 6]


@pytest.mark.parametrize("kind", ["str", "string", object, "list", "nullable"])
@pytest.mark.parametrize("dtype", ["U5", "S5", str])
def test_missing_texts_of_pandas_are_not_lost(kind: Any, dtype: Any) -> None:
    """NumPy would make the texts "nan" and "<NA>" of them."""
    pandas = pytest.importorskip("pandas")
    elements = [b"a", b"b"] if dtype == "S5" else ["a", "b"]
    array = blizzarr.create_array({}, data=elements, dtype=dtype)
    for missing in (None, float("nan"), pandas.NA, pandas.NaT):
        given = {
            "list": lambda missing=missing: ["c", missing],
            "nullable": lambda missing=missing: np.array(["c", missing], np.dtypes.StringDType(na_object=missing)),
        }.get(kind, lambda missing=missing: pandas.Series(["c", missing], dtype=kind))()
        for work in (lambda given=given: array.__setitem__(..., given), lambda given=given: array.append(given)):
            with pytest.raises((TypeError, ValueError)):
                work()
        with pytest.raises((TypeError, ValueError)):
            blizzarr.create_array({}, data=given, dtype=dtype)
    assert array[...].tolist() == elements


def test_a_group_is_no_data() -> None:
    """NumPy would store the names of its members."""
    group = blizzarr.create_group({})
    group.create_array("a", data=[1])
    texts = blizzarr.create_array({}, shape=1, dtype="U3")
    for work in (
        lambda: blizzarr.create_array({}, data=group),
        lambda: texts.__setitem__(..., group),
        lambda: texts.append(group),
        lambda: blizzarr.create_array({}, shape=1, dtype=str).append(group),
    ):
        with pytest.raises(TypeError, match=r"found Group, of which NumPy would take the names"):
            work()
    assert texts[...].tolist() == [""]


@pytest.mark.parametrize(
    "data", [np.array([[b"a\0b", b""], [b"\0c", b"abc"]]), np.array([["a\0b", ""], ["\0é", "abc"]])], ids=["S3", "U3"]
)
def test_what_is_behind_a_nul(data: Any) -> None:
    """pyarrow alone takes an element of fixed length to end there."""
    pytest.importorskip("pyarrow")
    assert blizzarr.create_array({}, data=data, dtype=data.dtype).to_arrow().to_pylist() == data.tolist()


@pytest.mark.parametrize("dtype", ["int16", "U3", str, bytes])
@pytest.mark.parametrize("shape", [(3, 0), (2, 0, 3), (2, 3, 0), (0, 3)])
def test_axes_without_elements(dtype: Any, shape: tuple[int, ...]) -> None:
    """Lists of no elements are as many as there are along the axes before."""
    pytest.importorskip("pyarrow")
    made = blizzarr.create_array({}, shape=shape, dtype=dtype).to_arrow()
    assert made.to_pylist() == np.empty(shape, object).tolist()
    made.validate(full=True)

"""What people of several fields get wrong in their first days: the error says what was met, and what to write."""

from __future__ import annotations

import datetime
import difflib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.errors import MetadataError, NodeNotFoundError, StoreError
from blizzarr.keywords import nearest


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: blizzarr.open_array({}, "r", "a"), "open_array(): expected at most 2 .*, found 3; .* path="),
        (lambda: blizzarr.zeros("a.zarr", (3, 4)), "zeros(): .* found 2; name the others: all but shape"),
        (lambda: blizzarr.full((3, 4), 1, "f4"), "full(): .* found 3; name the others: all but shape, fill_value"),
        (lambda: blizzarr.array([1], "a.zarr"), "array(): .* name the others: store=, path="),
        (lambda: blizzarr.copy({}, {}, "a"), "copy(): expected at most 2 positional arguments, found 3; .* path="),
    ],
)
def test_what_has_to_be_named_is_said(call: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told.replace("()", r"\(\)")):
        call()


def test_capitals_hide_no_name_that_was_meant() -> None:
    plate = blizzarr.create_group({})
    for well in ("A/1", "A/2", "B/1"):
        plate.create_group(well)
    with pytest.raises(NodeNotFoundError, match="did you mean 'A/2'"):
        blizzarr.consolidate_metadata(plate)["a/2"]


class Sparse:
    """What SciPy's sparse arrays are like: NumPy makes one object of them."""

    shape = (2, 2)

    def toarray(self) -> np.ndarray[Any, Any]:
        return np.eye(2)


class Table:
    """What an AnnData is like: NumPy would ask for one element after the other, each of which is a table."""

    shape = (1 << 40, 1 << 40)

    def __len__(self) -> int:
        return 1 << 40

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (Sparse(), "found Sparse, which is no array for NumPy; pass what its method toarray.. returns"),
        (Table(), "found Table, which is no array for NumPy; pass one of its arrays"),
        ((n for n in range(3)), "found generator; pass list.* of it"),
        ({1, 2}, "found set; pass list.* of it"),
        ({"a": [1]}, r"found dict, .* or all of them to blizzarr.save\(path, \*\*arrays\)"),
        (Path("a.tif"), "found a path; blizzarr.copy"),
    ],
)
def test_what_is_no_array_is_not_stored(data: Any, told: str) -> None:
    for target in (lambda: blizzarr.create_array({}, data=data), lambda: blizzarr.save({}, a=data)):
        with pytest.raises(TypeError, match=told):
            target()
    array = blizzarr.create_array({}, shape=2, dtype="i4")
    with pytest.raises(TypeError, match=told):
        array[:] = data
    assert array[:].tolist() == [0, 0]


class Lazy:
    """What arrays of z5py are like: NumPy asks for one row after the other."""

    shape, dtype = (2, 3), np.dtype("i4")

    def __len__(self) -> int:
        return 2

    def __getitem__(self, key: int) -> np.ndarray[Any, Any]:
        return np.arange(6, dtype="i4").reshape(2, 3)[key]


def test_sequences_that_are_arrays_are_stored() -> None:
    array = blizzarr.create_array({}, data=Lazy())
    assert (array.dtype, array[:].tolist()) == (np.dtype("i4"), [[0, 1, 2], [3, 4, 5]])
    array[:] = 0
    array[:] = Lazy()
    assert array[1].tolist() == [3, 4, 5]


class Unknown:
    """What pandas.NA is like: it does not say whether it equals itself."""

    def __eq__(self, other: object) -> Any:
        return self

    __ne__ = __eq__

    def __bool__(self) -> bool:
        raise TypeError("the value of Unknown is ambiguous")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (["a", Unknown()], "of the types Unknown, str; put a text in the place of what is missing"),
        (["a", None], "of the types NoneType, str; put a text in the place of what is missing"),
        (["a", float("nan")], "of the types float, str; put a text in the place of what is missing"),
        (["a", 1], "of the types int, str$"),
        ([1, None], "of the types NoneType, int; put a number in the place of what is missing, or use the data type"),
        ([datetime.date(2020, 1, 1)], r"of the types date; pass numpy.asarray\(data, 'datetime64\[us\]'\)"),
    ],
)
def test_objects_are_named_by_their_types(data: Any, told: str) -> None:
    for target in (lambda: blizzarr.create_array({}, data=data), lambda: blizzarr.save({}, a=data)):
        with pytest.raises(MetadataError, match=f"found objects {told}"):
            target()


def test_texts_beside_an_array_are_objects() -> None:
    data = np.array(["a", None], object)
    data[1] = np.arange(2)
    with pytest.raises(MetadataError, match=r"found objects of the types ndarray, str$"):
        blizzarr.create_array({}, data=data)


def test_the_path_of_a_file_is_no_data(tmp_path: Path) -> None:
    file = tmp_path / "stack.tif"
    file.write_bytes(b"II*")
    with pytest.warns(UserWarning, match="stored as text, though it is also a path; blizzarr.copy"):
        array = blizzarr.create_array({}, data=str(file))
    assert array[...] == str(file)


def test_an_append_names_the_dimension() -> None:
    array = blizzarr.create_array({}, shape=(2, 0), dtype="i4", dimension_names=["x", "time"])
    assert array.append([[1], [2]], axis="time") == (2, 1)
    assert array.append([[3], [4]], "time") == (2, 2)
    assert array[:].tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match=r'found "tme"; did you mean "time"\? There are "x", "time"'):
        array.append([[1], [2]], axis="tme")
    with pytest.raises(TypeError, match=r"the number of an axis, or the name of a dimension, found 1\.0"):
        array.append([[1], [2]], axis=1.0)
    with pytest.raises(ValueError, match="the dimensions have no names"):
        blizzarr.create_array({}, shape=2, dtype="i4").append([1], axis="time")


def test_a_frame_lacks_an_axis() -> None:
    movie = blizzarr.create_array({}, shape=(0, 4, 4), dtype="u2")
    with pytest.raises(ValueError, match=r"found shape \(4, 4\); data\[None\] has one more axis"):
        movie.append(np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"found shape \(4, 3\)$"):
        movie.append(np.zeros((4, 3)))
    assert movie.append(np.zeros((4, 4))[None]) == (1, 4, 4)


def test_where_no_array_is_open_array_says_what_creates_one(tmp_path: Path) -> None:
    with pytest.raises(NodeNotFoundError) as told:
        blizzarr.open_array(tmp_path / "a.zarr", mode="a")
    assert told.value.__notes__ == [
        "open_array creates an array where none is if it is told shape= and dtype=, or data="
    ]
    with pytest.raises(NodeNotFoundError) as told:
        blizzarr.open_array(tmp_path / "a.zarr", mode="r")
    assert not hasattr(told.value, "__notes__")


@pytest.mark.parametrize(
    ("dtype", "meant"),
    [
        ("flaot32", "float32"),
        ("unit8", "uint8"),
        ("Float64", "float64"),
        ("torch.float32", "float32"),
        ("strin", "string"),
    ],
)
def test_names_of_data_types_are_suggested(dtype: str, meant: str) -> None:
    with pytest.raises(MetadataError, match=f"found '{dtype}' .*; did you mean '{meant}'"):
        blizzarr.create_array({}, shape=3, dtype=dtype)


def test_names_of_dimensions_are_a_list() -> None:
    with pytest.raises(MetadataError, match=r"in a list, like \['y', 'x'\], found 'yx'"):
        blizzarr.create_array({}, shape=(3, 3), dtype="i4", dimension_names="yx")
    with pytest.raises(MetadataError, match=r"in a list, like \['time'\], found 'time'"):
        blizzarr.create_array({}, shape=3, dtype="i4", dimension_names="time")


def test_lists_are_shown_and_groups_say_what_they_have() -> None:
    assert (blizzarr.show([[1, 2], [3, 4]], size=50) == blizzarr.show(np.array([[1, 2], [3, 4]]), size=50)).all()
    image = blizzarr.create_group({})
    image.create_array("scale0/image", data=np.eye(3))
    with pytest.raises(TypeError, match=r"show one of its arrays, like group\['scale0/image'\]"):
        blizzarr.show(image)
    with pytest.raises(TypeError, match="found 0; names are text, like '0'; elements are read from arrays"):
        image[0]  # type: ignore[index]  # what is tested
    with pytest.raises(AttributeError, match=r"no attribute 'sel'; use xarray.open_dataset"):
        _ = image["scale0/image"].sel


@pytest.mark.parametrize(("name", "writer"), [("a.npz", "numpy.savez"), ("a.NPY", "numpy.save"), ("a.h5", "h5py")])
def test_a_suffix_makes_no_file_of_another_kind(tmp_path: Path, name: str, writer: str) -> None:
    told = f"Zarr, in spite of the suffix .*; {writer} writes such files"
    with pytest.warns(UserWarning, match=told):
        blizzarr.save(tmp_path / name, [1, 2])
    assert blizzarr.load(tmp_path / name).tolist() == [1, 2]
    with pytest.warns(UserWarning, match=told):
        blizzarr.save(str(tmp_path / name), a=[1, 2])


def test_a_missing_attribute_shows_those_that_are_there() -> None:
    image = blizzarr.create_group({}, attributes={"ome": {"version": "0.5"}})
    with pytest.raises(KeyError) as told:
        image.attrs["multiscales"]
    assert (told.value.args, told.value.__notes__) == (
        ("multiscales",),
        ["in the attributes of / there is 'ome'"],
    )
    assert image.attrs.get("multiscales") is None


def test_the_driver_of_another_format(tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path / "a.zarr", data=[1, 2])
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": f"{tmp_path}/a.zarr/"}}
    with pytest.raises(FileNotFoundError, match=r"does not exist; an array of v3 is there .the driver of v3"):
        ts.open(spec).result()
    assert ts.open({**spec, "driver": "zarr3"}).result().read().result().tolist() == [1, 2]


def test_references_of_kerchunk_are_no_directory(tmp_path: Path) -> None:
    (tmp_path / "refs.json").write_text('{"version": 1, "refs": {".zgroup": "{}"}}')
    with pytest.raises(StoreError, match=r"has references of kerchunk; open blizzarr\.stores\.FsspecStore"):
        blizzarr.open(tmp_path / "refs.json")


def test_files_of_h5py_are_no_store(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = [1, 2]
        for call in (blizzarr.open, lambda source: blizzarr.copy(source, {})):
            with pytest.raises(TypeError, match=r"found File of h5py; create_array\(path, data=file\[name\]\) stores"):
                call(file)
        assert blizzarr.create_array({}, data=file["a"])[:].tolist() == [1, 2]
        file["none"] = h5py.Empty("float32")
        for empty in (file["none"], file["none"][()]):
            with pytest.raises(TypeError, match=r"found (Dataset|Empty) without elements: its shape is None; leave it"):
                blizzarr.create_array({}, data=empty)


def test_a_miss_among_many_names_compares_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plates have a hundred thousand members, and a program may ask for many that are not there."""
    compared: list[int] = []
    real = difflib.get_close_matches

    def counted(word: str, names: Any, *more: Any) -> list[str]:
        compared.append(len(names))
        return real(word, names, *more)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    names = [f"{row}/{column:03}/0" for row in "ABCDEFGH" for column in range(1000)]
    assert nearest("h/1000/0", names) == "H/100/0"
    assert nearest("h/010/00", names[-1000:]) == "H/010/0"
    assert compared == [1000, 1000]


def test_texts_are_no_shapes_and_tensors_no_results() -> None:
    with pytest.raises(MetadataError, match="shape: expected an integer, or a list of integers, found '10,512'"):
        blizzarr.create_array({}, shape="10,512", dtype="u2")  # type: ignore[arg-type]  # what is tested

    class Tensor:
        def numpy(self) -> np.ndarray[Any, Any]:
            return np.empty(2)

    array = blizzarr.create_array({}, data=[1.0, 2.0])
    with pytest.raises(TypeError, match=r"found Tensor; pass its numpy\(\)"):
        array.get_basic_selection(..., out=Tensor())  # type: ignore[arg-type]  # what is tested

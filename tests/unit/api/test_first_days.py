"""What people of several fields get wrong in their first days: the error says what was met, and what to write."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import MetadataError, NodeNotFoundError


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: blizzarr.open({}, "r"), "open(): expected at most 1 positional argument, found 2; .* mode=, path="),
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


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (["a", None], "of the types NoneType, str; put a text in the place of what is missing"),
        (["a", float("nan")], "of the types float, str; put a text in the place of what is missing"),
        (["a", 1], "of the types int, str$"),
        ([1, None], "of the types NoneType, int$"),
        ([datetime.date(2020, 1, 1)], r"of the types date; pass numpy.asarray\(data, 'datetime64\[us\]'\)"),
    ],
)
def test_objects_are_named_by_their_types(data: Any, told: str) -> None:
    for target in (lambda: blizzarr.create_array({}, data=data), lambda: blizzarr.save({}, a=data)):
        with pytest.raises(MetadataError, match=f"found objects {told}"):
            target()


def test_the_path_of_a_file_is_no_data(tmp_path: Path) -> None:
    file = tmp_path / "stack.tif"
    file.write_bytes(b"II*")
    with pytest.warns(UserWarning, match="stored as text, though it is also a path; blizzarr.copy"):
        array = blizzarr.create_array({}, data=str(file))
    assert array[...] == str(file)

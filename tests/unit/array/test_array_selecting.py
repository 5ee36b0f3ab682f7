"""The ways to read and write parts of an array, and what they say about arguments that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.array import Array
from blizzarr.errors import OutOfBoundsError, SelectionError
from support.arrays import make

DATA = np.arange(120, dtype=np.int32).reshape(6, 5, 4)


@pytest.fixture
def z() -> Array:
    return make(DATA, chunks=(2, 3, 2), shards=(4, 3, 4))


def test_integers_alone_give_a_scalar(z: Array) -> None:
    assert type(z[5, 4, 3]) is np.int32
    assert type(z[5, 4, 3, ...]) is np.ndarray
    assert type(make(np.array(3))[()]) is np.int64


@pytest.mark.parametrize(
    ("get", "key", "expected"),
    [
        ("get_basic_selection", (slice(1, 5, 2), 0), DATA[1:5:2, 0]),
        ("get_basic_selection", ..., DATA),
        ("get_orthogonal_selection", ([1, 0], slice(None), [3, 3]), DATA[np.ix_([1, 0], range(5), [3, 3])]),
        ("get_coordinate_selection", ([1, 0], [2, 2], [3, -1]), DATA[[1, 0], [2, 2], [3, 3]]),
        ("get_mask_selection", DATA % 7 == 0, DATA[DATA % 7 == 0]),
        ("get_block_selection", (1, slice(None), 0), DATA[4:]),
    ],
)
def test_each_way_to_read_with_and_without_out(z: Array, get: str, key: Any, expected: np.ndarray) -> None:
    method = getattr(z, get)
    np.testing.assert_array_equal(method(key), expected, strict=True)
    room = np.zeros([2 * size for size in expected.shape], np.int32)
    out = room[tuple(slice(None, None, -2) for _ in expected.shape)]
    assert method(key, out=out) is out
    np.testing.assert_array_equal(out, expected, strict=True)
    assert np.count_nonzero(room) == np.count_nonzero(expected)


@pytest.mark.parametrize(
    ("ways", "key", "numpy_key"),
    [
        (("set_basic_selection",), (slice(1, 5, 2), 0), (slice(1, 5, 2), 0)),
        (("set_orthogonal_selection", "oindex"), ([1, 0], slice(None), [3]), np.ix_([1, 0], range(5), [3])),
        (("set_coordinate_selection", "vindex"), ([1, 0], [2, 2], [3, -1]), ([1, 0], [2, 2], [3, 3])),
        (("set_mask_selection", "vindex"), DATA % 7 == 0, DATA % 7 == 0),
        (("set_block_selection", "blocks"), (1, 0), (slice(4, 6), slice(0, 3))),
    ],
)
def test_each_way_to_write(z: Array, ways: tuple[str, ...], key: Any, numpy_key: Any) -> None:
    for number, way in enumerate(ways):
        expected = z[...]
        expected[numpy_key] = -1 - number
        if way.startswith("set_"):
            getattr(z, way)(key, -1 - number)
        else:
            getattr(z, way)[key] = -1 - number
        np.testing.assert_array_equal(z[...], expected)


def test_blocks_are_shards_where_there_are_shards(z: Array) -> None:
    """As zarr-python documents it."""
    assert z.blocks[0, 0].shape == (4, 3, 4)
    assert make(DATA, chunks=(2, 3, 2)).blocks[0, 0].shape == (2, 3, 4)


def test_the_last_of_repeated_indices_counts() -> None:
    z = make(np.zeros(10, int), chunks=(3,))
    z[[2, 5, 2, 5, 2]] = [1, 2, 3, 4, 5]
    assert z[:].tolist() == [0, 0, 5, 0, 0, 4, 0, 0, 0, 0]


def test_empty_selections_read_and_write_nothing(z: Array) -> None:
    assert z[3:3].shape == (0, 5, 4)
    assert z[[]].shape == (0, 5, 4)
    z[3:3] = 99
    z[:, []] = 99
    np.testing.assert_array_equal(z[...], DATA)


def test_more_dimensions_than_numpy_has_are_no_lack_of_memory(z: Array) -> None:
    key = (None,) * 70
    for selected in (z, z.lazy[0], z.oindex, z.vindex):
        with pytest.raises(SelectionError, match=r"of fewer dimensions, found 7[23]"):
            np.asarray(selected[key])
    with pytest.raises(SelectionError, match="expected a selection of fewer dimensions, found 73"):
        z[key] = 1


def test_a_selector_shows_its_array(z: Array) -> None:
    assert repr(z.oindex) == f"<Selector of {z!r}>"


def test_out_of_bounds_names_the_array_too(z: Array) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        z[0, 9]
    assert str(caught.value) == f"/a in {z.store}: index 9 is out of bounds for axis 1 with valid range [-5, 5)"
    assert (caught.value.array, caught.value.store) == ("/a", str(z.store))


def test_out_of_bounds_names_the_store_of_an_array_at_its_root(tmp_path: Path) -> None:
    """Every array that is opened by its path is at the root of a store: `/` would not tell which it is."""
    root = blizzarr.create_array(tmp_path / "q.zarr", data=DATA)
    for read in (lambda: root[0, 9], lambda: root.oindex[0, 9], lambda: root.lazy[0, 9], lambda: root[[0, 1], [9, 0]]):
        with pytest.raises(OutOfBoundsError) as caught:
            read()
        said = f"{tmp_path / 'q.zarr'}: index 9 is out of bounds for axis 1 with valid range [-5, 5)"
        assert str(caught.value) == said
        assert (caught.value.array, caught.value.store) == ("/", str(tmp_path / "q.zarr"))


def test_nothing_is_written_when_the_key_is_bad(z: Array) -> None:
    with pytest.raises(SelectionError):
        z[[0, 99]] = 1
    np.testing.assert_array_equal(z[...], DATA)


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        (np.empty((3, 4), np.int32), ValueError, r"expected out= with the selection's shape \(5, 4\), found shape"),
        (np.empty((5, 4), np.int64), TypeError, "expected out= of data type int32, found int64"),
        (np.empty((5, 4), ">i4"), TypeError, "expected out= of data type int32, found >i4"),
        (np.broadcast_to(np.int32(0), (5, 4)), ValueError, "expected out= to be writeable"),
        ([[0] * 4] * 5, TypeError, "expected a NumPy array as out=, found list"),
        (
            np.lib.stride_tricks.as_strided(np.empty(8, np.int32), (5, 4), (4, 4)),
            ValueError,
            "expected out= with every element in a place of its own",
        ),
    ],
)
def test_out_that_does_not_fit_is_refused(z: Array, out: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        z.get_basic_selection(0, out=out)


def test_out_for_one_element_is_an_array_without_axes(z: Array) -> None:
    out = np.empty((), np.int32)
    assert z.get_basic_selection((5, 4, 3), out=out) is out
    assert out == 119


def test_values_that_do_not_fit_are_refused(z: Array) -> None:
    with pytest.raises(ValueError, match=r"broadcasts to the selection's shape \(5, 4\), found shape \(3,\)"):
        z[0] = [1, 2, 3]
    with pytest.raises(ValueError, match="expected a scalar for a single element, found a value of shape"):
        z[0, 0, 0] = [1]
    with pytest.raises(OverflowError):
        z[0] = 2**40
    np.testing.assert_array_equal(z[...], DATA)


def test_complex_values_lose_their_imaginary_part_with_a_warning() -> None:
    z = make(np.zeros(3))
    with pytest.warns(np.exceptions.ComplexWarning):
        z[:] = np.array([1 + 1j, 2, 3])
    assert z[:].tolist() == [1, 2, 3]


def test_a_result_larger_than_memory_is_an_error() -> None:
    """Fault row 44."""
    z = make(shape=(2**61,), dtype="f8", chunks=(2**20,))
    with pytest.raises(MemoryError, match="read a part at a time"):
        z[:]
    assert z[2**60] == 0


def test_write_empty_chunks_is_a_setting() -> None:
    from blizzarr.config import config

    z = make(shape=(4,), dtype="u1", chunks=(2,))
    z[:] = 0
    assert z.nchunks_initialized == 0
    with config.set(write_empty_chunks=True):
        z[:] = 0
    assert z.nchunks_initialized == 2


@pytest.mark.parametrize("key", [slice(3, None), [0, 4], slice(None, None, -1), 4])
def test_a_view_of_elements_that_have_been_cut_off_is_out_of_bounds(key: Any, tmp_path: Path) -> None:
    """A view is made for the shape that the array had then; IndexError alone is no error of ours."""
    z = blizzarr.create_array(tmp_path / "q.zarr", data=np.arange(5), chunks=2)
    view = z.lazy[key]
    z.resize(3)
    before = {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    for touch in (view.read, lambda: np.asarray(view), lambda: view.__setitem__(..., 9)):
        with pytest.raises(OutOfBoundsError, match="is out of bounds for axis 0 of length 3") as caught:
            touch()
        assert (caught.value.array, caught.value.store) == ("/", str(tmp_path / "q.zarr"))
    assert {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    assert z[:].tolist() == [0, 1, 2]


def test_a_handle_with_a_larger_shape_than_its_binding_is_out_of_bounds() -> None:
    """For a moment, while another thread adopts what a third has stored."""
    z = blizzarr.create_array({}, data=np.arange(3))
    z._bind()
    z._shape = (5,)
    for touch in (lambda: z[3:], lambda: z.oindex[[4]], lambda: z.__setitem__(slice(None), 9)):
        with pytest.raises(OutOfBoundsError, match="is out of bounds for axis 0 of length 3"):
            touch()
    z._shape = (3,)
    assert z[:].tolist() == [0, 1, 2]


def test_listed_indices_of_the_longest_axis() -> None:
    """TensorStore's finite indices end at 2**62 - 2; those of arrays do not."""
    long = blizzarr.create_array({}, shape=2**63 - 1, chunks=1000, dtype="uint8")
    listed = np.array([2**62 - 1, -1, 2**62])
    long.oindex[listed[:2]] = [1, 2]
    long.vindex[listed[2:]] = [3]
    assert long.vindex[listed].tolist() == long[listed].tolist() == [1, 2, 3]

"""What xarray masks, it masks after every copy and upgrade: xarray itself is the oracle, as writer and as reader."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.formats.masked_value import masked_value

xr = pytest.importorskip("xarray")
pytestmark = pytest.mark.filterwarnings("ignore")

FILLS: dict[str, list[Any]] = {
    "b": [None],
    "i": [None, 0, -1, -128],
    "u": [None, 0, 255],
    "f": [None, np.nan, 0.0, -999.0, 1e4],
    "c": [None],
}
TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
TEXTS = {"bytes3": np.array([b"a", b"", b"bc"], "S3"), "text": np.array(["a", "", "bc"], object)}


def variable(number: int, dtype: str, fill: Any, scale: bool, missing: bool) -> Any:
    kind = np.dtype(dtype).kind
    encoding: dict[str, Any] = {"dtype": dtype} | ({} if fill is None else {"_FillValue": fill})
    values: Any = np.random.default_rng(number).integers(0, 5, 8)
    if fill is not None:
        values = values.astype(float)
        values[2] = np.nan
    if scale:
        encoding["scale_factor"] = 0.5
        values = values * 0.5
    if missing:
        encoding["missing_value"] = fill
    values = values.astype(dtype) if fill is None and not scale else values
    return xr.Variable("x", values + 1j if kind == "c" else values, encoding=encoding)


def dataset(zarr_format: int) -> Any:
    """Every data type with every fill value, packed or not, with and without `missing_value`."""
    found = {}
    for dtype in TYPES:
        kind = np.dtype(dtype).kind
        for number, fill in enumerate(FILLS[kind]):
            for scale, missing in itertools.product([False, True], repeat=2):
                if (scale and dtype not in ("i2", "u1")) or (missing and (fill is None or dtype not in ("u1", "f4"))):
                    continue
                name = f"{dtype}_{fill}_{scale}_{missing}"
                found[name] = variable(number, dtype, fill, scale, missing)
    times = np.array("2001-01-01", "M8[ns]") + np.arange(8).astype("m8[D]")
    more = {"time": ("x", times), "scalar": 3, "zero": 0, "nothing": ("x", np.zeros(8, "i2"))}
    texts = {name: ("y", values) for name, values in TEXTS.items() if zarr_format == 2 or name == "text"}
    return xr.Dataset(found | more | texts, coords={"x": np.arange(8), "y": np.arange(3)})


def opened(place: str) -> Any:
    return xr.open_zarr(place, consolidated=False, chunks=None).load()


@pytest.fixture(scope="module", params=[2, 3])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("written") / "x.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset(request.param).to_zarr(place, zarr_format=request.param)
    return place


def same(place: str, other: str) -> None:
    one, two = opened(place), opened(other)
    xr.testing.assert_identical(one, two)
    assert {name: str(v.dtype) for name, v in one.items()} == {name: str(v.dtype) for name, v in two.items()}


@pytest.mark.parametrize(
    ("written", "moves"),
    [
        (2, ("v3", "v2")),
        (3, ("v2", "v3")),
        # These begin with a copy in the same format.
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((2, ("v2", "v3")), (3, ("v3", "v2")))),
    ],
    indirect=["written"],
)
def test_xarray_reads_the_same_from_a_copy(written: str, moves: tuple[str, ...], tmp_path: Path) -> None:
    last = written
    for form in moves:
        copied = str(tmp_path / f"{form}.zarr")
        blizzarr.copy(last, copied, zarr_format=form, chunks=3)
        difference = blizzarr.diff(last, copied)
        assert difference.same, str(difference)
        same(written, copied)
        last = copied


def test_xarray_reads_the_same_after_an_upgrade(tmp_path: Path) -> None:
    place, other = str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr")
    dataset(2).to_zarr(place, zarr_format=2)
    blizzarr.copy(place, other)
    plan = blizzarr.upgrade(other, dry_run=True)
    assert "_FillValue" in str(plan)
    blizzarr.upgrade(other)
    same(place, other)
    assert blizzarr.diff(place, other).same
    assert blizzarr.check(other).clean


def test_an_upgrade_names_chunks_that_lose_their_values() -> None:
    """With null, zarr-python 2 leaves memory as it is there; with 0, xarray would mask every 0."""
    group = blizzarr.create_group({})
    for name, stored in (("some", 3), ("all", 6)):
        array = group.create_array(name, shape=6, chunks=1, dtype="i2", dimension_names=["x"])
        array[:stored] = np.arange(1, 1 + stored)
    text = str(blizzarr.upgrade(group.store, to="v2", dry_run=True))
    assert text.count("not stored") == 1
    said = "/some: 3 chunks of 6 are not stored: where the fill value is null, zarr-python 2 reads any values"
    assert f"{said}; a copy stores them" in text
    made: dict[str, Any] = {}
    blizzarr.copy(group, made, zarr_format=2)
    assert blizzarr.open_array(made, path="some").nchunks_initialized == 6
    assert blizzarr.open_array(made, path="some").fill_value is None


def test_what_is_not_stored_stays_what_it_was_in_place() -> None:
    """An upgrade stores no chunks, so the fill value of v2 can be the masked one only if it is the same."""
    for fill, masked, expected in [
        (0, None, (None, None, None)),
        (0, 5, (None, 5, 5)),
        (5, 5, (5, None, 5)),
        (7, None, (7, None, 7)),
        (7, 5, (7, None, 7)),
    ]:
        array = sparse(fill_value=fill, attributes={} if masked is None else {"_FillValue": masked})
        values = array[...]
        plan = blizzarr.upgrade(array.store, to="v2")
        made = blizzarr.open_array(array.store)
        assert np.array_equal(made[...], values)
        assert (made.fill_value, made.attrs.get("_FillValue"), masked_value(made.metadata)) == expected
        assert ("instead of" in str(plan)) == (masked != expected[2])
        blizzarr.upgrade(array.store)
        again = blizzarr.open_array(array.store)
        assert np.array_equal(again[...], values)
        assert masked_value(again.metadata) == expected[2]


def test_a_fill_value_that_is_not_masked_is_no_finding() -> None:
    """Only its writer knows whether it is to be masked, with keys of v2, too."""
    store: dict[str, Any] = {}
    keys = ("v2", ".")
    blizzarr.create_array(store, data=[1, 7], fill_value=7, dimension_names=["x"], chunk_key_encoding=keys)
    assert blizzarr.check(store).clean


def moved(array: Any, form: Any, **options: Any) -> Any:
    made = blizzarr.copy(array, {}, zarr_format=form, **options)
    assert np.array_equal(made[...], np.asarray(array[...]).astype(made.dtype), equal_nan=made.dtype.kind in "fc")
    return made


def sparse(**options: Any) -> Any:
    """Four elements, of which the last two are not stored."""
    array = blizzarr.create_array({}, shape=4, chunks=2, dtype="i2", dimension_names=["x"], **options)
    array[:2] = [1, 5]
    return array


@pytest.mark.parametrize("fill", [0, 7])
def test_what_is_not_stored_stays_what_it_was(fill: int) -> None:
    """The fill value of v2 is what xarray masks, so elements that are not stored in v3 are stored there."""
    masked = sparse(fill_value=fill, attributes={"_FillValue": 5})
    copied = moved(masked, 2)
    assert (copied.fill_value, dict(copied.attrs)) == (5, {"_ARRAY_DIMENSIONS": ["x"]})
    assert copied.nchunks_initialized == 2
    unmasked = moved(sparse(fill_value=fill), 2)
    assert unmasked.fill_value is None
    assert unmasked.nchunks_initialized == 2
    assert sparse(fill_value=fill, zarr_format=2).nchunks_initialized == 1


def test_the_attribute_counts_in_v2_where_the_fill_value_is_null() -> None:
    for attribute in (5, [5]):
        array = sparse(fill_value=None, zarr_format=2, attributes={"_FillValue": attribute})
        assert moved(array, 3).attrs["_FillValue"] == 5
    # Where it is not, xarray does not look at the attribute.
    assert moved(sparse(fill_value=1, zarr_format=2, attributes={"_FillValue": 5}), 3).attrs["_FillValue"] == 1


@pytest.mark.parametrize("given", ["AAAAAAAAFMA=", -5.0, [-5]])
def test_numbers_as_in_netcdf_are_understood_in_v3(given: Any) -> None:
    array = blizzarr.create_array(
        {}, data=np.array([-5.0, 1], "f4"), dimension_names=["x"], attributes={"_FillValue": given}
    )
    assert moved(array, 2).fill_value == -5


@pytest.mark.parametrize("given", ["Zm9v", "*", 1e400, {}, [1, 2], 70000])
def test_attributes_that_name_no_value_stay(given: Any) -> None:
    array = sparse(fill_value=0)
    document = json.loads(array.store.get("zarr.json"))
    document["attributes"] = {"_FillValue": given}
    array.store.set("zarr.json", json.dumps(document).encode())
    copied = blizzarr.copy(blizzarr.open_array(array.store), {}, zarr_format=2)
    assert copied.fill_value is None
    assert copied.attrs["_FillValue"] == given


@pytest.mark.parametrize("given", [None, "NaN", [1, 2], {}, 70000, 1.5])
def test_attributes_that_name_no_value_do_not_keep_xarray_from_opening_v3(given: Any, tmp_path: Path) -> None:
    place, other = str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr")
    group = blizzarr.create_group(place, zarr_format=2)
    data = np.array([1, 5], "i2")
    group.create_array("a", data=data, fill_value=None, dimension_names=["x"], attributes={"_FillValue": given})
    blizzarr.copy(place, other, zarr_format=3)
    assert "left out: the attribute _FillValue" in str(blizzarr.upgrade(place))
    for made in (place, other):
        assert opened(made)["a"].values.tolist() == [1, 5]


@pytest.mark.parametrize(("old", "new"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_the_value_is_converted_with_the_elements(old: int, new: int) -> None:
    attributes = {"_FillValue": 5} if old == 3 else {}
    array = sparse(fill_value=5, zarr_format=old, attributes=attributes)
    for dtype in ("f4", "i8", "complex64"):
        copied = moved(array, new, dtype=dtype)
        assert masked_value(copied.metadata) == 5
    narrow = blizzarr.create_array(
        {},
        data=np.array([1, 2], "i2"),
        dimension_names=["x"],
        fill_value=-1,
        zarr_format=old,
        attributes={"_FillValue": -1} if old == 3 else {},
    )
    assert masked_value(moved(narrow, new, dtype="u1").metadata) is None


def test_arrays_without_dimension_names_are_left_alone() -> None:
    array = blizzarr.create_array({}, shape=4, chunks=2, dtype="i2", fill_value=7, zarr_format=2)
    copied = moved(array, 3)
    assert (copied.fill_value, dict(copied.attrs)) == (7, {})
    assert moved(copied, 2).fill_value == 7


@pytest.mark.parametrize("dtype", ["S3", "U3", "str", "bytes"])
def test_xarray_cannot_mask_texts_in_v3(dtype: str, tmp_path: Path) -> None:
    """With the attribute, it could not open them."""
    place = str(tmp_path / "x.zarr")
    text: list[Any] = [b"a", b"b"] if dtype in ("S3", "bytes") else ["a", "b"]
    root = blizzarr.create_group(place, zarr_format=2)
    array = root.create_array("t", shape=2, dtype=dtype, fill_value=text[0], dimension_names=["x"])
    array[:] = np.array(text, object)
    assert "/t: xarray masks nothing instead of " in str(blizzarr.upgrade(place, dry_run=True))
    blizzarr.upgrade(place)
    assert opened(place)["t"].values.tolist() == text


@pytest.mark.parametrize("dtype", ["S3", "U3"])
def test_a_null_fill_value_of_text_comes_back(dtype: str, tmp_path: Path) -> None:
    """Of an upgrade and back: as the empty text, it would be what xarray masks."""
    place = str(tmp_path / "x.zarr")
    blizzarr.create_group(place, zarr_format=2).create_array(
        "t", data=np.array(["", "a"], dtype), fill_value=None, dimension_names=["x"]
    )
    blizzarr.upgrade(place)
    blizzarr.upgrade(place, to="v2")
    assert blizzarr.open(place)["t"].fill_value is None


def test_a_new_array_may_have_a_fill_value_of_null() -> None:
    array = blizzarr.create_array({}, shape=4, dtype="i2", fill_value=None, zarr_format=2)
    assert json.loads(array.store.get(".zarray"))["fill_value"] is None
    assert array.fill_value is None
    assert array[...].tolist() == [0, 0, 0, 0]
    assert blizzarr.create_array({}, shape=4, dtype="i2", zarr_format=2).fill_value == 0
    assert blizzarr.create_array({}, shape=4, dtype="i2", fill_value=None).fill_value == 0
    assert blizzarr.empty_like(array).fill_value is None
    assert blizzarr.empty_like(array, fill_value=3).fill_value == 3


def test_an_array_like_another_one_has_what_xarray_masks() -> None:
    array = blizzarr.create_array({}, shape=4, dtype="i2", fill_value=5, zarr_format=2, dimension_names=["x"])
    assert dict(blizzarr.empty_like(array, zarr_format=3).attrs) == {"_FillValue": 5}
    more = blizzarr.empty_like(array, zarr_format=3, attributes={"units": "K"})
    assert dict(more.attrs) == {"_FillValue": 5, "units": "K"}
    assert blizzarr.empty_like(more, zarr_format=2).fill_value == 5


def test_diff_names_what_xarray_would_see_differently() -> None:
    one = sparse(fill_value=5, zarr_format=2)
    other = sparse(fill_value=5)
    assert "that xarray masks: 5 against None" in str(blizzarr.diff(one, other))


def test_a_copy_warns_once_of_masks_that_are_lost() -> None:
    """xarray cannot read the attribute of v3 for these data types; upgrade and diff say so, too."""
    group = blizzarr.create_group({}, zarr_format=2)
    for name, dtype, fill in (("s", "S3", b"x"), ("u", "U2", "x"), ("t", "M8[s]", np.datetime64(5, "s"))):
        group.create_array(name, shape=4, dtype=dtype, fill_value=fill, dimension_names=["x"])
    with pytest.warns(UserWarning, match="xarray masks") as told:
        made = blizzarr.copy(group, {}, zarr_format=3)
    (text,) = [str(each.message) for each in told]
    first = "/s: xarray masks nothing instead of b'x', as v3 cannot say it"
    assert text == f"{first}; the like of 2 more"
    assert first in str(blizzarr.upgrade(group.store, dry_run=True))
    assert [item.kind for item in blizzarr.diff(group, made).differences] == ["fill-value"] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blizzarr.copy(group, {}, zarr_format=2)
        blizzarr.copy(made, {}, zarr_format=2)

"""Pictures of arrays: which picture, which elements, which colours."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import blizzarr
from blizzarr.display import glyphs
from blizzarr.display.canvas import Canvas
from blizzarr.display.colours import MISSING_COLOUR, Range, colour_table
from blizzarr.display.coordinates import Coordinates
from blizzarr.display.glyphs import draw
from blizzarr.display.panel import bar_ticks
from blizzarr.display.picture import Style, render
from blizzarr.display.region import Region, as_numbers
from blizzarr.errors import SelectionError


class Recorder:
    """An array that notes what was read of it."""

    def __init__(self, data: np.ndarray, chunks: tuple[int, ...], names: tuple[str | None, ...] | None = None) -> None:
        self.data, self.chunks, self.dimension_names = data, chunks, names
        self.shape, self.dtype = data.shape, data.dtype
        self.read: list[Any] = []

    def __getitem__(self, key: Any) -> np.ndarray:
        self.read.append(key)
        return self.data[key]


def occurs(pixels: np.ndarray, image: np.ndarray) -> bool:
    """Whether the image is somewhere in the pixels."""
    height, width = image.shape[:2]
    views = np.lib.stride_tricks.sliding_window_view(pixels, (height, width, 3))[:, :, 0]
    starts = np.argwhere((views[:, :, 0, 0] == image[0, 0]).all(axis=-1))
    return any((views[y, x] == image).all() for y, x in starts)


def enlarged(colours: np.ndarray, scale: int) -> np.ndarray:
    return colours.repeat(scale, axis=0).repeat(scale, axis=1)


def test_image_shows_every_element_in_its_colour() -> None:
    values = np.arange(12.0).reshape(3, 4)
    pixels = render(values, style=Style(cmap="gray", low="0", high="11", size=40))
    greys = np.rint(values / 11 * 255).astype(np.uint8)[..., None].repeat(3, axis=-1)
    assert occurs(pixels, enlarged(greys, 10))


def test_lower_origin_puts_row_0_at_the_bottom() -> None:
    values = np.arange(12.0).reshape(3, 4)
    pixels = render(values, style=Style(cmap="gray", low="0", high="11", size=40, origin="lower"))
    greys = np.rint(values[::-1] / 11 * 255).astype(np.uint8)[..., None].repeat(3, axis=-1)
    assert occurs(pixels, enlarged(greys, 10))


def test_colour_image_is_shown_as_it_is() -> None:
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    assert occurs(render(image, style=Style(size=30)), image)


def test_transparent_pixels_lie_on_white() -> None:
    image = np.zeros((20, 30, 4), np.uint8)
    image[..., 3] = 51
    assert occurs(render(image, style=Style(size=30)), np.full((20, 30, 3), 204, np.uint8))


def test_volume_is_cut_through_the_middle_of_each_axis() -> None:
    data = np.random.default_rng(0).integers(0, 256, (10, 12, 14), dtype=np.uint8)
    recorder = Recorder(data, (5, 5, 5), ("z", "y", "x"))
    pixels = render(recorder, style=Style(cmap="gray", low="0", high="255", size=21))
    whole = slice(0, None, 1)
    assert [tuple(part if isinstance(part, int) else whole for part in key) for key in recorder.read] == [
        (5, whole, whole),
        (whole, 6, whole),
        (whole, whole, 7),
    ]
    for plane in (data[5], data[:, 6], data[:, :, 7]):
        assert occurs(pixels, plane[..., None].repeat(3, axis=-1))


def test_sheet_shows_slices_along_an_axis() -> None:
    data = np.zeros((6, 8, 9), np.uint8) + np.arange(6, dtype=np.uint8)[:, None, None] * 50
    for axis in (0, "0", "z", -3):
        recorder = Recorder(data, (1, 8, 9), ("z", "y", "x"))
        pixels = render(recorder, style=Style(cmap="gray", low="0", high="255", axis=axis, size=60))
        assert [key[0] for key in recorder.read] == [0, 1, 2, 3, 4, 5]
        for value in range(6):
            assert occurs(pixels, np.full((8, 9, 3), value * 50, np.uint8))


def test_rows_of_a_sheet_are_equally_full() -> None:
    wide = {count: render(np.zeros((count, 8, 9)), style=Style(axis=0, size=60)).shape[1] for count in (3, 4, 5)}
    assert wide[3] == wide[4] < wide[5]


def test_leading_axes_stand_in_their_middle() -> None:
    recorder = Recorder(np.zeros((5, 7, 4, 4, 4), np.float32), (1, 1, 4, 4, 4))
    render(recorder)
    assert {key[:2] for key in recorder.read} == {(2, 3)}


def test_large_arrays_are_read_with_strides() -> None:
    recorder = Recorder(np.broadcast_to(np.float32(0), (20_000, 16_000)), (500, 500))
    render(recorder, style=Style(size=500))
    ((rows, columns),) = recorder.read
    assert (rows.step, columns.step) == (32, 32)


def test_samples_lie_farther_apart_when_the_chunks_would_be_too_much() -> None:
    region = Region.of(Recorder(np.broadcast_to(np.float32(0), (50_000, 40_000)), (500, 500)))
    sampled = region.every([50, 50]).affordable(budget=1 << 30)
    touched = [len({index // 500 for index in axis.indices}) for axis in sampled.axes]
    assert touched[0] * touched[1] * 500 * 500 * 4 <= 1 << 30
    assert min(map(len, sampled.axes)) >= 16


def test_arrays_of_dask_and_xarray_are_shown_as_those_of_numpy() -> None:
    """They list the length of each chunk, where other arrays have one length for an axis."""
    values = np.arange(48.0).reshape(6, 8)
    lazy = pytest.importorskip("dask.array").from_array(values, chunks=(4, 3))
    named = pytest.importorskip("xarray").DataArray(lazy)
    for array in (lazy, named):
        assert np.array_equal(blizzarr.show(array), blizzarr.show(values))


def test_a_selection_names_what_is_shown() -> None:
    recorder = Recorder(np.arange(1000).reshape(10, 10, 10), (10, 10, 10))
    render(recorder, (2, slice(None, None, -1)))
    assert recorder.read == [(2, slice(9, None, -1), slice(0, 10, 1))]


def test_what_all_panels_have_in_common_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(Canvas, "text", lambda self, x, y, text, *rest, **more: texts.append(text))
    render(Recorder(np.zeros((2, 3, 4, 5, 6)), (1,) * 5, ("t", "c", "z", "y", "x")))
    assert [text for text in texts if " = " in text] == [
        "t = 1 of 2, c = 1 of 3",
        "z = 2 of 4",
        "y = 2 of 5",
        "x = 3 of 6",
    ]


def test_curve_keeps_gaps() -> None:
    values = np.full(100, np.nan)
    values[:10] = 1.0
    values[90:] = 2.0
    pixels = render(values, style=Style(size=200))
    columns = np.flatnonzero(_inked(pixels).any(axis=0))
    assert columns.size
    assert np.diff(columns).max() > 150


def test_values_between_two_gaps_are_dots() -> None:
    values = np.full(100, np.nan)
    assert not _inked(render(values, style=Style(size=200))).any()
    values[[30, 60]] = 1.0, 2.0
    columns = np.flatnonzero(_inked(render(values, style=Style(size=200))).any(axis=0))
    first, second = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    assert 4 <= len(first) <= 6
    assert second.mean() - first.mean() == pytest.approx(0.3 * 250, abs=1)


def test_curve_of_times_is_labelled_with_times(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(Canvas, "text", lambda self, x, y, text, *rest, **more: texts.append(text))
    render(np.array(["2001-01-01", "NaT", "2001-03-01"], "M8[D]"), style=Style(size=400))
    assert [text for text in texts if "-" in text] == ["2001-01", "2001-02", "2001-03"]


def _inked(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """True where a pixel has the colour of a curve."""
    return pixels[..., 2].astype(int) > pixels[..., 0].astype(int) + 40


def test_not_a_number_is_grey_and_does_not_spoil_the_range() -> None:
    values = np.array([[0.0, np.nan], [np.inf, 10.0]])
    spread = Range.of(values, "0%", "100%")
    assert (spread.low, spread.high) == (0.0, 10.0)
    table = colour_table("viridis")
    colours = spread.apply(values, table)
    assert tuple(colours[0, 1]) == MISSING_COLOUR
    np.testing.assert_array_equal(colours[1], table[[255, 255]])


@pytest.mark.parametrize(
    ("values", "texts"),
    [(np.full((2, 2), 7.0), ["7"]), (np.full((2, 2), np.nan), []), (np.full((2, 2), 3 + 4j), ["magnitude", "5"])],
    ids=["constant", "missing", "complex"],
)
def test_texts_around_a_single_value(monkeypatch: pytest.MonkeyPatch, values: np.ndarray, texts: list[str]) -> None:
    written: list[tuple[str, int]] = []
    monkeypatch.setattr(Canvas, "text", lambda self, x, y, text, *rest, **more: written.append((text, y)))
    pixels = render(values, style=Style(size=200))
    names = ["", "0", "1", "axis 0", "axis 1"]
    assert [text for text, _ in written if text not in names] == texts
    assert [text for text, _ in written].count("0") == 2, "only the axes have an index 0"
    if texts:
        # The tick lies at the colour of the elements, which is that at the bottom.
        rows = np.flatnonzero((pixels == colour_table("viridis")[0]).all(axis=-1).any(axis=1))
        assert abs(written[-1][1] + glyphs.HEIGHT // 2 - rows[-1]) <= 1
    render(values[0])


@pytest.mark.parametrize(
    "values",
    [
        np.full(4, "2000-01-01", "datetime64[ns]"),
        np.full(4, 2e16),
        np.full(4, -1.7e308),
        np.full(4, 2**63, "uint64"),
        np.array([0, 5e-324]),
        np.array([-5e-324, 2e-308]),
        np.array([1e16, 1e16 + 2]),
        np.array([2**60, 1], "timedelta64[Y]"),
        np.array([-(2**63) + 1, 2**63 - 1]).view("datetime64[ns]"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_numbers_at_the_edges_of_floating_point_are_shown(values: np.ndarray) -> None:
    for shown in (values, np.stack([values, values])):
        pixels = render(shown, style=Style(size=200))
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 3


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (np.array([True, False]), [1.0, 0.0]),
        (np.array([3 + 4j], np.complex64), [5.0]),
        (np.array(["1970-01-02", "NaT"], "datetime64[D]"), [1.0, np.nan]),
        (np.array([1.5], np.float16), [1.5]),
    ],
)
def test_numbers_behind_other_types(values: np.ndarray, numbers: list[float]) -> None:
    np.testing.assert_array_equal(as_numbers(values), numbers)


@pytest.mark.parametrize(("low", "high", "grey"), [("7", None, 0), ("7", "99%", 0), (None, "-2", 255)])
def test_values_that_all_lie_beyond_a_number_have_its_colour(low: str | None, high: str | None, grey: int) -> None:
    """The colours were reversed, and those of the bar beside them were not."""
    pixels = render(np.eye(4), style=Style(cmap="gray", low=low, high=high, size=64))
    assert occurs(pixels, np.full((64, 64, 3), grey, np.uint8))


@pytest.mark.parametrize(
    ("array", "key", "style", "message"),
    [
        (np.zeros(()), ..., Style(), "found a single element"),
        (np.zeros((0, 4)), ..., Style(), r"found the shape \(0, 4\)"),
        (np.zeros((4, 4)), ..., Style(axis=0), "expected three axes or more"),
        (np.zeros((4, 4, 4)), ..., Style(axis="t"), r"expected one of the axes 0 \(axis 0\), .* found 't'"),
        (np.zeros((4, 4)), ..., Style(cmap="nothing"), "expected one of the colour maps viridis, magma"),
        (np.zeros(4), ..., Style(cmap="virids"), "found 'virids'; did you mean 'viridis'"),
        (np.zeros((4, 4)), ..., Style(low="a"), "expected a number or a percentile like 2%, found 'a'"),
        (np.zeros((4, 4)), ..., Style(low="101%"), "expected a percentile from 0% to 100%"),
        (np.zeros((4, 4)), ..., Style(low="5", high="1"), "expected vmin of at most vmax, found 5 and 1"),
        (np.zeros((4, 4), "S3"), ..., Style(), "expected numbers to make a picture of"),
    ],
)
def test_what_cannot_be_shown_is_said(array: np.ndarray, key: Any, style: Style, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render(array, key, style=style)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((0, 0, 0), "expected at most 2 indices for an array with 2 axes, found 3"),
        ([0, 1], "expected integers, slices and at most one"),
        ((None, 0), "expected integers, slices and at most one"),
        ((0, 4), r"index 4 is out of bounds for axis 1 with valid range \[-4, 4\)"),
    ],
)
def test_keys_that_select_no_region(key: Any, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        render(np.zeros((4, 4)), key)


def dataset() -> blizzarr.Group:
    """Coordinates beside an array, as in xarray: packed, falling, texts, times, and one of the wrong length."""
    group = blizzarr.create_group({})
    arrays: dict[str, tuple[Any, dict[str, Any]]] = {
        "time": (np.arange(0, 48, 12), {"units": "hours since 2001-01-01"}),
        "level": (np.array(["low", "a very long name of a level"]), {}),
        "lat": (np.arange(50, -60, -10), {"units": "degrees_north", "scale_factor": 0.5}),
        "lon": (np.arange(7), {}),
    }
    for name, (values, attributes) in arrays.items():
        group.create_array(name, data=values, dimension_names=[name], attributes=attributes)
    group.create_array("t", data=np.zeros((4, 2, 11, 6)), dimension_names=["time", "level", "lat", "lon"])
    return group


def test_coordinates_stand_beside_the_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr(Canvas, "text", lambda self, x, y, text, *more, **options: texts.append(text))
    array = dataset()["t"]
    blizzarr.show(array, key=(slice(None), 1, slice(None), 2))
    assert {"2001-01-01T00", "2001-01-02T12", "20", "-20", "lat (degrees_north)", "time"} <= set(texts)
    assert "level = a very long nam~, lon = 2 of 6" in texts
    texts.clear()
    blizzarr.show(array, axis="time")
    assert {"time = 2001-01-01T00", "level = a very long nam~"} <= set(texts)
    texts.clear()
    # An array of NumPy has nothing beside it.
    blizzarr.show(np.zeros((2, 3)))
    assert {"0", "1", "2", "axis 0", "axis 1"} <= set(texts)


@pytest.mark.parametrize(
    ("values", "attributes", "text"),
    [
        ([0, 365], {"units": "days since 2001-01-01 00:00:00"}, "2002"),
        ([0, 31], {"units": "days since 2001-1-1"}, "2001-02"),
        ([0, 1.5], {"units": "days since 2001-01-01"}, "2001-01-02T12"),
        ([0, 90], {"units": "seconds since 2001-01-01T06:30:00"}, "2001-01-01T06:31:30"),
        ([0, 1], {"units": "days since 2001-01-01", "calendar": "360_day"}, "1"),
        ([0, np.nan], {"units": "days since 2001-01-01"}, "nan"),
        ([0, 1e300], {"units": "days since 2001-01-01"}, "1e300"),
        ([0, -np.inf], {}, "-inf"),
        ([0, 1], {"units": "days since 2001-02-30"}, "1"),
        ([0, 1], {"units": 5, "scale_factor": "2"}, "1"),
        (np.array(["2001-01-01", "2001-01-02"], "M8[ns]"), {}, "2001-01-02"),
    ],
)
def test_texts_of_coordinates(values: Any, attributes: dict[str, Any], text: str) -> None:
    assert Coordinates.of(np.asarray(values), attributes).text(1) == text


@pytest.mark.parametrize("indices", [range(6), range(5, -1, -1), range(1, 6, 2), range(3, 4)])
def test_ticks_lie_where_their_coordinates_are(indices: range) -> None:
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    for place, text in Coordinates(values).ticks(indices, 4):
        there = np.interp(place, np.arange(len(indices)), values[list(indices)])
        assert there == pytest.approx(float(text))


@pytest.mark.parametrize(
    ("first", "step", "count", "texts"),
    [
        ("2000-01-01", "6h", 400, ["2000-01", "2000-02", "2000-03", "2000-04"]),
        ("1990-03-07", "1D", 9000, ["1995", "2000", "2005", "2010"]),
        ("2000-02-27", "1D", 9, ["2000-02-27", "2000-02-29", "2000-03-01", "2000-03-03"]),
        ("2000-01-01T22", "1h", 12, ["2000-01-02T00", "2000-01-02T03", "2000-01-02T06", "2000-01-02T09"]),
    ],
)
@pytest.mark.parametrize("falling", [False, True])
def test_ticks_of_times_are_round(first: str, step: str, count: int, texts: list[str], falling: bool) -> None:
    one = np.timedelta64(int(step[:-1]), step[-1])
    times = np.datetime64(first, "s") + np.arange(count) * one
    found = Coordinates(times[::-1] if falling else times).ticks(range(count), 5)
    assert [text for _, text in found[: len(texts)]] == texts
    for place, text in found:
        assert times[count - 1 - round(place) if falling else round(place)] == np.datetime64(text)


def test_what_xarray_masks_is_drawn_as_missing() -> None:
    data = np.array([[1, 2, -99], [4, 5, 6]], "i2")
    for options in ({"attributes": {"_FillValue": -99}}, {"fill_value": -99, "zarr_format": 2}):
        masked = blizzarr.create_array({}, data=data, dimension_names=["y", "x"], **options)
        beside = blizzarr.create_array({}, data=np.where(data < 0, np.nan, data), dimension_names=["y", "x"])
        assert np.array_equal(render(masked), render(beside))
        assert not np.array_equal(render(masked), render(data))


def test_packed_elements_are_drawn_unpacked() -> None:
    """As xarray decodes them: what is masked is masked as it is stored. Other arrays may mean anything by the names."""
    data = np.array([[1, 2, -99], [4, 5, 6]], "i2")
    packing = {"scale_factor": -0.5, "add_offset": [10], "_FillValue": -99}
    packed = blizzarr.create_array({}, data=data, dimension_names=["y", "x"], attributes=packing)
    values = np.where(data < 0, np.nan, data * -0.5 + 10)
    assert np.array_equal(render(packed), render(blizzarr.create_array({}, data=values, dimension_names=["y", "x"])))
    unnamed = blizzarr.create_array({}, data=data, attributes=packing)
    assert np.array_equal(render(unnamed), render(data))


@pytest.mark.parametrize(
    "attributes", [{"units": "degrees_north"}, {"standard_name": "projection_y_coordinate"}, {"axis": "Y"}]
)
def test_north_is_up(attributes: dict[str, str]) -> None:
    group = blizzarr.create_group({})
    values = np.arange(24).reshape(2, 3, 4)
    group.create_array("y", data=np.array([10, 20, 30]), dimension_names=["y"], attributes=attributes)
    array = group.create_array("t", data=values, dimension_names=["time", "y", "x"])
    for key, axis in ((0, None), (..., "time")):
        shown = blizzarr.show(array, key=key, axis=axis)
        assert np.array_equal(shown, blizzarr.show(array, key=key, axis=axis, origin="lower"))
        assert not np.array_equal(shown, blizzarr.show(array, key=key, axis=axis, origin="upper"))
    # Of three panels, only that with latitudes along its rows is drawn from below.
    for edge in ("lower", "upper"):
        assert not np.array_equal(blizzarr.show(array), blizzarr.show(array, origin=edge))
    falling = (0, slice(None, None, -1))
    assert np.array_equal(blizzarr.show(array, key=falling), blizzarr.show(array, key=falling, origin="upper"))


def test_colour_bars_of_truth_values_and_times() -> None:
    assert bar_ticks(np.dtype(bool), Range(0, 1), 9) == [(0.0, "False"), (1.0, "True")]
    assert bar_ticks(np.dtype(bool), Range(1, 1), 9) == [(1.0, "True")]
    days = np.array(["2000-01-01", "2003-01-01"], "M8[D]").astype("i8")
    ticks = bar_ticks(np.dtype("M8[D]"), Range(*map(float, days)), 4)
    assert [text for _, text in ticks] == ["2000", "2001", "2002", "2003"]
    assert [number for number, _ in ticks] == [days[0], days[0] + 366, days[0] + 731, days[1]]
    pixels = render(np.array([[True, False]]))
    table = [tuple(colour) for colour in colour_table("viridis").tolist()]
    assert {tuple(colour) for colour in pixels.reshape(-1, 3).tolist()} & {*table} == {table[0], table[-1]}


def test_numbers_at_a_colour_bar_differ_and_are_several() -> None:
    for low, high in ((273.149999, 273.150001), (101_290.0, 101_410.0), (2.0, 997.0)):
        texts = [text for _, text in bar_ticks(np.dtype("f8"), Range(low, high), 2)]
        assert len(set(texts)) == len(texts) > 1
    pressures = Coordinates(np.array([101_300.0, 101_350, 101_400]))
    assert [text for _, text in pressures.ticks(range(3), 2)] == ["1.013e5", "1.0135e5", "1.014e5"]


def test_infinite_coordinates_have_ticks_at_indices() -> None:
    values = np.array([-np.inf, 0, 1, np.inf])
    assert [text for _, text in Coordinates(values).ticks(range(4), 4)] == ["-inf", "0", "1", "inf"]


def test_neighbours_that_cannot_be_read_leave_indices() -> None:
    group = dataset()
    group.store.set("lat/zarr.json", b"{")
    group.store.set("time/c/0", b"damaged")
    assert blizzarr.show(group["t"]).shape == blizzarr.show(group["t"]).shape


def test_a_notebook_shows_the_picture(tmp_path: Path) -> None:
    picture = blizzarr.show(np.eye(4), tmp_path / "x.png")
    assert str(picture) == repr(picture) == f"<Picture of {picture.shape[1]} x {picture.shape[0]} pixels>"
    assert picture._repr_png_() == (tmp_path / "x.png").read_bytes()
    assert picture[0]._repr_png_() is None
    assert isinstance(picture, np.ndarray)


def test_colour_maps_of_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.zeros((256, 4), np.uint8)
    table[255] = 9
    fake = types.SimpleNamespace(colormaps={"plasma": lambda places, bytes: table})
    monkeypatch.setitem(sys.modules, "matplotlib", fake)
    assert colour_table("plasma")[255].tolist() == [9, 9, 9]
    with pytest.raises(ValueError, match="or one of Matplotlib's, found 'nothing'"):
        colour_table("nothing")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match="or Matplotlib with more, found 'plasma'"):
        colour_table("plasma")


def test_text_in_other_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Pillow, or a font, letters lose their marks, and become question marks where they have no other form."""
    assert draw("a?").shape == (15, 18)
    glyphs._fonts.cache_clear()
    monkeypatch.setattr(glyphs, "_FONTS", ())
    assert np.array_equal(draw("aΘ"), draw("a?"))
    assert np.array_equal(draw("Größe in 10³ μm · s⁻¹"), draw("Grosse in 10^3 µm . s^-1"))
    glyphs._fonts.cache_clear()
    monkeypatch.undo()
    if glyphs._fonts():
        assert not np.array_equal(draw("Θ"), draw("?"))
        assert draw("Θ").shape[0] == draw("?").shape[0]
        assert draw("Θ").any()
        assert not np.array_equal(draw("s⁻¹"), draw("s ¹"))


@pytest.mark.parametrize("character", ["\n", "\0", "\ud800", "\x1b"])
def test_unprintable_characters_become_question_marks(character: str) -> None:
    assert np.array_equal(draw(f"a{character}b"), draw("a?b"))

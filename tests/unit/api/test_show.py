"""`blizzarr.show`: the pixels that it returns are those in the file, whatever the array is given as."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.display.canvas import Canvas
from blizzarr.errors import NodeNotFoundError, NodeTypeError
from support.png import decode

VALUES = np.arange(24.0).reshape(4, 6)


def grey(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.rint((values - low) / (high - low) * 255).clip(0, 255).astype(np.uint8)


def drawn(pixels: np.ndarray) -> np.ndarray:
    """The grey of the middle of each box of the image of 4 by 6 elements, found by its frame."""
    inside = pixels[..., 0].astype(int)
    height, width = 4 * 20, 6 * 20
    for top in range(pixels.shape[0] - height):
        for left in range(pixels.shape[1] - width):
            boxes = inside[top : top + height, left : left + width].reshape(4, 20, 6, 20)
            middles = boxes[:, 10, :, 10]
            if (boxes == middles[:, None, :, None]).all() and len(np.unique(middles)) > 2:
                return middles
    raise AssertionError("no image in the picture")


def test_the_file_has_the_pixels(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path / "a.zarr", data=VALUES, chunks=(2, 2))
    for path in (tmp_path / "picture.png", str(tmp_path / "picture2.PNG")):
        pixels = blizzarr.show(array, path, cmap="gray", vmin=0, vmax="23", size=120)
        assert (pixels.dtype, pixels.ndim) == (np.uint8, 3)
        np.testing.assert_array_equal(decode(Path(path).read_bytes()), pixels)
        np.testing.assert_array_equal(drawn(pixels), grey(VALUES, 0, 23))


def test_an_array_may_be_given_in_any_way(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path / "a.zarr", data=VALUES, chunks=(2, 2))
    expected = blizzarr.show(VALUES, size=120)
    assert not list(tmp_path.glob("*.png"))
    for given in (array, array.lazy, array.lazy[:], str(tmp_path / "a.zarr"), tmp_path / "a.zarr", array.store):
        np.testing.assert_array_equal(blizzarr.show(given, size=120), expected)


def test_a_part_and_its_values() -> None:
    pixels = blizzarr.show(np.stack([VALUES, VALUES + 5]), key=1, cmap="gray", vmin=4.5, vmax=40, size=120)
    np.testing.assert_array_equal(drawn(pixels), grey(VALUES + 5, 4.5, 40))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"origin": "left"}, "expected origin='upper' or 'lower', found 'left'"),
        ({"path": "x.jpg"}, "expected a file name that ends in .png, found 'x.jpg'"),
        ({"cmap": "nothing"}, "expected one of the colour maps viridis, magma"),
        ({"vmin": "low"}, "expected a number or a percentile like 2%, found 'low'"),
        ({"axis": 0}, "expected three axes or more"),
    ],
)
def test_wrong_arguments(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        blizzarr.show(VALUES, **options)
    assert not list(tmp_path.iterdir())


def test_what_is_around_an_array_names_its_axes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the array was opened by its own path: coordinates beside it, or the axes of its OME-Zarr image."""
    texts: list[str] = []
    monkeypatch.setattr(Canvas, "text", lambda self, x, y, text, *rest, **more: texts.append(text))
    image = {"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": "0"}]}
    root = blizzarr.create_group(tmp_path / "a", attributes={"multiscales": [image]}, zarr_format=2)
    root.create_array("0", data=VALUES)
    root.create_array("lon", data=np.arange(6) * 30.0, attributes={"units": "degrees_east"})
    root.create_array("t2m", data=VALUES, dimension_names=["lat", "lon"])
    for name, expected in (("0", {"y", "x"}), ("t2m", {"lat", "lon (degrees_east)", "150"})):
        for array in (root[name], tmp_path / "a" / name):
            texts.clear()
            blizzarr.show(array)
            assert expected <= set(texts)
    # What merely lies in the same directory, without a group, is of something else.
    blizzarr.copy(root["t2m"], tmp_path / "t2m")
    blizzarr.copy(root["lon"], tmp_path / "lon")
    texts.clear()
    blizzarr.show(tmp_path / "t2m")
    assert "lon" in texts


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_an_image_is_shown_by_one_of_its_levels(tmp_path: Path, version: str) -> None:
    """The coarsest that has as many elements as the picture has pixels; levels that are not there are left out."""
    paths = ["s0", "gone", "s1", "s2", "../outside"]
    image = {"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": path} for path in paths]}
    attributes = {"multiscales": [{**image, "version": "0.4"}]}
    if version == "0.5":
        attributes = {"ome": {"version": "0.5", "multiscales": [image]}}
    group = blizzarr.create_group(tmp_path / "i", zarr_format=2 if version == "0.4" else 3, attributes=attributes)
    for path, length in (("s0", 40), ("s1", 20), ("s2", 10)):
        group.create_array(path, data=np.arange(length**2).reshape(length, length))
    for size, level in ((21, "s0"), (20, "s1"), (10, "s2"), (720, "s0")):
        expected = blizzarr.show(group[level], size=size)
        np.testing.assert_array_equal(blizzarr.show(group, size=size), expected)
        np.testing.assert_array_equal(blizzarr.show(tmp_path / "i", size=size), expected)


def test_no_array_there(tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path / "g.zarr")
    with pytest.raises(NodeTypeError, match=r"found a group; show one of its arrays, like group\[name\]"):
        blizzarr.show(group, tmp_path / "x.png")
    with pytest.raises(NodeTypeError, match="expected an array, found a group"):
        blizzarr.show(tmp_path / "g.zarr", tmp_path / "x.png")
    with pytest.raises(NodeNotFoundError):
        blizzarr.show(tmp_path / "nothing.zarr", tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs a limit for the length of files")
def test_a_picture_that_would_be_cut_is_removed(tmp_path: Path) -> None:
    """RLIMIT_FSIZE stands for a full disk: the error names the file."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            blizzarr.show(VALUES, tmp_path / "x.png", size=120)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []

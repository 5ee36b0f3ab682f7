"""``show``: the picture of what is selected, and its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import blizzarr
from blizzarr.display.glyphs import draw
from support.png import decode

Run = Callable[..., "tuple[int, str, str, bytes]"]


def test_show_of_an_image_of_ome_zarr(run: Run, tmp_path: Path) -> None:
    """A level is chosen, and what is selected of it is drawn; labels are a group of images."""
    image = {"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": "s0"}, {"path": "s1"}]}
    root = blizzarr.create_group(
        tmp_path / "i.ome.zarr", attributes={"ome": {"version": "0.5", "multiscales": [image]}}
    )
    for path, length in (("s0", 200), ("s1", 100)):
        root.create_array(path, data=np.arange(length**2).reshape(length, length))
    said = run("show", tmp_path / "i.ome.zarr", ":50", "--size", 64, "-o", tmp_path / "a.png")
    assert (said.code, said.err.endswith(" pixels\n")) == (0, True)
    run("show", tmp_path / "i.ome.zarr/s1", ":50", "--size", 64, "-o", tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    root.create_group("labels")
    refused = run("show", tmp_path / "i.ome.zarr/labels", "-o", tmp_path / "c.png")
    assert (refused.code, "expected an array, found a group with nothing in it" in refused.err) == (1, True)


def test_show(run: Run, data: Path) -> None:
    code, out, err, _ = run("show", f"{data}/brain/t1[0]", "-o", "x.png", "--cmap", "gray", "--size", 100)
    assert (code, out) == (0, "")
    pixels = decode(Path("x.png").read_bytes())
    assert err == f"x.png: {pixels.shape[1]} x {pixels.shape[0]} pixels\n"
    assert pixels.dtype == np.uint8
    # A middle row of the image holds one grey for each of the ten elements, ten pixels each.
    greys = [row for row in pixels if (np.diff(row[:, 0].astype(int)) > 0).sum() >= 9]
    assert greys
    title = draw("data.zarr/brain/t1[0]   8 \xd7 10 uint16 (a.u.)")
    assert np.array_equal(pixels[16 : 16 + len(title), 16 : 16 + title.shape[1], 0] < 128, title)


def test_show_names_the_file_after_the_array(run: Run, data: Path) -> None:
    assert run("show", f"{data}/series").code == 0
    assert decode(Path("series.png").read_bytes()).ndim == 3


def test_show_replaces_only_a_file_that_is_named(run: Run, data: Path) -> None:
    Path("series.png").write_bytes(b"another picture")
    refused = run("show", f"{data}/series")
    assert (refused.code, Path("series.png").read_bytes()) == (1, b"another picture")
    assert refused.err.endswith("expected no file named series.png here, found one; -o series.png replaces it\n")
    assert run("show", f"{data}/series", "-o", "series.png").code == 0
    assert decode(Path("series.png").read_bytes()).ndim == 3

"""A picture of any array: a curve, an image, three orthogonal slices, or a sheet of slices.

===========================  =======================================================
region                       picture
===========================  =======================================================
one axis                     a curve
two axes                     an image with a colour bar
a last axis of 3 or 4 uint8  a colour image
three axes                   slices through the middle, one across each axis
three axes and ``axis=``     a sheet of slices along that axis
more axes                    the last three axes, at the middle of the other axes
===========================  =======================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from blizzarr.display import glyphs, panel
from blizzarr.display.canvas import INK, PALE, Canvas
from blizzarr.display.colours import Range, colour_table
from blizzarr.display.coordinates import Coordinates
from blizzarr.display.panel import BELOW, HEADING, LEFT, MARGIN
from blizzarr.display.region import Axis, Pictured, Region

_MOST_TILES: Final = 20


@dataclass(frozen=True, slots=True)
class Style:
    """The appearance of a picture."""

    cmap: str = "viridis"
    """A name of `COLOUR_MAPS`, perhaps with ``_r`` for the other direction."""
    low: str | None = None
    """The value of the first colour: a number, or a percentile like ``2%``."""
    high: str | None = None
    axis: int | str | None = None
    """Show slices along this axis, by number or name."""
    origin: Literal["upper", "lower"] | None = None
    """The first row is at the top with "upper", as in images, or at the bottom with "lower"; None puts north up."""
    size: int = 720
    """The width of the image of a two-dimensional array in pixels, approximately."""

    def puts_below(self, axis: Axis) -> bool:
        """True if the first index of a vertical axis is at the bottom."""
        if self.origin is None:
            return axis.coordinates is not None and axis.coordinates.rises_northward(axis.indices)
        return self.origin == "lower"


def render(
    array: Pictured,
    key: Any = ...,
    *,
    title: str = "",
    style: Style | None = None,
    coordinates: Mapping[int, Coordinates] | None = None,
    names: Sequence[str] | None = None,
) -> NDArray[np.uint8]:
    """Return a picture of an array, or of the part that a basic key selects, as RGB pixels.

    - `names`: those of the axes, if the array does not have them itself.
    """
    style = style or Style()
    # A misspelt name is an error, even for a curve.
    colour_table(style.cmap)
    region = Region.of(array, key, coordinates, names)
    if array.dtype.kind == "c":
        title = f"{title}   magnitude".strip()
    if not region.axes or any(len(axis) == 0 for axis in region.axes):
        what = "a single element" if not region.axes else f"the shape {tuple(map(len, region.axes))}"
        raise ValueError(f"expected something with an extent to make a picture of, found {what}")
    tiled = _position(region, style.axis) if style.axis is not None else None
    if tiled is not None and len(region.axes) < 3:
        raise ValueError(f"expected three axes or more to show slices along one, found {len(region.axes)}")
    coloured = _is_coloured(region)
    # Axes that cannot be shown are cut at their middle.
    while len(region.axes) > 3 + (coloured and tiled is not None):
        position = next(index for index in range(len(region.axes)) if index != tiled)
        tiled = tiled - 1 if tiled is not None and position < tiled else tiled
        region = region.at(position, len(region.axes[position]) // 2)
    if tiled is not None:
        return _sheet(region, tiled, title, style)
    if len(region.axes) == 1:
        return _curve(region, title, style)
    if len(region.axes) == 2 or coloured:
        return _panels([region], title, style, style.size)
    middles = [region.at(position, len(region.axes[position]) // 2) for position in range(3)]
    return _panels(middles, title, style, round(style.size * 2 / 3))


def _position(region: Region, axis: int | str) -> int:
    """Return the position, among the axes that are shown, of the axis that the user names."""
    text = str(axis)
    for position, candidate in enumerate(region.axes):
        if text in (candidate.name, str(candidate.number), str(candidate.number - len(region.names))):
            return position
    shown = ", ".join(f"{candidate.number} ({candidate.name})" for candidate in region.axes)
    raise ValueError(f"expected one of the axes {shown}, found {axis!r}")


def _is_coloured(region: Region) -> bool:
    last = region.axes[-1]
    whole_last = last.number == len(region.names) - 1
    return len(region.axes) >= 3 and len(last) in (3, 4) and whole_last and region.array.dtype == np.uint8


def _fits(regions: Sequence[Region], size: int) -> dict[int, panel.Fit]:
    """Return the fit of each axis of the array, which is the same in all panels."""
    axes = {axis.number: axis for region in regions for axis in region.axes[:2]}
    return dict(zip(axes, panel.fit([len(axis) for axis in axes.values()], size), strict=True))


def _paint(
    regions: Sequence[Region], style: Style, fits: dict[int, panel.Fit]
) -> tuple[list[NDArray[np.uint8]], Range | None, NDArray[np.uint8]]:
    """Return the images of regions, in colours of one common range, which a colour bar can show."""
    table, spread = colour_table(style.cmap), None
    samples = []
    for region in regions:
        # An axis of colours is read whole.
        steps = [fits[axis.number].step if number < 2 else 1 for number, axis in enumerate(region.axes)]
        samples.append(region.every(steps).affordable().read())
    if len(regions[0].axes) == 3:
        images = [_on_white(values) for values in samples]
    else:
        numbers = [regions[0].numbers(values) for values in samples]
        spread = Range.of(np.concatenate([values.ravel() for values in numbers]), style.low, style.high)
        images = [spread.apply(values, table) for values in numbers]
    return [_enlarge(image, region.axes, fits) for image, region in zip(images, regions, strict=True)], spread, table


def _on_white(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if colours.shape[2] == 3:
        return colours
    cover = colours[..., 3:].astype(np.float64) / 255
    return np.rint(colours[..., :3] * cover + 255 * (1 - cover)).astype(np.uint8)


def _enlarge(image: NDArray[np.uint8], axes: tuple[Axis, ...], fits: dict[int, panel.Fit]) -> NDArray[np.uint8]:
    """Return the image at its final size; every element becomes a box of pixels."""
    for number, axis in enumerate(axes[:2]):
        pixels = fits[axis.number].pixels(len(axis))
        image = image.take(np.arange(pixels) * image.shape[number] // pixels, axis=number)
    return image


def _headed(title: str, note: str, left: int, width: int, height: int) -> tuple[Canvas, int]:
    """Return a canvas with a title, a note below it, and room of this size; and where the room begins."""
    top = MARGIN + (HEADING if title else 0) + (HEADING if note else 0)
    canvas = Canvas(max(width, _width(title), _width(note)), top + height)
    canvas.text(MARGIN, MARGIN, title, INK)
    canvas.text(left, top - HEADING + 2, note, PALE)
    return canvas, top


def _panels(regions: list[Region], title: str, style: Style, size: int) -> NDArray[np.uint8]:
    """Draw images side by side, each with its axes, and one colour bar."""
    fits = _fits(regions, size)
    first = regions[0]
    images, spread, table = _paint(regions, style, fits)
    heads = len(regions) > 1
    tallest = max(image.shape[0] for image in images)
    rooms = [panel.room_left(region.axes[0], image.shape[0]) for image, region in zip(images, regions, strict=True)]
    room_right = panel.bar_room(first.array.dtype, spread, tallest) if spread else 0
    width = sum(rooms) + sum(image.shape[1] + MARGIN for image in images) + MARGIN + room_right
    # What all panels have in common would not fit above each of them.
    common = set.intersection(*(set(region.fixed) for region in regions)) if heads else set()
    above = HEADING if heads or first.fixed else 0
    canvas, top = _headed(title, first.describe_fixed(common), MARGIN, width, above + tallest + BELOW + MARGIN)
    top += above
    left = MARGIN // 2
    for image, region, room in zip(images, regions, rooms, strict=True):
        left += room
        canvas.text(left, top - HEADING + 2, region.describe_fixed(set(region.fixed) - common), PALE)
        vertical, horizontal = region.axes[:2]
        panel.draw_image(canvas, left, top, image, (vertical, horizontal), lower=style.puts_below(vertical))
        left += image.shape[1] + MARGIN
    if spread:
        panel.draw_bar(canvas, left + 4, top, tallest, table, spread, first.array.dtype)
    return canvas.pixels


def _sheet(region: Region, tiled: int, title: str, style: Style) -> NDArray[np.uint8]:
    """Draw slices along one axis, evenly spaced, in rows."""
    along = region.axes[tiled]
    count = min(len(along), _MOST_TILES)
    places = [round((number + 0.5) * len(along) / count - 0.5) for number in range(count)]
    slices = [region.at(tiled, index) for index in places]
    columns = math.ceil(math.sqrt(count * 1.25))
    rows = -(-count // columns)
    columns = -(-count // rows)
    images, spread, table = _paint(slices, style, _fits(slices, round(style.size * 1.6 / columns)))
    height, width = images[0].shape[:2]
    below = style.puts_below(slices[0].axes[0])
    step_x, step_y = width + MARGIN, height + HEADING + MARGIN // 2
    bar = rows * step_y - HEADING - MARGIN // 2
    total = MARGIN + columns * step_x + (panel.bar_room(region.array.dtype, spread, bar) if spread else 0)
    canvas, head = _headed(title, region.describe_fixed(), MARGIN, total, rows * step_y + MARGIN)
    for number, image in enumerate(images):
        left, top = MARGIN + number % columns * step_x, head + number // columns * step_y
        canvas.text(left, top + 2, region.describe(along.number, along.indices[places[number]]), PALE)
        canvas.paste(left, top + HEADING, image[::-1] if below else image)
    if spread:
        panel.draw_bar(canvas, MARGIN + columns * step_x, head + HEADING, bar, table, spread, region.array.dtype)
    return canvas.pixels


def _curve(region: Region, title: str, style: Style) -> NDArray[np.uint8]:
    """Draw the elements along one axis."""
    axis = region.axes[0]
    width, height = round(style.size * 1.25), round(style.size * 0.5)
    sampled = region.every([max(1, -(-len(axis) // (2 * width)))]).affordable()
    values = region.numbers(sampled.read())
    spread = Range.of(values, style.low or "0%", style.high or "100%")
    frame, labels = panel.frame_of_curve(region.array.dtype, spread, height)
    left = max([LEFT, *(_width(text) for _, text in labels)]) + MARGIN
    canvas, top = _headed(title, region.describe_fixed(), left, left + width + MARGIN + 24, height + BELOW + MARGIN)
    panel.draw_curve(canvas, (left, top, width, height), axis, values, frame, labels)
    return canvas.pixels


def _width(title: str) -> int:
    return 2 * MARGIN + int(glyphs.draw(title).shape[1])

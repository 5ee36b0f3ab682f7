"""One plot in a picture: an image, a curve or a colour bar, with its axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from blizzarr.display import glyphs
from blizzarr.display.canvas import FRAME, INK, PALE, Canvas, tick_texts, ticks
from blizzarr.display.colours import Range
from blizzarr.display.coordinates import index_ticks, time_ticks
from blizzarr.display.region import Axis

MARGIN: Final = 16
BAR_WIDTH: Final = 16
_AROUND_NUMBERS: Final = glyphs.HEIGHT + 14
LEFT: Final = 5 * glyphs.WIDTH + _AROUND_NUMBERS
"""The least room for the numbers and the name of the vertical axis."""
BELOW: Final = 2 * glyphs.HEIGHT + 14
"""The room for the numbers and the name of the horizontal axis."""
HEADING: Final = glyphs.HEIGHT + 10
_TICK: Final = 5
_CURVE: Final = (31, 104, 172)
_DOT: Final = 5.0
_GRID: Final = (232, 233, 237)
_SLIMMEST: Final = 4
"""A side may be this many times shorter than the other before the picture is stretched."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The way from elements to pixels along an axis: every `step`-th element, each `scale` pixels wide."""

    step: int
    scale: int

    @classmethod
    def of(cls, length: int, size: int) -> Self:
        """Return the fit that fills `size` pixels as well as whole numbers allow."""
        # A panel that is a quarter too large is better than one with half of the elements.
        return cls(max(1, -(-length // (size + size // 4))), max(1, min(size // max(1, length), 64)))

    def pixels(self, length: int) -> int:
        """Return the number of pixels for this many elements."""
        return -(-length // self.step) * self.scale


def fit(lengths: list[int], size: int) -> list[Fit]:
    """Return one fit for all axes, so that lengths are comparable; a very short axis gets a fit of its own."""
    common = Fit.of(max(lengths), size)
    return [
        common if common.pixels(length) * _SLIMMEST >= size else Fit.of(length, max(1, size // _SLIMMEST))
        for length in lengths
    ]


def draw_image(
    canvas: Canvas, left: int, top: int, image: NDArray[np.uint8], axes: tuple[Axis, Axis], *, lower: bool
) -> None:
    """Draw an image of given pixels, whose axes have coordinates or the indices of the array as labels.

    - `left`, `top`: the corner of the image itself; the labels lie outside.
    - `axes`: the vertical and the horizontal one, before sampling.
    - `lower`: whether index 0 of the vertical axis is at the bottom.
    """
    height, width = image.shape[:2]
    canvas.paste(left, top, image[::-1] if lower else image)
    for pixel, text in _axis_ticks(axes[1], width):
        canvas.fill(left + pixel, top + height + 1, 1, _TICK, FRAME)
        canvas.text(left + pixel, top + height + _TICK + 3, text, PALE, 0.5)
    canvas.text(left + width // 2, top + height + _TICK + 5 + glyphs.HEIGHT, _title(axes[1]), INK, 0.5)
    for pixel, text in _axis_ticks(axes[0], height, upright=True):
        y = top + (height - 1 - pixel if lower else pixel)
        canvas.fill(left - 1 - _TICK, y, _TICK, 1, FRAME)
        canvas.text(left - _TICK - 4, y - glyphs.HEIGHT // 2, text, PALE, 1.0)
    room = room_left(axes[0], height)
    canvas.text(left - room + 2, top + height // 2, _title(axes[0]), INK, 0.5, upright=True)


def room_left(axis: Axis, height: int) -> int:
    """Return the room for the texts and the name of a vertical axis."""
    widths = [glyphs.draw(text).shape[1] for _, text in _axis_ticks(axis, height, upright=True)]
    return max(LEFT, max(widths, default=0) + _AROUND_NUMBERS)


def _title(axis: Axis) -> str:
    unit = "" if axis.coordinates is None else axis.coordinates.unit
    return f"{axis.name} ({unit})" if unit else axis.name


def _axis_ticks(axis: Axis, pixels: int, *, upright: bool = False) -> list[tuple[int, str]]:
    """Return pairs of pixel and text, at round coordinates or indices; texts must not run into each other."""
    last = axis.indices[-1]
    # The last one of rising numbers is the widest, except for a sign.
    longest = len(str(last)) if axis.coordinates is None else len(axis.coordinates.text(last)) + 1
    wanted = max(2, pixels // ((3 * glyphs.HEIGHT) if upright else glyphs.WIDTH * (longest + 4)))
    if axis.coordinates is None:
        ticks = [(position, str(index)) for position, index in index_ticks(axis.indices, wanted)]
    else:
        ticks = axis.coordinates.ticks(axis.indices, wanted)
    return [(int((position + 0.5) * pixels / len(axis)), text) for position, text in ticks]


def bar_room(dtype: np.dtype[Any], spread: Range, height: int) -> int:
    """Return the room for a colour bar with its texts."""
    longest = max((len(text) for _, text in bar_ticks(dtype, spread, max(2, height // 60))), default=0)
    return BAR_WIDTH + max(14 if dtype.kind == "M" else 9, longest + 1) * glyphs.WIDTH + 12


def bar_ticks(dtype: np.dtype[Any], spread: Range, wanted: int) -> list[tuple[float, str]]:
    """Return pairs of a number and the text of its element."""
    if dtype.kind == "b":
        return [
            (number, text) for number, text in ((0.0, "False"), (1.0, "True")) if spread.low <= number <= spread.high
        ]
    if dtype.kind == "M" and spread.high > spread.low:
        # 1024 is how far apart floating point is there.
        edges = np.clip([spread.low, spread.high], -(2**63) + 1024, 2**63 - 1024)
        first, last = edges.astype(np.int64).view(dtype)
        return [(float(time.astype(dtype).astype(np.int64)), text) for time, text in time_ticks(first, last, wanted)]
    values = ticks(spread.low, spread.high, wanted)
    return list(zip(values, tick_texts(values), strict=True))


def draw_bar(
    canvas: Canvas, left: int, top: int, height: int, table: NDArray[np.uint8], spread: Range, dtype: np.dtype[Any]
) -> None:
    """Draw a colour bar for elements of a data type, the highest value at the top; two values get two colours."""
    shares = np.linspace(1, 0, height)
    rows = np.rint(255 * (shares > 0.5 if dtype.kind == "b" else shares)).astype(int)
    canvas.paste(left, top, np.repeat(table[rows][:, None], BAR_WIDTH, axis=1))
    for value, text in bar_ticks(dtype, spread, max(2, height // 60)):
        part = (value - spread.low) / (spread.high - spread.low) if spread.high > spread.low else 0.0
        y = top + round((1 - part) * (height - 1))
        canvas.fill(left + BAR_WIDTH + 1, y, _TICK, 1, FRAME)
        canvas.text(left + BAR_WIDTH + _TICK + 4, y - glyphs.HEIGHT // 2, text, PALE)


def frame_of_curve(dtype: np.dtype[Any], spread: Range, height: int) -> tuple[Range, list[tuple[float, str]]]:
    """Return the values at the edges of a curve's frame, which the curve does not touch, and the texts between them."""
    # Around a constant the frame is wide enough for floating point to tell its edges apart.
    around = 0.0 if spread.high > spread.low else max(0.5, abs(spread.low) * 1e-9)
    room = around + (spread.high - spread.low + 2 * around) * 0.04
    frame = Range(spread.low - room, spread.high + room)
    return frame, bar_ticks(dtype, frame, max(2, height // 60))


def draw_curve(
    canvas: Canvas,
    box: tuple[int, int, int, int],
    axis: Axis,
    values: NDArray[np.floating[Any]],
    frame: Range,
    labels: list[tuple[float, str]],
) -> None:
    """Draw values along an axis, as a curve over a pale grid; `box` is left, top, width and height."""
    left, top, width, height = box
    low, high = frame.low, frame.high
    canvas.fill(left - 1, top - 1, width + 2, height + 2, FRAME)
    canvas.fill(left, top, width, height, (255, 255, 255))
    for value, text in labels:
        y = top + round((high - value) / (high - low) * (height - 1))
        canvas.fill(left, y, width, 1, _GRID)
        canvas.text(left - _TICK - 4, y - glyphs.HEIGHT // 2, text, PALE, 1.0)
    for pixel, text in _axis_ticks(axis, width):
        canvas.fill(left + pixel, top, 1, height, _GRID)
        canvas.text(left + pixel, top + height + _TICK + 3, text, PALE, 0.5)
    canvas.text(left + width // 2, top + height + _TICK + 5 + glyphs.HEIGHT, _title(axis), INK, 0.5)
    xs = left + (np.arange(len(values)) + 0.5) * width / len(values)
    ys = top + np.clip((high - values) / (high - low), 0, 1) * (height - 1)
    there = np.isfinite(values)
    canvas.line(xs, np.where(there, ys, np.nan), _CURVE)
    # A value between two gaps has no line to either side.
    beside = np.pad(there, 1)
    for alone in np.flatnonzero(there & ~beside[:-2] & ~beside[2:]):
        canvas.line(xs[[alone, alone]], ys[[alone, alone]], _CURVE, _DOT)

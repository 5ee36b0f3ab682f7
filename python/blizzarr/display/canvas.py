"""A picture on which panels, lines and text are drawn."""

from __future__ import annotations

import math
import sys
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from blizzarr.display import glyphs

Colour: TypeAlias = tuple[int, int, int]

INK: Final[Colour] = (32, 33, 36)
PALE: Final[Colour] = (108, 112, 120)
FRAME: Final[Colour] = (150, 153, 160)
_PAPER: Final = 255


class Canvas:
    """White paper of a given size; drawings beyond its edges are cut off."""

    def __init__(self, width: int, height: int) -> None:
        self.pixels: NDArray[np.uint8] = np.full((height, width, 3), _PAPER, np.uint8)

    def fill(self, left: int, top: int, width: int, height: int, colour: Colour) -> None:
        """Draw a filled box."""
        self.pixels[max(0, top) : max(0, top + height), max(0, left) : max(0, left + width)] = colour

    def paste(self, left: int, top: int, image: NDArray[np.uint8]) -> None:
        """Draw an image, with a thin frame around it."""
        height, width = image.shape[:2]
        self.fill(left - 1, top - 1, width + 2, height + 2, FRAME)
        self.pixels[top : top + height, left : left + width] = image

    def text(self, x: int, y: int, text: str, colour: Colour = INK, align: float = 0.0, upright: bool = False) -> None:
        """Draw a line of text with its top at `y`; `x` is its left end (align 0), middle (0.5) or right end (1).

        With `upright` it is turned to be read from below: `x` is its left side and `y` its lower end, middle, or top.
        """
        marks = glyphs.draw(text)
        if upright:
            marks = np.rot90(marks)
            y -= round(marks.shape[0] * (1 - align))
        else:
            x -= round(marks.shape[1] * align)
        top, left = max(0, -y), max(0, -x)
        room = self.pixels[max(0, y) :, max(0, x) :]
        marks = marks[top : top + room.shape[0], left : left + room.shape[1]]
        room[: marks.shape[0], : marks.shape[1]][marks] = colour

    def line(
        self, xs: NDArray[np.floating[Any]], ys: NDArray[np.floating[Any]], colour: Colour, width: float = 1.6
    ) -> None:
        """Draw a smoothed line through points, with a gap at each coordinate that is not a number."""
        for x0, y0, x1, y1 in zip(xs[:-1], ys[:-1], xs[1:], ys[1:], strict=True):
            if np.isfinite((x0, y0, x1, y1)).all():
                self._segment(float(x0), float(y0), float(x1), float(y1), colour, width / 2)

    def _segment(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, radius: float) -> None:
        reach = radius + 1
        left, right = math.floor(min(x0, x1) - reach), math.ceil(max(x0, x1) + reach) + 1
        top, bottom = math.floor(min(y0, y1) - reach), math.ceil(max(y0, y1) + reach) + 1
        left, top = max(0, left), max(0, top)
        room = self.pixels[top:bottom, left:right]
        if not room.size:
            return
        ys, xs = np.mgrid[top : top + room.shape[0], left : left + room.shape[1]]
        dx, dy = x1 - x0, y1 - y0
        length = dx * dx + dy * dy
        # The position of the nearest point along the segment, then the distance to that point.
        along = np.clip(((xs - x0) * dx + (ys - y0) * dy) / length, 0, 1) if length else np.zeros(xs.shape)
        distance = np.hypot(xs - x0 - along * dx, ys - y0 - along * dy)
        cover = np.clip(radius + 0.5 - distance, 0, 1)[..., None]
        # Ink that is already on the paper stays: neighbouring segments overlap at their joint.
        inked = room * (1 - cover) + np.array(colour) * cover
        room[:] = np.minimum(room, np.rint(inked).astype(np.uint8))


def ticks(low: float, high: float, wanted: int) -> list[float]:
    """Return about `wanted` round numbers from `low` to `high`."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    rough = span / max(1, wanted)
    if rough < sys.float_info.min:
        # Between numbers as small as these there are no round ones.
        return [low, high]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last <= first and wanted < 8:
        # A single number does not show how much there is between two others.
        return ticks(low, high, wanted + 1)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def tick_texts(values: list[float]) -> list[str]:
    """Return the numbers of ticks as short texts, with as many digits as tell them apart.

    >>> tick_texts([101_300.0, 101_350.0, 101_400.0]), tick_texts([273.15, 273.150001])
    (['1.013e5', '1.0135e5', '1.014e5'], ['273.15', '273.150001'])
    """
    texts: list[str] = []
    for more in range(10):
        texts = [tick_text(value, more) for value in values]
        if len(set(texts)) == len(texts):
            break
    return texts


def tick_text(value: float, more: int = 0) -> str:
    """Return the number of a tick as short text, with `more` digits than usual.

    >>> tick_text(250.0), tick_text(0.30000000000000004), tick_text(1e9), tick_text(12_500.0)
    ('250', '0.3', '1e9', '12500')
    """
    text = f"{value:.{6 + more}g}"
    if "e" not in text and abs(value) >= 1e5:
        text = f"{value:.{3 + more}e}"
        mantissa, _, exponent = text.partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"
    mantissa, exp, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exp else mantissa

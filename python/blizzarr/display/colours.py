"""Turning numbers into colours: a few colour maps, and the range of values that a colour map covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from blizzarr.keywords import nearest

COLOUR_MAPS: Final[dict[str, str]] = {
    "viridis": "440154 481567 482677 453781 404788 39568c 33638d 2d708e 287d8e 238a8d "
    "1f968b 20a387 29af7f 3cbb75 55c667 73d055 95d840 b8de29 dce319 fde725",
    "magma": "000004 140e36 3b0f70 641a80 8c2981 b73779 de4968 f7705c fe9f6d fecf92 fcfdbf",
    "gray": "000000 ffffff",
    "RdBu": "67001f b2182b d6604d f4a582 fddbc7 f7f7f7 d1e5f0 92c5de 4393c3 2166ac 053061",
}
"""Evenly spaced colours, with interpolation between them, under Matplotlib's names.

A name that ends with ``_r`` reverses the colour map.
"""

MISSING_COLOUR: Final = (205, 205, 210)
"""The colour of not-a-numbers."""


def colour_table(name: str) -> NDArray[np.uint8]:
    """Return the 256 colours of a colour map."""
    listed = COLOUR_MAPS.get(name.removesuffix("_r"))
    if listed is None:
        return _table_of_matplotlib(name)
    anchors = np.array([list(bytes.fromhex(colour)) for colour in listed.split()], float)
    places = np.linspace(0, len(anchors) - 1, 256)
    table = np.stack([np.interp(places, np.arange(len(anchors)), anchors[:, part]) for part in range(3)], axis=1)
    colours: NDArray[np.uint8] = np.rint(table[::-1] if name.endswith("_r") else table).astype(np.uint8)
    return colours


def _table_of_matplotlib(name: str) -> NDArray[np.uint8]:
    names = f"{', '.join(COLOUR_MAPS)} (or one with _r)"
    close = nearest(name, COLOUR_MAPS)
    found = f"found {name!r}" + (f"; did you mean {close!r}?" if close else "")
    try:
        from matplotlib import colormaps  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ValueError(f"expected one of the colour maps {names}, or Matplotlib with more, {found}") from None
    if name not in colormaps:
        raise ValueError(f"expected one of the colour maps {names}, or one of Matplotlib's, {found}")
    table: NDArray[np.uint8] = colormaps[name](np.linspace(0, 1, 256), bytes=True)[:, :3]
    return table


@dataclass(frozen=True, slots=True)
class Range:
    """The values of the first and the last colour."""

    low: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.floating[Any]], low: str | None = None, high: str | None = None) -> Self:
        """Return the range of these values, without not-a-numbers; of nothing else, it is NaN.

        `low` and `high` are numbers, or percentiles like ``"2%"``; by default ``0.2%`` and ``99.8%``, so that a
        few outliers do not take all the colours. If all values lie beyond a number, it is both ends.

        >>> Range.of(np.arange(101.0), "10%", "75"), Range.of(np.arange(3.0), "7")
        (Range(low=10.0, high=75.0), Range(low=7.0, high=7.0))
        >>> Range.of(np.arange(3.0), "5", "1")
        Traceback (most recent call last):
        ...
        ValueError: expected vmin of at most vmax, found 5 and 1; _r at the end of the colour map reverses it
        """
        finite = values[np.isfinite(values)]
        first = _limit(finite, low if low is not None else "0.2%")
        last = _limit(finite, high if high is not None else "99.8%")
        if low is None and high is None and first == last and finite.size:
            first, last = float(finite.min()), float(finite.max())
        if first > last:
            given = [text for text in (low, high) if text is not None and not text.strip().endswith("%")]
            if len(given) == 2:
                reverses = "_r at the end of the colour map reverses it"
                raise ValueError(f"expected vmin of at most vmax, found {low} and {high}; {reverses}")
            first = last = float(given[0]) if given else first
        return cls(first, last)

    def apply(self, values: NDArray[np.floating[Any]], table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the colours of values: the nearest colour outside the range, a light grey for not-a-numbers."""
        low = 0.0 if np.isnan(self.low) else self.low
        width = self.high - low
        with np.errstate(invalid="ignore", over="ignore"):
            places = (values - low) / (width if abs(width) > 0 else 1.0) * 255
        missing = np.isnan(places)
        colours: NDArray[np.uint8] = table[np.rint(np.clip(np.where(missing, 0, places), 0, 255)).astype(np.uint8)]
        colours[missing] = MISSING_COLOUR
        return colours


def _limit(finite: NDArray[np.floating[Any]], text: str) -> float:
    number = text.strip().removesuffix("%")
    try:
        value = float(number)
    except ValueError:
        raise ValueError(f"expected a number or a percentile like 2%, found {text!r}") from None
    if not text.strip().endswith("%"):
        return value
    if not 0 <= value <= 100:
        raise ValueError(f"expected a percentile from 0% to 100%, found {text!r}")
    return float(np.percentile(finite, value)) if finite.size else np.nan

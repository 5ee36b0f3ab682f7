"""Coordinates along the axes of a picture: numbers, times and texts in place of indices.

As in netCDF, they are the elements of the array that has the name of a dimension, packed by the attributes
``scale_factor`` and ``add_offset``, and times as numbers with units like ``days since 2001-01-01``. The attributes also
tell which coordinates increase towards the north.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from blizzarr.display.canvas import tick_text, tick_texts, ticks

_LONGEST: Final = 16
"""The most characters of a text."""
_UNITS: Final = {"day": 86400e6, "hour": 3600e6, "minute": 60e6, "second": 1e6, "millisecond": 1e3, "microsecond": 1.0}
"""The length of each unit in microseconds."""
_SINCE: Final = re.compile(r"(\w+?)s? since (\d{1,4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2}))?)?")
_NORTHWARD: Final = {
    "axis": ("Y",),
    "standard_name": ("latitude", "grid_latitude", "projection_y_coordinate"),
    "units": ("degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"),
}
"""Attributes of coordinates that increase towards the north, as the conventions CF have them."""
_LATITUDES: Final = ("lat", "latitude")
"""The names of such coordinates where no attribute tells."""
_CALENDARS: Final = (None, "standard", "gregorian", "proleptic_gregorian")


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The coordinates of all indices along an axis."""

    values: NDArray[Any]
    unit: str = ""
    northward: bool = field(default=False, repr=False)
    """True if the coordinates increase towards the north."""

    @classmethod
    def of(cls, values: NDArray[Any], attributes: Mapping[str, Any], name: str = "") -> Self:
        """Return the coordinates in an array with these attributes and this name.

        >>> Coordinates.of(np.array([0, 36]), {"units": "hours since 2001-01-01"}).text(1)
        '2001-01-02T12'
        >>> Coordinates.of(np.array([2, 4]), {"units": "m", "scale_factor": 0.5})
        Coordinates(values=array([1., 2.]), unit='m')
        """
        unit = attributes.get("units")
        unit = unit if isinstance(unit, str) else ""
        if values.dtype.kind in "iuf":
            values = unpacked(values, attributes)
            times = _times(values, unit) if attributes.get("calendar") in _CALENDARS else None
            if times is not None:
                return cls(times)
        northward = name.lower() in _LATITUDES or any(attributes.get(key) in terms for key, terms in _NORTHWARD.items())
        return cls(values, unit, northward and values.dtype.kind in "iuf")

    def rises_northward(self, indices: range) -> bool:
        """Return whether later ones of these indices are further north."""
        return self.northward and bool(self.values[indices[0]] < self.values[indices[-1]])

    def text(self, index: int) -> str:
        """Return the coordinate of an index as text."""
        value = self.values[index]
        if self.values.dtype.kind == "M":
            return str(np.datetime_as_string(value, unit=_precision(self.values)))
        if self.values.dtype.kind in "iuf" and np.isfinite(value):
            return tick_text(float(value))
        text = str(value)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "~"

    def ticks(self, indices: range, wanted: int) -> list[tuple[float, str]]:
        """Return about so many pairs of a place among the indices and the text there, at round numbers if possible."""
        values = self.values[indices.start : indices.stop if indices.stop >= 0 else None : indices.step]
        if values.dtype.kind == "M" and len(values) > 1 and not np.isnat(values).any():
            steps = np.diff(values.astype("M8[us]")).astype(int)
            if (steps > 0).all() or (steps < 0).all():
                order = np.argsort(values)
                times = time_ticks(values[order[0]], values[order[-1]], wanted)
                counts = [values[order].astype("M8[us]"), np.array([time for time, _ in times], "M8[us]")]
                places = np.interp(counts[1].astype(float), counts[0].astype(float), np.arange(len(values))[order])
                return [(float(position), text) for position, (_, text) in zip(places, times, strict=True)]
        if values.dtype.kind in "iuf" and len(values) > 1:
            steps = np.diff(values.astype(float))
            if np.isfinite(steps).all() and ((steps > 0).all() or (steps < 0).all()):
                order = np.argsort(values)
                places = np.arange(len(values))[order]
                round_ones = ticks(float(values[order[0]]), float(values[order[-1]]), wanted)
                at = np.interp(round_ones, values[order], places).tolist()
                return list(zip(at, tick_texts(round_ones), strict=True))
        return [(position, self.text(index)) for position, index in index_ticks(indices, wanted)]


def unpacked(values: NDArray[Any], attributes: Mapping[str, Any]) -> NDArray[Any]:
    """Return the numbers that are packed by the attributes ``scale_factor`` and ``add_offset``."""
    for name, operation in (("scale_factor", np.multiply), ("add_offset", np.add)):
        number = attributes.get(name)
        if isinstance(number, list) and len(number) == 1:
            # NCZarr stores attributes as lists.
            number = number[0]
        values = operation(values, float(number)) if isinstance(number, int | float) else values
    return values


_ROUND_TIMES: Final = (
    *(("Y", step) for step in (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)),
    *(("M", step) for step in (6, 3, 1)),
    *(("D", step) for step in (10, 5, 2, 1)),
    *(("h", step) for step in (12, 6, 3, 1)),
    *((unit, step) for unit in ("m", "s") for step in (30, 10, 5, 1)),
)
"""Units and how many of each, coarsest first."""


_MOST_TIMES: Final = 1_000_000


def time_ticks(first: Any, last: Any, wanted: int) -> list[tuple[Any, str]]:
    """Return at most so many pairs of a round time from the first to the last one, and its text; at least the first.

    >>> [text for _, text in time_ticks(np.datetime64("1999-12-20T05"), np.datetime64("2000-03-28T07"), 5)]
    ['2000-01', '2000-02', '2000-03']
    """
    made: list[tuple[Any, str]] = []
    for unit, step in _ROUND_TIMES:
        start, stop = (time.astype(f"M8[{unit}]") for time in (first, last))
        if int(stop.astype(np.int64)) - int(start.astype(np.int64)) > _MOST_TIMES:
            break
        times = np.append(np.arange(start, stop), stop)
        # Days are counted within their month.
        counts = times - times.astype("M8[M]").astype("M8[D]") if unit == "D" else times
        numbers = counts.astype(np.int64) + (1970 if unit == "Y" else 0)
        is_round = numbers % step == 0
        if unit == "D":
            is_round &= numbers + step <= 31
        kept = times[is_round & (times >= first) & (times <= last)]
        if len(kept) > wanted:
            break
        if len(kept) > 1 or not made:
            made = [(time, str(time)) for time in kept]
    return made or [(first, str(first))]


def index_ticks(indices: range, wanted: int) -> list[tuple[float, int]]:
    """Return about so many pairs of a place among the indices, and a round index there.

    >>> index_ticks(range(100, 200), 3)
    [(0.0, 100), (50.0, 150)]
    """
    first, last = indices[0], indices[-1]
    if first == last:
        return [(0.0, first)]
    at = ticks(min(first, last), max(first, last), wanted)
    return [((value - first) / (last - first) * (len(indices) - 1), int(value)) for value in at if value.is_integer()]


def _times(values: NDArray[Any], unit: str) -> NDArray[np.datetime64] | None:
    """Return the times that numbers with this unit stand for; None if it is not a unit of times."""
    match = _SINCE.match(unit)
    if match is None or match[1] not in _UNITS or not np.isfinite(values).all():
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[1:])
    try:
        start = np.datetime64(f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", "us")
    except ValueError:
        return None
    if float(np.abs(values.astype(float)).max(initial=0)) * _UNITS[match[1]] > 2**60:
        return None
    times: NDArray[np.datetime64] = start + np.rint(values.astype(float) * _UNITS[match[1]]).astype("m8[us]")
    return times


def _precision(times: NDArray[Any]) -> Any:
    """Return the coarsest unit in which all times have their own text."""
    given = np.datetime_data(times.dtype)[0]
    for unit in ("Y", "M", "D", "h", "m", "s", "ms", "us"):
        if unit == given or (times.astype(f"M8[{unit}]").astype(times.dtype) == times).all():
            return unit
    return given

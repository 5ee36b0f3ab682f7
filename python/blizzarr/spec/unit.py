"""Physical units of dimensions: a number times a base unit, which is a text without further meaning.

At the end: the units of all dimensions, some of which may not be known, merged, also over layers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

from blizzarr.errors import SpecError
from blizzarr.json_members import as_float, as_text, at_position
from blizzarr.json_values import MISSING, expected, plain, quote

UnitLike: TypeAlias = "Unit | float | str | tuple[float, str]"

_NUMBER = re.compile(r"([-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)[\t\n\f\r ]*")
_BLANK = " \t\n\v\f\r"


class Unit:
    """A physical quantity, like 4 nm.

    Examples
    --------
    >>> Unit("4nm"), Unit(4, "nm"), Unit((4, "nm")), Unit(json=[4, "nm"]), Unit(3.5), Unit()
    (Unit(4, "nm"), Unit(4, "nm"), Unit(4, "nm"), Unit(4, "nm"), Unit(3.5, ""), Unit(1, ""))
    >>> Unit("3.5nm") * 2, Unit("7nm") / 2, str(Unit("7nm"))
    (Unit(7, "nm"), Unit(3.5, "nm"), '7 nm')
    """

    __slots__ = ("_base_unit", "_multiplier")

    def __init__(
        self, multiplier: UnitLike = 1, base_unit: str | None = None, *, unit: Any = MISSING, json: Any = MISSING
    ) -> None:
        if json is not MISSING:
            self._multiplier, self._base_unit = _of_json(plain(json))
        elif base_unit is None:
            self._multiplier, self._base_unit = _of_argument(multiplier if unit is MISSING else unit)
        else:
            self._multiplier, self._base_unit = _pair((multiplier, base_unit))

    @property
    def multiplier(self) -> float:
        """The factor of the base unit."""
        return self._multiplier

    @property
    def base_unit(self) -> str:
        """The base unit; empty for a quantity without a dimension."""
        return self._base_unit

    def to_json(self) -> list[Any]:
        """Return the number and the base unit.

        Examples
        --------
        >>> Unit("3nm").to_json()
        [3.0, 'nm']
        """
        return [self._multiplier, self._base_unit]

    def __mul__(self, multiplier: float) -> Unit:
        return Unit(self._multiplier * float(multiplier), self._base_unit)

    def __truediv__(self, divisor: float) -> Unit:
        return Unit(self._multiplier / float(divisor), self._base_unit)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Unit):
            raise TypeError(f"a Unit cannot be compared with {other!r}")
        return (self._multiplier, self._base_unit) == (other._multiplier, other._base_unit)

    def __repr__(self) -> str:
        return f"Unit({self._multiplier:g}, {quote(self._base_unit)})"

    def __str__(self) -> str:
        if not self._base_unit:
            return f"{self._multiplier:g}"
        return self._base_unit if self._multiplier == 1 else f"{self._multiplier:g} {self._base_unit}"

    def __reduce__(self) -> tuple[Any, ...]:
        return Unit, (self._multiplier, self._base_unit)


def _of_argument(value: Any) -> tuple[float, str]:
    if isinstance(value, str | bytes):
        return _of_text(value if isinstance(value, str) else value.decode())
    if isinstance(value, Sequence):
        return _pair(value)
    if isinstance(value, SupportsFloat | SupportsIndex):
        return float(value), ""
    raise TypeError(f"expected a unit: a number, a text, or a pair of them; found {value!r}")


def _pair(value: Any) -> tuple[float, str]:
    if len(value) != 2 or not isinstance(value[0], SupportsFloat | SupportsIndex) or not isinstance(value[1], str):
        raise TypeError(f"expected a number and a base unit, found {value!r}")
    return float(value[0]), value[1]


def _of_text(text: str) -> tuple[float, str]:
    text = text.strip(_BLANK)
    number = _NUMBER.match(text)
    # A number that no float can hold is part of the base unit.
    if number is None or math.isinf(multiplier := float(number[1])):
        return 1.0, text
    return multiplier, text[number.end() :]


def _of_json(value: Any) -> tuple[float, str]:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), ""
    if not isinstance(value, list):
        raise expected(value, "array")
    if len(value) != 2:
        raise SpecError(f"Array has length {len(value)} but should have length 2")
    return at_position(0, value, _positive), at_position(1, value, as_text)


def _positive(value: Any) -> float:
    number = as_float(value)
    if not (number > 0 and math.isfinite(number)):
        raise expected(number, "finite positive number")
    return number


DimensionUnits: TypeAlias = tuple[Unit | None, ...]
"""A unit for each dimension."""


def merge_units(known: DimensionUnits, new: DimensionUnits) -> DimensionUnits:
    """Merge the units of both, which must have the same number of dimensions unless one is empty."""
    known = known or (None,) * len(new)
    for mine, theirs in zip(known, new, strict=True):
        if mine is not None and theirs is not None and mine != theirs:
            raise SpecError(f"Cannot merge dimension units {units_shown(new)} and {units_shown(known)}")
    return tuple(theirs if mine is None else mine for mine, theirs in zip(known, new, strict=True))


def common_units(given: DimensionUnits | None, layers: Iterable[DimensionUnits | None]) -> DimensionUnits | None:
    """Return the units that were given, and for other dimensions those that all layers agree on, or None."""
    common = list(given or ())
    closed = {dim for dim, unit in enumerate(common) if unit is not None}
    for units in layers:
        common += [None] * (len(units or ()) - len(common))
        for dim, unit in enumerate(units or ()):
            if unit is None or dim in closed:
                continue
            if common[dim] is not None and common[dim] != unit:
                closed.add(dim)
                unit = None
            common[dim] = unit
    return tuple(common) or None


def units_shown(units: Sequence[Unit | None]) -> str:
    return f"[{', '.join('null' if unit is None else quote(str(unit)) for unit in units)}]"

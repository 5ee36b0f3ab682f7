"""The units of all dimensions, some of which may not be known: merged, also over layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from blizzarr.errors import SpecError
from blizzarr.json_values import quote
from blizzarr.spec.unit import Unit

DimensionUnits: TypeAlias = tuple[Unit | None, ...]
"""A unit for each dimension."""


def merge_units(known: DimensionUnits, new: DimensionUnits) -> DimensionUnits:
    """Merge the units of both, which must have the same number of dimensions unless one is empty.

    >>> merge_units((Unit("nm"), None), (None, Unit("s")))
    (Unit(1, "nm"), Unit(1, "s"))
    >>> merge_units((Unit("nm"),), (Unit("s"),))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Cannot merge dimension units ["s"] and ["nm"]
    """
    known = known or (None,) * len(new)
    for mine, theirs in zip(known, new, strict=True):
        if mine is not None and theirs is not None and mine != theirs:
            raise SpecError(f"Cannot merge dimension units {units_shown(new)} and {units_shown(known)}")
    return tuple(theirs if mine is None else mine for mine, theirs in zip(known, new, strict=True))


def common_units(given: DimensionUnits | None, layers: Iterable[DimensionUnits | None]) -> DimensionUnits | None:
    """Return the units that were given, and for other dimensions those that all layers agree on, or None.

    >>> common_units((None, None, Unit("s")), [(Unit("nm"), None, Unit("m")), (None, Unit("m"), None)])
    (Unit(1, "nm"), Unit(1, "m"), Unit(1, "s"))
    >>> common_units(None, [(Unit("nm"),), (Unit("s"),), (Unit("nm"),)])
    (None,)
    """
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
    """Format units for an error message."""
    return f"[{', '.join('null' if unit is None else quote(str(unit)) for unit in units)}]"

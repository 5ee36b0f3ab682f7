"""The units of all dimensions, some of which may not be known: merged, and seen through views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from blizzarr.errors import SpecError
from blizzarr.json_values import quote
from blizzarr.spec.unit import Unit

__all__ = ["DimensionUnits", "merge_units"]

DimensionUnits: TypeAlias = tuple[Unit | None, ...]
"""A unit for each dimension."""


def merge_units(known: DimensionUnits, new: DimensionUnits) -> DimensionUnits:
    """What both say; they must have the same number of dimensions, unless nothing is known.

    Examples
    --------
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
            raise SpecError(f"Cannot merge dimension units {_shown(new)} and {_shown(known)}")
    return tuple(theirs if mine is None else mine for mine, theirs in zip(known, new, strict=True))


def _shown(units: Sequence[Unit | None]) -> str:
    return f"[{', '.join('null' if unit is None else quote(str(unit)) for unit in units)}]"

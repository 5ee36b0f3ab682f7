"""Dimension names in the attribute ``_ARRAY_DIMENSIONS``, for formats that have no other place for them.

The convention is xarray's, and NCZarr and GDAL follow it: a list of strings, one for each dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blizzarr.problems import Problems

ATTRIBUTE: Final = "_ARRAY_DIMENSIONS"


def names_in(attributes: Mapping[str, Any], rank: int) -> tuple[str, ...] | None:
    """Return the dimension names in the attributes of an array; `None` if there is no valid list of names."""
    value = attributes.get(ATTRIBUTE)
    if type(value) is list and len(value) == rank and all(type(name) is str for name in value):
        return tuple(value)
    return None


def nczarr_names(extra: Mapping[str, Any], rank: int) -> tuple[str, ...] | None:
    """Return the dimension names in a member that netCDF-C 4.8 and 4.9 add to array documents, as paths.

    >>> nczarr_names({"_NCZARR_ARRAY": {"dimrefs": ["/y", "/g/x"]}}, 2)
    ('y', 'x')
    """
    member = extra.get("_NCZARR_ARRAY")
    listed = names_in({ATTRIBUTE: member.get("dimrefs")}, rank) if type(member) is dict else None
    return None if listed is None else tuple(path.rpartition("/")[2] for path in listed)


def with_names(
    attributes: dict[str, Any], names: tuple[str | None, ...] | None, rank: int, problems: Problems
) -> dict[str, Any]:
    """Return attributes with these dimension names added."""
    if names is None or names_in(attributes, rank) == names or (names and not any(name is not None for name in names)):
        return attributes
    if None in names:
        problems.add("dimension_names", "a name for each dimension, or for none", list(names))
    elif ATTRIBUTE in attributes:
        problems.add(f"attributes.{ATTRIBUTE}", f"the names of the dimensions, {list(names)}", attributes[ATTRIBUTE])
    return {**attributes, ATTRIBUTE: list(names)}

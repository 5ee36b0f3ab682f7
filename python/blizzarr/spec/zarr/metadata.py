"""The metadata of ``zarr``: a ``.zarray``, or as much of it as a spec constrains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, expected, plain
from blizzarr.spec.element_type import ElementType
from blizzarr.spec.members import Members, as_integer, one_of
from blizzarr.spec.zarr.compressor import compressor_json, stored_compressor
from blizzarr.spec.zarr.elements import element_type, fills_json, fills_to_json
from blizzarr.spec.zarr3.metadata import RankedLists

__all__ = ["Metadata", "metadata_from_json", "stored_from_json"]

_LONGEST: Final = (1 << 63) - 2


@dataclass(frozen=True, slots=True)
class Metadata:
    """The members of the metadata; `said` has the names of those that are given, as null is a value of some.

    Examples
    --------
    >>> metadata = metadata_from_json({"shape": [5], "dtype": ">u2", "fill_value": None})
    >>> metadata.elements.json, metadata.fills, "fill_value" in metadata.said, "compressor" in metadata.said
    ('>u2', None, True, False)
    """

    rank: int = -1
    shape: tuple[int, ...] | None = None
    chunks: tuple[int, ...] | None = None
    elements: ElementType | None = None
    compressor: Mapping[str, Any] | None = None
    fills: tuple[np.ndarray[Any, Any], ...] | None = None
    """The fill value of each field; None if there is none."""
    order: str | None = None
    separator: str | None = None
    filters: tuple[Any, ...] = ()
    """The filters of a stored document; TensorStore has none."""
    said: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Members that are not in the specification."""

    def to_json(self) -> dict[str, Any]:
        """Return the members that are given."""
        members = {
            "zarr_format": 2,
            "shape": list(self.shape or ()),
            "chunks": list(self.chunks or ()),
            "dtype": None if self.elements is None else self.elements.json,
            "compressor": None if self.compressor is None else dict(self.compressor),
            "fill_value": None if self.elements is None else fills_to_json(self.fills, self.elements),
            "order": self.order,
            "filters": list(self.filters) or None,
            "dimension_separator": self.separator,
        }
        return dict(sorted({**self.extra, **{name: members[name] for name in self.said}}.items()))


def metadata_from_json(value: Any) -> Metadata:
    """Parse the constraints of a spec."""
    return _read(value, partial=True)


def stored_from_json(value: Any) -> Metadata:
    """Parse a stored document, in which only the separator may be missing."""
    return _read(value, partial=False)


def _read(value: Any, partial: bool) -> Metadata:
    members = Members(plain(value))
    said = set(members.left)
    default = None if partial else MISSING
    ranked = RankedLists()
    members.take("zarr_format", as_integer(2, 2), default)
    shape = members.take("shape", ranked.of(as_integer(0, _LONGEST)), default)
    chunks = members.take("chunks", ranked.of(as_integer(1, _LONGEST)), default)
    elements = members.take("dtype", element_type, default)
    compressor = members.take("compressor", compressor_json if partial else stored_compressor, default)
    fills = members.take("fill_value", lambda value: _fills(value, elements), default)
    order = members.take("order", one_of("C", "F"), default)
    filters = members.take("filters", _no_filters if partial else _filters, default)
    separator = members.take("dimension_separator", one_of(".", "/"), None)
    said -= set(members.left)
    if partial:
        members.end()
    return Metadata(
        ranked.known,
        shape,
        chunks,
        elements,
        compressor,
        fills,
        order,
        separator,
        filters or (),
        frozenset(said),
        dict(members.left),
    )


def _fills(value: Any, elements: ElementType | None) -> tuple[np.ndarray[Any, Any], ...] | None:
    if elements is None:
        raise SpecError('must be specified in conjunction with "dtype"')
    return fills_json(value, elements)


def _filters(value: Any) -> tuple[Any, ...]:
    if value is not None and not isinstance(value, list):
        raise expected(value, "null or array")
    return tuple(value or ())


def _no_filters(value: Any) -> tuple[Any, ...]:
    if _filters(value):
        raise SpecError("filters are not supported")
    return ()

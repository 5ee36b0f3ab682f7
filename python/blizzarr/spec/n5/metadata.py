"""The metadata of ``n5``: an ``attributes.json``, or as much of it as a spec constrains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, plain
from blizzarr.spec.constraint import braces
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.dtype import DType, dtype_json
from blizzarr.spec.members import Members, as_float, as_integer, as_text
from blizzarr.spec.n5.compression import compression_json
from blizzarr.spec.unit import Unit
from blizzarr.spec.zarr3.metadata import RankedLists
from blizzarr.views import IndexDomain

__all__ = ["Metadata", "check_dtype", "check_size", "metadata_from_json", "stored_from_json"]

_LONGEST: Final = (1 << 63) - 2
_MOST_BYTES: Final = 1 << 31
_NAMES: Final = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The members of the metadata; None for those that are not given.

    Examples
    --------
    >>> metadata = metadata_from_json({"dimensions": [5], "dataType": "uint8", "title": "a"})
    >>> metadata.rank, metadata.shape, metadata.extra
    (1, (5,), {'title': 'a'})
    """

    rank: int = -1
    shape: tuple[int, ...] | None = None
    chunks: tuple[int, ...] | None = None
    dtype: DType | None = None
    compression: Mapping[str, Any] | None = None
    axes: tuple[str, ...] | None = None
    units: tuple[str, ...] | None = None
    resolution: tuple[float, ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """All other attributes."""

    @property
    def dimension_units(self) -> DimensionUnits:
        """A unit for each dimension, or none at all where there are no `units`, whatever the `resolution`."""
        if self.units is None:
            return (None,) * max(self.rank, 0)
        counts = (1.0,) * len(self.units) if self.resolution is None else self.resolution
        return tuple(Unit(count, unit) for count, unit in zip(counts, self.units, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the members that are given."""
        members = {
            "dimensions": self.shape,
            "blockSize": self.chunks,
            "axes": self.axes if any(self.axes or ()) else None,
            "units": self.units,
            "resolution": self.resolution,
        }
        found = dict(self.extra) | {name: list(value) for name, value in members.items() if value is not None}
        if self.dtype is not None:
            found["dataType"] = self.dtype.name
        if self.compression is not None:
            found["compression"] = dict(self.compression)
        return dict(sorted(found.items()))


def check_dtype(dtype: DType) -> DType:
    """Raise if N5 does not have the data type."""
    if dtype.name not in _NAMES:
        raise SpecError(f"{dtype.name} data type is not one of the supported data types: {', '.join(_NAMES)}")
    return dtype


def check_size(chunks: tuple[int, ...], dtype: DType) -> None:
    """Raise if blocks are too large for the format.

    Examples
    --------
    >>> check_size((1 << 16, 1 << 16), DType("uint8"))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: "blockSize" of {65536, 65536} with data type of uint8 exceeds maximum chunk size of 2GB
    """
    if prod(chunks) > _MOST_BYTES // dtype.numpy_dtype.itemsize:
        raise SpecError(
            f'"blockSize" of {braces(chunks)} with data type of {dtype.name} exceeds maximum chunk size of 2GB'
        )


def metadata_from_json(value: Any) -> Metadata:
    """Parse the constraints of a spec."""
    return _read(value, partial=True)


def stored_from_json(value: Any) -> Metadata:
    """Parse a stored document, in which no member of a dataset may be missing.

    Examples
    --------
    >>> stored_from_json({"dimensions": [1]})
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Error parsing object member "blockSize": Expected array, but member is missing
    """
    found = _read(value, partial=False)
    assert found.chunks is not None
    assert found.dtype is not None
    check_size(found.chunks, found.dtype)
    return found


def _read(value: Any, partial: bool) -> Metadata:
    members = Members(plain(value))
    default = None if partial else MISSING
    ranked = RankedLists()
    shape = members.take("dimensions", ranked.of(as_integer(0, _LONGEST)), default)
    chunks = members.take("blockSize", ranked.of(as_integer(1, _LONGEST)), default)
    dtype = members.take("dataType", lambda name: check_dtype(dtype_json(name)), default)
    compression = members.take("compression", compression_json, default)
    axes = members.take("axes", lambda said: _labels(ranked.of(as_text)(said)), None)
    units = members.take("units", ranked.of(as_text), None)
    resolution = members.take("resolution", ranked.of(as_float), None)
    if not partial and axes is None:
        axes = ("",) * ranked.known
    extra = dict(members.left)
    return Metadata(ranked.known, shape, chunks, dtype, compression, axes, units, resolution, extra)


def _labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    return IndexDomain(labels=labels).labels

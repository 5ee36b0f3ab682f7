"""The metadata of ``zarr3``: a ``zarr.json``, or as much of it as a spec constrains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, expected, plain, quote
from blizzarr.spec.constraint import MAX_RANK
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.element_type import ElementType
from blizzarr.spec.members import Members, as_integer, as_list, as_object, as_text, one_of
from blizzarr.spec.unit import Unit
from blizzarr.spec.zarr3.chain import Chain, chain_from_json
from blizzarr.spec.zarr3.elements import element_type, fills_json, fills_to_json

__all__ = ["Metadata", "RankedLists", "metadata_from_json", "stored_from_json"]

_LONGEST: Final = (1 << 63) - 2
_SEPARATORS: Final = {"default": "/", "v2": "."}


@dataclass(frozen=True, slots=True)
class Metadata:
    """The members of the metadata; None for those that are not given.

    Examples
    --------
    >>> metadata = metadata_from_json({"shape": [5], "data_type": "uint8", "fill_value": 3})
    >>> metadata.rank, metadata.shape, metadata.fills, metadata.codecs
    (1, (5,), (array(3, dtype=uint8),), None)
    """

    rank: int = -1
    zarr_format: int | None = None
    elements: ElementType | None = None
    fills: tuple[np.ndarray[Any, Any], ...] | None = None
    """The fill value of each field."""
    shape: tuple[int, ...] | None = None
    dimension_names: tuple[str | None, ...] | None = None
    key_encoding: tuple[str, str] | None = None
    """The name and the separator."""
    chunk_shape: tuple[int, ...] | None = None
    codecs: Chain | None = None
    dimension_units: DimensionUnits | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """The attributes of users, without the units."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Members that need not be understood."""

    @property
    def names_said(self) -> bool:
        """True if any dimension has a name."""
        return any(name is not None for name in self.dimension_names or ())

    def to_json(self, partial: bool = False, include_defaults: bool = False) -> dict[str, Any]:
        """Return the metadata as JSON: a document, or the constraints of a spec (`partial`)."""
        found: dict[str, Any] = {"node_type": "array", **self.extra}
        if self.zarr_format is not None:
            found["zarr_format"] = self.zarr_format
        if self.elements is not None:
            found["data_type"] = self.elements.json
            if self.fills is not None:
                found["fill_value"] = fills_to_json(self.fills, self.elements)
        if self.shape is not None:
            found["shape"] = list(self.shape)
        if self.dimension_names is not None and self.names_said:
            found["dimension_names"] = list(self.dimension_names)
        if self.key_encoding is not None:
            found["chunk_key_encoding"] = encoding_json(self.key_encoding, include_defaults)
        if self.chunk_shape is not None:
            found["chunk_grid"] = {"configuration": {"chunk_shape": list(self.chunk_shape)}, "name": "regular"}
        if self.codecs is not None:
            found["codecs"] = self.codecs.to_json(partial)
        attributes = dict(self.attributes)
        if self.dimension_units is not None:
            attributes["dimension_units"] = units_json(self.dimension_units)
        if attributes:
            found["attributes"] = dict(sorted(attributes.items()))
        return dict(sorted(found.items()))


def encoding_json(encoding: tuple[str, str], include_defaults: bool = False) -> dict[str, Any]:
    """Return the key encoding as JSON; the default separator is left out unless defaults are asked for."""
    name, separator = encoding
    if _SEPARATORS[name] == separator and not include_defaults:
        return {"name": name}
    return {"configuration": {"separator": separator}, "name": name}


def units_json(units: DimensionUnits | None) -> list[str | None] | None:
    """The units as texts."""
    return None if units is None else [None if unit is None else str(unit) for unit in units]


def metadata_from_json(value: Any) -> Metadata:
    """Parse the constraints of a spec."""
    return _read(value, partial=True)


def stored_from_json(value: Any) -> Metadata:
    """Parse a stored document, in which nothing may be missing.

    Examples
    --------
    >>> stored_from_json({"zarr_format": 3})
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Error parsing object member "node_type": Expected "array", but member is missing
    """
    return _read(value, partial=False)


class RankedLists:
    """Parsers of members with an element for each dimension; the first of them determines the rank."""

    def __init__(self) -> None:
        self.known = -1

    def of(self, parse: Any) -> Any:
        """Return a parser of arrays with one element for each dimension."""

        def take(value: Any) -> Any:
            if isinstance(value, list):
                if len(value) > MAX_RANK:
                    raise SpecError(f"Rank {len(value)} is outside valid range [0, {MAX_RANK}]")
                if self.known not in (-1, len(value)):
                    raise SpecError(f"Array has length {len(value)} but should have length {self.known}")
                self.known = len(value)
            return as_list(parse)(value)

        return take


def _read(value: Any, partial: bool) -> Metadata:
    members = Members(plain(value))
    default = None if partial else MISSING
    rank = RankedLists()
    found: dict[str, Any] = {"zarr_format": members.take("zarr_format", as_integer(3, 3), default)}
    members.take("node_type", _exactly("array"), default)
    elements = found["elements"] = members.take("data_type", element_type, default)
    big = not partial and _is_big(members.left.get("codecs"))
    found["fills"] = members.take("fill_value", lambda said: _fills(said, elements, big), default)
    found["shape"] = members.take("shape", rank.of(as_integer(0, _LONGEST)), default)
    found["dimension_names"] = members.take("dimension_names", rank.of(_or_none(as_text)), None)
    found["key_encoding"] = members.take("chunk_key_encoding", _encoding, default)
    found["chunk_shape"] = members.take("chunk_grid", lambda said: _grid(said, rank), default)
    found["codecs"] = members.take("codecs", lambda said: chain_from_json(said, partial), default)
    members.take("storage_transformers", _no_transformers, None)
    attributes, found["dimension_units"] = members.take("attributes", lambda said: _attributes(said, rank), ({}, None))
    for name, member in sorted(members.left.items()):
        if not isinstance(member, dict) or member.get("must_understand") is not False:
            raise SpecError(f'Unsupported metadata field {quote(name)} is not marked {{"must_understand": false}}')
    if not partial and found["dimension_names"] is None:
        found["dimension_names"] = (None,) * rank.known
    return Metadata(rank=rank.known, attributes=attributes, extra=dict(members.left), **found)


def _or_none(parse: Any) -> Any:
    return lambda value: None if value is None else parse(value)


def _exactly(text: str) -> Any:
    def take(value: Any) -> str:
        if value != text:
            raise expected(value, quote(text))
        return text

    return take


def _is_big(codecs: Any) -> bool:
    """Return whether stored values begin with the most significant byte, as the innermost codec of a document says."""
    for codec in codecs if isinstance(codecs, list) else ():
        options = codec.get("configuration") if isinstance(codec, dict) else None
        if isinstance(options, dict) and (options.get("endian") == "big" or _is_big(options.get("codecs"))):
            return True
    return False


def _fills(value: Any, elements: ElementType | None, big: bool) -> tuple[np.ndarray[Any, Any], ...]:
    if elements is None:
        raise SpecError('must be specified in conjunction with "data_type"')
    return fills_json(value, elements, big)


def _encoding(value: Any) -> tuple[str, str]:
    members = Members({"configuration": {}, **value} if isinstance(value, dict) else value)
    name = members.take("name", one_of("default", "v2"))
    separator = members.take("configuration", lambda said: _separator(said, name))
    members.end()
    return name, separator


def _separator(value: Any, name: str) -> str:
    members = Members(value)
    separator = members.take("separator", one_of(".", "/"), _SEPARATORS[name])
    members.end()
    return separator


def _grid(value: Any, rank: RankedLists) -> tuple[int, ...]:
    members = Members(value)
    members.take("name", _exactly("regular"))
    shape = members.take("configuration", lambda said: _grid_shape(said, rank))
    members.end()
    return shape


def _grid_shape(value: Any, rank: RankedLists) -> tuple[int, ...]:
    members = Members(as_object(value))
    shape: tuple[int, ...] = members.take("chunk_shape", rank.of(as_integer(1, _LONGEST)))
    members.end()
    return shape


def _no_transformers(value: Any) -> None:
    if not isinstance(value, list):
        raise expected(value, "array")
    if value:
        raise SpecError("No storage transformers supported")


def _attributes(value: Any, rank: RankedLists) -> tuple[dict[str, Any], DimensionUnits | None]:
    members = Members(value)
    units = members.take("dimension_units", rank.of(_or_none(_unit)), None)
    return members.left, units


def _unit(value: Any) -> Unit:
    return Unit(as_text(value))

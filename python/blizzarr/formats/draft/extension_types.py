"""The extensions that define data types, with their URIs and the form of their identifiers.

https://github.com/zarr-developers/zarr-specs/tree/89f92f9/docs/extensions/data-types

zarr-python named extensions that had no document yet: some of its URIs never resolved, some begin with "TODO".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from blizzarr.dtypes import Kind
from blizzarr.formats.draft.spelling import Spelling

_UNITS: Final = "Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as"
_DOCUMENTS: Final = "https://purl.org/zarr/spec/extensions/data-types"
_READ_THE_DOCS: Final = "https://zarr-specs.readthedocs.io/en"


@dataclass(frozen=True, slots=True)
class Family:
    """The data types of one extension."""

    expected: str
    """A description of its identifiers, for messages."""
    accepts: Callable[[Any], bool]
    """A predicate for its identifiers in NumPy's spelling."""
    document: str | None
    """The URI of its document; `None` if it has none."""
    zarr_python: Mapping[Kind, str]
    """The URIs that zarr-python 2.13 to 2.18 wrote, by kind of data type."""
    others: tuple[str, ...] = ()
    """Other URIs that are read."""


def _matches(pattern: str) -> Callable[[Any], bool]:
    compiled = re.compile(pattern)
    return lambda value: type(value) is str and compiled.fullmatch(value) is not None


_RAW: Final = "TODO: structured array protocol URL"
_FAMILIES: Final = (
    Family(
        'complex numbers, like "<c8"',
        _matches("[<>]c(8|16)"),
        f"{_DOCUMENTS}/complex/1.0",
        {Kind.COMPLEX: f"{_READ_THE_DOCS}/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html"},
    ),
    Family(
        'a byte order, M8 or m8, and a unit, like "<M8[ns]"',
        _matches(rf"[<>][Mm]8\[({_UNITS})\]"),
        f"{_DOCUMENTS}/datetime/1.0",
        {Kind.TIME: f"{_READ_THE_DOCS}/latest/extensions/data-types/datetime/v1.0.html"},
        # Written by zarr-python 2.12.
        (f"{_READ_THE_DOCS}/core-protocol-v3.0-dev/protocol/extensions/datetime-dtypes/v1.0.html",),
    ),
    Family(
        'bytes, like "S5", or characters, like "<U5"',
        _matches(r"\|S[0-9]+|[<>]U[0-9]+"),
        f"{_DOCUMENTS}/string/1.0",
        {Kind.BYTES: "TODO: bytestring array protocol URL", Kind.TEXT: "TODO: unicode array protocol URL"},
    ),
    Family(
        'a list of fields, like [["name", "<U10"], ["age", "<i4"]]',
        lambda value: type(value) is list or _matches(r"\|V[0-9]+")(value),
        f"{_DOCUMENTS}/struct/1.0",
        {Kind.STRUCT: _RAW, Kind.RAW: _RAW},
    ),
    Family('"|O"', _matches(r"\|O"), None, {Kind.OBJECT: "TODO: object array protocol URL"}),
)
_BY_URI: Final = {
    uri: family
    for family in _FAMILIES
    for uri in (family.document, *family.zarr_python.values(), *family.others)
    if uri is not None
}


def family_of(uri: str) -> Family | None:
    """Return the extension with this URI, in any version 1.x; `None` if there is none.

    >>> family_of("https://purl.org/zarr/spec/extensions/data-types/datetime/1.0").accepts("<M8[ns]")
    True
    """
    plain = uri.replace("http://", "https://").replace("/data_types/", "/data-types/")
    return _BY_URI.get(re.sub(r"/1(\.[0-9]+)?/?$", "/1.0", plain))


def uri_of(kind: Kind, spelling: Spelling) -> str | None:
    """Return the URI of the extension for data types of a kind; `None` if none is needed, or there is none."""
    family = next((family for family in _FAMILIES if kind in family.zarr_python), None)
    if family is None:
        return None
    return family.document if spelling is Spelling.DOCUMENT else family.zarr_python[kind]

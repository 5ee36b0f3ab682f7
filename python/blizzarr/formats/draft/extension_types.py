"""The extensions that define data types: by which URIs they are known, and what their identifiers look like.

https://github.com/zarr-developers/zarr-specs/tree/89f92f9/docs/extensions/data-types

zarr-python named extensions that had no document yet: some of its URIs never led anywhere, some begin with "TODO".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from blizzarr.dtypes import Kind
from blizzarr.formats.draft.spelling import Spelling

__all__ = ["Family", "family_of", "uri_of"]

_UNITS: Final = "Y|M|W|D|h|m|s|ms|us|μs|ns|ps|fs|as"


def _matches(pattern: str) -> Callable[[Any], bool]:
    compiled = re.compile(pattern)
    return lambda value: type(value) is str and compiled.fullmatch(value) is not None


@dataclass(frozen=True, slots=True)
class Family:
    """The data types of one extension."""

    kinds: tuple[Kind, ...]
    expected: str
    accepts: Callable[[Any], bool]
    uris: tuple[str, ...]
    """The document's, then zarr-python's of 2.13 to 2.18, then others."""


_FAMILIES: Final = (
    Family(
        (Kind.COMPLEX,),
        'complex numbers, like "<c8"',
        _matches("[<>]c(8|16)"),
        (
            "https://purl.org/zarr/spec/extensions/data-types/complex/1.0",
            "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html",
        ),
    ),
    Family(
        (Kind.TIME,),
        'a byte order, M8 or m8, and a unit, like "<M8[ns]"',
        _matches(rf"[<>][Mm]8\[({_UNITS})\]"),
        (
            "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0",
            "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html",
            # Of 2.12.
            "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/datetime-dtypes/v1.0.html",
        ),
    ),
    Family(
        (Kind.TEXT,),
        'characters, like "<U5", or bytes, like "S5"',
        _matches(r"\|S[0-9]+|[<>]U[0-9]+"),
        ("https://purl.org/zarr/spec/extensions/data-types/string/1.0", "TODO: unicode array protocol URL"),
    ),
    Family(
        (Kind.BYTES,),
        'bytes, like "S5", or characters, like "<U5"',
        _matches(r"\|S[0-9]+|[<>]U[0-9]+"),
        ("https://purl.org/zarr/spec/extensions/data-types/string/1.0", "TODO: bytestring array protocol URL"),
    ),
    Family(
        (Kind.STRUCT, Kind.RAW),
        'a list of fields, like [["name", "<U10"], ["age", "<i4"]]',
        lambda value: type(value) is list or _matches(r"\|V[0-9]+")(value),
        ("https://purl.org/zarr/spec/extensions/data-types/struct/1.0", "TODO: structured array protocol URL"),
    ),
    Family(
        (Kind.OBJECT,),
        '"|O"',
        _matches(r"\|O"),
        # The document has none.
        ("TODO: object array protocol URL",),
    ),
)
_BY_URI: Final = {uri: family for family in _FAMILIES for uri in family.uris}


def family_of(uri: str) -> Family | None:
    """The extension of this URI, of any version 1; `None` when there is none."""
    plain = re.sub(r"^http:", "https:", re.sub(r"/data_types/", "/data-types/", uri))
    return _BY_URI.get(re.sub(r"/1(\.[0-9]+)?/?$", "/1.0", plain))


def uri_of(kind: Kind, spelling: Spelling) -> str | None:
    """The URI of the extension that has data types of a kind; `None` where no extension is needed, or none has them."""
    for family in _FAMILIES:
        if kind in family.kinds and (spelling is Spelling.ZARR_PYTHON or kind is not Kind.OBJECT):
            return (
                family.uris[-1] if family.uris[0].startswith("TODO") else family.uris[spelling is Spelling.ZARR_PYTHON]
            )
    return None

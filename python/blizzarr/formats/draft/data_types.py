"""Data types in documents of the draft.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#data-types

================  ==========================================================  ======================================
what              the document's                                              zarr-python's
================  ==========================================================  ======================================
bool              ``bool``                                                    ``bool``
numbers           ``int32``, ``float64``, ... (table 1 of the specification)  ``i1``, ``u1``, ``<i4``, ``>f8``, ...
complex           ``complex64``, ``complex128``                               extension, ``<c8``
64-bit integers   ``int64``, ``uint64``: not in the table, but soon after     ``<i8``, ``<u8``
raw bits          ``r24``                                                     extension, ``[["", "|V3"]]``
moments           extension, ``<M8[ns]``                                      extension, ``<M8[ns]``
text, bytes       extension, ``<U5``, ``S5``                                  extension, ``<U5``, ``|S5``
structs           extension, ``[["name", "<U10"], ["age", "<i4"]]``           extension, the same
Python objects                                                                extension, ``|O``
================  ==========================================================  ======================================

Both spellings are read in all documents, as even the examples of the specification have ``<f8``. If a type has a byte
order, elements are stored in it, unless the codec ``endian`` states another.

The extensions that define data types: https://github.com/zarr-developers/zarr-specs/tree/89f92f9/docs/extensions/data-types

zarr-python named extensions that had no document yet: some of its URIs never resolved, some begin with "TODO".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.table import NUMBERS
from blizzarr.dtypes.typestr import from_typestr, to_typestr
from blizzarr.formats.document import check_depth
from blizzarr.formats.draft.keys import Spelling
from blizzarr.formats.fallback import use_fallback
from blizzarr.problems import MISSING, Problems, describe, unknown_members

_CORE: Final = {name: to_typestr(DataType.parse(name), "little") for name in NUMBERS}
"""The types of the core specification, and the two that it lacked, with NumPy's spelling."""
_SHORT: Final = {"i1": "|i1", "u1": "|u1", "|b1": "|b1"}
"""zarr-python's spelling of one-byte types, with NumPy's."""
_RAW: Final = re.compile(r"r([0-9]+)", re.ASCII)
_TYPESTR: Final = re.compile(r"[<>|][a-zA-Z][0-9].*", re.ASCII | re.DOTALL)
_NOT_HERE: Final = "not in the draft, and no fallback stands in for it; ask whoever wrote the array"


class Elements(NamedTuple):
    """A data type, and the byte order of stored elements unless a codec states another."""

    dtype: DataType
    endian: str | None
    """`None` for one-byte elements, and for structs with fields of both orders."""
    stands_in: bool = False
    """True if it is the fallback for an unknown data type."""


def decode(value: Any, path: str, problems: Problems, *, ordered: bool = False) -> Elements | None:
    """Decode the data type of a document; `None` if a problem was added.

    `ordered` is True if a codec states the byte order, which then applies to all fields.
    """
    if type(value) is str:
        return _identifier(value, path, problems)
    if type(value) is not dict:
        problems.add(path, "the name of a data type, or an object with extension and type", value)
        return None
    if not check_depth(value, path, problems):
        return None
    before = len(problems.items)
    uri = value.get("extension", MISSING)
    if type(uri) is not str:
        problems.add(f"{path}.extension", "the URI of a data type", uri)
    if "type" not in value:
        problems.add(f"{path}.type", "the type that the extension defines", MISSING)
    unknown_members(value, ("extension", "type", "fallback"), problems, path)
    if len(problems.items) > before:
        return None
    inner = Problems()
    elements = _extension(uri, value["type"], path, inner, ordered=ordered)
    if elements is not None:
        return elements
    fallback = value.get("fallback")
    if fallback is not None:
        description = f"{describe(value['type'])} of {uri}"
        elements = use_fallback(uri, description, f"{path}.extension", fallback, _fallback, problems)
        if elements is not None or len(problems.items) > before:
            return elements
    problems.items += inner.items
    problems.extensions += inner.extensions
    return None


def _identifier(value: str, path: str, problems: Problems) -> Elements | None:
    """Decode a data type of the core specification, or one in NumPy's spelling."""
    if value in _CORE or _RAW.fullmatch(value):
        dtype = DataType.from_json(value, path, problems)
        return None if dtype is None else Elements(dtype, "little" if dtype.swap else None)
    spelled = _SHORT.get(value, value)
    if _TYPESTR.fullmatch(spelled):
        return _typed(spelled, path, problems)
    problems.unknown(path, "data type", value, _NOT_HERE)
    return None


def _typed(value: Any, path: str, problems: Problems) -> Elements | None:
    typed = from_typestr(value, path, problems)
    if typed is None:
        return None
    if typed.shape:
        problems.add(path, "elements of one value; the shape of the array has all its dimensions", value)
        return None
    return Elements(typed.dtype, typed.endian)


def _extension(uri: str, identifier: Any, path: str, problems: Problems, *, ordered: bool) -> Elements | None:
    """Decode a data type of a known extension."""
    family = family_of(uri)
    if family is None:
        problems.unknown(f"{path}.extension", "data type", uri, _NOT_HERE)
        return None
    before = len(problems.items)
    spelled = _spelled(identifier)
    if not family.accepts(spelled):
        problems.add(f"{path}.type", family.expected, identifier)
        return None
    if type(spelled) is list and len(spelled) == 1 and type(spelled[0]) is list and spelled[0][:1] == [""]:
        # zarr-python's spelling of raw bytes: one field without a name.
        spelled = spelled[0][1] if len(spelled[0]) == 2 else spelled
    elements = _typed(spelled, f"{path}.type", problems)
    if ordered and elements is not None and elements.endian is None and elements.dtype.kind is Kind.STRUCT:
        # A codec stores fields of both orders in one order.
        elements = _typed(_spelled(identifier, ordered=True), f"{path}.type", problems)
    return elements if len(problems.items) == before else None


def _spelled(identifier: Any, ordered: bool = False) -> Any:
    """Return the identifier in NumPy's spelling, also in fields of structs; in one byte order if `ordered`.

    >>> _spelled([["name", "S3"], ["age", "int32"]]), _spelled([["age", ">i4"]], ordered=True)
    ([['name', '|S3'], ['age', '<i4']], [['age', '<i4']])
    """
    if type(identifier) is list:
        return [
            [field[0], _spelled(field[1], ordered), *field[2:]] if type(field) is list and len(field) > 1 else field
            for field in identifier
        ]
    if type(identifier) is dict and "type" in identifier:
        return _spelled(identifier["type"], ordered)
    if type(identifier) is not str:
        return identifier
    raw = _RAW.fullmatch(identifier)
    if raw is not None and len(raw[1]) < 12 and int(raw[1]) % 8 == 0:
        return f"|V{int(raw[1]) // 8}"
    spelled = _CORE.get(identifier) or _SHORT.get(identifier) or identifier
    if spelled[:1] == "S":
        return "|" + spelled
    return "<" + spelled[1:] if ordered and spelled[:1] == ">" else spelled


def _fallback(value: Any, problems: Problems) -> Elements | None:
    elements = decode(value, "fallback", problems)
    return None if elements is None else elements._replace(stands_in=True)


def encode(dtype: DataType, endian: str | None, spelling: Spelling, path: str, problems: Problems) -> Any:
    """Encode a data type whose elements have this byte order; add a problem if the draft cannot express it."""
    if spelling is Spelling.DOCUMENT and (dtype.name in _CORE or dtype.kind is Kind.RAW):
        return dtype.name
    spelled = to_typestr(dtype, endian)
    uri = uri_of(dtype.kind, spelling)
    if spelling is Spelling.ZARR_PYTHON and dtype.name in _CORE and uri is None:
        return {"|b1": "bool", "|i1": "i1", "|u1": "u1"}.get(spelled, spelled)
    family = None if uri is None else family_of(uri)
    if family is None or not family.accepts(spelled):
        problems.add(path, "a data type that the draft has", dtype.to_json())
        return None
    if spelling is Spelling.ZARR_PYTHON:
        return {"extension": uri, "type": [["", spelled]] if dtype.kind is Kind.RAW else spelled, "fallback": None}
    bits = f"r{dtype.itemsize * 8}"
    fallback = ["int64", bits] if dtype.kind is Kind.TIME else bits
    return {
        "extension": uri,
        "type": spelled.removeprefix("|") if type(spelled) is str else spelled,
        "fallback": fallback,
    }


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


_STRUCTURED: Final = "TODO: structured array protocol URL"
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
        {Kind.STRUCT: _STRUCTURED, Kind.RAW: _STRUCTURED},
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
    """Return the extension with this URI, in any version 1.x; `None` if there is none."""
    plain = uri.replace("http://", "https://").replace("/data_types/", "/data-types/")
    return _BY_URI.get(re.sub(r"/1(\.[0-9]+)?/?$", "/1.0", plain))


def uri_of(kind: Kind, spelling: Spelling) -> str | None:
    """Return the URI of the extension for data types of a kind; `None` if none is needed, or there is none."""
    family = next((family for family in _FAMILIES if kind in family.zarr_python), None)
    if family is None:
        return None
    return family.document if spelling is Spelling.DOCUMENT else family.zarr_python[kind]

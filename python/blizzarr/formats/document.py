"""Reading and writing JSON documents, strictly.

Python's parser is more lenient than metadata documents allow: it takes other encodings, a byte order mark, the last of
several equal names, and any depth that the stack allows.

- Duplicate names are a problem, except in attributes, where the last one counts (and a `Notice` says so).
- The tokens ``NaN``, ``Infinity`` and ``-Infinity`` are not JSON, but they are in the attributes of many stored arrays,
  because Python writes them. They are read and written there, and refused in members that the specification defines.
- Numbers are kept exactly: integers of up to 4,300 digits (Python's limit), others as 64-bit floating point. ``1e400``,
  which that cannot hold, is an integer: infinity would be stored as ``Infinity`` again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from math import isinf
from typing import Any, Final

import numpy as np

from blizzarr.errors import MetadataError, Problem
from blizzarr.problems import MISSING, Notice, Problems

MAX_BYTES: Final = 2**28
"""The largest document that is read: 256 MiB."""
_CONTAINERS: Final = 2**20
_SHARE: Final = 32
"""A document may have so many objects and lists, and one more for every so many bytes: each takes 64 bytes or more."""
MAX_DEPTH: Final = 128
"""The deepest nesting of values in one member of a document."""
_TOO_DEEP: Final = f"values at most {MAX_DEPTH} levels deep"

JSON_OBJECT: Final = "one JSON object in UTF-8"
"""The description of a valid document as a whole, in errors."""


class _DuplicateError(Exception):
    """Raised if a name occurs twice; a second pass finds out which."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _DuplicateError
    return made


def _number(text: str) -> float | int:
    number = float(text)
    if not isinf(number):
        return number
    digits, _, exponent = text.lower().partition("e")
    if len(digits) + int(exponent or 0) > _DIGITS:
        raise ValueError
    from decimal import Decimal

    return int(Decimal(text))


_DIGITS: Final = 4300
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_STRICT: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_number)
_LENIENT: Final = json.JSONDecoder(parse_float=_number)


def load(raw: bytes, problems: Problems, *, attributes: bool = False, marked: bool = False) -> dict[str, Any] | None:
    """Parse a document that holds one JSON object; `None` if a problem was added.

    - `attributes`: true if the document contains only attributes, in which duplicate names are allowed.
    - `marked`: true if the document may begin with a byte order mark.
    """
    if len(raw) > MAX_BYTES:
        problems.items.append(Problem("", f"at most {MAX_BYTES:,} bytes", f"{len(raw):,}"))
        return None
    most = _CONTAINERS + len(raw) // _SHARE
    if len(raw) > most and _holds_more(raw, most):
        problems.items.append(Problem("", f"at most {most:,} objects and lists in {len(raw):,} bytes", "more"))
        return None
    try:
        text = raw.decode("utf-8-sig" if marked else "utf-8")
    except UnicodeDecodeError as error:
        problems.items.append(Problem("", JSON_OBJECT, f"byte 0x{raw[error.start]:02x} at {error.start:,}"))
        return None
    try:
        try:
            value = _STRICT.decode(text)
        except _DuplicateError:
            value = _LENIENT.decode(text)
            _report_duplicates(text, problems, attributes)
    except json.JSONDecodeError as error:
        problems.items.append(Problem("", JSON_OBJECT, _syntax(text, error)))
    except ValueError:
        problems.items.append(Problem("", "integers of at most 4,300 digits", "a longer one"))
    except RecursionError:
        problems.items.append(Problem("", _TOO_DEEP, "deeper ones"))
    else:
        if type(value) is dict:
            return value
        problems.add("", "an object", value)
    return None


def _holds_more(raw: bytes, most: int) -> bool:
    """Return whether a JSON text has more than `most` objects and lists."""
    if raw.count(b"{") + raw.count(b"[") <= most:
        return False
    # Those within strings do not count.
    at = count = 0
    for string in _STRING.finditer(raw):
        start = string.start()
        count += raw.count(b"{", at, start) + raw.count(b"[", at, start)
        at = string.end()
        if count > most:
            return True
    return count + raw.count(b"{", at) + raw.count(b"[", at) > most


def _syntax(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "an empty document" if not text else "only white space"
    if text.startswith("\ufeff"):
        return "a byte order mark at the start"
    what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return f"a syntax error at line {error.lineno}, column {error.colno}: {what}"


class _Object(dict[str, Any]):
    """A JSON object that knows which of its names occurred twice."""

    twice: tuple[str, ...] = ()


def _remember(pairs: list[tuple[str, Any]]) -> _Object:
    made = _Object(pairs)
    if len(made) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        made.twice = tuple(name for name, count in counts.items() if count > 1)
    return made


def _report_duplicates(text: str, problems: Problems, attributes: bool) -> None:
    """Parse again to find where the duplicates are, and add problems or notices."""
    marked = json.loads(text, object_pairs_hook=_remember)
    stack: list[tuple[str, Any]] = [("", marked)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, list):
            stack.extend((f"{path}[{index}]", inner) for index, inner in enumerate(item))
        elif isinstance(item, _Object):
            for name in item.twice:
                where = f"{path}.{name}" if path else name
                if attributes or _in_attributes(path):
                    problems.notices.append(
                        Notice("duplicate-name", f"{where} is there more than once; the last one counts")
                    )
                else:
                    problems.items.append(Problem(where, "each name once", "it more than once"))
            stack.extend((f"{path}.{name}" if path else name, inner) for name, inner in item.items())


def _in_attributes(path: str) -> bool:
    # The attributes of other nodes are in consolidated metadata.
    inside = path == "attributes" or path.startswith(("attributes.", "attributes["))
    return inside or ".attributes" in path or ".zattrs" in path


def check_depth(value: Any, path: str, problems: Problems) -> bool:
    """Return whether lists and objects are nested as deep in a JSON value as they may be; if deeper, add a problem."""
    if is_deeper([value], MAX_DEPTH + 1):
        problems.items.append(Problem(path, _TOO_DEEP, "deeper ones"))
        return False
    return True


def check_number(document: Mapping[str, Any], name: str, number: int, problems: Problems) -> bool:
    """Return whether a member with the number of a format is this one; if not, add a problem.

    Other formats have other rules, so that checking the rest of such a document makes no sense.
    """
    value = document.get(name, MISSING)
    if type(value) is int and value == number:
        return True
    problems.add(name, str(number), value)
    return False


_NOTHING: Final[Mapping[str, Any]] = {}


def other_members(document: Mapping[str, Any], known: frozenset[str], problems: Problems) -> Mapping[str, Any]:
    """Return the members that are not in the specification of v1 or v2, which are ignored and kept."""
    if document.keys() <= known:
        return _NOTHING
    extra = {name: value for name, value in document.items() if name not in known}
    for name, value in extra.items():
        check_depth(value, name, problems)
    return extra


def is_deeper(value: Any, depth: int) -> bool:
    """Return whether lists and objects are nested deeper than `depth` in this value."""
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for item in level
            for inner in (item.values() if type(item) is dict else item)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


_LONG: Final = 1 << 10
"""A list or object of more items, like the edge lengths of a grid, is not for people to read."""


def dump(document: Mapping[str, Any], key: str) -> bytes:
    """Encode a document: ASCII, one member per line, indented by two.

    Lists of plain values, and lists and objects of very many items, are on one line.

    Raise `MetadataError` if a value cannot be expressed in JSON.
    """
    try:
        return _text(document, "\n").encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        path, value = _culprit(document)
        problem = Problem(path, "a value that JSON has", value)
        raise MetadataError(key=key, problems=[problem]) from error


def stored_value(value: Any, name: str) -> Any:
    """Return a member of a document, as reading the document gives it back.

    Raise `MetadataError` if the value cannot be expressed in JSON.
    """
    stored: dict[str, Any] = json.loads(dump({name: value}, ""))
    return stored[name]


def _text(value: Any, margin: str) -> str:
    """Return the JSON text of a value; `margin` begins each line except the first.

    Python's encoder with indentation takes three times as long, which each append to an array would pay.
    """
    if isinstance(value, dict) and 0 < len(value) <= _LONG:
        inner = margin + "  "
        members = [f"{_key(key)}: {_text(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(members)}{margin}}}"
    if (
        isinstance(value, list | tuple)
        and len(value) <= _LONG
        and any(isinstance(item, dict | list | tuple) for item in value)
    ):
        inner = margin + "  "
        return f"[{inner}{f',{inner}'.join(_text(item, inner) for item in value)}{margin}]"
    return _COMPACT.encode(value)


def _key(key: Any) -> str:
    # JSON has only strings as names; other keys are converted as by Python's encoder.
    return encode_basestring_ascii(key) if isinstance(key, str) else _COMPACT.encode({key: 0})[1:-4]


def _plain(value: Any) -> Any:
    """Convert NumPy values, and other mappings and sequences, to JSON types."""
    if isinstance(value, np.bool_ | np.integer | np.floating):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a value that JSON has")


_COMPACT: Final = json.JSONEncoder(default=_plain)


def _culprit(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the path and a description of the value that cannot be encoded."""
    stack: list[tuple[str, Any, int]] = [("", document, 0)]
    while stack:
        path, item, depth = stack.pop()
        if depth > 2 * MAX_DEPTH:
            return path[:80], "values nested too deeply, perhaps within themselves"
        if isinstance(item, Mapping):
            for name, inner in item.items():
                if not isinstance(name, str | int | float | bool | None):
                    return path, f"the name {name!r}"
                stack.append((f"{path}.{name}" if path else str(name), inner, depth + 1))
        elif isinstance(item, list | tuple):
            stack.extend((f"{path}[{index}]", inner, depth + 1) for index, inner in enumerate(item))
        elif not isinstance(item, str | int | float | bool | np.bool_ | np.integer | np.floating | np.ndarray | None):
            return path, f"{item!r} ({type(item).__name__})"
    return "", "a value that it has not"


class Stored(dict[str, Any]):
    """The parsed document that makes a node, with the bytes of all documents of that node.

    A change to one of several documents must not touch the others, not even their white space.

    - `document`: the parsed document.
    - `raw`: the bytes of each document of the node, by the last part of its key.
    """

    raw: Mapping[str, bytes]

    def __init__(self, document: Mapping[str, Any], raw: Mapping[str, bytes]) -> None:
        super().__init__(document)
        self.raw = raw

    def __reduce__(self) -> tuple[Any, ...]:
        return Stored, (dict(self), dict(self.raw))

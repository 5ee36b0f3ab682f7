"""JSON Pointers (RFC 6901): one value of a document, found and replaced.

Texts are those of TensorStore.
"""

from __future__ import annotations

from typing import Any

from blizzarr.errors import ArrayNotFoundError, ConstraintError, OutOfRangeError, SpecError
from blizzarr.json_members import as_text
from blizzarr.json_values import MISSING, dump, quote


def as_pointer(value: Any) -> str:
    """Check that a text is a JSON Pointer.

    >>> as_pointer("/a/b~1c")
    '/a/b~1c'
    >>> as_pointer("a")
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: JSON Pointer does not start with '/': "a"
    """
    text = as_text(value)
    if text and not text.startswith("/"):
        raise SpecError(f"JSON Pointer does not start with '/': {quote(text)}")
    if any(part[:1] not in ("0", "1") for part in text.split("~")[1:]):
        raise SpecError(f"JSON Pointer requires '~' to be followed by '0' or '1': {quote(text)}")
    return text


def found_at(document: Any, pointer: str) -> Any:
    """Return the value that a pointer refers to.

    >>> found_at({"a": [5, {"~": 6}]}, "/a/1/~0")
    6
    """
    value = document
    parts = pointer.split("/")
    for number, part in enumerate(parts[1:], 2):
        name = _unescaped(part)
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name != "-" and (position := _position(name, parts[:number])) < len(value):
            value = value[position]
        else:
            raise _not_found(value, name, parts[:number])
    return value


def _not_found(value: Any, name: str, reached: list[str]) -> SpecError:
    if isinstance(value, dict):
        return ArrayNotFoundError(f"JSON Pointer {_shown(reached)} refers to non-existent object member")
    if not isinstance(value, list):
        return ConstraintError(_leads_nowhere(reached, value))
    if name == "-":
        return ConstraintError(f"JSON Pointer {_shown(reached)} refers to non-existent array element")
    return OutOfRangeError(_beyond(reached, value))


def replaced_at(document: Any, pointer: str, value: Any) -> Any:
    """Return the document with another value where the pointer refers to, which may be a new member or element.

    >>> replaced_at({"a": [5]}, "/a/-", 6), replaced_at(MISSING, "/x/0", 7)
    ({'a': [5, 6]}, {'x': {'0': 7}})
    """
    return _replaced(document, pointer.split("/"), 1, value)


def _replaced(document: Any, parts: list[str], number: int, value: Any) -> Any:
    if number == len(parts):
        return value
    name, reached = _unescaped(parts[number]), parts[: number + 1]
    if document is MISSING:
        document = {}
    if isinstance(document, dict):
        return {**document, name: _replaced(document.get(name, MISSING), parts, number + 1, value)}
    if isinstance(document, list):
        if name == "-":
            return [*document, _replaced(MISSING, parts, number + 1, value)]
        position = _position(name, reached)
        if position >= len(document):
            raise ConstraintError(_beyond(reached, document))
        inside = _replaced(document[position], parts, number + 1, value)
        return [*document[:position], inside, *document[position + 1 :]]
    raise ConstraintError(_leads_nowhere(reached, document))


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _shown(reached: list[str]) -> str:
    """Format the pointer up to the given part for an error message."""
    return quote("/".join(reached))


def _position(name: str, reached: list[str]) -> int:
    is_number = name.isascii() and name.isdigit() and len(name) <= 20 and (name[0] != "0" or name == "0")
    if not is_number or int(name) >= 1 << 64:
        raise ConstraintError(f"JSON Pointer {_shown(reached)} is invalid for array value")
    return int(name)


def _beyond(reached: list[str], array: list[Any]) -> str:
    return f"JSON Pointer {_shown(reached)} is out-of-range for array of size {len(array)}"


def _leads_nowhere(reached: list[str], value: Any) -> str:
    kind = "null" if value is None else "boolean" if isinstance(value, bool) else "number"
    kind = "string" if isinstance(value, str) else kind
    return f"JSON Pointer reference {_shown(reached)} cannot be applied to {kind} value: {dump(value)}"

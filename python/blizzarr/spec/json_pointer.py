"""JSON Pointers (RFC 6901): one value of a document, found and replaced.

Texts are those of TensorStore.
"""

from __future__ import annotations

from typing import Any

from blizzarr.errors import ArrayNotFoundError, ConstraintError, OutOfRangeError, SpecError
from blizzarr.json_members import as_text
from blizzarr.json_values import MISSING, dump, quote


def as_pointer(value: Any) -> str:
    """Check that a text is a JSON Pointer."""
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
    value, parts = document, pointer.split("/")
    for number in range(1, len(parts)):
        key, reached = _key(value, parts, number), parts[: number + 1]
        if isinstance(value, dict) and key not in value:
            raise ArrayNotFoundError(f"JSON Pointer {_shown(reached)} refers to non-existent object member")
        if isinstance(value, list) and key >= len(value):
            if parts[number] == "-":
                raise ConstraintError(f"JSON Pointer {_shown(reached)} refers to non-existent array element")
            raise OutOfRangeError(_beyond(reached, value))
        value = value[key]
    return value


def replaced_at(document: Any, pointer: str, value: Any) -> Any:
    """Return the document with another value where the pointer refers to, which may be a new member or element.

    >>> replaced_at({"a": [5]}, "/a/-", 6), replaced_at(MISSING, "/x/0", 7)
    ({'a': [5, 6]}, {'x': {'0': 7}})
    """
    return _replaced(document, pointer.split("/"), 1, value)


def _replaced(document: Any, parts: list[str], number: int, value: Any) -> Any:
    if number == len(parts):
        return value
    if document is MISSING:
        document = {}
    key = _key(document, parts, number)
    if isinstance(document, dict):
        return {**document, key: _replaced(document.get(key, MISSING), parts, number + 1, value)}
    if key >= len(document) and parts[number] != "-":
        raise ConstraintError(_beyond(parts[: number + 1], document))
    inside = _replaced(document[key] if key < len(document) else MISSING, parts, number + 1, value)
    return [*document[:key], inside, *document[key + 1 :]]


def _key(value: Any, parts: list[str], number: int) -> Any:
    """Return the name of the member, or the position of the element, that a part means; ``-`` is behind the last."""
    name, reached = parts[number].replace("~1", "/").replace("~0", "~"), parts[: number + 1]
    if isinstance(value, dict):
        return name
    if not isinstance(value, list):
        kind = "null" if value is None else "boolean" if isinstance(value, bool) else "number"
        kind = "string" if isinstance(value, str) else kind
        raise ConstraintError(
            f"JSON Pointer reference {_shown(reached)} cannot be applied to {kind} value: {dump(value)}"
        )
    if name == "-":
        return len(value)
    is_number = name.isascii() and name.isdigit() and len(name) <= 20 and (name[0] != "0" or name == "0")
    if not is_number or int(name) >= 1 << 64:
        raise ConstraintError(f"JSON Pointer {_shown(reached)} is invalid for array value")
    return int(name)


def _shown(reached: list[str]) -> str:
    """Format the pointer up to the given part for an error message."""
    return quote("/".join(reached))


def _beyond(reached: list[str], array: list[Any]) -> str:
    return f"JSON Pointer {_shown(reached)} is out-of-range for array of size {len(array)}"

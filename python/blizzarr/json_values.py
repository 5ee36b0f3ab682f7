"""JSON values made from Python objects, and their quotation in errors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from operator import index
from os import PathLike
from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError


class _Missing:
    """The value of a missing member, as distinct from null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

_DEPTH = 100
_LEAST: Final = -(2**63)
_MOST: Final = 2**64 - 1
"""The bounds of integers in the engine, and in other readers of such documents: 64 bits with or without a sign."""


def plain(value: Any, depth: int = _DEPTH) -> Any:
    """Return the value in terms of JSON: dicts, lists, text, integers, floats, booleans and None.

    Objects are converted by their method `to_json`, if they have one; sequences and arrays become lists, and names of
    members become text.

    Raise `SpecError` if it is nested too deeply, or text is not valid Unicode. Raise `TypeError` if an object has no
    equivalent. Raise `OverflowError` if an integer does not fit into 64 bits.

    >>> plain({"shape": (2, np.int64(3)), 1: True})
    {'shape': [2, 3], '1': True}
    """
    kind = type(value)
    if value is None or kind is bool or (kind is str and value.isascii()):
        return value
    if depth <= 0:
        raise SpecError("Recursion limit exceeded converting value to JSON")
    # The types that JSON is parsed to come first, as most values have them.
    if kind is list:
        return [plain(element, depth - 1) for element in value]
    if kind is dict:
        members = {}
        for name, member in value.items():
            key = name if type(name) is str and name.isascii() else _text(str(name))
            members[key] = member if type(member) is str and member.isascii() else plain(member, depth - 1)
        return members
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return _text(value)
    if hasattr(value, "to_json"):
        return plain(value.to_json(), depth - 1)
    if isinstance(value, Mapping):
        return {_text(str(name)): plain(member, depth - 1) for name, member in value.items()}
    if isinstance(value, Sequence | np.ndarray):
        return [plain(element, depth - 1) for element in list(value)]
    has_axes = bool(getattr(value, "shape", ()))
    if not (has_axes or isinstance(value, np.bool_)) and hasattr(value, "__index__"):
        return _integer(index(value))
    if not has_axes and hasattr(value, "__float__"):
        return float(value)
    hint = "; convert it with str()" if isinstance(value, PathLike) else ""
    if has_axes:
        hint = '; name the place of the array, like {"driver": "zarr3", "kvstore": {"driver": "file", "path": ...}}'
    raise TypeError(f"Object '{kind.__name__}' does not support conversion to JSON{hint}")


def within_64_bits(value: Any) -> Any:
    """Return a stored JSON value with longer integers as floating-point numbers, which is what TensorStore reads.

    >>> within_64_bits({"a": [2**64 - 1, 2**64, -(10**400)]})
    {'a': [18446744073709551615, 1.8446744073709552e+19, -inf]}
    """
    return mapped(value, _within_64_bits)


def _within_64_bits(value: Any) -> Any:
    if type(value) is not int or _LEAST <= value <= _MOST:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a JSON value with everything in it converted but its lists and objects, which are copied.

    >>> mapped({"a": [1, "b"]}, str)
    {'a': ['1', 'b']}
    """
    if isinstance(value, dict):
        return {name: mapped(member, convert) for name, member in value.items()}
    return [mapped(element, convert) for element in value] if isinstance(value, list) else convert(value)


def copied(value: Any) -> Any:
    """Return a copy of a JSON value, several times as fast as `deepcopy`, which looks for objects of every kind."""
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    return [copied(element) for element in value] if isinstance(value, list) else value


def _integer(value: int) -> int:
    if not _LEAST <= value <= _MOST:
        raise OverflowError("int too big to convert")
    return int(value)


def _text(value: str) -> str:
    if not value.isascii():
        try:
            # File names may have bytes that are not valid UTF-8.
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise SpecError(f"expected text, found {value!a}, which is none: half of a character is missing") from error
    return str(value)


def dump(value: Any) -> str:
    """Return the value as JSON in one line, with sorted members; NaN and infinity become null.

    >>> dump({"b": 1.0, "a": [None, True, float("nan")]})
    '{"a":[null,true,null],"b":1.0}'
    """
    finite = mapped(value, lambda each: None if isinstance(each, float) and not math.isfinite(each) else each)
    return json.dumps(finite, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def alike(value: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, but not `true`; NaN equals NaN.

    >>> alike({"a": [1, None]}, {"a": [1.0, None]}), alike(1, True)
    (True, False)
    """
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(alike(value[name], other[name]) for name in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(alike, value, other))
    same = value == other or (value != value and other != other)
    return isinstance(value, bool) is isinstance(other, bool) and bool(same)


def quote(text: str, mark: str = '"') -> str:
    r"""Return the text in quotation marks, with all bytes that are not ASCII escaped.

    >>> print(quote('a"\n'), quote("é", "'"))
    "a\"\n" '\xc3\xa9'
    """
    return f"{mark}{_escaped(text)}{mark}"


_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}


def _escaped(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    parts: list[str] = []
    hexed = False
    for byte in shown_bytes(text):
        # A hex digit after a hex escape would be read as a part of it.
        if byte in _SHORT:
            parts.append(_SHORT[byte])
            hexed = False
        elif 0x20 <= byte < 0x7F and not (hexed and chr(byte) in "0123456789abcdefABCDEF"):
            parts.append(chr(byte))
            hexed = False
        else:
            parts.append(f"\\x{byte:02x}")
            hexed = True
    return "".join(parts)


def shown_bytes(text: str) -> bytes:
    """Return the bytes of a text to show, also if it has lone surrogates.

    >>> shown_bytes("é"), shown_bytes("\\udcff"), shown_bytes("\\ud800")
    (b'\\xc3\\xa9', b'\\xff', b'\\xed\\xa0\\x80')
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def braces(values: Sequence[Any]) -> str:
    """Return values as an error message shows them.

    >>> braces([1, 2.5]), braces([1.0, float("inf")])
    ('{1, 2.5}', '{1, inf}')
    """
    return f"{{{', '.join(map(number_shown, values))}}}"


def number_shown(value: Any) -> str:
    """Return a number as an error message shows it; others as their text."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def expected(value: Any, what: str) -> SpecError:
    """Make the error that something else was expected where `value` was found.

    >>> expected(5, "object"), expected(MISSING, "string")
    (SpecError('Expected object, but received: 5'), SpecError('Expected string, but member is missing'))
    """
    if value is MISSING:
        return SpecError(f"Expected {what}, but member is missing")
    return SpecError(f"Expected {what}, but received: {dump(value)}")

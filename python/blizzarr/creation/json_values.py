"""Checking attributes: only values that JSON can express, so that every reader gets back what was stored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from blizzarr.dtypes.value_text import value_repr
from blizzarr.errors import MetadataError, Problem

MAX_DEPTH = 100
"""The deepest nesting of objects and lists; some parsers of JSON do not accept much more."""

_FINITE = "a finite number (JSON has no others; a string or null can stand for it)"


class AsZarrPython(dict[str, Any]):
    """Attributes that may have NaN and infinity, which are stored as zarr-python stores them.

    xarray has ``missing_value=nan`` from netCDF, and zarr-python reads it back; stricter readers of JSON cannot.
    """


def check_attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a deep copy of attributes in plain types.

    NumPy scalars become numbers, and tuples become lists. Values that would be read back as others are refused: arrays,
    bytes, dates, keys that are not strings, and NaN and infinity (unless they are `AsZarrPython`), which are not JSON
    and prevent other readers from opening the node at all.

    Raise `MetadataError` if JSON cannot express some values; `problems` lists all of them.

    >>> import numpy as np
    >>> check_attributes({"scale": np.float32(0.5), "axes": ("z", "y")})
    {'scale': 0.5, 'axes': ['z', 'y']}
    >>> check_attributes({"a": [1, float("nan")], "b": b"x"})
    Traceback (most recent call last):
    ...
    blizzarr.errors.MetadataError: the metadata does not conform, 2 problems:
      attributes.a[1]: expected a finite number (JSON has no others; a string or null can stand for it), found nan
      attributes.b: expected text (bytes have .decode(); other bytes can be stored in an array), found b'x'
    """
    if attributes is None:
        return {}
    if not isinstance(attributes, Mapping):
        raise MetadataError(problems=[Problem("attributes", "a mapping from strings to values", repr(attributes))])
    problems: list[Problem] = []
    kind = AsZarrPython if isinstance(attributes, AsZarrPython) else dict
    plain = _plain(dict(attributes), (None, "attributes"), problems, MAX_DEPTH, kind is dict)
    if problems:
        raise MetadataError(problems=problems)
    return kind(plain)


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8, which half of a surrogate pair cannot."""
    return text.isascii() or text == text.encode("utf-8", "replace").decode()


_Path: TypeAlias = tuple["_Path | None", str | int]
"""The place of a value: that of the list or object which it is in, and its name or number there."""


def _plain(value: Any, path: _Path, problems: list[Problem], depth: int, finite: bool) -> Any:
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        expected = None if is_unicode(value) else "valid Unicode"
    elif isinstance(value, float):
        expected = None if not finite or math.isfinite(value) else _FINITE
    elif depth == 0:
        expected = f"at most {MAX_DEPTH} levels of lists and objects"
    elif isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                problems.append(Problem(_text(path), "keys that are strings", repr(key)))
            elif not is_unicode(key):
                problems.append(Problem(_text(path), "keys that are valid Unicode", ascii(key)))
        return {str(key): _plain(item, (path, str(key)), problems, depth - 1, finite) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        return [_plain(item, (path, index), problems, depth - 1, finite) for index, item in enumerate(value)]
    elif isinstance(value, np.ndarray):
        expected = "a list (arrays have .tolist())"
    elif isinstance(value, bytes | bytearray | memoryview):
        expected = "text (bytes have .decode(); other bytes can be stored in an array)"
    else:
        expected = "a string, number, boolean, null, list or object"
    if expected is not None:
        shown = value_repr(value) if depth else type(value).__name__
        problems.append(Problem(_text(path), expected, shown if len(shown) <= 80 else shown[:79] + "…"))
    return value


def _text(path: _Path) -> str:
    around, step = path
    if around is None:
        return str(step)
    return f"{_text(around)}[{step}]" if isinstance(step, int) else f"{_text(around)}.{step}"

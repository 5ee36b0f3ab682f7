"""A cache of parsed specs, for programs that open many arrays with the same ones.

The same means the same types in the same order, as their bytes are compared.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from blizzarr.bounded_cache import BoundedCache

__all__ = ["Parsed", "kept"]

T = TypeVar("T")

_MOST: Final = 512
_LARGE: Final = 1 << 14
"""From how many bytes on a value is not kept."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


_caches: list[BoundedCache[bytes, Any]] = []


class Parsed(Generic[T]):
    """A parser of JSON with a cache of its last results, which nobody may change.

    Examples
    --------
    >>> shapes = Parsed(lambda value: tuple(value["shape"]))
    >>> shapes.of({"shape": [1, 2]}) is shapes.of({"shape": [1, 2]})
    True
    """

    __slots__ = ("_kept", "_parse")

    def __init__(self, parse: Callable[[Any], T]) -> None:
        self._parse = parse
        self._kept: BoundedCache[bytes, T] = BoundedCache(_MOST)
        _caches.append(self._kept)

    def of(self, value: Any) -> T:
        """Return the result for this value; errors are not cached."""
        try:
            # Version 2 has no references, so that equal values have equal bytes.
            key = marshal.dumps(value, 2)
        except ValueError:
            return self._parse(value)
        found = self._kept.get(key)
        if found is not None:
            return found
        result = self._parse(value)
        if len(key) < _LARGE and _is_plain(value):
            self._kept.keep(key, result)
        return result


def kept() -> int:
    """Return how many results all parsers keep."""
    return sum(map(len, _caches))


def _is_plain(value: Any) -> bool:
    """Return whether a value consists of JSON types only; the key of others would not tell them apart."""
    kind = type(value)
    if kind is dict:
        return all(type(name) is str and _is_plain(member) for name, member in value.items())
    if kind is list or kind is tuple:
        return all(map(_is_plain, value))
    return kind in _SCALARS

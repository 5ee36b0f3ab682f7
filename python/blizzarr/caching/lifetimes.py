"""Telling apart what lies in memory one after the other: an object's `id` is used again when it is gone."""

from __future__ import annotations

from itertools import count
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["Lifetime"]

_numbers = count(1)


class Lifetime:
    """As long as this lives, so does the object, and has this number; later lifetimes have others.

    Examples
    --------
    >>> values = {}
    >>> Lifetime.of(values) is Lifetime.of(values)
    True
    """

    __slots__ = ("__weakref__", "_of", "number")

    def __init__(self, of: Any) -> None:
        self._of = of
        self.number = next(_numbers)

    @staticmethod
    def of(behind: Any) -> Lifetime:
        """The one that there is, or a new one."""
        found = _lifetimes.get(id(behind))
        # Two threads at once may get two, which is no more than two caches. A lock might stay held in a forked child.
        return _lifetimes.setdefault(id(behind), Lifetime(behind)) if found is None else found


_lifetimes: WeakValueDictionary[int, Lifetime] = WeakValueDictionary()

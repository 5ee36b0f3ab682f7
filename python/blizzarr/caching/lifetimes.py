"""Numbers for objects that are never used again, unlike `id`, which a later object may get."""

from __future__ import annotations

from itertools import count
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["Lifetime"]

_numbers = count(1)


class Lifetime:
    """A reference to an object with a number that no other object ever gets.

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

"""Whether somebody has replaced methods of objects of zarr-python or numcodecs, so that they are not what they were."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from operator import is_not
from types import FunctionType
from typing import Any, Final

_DEFINING: Final = (sys.stdlib_module_names - {"unittest"}) | {"numcodecs", "numpy", "typing_extensions", "zarr"}
"""The packages whose functions are methods of these classes, be it by a decorator."""
_MADE: Final = ("namedtuple_", "_cython")
"""The beginnings of the names of modules in which functions are made together with a class."""


def have_replaced_methods(things: Iterable[object]) -> bool:
    """Return whether methods of these objects, or of other classes in the modules of theirs, are somebody else's."""
    things = [*things]
    classes = _Classes.of(tuple(map(type, things)))
    return classes.have_foreign_members() or any(
        callable(member) and hasattr(type(thing), name) and _is_foreign(member)
        for thing in things
        for name, member in getattr(thing, "__dict__", {}).items()
    )


class _Classes:
    """The classes of objects, those that they derive from, and those of the same modules, whose help methods take."""

    def __init__(self, kinds: tuple[type, ...]) -> None:
        modules = {kind.__module__ for kind in kinds}
        beside = [cls for name in modules for cls in vars(sys.modules[name]).values() if isinstance(cls, type)]
        helpers = [cls for cls in beside if cls.__module__ in modules]
        classes = dict.fromkeys(chain(*(kind.__mro__ for kind in kinds), helpers))
        self._members = [
            vars(cls).values() for cls in classes if cls.__module__.partition(".")[0] not in sys.stdlib_module_names
        ]
        self._own: list[Any] = []
        """What the classes had in them when nothing was replaced."""

    of = staticmethod(lru_cache(256)(lambda kinds: _Classes(kinds)))

    def have_foreign_members(self) -> bool:
        members = [*chain.from_iterable(self._members)]
        # Identity alone: a mock would count that it is compared, and an array cannot be.
        if len(members) != len(self._own) or any(map(is_not, members, self._own)):
            if any(map(_is_foreign, members)):
                return True
            self._own = members
        return False


def _is_foreign(member: Any) -> bool:
    """Return whether a member of a class is a function or a callable object of another package."""
    for within in ("__func__", "fget", "func"):  # of a class method, a property, a cached one
        member = getattr(member, within, None) or member
    if type(member) is FunctionType:  # not a mock with the attributes of one
        origin: str = member.__globals__.get("__name__", "")
    elif callable(member) and not isinstance(member, type):
        origin = type(member).__module__
    else:
        return False
    return origin.partition(".")[0] not in _DEFINING and not origin.startswith(_MADE)

"""What is imported when somebody asks for it: importing blizzarr is to cost what opening an array needs, not more.

A name here is told by its place, ``"module:name"``.

A forked child waits forever for a module that another thread was importing when it was forked, as that thread does not
exist there. So who forks waits until no other thread imports a module of this package.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import _bootstrap, import_module
from sys import modules
from threading import get_ident
from typing import Any, Final, TypeVar

__all__ = ["LateRows", "late_names"]

T = TypeVar("T")

_PATIENCE: Final = 5.0
"""Seconds that who forks waits at most: an import may itself wait for the thread that forks."""


class LateRows(Mapping[str, T]):
    """A table, of which a row is imported when it is asked for.

    Examples
    --------
    >>> rows = LateRows({"whole": "fractions:Fraction", "part": "decimal:Decimal"})
    >>> list(rows), rows["whole"], rows.get("none")
    (['whole', 'part'], <class 'fractions.Fraction'>, None)
    """

    __slots__ = ("_here", "places")

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)
        self._here: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        try:
            return self._here[name]
        except KeyError:
            found: T = _import(self.places[name])
            self._here[name] = found
            return found

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def late_names(package: str, places: Iterable[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names are at these places (PEP 562)."""
    found = {place.partition(":")[2]: place for place in places}

    def get(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=modules[package])
        value = _import(found[name])
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *found})

    return get, names


def _import(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _others_import() -> bool:
    """Whether another thread imports a module of this package."""
    # Python tells nobody of it; where it has no such table, nobody waits.
    locks = dict(getattr(_bootstrap, "_module_locks", {}))
    own = __name__.partition(".")[0]
    held = (ref() for name, ref in locks.items() if name.partition(".")[0] == own)
    return any(getattr(lock, "owner", None) not in (None, get_ident()) for lock in held)


def _wait_for_imports() -> None:
    deadline = time.monotonic() + _PATIENCE
    while _others_import() and time.monotonic() < deadline:
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports)

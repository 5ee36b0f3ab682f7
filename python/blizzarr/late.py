"""What is imported when somebody asks for it: importing blizzarr is to cost what opening an array needs, not more.

A name here is told by its place, ``"module:name"``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from sys import modules
from typing import Any, TypeVar

__all__ = ["LateRows", "late_names"]

T = TypeVar("T")


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

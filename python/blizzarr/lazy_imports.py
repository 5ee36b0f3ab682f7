"""Imports on demand: importing blizzarr costs no more than opening an array needs.

An object is given by its place, ``"module:name"``. Imports may run in any thread; `blizzarr.fork` keeps forked children
from waiting for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from sys import modules
from typing import Any, TypeVar

import blizzarr.fork  # noqa: F401  # registers what forks wait for, before anything is imported on demand

T = TypeVar("T")


def is_instance(value: object, place: str) -> bool:
    """Return whether an object is of a class, whose module is not imported for it; a release may lack the class."""
    module, _, name = place.partition(":")
    return isinstance(value, getattr(modules.get(module), name, ()))


class LazyTable(Mapping[str, T]):
    """A read-only mapping whose values are imported on first access.

    - `places`: the places of the values by key.

    >>> rows = LazyTable({"whole": "fractions:Fraction", "part": "decimal:Decimal"})
    >>> list(rows), rows["whole"], rows.get("none")
    (['whole', 'part'], <class 'fractions.Fraction'>, None)
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)
        self._here: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        try:
            return self._here[name]
        except KeyError:
            value: T = object_at(self.places[name])
            self._here[name] = value
            return value

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def lazy_names(
    package: str, places: Iterable[str], instead: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` (PEP 562) for a package whose names are at these places.

    - `package`: the name of the package.
    - `places`: the places of its names.
    - `instead`: the table of `blizzarr.renamed` that has advice on names of zarr-python, if there is one.
    """
    by_name = {location.partition(":")[2]: location for location in places}

    def get(name: str) -> Any:
        if name not in by_name:
            from blizzarr import renamed

            advice = getattr(renamed, instead) if instead else {}
            raise renamed.no_attribute(modules[package], f"module {package!r}", name, advice)
        value = object_at(by_name[name])
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *by_name})

    return get, names


def object_at(place: str) -> Any:
    """Return the object at a place."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)

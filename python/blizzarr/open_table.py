"""Tables that other packages can add rows to: formats, and the drivers of TensorStore's interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from blizzarr.lazy_imports import LazyTable

T = TypeVar("T")


class OpenTable(LazyTable[T]):
    """A lazy table that programs add rows to, and installed packages by their entry points.

    - `group`: the group of the entry points. They are read once in a process: when a name is looked up that has no row,
      or when all names are listed.
    - `places`: the places of the values by name.

    >>> table = OpenTable[type]("example.numbers", {"whole": "fractions:Fraction"})
    >>> table.register("real", float)
    >>> table["whole"], table["real"], "complex" in table
    (<class 'fractions.Fraction'>, <class 'float'>, False)
    """

    __slots__ = ("_group", "_is_complete")

    def __init__(self, group: str, places: Mapping[str, str]) -> None:
        super().__init__(places)
        self._group = group
        self._is_complete = False

    def register(self, name: str, value: T) -> None:
        """Add a row; raise `ValueError` if there is another row of this name."""
        if name in self and self[name] is not value:
            raise ValueError(f"expected a name that is free in the group {self._group}, found {name!r}; choose another")
        # Another thread that finds the name has to find the value, too.
        self._here[name] = value
        self.places[name] = ""

    def __getitem__(self, name: str) -> T:
        try:
            return self._here[name]
        except KeyError:
            self._complete_for(name)
        return super().__getitem__(name)

    def find(self, name: str) -> T | None:
        """Return the value of a name, or None."""
        value = self._here.get(name)
        return value if value is not None or name not in self else self[name]

    def __contains__(self, name: object) -> bool:
        if name in self._here:
            return True
        self._complete_for(name)
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return super().__iter__()

    def __len__(self) -> int:
        self._complete()
        return super().__len__()

    def _complete_for(self, name: object) -> None:
        """Look for the name among the entry points if it has no row."""
        if name not in self.places:
            self._complete()

    def _complete(self) -> None:
        """Add a row for each entry point whose name is free."""
        if self._is_complete:
            return
        from importlib.metadata import entry_points

        for point in entry_points(group=self._group):
            self.places.setdefault(point.name, f"{point.module}:{point.attr}")
        self._is_complete = True

"""Tables that other packages can add rows to: codecs, data types, formats, drivers, and what else has a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from blizzarr.errors import UnknownExtensionError
from blizzarr.lazy_imports import LazyTable, object_at

T = TypeVar("T")


class OpenTable(LazyTable[T]):
    """A lazy table that programs add rows to, and installed packages by their entry points.

    - `group`: the group of the entry points. They are read once in a process: when a name is looked up that has no row,
      or when all names are listed.
    - `places`: the places of the values by name.
    - `of_others`: a group of entry points for another library, and the place of a function that makes a value for this
      table from the name and the value of such an entry point.

    >>> table = OpenTable[type]("example.numbers", {"whole": "fractions:Fraction"})
    >>> table.register("real", float)
    >>> table["whole"], table["real"], "complex" in table
    (<class 'fractions.Fraction'>, <class 'float'>, False)
    """

    def __init__(self, group: str, places: Mapping[str, str], of_others: tuple[str, str] | None = None) -> None:
        super().__init__(places)
        self._group = group
        self._of_others = of_others
        self._adapters: dict[str, str] = {}
        self._is_complete = False

    def register(self, name: str, value: T) -> None:
        """Add a row.

        Raise `TypeError` if the name is no text, `ValueError` if there is another row of this name. The same class or
        function defined anew, as when a cell of a notebook runs again, replaces the old one.
        """
        if not isinstance(name, str) or not name:
            where = "; a class has it as its attribute 'name'" if isinstance(value, type) else ""
            raise TypeError(f"expected a name to register in {self._group}, found {name!r}{where}")
        if name in self and not _is_same(self[name], value):
            raise ValueError(f"expected a name that {self._group} does not have yet, found {name!r}; choose another")
        # Another thread that finds the name has to find the value, too.
        self._here[name] = value
        self.places[name] = ""

    def __getitem__(self, name: str) -> T:
        try:
            return self._here[name]
        except KeyError:
            self._complete_for(name)
        if name not in self._adapters:
            return super().__getitem__(name)
        try:
            value = super().__getitem__(name)
            if self._adapters[name]:
                value = object_at(self._adapters[name])(name, value)
        except (ImportError, AttributeError) as missing:
            place = self.places[name]
            reason = f"{name!r} of the group {self._group} cannot be imported from {place}: {missing}"
            raise UnknownExtensionError(f"{reason}; reinstall the package that has it", extensions=(name,)) from missing
        self._here[name] = value
        return value

    def find(self, name: str) -> T | None:
        """Return the value of a name, or None."""
        value = self._here.get(name)
        return value if value is not None or name not in self else self[name]

    def imported(self) -> list[T]:
        """Return the values that are here already."""
        return list(self._here.values())

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
        if name not in self.places:
            self._complete()

    def _complete(self) -> None:
        """Add a row for each entry point whose name is free."""
        if self._is_complete:
            return
        from importlib.metadata import entry_points

        for group, adapter in ((self._group, ""), *filter(None, (self._of_others,))):
            for point in entry_points(group=group):
                if point.name not in self.places:
                    self._adapters[point.name] = adapter
                    self.places[point.name] = f"{point.module}:{point.attr}"
        self._is_complete = True


_PLACE: Final = ("__module__", "__qualname__")


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (
        hasattr(one, "__qualname__") and all(getattr(one, part) == getattr(other, part, None) for part in _PLACE)
    )

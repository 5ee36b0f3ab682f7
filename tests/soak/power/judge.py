"""What may be found after a power cut, from what the writer has said before it, and what is found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr.errors import BlizzarrError, NodeNotFoundError
from soak.power.load import ABSENT, CELL, CELLS, PLAIN, SHARDED

__all__ = ["Memory", "problems"]

DOCUMENT = -1
"""The cell that stands for the attribute of an array."""


class Memory:
    """For each cell of each array the values that it may have: the last that is durable, and all since."""

    def __init__(self) -> None:
        self.values: dict[str, dict[int, list[int]]] = {
            name: {cell: [1] for cell in (DOCUMENT, *range(CELLS))} for name in (PLAIN, SHARDED)
        }
        self.may_be_gone: set[str] = set()
        self.gone: set[str] = set()
        self._new_since: set[str] = set()
        self._deleted_since: set[str] = set()

    def hear(self, told: dict[str, Any]) -> None:
        """Take in a line that the writer has said."""
        if "flushed" in told:
            self._flushed()
            return
        change = told.get("begin") or told["done"]
        name, kind = change["name"], change["kind"]
        cells = [DOCUMENT] if kind == "document" else range(*change["cells"])
        if "begin" in told:
            self._begun(name, kind, cells, change["number"])
        elif kind == "new":
            self._new_since.add(name)
        elif kind == "delete":
            self._deleted_since.add(name)
        if told.get("durable"):
            self._flushed([name])

    def _begun(self, name: str, kind: str, cells: Iterable[int], number: int) -> None:
        if kind == "delete":
            self.may_be_gone.add(name)
            for values in self.values[name].values():
                values.append(ABSENT)
            return
        if kind == "new":
            self.values[name] = {cell: [ABSENT] for cell in cells}
            self.may_be_gone.add(name)
        for cell in cells:
            self.values[name][cell].append(number)

    def _flushed(self, names: Iterable[str] | None = None) -> None:
        """Of what is done, the newest is what must be there."""
        for name in list(self.values) if names is None else names:
            if name in self._deleted_since:
                self.gone.add(name)
                del self.values[name]
                continue
            for values in self.values[name].values():
                del values[:-1]
            if name in self._new_since:
                self.may_be_gone.discard(name)
                self._new_since.discard(name)


def problems(root: Path, memory: Memory) -> list[tuple[str, str]]:
    """What is wrong: each as one word and a sentence."""
    try:
        group = blizzarr.open_group(root, mode="r")
    except BlizzarrError as error:
        return [("unreadable", str(error))]
    found = [("undone", f"{name} was deleted for good and is there") for name in sorted(memory.gone) if name in group]
    for name, cells in memory.values.items():
        try:
            array = group[name]
        except (KeyError, NodeNotFoundError):
            if name not in memory.may_be_gone:
                found.append(("lost", f"{name} is gone"))
            continue
        except BlizzarrError as error:
            found.append(("unreadable", f"{name}: {error}"))
            continue
        found += [problem for cell, allowed in cells.items() if (problem := _cell(array, cell, allowed))]
    return found


def _cell(array: Any, cell: int, allowed: list[int]) -> tuple[str, str] | None:
    where = f"{array.path}, cell {cell}"
    if cell == DOCUMENT:
        number = array.attrs["number"]
        return None if number in allowed else ("lost", f"{where}: expected one of {allowed}, found {number}")
    try:
        values = array[cell * CELL : (cell + 1) * CELL]
    except BlizzarrError as error:
        return "unreadable", f"{where}: {error}"
    found = sorted({int(value) for value in np.unique(values)})
    if len(found) > 1:
        return "torn", f"{where}: {found}"
    if found[0] in allowed:
        return None
    return "zeroed" if found[0] == 0 else "lost", f"{where}: expected one of {allowed}, found {found[0]}"

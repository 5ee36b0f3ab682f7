"""Faults: two creators of one path, and removals beside creations, at each step of each other (row 104)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, NodeTypeError
from blizzarr.stores import LocalStore, MappingStore, Store
from support.stepped import Stepped

Work = Callable[[Store], object]


def empty(store: Store) -> None:
    blizzarr.create_group(store)


def filled(store: Store) -> None:
    empty(store)
    blizzarr.create_array(store, name="g/x", data=np.full(6, 1, "i2"), chunks=2)


def creates(value: int, length: int, chunks: int, **options: Any) -> Work:
    data = np.full(length, value, "i2")
    return lambda store: blizzarr.create_array(store, name="g/x", data=data, chunks=chunks, **options)


def unwritten(store: Store) -> object:
    return blizzarr.create_array(store, name="g/x", shape=6, dtype=">i2", chunks=2, fill_value=9, overwrite=True)


def becomes_array(store: Store) -> object:
    return blizzarr.create_array(store, name="g", data=np.full(4, 5, "i2"), chunks=2, overwrite=True)


def adds(store: Store) -> object:
    return blizzarr.create_array(store, name="g/y", data=np.full(4, 7, "i2"), chunks=2)


def deletes(name: str) -> Work:
    return lambda store: blizzarr.open_group(store).__delitem__(name)


RACES: dict[str, tuple[Work, Work, Work]] = {
    "two creators": (empty, creates(1, 6, 2), creates(2, 4, 4)),
    "two that overwrite": (filled, creates(3, 6, 2, overwrite=True), creates(2, 4, 4, overwrite=True)),
    "two that overwrite, one without elements": (filled, unwritten, creates(2, 6, 2, overwrite=True)),
    "a member of a group that becomes an array": (filled, adds, becomes_array),
    "a group that gets a member while it becomes an array": (filled, becomes_array, adds),
    "deleted while it is overwritten": (filled, creates(2, 4, 4, overwrite=True), deletes("g/x")),
    "overwritten while it is deleted": (filled, deletes("g/x"), creates(2, 4, 4, overwrite=True)),
    "a member of a group that is deleted": (filled, adds, deletes("g")),
    "a group that gets a member while it is deleted": (filled, deletes("g"), adds),
}


def state(store: Store) -> Any:
    """What there is; None if it cannot be read."""
    try:
        members = blizzarr.open_group(store, mode="r").members(max_depth=None)
        return {name: node[...].tolist() if isinstance(node, blizzarr.Array) else None for name, node in members}
    except BlizzarrError:
        return None


def done(work: Work, store: Store) -> bool:
    """Whether it succeeded; if not, it has said so."""
    try:
        work(store)
    except BlizzarrError:
        return False
    return True


def in_turn(prepare: Work, *works: Work) -> Any:
    store = MappingStore({})
    prepare(store)
    for work in works:
        done(work, store)
    return state(store)


@pytest.mark.parametrize("kind", ["mapping", "directory"])
@pytest.mark.parametrize("race", RACES)
def test_row_104_at_each_step(tmp_path: Path, race: str, kind: str) -> None:
    """If both succeed, it is as if one had come after the other; otherwise the loser is told."""
    prepare, one, other = RACES[race]
    allowed = [in_turn(prepare, one, other), in_turn(prepare, other, one)]
    for step in count():
        store: Store = MappingStore({}) if kind == "mapping" else LocalStore(tmp_path / str(step))
        prepare(store)
        both: list[bool] = []

        def before(number: int, step: int = step, store: Store = store, both: list[bool] = both) -> None:
            if number == step:
                both.append(done(other, store))

        finished = done(one, Stepped(store, before))
        if not both:
            return
        if finished and both[0]:
            assert state(store) in allowed
            assert "unreachable" not in blizzarr.check(store).kinds(), "no node lies below an array"


@pytest.mark.parametrize("error", [ValueError("of the source"), KeyboardInterrupt()])
def test_row_104_a_creator_that_fails_removes_nothing_of_others(monkeypatch: pytest.MonkeyPatch, error: Any) -> None:
    """The array that another writer has put in its place in the meantime stays."""
    store = MappingStore({})
    filled(store)

    def copy_elements(*_: Any) -> None:
        creates(2, 4, 4, overwrite=True)(store)
        raise error

    from blizzarr.copying import elements

    plain = elements.copy_elements
    calls = iter([copy_elements, plain])
    monkeypatch.setattr(elements, "copy_elements", lambda *arguments: next(calls)(*arguments))
    with pytest.raises(type(error)):
        creates(3, 6, 2, overwrite=True)(store)
    assert state(store) == {"g": None, "g/x": [2, 2, 2, 2]}


@pytest.mark.parametrize("deletes", [True, False])
def test_row_104_an_array_takes_the_place_of_a_group_above(deletes: bool) -> None:
    """The new node cannot stay, unless the store cannot delete; what others have put in its place stays."""

    class Planting(MappingStore):
        supports_delete = deletes

        def delete(self, key: str) -> object:
            assert deletes
            return super().delete(key)

        def replace(self, key: str, expected: Any, value: Any) -> Any:
            replaced = super().replace(key, expected, value)
            if key == "g/x/zarr.json":
                self.set("g/zarr.json", array)
            return replaced

    array = blizzarr.create_array({}, data=np.arange(4)).store.get("zarr.json")
    blizzarr.create_group(store := Planting({}), path="g")
    with pytest.raises(NodeTypeError, match="nothing can be below it"):
        blizzarr.create_group(store, path="g/x")
    assert ("g/x/zarr.json" in store.mapping) is not deletes
    assert store.get("g/zarr.json") == array

"""Faults: removals and replacements that do not come to their end (row 81)."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeExistsError, NodeNotFoundError
from blizzarr.stores import LocalStore, MappingStore, Store, StoreWrapper, Value


class Died(BaseException):
    """As a kill, but in this process."""


class Dying(StoreWrapper):
    """Ends with the Nth change."""

    left = -1

    def _count(self) -> None:
        if self.left == 0:
            raise Died
        self.left -= 1

    def set(self, key: str, value: Value) -> None:
        self._count()
        super().set(key, value)

    def delete(self, key: str) -> object:
        self._count()
        return super().delete(key)

    def delete_prefix(self, prefix: str) -> None:
        self._count()
        super().delete_prefix(prefix)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        self._count()
        return super().replace(key, expected, value)


LAYOUTS: dict[str, dict[str, Any]] = {
    "v3": {},
    "v3 with dots": {"chunk_key_encoding": {"name": "default", "separator": "."}},
    "v2": {"zarr_format": "v2"},
    "v2 with slashes": {"zarr_format": "v2", "chunk_key_encoding": {"name": "v2", "separator": "/"}},
    "draft": {"zarr_format": "v3_draft"},
}


def put(store: Store, layout: str, data: np.ndarray[Any, Any]) -> None:
    """An array at the root, or a group there with arrays in it."""
    kind, _, layout = layout.partition(" of ")
    options = LAYOUTS[layout]
    if kind == "array":
        blizzarr.create_array(store, data=data, chunks=4, overwrite=True, **options)
        return
    root = blizzarr.create_group(store, overwrite=True, zarr_format=options.get("zarr_format"))
    for path in ("x", "g/y"):
        root.create_array(path, data=data, chunks=4, **{**options, "zarr_format": None})


PLACES = [f"{kind} of {layout}" for kind in ("array", "group") for layout in LAYOUTS]


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        pytest.param("in memory", old, new, marks=[pytest.mark.thorough] * (number % 3 > 0))
        for number, (old, new) in enumerate(
            product(PLACES, ["array of v3", "array of v2", "group of v2", "group of draft"])
        )
    ]
    + [("directory", "array of v2", "array of v3"), ("directory", "group of draft", "group of v2")],
)
def test_row_081_a_root_that_was_being_replaced_is_replaced_the_next_time(
    tmp_path: Path, kind: str, old: str, new: str
) -> None:
    """By whatever: nothing of the old one is left, nor is it called somebody else's."""
    data = np.arange(1, 65).reshape(8, 8)

    def make(name: str) -> Dying:
        return Dying(LocalStore(tmp_path / name) if kind == "directory" else MappingStore({}))

    put(wanted := make("wanted"), new, data)
    for step in range(1, 100):
        put(store := make(str(step)), old, -data)
        store.left = step
        try:
            put(store, new, data)
            assert step > 5
            break
        except Died:
            store.left = -1
        put(store, new, data)
        assert sorted(store.list()) == sorted(wanted.list()), step
        assert all(store.get(key) == wanted.get(key) for key in store.list())
    else:
        raise AssertionError("it never ends")


@pytest.mark.parametrize("kind", ["in memory", "directory"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["x", "g"])
def test_row_081_a_removal_that_dies_again_and_again(tmp_path: Path, kind: str, layout: str, name: str) -> None:
    """Removing the member again goes on each time, until nothing is left of it."""
    for steps in range(3, 9):
        store = Dying(LocalStore(tmp_path / str(steps)) if kind == "directory" else MappingStore({}))
        put(store, f"group of {layout}", np.arange(1, 65).reshape(8, 8))
        rest = {key for key in store.list() if f"{name}/" not in key and f"/{name}." not in key}
        for _ in range(10):
            store.left = steps
            try:
                del blizzarr.open_group(store, mode="r+")[name]
                break
            except Died:
                store.left = -1
            except NodeNotFoundError:
                break  # it died when everything was gone
        assert set(store.list()) == rest
        with pytest.raises(NodeNotFoundError):
            del blizzarr.open_group(store)[name]


def test_row_081_what_is_left_of_a_removal_is_told() -> None:
    """Nobody is given an array between the chunks of another one, and a check names it."""
    store = Dying(MappingStore({}))
    put(store, "group of v2", np.arange(1, 65).reshape(8, 8))
    store.set("x/notes.txt", b"mine")
    group = blizzarr.open_group(store)
    store.left = 3
    with blizzarr.config.set(keep_foreign_files=True), pytest.raises(Died):
        del group["x"]
    store.left = -1
    for make in (group.create_group, partial(group.create_array, shape=2, dtype="i1")):
        with pytest.raises(NodeExistsError, match=r"an interrupted removal left chunks here\); overwrite=True"):
            make("x")
    assert blizzarr.check(store).kinds()["unfinished"] == 1
    with pytest.raises(NodeExistsError, match=r"not ours: x/notes\.txt;"):
        group.create_array("x", shape=2, dtype="i1", overwrite=True)
    with blizzarr.config.set(keep_foreign_files=True):
        group.create_array("x", shape=2, dtype="i1", overwrite=True)
    assert list(store.list("x")) == ["x/.zarray", "x/notes.txt"]

"""Opening or creating, while somebody else creates the same node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import blizzarr
from blizzarr.errors import NodeExistsError, NodeTypeError
from blizzarr.hierarchy import place
from blizzarr.stores import MemoryStore

WAYS: dict[str, Callable[[MemoryStore], Any]] = {
    "open": lambda store: blizzarr.open(store, path="a/x", mode="a", attributes={"mine": 1}),
    "open_group": lambda store: blizzarr.open_group(store, mode="a", path="a/x"),
    "group": lambda store: blizzarr.group(store, path="a/x"),
    "require_group": lambda store: blizzarr.open_group(store, path="a").require_group("x"),
    "require_groups": lambda store: blizzarr.open_group(store, path="a").require_groups("x")[0],
    "open, an array": lambda store: blizzarr.open(store, path="a/x", shape=3, dtype="i4"),
    "open_array": lambda store: blizzarr.open_array(store, path="a/x", shape=3, dtype="i4"),
    "require_array": lambda store: blizzarr.open_group(store, path="a").require_array("x", shape=3, dtype="i4"),
}
ARRAYS = [way for way in WAYS if "array" in way]
GROUPS = [way for way in WAYS if "array" not in way]


def create(store: MemoryStore, array: bool) -> None:
    if array:
        blizzarr.create_array(store, name="a/x", shape=3, dtype="i8", attributes={"other": 1})
    else:
        blizzarr.create_group(store, path="a/x", attributes={"other": 1})


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None], bool], None]:
    """Lets somebody else act right before, or right after, a new node looks whether its place is free."""

    def arrange(others: Callable[[], None], late: bool) -> None:
        name = "_store" if late else "_taken"
        real = getattr(place, name)

        def interrupted(*args: Any, **options: Any) -> Any:
            monkeypatch.undo()
            others()
            return real(*args, **options)

        monkeypatch.setattr(place, name, interrupted)

    return arrange


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_node_that_somebody_else_has_just_created_is_returned(way: str, late: bool, meanwhile: Any) -> None:
    store = MemoryStore()
    blizzarr.create_group(store, path="a")
    meanwhile(lambda: create(store, way in ARRAYS), late)
    node = WAYS[way](store)
    assert (node.path, node.attrs.asdict()) == ("a/x", {"other": 1})
    if way in ARRAYS:
        assert node.dtype == "i8"


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("open", "open, an array", "group")])
def test_it_must_be_what_was_wanted(way: str, meanwhile: Any) -> None:
    store = MemoryStore()
    blizzarr.create_group(store, path="a")
    meanwhile(lambda: create(store, way not in ARRAYS), True)
    with pytest.raises(NodeTypeError, match=r"expected an? (array|group), found an? (array|group)"):
        WAYS[way](store)


def test_group_never_returns_an_array(meanwhile: Any) -> None:
    store = MemoryStore()
    blizzarr.create_group(store, path="a")
    meanwhile(lambda: create(store, True), True)
    with pytest.raises(NodeExistsError, match="another writer made it"):
        WAYS["group"](store)


@pytest.mark.parametrize("mode", ["w-", "w"])
def test_modes_that_do_not_open_say_that_it_exists(mode: Any, meanwhile: Any) -> None:
    store = MemoryStore()
    meanwhile(lambda: create(store, True), True)
    if mode == "w-":
        with pytest.raises(NodeExistsError, match="another writer made it"):
            blizzarr.open_array(store, path="a/x", mode=mode, shape=3, dtype="i4")
    else:
        assert blizzarr.open_array(store, path="a/x", mode=mode, shape=3, dtype="i4").dtype == "i4"


def test_a_place_that_is_taken_by_what_cannot_be_opened_is_an_error() -> None:
    """Chunks of an array that is gone: there is nothing to return."""
    store = MemoryStore()
    store.set("x/c/0", b"1")
    with pytest.raises(NodeExistsError, match=r"something is here already \(x/c/"):
        blizzarr.open_array(store, path="x", shape=3, dtype="i4")
    with pytest.raises(NodeExistsError, match=r"something is here already \(x/c/"):
        blizzarr.open_group(store, mode="a").require_array("x", shape=3)

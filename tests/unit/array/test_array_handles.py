"""One handle in several threads: it shows what was stored last, not what was adopted last."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from blizzarr.api import create_array, create_group, open_array
from blizzarr.array import Array, reshape
from blizzarr.stores import MappingStore
from blizzarr.stores.protocol import Value


class Meanwhile(MappingStore):
    """Does something in another thread, once, right after the first access of one kind."""

    def __init__(self, after: str) -> None:
        super().__init__({})
        self.after = after
        self.others: Callable[[], object] | None = None

    def _turn(self, call: str) -> None:
        others = self.others
        if call == self.after and others is not None:
            self.others = None
            thread = threading.Thread(target=others)
            thread.start()
            thread.join()

    def get(self, key: str) -> Value | None:
        found = super().get(key)
        self._turn("get")
        return found

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        done = super().replace(key, expected, value)
        self._turn("replace")
        return done


def stored(array: Array) -> Array:
    return open_array(array.store, mode="r")


def test_the_shape_is_adopted_before_another_thread_can_append(monkeypatch: pytest.MonkeyPatch) -> None:
    array = create_array({}, data=[0, 1, 2], chunks=2)
    module = importlib.import_module("blizzarr.array.array")
    append, returned = module.append, list[Any]()

    def appended(*args: Any, **options: Any) -> Any:
        made = append(*args, **options)
        if not returned:
            returned.append(None)
            second = threading.Thread(target=lambda: returned.append(array.append([20, 21])))
            second.start()
            second.join()
        return made

    monkeypatch.setattr(module, "append", appended)
    assert array.append([10]) == (4,)
    assert returned == [None, (6,)]
    assert array[:].tolist() == [0, 1, 2, 10, 20, 21] == stored(array)[:].tolist()


def test_an_append_returns_its_own_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of whoever was next with the same handle."""
    array = create_array({}, data=[0, 1, 2], chunks=2)
    adopt = Array._adopt_shape

    def adopted(self: Array, *args: Any) -> None:
        adopt(self, *args)
        # What another thread would adopt once the lock is free.
        self._adopt(self.metadata.with_shape((9,)))

    monkeypatch.setattr(Array, "_adopt_shape", adopted)
    assert array.append([10]) == (4,)
    assert array.shape == (9,)


def test_refresh_discards_what_is_older_than_another_threads_append() -> None:
    store = Meanwhile(after="get")
    array = create_array(store, data=[0, 1, 2], chunks=2)
    store.others = lambda: array.append([10])
    assert array.refresh() is array
    assert (array.shape, stored(array).shape) == ((4,), (4,))
    assert array[:].tolist() == [0, 1, 2, 10]


def test_a_changed_attribute_does_not_undo_another_threads_append() -> None:
    store = Meanwhile(after="replace")
    array = create_array(store, data=[0, 1, 2], chunks=2)
    store.others = lambda: array.append([10])
    array.attrs["a"] = 1
    assert (array.shape, array.attrs.asdict()) == ((4,), {"a": 1})
    assert array[:].tolist() == [0, 1, 2, 10]


def test_an_append_does_not_undo_another_threads_attribute() -> None:
    store = Meanwhile(after="replace")
    array = create_array(store, data=[0, 1, 2], chunks=2)
    store.others = lambda: array.attrs.update(a=1)
    assert array.append([10]) == (4,)
    assert (array.shape, array.attrs.asdict()) == ((4,), {"a": 1})


@pytest.mark.parametrize("create", [lambda store: create_array(store, data=[1]), create_group])
def test_of_two_changed_attributes_a_handle_shows_both(create: Callable[[Any], Any]) -> None:
    store = Meanwhile(after="replace")
    node = create(store)
    store.others = lambda: node.attrs.update(b=2)
    node.attrs["a"] = 1
    assert node.attrs.asdict() == {"a": 1, "b": 2}


def test_a_shape_that_cannot_be_erased_to_is_adopted_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is published then, so a handle with the old one would read what is not there."""
    array = create_array({}, data=[0, 1, 2], chunks=1)

    def broken(*_: Any, **__: Any) -> None:
        raise OSError("no deleting today")

    monkeypatch.setattr(reshape, "erase_outside", broken)
    with pytest.raises(OSError, match="no deleting today"):
        array.resize(1)
    assert array.shape == stored(array).shape == (1,)

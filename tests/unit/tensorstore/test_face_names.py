"""The interface has TensorStore's names and no others; every exception is listed here."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tensorstore_face import ours, theirs

# One of its stores.
MISSING = {"ocdbt"}
# No names of the interface, only in its files: a type variable and an import.
INSIDE = {"T", "annotations"}
# Names of ours that TensorStore does not have, by class.
EXTRA = {
    # Which values a commit has stored, and an option of TensorStore's C++ interface.
    "Transaction": {"stored", "not_stored", "repeatable_read"},
    # A list of maps is a `collections.abc.Sequence`.
    "OutputIndexMaps": {"count", "index"},
}


def public(thing: Any) -> set[str]:
    """The names without an underscore."""
    return {name for name in dir(thing) if not name.startswith("_")}


def test_names_of_the_module() -> None:
    """All of TensorStore's but those that are listed above, and no others."""
    assert public(theirs) - public(ours) == MISSING | INSIDE
    assert set(ours.__all__) == public(theirs) - MISSING - INSIDE
    assert len(ours.__all__) == len(set(ours.__all__))


CLASSES = sorted(name for name in public(theirs) if inspect.isclass(getattr(theirs, name)) and name != "Indexable")


@pytest.mark.parametrize("name", CLASSES)
def test_names_of_classes(name: str) -> None:
    """Every method and property is there, and no part of the implementation shows."""
    mine: Any = getattr(ours, name)
    # What only instances have.
    own = {"OpenMode": public(ours.OpenMode()), "OutputIndexMethod": {"name", "value"}}.get(name, set())
    assert public(getattr(theirs, name)) - public(mine) - own == set()
    assert public(mine) - public(getattr(theirs, name)) == EXTRA.get(name, set())


INSTANCES: dict[str, Callable[[Any], Any]] = {
    "Batch": lambda ts: ts.Batch(),
    "Context": lambda ts: ts.Context(),
    "Future": lambda ts: ts.Future(3),
    "OpenMode": lambda ts: ts.OpenMode(create=True),
    "Spec": lambda ts: ts.Spec({"driver": "zarr3"}),
    "TensorStore": lambda ts: ts.array([1]),
    "Transaction": lambda ts: ts.Transaction(),
    "WriteFutures": lambda ts: ts.array([1]).write(2),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_names_of_instances(name: str) -> None:
    """What an instance has beyond its class is TensorStore's too."""
    make = INSTANCES[name]
    assert public(make(ours)) - public(make(theirs)) == EXTRA.get(name, set())


def test_classes_within_classes() -> None:
    """The same of classes that are reached through another class."""
    for outer, inner in [
        ("KvStore", "Spec"),
        ("KvStore", "KeyRange"),
        ("KvStore", "ReadResult"),
        ("KvStore", "TimestampedStorageGeneration"),
        ("Context", "Spec"),
        ("Context", "Resource"),
        ("ChunkLayout", "Grid"),
        ("TensorStore", "StorageStatistics"),
    ]:
        mine, other = getattr(getattr(ours, outer), inner), getattr(getattr(theirs, outer), inner)
        assert public(other) == public(mine), (outer, inner)


def test_dir_of_the_module_shows_the_interface_only() -> None:
    """Not the modules and helpers that it is made of."""
    shown = set(dir(ours))
    assert {name for name in shown if not (name.startswith("__") and name.endswith("__"))} == set(ours.__all__)
    assert {"__all__", "__doc__", "__name__"} <= shown


def test_statistics_can_be_pickled() -> None:
    statistics = ours.TensorStore.StorageStatistics(not_stored=True, fully_stored=False)
    assert pickle.loads(pickle.dumps(statistics)) == statistics

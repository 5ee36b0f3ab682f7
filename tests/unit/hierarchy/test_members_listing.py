"""How often a store is listed to find the members of a hierarchy."""

from __future__ import annotations

from threading import Barrier
from typing import Any

import pytest

import blizzarr
import blizzarr.zarr
from blizzarr.stores import Listing, MappingStore, MemoryStore, read_only
from blizzarr.stores.wrapper import StoreWrapper


class Counted(dict[str, bytes]):
    """A mapping that counts how often all its keys are gone through."""

    listed = 0

    def __iter__(self) -> Any:
        self.listed += 1
        return super().__iter__()


class Bare:
    """An object with the fewest methods that a store can be listed with."""

    def __init__(self, values: Counted) -> None:
        self.get, self.values = values.get, values

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]


@pytest.mark.parametrize("kind", [MappingStore, lambda values: read_only(MappingStore(values)), Bare])
@pytest.mark.parametrize("zarr_format", ["v3", "v2", "v3_draft"])
def test_all_keys_are_listed_once(kind: Any, zarr_format: str) -> None:
    """However deep it is, and however many groups there are: each listing goes through all keys."""
    values = Counted()
    root = blizzarr.create_group(MappingStore(values), zarr_format=zarr_format)
    paths = ["/".join("abcdefgh"[:depth]) for depth in range(1, 9)] + [f"{name}/x" for name in "ijk"]
    for path in paths:
        root.create_group(path)
    group = blizzarr.open_group(kind(values), mode="r")
    values.listed = 0
    assert {name for name, _ in group.members(max_depth=None)} == {*paths, *"ijk"}
    assert values.listed == 1
    inner = blizzarr.open_group(kind(values), mode="r", path="a/b")
    values.listed = 0
    assert [name for name, _ in inner.members(max_depth=1)] == ["c", "c/d"]
    assert values.listed == 1


@pytest.mark.parametrize("names", [blizzarr, blizzarr.zarr])
def test_a_member_that_may_be_missing_is_not_looked_for_among_the_others(names: Any) -> None:
    """The other members are gone through only for the text of an error."""

    class Noting(StoreWrapper):
        def list_dir(self, prefix: str) -> Listing:
            listed.append(prefix)
            return super().list_dir(prefix)

    listed: list[str] = []
    root = names.open_group(Noting(MemoryStore()), mode="w")
    listed.clear()
    assert root.get("ab") is root.get("x/y") is None
    root.require_group("ab")
    root.require_array("x/y", shape=(1,), dtype="int8")
    assert "" not in listed
    with pytest.raises(KeyError, match="did you mean 'ab'"):
        root["abx"]


class Far(StoreWrapper):
    """A store whose listings of one level wait for each other, so that one after the other is an error."""

    def __init__(self, store: Any, groups: list[int]) -> None:
        super().__init__(store)
        self.remote = True
        self.barriers = [Barrier(count, timeout=30) for count in groups]

    def list_dir(self, prefix: str = "") -> Listing:
        self.barriers[prefix.count("/")].wait()
        return super().list_dir(prefix)


def test_far_away_all_groups_of_one_level_are_listed_at_once() -> None:
    store = MemoryStore()
    root = blizzarr.create_group(store)
    for name in ("a/x", "a/y", "b/z", "c"):
        root.create_group(name)
        root.create_array(f"{name}/array", shape=2, dtype="u1")
    group = blizzarr.open_group(Far(store, [1, 3, 3, 1]), mode="r")
    assert str(group.tree()).count("array (2,)") == 4

"""What survives a power cut is chosen for a process, a store or a block: that it does, `soak/power_cuts.py` shows."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import blizzarr
from blizzarr import _native
from blizzarr.durability import Durability
from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore
from blizzarr.stores.requests import duplicate_many


def test_a_block_is_left_as_it_was_found() -> None:
    assert _native.durability_choice() == (None, False)
    with blizzarr.durable("full"):
        assert _native.durability_choice() == ("full", True)
        with blizzarr.durable("ordered"):
            assert _native.durability_choice() == ("ordered", False)
        assert _native.durability_choice() == ("full", True)
        with pytest.raises(KeyError), blizzarr.durable("none"):
            raise KeyError
        assert _native.durability_choice() == ("full", True)
    assert _native.durability_choice() == (None, False)


def test_other_levels_are_refused(tmp_path: Path) -> None:
    for use in (
        lambda: LocalStore(tmp_path, durability="fully"),  # type: ignore[arg-type]
        lambda: blizzarr.config.set(durability="fully"),
        lambda: blizzarr.durable("fully").__enter__(),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=r"expected (a )?durability .*found .fully."):
            use()


@pytest.mark.parametrize("level", [None, "none", "ordered", "full"])
def test_a_store_keeps_its_level_when_it_is_pickled(tmp_path: Path, level: Durability | None) -> None:
    store = pickle.loads(pickle.dumps(LocalStore(tmp_path, durability=level)))
    assert store.durability == level
    store.set("a/b", b"value")
    assert store.get("a/b") == b"value"
    assert store.delete("a/b")
    store.flush()


@pytest.mark.parametrize("level", ["none", "ordered", "full"])
def test_a_second_name_is_as_durable(tmp_path: Path, level: Durability) -> None:
    store = LocalStore(tmp_path / "new", durability=level)
    store.set("a", b"value")
    assert store.link_many([("a", "b/c/d"), ("z", "y")]) == [True, False]
    assert (tmp_path / "new/a").samefile(tmp_path / "new/b/c/d")
    with blizzarr.durable("full"):
        assert store.link_many([("a", "e"), ("a", "b/c/d")]) == [True, True]
    assert store.list() == ["a", "b/c/d", "e"]


@pytest.mark.parametrize("level", ["none", "full"])
def test_many_second_names(tmp_path: Path, level: Durability) -> None:
    store = LocalStore(tmp_path / "many", durability=level)
    store.set_many([(f"a/{number}", b"%d" % number) for number in range(300)])
    assert all(store.link_many([(f"a/{number}", f"b/{number % 7}/{number}") for number in range(300)]))
    store.delete_many([f"a/{number}" for number in range(299)] + ["not/there"])
    assert store.list("a") == ["a/299"]
    assert {store.get(f"b/{number % 7}/{number}") for number in range(300)} == {b"%d" % number for number in range(300)}


def test_what_gets_no_second_name(tmp_path: Path) -> None:
    """Another name of a symbolic link may lead elsewhere, and what has the name already is not replaced by a link."""
    store = LocalStore(tmp_path)
    store.set_many([("a", b"value"), ("other", b"another"), ("d/in", b"1")])
    (tmp_path / "link").symlink_to("a")
    pairs = [("link", "x/y/z"), ("a", "other"), ("d", "e"), ("a", "d/in/below"), ("missing", "f")]
    assert store.link_many(pairs) == [False] * 5
    assert store.list() == ["a", "d/in", "link", "other"]
    assert not (tmp_path / "x").exists()
    duplicate_many(store, pairs[:2])
    assert (store.get("x/y/z"), store.get("other")) == (b"value", b"value")
    assert not (tmp_path / "x/y/z").is_symlink()
    with pytest.raises(StoreError, match="d/in/below"):
        duplicate_many(store, pairs[3:4])


@pytest.mark.parametrize("level", ["none", "ordered", "full"])
def test_all_is_written_at_each_level(tmp_path: Path, level: Durability) -> None:
    with blizzarr.config.set(durability=level):
        array = blizzarr.create_array(tmp_path / "a.zarr", data=range(100), chunks=(3,), shards=(9,))
        array[5:50] = 7
        array.append([1, 2])
        array.attrs["b"] = 1
        array.resize((80,))
        copied = blizzarr.copy(array, tmp_path / "b.zarr")
        assert copied[...].tolist() == [0, 1, 2, 3, 4, *[7] * 45, *range(50, 80)]
        blizzarr.save(tmp_path / "c.zarr", range(3))
    assert LocalStore(tmp_path).leftovers() == []


def test_flushing_what_is_not_there(tmp_path: Path) -> None:
    LocalStore(tmp_path / "nothing").flush()
    assert not (tmp_path / "nothing").exists()

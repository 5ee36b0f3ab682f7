"""What survives a power cut is chosen for a process, a store or a block: that it does, `soak/power_cuts.py` shows."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import blizzarr
from blizzarr import _native
from blizzarr.durability import Durability
from blizzarr.stores import LocalStore


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
    assert store.link("a", "b/c/d")
    assert (tmp_path / "new/a").samefile(tmp_path / "new/b/c/d")
    with blizzarr.durable("full"):
        assert store.link("a", "e")
    assert store.list() == ["a", "b/c/d", "e"]


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

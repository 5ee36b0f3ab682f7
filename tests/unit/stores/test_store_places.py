"""Which stores count as one place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.caching import CachePool
from blizzarr.caching.store import CachedStore
from blizzarr.errors import NodeNotFoundError
from blizzarr.stores import (
    BaseStore,
    ForeignStore,
    LocalStore,
    MappingStore,
    MemoryStore,
    StoreWrapper,
    ZipStore,
    read_only,
)
from blizzarr.stores.place import is_below, lasting_place_of, place_of
from blizzarr.transactions import StagedStore, Transaction


class Shelf(BaseStore):
    """A store of a user's, with attributes of his own."""

    def __init__(self, **attributes: Any) -> None:
        self.values: dict[str, bytes] = {}
        self.__dict__.update(attributes)

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def set(self, key: str, value: Any) -> None:
        self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        self.values.pop(key, None)

    def list(self, prefix: str = "") -> list[str]:
        return [key for key in self.values if key.startswith(prefix)]


class Prefixed(StoreWrapper):
    def get(self, key: str) -> Any:
        return super().get(f"x/{key}")


SHARED: dict[str, bytes] = {}
ATTRIBUTES = [
    {"path": "data"},
    {"root": "data"},
    {"root": Path("data")},
    {"root": {"tree": 1}},
    {"path": os.path.join},
    {"mapping": SHARED},
    {"target": SHARED},
    {"mapping": 5},
    {"fs": SHARED, "root": "data"},
]


def _shelves(attributes: dict[str, Any]) -> tuple[Shelf, Shelf]:
    a, b = Shelf(**attributes), Shelf(**attributes)
    blizzarr.create_array(a, data=np.arange(6), chunks=2)
    return a, b


def _name(attributes: dict[str, Any]) -> str:
    """The same in every process, which the text of a function is not."""
    return ", ".join(f"{name}={type(value).__name__}" for name, value in attributes.items())


with_attributes = pytest.mark.parametrize("attributes", ATTRIBUTES, ids=_name)


@with_attributes
def test_attributes_of_a_store_of_the_user_do_not_make_it_a_directory(attributes: dict[str, Any]) -> None:
    a, b = _shelves(attributes)
    with pytest.raises(NodeNotFoundError, match="the store is empty"):
        blizzarr.open(b)
    z = blizzarr.open_array(a)
    assert repr(z) == f"<Array '/ in {a}' shape=(6,) dtype=int64 chunks=(2,)>"
    assert z.info_complete().chunks_stored == 3
    assert "(6,)" in z._repr_html_() or "<td>6" in z._repr_html_()


@with_attributes
def test_two_stores_of_the_user_with_equal_attributes_can_be_copied(attributes: dict[str, Any]) -> None:
    """Two buckets with the same `path` were one place, which overlaps."""
    a, b = _shelves(attributes)
    assert blizzarr.copy(blizzarr.open(a), b)[:].tolist() == [0, 1, 2, 3, 4, 5]
    assert b.values == a.values
    with pytest.raises(ValueError, match="overlaps"):
        blizzarr.copy(blizzarr.open(a), read_only(a), overwrite=True)


@with_attributes
def test_a_transaction_does_not_mix_up_stores_of_the_user(attributes: dict[str, Any]) -> None:
    a, b = _shelves(attributes)
    transaction = Transaction()
    StagedStore(transaction, a).set("k", b"for a")
    assert StagedStore(transaction, b).get("k") is None
    StagedStore(transaction, b).set("k", b"for b")
    transaction.commit_sync()
    assert (a.get("k"), b.get("k")) == (b"for a", b"for b")


@with_attributes
def test_a_pool_does_not_mix_up_stores_of_the_user(attributes: dict[str, Any]) -> None:
    a, b = _shelves(attributes)
    blizzarr.create_array(b, data=np.arange(10, 16), chunks=2)
    pool = CachePool(1 << 20)
    arrays = [blizzarr.open_array(store).cached(pool) for store in (a, b)]
    assert [array[:].tolist() for array in arrays] == [[0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15]]
    blizzarr.open_array(a)[0] = 7
    assert [array[:2].tolist() for array in arrays] == [[7, 1], [10, 11]]


@with_attributes
def test_stores_of_the_user_are_checked_and_repaired(
    attributes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    a, _ = _shelves(attributes)
    kept = Shelf(**attributes)
    report = blizzarr.check(a, record="data/manifest")
    assert (report.ok, (tmp_path / "data/manifest").exists()) == (True, True)
    a.values["c/1"] = b"damaged"
    report = blizzarr.check(a, repair=True, quarantine=kept, quarantine_damaged=True)
    (key,) = kept.values
    assert (key.partition("/")[2], kept.values[key]) == ("c/1", b"damaged")
    assert [repair.kept for repair in report.repairs] == [f"{key} in {kept}"]


def test_wrappers_are_the_place_of_what_they_wrap(tmp_path: Path) -> None:
    values: dict[str, bytes] = {}
    with ZipStore(tmp_path / "z.zip", "w") as archive:
        archive.set("a", b"")
    shelf = Shelf()
    pool = CachePool(1 << 20)
    places = []
    for store, again in (
        (LocalStore(tmp_path), LocalStore(f"{tmp_path}/../{tmp_path.name}", locking="threads")),
        (archive, ZipStore(tmp_path / "z.zip")),
        (MappingStore(values), MappingStore(values)),
        (ForeignStore(behind := Shelf()), ForeignStore(behind)),
        (shelf, shelf),
        (memory := MemoryStore(), memory),
    ):
        place = place_of(store)
        assert place_of(again) == place
        for wrapped in (read_only(again), CachedStore(again, pool, True), Prefixed(again), Prefixed(read_only(again))):
            assert place_of(wrapped) == place
        assert is_below(read_only(again), "a/b", store, "a")
        places.append(place)
    assert len(set(places)) == len(places)
    assert places[:2] == [f"file:{os.path.realpath(tmp_path)}", f"file:{os.path.realpath(tmp_path)}/z.zip"]


def test_mappers_of_one_file_system_are_told_apart_by_their_roots() -> None:
    fsspec = pytest.importorskip("fsspec")
    one, same, other = (MappingStore(fsspec.get_mapper(f"memory://{name}")) for name in "aab")
    assert place_of(one) == place_of(read_only(same)) != place_of(other)
    assert lasting_place_of(read_only(same)) == "MemoryFileSystem:/a"


def test_a_mapper_of_local_files_is_the_place_of_their_directory(tmp_path: Path) -> None:
    """Copying over it removes the source first."""
    fsspec = pytest.importorskip("fsspec")
    z = blizzarr.create_array(tmp_path / "a", data=[1, 2, 3])
    mapper = fsspec.get_mapper((tmp_path / "a").as_uri())
    with pytest.raises(ValueError, match="overlaps"):
        blizzarr.copy(z, mapper, overwrite=True)
    assert z[:].tolist() == [1, 2, 3]

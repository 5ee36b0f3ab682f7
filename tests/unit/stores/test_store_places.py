"""Which stores count as one place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import obstore
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem

import blizzarr
from blizzarr.caching import CachedStore, CachePool
from blizzarr.errors import NodeNotFoundError, PathError
from blizzarr.stores import (
    BaseStore,
    ForeignStore,
    FsspecStore,
    LocalStore,
    MappingStore,
    MemoryStore,
    StoreWrapper,
    ZipStore,
    read_only,
)
from blizzarr.stores.place import is_below, lasting_place_of, place_of
from blizzarr.transactions import StagedStore, Transaction
from support.child import answer


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


NAMES: dict[str, Callable[[Path], Any]] = {
    "a link": lambda place: _link(place),
    "a link, through obstore": lambda place: obstore.store.LocalStore(_link(place)),
    "a link in a URL": lambda place: f"file://{_link(place)}",
    "fsspec": lambda place: fsspec.get_mapper(str(place)),
    "fsspec, within a directory": lambda place: FsspecStore(
        DirFileSystem(str(place.parent), fsspec.filesystem("file")), place.name
    ),
    "the directory above": lambda place: place.parent,
}


def _link(place: Path) -> Path:
    link = place.with_name("link.zarr")
    link.symlink_to(place)
    return link


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_copied_onto_itself_under_another_name(tmp_path: Path, name: str) -> None:
    """The source would be removed first."""
    place = tmp_path / "data.zarr"
    array = blizzarr.create_array(place, data=np.arange(6), chunks=2)
    other = NAMES[name](place)
    with pytest.raises(ValueError, match="overlaps"):
        blizzarr.copy(place, other, overwrite=True)
    with pytest.raises(ValueError, match="expected data from another place"):
        blizzarr.create_array(other, data=array, overwrite=True)
    assert blizzarr.open_array(place)[:].tolist() == [0, 1, 2, 3, 4, 5]


def test_two_file_systems_of_fsspec_share_one_memory() -> None:
    a, b = (FsspecStore(MemoryFileSystem(skip_instance_cache=True), "/places") for _ in range(2))
    blizzarr.create_array(a, data=np.arange(6), chunks=2, overwrite=True)
    with pytest.raises(ValueError, match="overlaps"):
        blizzarr.copy(a, b, overwrite=True)


def test_a_zip_file_with_two_names(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "a.zip", "w") as store:
        blizzarr.create_array(store, data=np.arange(6), chunks=2)
    os.link(tmp_path / "a.zip", tmp_path / "b.zip")
    with pytest.raises(ValueError, match="overlaps"):
        blizzarr.copy(tmp_path / "a.zip", tmp_path / "b.zip", overwrite=True)


MOUNTED = """
    import subprocess
    import blizzarr.stores.place as places
    if "ALONE" not in os.environ:
        os.execvpe("unshare", ["unshare", "-rm", *sys.orig_argv], {**os.environ, "ALONE": "1"})
    data, group, other = (os.path.join(ARGUMENTS["root"], name) for name in ("data.zarr", "data.zarr/g", "other"))
    os.mkdir(other)
    if subprocess.run(["mount", "--bind", ARGUMENTS["mounted"], other], capture_output=True).returncode:
        tell(skip="directories cannot be mounted here")
        sys.exit()
    if not ARGUMENTS["mountinfo"]:
        places._unmounted = lambda path: path
    answers = []
    for source, place in ((data, other), (group, other), (other, data), (other, group), (other, group + "/new")):
        try:
            blizzarr.copy(source, place, overwrite=True)
            answers.append("copied")
        except ValueError as error:
            answers.append("overlaps" if "overlaps" in str(error) else str(error))
    tell(answers=answers, kept=blizzarr.open(group)["x"][:].tolist())
"""


@pytest.mark.parametrize(("mounted", "mountinfo"), [("data.zarr", True), ("data.zarr", False), ("data.zarr/g", True)])
def test_a_directory_that_is_mounted_at_a_second_place(tmp_path: Path, mounted: str, mountinfo: bool) -> None:
    """Also a part of it; without the table of mounts, as on other systems, by device and inode."""
    blizzarr.create_group(tmp_path / "data.zarr").create_array("g/x", data=np.arange(6), chunks=2)
    if sys.platform != "linux" or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("directories cannot be mounted here")
    facts = answer(MOUNTED, root=str(tmp_path), mounted=str(tmp_path / mounted), mountinfo=mountinfo)
    assert facts == {"answers": ["overlaps"] * 5, "kept": [0, 1, 2, 3, 4, 5]}


def test_no_quarantine_within_a_hierarchy_around_the_data(tmp_path: Path) -> None:
    blizzarr.create_group(tmp_path / "data.zarr").create_array("g/x", data=np.arange(6), chunks=2)
    (tmp_path / "data.zarr/g/x/c/9").write_bytes(b"outside of the shape")
    with pytest.raises(PathError, match="expected a place outside of the data"):
        blizzarr.check(tmp_path / "data.zarr/g", repair=True, quarantine=tmp_path / "data.zarr/kept")

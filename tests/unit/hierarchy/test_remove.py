"""Removing nodes: ours goes, the rest stays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.api import consolidate_metadata
from blizzarr.config import config
from blizzarr.creation.describe import describe_array, describe_group
from blizzarr.errors import NodeExistsError, NodeNotFoundError, ReadOnlyError, UnsupportedOperationError
from blizzarr.hierarchy.belongings import own_keys
from blizzarr.hierarchy.removal import REMOVAL
from blizzarr.hierarchy.remove import remove_node
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, StoreWrapper, ZipStore
from support.arrays import write_node


def tree(path: str) -> dict[str, bytes]:
    """A group with two arrays, of either chunk key encoding, a damaged node, and a group in it."""
    values: dict[str, bytes] = {}
    store = MappingStore(values)
    write_node(store, path, describe_group())
    prefix = path + "/" if path else ""
    write_node(store, prefix + "x", describe_array(shape=(4, 4), dtype="u1", chunks=2))
    keys = {"chunk_key_encoding": "v2"}
    write_node(store, prefix + "y", describe_array(shape=(4, 4), dtype="u1", chunks=2, **keys))  # type: ignore[arg-type]
    write_node(store, prefix + "g", describe_group())
    values |= {prefix + name: b"" for name in ("x/c/0/0", "x/c/1/1", "y/0.0", "y/1.1", "bad/zarr.json", "bad/c/0")}
    return values


FOREIGN = ["notes.txt", "x/c/0/0.bak", ".git/config", "x/0.0", "y/c/0/0", "2024/01", "7", "x/c/0/0/0", "bad/7"]


@pytest.mark.parametrize("path", ["", "a", "a/b"])
def test_foreign_keys_are_kept(path: str) -> None:
    """Row 77: only documents, and chunks that their array's document describes, are removed, if that may be."""
    values = tree(path)
    prefix = path + "/" if path else ""
    foreign = [prefix + name for name in FOREIGN] + (["ab/zarr.json", "zarr.json", "c/0"] if path else [])
    values |= dict.fromkeys(foreign, b"")
    before = dict(values)
    with pytest.raises(NodeExistsError, match=r"not ours: .*\.git/config, .*2024/01, ") as caught:
        remove_node(MappingStore(values), path)
    assert caught.value.array == "/" + path
    assert values == before
    with config.set(keep_foreign_files=True):
        remove_node(MappingStore(values), path)
    assert sorted(values) == sorted(foreign)


def test_litter_is_nobodys() -> None:
    """Row 77: what file managers leave is no reason to refuse, and stays; so do files that somebody has open."""
    open_elsewhere = ("x/c/.nfs0000000000a1", "x/.fuse_hidden0000020700000030", "x/.nfs.20051001.0004")
    names = (".DS_Store", "x/Thumbs.db", "._zarr.json", "x/c/desktop.ini", *open_elsewhere)
    litter = {f"a/{name}": b"" for name in names}
    values = tree("a") | litter
    remove_node(MappingStore(values), "a")
    assert values == litter


def test_many_foreign_keys_are_counted() -> None:
    values = tree("") | {f"photo{number:02}.jpg": b"" for number in range(15)}
    with pytest.raises(NodeExistsError, match=r"photo08\.jpg, photo09\.jpg and 5 more; move them"):
        remove_node(MappingStore(values), "")


def test_names_that_are_no_keys_are_foreign(tmp_path: Path) -> None:
    """Row 77: no listing shows them, but removing the directory would remove them."""
    store = LocalStore(tmp_path)
    group = blizzarr.create_group(store)
    group["x"] = np.arange(3)
    mine = os.path.join(os.fsencode(tmp_path / "x"), b"caf\xe9")
    with open(mine, "wb") as file:
        file.write(b"mine")
    with pytest.raises(NodeExistsError, match="x/caf\N{REPLACEMENT CHARACTER}"):
        del group["x"]
    with config.set(keep_foreign_files=True):
        del group["x"]
    with open(mine, "rb") as file:
        assert file.read() == b"mine"
    assert list(store.list()) == ["zarr.json"]


@pytest.mark.parametrize("name", ["file", "file/x", "x/c/0", "a" * 300], ids=["file", "below", "chunk", "long"])
def test_what_can_be_no_member_is_none(tmp_path: Path, name: str) -> None:
    group = blizzarr.create_group(tmp_path)
    group["x"] = np.arange(3)
    (tmp_path / "file").touch()
    with pytest.raises(KeyError, match="no member"):
        del group[name]


def test_only_ours_goes_in_one_step() -> None:
    """Without foreign keys the whole prefix is removed, and its neighbour stays."""
    values = tree("a") | {"ab/zarr.json": b""}
    remove_node(MappingStore(values), "a")
    assert list(values) == ["ab/zarr.json"]


def test_documents_go_first_and_innermost_first() -> None:
    """Row 81: a removal that is killed at any moment leaves arrays whole or gone, and can be repeated."""
    whole = tree("a")
    steps = len(whole) + 1  # and the record of it
    for stop in range(steps):

        class Dies(dict[str, bytes]):
            left = stop

            def __delitem__(self, key: str) -> None:
                if self.left == 0:
                    raise KeyboardInterrupt
                self.left -= 1
                super().__delitem__(key)

        values = Dies(whole)
        with pytest.raises(KeyboardInterrupt):
            remove_node(MappingStore(values), "a")
        for array in ("a/x", "a/y"):
            if f"{array}/zarr.json" in values:
                assert {key for key in whole if key.startswith(array)} <= set(values)
        assert "a/zarr.json" in values or not any(key.endswith("zarr.json") for key in values)
        values.left = 2 * steps
        # The record says that chunks without a document are ours, whatever they are called.
        remove_node(MappingStore(values), "a")
        assert not values


def test_records_of_removals_name_chunks_only() -> None:
    """Row 77: a record may be anybody's; what has no name of a chunk, or is elsewhere, is not ours by it."""
    foreign = {"a/thesis.tex": b"years", "a/7": b"days", "b/0": b"", "a/x/0": b"hours", "0": b""}
    hostile: list[bytes] = [
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"blizzarr_removal": 1}',
        b'{"blizzarr_removal": 1, "formats": [], "chunks": 3}',
        b'{"blizzarr_removal": 1, "formats": ["v9"], "chunks": [["", "", "/", "0", 1]]}',
        b'{"blizzarr_removal": 1, "formats": [[]], "chunks": [["", "", "/", "0", 1]]}',
        b'{"blizzarr_removal": 2, "formats": ["v3"], "chunks": [["", "", "/", "0", 1]]}',
        b'{"blizzarr_removal": 1, "formats": ["v3"], "chunks": [["", "thesis.tex", "/", "thesis.tex", 0]]}',
        b'{"blizzarr_removal": 1, "formats": ["v3"], "chunks": [["", "", "/", "thesis.tex", 0]]}',
        b'{"blizzarr_removal": 1, "formats": ["v3"], "chunks": [["../", "", "/", "0", 1], ["/", "", "/", "0", 1]]}',
        b'{"blizzarr_removal": 1, "formats": ["v3"], "chunks": [["", "", ".", "0", 100000000]]}',
        b'{"blizzarr_removal": 1, "formats": ["v3"], "chunks": [["", "", ".", "0", true], [null]]}',
    ]
    for raw in hostile:
        values = tree("a") | foreign | {f"a/{REMOVAL}": raw}
        with pytest.raises(NodeExistsError, match="not ours: a/7, "):
            remove_node(MappingStore(values), "a")
        with config.set(keep_foreign_files=True):
            remove_node(MappingStore(values), "a")
        assert values == foreign, raw


def test_a_removal_on_a_full_disk_needs_no_room() -> None:
    class Full(dict[str, bytes]):
        def __setitem__(self, key: str, value: bytes) -> None:
            raise OSError(28, "No space left on device")

    values = Full(tree(""))
    remove_node(MappingStore(values), "")
    assert not values


@pytest.mark.parametrize("store", [MemoryStore, LocalStore])
def test_all_of_it_goes_at_once(store: type[MemoryStore | LocalStore], tmp_path: Path) -> None:
    """Row 81: no document is deleted before the chunks, as the whole prefix loses its name in one step."""
    here = store() if store is MemoryStore else LocalStore(tmp_path)
    for key, value in tree("a").items():
        here.set(key, value)
    calls: list[str] = []

    class Watched(StoreWrapper):
        def delete(self, key: str) -> object:
            calls.append(key)
            return super().delete(key)

        def delete_prefix(self, prefix: str) -> None:
            calls.append(prefix)
            super().delete_prefix(prefix)

    remove_node(Watched(here), "a")
    assert calls == ["a/"]
    assert list(here.list()) == []


def test_own_keys_of_nodes_that_cannot_be_read() -> None:
    """Without a document that says otherwise only the usual chunk keys count, never bare numbers."""
    keys = [".zarray", ".zattrs", "0", "0.1", "1/2", "c.0.1", "c/0", "00x", "d/1"]
    assert own_keys(keys, {"": None}) == ([".zarray", ".zattrs"], ["c.0.1", "c/0"])


def test_nothing_changes_when_it_cannot(tmp_path: Path) -> None:
    """D-102, row 89: a store that cannot delete, or may not be written, is left as it is."""
    with ZipStore(tmp_path / "x.zip", "w") as store:
        store.set("a/zarr.json", b"{}")
        with pytest.raises(UnsupportedOperationError, match="cannot delete"):
            remove_node(store, "a")
        remove_node(store, "nothing")
    values = {"a/zarr.json": b"{}"}
    with pytest.raises(ReadOnlyError):
        remove_node(MappingStore(values, read_only=True), "a")
    assert values == {"a/zarr.json": b"{}"}


def test_what_is_being_removed_is_listed_nowhere(tmp_path: Path) -> None:
    """Killed half-way, no consolidated metadata are left by which an array without chunks would read as fill value."""

    class Dies(dict[str, bytes]):
        def __delitem__(self, key: str) -> None:
            raise KeyboardInterrupt

    values = Dies()
    group = blizzarr.create_group(values)
    group["x"] = np.arange(3)
    consolidate_metadata(group)
    with pytest.raises(KeyboardInterrupt):
        del group["x"]
    assert "consolidated" not in values["zarr.json"].decode()
    with ZipStore(tmp_path / "a.zip", mode="w") as store:
        group = blizzarr.create_group(store)
        group["x"] = np.arange(3)
        consolidate_metadata(group)
        with pytest.raises(UnsupportedOperationError):
            del group["x"]
        assert group.refresh().metadata.consolidated is not None


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_lies_below_an_array_is_not_removed_with_it(zarr_format: int, tmp_path: Path) -> None:
    """Somebody has put the array above whole hierarchies by mistake: `rm` and `overwrite` must not cost them."""
    folder = tmp_path / "folder"
    blizzarr.create_array(folder, data=np.arange(4), zarr_format=zarr_format)
    blizzarr.create_array(tmp_path / "data.zarr", data=np.arange(3))
    blizzarr.create_group(tmp_path / "more.zarr", zarr_format=2)
    for name in ("data.zarr", "more.zarr"):
        (tmp_path / name).rename(folder / name)
    for remove in (
        lambda: blizzarr.create_array(folder, data=np.arange(4), zarr_format=zarr_format, overwrite=True),
        lambda: remove_node(LocalStore(folder), ""),
        lambda: blizzarr.save(folder, np.arange(4)),
    ):
        with pytest.raises(NodeExistsError, match=r"found arrays or groups: /data.zarr, /more.zarr; move them away"):
            remove()
    assert blizzarr.open_array(folder / "data.zarr")[...].tolist() == [0, 1, 2]
    assert blizzarr.open_array(folder)[...].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("zarr_format", ["v3", "v2", "v3_draft", "v3_draft_zarr_python"])
@pytest.mark.parametrize("path", ["", "root", "a"])
def test_an_array_anywhere_is_replaced(zarr_format: Any, path: str) -> None:
    """No document of its own is taken for that of a node below it."""
    memory: dict[str, bytes] = {}
    blizzarr.create_array(memory, name=path or None, data=np.arange(10), chunks=4, zarr_format=zarr_format)
    blizzarr.create_array(
        memory, name=path or None, data=np.arange(3), chunks=2, zarr_format=zarr_format, overwrite=True
    )
    found = blizzarr.open_array(memory, path=path)
    assert (found.chunks, found[...].tolist()) == ((2,), [0, 1, 2])
    remove_node(MappingStore(memory), path)
    with pytest.raises(NodeNotFoundError):
        blizzarr.open_array(memory, path=path)


def test_an_array_with_nodes_below_it_stays() -> None:
    """In the draft of zarr-python, too, whose array at the root has a document with a name."""
    memory: dict[str, bytes] = {}
    blizzarr.create_array(memory, data=np.arange(4), chunks=4, zarr_format="v3_draft_zarr_python")
    other: dict[str, bytes] = {}
    blizzarr.create_array(other, name="b", data=np.arange(4), chunks=4, zarr_format="v3_draft_zarr_python")
    both = other | memory
    with pytest.raises(NodeExistsError, match="found arrays or groups: /b"):
        remove_node(MappingStore(both), "")
    assert both == other | memory
